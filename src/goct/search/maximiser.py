"""Metrics of two classes, with a split penalty and constraints."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from goct.constraints import MetricConstraint
from goct.exact import Exact
from goct.metrics import FractionalMetric, Shape
from goct.plane.dinkelbach import Dinkelbach, Lift
from goct.plane.hull import Point
from goct.plane.oracle import Incumbent, InsideOracle, Scored, TooFineError
from goct.plane.outer import OuterApproximation
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.search.budgets import BudgetSweep
from goct.task import SizeLimit, Task


class PlaneMaximiser:
    """Finds the best tree for a metric of (FN, FP), by the method that its shape allows.

    With a penalty, questions about all numbers of splits at once rule most of
    them out; for what is left, the largest value of trees with at most so many
    splits follows. Of equally good trees the fewest splits win.

    Parameters
    ----------
    oracle, incumbent
        Whom to ask, and what is known so far.
    plane
        The points of trees, and the metric.
    staircase
        What the metric and the constraints leave worth looking at; see :meth:`staircase_of`.
    floor
        If it is known that no tree has fewer false positives, by step.
    points
        Points of trees that are known.
    """

    is_exact = True
    """Whether nothing is rounded."""

    def __init__(
        self,
        oracle: InsideOracle,
        incumbent: Incumbent,
        plane: Plane,
        *,
        staircase: Staircase | None = None,
        floor: NDArray[np.int64] | None = None,
        points: Iterable[Point] = (),
    ) -> None:
        task = incumbent.task
        self.oracle = oracle
        self.incumbent = incumbent
        self.plane = plane
        self._staircase = staircase = staircase or self.staircase_of(task, plane)
        constraints = staircase.constraints
        hull_suffices = not constraints and plane.metric.shape is not Shape.MONOTONE
        self._outer = OuterApproximation(
            oracle,
            incumbent,
            plane,
            staircase,
            inside=None if hull_suffices else oracle,
            ends=[(0, plane.n_neg), (plane.n_pos, 0), *points],
            floor=floor,
        )
        self._sweep: BudgetSweep | None = None
        self._dinkelbach: Dinkelbach | None = None
        if isinstance(task.metric, FractionalMetric) and not constraints:
            self._dinkelbach = Dinkelbach(oracle, incumbent, plane, staircase, task.metric, floor)
        self._top: Exact | None = None
        self._summit: Scored | None = None  # from where nothing better was found

    @staticmethod
    def staircase_of(task: Task, plane: Plane) -> Staircase:
        """Return what the metric and the constraints of a task leave worth looking at."""
        constraints = (c for c in task.constraints if isinstance(c, MetricConstraint))
        oriented = (replace(c, metric=c.metric.oriented(task.problem)) for c in constraints)
        return Staircase(plane, plane.metric, tuple(oriented))

    def maximise(self) -> None:
        """Find the best tree, and prove it."""
        incumbent, task = self.incumbent, self.incumbent.task
        penalty = task.split_penalty
        if (
            penalty or self._dinkelbach is not None
        ):  # others need questions in many directions anyway
            self.climb()
        if not penalty and incumbent.is_optimal:
            self._top = incumbent.objective
            return
        if not penalty or incumbent.objective is None:
            target = Target(incumbent.objective)
            self._top = self._maximise(target, task.size, lambda v: task.penalised(v, 1))
            if self._top is None and not penalty:
                self._top = incumbent.objective  # nothing is better than the small tree
            if self._top is not None:
                incumbent.tighten(task.penalised(self._top, 1))
        if incumbent.objective is None:
            return
        if penalty:
            self._go_through_budgets()
        incumbent.tighten(incumbent.objective)

    def climb(self) -> None:
        """Look for better trees in the direction in which the objective rises, without a proof.

        Constraints are not part of that direction.
        """
        incumbent, task = self.incumbent, self.incumbent.task
        if self._staircase.constraints and not task.split_penalty:
            return
        with suppress(TooFineError):
            while (best := incumbent.best) is not self._summit and best is not None:
                if incumbent.is_optimal:
                    break
                self._summit = best
                x, y = self.plane.of(best.tree)
                a, b, c = self.plane.tangent(x, y, task.split_penalty)
                cost = a * x + b * y + c * best.tree.splits
                self.oracle.guess(a, b, task.size, cutoff=cost, split_cost=c)

    def _go_through_budgets(self) -> None:
        task = self.incumbent.task
        self._sweep = sweep = BudgetSweep(
            self.oracle, self.incumbent, self.plane, self._staircase, self._outer.floor
        )
        sweep.go()
        for splits in sweep.candidates():
            others = sweep.bound(beyond=splits)
            self._maximise(
                replace(sweep.target(splits), top=self._top),
                replace(task.size, max_splits=splits),
                lambda v, s=splits, o=others: max(task.penalised(v, s), o),  # type: ignore[misc]
                sweep.floor(splits),
            )

    @property
    def splits_are_fewest(self) -> bool:
        """Whether the best tree is known to have the fewest splits of all optimal ones."""
        return self.incumbent.task.split_penalty > 0

    def find_tie(self, size: SizeLimit) -> bool:
        """Find a tree of a given size that is as good as the best, if there is one."""
        value = self.plane.value(*self.plane.of(self.incumbent.known.tree))
        if self._dinkelbach is not None and value == self._top:
            with suppress(TooFineError):
                found = self._dinkelbach.find_tie(self.oracle, value, size)
                if found is not None:
                    return found
        floor = None if self._sweep is None else self._sweep.floor(size.most_splits)
        return self._outer.find_tie(self.oracle, value, size, floor)

    def _maximise(
        self, target: Target, size: SizeLimit, lift: Lift, floor: NDArray[np.int64] | None = None
    ) -> Exact | None:
        """Return the largest value of trees of a size; None if none is of interest."""
        if self._dinkelbach is not None and target.above is not None and not target.attain:
            # Its directions can need larger numbers than those of the hull's edges.
            with suppress(TooFineError):
                if self._dinkelbach.settles(target.above):
                    return self._dinkelbach.maximise(target, size, lift).reached
        return self._outer.maximise(target, size, lift, floor).reached
