"""Metrics of (FN, FP) and constraints: outer approximation, and the inside of the hull.

What a staircase of interesting points (:mod:`goct.search.staircase`) and the
proven half-planes leave between them are the candidates. *Phase 1* asks linear
questions where there are candidates: each finds a vertex of the convex hull of
all trees, proves an edge of it, or leaves no candidates there. A quasi-convex
metric takes its maximum over all trees at such a vertex, so this settles it. Any
other monotone metric, and any metric under constraints, may take it at a tree
inside the hull. *Phase 2* searches the triangle above each edge that still has
candidates for all trees that are of interest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import Shape
from goct.search.hull import Edge, Point, lower_hull, normal
from goct.search.plane import Goal, Lift, Plane, in_parts
from goct.search.run import TooFineError
from goct.search.staircase import Steps
from goct.task import SizeLimit

_RESOLUTION = 1000
_WIDEST = 4
"""A tangent is of use if no candidate costs more than so many times as much as the tree there."""


class MonotoneMaximiser:
    """Finds the tree of largest value that meets the constraints.

    Parameters
    ----------
    plane
        Answers linear questions, and keeps the best tree.
    steps
        The metric and the constraints, as staircases.

    Attributes
    ----------
    floor
        No tree has fewer false positives, by step; this is proven.
    """

    def __init__(self, plane: Plane, steps: Steps) -> None:
        self.plane = plane
        self.steps = steps
        self.floor = np.zeros(len(steps.low), dtype=np.int64)
        self._hull: list[Point] = []
        self._cheapest_in: dict[Point, tuple[int, int]] = {}
        self._hull_suffices = not steps.constraints and steps.metric.shape is not Shape.MONOTONE

    def maximise(
        self, goal: Goal, size: SizeLimit, lift: Lift, floor: NDArray[np.int64] | None = None
    ) -> Exact | None:
        """Find the tree of largest value, if that is of interest.

        Parameters
        ----------
        goal
            Which values are of interest.
        size
            How large the tree may be.
        lift
            Turns a bound on the value of such trees into one on the objective.
        floor
            If more is known than by :attr:`floor`: no tree of this size has fewer
            false positives, by step.

        Returns
        -------
        Exact or None
            The largest value; None if it is proven that none is of interest.
        """
        known = self.floor if floor is None else floor
        search = _Search(self.plane, self.steps, known, goal, size, lift)
        best = self.plane.run.best
        if self._hull:
            search.try_edges(self._hull)
        elif best is not None and best.splits:
            search.try_tangent(*self.plane.of(best))
        search.follow_hull()
        if not self._hull_suffices:
            search.look_inside()
        if size == self.plane.run.size:
            self.floor = search.floor
            self._hull = search.hull
            self._cheapest_in = search.cheapest_in
        return search.reached

    def attain(self, value: Exact, size: SizeLimit, floor: NDArray[np.int64] | None = None) -> bool:
        """Find a tree of a given size and value, which is the largest, if there is one.

        The floor is as in :meth:`maximise`.
        """
        goal, run = Goal(value, attain=True), self.plane.run
        point = self._only_candidate(goal)
        if point in self._cheapest_in:
            a, b = self._cheapest_in[point]
            with suppress(TooFineError):
                tree = run.ask_fewest(
                    self.plane.costs(a, b), size, cost=a * point[0] + b * point[1]
                )
                if tree is None:
                    return False
                if self.plane.of(run.offer(tree)) == point:
                    return True
        return self.maximise(goal, size, lambda _: run.bound, floor) is not None

    def _only_candidate(self, goal: Goal) -> Point | None:
        """Return the point of all trees of interest, if there is just one."""
        ceiling = self.steps.wanted(goal)
        steps = np.flatnonzero(self.floor <= ceiling)
        if len(steps) != 1:
            return None
        step = int(steps[0])
        x, y = int(self.steps.low[step]), int(ceiling[step])
        return (x, y) if x == self.steps.high[step] and y == self.floor[step] else None


@dataclass
class _Triangle:
    """What is left above an edge: costs up to a budget, and a box."""

    budget: int
    box: Point


class _Search:
    """One search, for trees of one size.

    Attributes
    ----------
    floor
        No tree has fewer false positives, by step; this is proven.
    ceiling
        Points with more false positives are not of interest, by step.
    reached
        The largest value that was found.
    cheapest_in
        Points that cost least in some direction (a, b).
    """

    def __init__(
        self,
        plane: Plane,
        steps: Steps,
        floor: NDArray[np.int64],
        goal: Goal,
        size: SizeLimit,
        lift: Lift,
    ) -> None:
        self.plane, self.steps, self.size, self.lift = plane, steps, size, lift
        self.floor = floor
        self.goal = goal
        self.ceiling = steps.wanted(goal)
        self.reached: Exact | None = None
        self.cheapest_in: dict[Point, tuple[int, int]] = {}
        # The trees that predict one class only are the ends of the hull.
        self.hull = lower_hull([(0, plane.n_neg), (plane.n_pos, 0)])
        self.closed: set[Edge] = set()
        self.done: set[Edge] = set()

    def try_edges(self, hull: list[Point]) -> None:
        """Ask above the edges of the hull of larger trees: mostly nothing is there."""
        for edge in pairwise(hull):
            budget = self._triangle(edge).budget
            if budget >= 0:
                self._learn(self._ask(*normal(*edge), budget + 1))

    def try_tangent(self, x: int, y: int) -> None:
        """Ask in the direction in which the metric rises at the point of a tree.

        Not if trees may be better in quite other directions: then this tells little.
        """
        rise = self.plane.slopes(x, y)
        among = self.floor <= self.ceiling
        if sum(rise) == 0 or not among.any():
            return
        a = in_parts(rise[0] / sum(rise), _RESOLUTION)
        b = _RESOLUTION - a
        most = int((a * self.steps.high + b * self.ceiling)[among].max())
        if most < _WIDEST * (a * x + b * y + 1):
            with suppress(TooFineError):
                self._learn(self._ask(a, b, most + 1))

    def follow_hull(self) -> None:
        """Ask linear questions until no edge with candidates above it can be improved."""
        while (edge := self._most_promising(self.closed)) is not None:
            if not self._learn(self._ask_above(edge)):
                self.closed.add(edge)

    def _ask_above(self, edge: Edge) -> Point | None:
        """Ask for trees below a line that has all candidates above an edge below it."""
        steps = self._range(edge)
        among = self.floor[steps] <= self.ceiling[steps]
        x, y = self.steps.high[steps][among], self.ceiling[steps][among]
        for a, b in self._directions(edge, x, y):
            cutoff = int((a * x + b * y).max()) + 1
            # If no known tree is below the line, then any answer is news.
            if all(a * p + b * q >= cutoff for p, q in self.hull):
                with suppress(TooFineError):
                    return self._ask(a, b, cutoff)
        a, b = normal(*edge)
        # The weakest cutoff that settles what is above the edge.
        cutoff = min(a * edge[0][0] + b * edge[0][1], self._triangle(edge).budget + 1)
        return self._ask(a, b, cutoff)

    def _directions(
        self, edge: Edge, x: NDArray[np.int64], y: NDArray[np.int64]
    ) -> Iterator[tuple[int, int]]:
        """Yield directions in which the candidates at given points may cost less than all trees."""
        # The chord of the staircase is best where that is convex.
        if x[0] < x[-1] and y[0] > y[-1]:
            yield normal((int(x[0]), int(y[0])), (int(x[-1]), int(y[-1])))
        # The line through the better end that is just above the staircase: a tangent if concave.
        left, right = edge
        if self.plane.value(*right) >= self.plane.value(*left):
            before = x < right[0]
            run, rise = right[0] - x[before], y[before] - right[1]
            pick, half = np.argmax, 1
        else:
            behind = x > left[0]
            run, rise = x[behind] - left[0], left[1] - y[behind]
            pick, half = np.argmin, -1
        if len(run):
            i = pick(rise / run)
            a, b = 2 * int(rise[i]) + half, 2 * int(run[i])
            if a > 0:
                yield normal((0, a), (b, 0))

    def _learn(self, point: Point | None) -> bool:
        """Consider the point of a tree that costs least in some direction; say if there is one."""
        if point is None:
            return False
        self._take(*point)
        self.hull = lower_hull([*self.hull, point])
        return True

    def look_inside(self) -> None:
        """Search above the edges of the hull that have candidates."""
        run = self.plane.run
        while (edge := self._most_promising(self.done)) is not None:
            triangle = self._triangle(edge)

            def visit(x: int, y: int, edge: Edge = edge) -> tuple[int, int, int] | None:
                if not self._take(x, y):
                    return None
                left = self._triangle(edge)
                return left.budget, *left.box

            try:
                run.ask_front(
                    self.plane.positives,
                    self.plane.negatives,
                    self.size,
                    direction=normal(*edge),
                    budget=triangle.budget,
                    box=triangle.box,
                    visit=visit,
                )
                self.done.add(edge)
            finally:
                run.tighten(self._bound(self.floor))

    def _ask(self, a: int, b: int, cutoff: int) -> Point | None:
        """Find the tree of least ``a * FN + b * FP`` below a cutoff; learn from the answer."""
        plane, run, steps = self.plane, self.plane.run, self.steps
        result = run.ask(
            plane.costs(a, b),
            self.size,
            cutoff=cutoff,
            to_bound=lambda least: self._bound(steps.raised(self.floor, a, b, least)),
        )
        if result.tree is None:
            self.floor = steps.raised(self.floor, a, b, cutoff)
            return None
        x, y = plane.of(run.offer(result.tree))
        self.floor = steps.raised(self.floor, a, b, a * x + b * y)
        self.cheapest_in[x, y] = a, b
        return x, y

    def _take(self, x: int, y: int) -> bool:
        """Consider the point of a tree; say whether it is of interest."""
        if not self.steps.meets(x, y):
            return False
        value = self.plane.value(x, y)
        if not self.goal.admits(value):
            return False
        self.reached = value
        self.goal = Goal(value)
        self.ceiling = self.steps.wanted(self.goal)
        return True

    def _at_the_top(self) -> bool:
        return self.reached is not None and self.reached == self.plane.top

    def _range(self, edge: Edge) -> slice:
        """Return the steps that have false negatives between those of the ends of an edge."""
        first = int(np.searchsorted(self.steps.high, edge[0][0]))
        last = int(np.searchsorted(self.steps.low, edge[1][0], side="right"))
        return slice(first, last)

    def _most_promising(self, without: set[Edge]) -> Edge | None:
        """Return the edge with the largest value that is possible above it."""
        candidates = self.floor <= self.ceiling
        if self._at_the_top() or not candidates.any():
            return None
        floor = np.minimum(self.floor, self.plane.n_neg)
        values = np.where(candidates, self.steps.values(floor), -np.inf)
        best, edge_of_best = -np.inf, None
        for edge in pairwise(self.hull):
            if edge not in without and (value := values[self._range(edge)].max()) > best:
                best, edge_of_best = value, edge
        return edge_of_best

    def _triangle(self, edge: Edge) -> _Triangle:
        """Return bounds on where the candidates above an edge are."""
        steps = self._range(edge)
        ceiling = self.ceiling[steps]
        candidates = self.floor[steps] <= ceiling
        if self._at_the_top() or not candidates.any():
            return _Triangle(-1, (-1, -1))
        a, b = normal(*edge)
        x = np.minimum(self.steps.high[steps][candidates], edge[1][0])
        y = ceiling[candidates]
        return _Triangle(int((a * x + b * y).max()), (int(x.max()), int(y.max())))

    def _bound(self, floor: NDArray[np.int64]) -> Exact:
        """Return a bound on the objective, given the least false positives by step."""
        among = np.zeros(len(floor), dtype=bool)
        for edge in pairwise(self.hull):
            if edge not in self.done:
                among[self._range(edge)] = True
        among &= floor <= self.ceiling
        largest = self.steps.largest_value(np.minimum(floor, self.plane.n_neg), among)
        options = [value for value in (largest, self.goal.above) if value is not None]
        return self.lift(max(options)) if options else self.plane.run.bound
