from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct.search.region import Region

half_planes = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(-5, 60)), max_size=8
)


def build(cuts: list[tuple[int, int, int]]) -> Region:
    region = Region()
    for a, b, c in cuts:
        region = region.cut(a, b, c)
    return region


@given(half_planes)
def test_corners_lie_in_the_region_and_on_two_of_its_edges(cuts) -> None:
    region = build(cuts)
    lines = [(1, 0, 0), (0, 1, 0), *cuts]
    for x, y in region.corners:
        values = [a * x + b * y - c for a, b, c in lines]
        assert min(values) == 0
        assert sum(value == 0 for value in values) >= 2
    xs = [x for x, _ in region.corners]
    ys = [y for _, y in region.corners]
    assert xs == sorted(set(xs))
    assert ys == sorted(set(ys), reverse=True)
    assert ys[-1] == xs[0] == 0


@given(half_planes, st.integers(1, 9), st.integers(1, 9))
def test_corners_support_every_direction(cuts, a, b) -> None:
    """The least of a linear function over the region is taken at a corner."""
    region = build(cuts)
    least = min(a * x + b * y for x, y in region.corners)
    lines = [(1, 0, 0), (0, 1, 0), *cuts]
    # Weak duality by brute force: meet every pair of lines, keep what is feasible.
    meets = []
    for i, (a1, b1, c1) in enumerate(lines):
        for a2, b2, c2 in lines[i + 1 :]:
            d = a1 * b2 - a2 * b1
            if d:
                x, y = Fraction(c1 * b2 - c2 * b1, d), Fraction(a1 * c2 - a2 * c1, d)
                if all(p * x + q * y >= r for p, q, r in lines):
                    meets.append(a * x + b * y)
    assert least == min(meets)


def test_between() -> None:
    region = build([(1, 1, 10), (1, 3, 15)])
    assert region.between(0, 20) == region.corners
    assert region.between(Fraction(1, 2), 14) == ((Fraction(15, 2), Fraction(5, 2)),)


def test_directions_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        Region().cut(1, 0, 3)
