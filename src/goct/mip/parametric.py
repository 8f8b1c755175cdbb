"""Nonlinear metrics by linear models only: Dinkelbach's method, and the hull of what trees achieve.

A tree is a point (FN, FP). A linear model finds the tree that minimises
``a · FN + b · FP``, under any side constraints, and so proves that all points
lie on one side of a line. For quotients of linear functions, lines through the
best value so far lead to the optimum (Dinkelbach). A quasiconvex metric attains
its maximum at a vertex of the hull, whose edges are followed where they may
hide a better value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from goct.exact import Exact
from goct.metrics import Confusion, CostMatrix, FractionalMetric
from goct.mip.attainable import Line
from goct.mip.numerics import HULL_PRECISION
from goct.mip.objective import Answer, LinearObjective
from goct.mip.session import Session
from goct.solution import Limit
from goct.task import Task
from goct.tree import Tree

Point: TypeAlias = tuple[Fraction, Fraction]


class _StopError(Exception):
    """A limit was reached."""


class Parametric:
    """Maximises a metric by questions about lines.

    Parameters
    ----------
    task
        The question.
    start
        A tree that is known; None if there is none.
    session
        Runs the models.

    Attributes
    ----------
    best, objective
        The best tree so far, and its objective.
    bound
        The proven bound.
    limit
        The limit that was reached.
    lines
        What was proven about FN and FP of all trees.
    """

    def __init__(self, task: Task, start: Tree | None, session: Session) -> None:
        self.task = task
        self.session = session
        self.problem, self.metric = task.problem, task.metric
        self._positive = task.problem.positive or 0
        self.n_pos, self.n_neg = Fraction(task.problem.n_pos), Fraction(task.problem.n_neg)
        self.best: Tree | None = None
        self.objective: Exact | None = None
        self.bound = task.metric.best_value(task.problem)
        self.limit = Limit.NONE
        self.lines: list[Line] = []
        if start is not None:
            self._offer(start)

    def maximise(self) -> None:
        """Find the best tree, and prove it.

        With a penalty, the largest value v of all trees comes first. Then, for
        each number s of splits, trees with at most s splits have to be worth
        more than the best objective plus ``s · penalty``, until v itself is
        not.
        """
        penalty, max_splits = self.task.split_penalty, self.task.size.max_splits
        try:
            above = None if self.objective is None else self.objective + penalty
            top = self._largest(above, max_splits, lambda v: v - penalty)
            if self.objective is None:
                return  # infeasible
            left = [top - penalty]
            if penalty and top > self.objective + penalty:
                left = []
                for s in range(1, self.task.size.most_splits + 1):
                    if top - penalty * s <= self.objective:
                        break
                    rest = top - penalty * (s + 1)
                    most = self._largest(
                        self.objective + penalty * s,
                        s,
                        lambda v, s=s, rest=rest: max(v - penalty * s, rest, *left),  # type: ignore[misc]
                    )
                    left.append(most - penalty * s)
            self._tighten(max(left, default=self.objective))
        except _StopError:
            pass

    # ------------------------------------------------------------------ values

    def _largest(
        self, above: Exact | None, max_splits: int | None, lift: Callable[[Exact], Exact]
    ) -> Exact:
        """Return a number that no value of a tree exceeds: `above`, or little more than the best.

        It is the best value itself as far as the solver's bounds are exact.
        """
        if above is None:
            found = self._line(Fraction(1), Fraction(1), max_splits, lambda *_: self.bound)
            if found is None:
                return self.bound
            above = self._value(found[0])
        search = (
            self._dinkelbach if isinstance(self.metric, FractionalMetric) else self._follow_hull
        )
        return search(above, max_splits, lift)

    def _dinkelbach(
        self, above: Exact, max_splits: int | None, lift: Callable[[Exact], Exact]
    ) -> Exact:
        """Improve the value by trees with ``N - v · D > 0`` until there are none."""
        assert isinstance(self.metric, FractionalMetric)
        top, bottom = self.metric.fraction(self.n_pos, self.n_neg)
        value = above.as_fraction()
        while True:
            # N - v D = perfect - a · FN - b · FP
            a, b = Fraction(top.tp - value * bottom.tp), Fraction(top.tn - value * bottom.tn)
            perfect = top(self.n_pos, self.n_neg) - value * bottom(self.n_pos, self.n_neg)
            if perfect <= 0 and a >= 0 and b >= 0:
                return Exact(value)
            answer = self._line(a, b, max_splits, lambda a, b, c: lift(self._beyond(a, b, c)))
            if answer is None:
                return Exact(value)
            point, least = answer
            if a * point[0] + b * point[1] >= perfect:
                return Exact(value) if least >= perfect else self._beyond(a, b, least)
            value = self._value(point).as_fraction()

    def _follow_hull(
        self, above: Exact, max_splits: int | None, lift: Callable[[Exact], Exact]
    ) -> Exact:
        """Follow the edges of the hull whose corners are worth more than the best value.

        All points lie beyond the lines through the ends of an edge. The corner
        where these meet is worth at least as much as everything between them.
        """
        best = above
        left_open = above
        small = Fraction(
            HULL_PRECISION * max(1.0, abs(float(self.metric.best_value(self.problem))))
        )
        # Ties at the ends of the hull do no harm: they are further edges.
        ends = []
        for a, b in ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))):
            answer = self._line(a, b, max_splits, lambda a, b, c: lift(self._beyond(a, b, c)))
            if answer is None:
                return above
            best = max(best, self._value(answer[0]))
            ends.append((answer[0], (a, b, answer[1])))
        order = count()
        edges: list[tuple[float, int, Exact, _End, _End]] = []

        def push(left: _End, right: _End) -> None:
            nonlocal left_open
            worth = self._value(_corner(left[1], right[1]))
            if left[0] == right[0]:
                left_open = max(left_open, worth)  # more than the point if a line is not tight
            else:
                heappush(edges, (-float(worth), next(order), worth, left, right))

        push(ends[0], ends[1])
        while edges:
            _, _, worth, left, right = heappop(edges)
            if worth <= best + small:
                left_open = max(left_open, worth)
                continue
            (x0, y0), (x1, y1) = left[0], right[0]
            a, b = y0 - y1, x1 - x0
            if a <= 0 or b <= 0:  # one end is as good as the other in both coordinates
                left_open = max(left_open, worth)
                continue
            most = max([worth, *(edge[2] for edge in edges), best, left_open])
            answer = self._line(a, b, max_splits, lambda *_, m=most: lift(m))
            assert answer is not None
            point, least = answer
            best = max(best, self._value(point))
            middle = (point, (a, b, least))
            if a * point[0] + b * point[1] < a * x0 + b * y0:
                push(left, middle)
                push(middle, right)
            elif least < a * x0 + b * y0:  # by a tolerance
                corners = [_corner(left[1], middle[1]), _corner(middle[1], right[1])]
                left_open = max(left_open, *(self._value(corner) for corner in corners))
        level = self.metric.quasiconvex_from
        if level is not None:
            left_open = max(left_open, Exact(level))  # below it, the hull says nothing
        return max(best, left_open)

    def _value(self, point: Point) -> Exact:
        x, y = point
        return self.metric.value(Confusion(self.n_pos - x, y, x, self.n_neg - y))

    def _beyond(self, a: Fraction, b: Fraction, least: Fraction) -> Exact:
        """Return what no point with ``a · FN + b · FP >= least`` exceeds."""
        highest = self.metric.best_value(self.problem)
        if a < 0 or b < 0 or least <= 0:
            return highest
        ends: list[Point] = []
        if a > 0:
            x = min(least / a, self.n_pos)
            ends.append((x, (least - a * x) / b if b else Fraction(0)))
        if b > 0:
            y = min(least / b, self.n_neg)
            ends.append(((least - b * y) / a if a else Fraction(0), y))
        inside = all(x <= self.n_pos and y <= self.n_neg for x, y in ends)
        apart = all(self.n_pos - x + y > 0 and self.n_neg - y + x > 0 for x, y in ends)
        if not inside or not apart:
            return highest
        return min(max(self._value(end) for end in ends), highest)

    # --------------------------------------------------------------- questions

    def _line(
        self,
        a: Fraction,
        b: Fraction,
        max_splits: int | None,
        to_bound: Callable[[Fraction, Fraction, Fraction], Exact],
    ) -> tuple[Point, Fraction] | None:
        """Find the tree with the least ``a · FN + b · FP``; None if there is none."""
        size = max(abs(a), abs(b))
        costs = [[Fraction(0)] * 2 for _ in range(2)]
        negative = 1 - self._positive
        costs[self._positive][negative], costs[negative][self._positive] = a / size, b / size
        start = self.best
        if start is not None and max_splits is not None and start.splits > max_splits:
            start = None
        size_limit = replace(self.task.size, max_splits=max_splits)
        line = replace(
            self.task, metric=CostMatrix(costs), split_penalty=Fraction(0), size=size_limit
        )
        known = Answer(self.best, self.objective, self.bound)
        answer = self.session.run(LinearObjective(line, start), known=known)
        tree, bound = answer.best, answer.bound
        if tree is not None:
            self._offer(tree)
        least = -bound.as_fraction() * size
        if a >= 0 and b >= 0:
            least = max(least, Fraction(0))  # a tolerance may have gone below
        if a >= 0 and b >= 0 and max_splits == self.task.size.max_splits:
            self.lines.append((a, b, least))
        if answer.limit is not Limit.NONE:
            self.limit = answer.limit
            self._tighten(to_bound(a, b, least))
            raise _StopError
        if tree is None:
            return None
        c = tree.confusion(self.problem)
        return (Fraction(c.fn), Fraction(c.fp)), least

    def _offer(self, tree: Tree) -> None:
        value = self.task.objective(tree)
        if self.objective is None or value > self.objective:
            self.best, self.objective = tree, value

    def _tighten(self, bound: Exact) -> None:
        if self.objective is not None:
            bound = max(bound, self.objective)
        self.bound = min(self.bound, bound)


_End: TypeAlias = tuple[Point, Line]


def _corner(left: Line, right: Line) -> Point:
    """Return the point where two lines meet; where that is negative, the left or right one at 0.

    Of what lies beyond both lines and is not negative, it is worth the most.
    """
    (a, b, c), (d, e, f) = left, right
    determinant = a * e - b * d
    x, y = (c * e - b * f) / determinant, (a * f - c * d) / determinant
    if y < 0:
        return c / a, Fraction(0)
    return (Fraction(0), f / e) if x < 0 else (x, y)
