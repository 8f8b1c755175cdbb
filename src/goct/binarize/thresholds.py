"""Where to cut a numeric column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantile_thresholds(values: NDArray[np.float64], n_thresholds: int) -> list[float]:
    """Cut a column into parts of about the same size.

    Parameters
    ----------
    values
        Finite numbers.
    n_thresholds
        How many cuts at most; there are fewer if values repeat.

    Returns
    -------
    list of float
        Increasing thresholds t, each a short decimal number between two
        neighbouring values, meant for conditions ``x > t``.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return []
    share = np.cumsum(counts)[:-1] / len(values)  # of values up to each possible cut
    wanted = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    cuts = np.unique(np.abs(share[:, None] - wanted).argmin(axis=0))
    return [short_decimal(float(distinct[i]), float(distinct[i + 1])) for i in cuts]


def short_decimal(low: float, high: float) -> float:
    """Return a number t with ``low <= t < high`` that has few digits and is near the middle."""
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        candidate = float(f"{middle:.{digits}g}")
        if low <= candidate < high:
            return candidate
    return low
