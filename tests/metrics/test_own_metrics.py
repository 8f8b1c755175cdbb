"""Metrics that only this file knows: both engines maximise and prove them, as brute force does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, Status, solve
from goct.exact import Exact
from goct.metrics import (
    Affine,
    Confusion,
    FractionalMetric,
    Metric,
    Polynomial,
    Quotient,
    QuotientMetric,
    Shape,
)
from tests.support import reference


class Tversky(FractionalMetric):
    """TP / (TP + FP / 4 + 2 FN): fractional."""

    name = "tversky"

    def fraction(self, n_pos, n_neg) -> tuple[Affine, Affine]:
        quarter = Fraction(1, 4)
        return Affine(0, 1, 0), Affine(2 * n_pos + quarter * n_neg, -1, -quarter)


class SquaredFowlkesMallows(QuotientMetric):
    """TP² / ((TP + FN) (TP + FP)): quadratic over linear, so quasiconvex."""

    name = "precision_times_recall"
    shape = Shape.QUASICONVEX

    def ratio(self, tp, fp, fn, tn):
        return tp**2, (tp + fn) * (tp + fp)


class Product(QuotientMetric):
    """√(precision · specificity): monotone, with its best tree inside the hull at times."""

    name = "product"
    shape = Shape.MONOTONE
    is_root = True

    def ratio(self, tp, fp, fn, tn):
        return tp * tn, (tp + fp) * (tn + fp)


class CubicOdds(Metric):
    """TP² · TN / (FP · FN + n): a general quotient, written without any base class's help."""

    name = "cubic_odds"
    shape = Shape.MONOTONE

    def value(self, confusion: Confusion) -> Exact:
        c = confusion
        return Exact(Fraction(c.tp**2 * c.tn) / (c.fp * c.fn + c.total))

    def quotient(self, n_pos, n_neg, unit=Fraction(1)) -> Quotient:
        tp, tn = Polynomial({(1, 0): unit}), Polynomial({(0, 1): unit})
        P, N = unit * n_pos, unit * n_neg
        return Quotient(tp**2 * tn, (N - tn) * (P - tp) + (P + N), Fraction(0), P * P * N / (P + N))


OWN = [Tversky(), SquaredFowlkesMallows(), Product(), CubicOdds()]


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (14, 4))
    return X, (X[:, 0] & X[:, 1]) ^ (rng.random(14) < 0.3)


def best(metric: Metric, X: np.ndarray, y: np.ndarray, depth: int, penalty: Fraction) -> Exact:
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())

    def value(tp: int, tn: int) -> Exact:
        return metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn))

    points = reference.achievable(X, y.astype(bool), depth)
    return reference.best(points, value, split_penalty=penalty)


@pytest.mark.slow
@pytest.mark.parametrize("metric", OWN, ids=lambda metric: metric.name)
@pytest.mark.parametrize("engine", ["search", "mip"])
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=["free", "penalty"])
@pytest.mark.parametrize("seed", range(2))
def test_both_engines_prove_what_brute_force_finds(
    metric: Metric, engine: str, penalty: Fraction, seed: int
) -> None:
    X, y = data(seed)
    problem = Problem.from_arrays(X, y.astype(int))
    solution = solve(problem, metric, 2, split_penalty=penalty, engine=engine)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == best(metric, X, y, 2, penalty)


@pytest.mark.parametrize("engine", ["search", "mip"])
def test_constraints_on_own_metrics(engine: str) -> None:
    X, y = data(0)
    problem = Problem.from_arrays(X, y.astype(int))
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    tversky = Tversky()

    def meets(tp: int, tn: int) -> bool:
        return tversky.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)) >= Fraction(1, 2)

    points = reference.achievable(X, y.astype(bool), 2)
    expected = reference.best(points, lambda _tp, tn: Fraction(tn, n_neg), constraint=meets)
    solution = solve(problem, "specificity", 2, constraints=tversky >= 0.5, engine=engine)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == expected
