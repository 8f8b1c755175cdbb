"""Every formulation on every backend finds what brute force finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, Solution, Status
from goct.metrics import (
    Accuracy,
    BalancedAccuracy,
    ClassCost,
    CostMatrix,
    InstanceCost,
    Metric,
    Recall,
    Specificity,
)
from goct.mip import BACKENDS, CUTS, FORMULATIONS
from goct.mip.backends import scip
from goct.mip.backends.base import Ability, BackendError
from tests.mip.alone import solve
from tests.reference import achievable_costs

PENALTIES = [Fraction(0), Fraction(1, 100), Fraction(1, 7)]


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


def random_question(seed: int) -> tuple[Problem, np.ndarray, Metric, list, int]:
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


def check(solution: Solution, X: np.ndarray, losses: list, perfect: int, depth: int) -> None:
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


CASES = [
    (formulation, backend)
    for formulation, form in FORMULATIONS.items()
    for backend, solver in BACKENDS.items()
    if form.is_compact or Ability.SEPARATION in solver.abilities
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("formulation", "backend"), CASES)
def test_formulations(formulation, backend, seed) -> None:
    skip_if_missing(backend)
    problem, X, metric, losses, perfect = random_question(seed)
    depth = 1 + seed % 2
    solution = solve(
        problem,
        metric,
        depth,
        split_penalty=PENALTIES[seed % len(PENALTIES)],
        max_splits=2 if seed % 5 == 0 else None,
        engine="mip",
        formulation=formulation,
        backend=backend,
        integer_flow=seed % 4 == 3,
    )
    check(solution, X, losses, perfect, depth)
    assert solution.stats["formulation"] == formulation
    assert solution.stats["backend"] == backend


@pytest.mark.parametrize("seed", range(40))
def test_the_default(seed) -> None:
    problem, X, metric, losses, perfect = random_question(seed + 100)
    depth = 1 + seed % 3 if X.shape[1] < 4 else 2
    penalty = PENALTIES[seed % len(PENALTIES)]
    solution = solve(problem, metric, depth, split_penalty=penalty, engine="mip")
    check(solution, X, losses, perfect, depth)


@pytest.mark.parametrize("backend", ["scip", "gurobi"])
@pytest.mark.parametrize("family", CUTS)
@pytest.mark.parametrize("formulation", ["wflow", "benders", "benders-weighted"])
def test_each_family_of_cuts(formulation, family, backend) -> None:
    skip_if_missing(backend)
    if formulation == "wflow" and family == "fractional_benders":
        with pytest.raises(ValueError, match="has flows"):
            solve(random_question(0)[0], max_depth=2, engine="mip", formulation="wflow",
                  cuts={family: True})  # fmt: skip
        return
    for seed in (1, 4):
        problem, X, metric, losses, perfect = random_question(seed)
        solution = solve(
            problem,
            metric,
            2,
            engine="mip",
            formulation=formulation,
            backend=backend,
            cuts={family: True},
            node_heuristic="none",
        )
        check(solution, X, losses, perfect, 2)


def test_weights_are_not_unmerged() -> None:
    X, y = small_arrays(3)
    weights = np.random.default_rng(0).integers(1, 6, len(y)) / 4
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    expected = solve(problem, "accuracy", 2).objective
    sizes = set()
    for formulation in ("benders", "benders-weighted", "flow"):
        solution = solve(problem, "accuracy", 2, engine="mip", formulation=formulation)
        assert solution.objective == expected == solution.bound
        if formulation != "flow":
            sizes.add(solution.stats["variables"])
    assert len(sizes) == 1


def lazy_without_locks(monkeypatch) -> None:
    monkeypatch.setattr(scip._Separation, "conslock", lambda *_, **__: {})
    monkeypatch.setattr(scip, "SAFE_WITH_SEPARATION", {})


def test_unsafe_settings_would_be_caught(monkeypatch) -> None:
    """Without locks, SCIP removes optimal trees; the answers then differ or contradict."""

    def is_right(seed: int) -> bool:
        problem, X, metric, losses, perfect = random_question(seed)
        try:
            solution = solve(problem, metric, 2, engine="mip", formulation="benders-weighted")
            check(solution, X, losses, perfect, 2)
        except (AssertionError, BackendError):
            return False
        return True

    seeds = [1, 4, 7, 10]
    assert all(is_right(seed) for seed in seeds)
    lazy_without_locks(monkeypatch)
    assert not all(is_right(seed) for seed in seeds)


DATASETS = [("monk3", 2), ("iris", 2), ("banknote", 2), ("compas", 2), ("mux6", 2)]


@pytest.mark.parametrize(("name", "depth"), DATASETS)
def test_the_engines_agree(datasets_folder, name, depth) -> None:
    table = np.loadtxt(datasets_folder / f"{name}.txt.gz", dtype=np.uint8)
    problem = Problem.from_arrays(table[:, 1:], table[:, 0])
    for metric in ("accuracy", "balanced_accuracy"):
        ours = solve(problem, metric, depth, split_penalty=0.01, engine="mip")
        theirs = solve(problem, metric, depth, split_penalty=0.01)
        assert theirs.status is Status.OPTIMAL
        assert ours.objective == theirs.objective
        # Balanced accuracy can be too fine for the solver's floats.
        assert ours.gap < 1e-6
        assert metric != "accuracy" or ours.status is Status.OPTIMAL
