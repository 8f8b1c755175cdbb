"""Trees of two classes as points (FN, FP)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from goct.exact import Exact
from goct.metrics import Confusion, Metric
from goct.problem import Problem
from goct.tree import Tree

Coordinate: TypeAlias = int | Fraction

RESOLUTION = 1000
"""Directions that need not be exact are multiples of a part in so many."""


def round_share(share: float, resolution: int) -> int:
    """Round a share to a multiple of 1/resolution that is neither 0 nor 1; return the multiple."""
    return min(max(round(resolution * share), 1), resolution - 1)


_SMALL_SUM = 2**16 - 2
_COARSEST = 32


class Points:
    """The (FN, FP) points of trees on a problem with two classes, in counts.

    Attributes
    ----------
    labels
        The indices of the negative and of the positive class.
    positives, negatives
        The counts of the positive class and of the other, by row.
    n_pos, n_neg
        Their sums.
    """

    def __init__(self, problem: Problem) -> None:
        if problem.positive is None or problem.n_classes != 2:
            raise ValueError("points (FN, FP) need two classes, one of them positive")
        self.problem = problem
        self.labels = (1 - problem.positive, problem.positive)
        self.negatives, self.positives = (
            np.ascontiguousarray(problem.counts[:, label]) for label in self.labels
        )
        self.n_pos, self.n_neg = int(self.positives.sum()), int(self.negatives.sum())

    def of(self, tree: Tree) -> tuple[int, int]:
        """Return the point of a tree."""
        negative, positive = self.labels
        predicted = tree.predict_rows(self.problem)
        x = int(self.positives[predicted == negative].sum())
        return x, int(self.negatives[predicted == positive].sum())

    @property
    def small_resolution(self) -> int:
        """What a direction (a, b) may add up to so that all errors together cost a small number.

        The core counts in 16 bits then, twice as fast as in 32; with many rows, at least further
        down.
        """
        return max(_SMALL_SUM // max(self.n_pos + self.n_neg, 1), _COARSEST)

    def confusion(self, x: Coordinate, y: Coordinate) -> Confusion:
        """Return the confusion matrix at a point, which need not be that of a tree."""
        counts = (self.n_pos - x, y, x, self.n_neg - y)
        return Confusion(*map(self.problem.weight, counts))


class Plane(Points):
    """The points of trees, and what a metric is worth there.

    Attributes
    ----------
    metric
        The metric of confusion matrices, for this problem.
    """

    def __init__(self, problem: Problem, metric: Metric) -> None:
        super().__init__(problem)
        self.metric = metric.oriented(problem)

    def value(self, x: Coordinate, y: Coordinate) -> Exact:
        """Return the metric at a point, which need not be that of a tree."""
        return self.metric.value(self.confusion(x, y))

    def slopes(self, x: int, y: int) -> tuple[float, float]:
        """Return what a false negative and a false positive cost at a point, roughly."""
        # One more, or one less at the end, of either kind of error; none if its class is empty.
        dx = 1 if x < self.n_pos else -min(x, 1)
        dy = 1 if y < self.n_neg else -min(y, 1)
        here, right, up = (
            float(self.value(*point)) for point in ((x, y), (x + dx, y), (x, y + dy))
        )
        return max((here - right) * dx, 0.0), max((here - up) * dy, 0.0)

    def tangent(
        self, x: int, y: int, split_penalty: Fraction = Fraction(0), resolution: int = RESOLUTION
    ) -> tuple[int, int, int]:
        """Return, roughly, the normal of the objective's level surface at a point.

        What a false negative, a false positive and a split cost; the first two add
        up to the resolution.
        """
        a, b = self.slopes(x, y)
        if a + b == 0:
            return resolution // 2, resolution - resolution // 2, 0
        a_parts = round_share(a / (a + b), resolution)
        b_parts = resolution - a_parts
        # A split that costs more than there is to gain is as good as forbidden.
        most = a_parts * self.n_pos + b_parts * self.n_neg + 1
        c_parts = resolution * float(split_penalty) / (a + b)
        return a_parts, b_parts, round(min(c_parts, most))


@dataclass(frozen=True)
class Target:
    """Which values of the metric are of interest.

    Attributes
    ----------
    above
        Only larger ones; all if None.
    attain
        Whether `above` itself is of interest, too.
    top
        The largest value of any tree, if it is known: whoever finds it is done.
    """

    above: Exact | None
    attain: bool = False
    top: Exact | None = None

    def admits(self, value: Exact) -> bool:
        """Say whether a value is of interest."""
        if self.above is None:
            return True
        return value >= self.above if self.attain else value > self.above

    def after(self, value: Exact) -> Target:
        """Return what is still of interest once a value is reached."""
        return replace(self, above=value, attain=False)
