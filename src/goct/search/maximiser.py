"""Metrics of two classes, with a split penalty and constraints."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import FractionalMetric
from goct.search.budgets import BudgetSweep
from goct.search.fractional import FractionalMaximiser
from goct.search.monotone import MonotoneMaximiser
from goct.search.plane import Goal, Lift, Plane
from goct.search.run import Run, TooFineError
from goct.search.staircase import Steps
from goct.task import SizeLimit

_DEEP = 4
_SMALL_DEPTH = 2
"""Deep trees start from the best small one, which is found in no time."""


class PlaneMaximiser:
    """Finds the best tree for a metric of (FN, FP), by the method that its shape allows.

    With a penalty, questions about all numbers of splits at once rule most of
    them out; for what is left, the largest value of trees with at most so many
    splits follows. Of equally good trees the fewest splits win.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.plane = Plane(run)
        constraints = tuple(
            replace(c, metric=c.metric.oriented(run.problem)) for c in run.metric_constraints
        )
        self._steps = steps = Steps(self.plane, self.plane.metric, constraints)
        self._monotone = MonotoneMaximiser(self.plane, steps)
        self._sweep: BudgetSweep | None = None
        self._fractional: FractionalMaximiser | None = None
        if isinstance(run.metric, FractionalMetric) and not constraints:
            self._fractional = FractionalMaximiser(self.plane, steps, run.metric)

    def maximise(self) -> None:
        """Find the best tree, and prove it."""
        run, penalty = self.run, self.run.split_penalty
        if run.size.max_depth >= _DEEP and run.objective is not None:
            small = replace(run.size, max_depth=_SMALL_DEPTH)
            with suppress(TooFineError):
                self._maximise(Goal(run.objective + penalty), small, lambda _: run.bound)
        if not penalty or run.objective is None:
            top = self._maximise(Goal(run.objective), run.size, lambda v: v - penalty)
            if top is None and not penalty:
                top = run.objective  # nothing is better than the small tree
            if top is not None:
                self.plane.top = top
                run.tighten(top - penalty)
        if run.objective is None:
            return
        if penalty:
            self._go_through_budgets()
        run.tighten(run.objective)

    def _go_through_budgets(self) -> None:
        run, penalty = self.run, self.run.split_penalty
        self._sweep = sweep = BudgetSweep(run, self.plane, self._steps, self._monotone.floor)
        sweep.go()
        for splits in sweep.candidates():
            others = sweep.bound(beyond=splits)
            self._maximise(
                sweep.goal(splits),
                replace(run.size, max_splits=splits),
                lambda v, s=splits, o=others: max(v - penalty * s, o),  # type: ignore[misc]
                sweep.floor(splits),
            )

    @property
    def splits_are_fewest(self) -> bool:
        """Whether the best tree is known to have the fewest splits of all optimal ones."""
        return self.run.split_penalty > 0

    def attain(self, size: SizeLimit) -> bool:
        """Find a tree of a given size that is as good as the best, if there is one."""
        run = self.run
        assert run.best is not None
        value = run.metric.evaluate(run.best, run.problem)
        if self._fractional is not None and value == self.plane.top:
            with suppress(TooFineError):
                if (attained := self._fractional.attain(value, size)) is not None:
                    return attained
        floor = None if self._sweep is None else self._sweep.floor(size.most_splits)
        return self._monotone.attain(value, size, floor)

    def _maximise(
        self, goal: Goal, size: SizeLimit, lift: Lift, floor: NDArray[np.int64] | None = None
    ) -> Exact | None:
        if self._fractional is not None and goal.above is not None and not goal.attain:
            # Its directions can need larger numbers than those of the hull's edges.
            with suppress(TooFineError):
                return self._fractional.maximise(goal.above, size, lift)
        return self._monotone.maximise(goal, size, lift, floor)
