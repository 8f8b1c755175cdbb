"""Constraints on the set of features: against brute force over all trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from goct import Limit, Problem, Status, solve
from goct.constraints import FeatureBudget, ForbidFeatures, MaxFeatures, MinLeafWeight
from goct.metrics import CostMatrix, Recall, get_metric
from goct.task import Task
from tests.support.oracles import all_trees


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (16, 4))
    X[:, 3] = X[:, 0] if seed % 3 == 0 else X[:, 3]  # a copy, which may have another price
    y = np.append([0, 1], (X[2:, 0] ^ X[2:, 1]) ^ (rng.random(14) < 0.25))
    return Problem.from_arrays(X, y, sample_weight=rng.integers(1, 4, 16))


CONSTRAINTS = {
    "forbid": [ForbidFeatures(0)],
    "forbid all": [ForbidFeatures(0, 1, 2, 3)],
    "one": [MaxFeatures(1)],
    "two": [MaxFeatures(2)],
    "none": [MaxFeatures(0)],
    "budget": [FeatureBudget({0: 3, 1: 2, 2: 1, 3: 1}, 3)],
    "two budgets": [FeatureBudget({0: 3, 1: 2}, 4), FeatureBudget({2: 1, 3: 2}, 2)],
    "all": [ForbidFeatures(2), MaxFeatures(2), FeatureBudget({0: 2, 3: 1}, 2), MinLeafWeight(3)],
    "recall": [MaxFeatures(1), Recall() >= 0.6],
}


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc", "gmean"])
def test_the_best_tree_of_all(name, metric) -> None:
    for seed in range(6):
        problem = random_problem(seed)
        for penalty in (0, 0.02):
            task = Task.read(
                problem, metric, 2, split_penalty=penalty, constraints=CONSTRAINTS[name]
            )
            feasible = [t.pruned(problem) for t in all_trees(problem, 2)]
            expected = max(map(task.objective, filter(task.is_feasible, feasible)), default=None)
            found = solve(problem, metric, 2, split_penalty=penalty, constraints=CONSTRAINTS[name])
            assert found.stats["engine"] in ("search", "constant")
            assert found.objective == expected
            if expected is None:
                assert found.status is Status.INFEASIBLE
            else:
                assert found.status is Status.OPTIMAL


def test_a_stop_has_a_bound_that_holds() -> None:
    problem = random_problem(1)
    constraints = [MaxFeatures(1)]
    best = solve(problem, "f1", 3, constraints=constraints)
    seen = []

    def stop(progress) -> bool:
        seen.append(progress)
        return True

    stopped = solve(problem, "f1", 3, constraints=constraints, callback=stop, time_limit=1e-9)
    # So small a problem may be solved before anyone looks at the clock.
    is_stopped = stopped.limit in (Limit.TIME, Limit.INTERRUPTED)
    assert is_stopped or stopped.objective == best.objective == stopped.bound
    assert stopped.objective <= best.objective <= stopped.bound
    assert all(progress.bound >= best.objective for progress in seen)


def test_forbidding_is_one_search_with_the_fewest_splits() -> None:
    problem = random_problem(2)
    found = solve(problem, "f1", 2, constraints=ForbidFeatures(0))
    assert found.stats["fewest_splits"]
    plain = solve(problem.restricted([1, 2, 3]), get_metric("f1"), 2)
    assert found.stats["oracle_calls"] == plain.stats["oracle_calls"]
    assert found.tree == plain.tree


def test_rounded_costs_are_not_proven_to_be_optimal() -> None:
    # The costs of three classes are too fine for the core, to which errors that differ by less
    # than the rounding look the same.
    rng = np.random.default_rng(0)
    was_missed = False
    for _ in range(20):
        X, y = rng.integers(0, 2, (8, 3)), np.append([0, 1, 2], rng.integers(0, 3, 5))
        fine = 2**61 + rng.integers(-50, 50, (3, 3)).astype(object)
        costs = np.where(np.eye(3, dtype=bool), 0, fine).tolist()
        problem = Problem.from_arrays(X, y)
        found = solve(problem, CostMatrix(costs), 1, constraints=[MaxFeatures(1)])
        least = min(
            sum(costs[k][labels[row[f]]] for row, k in zip(X, y, strict=True))
            for f in range(3)
            for labels in product(range(3), repeat=2)
        )
        assert found.objective <= -least <= found.bound
        assert (found.status is Status.OPTIMAL) == (found.objective == found.bound)
        was_missed |= found.objective < -least
    assert was_missed
