"""The lower hull, and the walk that grows it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct.plane.hull import HullWalk, lower_hull, normal
from tests.support.oracles import setting

points = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=20)


@given(points)
def test_vertices_are_the_points_that_some_prices_prefer(points: list[tuple[int, int]]) -> None:
    """A vertex is the only cheapest point for some positive prices of the two errors."""
    prices = [(a, b) for a in range(1, 26) for b in range(1, 26)]
    preferred = set()
    for a, b in prices:
        costs = {p: a * p[0] + b * p[1] for p in set(points)}
        cheapest = [p for p, cost in costs.items() if cost == min(costs.values())]
        if len(cheapest) == 1:
            preferred.add(cheapest[0])
    hull = lower_hull(points)
    assert preferred <= set(hull)
    assert hull == sorted(hull)
    for left, right in pairwise(hull):
        a, b = normal(left, right)
        assert a > 0
        assert b > 0
        assert a * left[0] + b * left[1] == a * right[0] + b * right[1]
        assert all(a * x + b * y >= a * left[0] + b * left[1] for x, y in points)
    # No vertex is on the line between its neighbours, or dominated.
    for p, q, r in zip(hull, hull[1:], hull[2:], strict=False):
        a, b = normal(p, r)
        assert a * q[0] + b * q[1] < a * p[0] + b * p[1]


def test_normals_are_in_lowest_terms() -> None:
    assert normal((0, 6), (4, 0)) == (3, 2)
    assert normal((1, 5), (2, 4)) == (1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_keeps_what_its_oracle_finds(seed: int) -> None:
    made = setting(seed, "f1")
    plane = made.plane
    walk = HullWalk(made.oracle, plane, made.task.size, [(0, plane.n_neg), (plane.n_pos, 0)])
    (edge,) = walk.open_edges()
    a, b = normal(*edge)
    point, answer = walk.ask(a, b, a * edge[0][0] + b * edge[0][1])
    assert point is not None
    assert walk.trees[point] is answer.tree
    assert answer.bound == a * point[0] + b * point[1]
    assert point in walk.hull
    hull = walk.hull
    assert walk.ask(a, b, answer.bound) == (None, answer.__class__(None, answer.bound))
    assert walk.hull == hull
    walk.closed.add((hull[0], hull[1]))
    assert (hull[0], hull[1]) not in walk.open_edges()
