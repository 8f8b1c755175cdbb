"""Two classes as points in the plane of false negatives and false positives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import Confusion
from goct.problem import Problem
from goct.search.region import Region
from goct.search.run import LARGEST_COST, Run, TooFineError
from goct.tree import Tree

Coordinate: TypeAlias = int | Fraction
Lift: TypeAlias = Callable[[Exact], Exact]


class Points:
    """The (FN, FP) points of trees on a problem with two classes, in counts.

    Attributes
    ----------
    n_pos, n_neg
        The counts of the positive class and of the other.
    """

    def __init__(self, problem: Problem) -> None:
        assert problem.positive is not None
        assert problem.n_classes == 2
        self.problem = problem
        self._labels = (1 - problem.positive, problem.positive)
        self._neg, self._pos = (problem.counts[:, label] for label in self._labels)
        self.n_pos, self.n_neg = int(self._pos.sum()), int(self._neg.sum())

    def costs(self, a: int, b: int) -> NDArray[np.int64]:
        """Return costs of predictions that add up to ``a * FN + b * FP``."""
        if max(a, 0) * self.n_pos + max(b, 0) * self.n_neg >= LARGEST_COST:
            raise TooFineError
        negative, positive = self._labels
        costs = np.empty((self.problem.n_rows, 2), dtype=np.int64)
        costs[:, negative] = a * self._pos
        costs[:, positive] = b * self._neg
        return costs

    def of(self, tree: Tree) -> tuple[int, int]:
        """Return the point of a tree."""
        negative, positive = self._labels
        predicted = tree.predict_rows(self.problem)
        x = int(self._pos[predicted == negative].sum())
        return x, int(self._neg[predicted == positive].sum())

    def confusion(self, x: Coordinate, y: Coordinate) -> Confusion:
        """Return the confusion matrix at a point, which need not be that of a tree."""
        unit = self.problem.weight_unit
        counts = (self.n_pos - x, y, x, self.n_neg - y)
        return Confusion(*(n if unit == 1 else unit * n for n in counts))


class Plane(Points):
    """Linear questions about the points of trees, asked for the sake of a metric."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.problem)
        self.run = run

    def value(self, x: Coordinate, y: Coordinate) -> Exact:
        """Return the metric at a point, which need not be that of a tree."""
        return self.run.metric.value(self.confusion(x, y))

    def bound(self, region: Region) -> Exact:
        """Return the largest value in a region, for a metric that is QUASICONVEX or simpler.

        Such a metric takes its maximum over a convex set at a vertex of it.
        """
        return max(self.value(x, y) for x, y in region.corners)

    def ask(
        self, a: int, b: int, *, cutoff: int, max_splits: int | None, region: Region, lift: Lift
    ) -> tuple[tuple[int, int] | None, Region]:
        """Find the tree of least ``a * FN + b * FP`` below a cutoff.

        Parameters
        ----------
        a, b
            Non-negative weights.
        cutoff
            Only trees below it are of interest.
        max_splits
            The largest number of splits.
        region
            Where trees with so many splits can lie, as far as is proven.
        lift
            Turns a bound on the value of such trees into one on the objective.

        Returns
        -------
        point, region
            The point of the tree, or None if there is none below the cutoff;
            and the region without what is excluded now.
        """

        def cut(least: int) -> Region:
            return region.cut(a, b, least) if a > 0 and b > 0 else region

        result = self.run.ask(
            self.costs(a, b),
            cutoff=cutoff,
            max_splits=max_splits,
            to_bound=lambda least: lift(self.bound(cut(least))),
        )
        if result.tree is None:
            return None, cut(cutoff)
        x, y = self.of(self.run.offer(result.tree))
        return (x, y), cut(a * x + b * y)
