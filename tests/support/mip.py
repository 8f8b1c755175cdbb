"""Helpers for tests of the MIP engine."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import goct
from goct import Limit, Problem, Solution, Status, Tree
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    BalancedAccuracy,
    BoundedDOR,
    ClassCost,
    CohenKappa,
    Confusion,
    CostMatrix,
    FBeta,
    FowlkesMallows,
    GMean,
    InstanceCost,
    Jaccard,
    Metric,
    NegativePredictiveValue,
    Precision,
    RationalMetric,
    Recall,
    SmoothedDOR,
    Specificity,
)
from goct.mip import BACKENDS, MipOptions
from goct.mip.engine import objective_of
from goct.mip.objective import Answer, LinearObjective, Model, ModelObjective
from goct.mip.program import MipProgram
from goct.mip.runner import ModelRunner
from goct.mip.tree_program import Instances, TreeProgram, heap_of
from goct.task import Task
from goct.tree import Leaf, Node, Split
from tests.support.oracles import all_trees
from tests.support.reference import achievable, achievable_costs, best


def solve(problem: Problem, *arguments: Any, **options: Any) -> Solution:
    """`goct.solve`, except that the MIP engine is on its own.

    A test that compares the MIP engine with brute force, or with the search
    engine, means nothing if the search engine has decided the answer. So there
    is no injected tree here, no bound and no heuristic of the search engine,
    unless a test asks for them. Metrics are stated by one model unless a test
    says otherwise.
    """
    if options.get("engine") == "mip":
        own = {"injection": "none", "node_heuristic": "rounding", "method": "direct"}
        options = own | options
    return goct.solve(problem, *arguments, **options)


def skip_if_missing(backend: str) -> None:
    solver = BACKENDS[backend]
    if not solver.is_available:
        pytest.skip(f"{solver.module} is not installed: pip install 'goct[{solver.extra}]'")


def small_arrays(seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 19))
    X = rng.integers(0, 2, (n_rows, rng.integers(2, 4)))
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def rule_arrays(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A small problem with something to learn; every other one is imbalanced."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(14, 30))
    X = rng.integers(0, 2, (n, 4))
    y = (X[:, 0] & X[:, 1]) | (rng.random(n) < (0.1 if seed % 2 else 0.3))
    y[:2] = [0, 1]
    return X, y.astype(int)


def optimum(X, y, metric, depth, penalty=Fraction(0), max_splits=None, weights=None, **options):
    w = np.ones(len(y), dtype=int) if weights is None else weights
    P, N = int(w[y == 1].sum()), int(w[y == 0].sum())
    return best(
        achievable(X, y == 1, depth, w),
        lambda tp, tn: metric.value(Confusion(tp, N - tn, P - tp, tn)),
        split_penalty=penalty,
        max_splits=max_splits,
        **options,
    )


MARKEDNESS = RationalMetric(
    lambda tp, fp, fn, tn: (tp * tn - fp * fn, (tp + fp) * (tn + fn)), lower=-1, label="markedness"
)


SINGLE = [
    F1(),
    FBeta(2),
    Precision(),
    NegativePredictiveValue(),
    Jaccard(),
    CohenKappa(),
    MCC(),
    GMean(),
    FowlkesMallows(),
    BoundedDOR(20),
    SmoothedDOR(0.5),
    MARKEDNESS,
]


SUMS = [
    0.5 * F1() + 0.5 * Accuracy(),
    0.4 * MCC() + 0.3 * F1() + 0.3 * Specificity(),
    Accuracy() - 0.5 * F1(),
    GMean() + Jaccard(),
]


def noisy_arrays(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A small problem; every other one is imbalanced."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 30))
    X = rng.integers(0, 2, (n, 3))
    y = (rng.random(n) < (0.12 if seed % 2 else 0.5)).astype(int)
    y[:2] = [0, 1]
    return X, y


def weighted(seed: int, share: float, largest: int) -> Problem:
    """A problem whose samples stand for many."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = rng.integers(0, 2, (n, int(rng.integers(2, 5))))
    y = (rng.random(n) < share).astype(int)
    y[:2] = [0, 1]
    return Problem.from_arrays(X, y, sample_weight=rng.integers(1, largest, n))


def random_instances(
    seed: int, n_classes: int, copies: bool = False, n_features: int = 5
) -> tuple[Problem, Instances]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (30, n_features))
    problem = Problem.from_arrays(X, rng.integers(0, n_classes, 30))
    counts = problem.counts
    instances = Instances.of_gains(
        problem.X, counts.astype(float), counts > 0, counts if copies else None
    )
    return problem, instances


def knapsack() -> MipProgram:
    model = MipProgram()
    x = model.add_variables("x", (3,), integer=True)
    y = model.add_variables("y", (1,), upper=2.5, integer=False)
    model.add_rows("weight", 1, [(0, x, 1.0), (0, y, 1.0)], lower=0, upper=3)
    model.objective[x] = [5, 4, 3]
    model.objective[y] = 1
    return model


def random_tree_point(model: TreeProgram, rng: np.random.Generator) -> np.ndarray:
    features: dict[int, int] = {}
    labels: dict[int, int] = {}
    stack = [1]
    while stack:
        n = stack.pop()
        if n in model.topology.branch_nodes and rng.random() < 0.7:
            features[n] = int(rng.integers(model.b.shape[1]))
            stack += [2 * n, 2 * n + 1]
        else:
            labels[n] = int(rng.integers(model.instances.n_classes))
    return model.encode_heap(features, labels)


def random_fractional_point(model: TreeProgram, rng: np.random.Generator) -> np.ndarray:
    """A mixture of trees, and g as large as it may be without cuts."""
    parts = [random_tree_point(model, rng) for _ in range(rng.integers(2, 5))]
    x = np.average(parts, axis=0, weights=rng.random(len(parts)) + 0.05)
    x[model.g] = np.where(rng.random(len(model.g)) < 0.8, 1.0, x[model.g])
    return x


def problem_of(seed: int, n_features: int = 4) -> Problem:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 40))
    X = rng.integers(0, 2, (n, n_features))
    y = (rng.random(n) < (0.2 if seed % 2 else 0.5)).astype(int)
    y[:2] = [0, 1]
    weights = rng.integers(1, 4, n) if seed % 3 == 0 else None
    return Problem.from_arrays(X, y, sample_weight=weights)


def random_tree(problem: Problem, depth: int, seed: int, features: list[int] | None = None) -> Tree:
    """A random tree without useless splits."""
    rng = np.random.default_rng(seed)
    choices = list(range(problem.n_features)) if features is None else features

    def grow(left: int) -> Node:
        if left == 0 or rng.random() < 0.2:
            return Leaf(int(rng.integers(problem.n_classes)))
        return Split(choices[rng.integers(len(choices))], grow(left - 1), grow(left - 1))

    return Tree(grow(depth), problem.classes, problem.feature_names).pruned(problem)


def model_of(
    problem: Problem,
    metric: Metric,
    depth: int,
    *,
    penalty: Fraction = Fraction(0),
    constraints: tuple = (),
    start: Tree | None = None,
    **options: Any,
) -> Model:
    """A model on SCIP, which no constant tree is known for unless a test gives one."""
    task = Task.read(problem, metric, depth, split_penalty=penalty, constraints=constraints)
    read = MipOptions.read(**options)
    return ModelRunner(read).build(objective_of(task, start, read))


SMALL = Problem.from_arrays([[0], [1], [1]], [0, 1, 1])


def random_linear_question(seed: int) -> tuple[Problem, np.ndarray, Metric, list, int]:
    """A problem, its features, a metric, what each prediction loses, and the metric's maximum."""
    n_classes = 2 if seed % 3 else 3
    X, y = small_arrays(seed, n_classes)
    rng = np.random.default_rng(seed + 500)
    n = len(y)
    per_row = rng.integers(0, 5, (n, n_classes))
    problem = Problem.from_arrays(X, y, costs=per_row)
    sizes = np.bincount(y).tolist()
    wrong = np.arange(n_classes) != y[:, None]
    matrix = rng.integers(-2, 5, (n_classes, n_classes))
    share = [[Fraction(int(w), n) for w in row] for row in wrong]
    balanced = [
        [Fraction(int(w), n_classes * sizes[k]) for w in row]
        for k, row in zip(y.tolist(), wrong, strict=True)
    ]
    questions: list[tuple[Metric, list, int]] = [
        (Accuracy(), share, 1),
        (BalancedAccuracy(), balanced, 1),
        (InstanceCost(), per_row.tolist(), 0),
        (CostMatrix(matrix.tolist()), matrix[y].tolist(), 0),
    ]
    if n_classes == 2:
        prices = [2, 3]
        cost = [[prices[k] * int(w) for w in row] for k, row in zip(y.tolist(), wrong, strict=True)]
        questions.append((ClassCost(3, 2), cost, 0))
        half = [[2 * entry for entry in row] for row in balanced]
        questions.append((Recall() + Specificity(), half, 2))
    metric, losses, perfect = questions[seed % len(questions)]
    return problem, X, metric, losses, perfect


def check_costs(solution: Solution, X: np.ndarray, losses: list, perfect: int, depth: int) -> None:
    points = achievable_costs(X, np.array(losses, dtype=object), depth)
    limit = solution.max_splits
    expected = max(
        perfect - loss - solution.split_penalty * splits
        for loss, splits in points
        if limit is None or splits <= limit
    )
    assert solution.status is Status.OPTIMAL
    assert solution.objective == expected == solution.bound
    tree = solution.tree
    assert tree.depth <= depth
    assert solution.value == solution.metric.evaluate(tree, solution.problem)


def check_optimum(solution: Solution, X, y, depth: int, constraint=lambda _tp, _tn: True) -> None:
    P, N = int(y.sum()), int((1 - y).sum())
    expected = best(
        achievable(X, y == 1, depth),
        lambda tp, tn: solution.metric.value(Confusion(tp, N - tn, P - tp, tn)),
        split_penalty=solution.split_penalty,
        max_splits=solution.max_splits,
        constraint=constraint,
    )
    if expected is None:
        assert solution.status is Status.INFEASIBLE
        return
    assert solution.objective == expected
    assert solution.status is Status.OPTIMAL
    assert solution.value == solution.metric.evaluate(solution.tree, solution.problem)


def solve_and_check(
    metric: Metric, seed: int, penalty: Fraction, depth: int = 2, **options
) -> None:
    X, y = noisy_arrays(seed)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, metric, depth, split_penalty=penalty, engine="mip", **options)
    check_optimum(solution, X, y, depth)


class ListRunner:
    """Runs no model: looks at every tree of a task.

    Parameters
    ----------
    slack, units
        Its bounds are above the best objective by this much, as those of solvers
        with tolerances are; those of linear objectives, which are rounded down
        to possible values, by so many units.
    limit_after
        After so many models, the time is up.
    """

    def __init__(
        self, slack: Fraction = Fraction(0), units: int = 0, limit_after: float = np.inf
    ) -> None:
        self.slack = slack
        self.units = units
        self.limit_after = limit_after
        self.asked: list[ModelObjective] = []

    def run(self, objective, *, gap=Fraction(0), limits, callback=None) -> Answer:
        task, size = objective.task, objective.task.size
        self.asked.append(objective)
        highest = task.metric.best_value(task.problem)
        if len(self.asked) > self.limit_after:
            return Answer.of(task, objective.start, highest, Limit.TIME)
        found = [
            tree
            for tree in all_trees(task.problem, size.max_depth)
            if tree.splits <= size.most_splits and objective.is_allowed(*heap_of(tree))
        ]
        best = max(found, key=task.objective, default=None)
        if best is None:
            return Answer.of(task, None, highest)
        slack = self.slack
        if isinstance(objective, LinearObjective):
            slack = self.units * objective.integers.unit
        return Answer.of(task, best, task.objective(best) + slack)
