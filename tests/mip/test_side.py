"""Side constraints, on every formulation and backend, against all trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status, Tree
from goct.constraints import (
    Constraint,
    FeatureBudget,
    ForbidFeatures,
    MaxFeatures,
    MinLeafWeight,
    RequireFeatures,
)
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    ClassCost,
    CohenKappa,
    CostMatrix,
    FalseNegatives,
    FalsePositives,
    Jaccard,
    NegativePredictiveValue,
    Precision,
    PredictedPositives,
    Recall,
    Specificity,
    TrueNegatives,
    TruePositives,
    YoudenJ,
)
from goct.mip import BACKENDS, FORMULATIONS
from goct.mip.backends.base import BackendError, MipResult
from goct.tree import Leaf, Node, Split
from tests.support.mip import skip_if_missing, small_arrays, solve

RUNS = [
    ("benders-pair-cut", "scip"),
    ("benders", "scip"),
    ("wflow", "scip"),
    ("wflow", "highs"),
    ("benders-weighted-cut", "gurobi"),
]


def all_nodes(n_features: int, n_classes: int, depth: int) -> Iterator[Node]:
    for k in range(n_classes):
        yield Leaf(k)
    if depth:
        below = list(all_nodes(n_features, n_classes, depth - 1))
        for feature in range(n_features):
            for left in below:
                for right in below:
                    yield Split(feature, left, right)


class Facts:
    """What the tests need to know about a tree, found without the code under test."""

    def __init__(self, node: Node, X: np.ndarray, y: np.ndarray) -> None:
        self.leaves: list[int] = []
        self.used: set[int] = set()
        self.useful: set[int] = set()
        self.splits = 0
        predicted = np.empty(len(y), dtype=int)

        def visit(node: Node, rows: np.ndarray) -> object:
            """Return what the node predicts, as a value that is equal for equal functions."""
            if isinstance(node, Leaf):
                predicted[rows] = node.label
                self.leaves.append(len(rows))
                return node.label
            self.used.add(node.feature)
            self.splits += 1
            right = X[rows, node.feature] == 1
            a, b = visit(node.left, rows[~right]), visit(node.right, rows[right])
            if right.all():
                return b
            if not right.any():
                return a
            if a == b and isinstance(a, int):
                return a
            return (node.feature, a, b)

        shape = visit(node, np.arange(len(y)))
        stack = [shape]
        while stack:
            item = stack.pop()
            if isinstance(item, tuple):
                self.useful.add(item[0])
                stack += item[1:]
        self.right = int((predicted == y).sum())
        self.tp, self.tn = (int(((predicted == k) & (y == k)).sum()) for k in (1, 0))
        self.fp, self.fn = int((y == 0).sum()) - self.tn, int((y == 1).sum()) - self.tp


def ratio(a: int, b: int) -> Fraction:
    return Fraction(a, b) if b else Fraction(0)


Rule = Callable[[Facts], bool]


def NEVER(_: Facts) -> bool:  # noqa: N802
    """Say that no tree will do."""
    return False


def metric_rules(n: int) -> list[tuple[list[Constraint], Rule]]:
    """Bounds on metrics, as constraints and as plain functions."""
    return [
        ([Recall() >= 0.8], lambda t: ratio(t.tp, t.tp + t.fn) >= Fraction(8, 10)),
        ([Recall() <= 0.5], lambda t: ratio(t.tp, t.tp + t.fn) <= Fraction(1, 2)),
        ([Precision() >= 0.75], lambda t: ratio(t.tp, t.tp + t.fp) >= Fraction(3, 4)),
        ([Precision() <= 0.6], lambda t: ratio(t.tp, t.tp + t.fp) <= Fraction(6, 10)),
        ([TruePositives() >= 3], lambda t: t.tp >= 3),
        ([TruePositives() <= 2], lambda t: t.tp <= 2),
        ([TrueNegatives() >= 3], lambda t: t.tn >= 3),
        ([TrueNegatives() <= 2], lambda t: t.tn <= 2),
        ([PredictedPositives() <= n // 3], lambda t: t.tp + t.fp <= n // 3),
        ([PredictedPositives() >= n - 3], lambda t: t.tp + t.fp >= n - 3),
        (
            [PredictedPositives() >= n // 2, PredictedPositives() <= n // 2],
            lambda t: t.tp + t.fp == n // 2,
        ),
        ([FalsePositives() <= 1, Recall() >= 0.5], lambda t: t.fp <= 1 and t.tp >= t.fn),
        ([F1() >= 0.7], lambda t: ratio(2 * t.tp, 2 * t.tp + t.fp + t.fn) >= Fraction(7, 10)),
        ([F1() <= 0.5], lambda t: ratio(2 * t.tp, 2 * t.tp + t.fp + t.fn) <= Fraction(1, 2)),
        ([Jaccard() >= 0.6], lambda t: ratio(t.tp, t.tp + t.fp + t.fn) >= Fraction(6, 10)),
        ([NegativePredictiveValue() >= 0.9], lambda t: ratio(t.tn, t.tn + t.fn) >= Fraction(9, 10)),
        ([CohenKappa() <= 0], lambda t: t.tp * t.tn <= t.fp * t.fn),
        ([Accuracy() <= Fraction(1, 2)], lambda t: 2 * t.right <= n),
        (
            [Specificity() >= Fraction(2, 3), Specificity() <= Fraction(2, 3)],
            lambda t: 3 * t.tn == 2 * (t.tn + t.fp),
        ),
        ([CostMatrix([[0, 5], [1, 0]]) >= -7], lambda t: 5 * t.fp + t.fn <= 7),
    ]


def structural_rules() -> list[tuple[list[Constraint], Rule]]:
    """Conditions on features and leaves; column 1 is a copy of column 0, column 3 a complement."""
    return [
        ([ForbidFeatures("x0")], lambda t: 0 not in t.used),
        ([ForbidFeatures(0, 1, 3)], lambda t: t.used <= {2}),
        ([RequireFeatures("x1")], lambda t: 1 in t.useful),
        ([RequireFeatures(0, 1)], lambda t: {0, 1} <= t.useful),
        ([RequireFeatures(2), ForbidFeatures(0)], lambda t: 2 in t.useful and 0 not in t.used),
        ([RequireFeatures(2), ForbidFeatures(2)], NEVER),
        ([MaxFeatures(1)], lambda t: len(t.used) <= 1),
        ([MaxFeatures(0)], lambda t: not t.used),
        ([MaxFeatures(2), RequireFeatures(3)], lambda t: len(t.used) <= 2 and 3 in t.useful),
        (
            [FeatureBudget({"x0": 3, 1: 0.5, 2: 0.5, 3: 1}, 1)],
            lambda t: sum([3, 0.5, 0.5, 1][f] for f in t.used) <= 1,
        ),
        (
            [FeatureBudget({0: 1, 2: 2}, 2), FeatureBudget({1: 1, 2: 1, 3: 2}, 1)],
            lambda t: (
                sum([1, 0, 2, 0][f] for f in t.used) <= 2
                and sum([0, 1, 1, 2][f] for f in t.used) <= 1
            ),
        ),
        ([MinLeafWeight(4)], lambda t: min(t.leaves) >= 4),
        ([MinLeafWeight(5), RequireFeatures(2)], lambda t: min(t.leaves) >= 5 and 2 in t.useful),
        ([MinLeafWeight(1000)], NEVER),
        (
            [MinLeafWeight(3), Recall() >= 0.5, MaxFeatures(2)],
            lambda t: min(t.leaves) >= 3 and t.tp >= t.fn and len(t.used) <= 2,
        ),
    ]


def expected_best(facts: list[Facts], rule: Rule, n: int, penalty: Fraction) -> Fraction | None:
    values = [Fraction(t.right, n) - penalty * t.splits for t in facts if rule(t)]
    return max(values, default=None)


def check_solution(problem, constraints, rule, facts, penalty, **options) -> Status:
    n = problem.n_samples
    expected = expected_best(facts, rule, n, penalty)
    solution = solve(
        problem,
        "accuracy",
        2,
        split_penalty=penalty,
        constraints=constraints,
        engine="mip",
        **options,
    )
    names = [constraint.name for constraint in constraints]
    if expected is None:
        assert solution.status is Status.INFEASIBLE, names
        assert solution.limit is Limit.NONE
    else:
        assert solution.status is Status.OPTIMAL, names
        assert solution.objective == expected, names
        assert all(constraint.is_met(solution.tree, problem) for constraint in constraints)
        assert solution.tree.pruned(problem) == solution.tree
    return solution.status


def some(rules: list, seed: int, formulation: str) -> list:
    """All rules once for the default formulation, every third otherwise."""
    return rules if formulation == "benders-pair-cut" and seed == 0 else rules[seed::3]


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "backend"), RUNS)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_on_metrics(seed, formulation, backend) -> None:
    skip_if_missing(backend)
    rng = np.random.default_rng(seed)
    n = 11
    X, y = rng.integers(0, 2, (n, 3)), rng.integers(0, 2, n)
    problem = Problem.from_arrays(X, y)
    facts = [Facts(node, X, y) for node in all_nodes(3, 2, 2)]
    seen = set()
    for number, (constraints, rule) in enumerate(some(metric_rules(n), seed, formulation)):
        penalty = Fraction(number % 2, 50)
        seen.add(
            check_solution(
                problem, constraints, rule, facts, penalty, formulation=formulation, backend=backend
            )
        )
    assert Status.OPTIMAL in seen


def twin_problem(seed: int) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Two real columns; one has a copy and a complement."""
    rng = np.random.default_rng(seed)
    n = 16
    A = rng.integers(0, 2, (n, 2))
    X = np.stack([A[:, 0], A[:, 0], A[:, 1], 1 - A[:, 0]], axis=1)
    y = np.where(rng.random(n) < 0.75, A[:, 0] ^ (A[:, 1] & (rng.random(n) < 0.8)), 1 - A[:, 0])
    return Problem.from_arrays(X, y), X, y


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "backend"), RUNS)
@pytest.mark.parametrize("seed", range(3))
def test_features_and_leaves(seed, formulation, backend) -> None:
    skip_if_missing(backend)
    problem, X, y = twin_problem(seed)
    facts = [Facts(node, X, y) for node in all_nodes(4, 2, 2)]
    seen = set()
    for number, (constraints, rule) in enumerate(some(structural_rules(), seed, formulation)):
        penalty = Fraction(number % 2, 50)
        seen.add(
            check_solution(
                problem, constraints, rule, facts, penalty, formulation=formulation, backend=backend
            )
        )
    assert Status.OPTIMAL in seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_thresholds_at_attained_values(seed) -> None:
    """A bound that some tree attains exactly must neither cut it off nor let a lesser one in."""
    X, y = small_arrays(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(y)) / 3 if seed % 2 else None
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    names = problem.feature_names
    trees = [Tree(node, problem.classes, names) for node in all_nodes(X.shape[1], 2, 1)]
    metric = [Recall(), Precision(), F1(), PredictedPositives(), CohenKappa()][seed % 5]
    values = sorted({metric.evaluate(tree, problem).as_fraction() for tree in trees})
    for threshold in (values[len(values) // 2], values[-1], values[0]):
        for constraint in (metric >= threshold, metric <= threshold):
            met = [tree for tree in trees if constraint.is_met(tree, problem)]
            expected = max((Accuracy().evaluate(tree, problem) for tree in met), default=None)
            solution = solve(problem, "accuracy", 1, constraints=constraint, engine="mip")
            assert solution.value == expected
            assert solution.status is Status.OPTIMAL


def test_large_weights_stay_exact() -> None:
    """The rows are beyond the precision of the solver; the answer is not."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    big = 10**9
    problem = Problem.from_arrays(X, [0, 1, 1, 0], sample_weight=[big, big - 1, big + 1, big])
    top = Fraction(big + 1, 2 * big)
    for threshold, expected in ((top, True), (top + Fraction(1, 10**12), False)):
        constraints = [Recall() >= threshold, PredictedPositives() <= 2 * big + 1]
        solution = solve(problem, "specificity", 1, constraints=constraints, engine="mip")
        assert (solution.tree is not None) == expected
        assert solution.status is not Status.FEASIBLE or solution.limit is Limit.NONE


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_metric_that_pays_nothing(formulation) -> None:
    problem = Problem.from_arrays([[0, 1], [1, 1], [1, 0], [0, 0]], [0, 1, 1, 0])
    options = {"engine": "mip", "formulation": formulation}
    assert solve(problem, ClassCost(0, 0), 2, **options).status is Status.OPTIMAL
    constraints = [Recall() >= 1, Precision() >= 1]
    solution = solve(problem, ClassCost(0, 0), 1, constraints=constraints, **options)
    assert solution.status is Status.OPTIMAL
    assert solution.tree.features == (0,)


def test_no_feature_is_left() -> None:
    problem, _, y = twin_problem(0)
    forbidden = ForbidFeatures(*problem.feature_names)
    solution = solve(problem, "accuracy", 2, constraints=forbidden, engine="mip")
    assert solution.status is Status.OPTIMAL
    assert solution.value == Fraction(int(np.bincount(y).max()), len(y))
    constraints = [forbidden, Recall() >= 0.5, Specificity() >= 0.5]
    solution = solve(problem, "accuracy", 2, constraints=constraints, engine="mip")
    assert solution.status is Status.INFEASIBLE


def test_more_than_two_classes() -> None:
    X, y = small_arrays(3, 3)
    problem = Problem.from_arrays(X, y)
    constraint = Accuracy() <= Fraction(1, 2)
    solution = solve(problem, "balanced_accuracy", 2, constraints=constraint, engine="mip")
    trees = [
        Tree(node, problem.classes, problem.feature_names)
        for node in all_nodes(X.shape[1], 3, 2 if X.shape[1] < 4 else 1)
    ]
    met = [tree for tree in trees if constraint.is_met(tree, problem)]
    best = max(solution.metric.evaluate(tree, problem) for tree in met)
    assert solution.objective >= best
    with pytest.raises(ValueError, match="two classes"):
        solve(problem, "accuracy", 2, constraints=Recall() >= 0.5, engine="mip")


@pytest.mark.parametrize(
    "condition",
    [
        Specificity() <= Fraction(1, 2),
        Specificity() >= Fraction(2, 3),
        YoudenJ() <= 0,
        Precision() >= Fraction(1, 2),
        CohenKappa() >= Fraction(1, 5),
        TrueNegatives() >= 3,
        FalseNegatives() <= 1,
    ],
    ids=lambda condition: condition.name,
)
def test_one_class_against_the_rest_beside_a_metric_of_all(condition) -> None:
    X = [[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1]]
    problem = Problem.from_arrays(X, list("abbcaca"), pos_label="c")
    trees = (Tree(n, problem.classes, problem.feature_names) for n in all_nodes(2, 3, 2))
    met = (tree for tree in trees if condition.is_met(tree, problem))
    best = max(Accuracy().evaluate(tree, problem) for tree in met)
    assert solve(problem, "accuracy", 2, constraints=condition).objective == best


def test_what_a_model_cannot_say() -> None:
    problem, _, _ = twin_problem(0)
    with pytest.raises(ValueError, match="'mcc' is quasiconvex"):
        solve(problem, "accuracy", 2, constraints=MCC() >= 0.5, engine="mip")

    class Odd(Constraint):
        name = "odd number of splits"

        def is_met(self, tree, problem):
            return tree.splits % 2 == 1

        def check(self, problem):
            pass

    with pytest.raises(ValueError, match="cannot handle the constraint 'odd number of splits'"):
        solve(problem, "accuracy", 2, constraints=Odd(), engine="mip")


def test_infeasible_is_claimed_only_if_proven(monkeypatch) -> None:
    problem, _, _ = twin_problem(0)
    constraint = RequireFeatures("x2")
    stopped = MipResult(None, np.inf, Limit.TIME)
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: stopped, raising=False)
    solution = solve(problem, "accuracy", 2, constraints=constraint, engine="mip")
    assert solution.status is Status.NO_SOLUTION
    assert solution.limit is Limit.TIME
    silent = MipResult(None, np.inf, Limit.NONE)
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: silent, raising=False)
    with pytest.raises(BackendError, match="found no tree, nor that there is none"):
        solve(problem, "accuracy", 2, constraints=constraint, engine="mip")


def test_a_tree_that_misses_a_constraint_is_not_returned(monkeypatch) -> None:
    problem, _, _ = twin_problem(0)

    def careless(model, *_, **__):
        p, c = model.families["p"], model.families["c"]
        x = np.zeros(model.n_variables)
        x[[p[0], c[0]]] = 1  # the constant tree
        return MipResult(x, 10.0, Limit.NONE)

    monkeypatch.setattr(BACKENDS["scip"], "run", careless, raising=False)
    with pytest.raises(BackendError, match="misses a split on x2 by a rounding error"):
        solve(problem, "accuracy", 2, constraints=RequireFeatures("x2"), engine="mip")
