"""Programs without a solver."""

from __future__ import annotations

import pytest

from tests.support.mip import knapsack


def test_families_have_one_name() -> None:
    model = knapsack()
    assert (model.n_variables, model.n_rows) == (4, 1)
    with pytest.raises(ValueError, match="'x' already"):
        model.add_variables("x", (1,), integer=True)


def test_rows_by_rows_add_up_equal_places() -> None:
    model = knapsack()
    model.add_rows("twice", 2, [([1, 1, 0], [2, 2, 1], [1.0, 2.0, 5.0]), (0, 1, -5.0)], upper=1)
    start, column, coefficient = model.rows[-1].compressed()
    assert (start.tolist(), column.tolist(), coefficient.tolist()) == ([0, 0, 1], [2], [3.0])
