"""Trees as points (FN, FP), and which values are of interest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Exact, Problem
from goct.metrics import CostMatrix, get_metric
from goct.plane.points import Plane, Points, Target, round_share
from tests.support.oracles import all_trees


@pytest.mark.parametrize("positive", ["no", "yes"])
@pytest.mark.parametrize("weights", [[1, 2, 3, 1, 1], [0.5, 1.5, 1, 2, 0.25]])
def test_points_and_confusion_matrices_agree(positive: str, weights: list[float]) -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 0]]
    y = ["no", "yes", "yes", "no", "yes"]
    problem = Problem.from_arrays(X, y, pos_label=positive, sample_weight=weights)
    points = Points(problem)
    unit = problem.weight_unit
    assert (unit * points.n_pos, unit * points.n_neg) == (problem.n_pos, problem.n_neg)
    costs = CostMatrix([[0, 3], [1, 0]])
    plane = Plane(problem, costs)
    for tree in all_trees(problem, 1):
        x, y_ = points.of(tree)
        assert points.confusion(x, y_) == tree.confusion(problem)
        assert plane.value(x, y_) == costs.evaluate(tree, problem)


def test_points_need_two_classes() -> None:
    problem = Problem.from_arrays([[0], [1], [1]], ["a", "b", "c"])
    with pytest.raises(ValueError, match="need two classes"):
        Points(problem)


def test_slopes_are_those_of_the_metric() -> None:
    X = np.arange(30)[:, None] % 2
    problem = Problem.from_arrays(X, np.arange(30) < 10)
    plane = Plane(problem, get_metric("class_cost"))
    for point in ((0, 0), (3, 4), (10, 20)):
        assert plane.slopes(*point) == pytest.approx((1, 1))


def test_targets() -> None:
    half = Exact(Fraction(1, 2))
    assert Target(None).admits(Exact(-5))
    assert not Target(half).admits(half)
    assert Target(half, attain=True).admits(half)
    assert Target(half).admits(half + Fraction(1, 10**9))
    after = Target(None, attain=True, top=Exact(1)).after(half)
    assert after == Target(half, top=Exact(1))


def test_shares_are_neither_nothing_nor_all() -> None:
    assert [round_share(share, 10) for share in (0.0, 0.26, 0.5, 1.0)] == [1, 3, 5, 9]
