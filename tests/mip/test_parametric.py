"""Nonlinear metrics by linear models only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, Status
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    CohenKappa,
    Confusion,
    FowlkesMallows,
    Jaccard,
    Precision,
)
from tests.support.mip import solve, solve_and_check, weighted

PENALTIES = [Fraction(0), Fraction(1, 50)]


HULL = [F1(), Precision(), CohenKappa(), MCC(), FowlkesMallows(), 2 * Jaccard()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("metric", HULL, ids=lambda m: m.name)
def test_parametric(metric, penalty, seed) -> None:
    solve_and_check(metric, seed + 30, penalty, method="parametric")


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_linear_models_with_many_samples(metric) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40_000, 4))
    y = ((X[:, 0] & X[:, 1] | X[:, 2]) ^ (rng.random(40_000) < 0.3)).astype(int)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, metric, 2, engine="mip", method="parametric")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == solve(problem, metric, 2, engine="search").objective


@pytest.mark.slow
def test_lines_that_a_tolerance_moves_below_zero() -> None:
    problem = weighted(800076, 0.85, 2000)
    options = {"split_penalty": 0.01, "constraints": "specificity >= 0.5"}
    solution = solve(problem, "fowlkes_mallows", 2, engine="mip", method="parametric", **options)
    expected = solve(problem, "fowlkes_mallows", 2, engine="search", **options)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == expected.objective


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "direct", "parametric"])
def test_the_best_of_negative_values_is_inside_the_hull(method) -> None:
    """MCC is quasiconvex from 0 only; a constraint may leave nothing but negative values."""
    points = [(10, 70), (70, 10), (39, 39)]  # TP and TN of the three features
    y = np.repeat([1, 0], 100)
    X = np.zeros((200, 3), dtype=int)
    for k, (tp, tn) in enumerate(points):
        X[:tp, k] = 1
        X[100 : 200 - tn, k] = 1
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, "mcc", 1, engine="mip", method=method, constraints=Accuracy() <= 0.45)
    assert solution.status is Status.OPTIMAL
    assert solution.value == MCC().value(Confusion(39, 61, 61, 39))
