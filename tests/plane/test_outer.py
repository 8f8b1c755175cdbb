"""Metrics that are not linear: the questions that lead to the best tree."""

from __future__ import annotations

import numpy as np
import pytest

from goct import Limit, Problem, Status, solve
from goct.metrics import F1, MCC, BalancedAccuracy, Confusion, GMean, Metric, Precision, get_metric
from goct.plane import outer
from goct.search import engine
from goct.search.questions import SearchOracle
from tests.support.reference import achievable

METRICS: list[Metric] = [
    *map(get_metric, ("f1", "mcc", "gmean", "fowlkes_mallows", "dor_smoothed", "kappa")),
    0.5 * GMean() + 0.5 * Precision(),
    0.4 * F1() + 0.3 * MCC() + 0.3 * BalancedAccuracy(),
]


def random_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((60, 5)) < 0.5
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.25)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_does_not_depend_on_the_questions(seed, monkeypatch) -> None:
    monkeypatch.setattr(engine, "_MANY_STEPS", 0)
    X, y = random_data(seed)
    n_pos, n_neg = int(y.sum()), int((~y).sum())
    trees = achievable(X, y, 3)
    problem = Problem.from_arrays(X.astype(int), y.astype(int))
    for metric in METRICS:
        value, splits = max(
            (metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)), -m) for tp, tn, m in trees
        )
        for deep in (4, 3):  # from nothing, and from the best tree of depth two
            monkeypatch.setattr(engine, "_DEEP", deep)
            solution = solve(problem, metric, 3, engine="search")
            assert solution.status is Status.OPTIMAL, metric.name
            assert solution.value == value == solution.bound, metric.name
            assert solution.tree is not None
            assert solution.tree.splits == -splits, metric.name


@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean"])
def test_a_run_that_is_stopped_at_once_has_a_good_tree(metric, monkeypatch) -> None:
    from goct.search import engine

    monkeypatch.setattr(engine, "_MANY_STEPS", 0)
    monkeypatch.setattr(engine, "_STEPS_PER_SECOND", 0)
    X, y = random_data(0)
    problem = Problem.from_arrays(X.astype(int), y.astype(int))
    ask = SearchOracle.solve

    def stop(self, costs, size, **options):
        if size.max_depth > 2:
            self.session.stop(Limit.TIME)
        return ask(self, costs, size, **options)

    small = solve(problem, metric, 2, engine="search")
    monkeypatch.setattr(SearchOracle, "solve", stop)
    solution = solve(problem, metric, 5, engine="search")
    assert solution.status is Status.FEASIBLE
    assert solution.value == small.value
    assert solution.bound == 1


@pytest.mark.slow
def test_lines_between_settle_metrics_in_few_questions(monkeypatch) -> None:
    """Without chords and tangents, there are more."""
    questions = {}
    for lines in (True, False):
        if not lines:
            monkeypatch.setattr(outer._Walk, "_directions", lambda *_: iter(()))
        questions[lines] = 0
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.integers(0, 2, (400, 12))
            y = (X[:, 0] & X[:, 1]) ^ (rng.random(400) < 0.3)
            problem = Problem.from_arrays(X, y)
            for metric in ("mcc", "gmean", "fowlkes_mallows"):
                solution = solve(problem, metric, 3, engine="search", fewest_splits=False)
                questions[lines] += solution.stats["oracle_calls"]
    assert questions[True] < questions[False]
