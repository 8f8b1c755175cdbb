"""Where to cut a column: between which values, and at which readable threshold.

A gap is a pair of neighbouring values of a column, the first one smaller. A
threshold t lies in it if ``low <= t < high``, so that ``x > t`` tells them apart.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Gap: TypeAlias = tuple[float, float]

_LARGEST_EXACT_POWER = 22  # of ten, as a float
_MICROSECONDS = {"D": 86_400_000_000, "m": 60_000_000, "s": 1_000_000, "us": 1}


def quantile_gaps(
    values: NDArray[np.float64], n_gaps: int, weights: NDArray[np.float64] | None = None
) -> list[Gap]:
    """Cut a column into parts of about the same weight; fewer than asked for if values repeat."""
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return []
    below = np.cumsum(np.bincount(inverse, weights=weights))
    share = below[:-1] / below[-1]  # of values up to each possible cut
    wanted = np.arange(1, n_gaps + 1) / (n_gaps + 1)
    # The nearest share to each wanted one; the smaller of two that are equally near.
    after = np.searchsorted(share, wanted).clip(0, len(share) - 1)
    before = (after - 1).clip(0)
    cuts = np.where(np.abs(share[before] - wanted) <= np.abs(share[after] - wanted), before, after)
    return [(float(distinct[i]), float(distinct[i + 1])) for i in sorted(set(cuts.tolist()))]


def short_decimal(low: float, high: float) -> float:
    """Return a threshold in a gap that has few digits and is near the middle."""
    return _rounded(low, high, low, high)


def middle(low: float, high: float) -> float:
    """Return the middle of a gap, rounded by at most a hundredth of its width."""
    slack = high / 100 - low / 100
    half = low / 2 + high / 2
    return _rounded(low, high, half - slack, half + slack)


def _rounded(low: float, high: float, least: float, most: float) -> float:
    """Return the middle of a gap with as few digits as keep it between two limits."""
    half = low / 2 + high / 2
    for digits in range(1, 18):
        candidate = float(f"{half:.{digits}g}")
        if low <= candidate < high and least <= candidate <= most:
            return candidate
    return low


def all_middles(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a threshold in every gap between increasing numbers, near its middle.

    It has as few digits as keep it within a fiftieth of the width, as far as
    powers of ten are exact.
    """
    low, high = values[:-1], values[1:]
    half = low / 2 + high / 2
    slack = (high / 2 - low / 2) / 25
    with np.errstate(all="ignore"):
        digits = -np.floor(np.log10(slack))
        exact = np.abs(digits) <= _LARGEST_EXACT_POWER
        power = 10.0 ** np.abs(np.where(exact, digits, 0))
        fine = np.rint(half * power) / power
        coarse = np.rint(half / power) * power
    short = np.where(digits > 0, fine, coarse)
    usable = exact & (low <= short) & (short < high) & (np.abs(short - half) <= slack)
    middle = np.where(usable, short, half)
    return np.where((low <= middle) & (middle < high), middle, low)


def all_moments(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a moment in every gap between increasing times, as :func:`moment_between` does."""
    low, high = values[:-1], values[1:]
    half = low // 2 + high // 2 + (low % 2 + high % 2) // 2
    found, is_open = low.copy(), np.ones(len(low), dtype=bool)
    for size in _MICROSECONDS.values():
        for candidate in (half // size * size, -(-low // size) * size):
            fits = is_open & (low <= candidate) & (candidate < high)
            found[fits] = candidate[fits]
            is_open &= ~fits
    return found


def moment_between(low: float, high: float) -> str:
    """Return a moment in a gap between two times, in ISO 8601: a whole day if there is one.

    Times are microseconds since 1970.
    """
    half = int(low) + (int(high) - int(low)) // 2
    for unit, size in _MICROSECONDS.items():
        # Days round down; the first day after the smaller value is tried, too.
        for candidate in (half // size * size, -(-int(low) // size) * size):
            if low <= candidate < high:
                return str(np.datetime64(candidate, "us").astype(f"datetime64[{unit}]"))
    raise AssertionError(f"no moment between {low} and {high}")


def write_moment(moment: np.datetime64) -> str:
    """Write a moment in ISO 8601, as a day if it is midnight."""
    microseconds = int(moment.astype("datetime64[us]").astype(np.int64))
    return moment_between(microseconds, microseconds + 1)
