from __future__ import annotations

import numpy as np
import pytest

from goct import Limit, Problem, frontier, solve
from goct.metrics import F1, MCC, ClassCost, GMean, InstanceCost
from goct.search.frontier import Frontier
from goct.search.hull import lower_hull
from tests.reference import achievable
from tests.search.test_engine import hard_problem, random_problem


def points_of(result: Frontier) -> list[tuple[int, int]]:
    return [(v.confusion.fn, v.confusion.fp) for v in result.vertices]


@pytest.mark.parametrize("seed", range(60))
def test_vertices_are_those_of_all_trees(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    max_splits = [None, 2][seed % 2]
    result = frontier(problem, depth, max_splits=max_splits)
    expected = lower_hull(
        [
            (problem.n_pos - tp, problem.n_neg - tn)
            for tp, tn, splits in achievable(X, y, depth, weights)
            if max_splits is None or splits <= max_splits
        ]
    )
    assert result.is_complete
    assert points_of(result) == expected
    for vertex in result.vertices:
        assert vertex.tree.confusion(problem) == vertex.confusion
        assert vertex.tree.depth <= depth


def test_lookups_agree_with_solving() -> None:
    X, y, _, _ = random_problem(3)
    problem = Problem.from_arrays(X, y)
    result = frontier(problem, 2)
    for fn, fp in [(1, 1), (5, 1), (1, 7), (0, 1), (0.3, 0.1)]:
        vertex = result.cheapest(fn, fp)
        metric = ClassCost(fn, fp)
        assert metric.value(vertex.confusion) == solve(problem, metric, 2).value
    for metric in (F1(), MCC()):
        assert metric.value(result.best(metric).confusion) == solve(problem, metric, 2).value
    balanced = result.for_prevalence(0.5)
    expected = solve(problem, "balanced_accuracy", 2).value
    assert (balanced.recall + 1 - balanced.false_positive_rate) / 2 == pytest.approx(
        float(expected)
    )


def test_other_metrics_need_not_be_best_on_the_frontier() -> None:
    result = frontier(Problem.from_arrays([[0], [1], [1]], [0, 1, 0]), 1)
    for metric in (GMean(), InstanceCost()):
        with pytest.raises(ValueError, match="need not be on the frontier"):
            result.best(metric)


def test_limits_and_callback() -> None:
    stopped = frontier(hard_problem(), 5, time_limit=0.3)
    assert stopped.limit is Limit.TIME
    assert not stopped.is_complete
    assert len(stopped.vertices) >= 2
    seen = []
    stopped = frontier(hard_problem(), 5, callback=lambda p: seen.append(p) or len(seen) >= 2)
    assert stopped.limit is Limit.INTERRUPTED
    assert seen[0].open_edges >= 1


def test_bad_input() -> None:
    three = Problem.from_arrays([[0], [1], [1]], [0, 1, 2])
    with pytest.raises(ValueError, match="two classes"):
        frontier(three, 2)
    with pytest.raises(TypeError, match="Problem"):
        frontier(np.eye(3), 2)
    good = Problem.from_arrays([[0], [1], [1]], [0, 1, 0])
    with pytest.raises(ValueError, match="max_depth"):
        frontier(good, -1)
    with pytest.raises(ValueError, match="prevalence"):
        frontier(good, 1).for_prevalence(1.5)
    with pytest.raises(ValueError, match="negative"):
        frontier(good, 1).cheapest(-1, 1)
