"""Quotients of polynomials are the metrics that they stand for."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goct import Exact
from goct.metrics import (
    F1,
    MCC,
    METRICS,
    Accuracy,
    BoundedDOR,
    Confusion,
    CustomMetric,
    FalsePositives,
    LinearMetric,
    Metric,
    Precision,
    Quotient,
    RationalMetric,
)

NONLINEAR = [metric for make in METRICS.values() if not isinstance(metric := make(), LinearMetric)]
NONLINEAR += [
    BoundedDOR(3),
    RationalMetric(lambda tp, fp, fn, tn: (tp * tn - fp * fn, (tp + fp) * (tn + fn)), lower=-1),
]


def value_of(quotient: Quotient, tp: int, tn: int) -> Exact:
    """Return what the definition of a quotient says."""
    top, bottom = quotient.numerator(tp, tn), quotient.denominator(tp, tn)
    ratio = top / bottom if bottom else quotient.upper if top > 0 else Fraction(0)
    if quotient.is_capped:
        ratio = min(ratio, quotient.upper)
    assert quotient.lower <= ratio <= quotient.upper
    if not quotient.is_root:
        return Exact(ratio)
    is_negative = quotient.sign is not None and quotient.sign(tp, tn) < 0
    return Exact.sqrt(ratio) * (-1 if is_negative else 1)


def value_at(metric: Metric, tp: int, tn: int, n_pos: int, n_neg: int, unit: Fraction) -> Exact:
    return metric.value(Confusion(*(unit * n for n in (tp, n_neg - tn, n_pos - tp, tn))))


@pytest.mark.parametrize("metric", NONLINEAR, ids=lambda metric: metric.name)
@pytest.mark.parametrize("unit", [Fraction(1), Fraction(3, 4)])
def test_quotients_have_the_values_of_the_metric(metric: Metric, unit: Fraction) -> None:
    n_pos, n_neg = 5, 3
    quotient = metric.quotient(n_pos, n_neg, unit)
    pairs = list(product(range(n_pos + 1), range(n_neg + 1)))
    for tp, tn in pairs:
        assert value_of(quotient, tp, tn) == value_at(metric, tp, tn, n_pos, n_neg, unit)
    tps, tns = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    for bound, (tp, tn) in zip(quotient.upper_bounds(tps, tns), pairs, strict=True):
        value = float(value_of(quotient, tp, tn))
        least = max(value, 0.0) ** 2 if quotient.is_root else value
        assert least <= bound + 1e-15
        if quotient.denominator(tp, tn):
            assert bound <= least + 1e-9 * float(quotient.upper) or (quotient.is_root and value < 0)


@pytest.mark.parametrize(
    "metric",
    [0.5 * F1() + 0.3 * MCC() + 0.2 * Accuracy(), F1() - 2 * Precision() - FalsePositives()],
    ids=lambda metric: metric.name,
)
def test_sums_add_up(metric: Metric) -> None:
    n_pos, n_neg, unit = 4, 3, Fraction(1, 2)
    parts = metric.quotients(n_pos, n_neg, unit)
    assert parts.linear is not None
    assert all(weight > 0 for weight, _ in parts.quotients)
    for tp, tn in product(range(n_pos + 1), range(n_neg + 1)):
        linear = value_at(parts.linear, tp, tn, n_pos, n_neg, unit)
        total = sum((value_of(q, tp, tn) * w for w, q in parts.quotients), linear)
        assert total == value_at(metric, tp, tn, n_pos, n_neg, unit)


def test_what_is_monotone_in_a_sum() -> None:
    assert (F1() - FalsePositives()).quotients(3, 3).is_monotone
    assert not (Accuracy() - F1()).quotients(3, 3).is_monotone
    assert Accuracy().quotients(3, 3).quotients == ()


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (CustomMetric(lambda tp, *_: tp), "write it as a RationalMetric"),
        (F1() - MCC(), "'mcc' may not count negatively"),
        (F1() - BoundedDOR(), "'dor' may not count negatively"),
    ],
)
def test_metrics_without_quotients_say_why(metric: Metric, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric.quotients(3, 3)
