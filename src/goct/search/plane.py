"""Two classes as points in the plane of false negatives and false positives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from goct.exact import Exact
from goct.metrics import Confusion, Metric
from goct.search.region import Region
from goct.search.run import LARGEST_COST, TOO_FINE, Run
from goct.tree import Tree

Coordinate: TypeAlias = int | Fraction
Lift: TypeAlias = Callable[[Exact], Exact]


@dataclass(frozen=True)
class Found:
    """A tree with its false negatives x and false positives y, in counts."""

    tree: Tree
    x: int
    y: int


class Plane:
    """Linear questions about the (FN, FP) points of trees.

    All numbers are counts, that is multiples of the problem's weight unit.

    Attributes
    ----------
    n_pos, n_neg
        The counts of the positive class and of the other.
    """

    def __init__(self, run: Run) -> None:
        problem = run.problem
        self.run = run
        self.metric: Metric = run.metric
        self.unit = problem.weight_unit
        assert problem.positive is not None
        assert problem.n_classes == 2
        self._labels = (1 - problem.positive, problem.positive)
        self._neg, self._pos = (problem.counts[:, label] for label in self._labels)
        self.n_pos, self.n_neg = int(self._pos.sum()), int(self._neg.sum())

    def value(self, x: Coordinate, y: Coordinate) -> Exact:
        """Return the metric at a point, which need not be that of a tree."""
        tp, fp, fn, tn = (self.unit * count for count in (self.n_pos - x, y, x, self.n_neg - y))
        return self.metric.value(Confusion(tp, fp, fn, tn))

    def bound(self, region: Region) -> Exact:
        """Return the largest value in a region, for a metric that is QUASICONVEX or simpler.

        Such a metric takes its maximum over a convex set at a vertex of it.
        """
        return max(self.value(x, y) for x, y in region.corners)

    def ask(
        self, a: int, b: int, *, cutoff: int, max_splits: int | None, region: Region, lift: Lift
    ) -> tuple[Found | None, Region]:
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
        found, region
            The tree, or None if there is none below the cutoff; and the region
            without what is excluded now.
        """

        def cut(least: int) -> Region:
            return region.cut(a, b, least) if a > 0 and b > 0 else region

        if max(a, 0) * self.n_pos + max(b, 0) * self.n_neg >= LARGEST_COST:
            raise ValueError(TOO_FINE)
        negative, positive = self._labels
        costs = np.zeros((len(self._pos), self.run.problem.n_classes), dtype=np.int64)
        costs[:, negative] = a * self._pos
        costs[:, positive] = b * self._neg
        result = self.run.ask(
            costs,
            cutoff=cutoff,
            max_splits=max_splits,
            to_bound=lambda least: lift(self.bound(cut(least))),
        )
        if result.tree is None:
            return None, cut(cutoff)
        tree = self.run.offer(result.tree)
        predicted = tree.predict_rows(self.run.problem)
        x = int(self._pos[predicted == negative].sum())
        y = int(self._neg[predicted == positive].sum())
        return Found(tree, x, y), cut(a * x + b * y)
