"""The size path against brute force, for every number of splits."""

from __future__ import annotations

import math
import os
import signal
import threading
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import goct
from goct import Exact, Limit, Path, Problem, Status, solve
from goct.constraints import MaxFeatures
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    Confusion,
    CostMatrix,
    CustomMetric,
    GMean,
    Precision,
    RationalMetric,
    get_metric,
)
from goct.path import PathSearch, read_path_task
from goct.plane.path import prunings
from goct.plane.points import Plane
from goct.search import engine
from goct.search import path as search_path
from goct.solution import Limits
from goct.tree import Leaf, Node, Split, Tree
from tests.support.problems import large_problem, random_problem
from tests.support.reference import achievable, achievable_costs, best
from tests.support.trees import nodes

FAMILIES = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "jaccard",
    "precision",
    "kappa",
    "mcc",
    "fowlkes_mallows",
    "gmean",
    0.5 * F1() + 0.5 * Accuracy(),
    0.2 * MCC() + 0.3 * GMean() + 0.5 * Precision(),
]


def check(
    seed: int, metric, constraint=None, text: str | None = None, min_leaf: int = 0, **options
) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    points = achievable(X, y, depth, weights, min_leaf)
    # A tree without a split is always there, however small its leaf.
    n_pos, n_neg = int(problem.n_pos), int(problem.n_neg)
    points |= {(n_pos, 0, 0), (0, n_neg, 0)} if min_leaf <= n_pos + n_neg else set()
    metric = get_metric(metric)

    def confusion(tp, tn) -> Confusion:
        return Confusion(tp, problem.n_neg - tn, problem.n_pos - tp, tn)

    found = goct.path(
        problem,
        metric,
        depth,
        constraints=() if text is None else [text],
        min_leaf_weight=min_leaf,
        **options,
    )
    for splits, solution in enumerate(found):
        expected = best(
            points,
            lambda tp, tn: metric.value(confusion(tp, tn)),
            max_splits=splits,
            constraint=lambda tp, tn: constraint is None or constraint(confusion(tp, tn)),
        )
        assert solution.value == expected, (seed, metric.name, splits)
        if expected is None:
            assert solution.status is Status.INFEASIBLE
            continue
        assert solution.status is Status.OPTIMAL
        fewest = min(
            m
            for tp, tn, m in points
            if metric.value(confusion(tp, tn)) == expected
            and (constraint is None or constraint(confusion(tp, tn)))
        )
        assert solution.tree.splits == fewest
        assert solution.stats["fewest_splits"]
        assert solution.tree.depth <= depth


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_every_number_of_splits_is_optimal(seed) -> None:
    for metric in FAMILIES:
        check(seed, metric)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 108))
def test_with_constraints(seed) -> None:
    for metric in ("accuracy", "f1", "mcc", "precision", "gmean"):
        check(seed, metric, lambda c: 10 * c.tp >= 7 * c.n_pos, "recall >= 0.7")
        check(seed, metric, lambda c: c.fp <= 3, "false_positives <= 3")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 208))
def test_with_a_minimum_leaf(seed) -> None:
    for metric in ("accuracy", "f1", "mcc", "gmean"):
        check(seed, metric, min_leaf=3)
        check(seed, metric, lambda c: 10 * c.tp >= 7 * c.n_pos, "recall >= 0.7", min_leaf=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_with_a_minimum_number_of_samples(seed) -> None:
    X, y, weights, _ = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    for metric in ("accuracy", "f1", "gmean"):
        found = goct.path(problem, metric, 2, min_samples_leaf=3)
        for splits, solution in enumerate(found):
            truth = solve(problem, metric, 2, max_splits=splits, min_samples_leaf=3)
            assert solution.value == truth.value
            assert solution.status is truth.status


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_several_classes(seed) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (25, 4))
    y = np.append([0, 1, 2], rng.integers(0, 3, 22))
    problem = Problem.from_arrays(X, y, pos_label=1)
    found = goct.path(problem, "accuracy", 2)
    costs = achievable_costs(X, 1 - np.eye(3, dtype=int)[y], 2)
    for splits, solution in enumerate(found):
        errors = min(cost for cost, m in costs if m <= splits)
        assert solution.value == 1 - Fraction(errors, 25)
    for metric in ("f1", "mcc"):  # one class against the rest
        points = achievable(X, y == 1, 2)
        for splits, solution in enumerate(goct.path(problem, metric, 2)):
            value = get_metric(metric).value
            n_pos = int((y == 1).sum())
            expected = best(
                points,
                lambda tp, tn, v=value, p=n_pos: v(Confusion(tp, 25 - p - tn, p - tp, tn)),
                max_splits=splits,
            )
            assert solution.value == expected
            assert solution.tree.classes == problem.classes


def small_path(metric: str = "f1", seed: int = 3) -> Path:
    X, y, weights, _ = random_problem(seed)
    return goct.path(Problem.from_arrays(X, y, sample_weight=weights), metric, 2)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_the_best_tree_for_every_price(metric) -> None:
    for seed in range(6):
        found = small_path(metric, seed)
        assert list(found.breakpoints) == sorted(found.breakpoints, reverse=True)
        assert len(found.breakpoints) == len(found.envelope) - 1
        prices = [Fraction(0), Fraction(1, 1000), Fraction(1, 30), Fraction(1)]
        prices += [Fraction(float(p)).limit_denominator(10**6) for p in found.breakpoints]
        for price in prices:
            ours = found.best(price)
            truth = solve(found.task.problem, metric, 2, split_penalty=price)
            assert ours.objective == truth.objective == ours.bound
            assert ours.tree.splits == truth.tree.splits
            assert ours.status is Status.OPTIMAL


def test_at_a_breakpoint_two_trees_are_equally_good() -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    found = goct.path(Problem.from_arrays(X, [0, 0, 0, 1]), "accuracy", 2)
    assert found.envelope == (0, 2)
    assert found.breakpoints == (Exact(Fraction(1, 8)),)
    assert found.best(0.125).tree.splits == 0  # the smaller one
    assert found.best(0.1249).tree.splits == 2
    with pytest.raises(ValueError, match="split_penalty must not be negative"):
        found.best(-1)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc", "gmean"])
@pytest.mark.parametrize("limit", [0.02, 0.3])
def test_a_time_limit_leaves_trees_and_bounds(metric, limit) -> None:
    found = goct.path(large_problem(), metric, 5, max_splits=12, time_limit=limit)
    assert found.limit is Limit.TIME
    assert not found.is_proven
    assert len(found) == 13
    values = [solution.value for solution in found]
    bounds = [solution.bound for solution in found]
    assert values == sorted(values)
    assert bounds == sorted(bounds)
    assert all(v <= b <= 1 for v, b in zip(values, bounds, strict=True))
    assert found[0].status is Status.OPTIMAL
    winner = found.best(0.01)
    assert winner.objective <= winner.bound
    assert winner.limit is Limit.TIME


@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean"])
def test_bounds_at_a_stop_hold(metric) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((300, 30)) < 0.5).astype(int)
    problem = Problem.from_arrays(X, (rng.random(300) < 0.4).astype(int))
    whole = goct.path(problem, metric, 4)
    assert whole.is_proven
    stops = set()
    for limit in (0.001, 0.01, 0.03, 0.1):
        part = goct.path(problem, metric, 4, time_limit=limit)
        stops.add(part.limit)
        for known, truth in zip(part, whole, strict=True):
            assert known.value <= truth.value <= known.bound
    assert Limit.TIME in stops


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_a_good_tree_of_every_size_comes_before_any_proof(metric, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 12))
    y = (X[:, :3].sum(axis=1) + X[:, 3:6].prod(axis=1) > 1) ^ (rng.random(400) < 0.1)
    problem = Problem.from_arrays(X, y)
    best = np.array([float(solution.value) for solution in goct.path(problem, metric, 4)])
    monkeypatch.setattr(engine, "_MANY_STEPS", 0)
    monkeypatch.setattr(search_path, "_try_small", stop_the_search)
    found = goct.path(problem, metric, 4)
    assert found.limit is Limit.TIME
    values = np.array([float(solution.value) for solution in found])
    assert (values - values[0] >= 0.4 * (best - best[0])).all()


def test_small_sizes_are_proven_first(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.integers(0, 2, (300, 9)), rng.integers(0, 2, 300))
    best = [solution.value for solution in goct.path(problem, "f1", 4)]
    try_small = search_path._try_small

    def try_small_and_stop(session, core, depth) -> None:
        try_small(session, core, depth)
        if depth == 3:
            session.stop(Limit.TIME)

    monkeypatch.setattr(search_path, "_try_small", try_small_and_stop)
    found = goct.path(problem, "f1", 4)
    assert found.limit is Limit.TIME
    assert [solution.value for solution in found[:4]] == best[:4]
    assert all(solution.status is Status.OPTIMAL for solution in found[:4])
    assert found[15].status is Status.FEASIBLE


def stop_the_search(session, _core, _depth) -> None:
    session.stop(Limit.TIME)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 99), st.data(), st.integers(1, 5), st.integers(1, 5))
def test_prunings_are_the_cheapest(seed, data, a, b) -> None:
    X, y, weights, _ = random_problem(seed)
    plane = Plane(Problem.from_arrays(X, y, sample_weight=weights), F1())
    root = data.draw(nodes(plane.problem.n_features, 2))
    tree = Tree(root, plane.problem.classes, plane.problem.feature_names)

    def cost(tree: Tree) -> int:
        x, y = plane.of(tree)
        return a * x + b * y

    def every(node: Node) -> list[Node]:
        sides = [] if isinstance(node, Leaf) else product(every(node.left), every(node.right))
        return [Leaf(0), Leaf(1), *(Split(node.feature, *pair) for pair in sides)]

    least: dict[int, int] = {}
    for node in every(tree.root):
        pruned = Tree(node, tree.classes, tree.feature_names)
        least[pruned.splits] = min(cost(pruned), least.get(pruned.splits, cost(pruned)))
    found = prunings(tree, plane, a, b)
    for splits in range(tree.splits + 1):
        smaller = [cost(pruned) for pruned in found if pruned.splits <= splits]
        assert min(smaller) == min(least[s] for s in least if s <= splits)


def test_the_callback_sees_progress_and_can_stop() -> None:
    seen = []

    def callback(progress) -> bool:
        seen.append(progress)
        return len(seen) == 3

    found = goct.path(large_problem(), "f1", 5, callback=callback)
    assert found.limit is Limit.INTERRUPTED
    assert seen[0].total == len(found) == 32
    assert seen[-1].elapsed > 0
    assert "of 32 numbers of splits proven" in seen[0].describe()


def test_a_constraint_on_features_is_solved_one_by_one() -> None:
    X, y, weights, _ = random_problem(8)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    found = goct.path(problem, "f1", 2, constraints=[MaxFeatures(1)])
    for splits, solution in enumerate(found):
        truth = solve(problem, "f1", 2, max_splits=splits, constraints=[MaxFeatures(1)])
        assert solution.value == truth.value
        assert solution.status is truth.status


def test_a_perfect_tree_is_no_bound_for_a_metric_that_may_fall() -> None:
    # It is 0 for both constant trees, and would be for a perfect one.
    both = RationalMetric(lambda tp, fp, fn, tn: (fp * fn, (tp + fp + fn + tn) ** 2))
    problem = Problem.from_arrays([[0], [1], [1]], [1, 0, 0])
    for metric in (both, F1() - Accuracy()):
        found = goct.path(problem, metric, 1)
        assert [s.objective for s in found] == [
            solve(problem, metric, 1, max_splits=k).objective for k in range(2)
        ]
        assert all(s.status is Status.OPTIMAL for s in found)
    custom = CustomMetric(lambda _tp, fp, fn, _tn: fp * fn)
    with pytest.raises(ValueError, match="a function that it does not know"):
        goct.path(problem, custom, 1)


def test_nothing_to_split_on() -> None:
    found = goct.path(Problem.from_arrays([[0], [0], [0]], [0, 1, 1]), "accuracy", 3)
    assert len(found) == 8
    assert found.is_proven
    assert {str(s.value) for s in found} == {"0.666667"}
    infeasible = goct.path(
        Problem.from_arrays([[0], [0], [0]], [0, 1, 1]), "f1", 2, constraints=["accuracy >= 0.9"]
    )
    assert {s.status for s in infeasible} == {Status.INFEASIBLE}
    assert infeasible.best(0.1).status is Status.INFEASIBLE
    assert infeasible.envelope == ()
    assert "infeasible" in infeasible.to_text()


def test_a_cost_matrix() -> None:
    X, y, _, _ = random_problem(3)
    problem = Problem.from_arrays(X, y)
    found = goct.path(problem, CostMatrix([[0, 1], [5, 0]]), 2)
    assert [s.value for s in found] == [
        solve(problem, CostMatrix([[0, 1], [5, 0]]), 2, max_splits=k).value for k in range(4)
    ]


def test_threads_do_not_change_the_path() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 12))
    problem = Problem.from_arrays(X, (X[:, 0] ^ X[:, 1]) ^ (rng.random(200) < 0.2))
    one, two = (goct.path(problem, "f1", 4, n_jobs=n) for n in (1, 2))
    assert [s.tree for s in one] == [s.tree for s in two]


def test_tables() -> None:
    found = small_path("accuracy")
    table = found.to_dict()
    frame = found.to_frame()
    assert list(frame.columns) == list(table)
    assert table["splits"] == list(range(len(found)))
    assert table["value"] == [float(s.value) for s in found]
    assert math.isinf(table["up_to_price"][found.envelope[0]])
    lines = found.to_text().splitlines()
    assert len(lines) == len(found) + 1
    assert lines[0].split()[:2] == ["splits", "accuracy"]
    assert str(found) == "Path of accuracy at depth 2: 0 to 3 splits, 4 of 4 proven"


def test_a_plot() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    found = small_path("f1")
    ax = found.plot()
    assert ax.get_ylabel() == "f1"
    assert found.plot(ax) is ax


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_splits": -1}, "max_splits must be at least 0"),
        ({"max_splits": 1.5}, "max_splits must be an integer"),
        ({"time_limit": 0}, "time_limit must be positive"),
        ({"metric": "f_seven"}, "f_seven"),
        ({"callback": 3}, "callback must be callable"),
        ({"n_jobs": 0}, "n_jobs must be at least 1"),
    ],
)
def test_bad_arguments(options, message) -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1])
    with pytest.raises((TypeError, ValueError), match=message):
        goct.path(problem, **options)


def test_ctrl_c_keeps_what_is_known() -> None:
    done = threading.Event()

    def interrupt() -> None:  # again, if the first one came while garbage was collected
        while not done.wait(0.3 if not sent else 20):
            sent.append(os.kill(os.getpid(), signal.SIGINT))

    sent: list[None] = []
    thread = threading.Thread(target=interrupt)
    thread.start()
    found = goct.path(large_problem(), "mcc", 6, max_splits=20)
    done.set()
    thread.join()
    assert found.limit is Limit.INTERRUPTED
    assert all(s.tree is not None for s in found)


@pytest.mark.parametrize("seed", range(30))
def test_larger_leaves_learn_from_smaller_ones(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights if seed % 2 else None)
    metric = FAMILIES[seed % len(FAMILIES)]
    constraints = ["recall >= 1/2"] if seed % 3 == 0 else []
    search = PathSearch(n_jobs=1)
    for leaf in (0, 2, 3, 3, 8):
        alone = goct.path(problem, metric, depth, min_samples_leaf=leaf, constraints=constraints)
        task = read_path_task(
            problem,
            metric,
            depth,
            max_splits=None,
            min_samples_leaf=leaf,
            constraints=constraints,
        )
        # Whatever a search that was stopped left behind, the next one proves the same.
        search.find(task, Limits(None), (lambda _: True) if leaf == 2 else None)
        found = search.find(task, Limits(None))
        for mine, other in zip(found, alone, strict=True):
            assert (mine.value, mine.status) == (other.value, other.status)
            assert mine.value is None or mine.bound == other.bound
            assert (mine.tree and mine.tree.splits) == (other.tree and other.tree.splits)
            assert mine.tree is None or task.is_feasible(mine.tree)
