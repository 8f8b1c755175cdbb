"""Level lines say, point by point, what the values of metrics say."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from goct.metrics import (
    MCC,
    METRICS,
    Accuracy,
    Affine,
    ClassCost,
    Confusion,
    CostMatrix,
    FBeta,
    FractionalMetric,
    InstanceCost,
    LevelLine,
    LinearMetric,
    Metric,
    Recall,
)

WITH_LINES = [
    metric
    for make in METRICS.values()
    if isinstance(metric := make(), LinearMetric | FractionalMetric)
    and metric.is_function_of_confusion
]
WITH_LINES += [FBeta(0.25), ClassCost(5, 1), CostMatrix([[0, 3], [1, -2]])]
WITH_LINES += [Accuracy() - 0.3 * Recall()]


@pytest.mark.slow
@pytest.mark.parametrize("metric", WITH_LINES, ids=lambda metric: metric.name)
@pytest.mark.parametrize("unit", [Fraction(1), Fraction(2, 3)])
@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 4), (1, 6), (0, 3), (3, 0)])
def test_lines_part_better_points_from_worse_ones(
    metric: Metric, unit: Fraction, n_pos: int, n_neg: int
) -> None:
    values = {}
    for fn, fp in product(range(n_pos + 1), range(n_neg + 1)):
        counts = n_pos - fn, fp, fn, n_neg - fp
        values[fn, fp] = metric.value(Confusion(*(unit * count for count in counts)))
    levels = {value.as_fraction() for value in values.values()}
    for level in levels | {Fraction(1, 7), Fraction(-1, 7)}:
        line = metric.level_line(level, n_pos, n_neg, unit)
        assert line is not None
        for (fn, fp), value in values.items():
            pole = line.pole
            if pole is not None and pole.a * fn + pole.b * fp == pole.level:
                assert value == 0
                continue
            cost = line.a * fn + line.b * fp
            assert (value > level) == (cost < line.cutoff)
            assert (value >= level) == (cost <= line.most)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 4), (6, 6), (0, 3), (3, 0)])
def test_mcc_has_a_line_where_it_is_zero(n_pos: int, n_neg: int) -> None:
    line = MCC().level_line(Fraction(0), n_pos, n_neg)
    assert line is not None
    for fn, fp in product(range(n_pos + 1), range(n_neg + 1)):
        value = MCC().value(Confusion(n_pos - fn, fp, fn, n_neg - fp))
        assert (value > 0) == (line.a * fn + line.b * fp < line.cutoff)
        assert (value >= 0) == (line.a * fn + line.b * fp <= line.most)


def test_lines_have_small_integers() -> None:
    assert LevelLine.where_positive((Fraction(7, 2), Fraction(-4, 3), -2)) == LevelLine(
        2, 3, Fraction(21, 4)
    )
    assert LevelLine.where_positive((1, 0, 0)) == LevelLine(0, 0, Fraction(1))


def test_metrics_without_lines_say_so() -> None:
    for metric in (MCC(), InstanceCost(), Accuracy() + InstanceCost()):
        assert metric.level_line(Fraction(1, 2), 3, 4) is None


class _Ratio(FractionalMetric):
    name = "ratio"

    def __init__(self, numerator: Affine, denominator: Affine) -> None:
        self._parts_of = numerator, denominator

    def fraction(self, n_pos, n_neg) -> tuple[Affine, Affine]:
        return self._parts_of


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(Affine(0, 1, 0), Affine(-1, 1, 1)), (Affine(1, 1, 0), Affine(0, 1, 1))],
)
def test_denominators_that_break_the_rules(numerator: Affine, denominator: Affine) -> None:
    metric = _Ratio(numerator, denominator)
    with pytest.raises(ValueError, match=r"the metric 'ratio' is .* where TP = 0 and TN = 0"):
        metric.level_line(Fraction(1, 2), 3, 3)
    with pytest.raises(ValueError, match="must not be negative, nor 0"):
        metric.quotient(3, 3)
