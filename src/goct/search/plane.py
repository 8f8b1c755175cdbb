"""Two classes as points in the plane of false negatives and false positives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import Confusion
from goct.problem import Problem
from goct.search.run import LARGEST_COST, Run, TooFineError
from goct.tree import Tree

Coordinate: TypeAlias = int | Fraction
Lift: TypeAlias = Callable[[Exact], Exact]


def in_parts(share: float, resolution: int) -> int:
    """Return a share of a whole that has so many parts, in parts: some, and not all of them."""
    return min(max(round(resolution * share), 1), resolution - 1)


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
        assert problem.positive is not None
        assert problem.n_classes == 2
        self.problem = problem
        self.labels = (1 - problem.positive, problem.positive)
        self.negatives, self.positives = (
            np.ascontiguousarray(problem.counts[:, label]) for label in self.labels
        )
        self.n_pos, self.n_neg = int(self.positives.sum()), int(self.negatives.sum())

    def costs(self, a: int, b: int, split_cost: int = 0) -> NDArray[np.int64]:
        """Return costs of predictions that add up to ``a * FN + b * FP``.

        The oracle's label 0 stands for the negative class and 1 for the positive
        one, as in its :meth:`~goct.search.LinearOracle.search_front`, so that
        it can use what it learnt.

        Raises
        ------
        TooFineError
            If they, or what splits cost, are too large for the oracle.
        """
        most = max(a, 0) * self.n_pos + max(b, 0) * self.n_neg
        if most + 64 * split_cost >= LARGEST_COST:
            raise TooFineError
        return np.stack([a * self.positives, b * self.negatives], axis=1)

    def of(self, tree: Tree) -> tuple[int, int]:
        """Return the point of a tree."""
        negative, positive = self.labels
        predicted = tree.predict_rows(self.problem)
        x = int(self.positives[predicted == negative].sum())
        return x, int(self.negatives[predicted == positive].sum())

    def confusion(self, x: Coordinate, y: Coordinate) -> Confusion:
        """Return the confusion matrix at a point, which need not be that of a tree."""
        unit = self.problem.weight_unit
        counts = (self.n_pos - x, y, x, self.n_neg - y)
        return Confusion(*(n if unit == 1 else unit * n for n in counts))


@dataclass(frozen=True)
class Goal:
    """Which values are of interest.

    Attributes
    ----------
    above
        Only larger ones; all if None.
    attain
        Whether `above` itself is of interest, too.
    """

    above: Exact | None
    attain: bool = False

    def admits(self, value: Exact) -> bool:
        """Say whether a value is of interest."""
        if self.above is None:
            return True
        return value >= self.above if self.attain else value > self.above


class Plane(Points):
    """Linear questions about the points of trees, asked for the sake of a metric.

    Attributes
    ----------
    run, metric
        The question, and its metric of confusion matrices.
    top
        The largest value of a tree that is allowed, once it is known.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run.problem)
        self.run = run
        run.labels = self.labels
        self.metric = run.metric.oriented(run.problem)
        self.top: Exact | None = None

    def value(self, x: Coordinate, y: Coordinate) -> Exact:
        """Return the metric at a point, which need not be that of a tree."""
        return self.metric.value(self.confusion(x, y))

    def slopes(self, x: int, y: int) -> tuple[float, float]:
        """Return what a false negative and a false positive cost at a point, roughly."""
        # One more, or one less at the end, of either kind of error.
        dx, dy = (1 if x < self.n_pos else -1), (1 if y < self.n_neg else -1)
        here, right, up = (
            float(self.value(*point)) for point in ((x, y), (x + dx, y), (x, y + dy))
        )
        return max((here - right) * dx, 0.0), max((here - up) * dy, 0.0)
