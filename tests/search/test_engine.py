"""The maximisers against brute force, for every metric they claim."""

from __future__ import annotations

import os
import re
import signal
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status, frontier, path, solve
from goct.constraints import check_constraints
from goct.metrics import (
    F1,
    MCC,
    METRICS,
    Accuracy,
    Affine,
    BalancedAccuracy,
    BoundedDOR,
    ClassCost,
    Confusion,
    CostMatrix,
    CustomMetric,
    FalseNegatives,
    FalsePositives,
    FBeta,
    FractionalMetric,
    GMean,
    Precision,
    PredictedPositives,
    Recall,
    Shape,
    SmoothedDOR,
    Specificity,
    TruePositives,
    get_metric,
)
from goct.search.engine import can_maximise
from tests.support.problems import large_problem, random_problem
from tests.support.reference import achievable, best

METRICS_OF_TWO_CLASSES = [
    *(make() for name, make in METRICS.items() if name != "instance_cost" and can_maximise(make())),
    FBeta(3),
    FBeta(0.25),
    ClassCost(7, 2),
    0.3 * Recall() + 0.7 * Specificity(),
    2 * MCC(),
    BoundedDOR(3),
    SmoothedDOR(0.1),
    0.5 * F1() + 0.5 * Accuracy(),
    0.2 * MCC() + 0.3 * GMean() + 0.5 * Precision(),
    CustomMetric(lambda tp, fp, fn, tn: min(tp * (fp + tn), tn * (tp + fn)), Shape.MONOTONE),
    CustomMetric(lambda tp, _fp, _fn, tn: tp // 2 + tn // 3, Shape.MONOTONE),
]
SEEDS = range(40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_metric_without_penalty(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    points = achievable(X, y, depth, weights)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    for metric in METRICS_OF_TWO_CLASSES:
        solution = solve(problem, metric, depth, engine="search")
        expected = best(
            points, lambda tp, tn, m=metric: m.value(Confusion(tp, n_neg - tn, n_pos - tp, tn))
        )
        assert solution.value == expected, metric.name
        assert solution.status is Status.OPTIMAL
        assert solution.tree.depth <= depth


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_metric_with_penalties_and_budgets(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    points = achievable(X, y, depth, weights)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    for i, metric in enumerate(METRICS_OF_TWO_CLASSES):
        penalty = [Fraction(1, 10**9), Fraction(1, 100), Fraction(1, 20), 0, 3][(seed + i) % 5]
        max_splits = [None, 1, 2, 4][(seed + i) % 4]
        solution = solve(
            problem,
            metric,
            depth,
            split_penalty=penalty,
            max_splits=max_splits,
            engine="search",
        )
        expected = best(
            points,
            lambda tp, tn, m=metric: m.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)),
            split_penalty=penalty,
            max_splits=max_splits,
        )
        assert solution.objective == expected, metric.name
        assert solution.status is Status.OPTIMAL
        assert max_splits is None or solution.tree.splits <= max_splits


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_any_depth(seed) -> None:
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(2, 5))
    n_rows = int(rng.integers(4, 30 if n_features < 4 else 14))
    X = rng.integers(0, 2, (n_rows, n_features))
    y = rng.random(n_rows) < 0.5
    y[:2] = [True, False]
    weights = rng.integers(1, 6, n_rows) if seed % 2 else None
    leaf = int(rng.integers(1, 5)) if seed % 3 == 0 else 0
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    # On a path each feature is of use once.
    points = achievable(X, y, n_features, weights, min_leaf=leaf)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    for i, metric in enumerate(METRICS_OF_TWO_CLASSES):
        penalty = [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 20), 0, 3][(seed + i) % 5]
        max_splits = [None, 1, 3, 5, 40][(seed + i) % 4] if penalty else int(rng.integers(0, 7))
        bounded = (seed + i) % 6 == 0 and metric.is_monotone
        least = Fraction(int(rng.integers(0, 10)), 10)
        solution = solve(
            problem,
            metric,
            None,
            split_penalty=penalty,
            max_splits=max_splits,
            min_leaf_weight=leaf,
            constraints=[Recall() >= least] if bounded else (),
            engine="search",
        )
        expected = best(
            points,
            lambda tp, tn, m=metric: m.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)),
            split_penalty=penalty,
            max_splits=max_splits,
            constraint=lambda tp, _tn, t=least, b=bounded: not b or tp >= t * n_pos,
        )
        if expected is None:
            assert solution.status is Status.INFEASIBLE, metric.name
            continue
        assert solution.objective == expected, metric.name
        assert solution.status is Status.OPTIMAL
        assert solution.max_depth is None


def test_any_depth_needs_a_price_or_a_budget() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1])
    for limited in ({"split_penalty": 0.1}, {"max_splits": 1}):
        assert solve(problem, "f1", None, **limited).value == 1
    message = "max_depth=None needs .*max_splits"
    for ask in (solve, frontier, path):
        with pytest.raises(ValueError, match=message):
            ask(problem, max_depth=None)
    with pytest.raises(ValueError, match=message):
        solve(problem, max_depth=None, split_penalty=0)
    with pytest.raises(ValueError, match="the MIP engine needs a limit on the depth"):
        solve(problem, max_depth=None, split_penalty=0.1, engine="mip")


def test_a_search_without_room_says_what_it_needs() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (8000, 1000))
    problem = Problem.from_arrays(X, X[:, 0] ^ (rng.random(8000) < 0.1))
    solution = solve(problem, "accuracy", 2, memory_limit=0)
    assert solution.limit is Limit.MEMORY
    status = solution.describe_status()
    needed = re.search(r"\(memory limit: this search needs memory_limit=(\S+) or more\)", status)
    assert needed is not None
    enough = solve(problem, "accuracy", 2, memory_limit=float(needed[1]), fewest_splits=False)
    assert enough.status is Status.OPTIMAL


def test_prices_too_small_for_a_proof_keep_the_time_limit() -> None:
    solution = solve(large_problem(), "accuracy", None, split_penalty=1e-6, time_limit=0.3)
    assert solution.limit is Limit.TIME
    assert solution.objective < solution.bound
    assert "not proven optimal (time limit)" in solution.describe_status()


@pytest.mark.slow
def test_directions_too_fine_for_dinkelbach_are_taken_from_the_hull() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 5))
    y = X[:, 0] ^ (rng.random(40) < 0.3)
    weights = rng.random(40)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    for metric in (get_metric("kappa"), FBeta(1.7), F1()):
        for penalty in (0, 0.01):
            solution = solve(problem, metric, 2, split_penalty=penalty)
            assert solution.status is Status.OPTIMAL
            same = solve(problem, 1 * metric, 2, split_penalty=penalty)
            assert same.objective == solution.objective


def test_labels_may_be_in_any_order() -> None:
    X, y, _, _ = random_problem(1)
    points = achievable(X, ~y, 2)
    problem = Problem.from_arrays(X, y, pos_label=False)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    for metric in (F1(), MCC()):
        expected = best(
            points, lambda tp, tn, m=metric: m.value(Confusion(tp, n_neg - tn, n_pos - tp, tn))
        )
        assert solve(problem, metric, 2, engine="search").value == expected


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_a_time_limit_leaves_a_tree_and_a_bound(metric) -> None:
    solution = solve(large_problem(), metric, 6, engine="search", time_limit=0.3)
    assert solution.status is Status.FEASIBLE
    assert solution.limit is Limit.TIME
    assert solution.objective < solution.bound <= 1
    assert solution.value == get_metric(metric).evaluate(solution.tree, solution.problem)
    assert solution.stats["time"] < 20


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_callback_sees_progress_and_can_stop(metric) -> None:
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 3

    solution = solve(large_problem(), metric, 6, engine="search", callback=callback)
    assert solution.limit is Limit.INTERRUPTED
    assert len(seen) >= 3
    bounds = [progress.bound for progress in seen]
    assert bounds == sorted(bounds, reverse=True)
    assert all(progress.objective <= progress.bound for progress in seen)


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize("metric", ["accuracy", "mcc"])
def test_ctrl_c_returns_the_best_tree(metric) -> None:
    problem = large_problem()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        solution = solve(problem, metric, 6, engine="search")
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert solution.limit is Limit.INTERRUPTED
    assert solution.status is Status.FEASIBLE


def test_metrics_it_cannot_maximise_are_refused() -> None:
    X, y, _, _ = random_problem(1)
    problem = Problem.from_arrays(X, y)
    for metric in (Accuracy() - F1(), CustomMetric(lambda tp, fp, fn, tn: tp - fn + tn - fp)):
        with pytest.raises(ValueError, match=r"cannot maximise .* declare it so"):
            solve(problem, metric, 2, engine="search")


CONSTRAINTS = [
    [Recall() >= 0.6],
    [Recall() >= 0.9],
    [Precision() >= 0.7],
    [Specificity() >= 0.8],
    ["npv >= 0.8", "recall >= 0.3"],
    [FalsePositives() <= 2],
    [FalseNegatives() <= 1],
    [GMean() >= 0.6],
    [MCC() >= 0.3, FalsePositives() <= 4],
    [0.5 * F1() + 0.5 * Accuracy() >= 0.75],
    [-1 * TruePositives() <= -2],
    [Accuracy() >= 1],
    [Recall() >= 0.5, Precision() >= 0.5, Specificity() >= 0.5],
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_constraints(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    points = achievable(X, y, depth, weights)
    n_pos, n_neg = problem.n_pos, problem.n_neg

    def confusion(tp, tn) -> Confusion:
        return Confusion(tp, n_neg - tn, n_pos - tp, tn)

    for i, constraints in enumerate(CONSTRAINTS):
        metric = METRICS_OF_TWO_CLASSES[(7 * seed + i) % len(METRICS_OF_TWO_CLASSES)]
        if not metric.is_monotone:
            metric = Precision()
        penalty = [0, 0, Fraction(1, 50), Fraction(1, 10**7)][(seed + i) % 4]
        max_splits = [None, None, 2, 5][(seed + 3 * i) % 4]
        conditions = check_constraints(constraints, problem)
        expected = best(
            points,
            lambda tp, tn, m=metric: m.value(confusion(tp, tn)),
            split_penalty=penalty,
            max_splits=max_splits,
            constraint=lambda tp, tn, conditions=conditions: all(
                c.is_met_by(c.metric.value(confusion(tp, tn))) for c in conditions
            ),
        )
        solution = solve(
            problem,
            metric,
            depth,
            constraints=constraints,
            split_penalty=penalty,
            max_splits=max_splits,
        )
        assert solution.objective == expected, (metric.name, constraints)
        assert solution.status is (Status.INFEASIBLE if expected is None else Status.OPTIMAL)
        assert solution.limit is Limit.NONE


@pytest.mark.parametrize(
    ("metric", "constraint", "message"),
    [
        ("f1", PredictedPositives() <= 3, "fewer errors; use engine='mip'"),
        ("f1", Recall() <= 0.5, "fewer errors; use engine='mip'"),
        ("f1", FalsePositives() >= 1, "fewer errors; use engine='mip'"),
        (Accuracy() - Recall(), Recall() >= 0.5, "under constraints"),
    ],
)
def test_constraints_it_cannot_handle_are_refused(metric, constraint, message) -> None:
    X, y, _, _ = random_problem(1)
    with pytest.raises(ValueError, match=message):
        solve(Problem.from_arrays(X, y), metric, 2, constraints=constraint, engine="search")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_ties_go_to_fewer_splits_and_then_to_smaller_depth(seed) -> None:
    X, y, weights, depth = random_problem(seed)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    n_pos, n_neg = problem.n_pos, problem.n_neg
    by_depth = [achievable(X, y, d, weights) for d in range(depth + 1)]
    for i, metric in enumerate(METRICS_OF_TWO_CLASSES):
        penalty = [0, Fraction(1, 100), Fraction(1, 16), Fraction(1, n_pos)][(seed + i) % 4]
        solution = solve(problem, metric, depth, split_penalty=penalty)

        def optima(d, metric=metric, penalty=penalty, best=solution.objective) -> list[int]:
            return [
                splits
                for tp, tn, splits in by_depth[d]
                if metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)) - penalty * splits
                == best
            ]

        fewest = min(optima(depth))
        assert solution.tree.splits == fewest, metric.name
        assert solution.tree.depth == min(d for d in range(depth + 1) if fewest in optima(d))
        assert solution.stats["fewest_splits"]


def test_steps_of_a_metric_at_attainable_weights() -> None:
    problem = Problem.from_arrays([[1], [0], [0]], [1, 1, 0], sample_weight=[0.03, 0.05, 0.04])
    step = CustomMetric(
        lambda tp, fp, _fn, _tn: int(tp >= Fraction(3, 100) and fp == 0), Shape.MONOTONE
    )
    solution = solve(problem, "accuracy", 1, constraints=[step >= 1])
    assert solution.status is Status.OPTIMAL
    assert step.evaluate(solution.tree, problem) == 1


def test_cost_matrices_know_which_class_is_positive() -> None:
    problem = Problem.from_arrays([[1], [0], [1], [1], [1]], list("babab"), pos_label="a")
    costs = CostMatrix([[0, 1], [3, 0]])
    assert solve(problem, costs, 1, constraints=["fp <= 100"]).value == -1
    assert solve(problem, costs, 1).value == -1
    assert costs.evaluate(frontier(problem, 1).best(costs).tree, problem) == -1


def test_extreme_imbalance() -> None:
    X = [[0, 0, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1]]
    weights = [2, 3, 1, 4, 3, 5, 3, 2000000005]
    problem = Problem.from_arrays(X, [1, 1, 1, 0, 0, 0, 0, 0], sample_weight=weights)
    metric = get_metric("kappa") + Accuracy()
    best_vertex = frontier(problem, 2, pareto=True).best(metric)
    assert solve(problem, metric, 2).value == metric.value(best_vertex.confusion)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e160, 1e80, 1e-100])
@pytest.mark.parametrize("metric", ["mcc", "gmean", "fowlkes_mallows", "kappa", "f1"])
def test_the_scale_of_weights_does_not_matter(scale, metric) -> None:
    X, y, weights = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 1, 1, 1, 0], [3, 1, 2, 2, 1]
    plain = solve(Problem.from_arrays(X, y, sample_weight=weights), metric, 2)
    scaled = Problem.from_arrays(X, y, sample_weight=[scale * w for w in weights])
    assert float(solve(scaled, metric, 2).value) == pytest.approx(float(plain.value), abs=1e-6)


def test_a_class_without_samples() -> None:
    problem = Problem.from_arrays([[0], [1]], ["a", "a"], pos_label="b")
    assert solve(problem, "f1", 1, constraints=["recall >= 0.5"]).status is Status.INFEASIBLE


def test_own_metrics_of_large_counts_keep_the_time_limit() -> None:
    weights = [10**6, 10**6 + 1, 10**6, 7]
    problem = Problem.from_arrays([[0], [1], [1], [0]], [0, 1, 0, 1], sample_weight=weights)
    worst = CustomMetric(
        lambda tp, fp, fn, tn: min(Fraction(tp, tp + fn), Fraction(tn, tn + fp)), Shape.MONOTONE
    )
    solution = solve(problem, worst, 1, time_limit=5)
    assert solution.status is Status.OPTIMAL
    assert solution.stats["time"] < 5


def test_irregular_weights_are_rounded_rather_than_refused() -> None:
    rng = np.random.default_rng(0)
    for weights in (rng.random(10), rng.random(300).round(6), 1 / rng.integers(1, 25, 100)):
        n = len(weights)
        problem = Problem.from_arrays(
            rng.integers(0, 2, (n, 6)), rng.integers(0, 2, n), sample_weight=weights
        )
        for metric in ("f1", "mcc", "gmean"):
            assert solve(problem, metric, 2).status is Status.OPTIMAL


def test_flags_are_checked() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1])
    with pytest.raises(TypeError, match="fewest_splits must be True or False, got 'no'"):
        solve(problem, "f1", 1, engine="search", fewest_splits="no")


def test_ties_can_be_left_alone() -> None:
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.integers(0, 2, (60, 6)), rng.random(60) < 0.3)
    any_tree = solve(problem, "f1", 3, fewest_splits=False)
    assert any_tree.value == solve(problem, "f1", 3).value
    assert not any_tree.stats["fewest_splits"]
    assert any_tree.stats["oracle_calls"] < solve(problem, "f1", 3).stats["oracle_calls"]


OPTIMA_AT_DEPTH_4 = {
    "cleve": {"f1": 0.8996, "mcc": 0.8209},
    "HTRU_2": {"f1": 0.8872, "mcc": 0.8782},
    "yeast": {"f1": 0.6446, "mcc": 0.4557},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMA_AT_DEPTH_4)
def test_known_optima_of_real_data(name, datasets_folder) -> None:
    table = np.loadtxt(datasets_folder / f"{name}.txt.gz", dtype=np.uint8)
    problem = Problem.from_arrays(table[:, 1:], table[:, 0])
    for metric, expected in OPTIMA_AT_DEPTH_4[name].items():
        solution = solve(problem, metric, 4, engine="search")
        assert solution.status is Status.OPTIMAL
        assert round(float(solution.value), 4) == expected


def test_balanced_accuracy_is_what_youden_says() -> None:
    X, y, _, _ = random_problem(2)
    problem = Problem.from_arrays(X, y)
    a = solve(problem, BalancedAccuracy(), 2, engine="search").value
    assert solve(problem, "youden", 2, engine="search").value == 2 * a - 1
    assert isinstance(a.as_fraction(), Fraction)


def test_deeper_trees_start_from_smaller_ones(monkeypatch) -> None:
    """A run that is stopped at its largest depth has the best tree of the depth before."""
    from goct.search import engine
    from goct.search.questions import Effort, SearchOracle

    monkeypatch.setattr(engine, "_MANY_STEPS", 0)
    monkeypatch.setattr(engine, "_STEPS_PER_SECOND", 0)
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (80, 6))
    y = (X[:, 0] ^ X[:, 1] ^ X[:, 2]) ^ (rng.random(80) < 0.2)
    problem = Problem.from_arrays(X, y)
    ask = SearchOracle.solve

    def stop(self, costs, size, **options):
        if self.size.max_depth == 5 and options.get("effort") is not Effort.FIRST_TREES:
            self.session.stop(Limit.TIME)
        return ask(self, costs, size, **options)

    questions = [
        ("f1", {}),
        ("mcc", {"split_penalty": 0.01}),
        ("precision", {"constraints": "recall >= 0.6"}),
        ("gmean", {"max_splits": 9}),
        ("f1", {"min_leaf_weight": 4}),
    ]
    smaller = [solve(problem, metric, 4, engine="search", **o) for metric, o in questions]
    monkeypatch.setattr(SearchOracle, "solve", stop)
    for (metric, options), small in zip(questions, smaller, strict=True):
        seen = []
        stopped = solve(problem, metric, 5, engine="search", callback=seen.append, **options)
        assert stopped.limit is Limit.TIME
        assert stopped.objective >= small.objective
        assert stopped.bound == get_metric(metric).best_value(problem)
        assert all(progress.bound == stopped.bound for progress in seen)


def test_smaller_depths_end_where_they_gain_nothing(monkeypatch) -> None:
    """With a price, the whole question is next: its bound counts."""
    from goct.search import engine
    from goct.search.questions import SearchOracle

    monkeypatch.setattr(engine, "_MANY_STEPS", 0)
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (80, 6))
    problem = Problem.from_arrays(X, X[:, 0] ^ (rng.random(80) < 0.1))
    ask, depths = SearchOracle.solve, []

    def solve_and_note(self, costs, size, **options):
        depths.append(self.size.max_depth)
        return ask(self, costs, size, **options)

    monkeypatch.setattr(SearchOracle, "solve", solve_and_note)
    solution = solve(problem, "f1", None, split_penalty=0.02, engine="search")
    assert solution.status is Status.OPTIMAL
    assert solution.tree.splits == 1
    assert set(depths) == {2, 3, None}


def test_smaller_depths_leave_time_for_the_whole_question(monkeypatch) -> None:
    from goct.search import engine

    def fail(*_) -> None:
        raise AssertionError

    monkeypatch.setattr(engine, "_MANY_STEPS", 0)
    monkeypatch.setattr(engine, "_SHARE_OF_SMALLER", 0.0)
    monkeypatch.setattr(engine, "_try_smaller", fail)
    problem = Problem.from_arrays([[0, 1], [1, 0], [1, 1]] * 9, [0, 1, 1] * 9)
    assert solve(problem, "f1", 5, engine="search", time_limit=60).status is Status.OPTIMAL


def test_a_poor_start_proves_nothing_false() -> None:
    """Sweeps over split budgets begin with one split: constant trees must be known."""
    from goct.search.engine import solve_search
    from goct.solution import Limits
    from goct.task import Task
    from goct.tree import Leaf, Split, Tree

    problem = Problem.from_arrays([[1], [1], [0]], [1, 0, 1], sample_weight=[2, 3, 5])
    poor = Tree(Split(0, Leaf(0), Leaf(0)), problem.classes, problem.feature_names)
    task = Task.read(problem, "f2", 2, split_penalty=0.01)
    found = solve_search(task, limits=Limits(), start=poor, random_state=None, callback=None)
    assert found.objective == found.bound == solve(problem, "f2", 2, split_penalty=0.01).objective


def test_ties_take_a_share_of_the_time(monkeypatch) -> None:
    """Tie-breaking that takes long ends, and the tree is proven all the same."""
    import goct.plane.oracle as module

    problem = large_problem()
    seen = []

    def slow(incumbent, find_tie, **_) -> None:
        while True:  # as long as questions are answered
            find_tie(replace(incumbent.task.size, max_splits=1))

    monkeypatch.setattr("goct.search.engine.break_ties", slow)
    monkeypatch.setattr(module, "_SHORT", 0.3)
    solution = solve(problem, "mcc", 2, tie_share=0, callback=lambda p: seen.append(p.breaks_ties))
    assert solution.status is Status.OPTIMAL
    assert solution.limit is Limit.NONE
    assert not solution.fewest_splits
    assert solution.stats["time"] < 30
    with pytest.raises(ValueError, match="tie_share must not be negative, got -1"):
        solve(problem, "mcc", 2, tie_share=-1)


def test_progress_says_when_ties_are_broken() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 40))
    seen = []
    solution = solve(
        Problem.from_arrays(X, X[:, 0] ^ X[:, 1]), "f1", 4,
        callback=lambda progress: seen.append(progress.breaks_ties),
    )  # fmt: skip
    assert solution.fewest_splits
    assert solution.tree.splits == 3
    assert seen == sorted(seen)  # first the proof, then the ties


def test_a_quotient_that_is_larger_where_its_denominator_is_zero() -> None:
    class AllOrNothing(FractionalMetric):
        """-(FN + FP) / (FN + FP): -1, but 0 without errors."""

        name = "all_or_nothing"

        def fraction(self, n_pos, n_neg):
            return Affine(-(n_pos + n_neg), 1, 1), Affine(n_pos + n_neg, -1, -1)

    problem = Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    for depth, value in [(1, -1), (2, 0)]:
        solution = solve(problem, AllOrNothing(), depth)
        assert solution.status is Status.OPTIMAL
        assert solution.objective == value


def test_the_last_of_very_many_false_negatives() -> None:
    # Only the tree that finds a weight of 1 of all positives has no false positives.
    X, y = [[1, 0], [0, 0], [0, 0], [0, 1], [0, 1]], [1, 1, 0, 1, 0]
    problem = Problem.from_arrays(X, y, sample_weight=[1, 2**56, 1, 1, 1])
    solution = solve(problem, "precision", 1, constraints=["fp <= 0"])
    assert solution.status is Status.OPTIMAL
    assert solution.objective == 1
