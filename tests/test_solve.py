"""The public function: results equal to brute force, and errors before any work."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Solution, Status
from goct.constraints import MinLeafWeight, MinSamplesLeaf
from goct.exact import as_fraction
from goct.metrics import (
    F1,
    Accuracy,
    BalancedAccuracy,
    ClassCost,
    Confusion,
    CostMatrix,
    InstanceCost,
    LinearMetric,
    Recall,
    Specificity,
    YoudenJ,
    get_metric,
)
from goct.tree import Leaf, Split, Tree
from tests.support.mip import solve
from tests.support.problems import check_stopped, hard_problem
from tests.support.reference import achievable, achievable_costs, best

ENGINES = ["search", "mip"]
PENALTIES = [0, Fraction(1, 100), Fraction(1, 7), 2]


def random_arrays(seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n_rows, n_features = rng.integers(5, 31), rng.integers(2, 6)
    X = rng.integers(0, 2, (n_rows, n_features))
    y = rng.choice(n_classes, n_rows, p=rng.dirichlet(np.ones(n_classes) * 2))
    y[:n_classes] = np.arange(n_classes)
    return X, y


def check_honesty(solution: Solution, X: np.ndarray, max_depth: int) -> None:
    """The value of a solution is that of its tree on the data."""
    assert solution.status is Status.OPTIMAL
    assert solution.limit is Limit.NONE
    assert solution.gap == 0
    assert solution.tree is not None
    assert solution.tree.depth <= max_depth
    assert solution.tree.pruned() == solution.tree
    assert solution.value == solution.metric.evaluate(solution.tree, solution.problem)
    assert solution.objective == solution.value - solution.split_penalty * solution.tree.splits
    assert len(solution.tree.predict(X)) == len(X)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(150))
def test_two_classes(seed, engine) -> None:
    """Every linear metric, on problems that all share one enumeration."""
    X, y = random_arrays(seed)
    rng = np.random.default_rng(seed + 1000)
    depth = 1 + seed % 2
    weights = rng.integers(1, 5, len(X)) if seed % 3 == 0 else None
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    points = achievable(X, y == 1, depth, weights)
    metrics: list[LinearMetric] = [Accuracy(), BalancedAccuracy(), YoudenJ(), Recall()]
    metrics += [ClassCost(5, 1), ClassCost(0, 1), ClassCost(0.3, 2)]
    metrics += [0.25 * Accuracy() + 0.75 * Specificity() - 0.1 * Recall()]  # type: ignore[list-item]
    metric = metrics[seed % len(metrics)]
    penalty = PENALTIES[seed % 5 % 4]
    max_splits = [None, 1, 2][seed % 7 % 3]
    n_pos, n_neg = problem.n_pos, problem.n_neg

    solution = solve(
        problem, metric, depth, split_penalty=penalty, max_splits=max_splits, engine=engine
    )
    check_honesty(solution, X, depth)
    expected = best(
        points,
        lambda tp, tn: metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)),
        split_penalty=penalty,
        max_splits=max_splits,
    )
    assert solution.objective == expected
    assert max_splits is None or solution.tree.splits <= max_splits


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(100))
def test_three_classes(seed, engine) -> None:
    X, y = random_arrays(seed, n_classes=3)
    rng = np.random.default_rng(seed + 2000)
    depth = 1 + seed % 2
    penalty = PENALTIES[seed % 4]
    matrix = rng.integers(-3, 6, (3, 3))
    per_row = rng.integers(-3, 6, (len(X), 3))
    sizes = np.bincount(y)
    wrong = 1 - np.eye(3, dtype=int)[y]
    metric, costs = [
        (Accuracy(), [[Fraction(int(c), len(y)) for c in row] for row in wrong]),
        (
            BalancedAccuracy(),
            [
                [Fraction(int(c), 3 * n) for c in row]
                for n, row in zip(sizes[y].tolist(), wrong, strict=True)
            ],
        ),
        (CostMatrix(matrix.tolist()), matrix[y]),
        (InstanceCost(), per_row),
    ][seed % 3 if seed < 60 else 3]
    problem = Problem.from_arrays(X, y, costs=per_row)

    solution = solve(problem, metric, depth, split_penalty=penalty, engine=engine)
    check_honesty(solution, X, depth)
    perfect = 1 if isinstance(metric, Accuracy | BalancedAccuracy) else 0
    points = achievable_costs(X, np.array(costs, dtype=object), depth)
    assert solution.objective == max(perfect - cost - penalty * splits for cost, splits in points)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(10))
def test_depth_three(seed, engine) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (20, 3))
    y = rng.integers(0, 2, 20)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, "accuracy", 3, split_penalty=0.03, engine=engine)
    points = achievable(X, y == 1, 3)
    expected = best(points, lambda tp, tn: Fraction(tp + tn, 20), split_penalty=Fraction(3, 100))
    assert solution.objective == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_binary_flow_gives_the_same(seed) -> None:
    X, y = random_arrays(seed)
    problem = Problem.from_arrays(X, y)
    a = solve(problem, "balanced_accuracy", 2, engine="mip")
    b = solve(problem, "balanced_accuracy", 2, engine="mip", integer_flow=True)
    assert a.objective == b.objective == b.bound


def test_depth_zero_and_budget_zero_give_the_constant_tree() -> None:
    X, y = random_arrays(3)
    problem = Problem.from_arrays(X, y)
    for arguments in ({"max_depth": 0}, {"max_depth": 2, "max_splits": 0}):
        solution = solve(problem, "accuracy", **arguments)
        assert solution.status is Status.OPTIMAL
        assert solution.tree.splits == 0
        assert solution.value == Fraction(int(np.bincount(y).max()), len(y))


@pytest.mark.parametrize("label", [0, 1, "x", True, False])
def test_one_class_gives_the_constant_tree(label) -> None:
    problem = Problem.from_arrays([[0], [1], [1]], [label] * 3)
    solution = solve(problem, "accuracy", 2)
    assert solution.status is Status.OPTIMAL
    assert solution.value == 1
    assert solution.tree.splits == 0
    assert solution.tree.predict([[0], [1]]).tolist() == [label] * 2


def test_no_useful_feature_gives_the_constant_tree() -> None:
    for X in (np.zeros((4, 0)), np.ones((4, 3))):
        solution = solve(Problem.from_arrays(X, [0, 1, 1, 1]), "accuracy", 2)
        assert solution.status is Status.OPTIMAL
        assert solution.value == Fraction(3, 4)


def test_labels_come_back_as_they_were() -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
    for labels in (["no", "yes"], [1, 2], [-1, 1], [False, True]):
        y = [labels[a & b] for a, b in X]
        solution = solve(Problem.from_arrays(X, y), "accuracy", 2)
        assert solution.value == 1
        assert solution.tree.predict(X).tolist() == y


def test_columns_that_were_left_out_are_not_needed_for_prediction_but_must_be_there() -> None:
    X = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0], [1, 0, 1, 1]])
    y = [0, 1, 0, 0]
    solution = solve(Problem.from_arrays(X, y), "accuracy", 2)
    assert solution.tree.predict(X).tolist() == y


def test_time_limit_returns_a_tree_and_a_bound() -> None:
    solution = solve(hard_problem(), "accuracy", 3, engine="mip", time_limit=0.5)
    check_stopped(solution, Limit.TIME)
    assert solution.stats["time"] < 20  # stops in reasonable time on any machine


def test_tiny_time_limit_still_returns_a_tree() -> None:
    check_stopped(solve(hard_problem(), "accuracy", 3, engine="mip", time_limit=1e-6), Limit.TIME)


@pytest.mark.slow
def test_node_limit() -> None:
    problem = Problem.from_arrays(*random_arrays(4))
    solution = solve(hard_problem(), "accuracy", 2, engine="mip", node_limit=1)
    check_stopped(solution, Limit.NODES)
    assert solve(problem, "accuracy", 1, engine="mip", node_limit=10**30).status is Status.OPTIMAL


def test_callback_sees_honest_progress_and_can_stop() -> None:
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 3

    solution = solve(hard_problem(), "accuracy", 2, engine="mip", callback=callback)
    check_stopped(solution, Limit.INTERRUPTED)
    assert len(seen) >= 3
    for progress in seen:
        assert progress.objective <= progress.bound
        assert progress.elapsed >= 0
    objectives = [progress.objective for progress in seen]
    assert objectives == sorted(objectives)
    assert solution.objective >= objectives[-1]


def test_errors_of_the_callback_reach_the_caller() -> None:
    def callback(_progress):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        solve(hard_problem(), "accuracy", 2, engine="mip", callback=callback)


@pytest.mark.parametrize("engine", ENGINES)
def test_same_seed_same_tree(engine) -> None:
    problem = Problem.from_arrays(*random_arrays(5))
    first, second = (solve(problem, "accuracy", 2, random_state=7, engine=engine) for _ in range(2))
    assert first.tree == second.tree


GOOD = Problem.from_arrays([[0], [1]], [0, 1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"problem": [[0], [1]]}, TypeError, "Problem.from_arrays"),
        ({"metric": "acuracy"}, ValueError, "did you mean 'accuracy'"),
        ({"metric": 3}, TypeError, "metric"),
        (
            {"metric": F1() - 0.5 * Accuracy(), "engine": "search"},
            ValueError,
            "cannot maximise .* engine='mip'",
        ),
        ({"engine": "search", "node_limit": 1}, ValueError, "node_limit"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be at least 1, got 0"),
        ({"n_jobs": True}, TypeError, "n_jobs"),
        ({"node_limit": 5}, ValueError, "takes no node_limit; use time_limit"),
        ({"metric": "instance_cost"}, ValueError, "costs"),
        ({"metric": CostMatrix([[0, 1, 1], [1, 0, 1], [1, 1, 0]])}, ValueError, "3 classes"),
        ({"max_depth": -1}, ValueError, "max_depth must be at least 0"),
        ({"max_depth": 2.0}, TypeError, "max_depth must be an integer"),
        ({"max_depth": True}, TypeError, "max_depth must be an integer"),
        ({"max_depth": 100}, ValueError, "at most 64"),
        ({"split_penalty": -0.1}, ValueError, "split_penalty"),
        ({"split_penalty": float("nan")}, ValueError, "split_penalty must be finite"),
        ({"split_penalty": "a"}, TypeError, "split_penalty"),
        ({"max_splits": -1}, ValueError, "max_splits"),
        (
            {"engine": "magic"},
            ValueError,
            "unknown engine 'magic'; allowed: 'auto', 'search', 'mip'",
        ),
        ({"time_limit": 0}, ValueError, "time_limit"),
        ({"time_limit": "soon"}, TypeError, "time_limit"),
        ({"node_limit": 0}, ValueError, "node_limit"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"callback": 3}, TypeError, "callback"),
        ({"colour": "red"}, TypeError, "unknown option 'colour'"),
        (
            {"engine": "mip", "backend": "cplex"},
            ValueError,
            "unknown backend 'cplex'; allowed: 'scip'",
        ),
        ({"engine": "mip", "formulation": "magic"}, ValueError, "unknown formulation"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        solve(**{"problem": GOOD, "metric": "accuracy", "max_depth": 1, **arguments})


@pytest.mark.parametrize("engine", ENGINES)
def test_fine_weights_and_penalties_do_not_overflow(engine) -> None:
    """Objective values beyond 64 bits are computed exactly or refused, never wrapped around."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 4))
    y = X[:, 0] | (rng.random(60) < 0.1)
    problem = Problem.from_arrays(X, y, sample_weight=rng.random(60))
    coarse = solve(problem, "accuracy", 2, split_penalty=0.001)
    assert coarse.tree.splits > 0
    try:
        fine = solve(problem, "accuracy", 2, split_penalty=0.0010000000001, engine=engine)
    except ValueError as error:
        assert "too fine" in str(error)  # noqa: PT017
        return
    assert fine.value == coarse.value
    assert fine.tree.splits == coarse.tree.splits


def test_large_weights_do_not_overflow() -> None:
    X, y = random_arrays(2)
    weights = np.full(len(X), 2**50)
    small = solve(Problem.from_arrays(X, y), "accuracy", 2)
    for engine in ENGINES:
        try:
            large = solve(
                Problem.from_arrays(X, y, sample_weight=weights), "accuracy", 2, engine=engine
            )
        except ValueError as error:
            assert "too fine" in str(error)  # noqa: PT017
            continue
        assert large.value == small.value


@pytest.mark.parametrize("metric", ["f1", "mcc", "accuracy"])
def test_irregular_weights_work_with_every_shape(metric) -> None:
    X, y = random_arrays(7)
    weights = np.random.default_rng(1).random(len(X))
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    solution = solve(problem, metric, 2)
    assert solution.status is Status.OPTIMAL
    assert "rounded" in solution.summary()


def test_trees_have_no_split_that_no_row_crosses() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    solution = solve(Problem.from_arrays(X, [0, 1, 1, 1]), "accuracy", 3)
    assert solution.tree.splits == 2


def test_infinite_time_limit_means_none() -> None:
    assert solve(GOOD, "accuracy", 1, time_limit=float("inf")).status is Status.OPTIMAL
    assert solve(GOOD, "accuracy", 1, time_limit=float("inf"), engine="mip").value == 1


def test_time_limit_holds_while_a_large_model_is_built() -> None:
    solution = solve(hard_problem(), "accuracy", 9, engine="mip", time_limit=0.5)
    check_stopped(solution, Limit.TIME)
    assert solution.stats["time"] < 20


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "f1", "mcc", "kappa"])
@pytest.mark.parametrize(
    "penalty", [0.05 + 0.01, np.geomspace(1e-3, 1e-1, 5)[1], np.pi / 100, 1e300]
)
def test_everyday_floats_are_not_too_fine(metric, penalty) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 4))
    y = X[:, 0] ^ (rng.random(300) < 0.2)
    for weights in (None, rng.integers(1, 6, 300) / 10 * 7, rng.random(300)):
        solution = solve(
            Problem.from_arrays(X, y, sample_weight=weights), metric, 2, split_penalty=penalty
        )
        assert solution.status is Status.OPTIMAL
        assert float(solution.split_penalty) == pytest.approx(penalty, rel=1e-6)
        assert (solution.tree.splits == 0) == (penalty > 1)


def test_penalties_keep_their_meaning() -> None:
    for penalty in (1e-9, 0.001, 0.12345678, 1e-15, 3):
        assert solve(GOOD, "accuracy", 1, split_penalty=penalty).split_penalty == as_fraction(
            penalty
        )


@pytest.mark.parametrize("answer", [np.True_, 1, "yes"])
def test_anything_true_stops(answer) -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.integers(0, 2, (1500, 80)), rng.integers(0, 2, 1500))
    solution = solve(problem, "accuracy", 7, callback=lambda _: answer, time_limit=100)
    assert solution.limit is Limit.INTERRUPTED


def test_all_processors() -> None:
    problem = Problem.from_arrays(*random_arrays(5))
    assert solve(problem, "accuracy", 2, n_jobs=-1, memory_limit=1e9).status is Status.OPTIMAL


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc", "gmean"])
@pytest.mark.parametrize("penalty", [0, Fraction(1, 50)])
def test_a_minimum_leaf_weight_is_the_constraint_of_that_name(metric, penalty) -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        X, y = rng.integers(0, 2, (12, 4)), np.append([0, 1], rng.integers(0, 2, 10))
        weights, least = rng.integers(1, 4, 12), int(rng.integers(1, 16))
        problem = Problem.from_arrays(X, y, sample_weight=weights)
        found = solve(problem, metric, 3, min_leaf_weight=least, split_penalty=penalty)
        same = solve(problem, metric, 3, constraints=MinLeafWeight(least), split_penalty=penalty)
        n_pos, n_neg = weights[y == 1].sum(), weights[y == 0].sum()
        expected = best(
            achievable(X, y == 1, 3, weights, least),
            lambda tp, tn, p=n_pos, n=n_neg: get_metric(metric).value(
                Confusion(tp=tp, fp=int(n - tn), fn=int(p - tp), tn=tn)
            ),
            split_penalty=penalty,
        )
        assert found.stats["engine"] == same.stats["engine"] == "search"
        assert found.objective == same.objective == found.bound == expected


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc", "gmean"])
@pytest.mark.parametrize("penalty", [0, Fraction(1, 50)])
def test_samples_of_a_leaf_are_counted_whatever_they_weigh(metric, penalty) -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        X, y = rng.integers(0, 2, (12, 4)), np.append([0, 1], rng.integers(0, 2, 10))
        weights, least = rng.integers(0, 4, 12), int(rng.integers(1, 6))
        weights[:2] = 1
        problem = Problem.from_arrays(X, y, sample_weight=weights)
        found = solve(problem, metric, 3, min_samples_leaf=least, split_penalty=penalty)
        same = solve(problem, metric, 3, constraints=MinSamplesLeaf(least), split_penalty=penalty)
        n_pos, n_neg = weights[y == 1].sum(), weights[y == 0].sum()
        expected = best(
            achievable(X, y == 1, 3, weights, min_samples=least),
            lambda tp, tn, p=n_pos, n=n_neg: get_metric(metric).value(
                Confusion(tp=tp, fp=int(n - tn), fn=int(p - tp), tn=tn)
            ),
            split_penalty=penalty,
        )
        assert found.stats["engine"] == same.stats["engine"] == "search"
        assert found.objective == same.objective == found.bound == expected


def test_samples_and_weight_of_a_leaf_at_once() -> None:
    rng = np.random.default_rng(5)
    engines = set()
    for _ in range(8):
        X, y = rng.integers(0, 2, (14, 3)), np.append([0, 1], rng.integers(0, 2, 12))
        weights = rng.integers(1, 5, 14)
        problem = Problem.from_arrays(X, y, sample_weight=weights)
        found = solve(problem, "accuracy", 2, min_leaf_weight=6, min_samples_leaf=4)
        points = achievable(X, y == 1, 2, weights, 6, 4)
        total = int(weights.sum())
        assert found.value == best(points, lambda tp, tn, n=total: Fraction(tp + tn, n))
        engines.add(found.stats["engine"])
        with pytest.raises(ValueError, match="by the number of samples or by their weight"):
            solve(problem, "f1", 2, min_leaf_weight=6, min_samples_leaf=4, engine="search")
        # Where all samples weigh the same, both are one.
        same = Problem.from_arrays(X, y, sample_weight=np.full(14, 0.3))
        both = solve(same, "f1", 2, min_leaf_weight=0.7, min_samples_leaf=2)
        assert both.stats["engine"] == "search"
        assert both.value == solve(same, "f1", 2, min_samples_leaf=3).value
    assert engines == {"mip"}


def test_leaves_heavier_than_the_data_are_infeasible() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1])
    assert solve(problem, "f1", 2, min_leaf_weight=3).status is Status.INFEASIBLE
    assert solve(problem, "f1", 2, min_leaf_weight=2).tree.splits == 0
    with pytest.raises(ValueError, match="min_leaf_weight must not be negative"):
        solve(problem, "f1", 2, min_leaf_weight=-1)
    assert solve(problem, "f1", 2, min_samples_leaf=3).status is Status.INFEASIBLE
    assert solve(problem, "f1", 2, min_samples_leaf=2).tree.splits == 0
    with pytest.raises(ValueError, match="min_samples_leaf must be at least 0"):
        solve(problem, "f1", 2, min_samples_leaf=-1)


@pytest.mark.parametrize("engine", ["search", "mip"])
@pytest.mark.parametrize("metric", ["accuracy", "f1", "gmean"])
def test_a_tree_to_start_from_changes_no_result(metric, engine) -> None:
    X, y = random_arrays(3)
    problem = Problem.from_arrays(X, y)
    best = solve(problem, metric, 2, engine="search")
    names = problem.feature_names
    idle = Split(0, Leaf(0), Split(1, Leaf(1), Leaf(1)))
    for root in (best.tree.root, Leaf(0), idle, Split(1, Leaf(1), Leaf(0))):
        start = Tree(root, problem.classes, names)
        found = solve(problem, metric, 2, engine=engine, start=start)
        assert found.status is Status.OPTIMAL
        assert found.objective == best.objective


@pytest.mark.parametrize("engine", ["search", "mip"])
def test_what_is_found_is_never_worse_than_the_start(engine) -> None:
    problem = hard_problem()
    start = solve(problem, "f1", 2).tree
    found = solve(problem, "f1", 5, engine=engine, start=start, time_limit=0.01)
    assert found.value >= F1().evaluate(start, problem)


def test_a_tree_to_start_from_one_class_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 4))
    problem = Problem.from_arrays(X, X[:, 0] + X[:, 1], pos_label=2)
    best = solve(problem, "f1", 2)
    assert solve(problem, "f1", 2, start=best.tree).value == best.value == 1


def test_trees_that_are_no_start() -> None:
    X, y = random_arrays(3)
    problem = Problem.from_arrays(X, y)

    def tree(root, **fields) -> Tree:
        of_problem = {"classes": problem.classes, "feature_names": problem.feature_names}
        return Tree(root, **{**of_problem, **fields})

    deep = tree(Split(0, Leaf(0), Split(1, Leaf(0), Leaf(1))))
    for start, options, error, message in [
        (deep, {"max_depth": 1}, ValueError, "its depth is 2, and max_depth is 1"),
        (deep, {"max_splits": 1}, ValueError, "it has 2 splits, and 1 are allowed"),
        (tree(Leaf(0)), {"constraints": ["recall >= 0.5"]}, ValueError, "not meet 'recall >= 0.5'"),
        (tree(Leaf(0), classes=("a", "b")), {}, ValueError, "the tree predicts the classes"),
        (solve(problem), {}, TypeError, "start must be a Tree, got Solution; pass its tree"),
    ]:
        with pytest.raises(error, match=message):
            solve(problem, **{"max_depth": 2, "start": start, **options})


def test_options_of_the_other_engine_name_both() -> None:
    for options, message in [
        ({"formulation": "flow"}, "'formulation' is an option of the MIP engine, but the search"),
        ({"engine": "mip", "fewest_splits": True}, "an option of the search engine, but the MIP"),
        ({"engine": "mip", "colour": 1}, "unknown option 'colour' of the MIP engine"),
    ]:
        with pytest.raises(TypeError, match=message):
            solve(GOOD, "accuracy", 1, **options)


def test_penalties_that_no_split_pays_at_large_weights() -> None:
    problem = Problem.from_arrays([[0], [1], [1]], [0, 1, 0], sample_weight=[1, 10**5, 1])
    for depth in (3, 4):
        solution = solve(problem, "f1", depth, split_penalty=1e9, engine="search")
        assert solution.status is Status.OPTIMAL
        assert solution.tree.root == Leaf(1)


@pytest.mark.parametrize("nested", [False, True])
def test_thousands_of_columns(nested) -> None:
    """Columns that nest in each other or do not, more than are compared when chains are made."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 3000))
    if nested:  # the thresholds of 60 columns, in any order
        ranks = np.stack([rng.permutation(60) for _ in range(60)], axis=1)
        X = (ranks[:, :, None] > np.arange(50)).reshape(60, 3000).astype(int)
        X = X[:, rng.permutation(3000)]
    y = rng.integers(0, 2, 60)
    agree = (y[:, None] == X).sum(axis=0)
    best = max(agree.max(), 60 - agree.min(), y.sum(), 60 - y.sum())
    solution = solve(Problem.from_arrays(X, y), "accuracy", 1, engine="search")
    assert solution.status is Status.OPTIMAL
    assert solution.value == Fraction(int(best), 60)
