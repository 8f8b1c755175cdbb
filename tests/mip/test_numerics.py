"""The padding of bounds and rows keeps claims true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct.mip import numerics
from goct.mip.numerics import slack, whole_units


@given(st.integers(0, 10**12), st.floats(-1e-9, 1e-9))
def test_no_objective_is_above_its_padded_bound(objective: int, error: float) -> None:
    """A solver's dual bound may be off by 1e-9 of its size and still proves nothing false."""
    assert whole_units(objective * (1 + error)) >= objective


@pytest.mark.parametrize(
    ("bound", "units"),
    [(7.2, 7), (6.999999, 7), (6.99, 6), (-0.5, -1), (0.0, 0), (1e6 + 0.8, 10**6)],
)
def test_bounds_are_rounded_down_to_whole_units(bound: float, units: int) -> None:
    assert whole_units(bound) == units


def test_where_neighbours_cannot_be_told_apart_the_next_integer_is_the_bound() -> None:
    assert whole_units(1.5e9) > 1_500_000_000


@given(st.integers(1, 10**9))
def test_rows_are_relaxed_by_more_than_a_solver_may_miss(size: int) -> None:
    assert slack(size) >= 0.5
    assert slack(size) > numerics.FEASIBILITY_TOLERANCE * size
    if size <= 200_000:
        assert slack(size) < 1  # no other integer lies within it


def test_cuts_are_finer_than_the_padding_of_bounds() -> None:
    assert numerics.FEASIBILITY_TOLERANCE / numerics.CUT_SCALE < numerics.VALUE_TOLERANCE
    assert 10 * numerics.VALUE_TOLERANCE < numerics.BOUND_PADDING
    assert numerics.MOST_SETTLED_UNITS * numerics.INTEGER_TOLERANCE < 0.5
