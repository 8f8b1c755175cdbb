"""What metrics declare about themselves is checked before a proof rests on it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, solve
from goct.metrics import (
    F1,
    MCC,
    METRICS,
    Accuracy,
    Affine,
    CustomMetric,
    FalsePositives,
    FractionalMetric,
    RationalMetric,
    Shape,
)
from goct.metrics.declaration import check_declaration

SIZES = [(1, 1), (3, 4), (0, 5), (40, 7), (1000, 3001)]


@pytest.mark.parametrize(("n_pos", "n_neg"), SIZES)
def test_the_catalogue_keeps_its_word(n_pos: int, n_neg: int) -> None:
    metrics = [make() for make in METRICS.values()]
    metrics += [2 * MCC(), 0.5 * F1() + 0.5 * MCC(), F1() - FalsePositives(), -1 * F1()]
    for metric in metrics:
        for unit in (Fraction(1), Fraction(2, 7)):
            check_declaration(metric, n_pos, n_neg, unit)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(3, 4), (1000, 3001)])
@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (
            CustomMetric(lambda tp, _fp, _fn, tn: tp - tn, Shape.MONOTONE),
            r"'custom' is declared to fall with errors.* for TP=\d+, FP=.* and ",
        ),
        (CustomMetric(lambda tp, *_: -(tp**2), Shape.MONOTONE), "never to rise"),
        (CustomMetric(lambda tp, _fp, _fn, tn: tp * tn, Shape.QUASICONVEX), "QUASICONVEX"),
        (
            RationalMetric(lambda tp, fp, _fn, _tn: (fp, tp + fp), shape=Shape.MONOTONE),
            "'rational' is declared",
        ),
        (Accuracy() + CustomMetric(lambda *c: c[1] ** 2, Shape.MONOTONE), "is declared to fall"),
    ],
)
def test_false_declarations_are_refuted(metric, message: str, n_pos: int, n_neg: int) -> None:
    with pytest.raises(ValueError, match=message):
        check_declaration(metric, n_pos, n_neg)


class _FalseDiscoveryRate(FractionalMetric):
    """FP / (TP + FP), which a FractionalMetric must not be unless it says that it is antitone."""

    name = "fdr"

    def fraction(self, n_pos, n_neg) -> tuple[Affine, Affine]:
        return Affine(n_neg, 0, -1), Affine(n_neg, 1, -1)


class _Antitone(_FalseDiscoveryRate):
    is_monotone = False
    is_antitone = True


def test_fractional_metrics_are_checked_at_the_corners() -> None:
    with pytest.raises(ValueError, match="'fdr' is declared to fall"):
        check_declaration(_FalseDiscoveryRate(), 50, 60)
    check_declaration(_Antitone(), 50, 60)


def test_solve_refuses_false_declarations() -> None:
    X = np.random.default_rng(0).integers(0, 2, (30, 4))
    problem = Problem.from_arrays(X, X[:, 0] ^ X[:, 1])
    false = CustomMetric(lambda tp, _fp, _fn, tn: tp - tn, Shape.MONOTONE)
    for engine in ("search", "mip", "auto"):
        with pytest.raises(ValueError, match="'custom' is declared to fall"):
            solve(problem, false, 2, engine=engine)
    with pytest.raises(ValueError, match="'custom' is declared to fall"):
        solve(problem, "accuracy", 2, constraints=false >= 1)
