from __future__ import annotations

import numpy as np
import pytest

from goct import Limit, Problem, frontier, solve
from goct.metrics import (
    F1,
    MCC,
    ClassCost,
    GMean,
    InstanceCost,
    PredictedPositives,
    Recall,
    get_metric,
)
from goct.plane.hull import lower_hull
from goct.search.frontier import Frontier
from tests.support.problems import large_problem, random_problem
from tests.support.reference import achievable
from tests.support.reference import all_trees as every_tree


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


@pytest.mark.parametrize("seed", range(60))
def test_pareto_front_is_that_of_all_trees(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    max_splits = [None, 3, 1][seed % 3]
    result = frontier(problem, depth, max_splits=max_splits, pareto=True)
    points = {
        (problem.n_pos - tp, problem.n_neg - tn)
        for tp, tn, splits in achievable(X, y, depth, weights)
        if max_splits is None or splits <= max_splits
    }
    front: list[tuple[int, int]] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    assert result.is_complete
    assert [(v.confusion.fn, v.confusion.fp) for v in result.pareto] == front
    assert set(result.vertices) <= set(result.pareto)
    for vertex in result.pareto:
        assert vertex.tree.confusion(problem) == vertex.confusion
        assert vertex.tree.depth <= depth
        assert max_splits is None or vertex.tree.splits <= max_splits


def front_of(X, y, depth: int) -> list[tuple[int, int]]:
    """Return the points (FN, FP) of all trees that none dominates, by brute force."""
    front: list[tuple[int, int]] = []
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    for fn, fp in sorted((n_pos - tp, n_neg - tn) for tp, tn, _ in achievable(X, y, depth)):
        if not front or fp < front[-1][1]:
            front.append((fn, fp))
    return front


def test_a_point_on_an_edge_that_was_found_on_the_way_is_on_the_front() -> None:
    X = np.array([[0, 0], [1, 1], [1, 0], [1, 0], [0, 1], [0, 0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    result = frontier(Problem.from_arrays(X, y), 2, pareto=True)
    found = [(v.confusion.fn, v.confusion.fp) for v in result.pareto]
    assert found == front_of(X, y, 2) == [(0, 2), (1, 1), (2, 0)]


def test_pareto_fronts_of_few_rows_where_many_points_share_an_edge() -> None:
    rng = np.random.default_rng(0)
    on_edges = 0
    for _ in range(400):
        X, y = rng.integers(0, 2, (rng.integers(5, 12), 3)), np.array([0, 1])
        y = rng.permutation(np.resize(y, len(X)))
        result = frontier(Problem.from_arrays(X, y), 2, pareto=True)
        found = [(v.confusion.fn, v.confusion.fp) for v in result.pareto]
        assert result.is_complete
        assert found == front_of(X, y, 2)
        on_edges += len(found) > len(result.vertices)
    assert on_edges > 50


def test_the_pareto_front_answers_monotone_questions() -> None:
    X, y, _, _ = random_problem(5)
    problem = Problem.from_arrays(X, y)
    result = frontier(problem, 2, pareto=True)
    for metric, constraints in [
        ("gmean", []),
        (F1() + GMean(), []),
        ("precision", [Recall() >= 0.7]),
        ("recall", ["fp <= 1"]),
        ("f1", ["recall >= 1", "fp <= 0"]),
    ]:
        expected = solve(problem, metric, 2, constraints=constraints)
        vertex = result.best(metric, constraints)
        if expected.tree is None:
            assert vertex is None
        else:
            assert get_metric(metric).value(vertex.confusion) == expected.value
    with pytest.raises(ValueError, match="need not be on the frontier"):
        result.best(F1() - GMean())
    with pytest.raises(ValueError, match="under 'predicted_positives <= 3'"):
        result.best("f1", [PredictedPositives() <= 3])
    with pytest.raises(ValueError, match="it is on the one with pareto=True"):
        frontier(problem, 2).best("f1", ["recall >= 0.9"])


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
    stopped = frontier(large_problem(), 5, time_limit=0.3)
    assert stopped.limit is Limit.TIME
    assert not stopped.is_complete
    assert len(stopped.vertices) >= 2
    seen = []
    stopped = frontier(large_problem(), 3, pareto=True, time_limit=1.5)
    assert stopped.limit is Limit.TIME
    assert not stopped.is_complete
    assert len(stopped.pareto) >= len(stopped.vertices)
    stopped = frontier(large_problem(), 5, callback=lambda p: seen.append(p) or len(seen) >= 2)
    assert stopped.limit is Limit.INTERRUPTED
    assert seen[0].open_edges >= 1


def test_bad_input() -> None:
    three = Problem.from_arrays([[0], [1], [1]], [0, 1, 2])
    with pytest.raises(ValueError, match="name the positive one with pos_label"):
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


@pytest.mark.parametrize("kind", ["weight", "samples"])
def test_minimum_leaves(kind: str) -> None:
    """The Pareto front of all trees with such leaves, by brute force."""
    rng = np.random.default_rng(11)
    for _ in range(30):
        X, y = rng.integers(0, 2, (14, 4)), np.append([0, 1], rng.integers(0, 2, 12))
        weights, least = rng.integers(1, 4, 14), int(rng.integers(1, 7))
        options = {"min_leaf_weight": least} if kind == "weight" else {"min_samples_leaf": least}
        problem = Problem.from_arrays(X, y, sample_weight=weights)
        found = frontier(problem, 2, pareto=True, **options)
        assert found.is_complete
        n_pos, n_neg = int(weights[y == 1].sum()), int(weights[y == 0].sum())
        points = {
            (n_pos - tree.tp, n_neg - tree.tn)
            for tree in every_tree(X, y == 1, 2, weights)
            if (tree.least_weight if kind == "weight" else tree.fewest_rows) >= least
        }
        best = {
            p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)
        }
        assert {(v.confusion.fn, v.confusion.fp) for v in found.pareto} == best


def test_leaves_that_no_tree_has() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1], sample_weight=[1, 2])
    with pytest.raises(ValueError, match="no tree has such leaves"):
        frontier(problem, 1, min_samples_leaf=3)
    with pytest.raises(ValueError, match="give either min_leaf_weight or min_samples_leaf"):
        frontier(problem, 1, min_samples_leaf=1, min_leaf_weight=1)
