"""Columns that should perhaps not be learned from: numbers of rows, and what tells the target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.data import Column, Table

_FEW = 20  # rows that say nothing
_SAMPLE = 1000
_NEARLY_ALL = 0.9
_SPREAD = 20  # numbers of rows have about as many digits


def notes_on(table: Table, goal: NDArray[Any]) -> Iterator[str]:
    """Yield what a user should know of columns, given what shall be told apart."""
    if table.n_rows < _FEW:
        return
    classes = np.unique(goal, return_inverse=True)[1]
    for j, name in enumerate(table.column_names):
        column = table.column(j, is_finite=False)
        leave_out = f"leave it out with --ignore {name!r}"
        if column.kind != "empty" and _tells(column, classes):
            yield f"column {name!r} tells the target all by itself; if it is a result, {leave_out}"
        elif column.kind == "number" and (n := _distinct_codes(column.values)):
            yield (
                f"column {name!r} has {n} different whole numbers in {table.n_rows} rows; if they "
                f"are names of something, {leave_out}"
            )


def _tells(column: Column, classes: NDArray[np.intp]) -> bool:
    """Say whether a category tells the class, or some thresholds, of which there are few."""
    return all(
        _tells_all(column.take(rows), classes[rows]) for rows in (slice(_SAMPLE), slice(None))
    )


def _tells_all(column: Column, classes: NDArray[np.intp]) -> bool:
    if column.missing.any():
        return False
    if column.kind == "category":
        codes = column.factorised()[1]
    else:
        codes = np.unique(column.values, return_inverse=True)[1]
    order = np.lexsort((classes, codes))
    group, label = codes[order], classes[order]
    changes = label[1:] != label[:-1]
    if (changes & (group[1:] == group[:-1])).any():
        return False
    n_groups, n_classes = int(codes.max()) + 1, len(np.unique(classes))
    if column.kind == "category":
        return n_groups <= max(2 * n_classes, len(codes) // _FEW)
    return int(changes.sum()) < n_classes


def _distinct_codes(values: NDArray[np.float64]) -> int:
    """Return how many different numbers there are, if they look like those of cases; else 0."""
    if np.isnan(values).any() or (values % 1 != 0).any():
        return 0
    low, high, n = values.min(), values.max(), len(np.unique(values))
    looks_like_codes = low > 0 and high < _SPREAD * low and n - 1 < high - low
    return n if looks_like_codes and _NEARLY_ALL * len(values) <= n < len(values) else 0
