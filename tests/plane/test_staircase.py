"""Staircases of interesting points against the points one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import goct.plane.staircase as staircase
from goct import Problem
from goct.exact import Exact
from goct.metrics import (
    F1,
    MCC,
    METRICS,
    Accuracy,
    Confusion,
    CustomMetric,
    FalseNegatives,
    FBeta,
    GMean,
    Precision,
    Recall,
    Shape,
    get_metric,
)
from goct.plane.points import Points, Target
from goct.plane.staircase import Staircase

MONOTONE = [
    *(make() for name, make in METRICS.items() if name != "instance_cost" and make().is_monotone),
    0.5 * F1() + 0.5 * Accuracy(),
    0.5 * GMean() + 0.2 * MCC(),
    CustomMetric(lambda tp, fp, fn, tn: min(tp * (fp + tn), tn * (tp + fn)), Shape.MONOTONE),
    CustomMetric(lambda tp, _fp, _fn, tn: tp // 3 + tn // 4, Shape.MONOTONE),
]


def plane(n_pos: int, n_neg: int, weight: Fraction | int = 1) -> Points:
    y = [1] * n_pos + [0] * n_neg
    X = np.arange(len(y))[:, None] >> np.arange(6) & 1
    return Points(Problem.from_arrays(X, y, sample_weight=[weight] * len(y)))


@pytest.mark.slow
@pytest.mark.parametrize("metric", MONOTONE, ids=lambda m: m.name)
@pytest.mark.parametrize("weight", [1, Fraction(2, 7)], ids=str)
@pytest.mark.parametrize("attain", [False, True])
def test_wanted_points(metric, weight, attain) -> None:
    points = plane(7, 9, weight)
    steps = Staircase(points, metric, ())
    values = {
        (x, y): metric.value(points.confusion(x, y))
        for x in range(points.n_pos + 1)
        for y in range(points.n_neg + 1)
    }
    levels = sorted(set(values.values()))
    for above in [
        *levels[:: max(1, len(levels) // 25)],
        Exact(Fraction(1, 3)),
        Exact(2),
        Exact(-1),
    ]:
        goal = Target(above, attain)
        expected = [
            max((y for y in range(points.n_neg + 1) if goal.admits(values[x, y])), default=-1)
            for x in range(points.n_pos + 1)
        ]
        assert steps.wanted(goal).tolist() == expected, above
    assert steps.wanted(Target(None)).tolist() == [points.n_neg] * (points.n_pos + 1)


@pytest.mark.parametrize("metric", [Precision(), get_metric("npv"), F1(), MCC(), FBeta(3)])
def test_constraints(metric) -> None:
    points = plane(9, 12)
    constraints = (metric >= 0.4, Recall() >= 0.5, FalseNegatives() <= 3)
    steps = Staircase(points, Accuracy(), constraints)
    for x, allowed in enumerate(steps.allowed.tolist()):
        for y in range(points.n_neg + 1):
            assert steps.meets(x, y) == (y <= allowed)


@pytest.mark.parametrize("metric", [GMean(), F1(), 0.5 * F1() + 0.5 * Accuracy()])
def test_coarse_steps_and_few_exact_comparisons_leave_out_nothing(metric, monkeypatch) -> None:
    points = plane(40, 23)
    monkeypatch.setattr(staircase, "MOST_STEPS", 7)
    monkeypatch.setattr(staircase, "_MOST_EXACT", 3)
    steps = Staircase(points, metric, (Recall() >= 0.2,))
    assert len(steps.low) == 7
    goal = Target(metric.value(Confusion(25, 5, 15, 18)))
    wanted = steps.wanted(goal)
    for low, high, most in zip(steps.low, steps.high, wanted, strict=True):
        for x in range(low, high + 1):
            for y in range(points.n_neg + 1):
                value = metric.value(points.confusion(x, y))
                assert y <= most or not (goal.admits(value) and steps.meets(x, y))


@pytest.mark.parametrize("metric", MONOTONE, ids=lambda m: m.name)
def test_largest_value_is_a_bound(metric) -> None:
    points = plane(11, 14)
    steps = Staircase(points, metric, ())
    floor = np.maximum(9 - steps.low, 0)
    among = steps.low % 3 == 1
    largest = max(
        metric.value(points.confusion(int(x), int(y)))
        for x, y, is_in in zip(steps.low, floor, among, strict=True)
        if is_in
    )
    bound = steps.largest_value(floor, among)
    assert bound >= largest
    assert float(bound) == pytest.approx(float(largest), abs=1e-8)
    assert steps.largest_value(floor, np.zeros_like(among)) is None
