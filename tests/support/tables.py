"""Random tables of raw columns, and every question that a tree can ask of them."""

from __future__ import annotations

import numpy as np

_TINY, _HUGE = 5e-324, 1.7976931348623157e308


def random_column(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Return numbers: with ties, constant, far apart, next to each other, or missing."""
    pools = [
        np.arange(3.0),
        np.arange(8.0) - 4,
        rng.normal(size=6).round(1),
        rng.normal(size=n_rows),
        np.array([7.0]),
        np.array([0.0, -0.0, _TINY, 2 * _TINY, -_TINY]),
        np.array([_HUGE, -_HUGE, np.nextafter(_HUGE, 0), 1e300, 0.0]),
        np.nextafter(1.0, [0, 1, 2]) + np.array([0, 0, 0.0]),
        np.array([2.0**53, 2.0**53 + 2, 2.0**53 - 1]),
    ]
    values = rng.choice(pools[rng.integers(len(pools))], n_rows)
    if rng.random() < 0.25:
        values[rng.random(n_rows) < 0.3] = np.nan
    return values


def random_table(seed: int, most_rows: int = 14) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a table, labels and weights."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(4, most_rows)), int(rng.integers(1, 4))
    X = np.stack([random_column(rng, n_rows) for _ in range(n_columns)], axis=1)
    if n_columns > 1 and rng.random() < 0.2:
        X[:, -1] = -X[:, 0]  # the same splits, the other way round
    y = rng.random(n_rows) < rng.choice([0.2, 0.5])
    y[:2] = [True, False]
    return X, y, rng.integers(1, 4, n_rows)


def every_question(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers to all questions of a tree as a 0/1 matrix, and their columns.

    A number is above a value that occurs, or it is missing.
    """
    answers, columns = [np.zeros(len(X), dtype=bool)], [0]
    for j, values in enumerate(X.T):
        present = values[~np.isnan(values)]
        asked = [values > v for v in sorted(set(present.tolist()))]
        if len(present) < len(values):
            asked.append(np.isnan(values))
        answers += asked
        columns += [j] * len(asked)
    return np.stack(answers, axis=1).astype(np.uint8), np.array(columns)
