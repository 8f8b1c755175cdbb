"""Split penalties of metrics that are not linear, by each kind of question."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from goct import Problem, Status, solve
from goct.metrics import Confusion, get_metric
from goct.search import budgets
from goct.search.budgets import BudgetSweep
from tests.support.reference import achievable

METRICS = ("f1", "mcc", "gmean", "fowlkes_mallows")


def random_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((40, 5)) < 0.5
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(40) < 0.25)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["_cut", "_separate", "_sweep"])
@pytest.mark.parametrize("seed", range(8))
def test_each_kind_of_question_finds_the_optimum(kind, seed, monkeypatch) -> None:
    # One kind only, which the searches for single numbers of splits complete.
    for name in {"_cut", "_separate", "_sweep"} - {kind}:
        monkeypatch.setattr(BudgetSweep, name, lambda *_: None)
    monkeypatch.setattr(budgets, "_FEW_SPLITS", 0)
    if seed % 2:
        monkeypatch.setattr(budgets, "_MOST_ALONE", 2)
        monkeypatch.setattr(budgets, "_SHARE", 1)  # then groups are 0, 1, 2, 3-5 and 6-7
    X, y = random_data(seed)
    n_pos, n_neg = int(y.sum()), int((~y).sum())
    trees = achievable(X, y, 3)
    problem = Problem.from_arrays(X.astype(int), y.astype(int))
    metric = get_metric(METRICS[seed % len(METRICS)])
    for penalty in (Fraction(1, 500), Fraction(1, 60), Fraction(1, 15)):
        solution = solve(problem, metric, 3, split_penalty=penalty, engine="search")
        objective, splits = max(
            (metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)) - penalty * m, -m)
            for tp, tn, m in trees
        )
        assert solution.status is Status.OPTIMAL
        assert solution.objective == objective == solution.bound
        assert solution.tree is not None
        assert solution.tree.splits == -splits


def test_planes_settle_most_numbers_of_splits(monkeypatch) -> None:
    asked: list[int] = []
    sweep = BudgetSweep._sweep

    def count(self: BudgetSweep) -> None:
        asked.append(len(self._left()))
        sweep(self)

    monkeypatch.setattr(BudgetSweep, "_sweep", count)
    for seed in range(20):
        X, y = random_data(seed)
        problem = Problem.from_arrays(X.astype(int), y.astype(int))
        solve(problem, "f1", 3, split_penalty=0.02, engine="search")
    # Of up to seven numbers of splits in twenty problems.
    assert sum(asked) < 40


def test_a_stop_between_planes_leaves_a_proven_bound() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((300, 40)) < 0.5).astype(int)
    y = (rng.random(300) < 0.4).astype(int)
    problem = Problem.from_arrays(X, y)
    best = solve(problem, "mcc", 3, split_penalty=0.005, engine="search")
    for limit in (0.01, 0.05, 0.1, 0.2):
        solution = solve(problem, "mcc", 3, split_penalty=0.005, engine="search", time_limit=limit)
        assert solution.bound >= best.objective >= solution.objective


@pytest.mark.slow
def test_deep_trees_have_few_groups() -> None:
    groups = budgets._groups(2**18 - 1)
    assert groups[:3] == [(0, 0), (1, 1), (2, 2)]
    assert groups[-1][1] == 2**18 - 1
    assert all(b[0] == a[1] + 1 for a, b in pairwise(groups))
    assert len(groups) < 120
    X, y = random_data(0)
    problem = Problem.from_arrays(X.astype(int), y.astype(int))
    deep, flat = (solve(problem, "f1", d, split_penalty=0.01, engine="search") for d in (18, 5))
    assert deep.status is flat.status is Status.OPTIMAL
    assert deep.objective == flat.objective


def test_weights_that_leave_little_room_for_the_costs_of_splits() -> None:
    X, y = random_data(1)
    weights = 10**13 - np.random.default_rng(0).integers(0, 1000, len(y))
    problem = Problem.from_arrays(X.astype(int), y.astype(int), sample_weight=weights)
    near = Problem.from_arrays(X.astype(int), y.astype(int))
    solution = solve(problem, "f1", 3, split_penalty=0.2, engine="search")
    other = solve(near, "f1", 3, split_penalty=0.2, engine="search")
    assert solution.status is Status.OPTIMAL
    assert float(solution.objective) == pytest.approx(float(other.objective), abs=1e-6)
    with pytest.raises(ValueError, match="too fine"):
        solve(problem, "f1", 3, split_penalty=0.02, engine="search")
