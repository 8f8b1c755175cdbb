"""What tolerances leave open is settled in integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goct import Limit, Problem, Status
from goct.constraints import MaxFeatures
from goct.exact import Exact, as_fraction
from goct.metrics import (
    F1,
    Confusion,
    FBeta,
    GMean,
    InstanceCost,
    RationalMetric,
    get_metric,
)
from goct.mip import BACKENDS
from goct.mip.backends.base import MipResult
from goct.mip.settle import pairs_between
from goct.task import Task
from tests.support.mip import noisy_arrays, solve


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "penalty"),
    [("f1", 0), ("f1", 0.01), ("gmean", 0), ("gmean", 0.01), ("f1+gmean", 0)],
)
def test_pairs_finish_proofs_that_tolerances_leave_open(metric, penalty) -> None:
    """With many samples, there are values within any tolerance."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (5000, 4))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(5000) < 0.3)).astype(int)
    problem = Problem.from_arrays(X, y)
    if metric == "f1+gmean":
        metric = 0.5 * F1() + 0.5 * GMean()
    solution = solve(problem, metric, 2, engine="mip", split_penalty=penalty)
    expected = solve(problem, metric, 2, engine="search", split_penalty=penalty)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == expected.objective


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "precision", "dor", "jaccard", "wavy"])
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 20)])
def test_pairs_between_are_the_least_ones(name, penalty) -> None:
    metric = (
        get_metric(name)
        if name != "wavy"
        else RationalMetric(
            lambda tp, fp, fn, tn: (tp * fn + tn, (tp + fn) ** 2 + tn + fp), label="wavy"
        )
    )
    X, y = noisy_arrays(5)
    problem = Problem.from_arrays(X, y)
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    lines = [(1, 2, 6)]
    for low, high in [(0.3, 0.6), (0.5, 0.55), (0.1, 0.9)]:
        low, high = Exact(as_fraction(low, "low")), Exact(as_fraction(high, "high"))
        task = Task.read(problem, metric, 2, split_penalty=penalty)
        found = pairs_between(task, low, high, lines)
        seen = set()
        for tp, tn, splits in product(range(n_pos + 1), range(n_neg + 1), range(4)):
            if not penalty and splits < 3:
                continue
            fn, fp = n_pos - tp, n_neg - tn
            value = metric.value(Confusion(tp, fp, fn, tn)) - penalty * splits
            if low < value <= high and fn + 2 * fp >= 6:
                seen.add((tp, tn, splits))
        for tp, tn, splits in seen:
            at_least = [(pair.tp, pair.tn) for pair in found if pair.splits == splits]
            assert any(x <= tp and y <= tn for x, y in at_least)
        assert {(pair.tp, pair.tn, pair.splits) for pair in found} <= seen
        if not metric.is_monotone:
            assert len(found) == len(seen)


def test_bounds_are_exact_only_if_no_value_lies_between(monkeypatch) -> None:
    X, y = noisy_arrays(0)
    problem = Problem.from_arrays(X, y)
    task = Task.read(problem, F1(), 2)
    assert pairs_between(task, Exact(0), Exact(1))
    assert pairs_between(task, Exact(1), Exact(1)) == []
    assert pairs_between(task, Exact(0), Exact(Fraction(1, 10**6))) == []
    assert pairs_between(Task(problem, InstanceCost(), task.size), Exact(0), Exact(1)) is None
    # A solver that stops early proves no more than its bound.
    stopped = MipResult(None, 0.9, Limit.TIME)
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: stopped, raising=False)
    solution = solve(problem, "f1", 1, engine="mip")
    assert solution.status is Status.FEASIBLE
    assert float(solution.bound) == pytest.approx(0.9, abs=1e-5)


def test_pair_questions_go_with_constraints_on_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 4))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(40) < 0.2)).astype(int)
    problem = Problem.from_arrays(X, y, sample_weight=rng.integers(1, 100, 40), pos_label=1)
    solution = solve(problem, "gmean", 2, engine="mip", constraints=MaxFeatures(2))
    assert solution.stats["pair_questions"] > 0
    assert solution.status is Status.OPTIMAL
    assert len(solution.tree.features) <= 2


def test_many_pairs_of_the_same_value_are_skipped_at_once(monkeypatch) -> None:
    """All pairs without true positives are worth 0, and few of them are looked at."""
    problem = Problem.from_arrays(
        [[0], [0], [1], [1]], [0, 1, 0, 1], sample_weight=[200_000, 30_000, 100_000, 20_000]
    )
    seen = []
    value = FBeta.value

    def watched(self, confusion):
        seen.append(confusion)
        return value(self, confusion)

    monkeypatch.setattr(FBeta, "value", watched)
    task = Task.read(problem, F1(), 1, split_penalty=Fraction(1, 1000))
    pairs_between(task, Exact(0), Exact(Fraction(1, 10**6)))
    assert 0 < len(seen) < 20_000
