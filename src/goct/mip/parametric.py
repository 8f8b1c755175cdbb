"""Nonlinear metrics by linear models only: the plane, with models as its oracle.

A linear model finds the tree of least ``a · FN + b · FP``, under any side
constraints, and so proves that all points lie on one side of a line. That is
all that Dinkelbach's method and the walk along the hull (:mod:`goct.plane`)
need.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TypeAlias

from goct.exact import Exact
from goct.metrics import CostMatrix, FractionalMetric
from goct.mip.objective import LinearObjective
from goct.mip.session import ModelSession
from goct.plane.dinkelbach import Dinkelbach, Lift
from goct.plane.oracle import Answer, StopError, ToBound
from goct.plane.outer import OuterApproximation
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.solution import Limit
from goct.task import SizeLimit

Line: TypeAlias = tuple[int, int, int]
"""The numbers a, b, c of ``a · FN + b · FP >= c``, for counts of errors."""


class ModelOracle:
    """Answers the linear questions of the plane by models (:class:`goct.plane.oracle.Oracle`).

    What it proves about all trees of the task, ``a · FN + b · FP >= c``, is kept in `lines`.
    """

    def __init__(self, session: ModelSession, plane: Plane) -> None:
        self.session = session
        self.plane = plane
        self.lines: list[Line] = []

    def cheapest(
        self,
        a: int,
        b: int,
        size: SizeLimit,
        *,
        cutoff: int,
        to_bound: ToBound | None = None,
        split_cost: int = 0,
        any_tree: bool = False,
    ) -> Answer:
        """Find the tree of least ``a * FN + b * FP + split_cost * splits`` below a cutoff."""
        task, unit = self.session.incumbent.task, self.plane.problem.weight_unit
        negative, positive = self.plane.labels
        costs = [[0, 0], [0, 0]]
        costs[positive][negative], costs[negative][positive] = a, b
        line = replace(task, metric=CostMatrix(costs), split_penalty=unit * split_cost, size=size)
        start = self.session.incumbent.tree
        if start is not None and (
            start.splits > size.most_splits or start.depth > size.reachable_depth
        ):
            start = None
        answer = self.session.run(LinearObjective(line, start))
        least = ceil(-answer.bound.as_fraction() / unit)
        if min(a, b) >= 0:
            least = max(least, 0)  # a tolerance may have gone below
            if size == task.size and not split_cost:
                self.lines.append((a, b, least))
        if answer.limit is not Limit.NONE:
            if to_bound is not None:
                self.session.tighten(to_bound(least))
            raise StopError
        if answer.best is None:
            return Answer(None, max(cutoff, least))
        x, y = self.plane.of(answer.best)
        cost = a * x + b * y + split_cost * answer.best.splits
        return Answer(answer.best if cost < cutoff else None, least)


class Parametric:
    """Maximises a fractional or quasiconvex metric by linear models."""

    def __init__(self, session: ModelSession) -> None:
        task = session.incumbent.task
        self.session = session
        self.incumbent = session.incumbent
        plane = Plane(task.problem, task.metric)
        self.oracle = ModelOracle(session, plane)
        # The oracle knows the constraints, so the staircase need not.
        staircase = Staircase(plane, plane.metric, ())
        self._outer = OuterApproximation(
            self.oracle, self.incumbent, plane, staircase, inside=None, ends=None
        )
        self._dinkelbach = (
            Dinkelbach(self.oracle, self.incumbent, plane, staircase, task.metric)
            if isinstance(task.metric, FractionalMetric)
            else None
        )

    def maximise(self) -> None:
        """Find the best tree, and prove it, as far as tolerances and limits allow.

        With a penalty, the largest value v of all trees comes first. Then, for
        each number s of splits, trees with at most s splits have to be worth
        more than the best objective plus ``s · penalty``, until v itself is
        not.
        """
        task, incumbent = self.incumbent.task, self.incumbent
        penalty, plane = task.split_penalty, self.oracle.plane
        with suppress(StopError):
            if incumbent.best is None:
                self.oracle.cheapest(1, 1, task.size, cutoff=plane.n_pos + plane.n_neg + 1)
            if incumbent.best is None:
                return  # infeasible
            top = self._largest(penalty, task.size, lambda v: task.penalised(v, 1))
            left = [task.penalised(top, 1)]
            if penalty and left[0] > incumbent.known.objective:
                left = [incumbent.known.objective]
                for s in range(1, task.size.most_splits + 1):
                    if task.penalised(top, s) <= incumbent.known.objective:
                        break
                    others = max(*left, task.penalised(top, s + 1))
                    most = self._largest(
                        penalty * s,
                        replace(task.size, max_splits=s),
                        lambda v, s=s, o=others: max(task.penalised(v, s), o),  # type: ignore[misc]
                    )
                    left.append(task.penalised(most, s))
            incumbent.tighten(max(left))

    def _largest(self, more: Fraction, size: SizeLimit, lift: Lift) -> Exact:
        """Return a number that no value of a tree of some size exceeds.

        It is the largest value as far as the solver's bounds are exact, or the
        best objective plus `more`, if no value is larger.
        """
        above = self.incumbent.known.objective + more
        lines = self._dinkelbach
        search = self._outer if lines is None or not lines.settles(above) else lines
        found = search.maximise(Target(above), size, lift)
        bound = above if found.bound is None else max(found.bound, above)
        level = self.incumbent.task.metric.quasiconvex_from
        return bound if level is None else max(bound, Exact(level))  # below, the hull is silent
