"""The walk along the hull and inside it, with an oracle that is a list of trees."""

from __future__ import annotations

import pytest

from goct.plane.frontier import FrontierWalk
from goct.plane.hull import lower_hull
from tests.support.oracles import setting


@pytest.mark.parametrize("seed", range(4))
def test_the_frontier_walk_finds_the_hull(seed) -> None:
    made = setting(seed, "f1")
    task, plane, oracle = made.task, made.plane, made.oracle
    walk = FrontierWalk(oracle, plane, task.size)
    walk.follow_hull()
    assert walk.hull == lower_hull([point for point, _ in oracle.trees])
    assert all(plane.of(walk.trees[point]) == point for point in walk.hull)
    assert not walk.open_edges()


class Some:
    """Others who answer every second question of those that are asked at the same time."""

    def __init__(self, oracle) -> None:
        self.oracle = oracle
        self.answers = 0

    def cheapest_of_all(self, questions, size):
        self.answers += len(questions) // 2
        return [
            None if i % 2 == 0 else self.oracle.cheapest(a, b, size, cutoff=cutoff)
            for i, (a, b, cutoff) in enumerate(questions)
        ]

    def search_all_inside(self, size, triangles, take):
        for each in triangles[1::2]:
            self.answers += 1
            budget, *box = each.room()
            self.oracle.search_inside(
                size,
                direction=each.direction,
                budget=budget,
                box=tuple(box),
                visit=each.visit,
                take=take,
            )
        return [i % 2 == 1 for i in range(len(triangles))]


@pytest.mark.parametrize("with_others", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_walk_inside_finds_all_nondominated_points(seed, with_others) -> None:
    made = setting(seed, "f1")
    others = Some(made.oracle) if with_others else None
    walk = FrontierWalk(made.oracle, made.plane, made.task.size, others)
    walk.follow_hull()
    walk.look_inside()
    points = {point for point, _ in made.oracle.trees}
    front = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    assert front == {*walk.hull, *walk.inside}
    assert all(made.plane.of(walk.trees[point]) == point for point in front)
    assert not set(walk.hull) & set(walk.inside)
    assert others is None or others.answers > 0 or len(walk.hull) < 4
