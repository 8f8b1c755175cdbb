"""Every formulation on every backend finds what brute force finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, Status
from goct.mip import BACKENDS, CUTS, FORMULATIONS
from goct.mip.backends.base import Ability
from tests.support.mip import (
    check_costs,
    random_linear_question,
    skip_if_missing,
    small_arrays,
    solve,
)

PENALTIES = [Fraction(0), Fraction(1, 100), Fraction(1, 7)]
CASES = [
    (formulation, backend)
    for formulation, form in FORMULATIONS.items()
    for backend, solver in BACKENDS.items()
    if form.is_compact or Ability.SEPARATION in solver.abilities
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("formulation", "backend"), CASES)
def test_formulations(formulation, backend, seed) -> None:
    skip_if_missing(backend)
    problem, X, metric, losses, perfect = random_linear_question(seed)
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
    check_costs(solution, X, losses, perfect, depth)
    assert solution.stats["formulation"] == formulation
    assert solution.stats["backend"] == backend


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_the_default(seed) -> None:
    problem, X, metric, losses, perfect = random_linear_question(seed + 100)
    depth = 1 + seed % 3 if X.shape[1] < 4 else 2
    penalty = PENALTIES[seed % len(PENALTIES)]
    solution = solve(problem, metric, depth, split_penalty=penalty, engine="mip")
    check_costs(solution, X, losses, perfect, depth)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["scip", "gurobi"])
@pytest.mark.parametrize("family", CUTS)
@pytest.mark.parametrize("formulation", ["wflow", "benders", "benders-weighted"])
def test_each_family_of_cuts(formulation, family, backend) -> None:
    skip_if_missing(backend)
    if formulation == "wflow" and family == "fractional_benders":
        with pytest.raises(ValueError, match="has flows"):
            solve(random_linear_question(0)[0], max_depth=2, engine="mip", formulation="wflow",
                  cuts={family: True})  # fmt: skip
        return
    for seed in (1, 4):
        problem, X, metric, losses, perfect = random_linear_question(seed)
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
        check_costs(solution, X, losses, perfect, 2)


@pytest.mark.slow
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


DATASETS = [("monk3", 2), ("iris", 2), ("banknote", 2), ("compas", 2), ("mux6", 2)]


@pytest.mark.slow
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
