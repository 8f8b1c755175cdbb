"""Columns of ranks at random, and the 0/1 features that they stand for."""

from __future__ import annotations

import numpy as np


def draw_ranks(rng, most_rows, most_columns=4, most_ranks=12):
    """Return ranks without gaps: fewer rows and columns than given, and ties."""
    rows = int(rng.integers(1, most_rows))
    columns = [
        np.unique(rng.integers(0, rng.integers(1, most_ranks), rows), return_inverse=True)[1]
        for _ in range(rng.integers(1, most_columns))
    ]
    return np.stack(columns, axis=1)


def explicit(ranks):
    """Return the 0/1 matrix of all thresholds."""
    return np.concatenate(
        [column[:, None] > np.arange(column.max()) for column in ranks.T], axis=1
    ).astype(np.uint8)
