"""Metrics of two classes, with a split penalty and constraints."""

from __future__ import annotations

from contextlib import suppress

from goct.constraints import MetricConstraint
from goct.exact import Exact
from goct.metrics import FractionalMetric, Shape
from goct.search.fractional import maximise_fractional
from goct.search.monotone import MonotoneMaximiser
from goct.search.plane import Goal, Lift, Plane
from goct.search.quasiconvex import maximise_quasiconvex
from goct.search.run import Run, Size, TooFineError
from goct.search.staircase import Steps


class PlaneMaximiser:
    """Finds the best tree for a metric of (FN, FP), by the method that its shape allows.

    With a penalty, the largest value over all trees comes first. It leaves few
    numbers of splits that can still win; for each, the largest value of trees
    with at most so many splits follows, and of equally good ones the fewest
    splits win.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.plane = Plane(run)
        self._monotone: MonotoneMaximiser | None = None
        if run.constraints or run.metric.shape is Shape.MONOTONE:
            constraints = tuple(c for c in run.constraints if isinstance(c, MetricConstraint))
            steps = Steps(self.plane, run.metric, constraints)
            self._monotone = MonotoneMaximiser(self.plane, steps)

    def maximise(self) -> None:
        """Find the best tree, and prove it."""
        run, penalty = self.run, self.run.split_penalty
        # A tree that is better than the constant one has a split.
        start = None if run.objective is None else run.objective + penalty
        top = self._maximise(Goal(start), run.size, lambda v: v - penalty)
        if top is None:
            if start is not None:
                run.tighten(start - penalty)
            return
        self.plane.top = top
        run.tighten(top - penalty)
        if penalty:
            self._go_through_budgets(top)

    def _go_through_budgets(self, top: Exact) -> None:
        run, penalty = self.run, self.run.split_penalty
        for splits in range(1, run.size.most_splits + 1):
            assert run.best is not None
            assert run.objective is not None
            most = top - penalty * splits  # the bound for trees with so many splits or more
            fewer = run.best.splits > splits
            if most < run.objective or (most == run.objective and not fewer):
                break
            self._maximise(
                Goal(run.objective + penalty * splits, attain=fewer),
                Size(run.size.depth, splits),
                lambda v, s=splits, m=most: max(v - penalty * s, m - penalty),  # type: ignore[misc]
            )
            run.tighten(most - penalty)
        assert run.objective is not None
        run.tighten(run.objective)

    @property
    def splits_are_fewest(self) -> bool:
        """Whether the best tree is known to have the fewest splits of all optimal ones."""
        return self.run.split_penalty > 0

    def attain(self, size: Size) -> bool:
        """Find a tree of a given size that is as good as the best, if there is one."""
        run = self.run
        assert run.best is not None
        value = run.metric.evaluate(run.best, run.problem)
        return self._maximise(Goal(value, attain=True), size, lambda _: run.bound) is not None

    def _maximise(self, goal: Goal, size: Size, lift: Lift) -> Exact | None:
        if self._monotone is not None:
            return self._monotone.maximise(goal, size, lift)
        if isinstance(self.run.metric, FractionalMetric):
            # Its directions can need larger numbers than those of the hull's edges.
            with suppress(TooFineError):
                return maximise_fractional(self.plane, self.run.metric, goal, size, lift)
        return maximise_quasiconvex(self.plane, goal, size, lift)
