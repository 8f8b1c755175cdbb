"""Monotone metrics and constraints: two phases.

Such a metric may take its maximum at a tree inside the convex hull of the
(FN, FP) points of all trees. What the staircase of interesting points and the
proven half-planes leave between them are the candidates. *Phase 1* asks linear
questions, as for quasi-convex metrics, where there are candidates; it ends
with the edges of the hull that have candidates above them. *Phase 2* searches
the triangle above each of these edges for all trees that are of interest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.search.plane import Goal, Lift, Plane
from goct.search.quasiconvex import lower_hull, normal
from goct.search.run import Size
from goct.search.staircase import Steps

_Edge = tuple[tuple[int, int], tuple[int, int]]


class MonotoneMaximiser:
    """Finds the tree of largest value that meets the constraints.

    Parameters
    ----------
    plane
        Answers linear questions, and keeps the best tree.
    steps
        The metric and the constraints, as staircases.
    """

    def __init__(self, plane: Plane, steps: Steps) -> None:
        self.plane = plane
        self.steps = steps
        self._floor = np.zeros(len(steps.low), dtype=np.int64)

    def maximise(self, goal: Goal, size: Size, lift: Lift) -> Exact | None:
        """Find the tree of largest value, if that is of interest.

        Parameters and results are those of
        :func:`goct.search.fractional.maximise_fractional`; `goal` need not be
        bounded below.
        """
        search = _Search(self.plane, self.steps, self._floor, goal, size, lift)
        search.follow_hull()
        search.look_inside()
        if size == self.plane.run.size:
            self._floor = search.floor
        return search.reached


@dataclass
class _Triangle:
    """What is left above an edge: costs up to a budget, and a box."""

    budget: int
    box: tuple[int, int]


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
    """

    def __init__(
        self,
        plane: Plane,
        steps: Steps,
        floor: NDArray[np.int64],
        goal: Goal,
        size: Size,
        lift: Lift,
    ) -> None:
        self.plane, self.steps, self.size, self.lift = plane, steps, size, lift
        self.floor = floor
        self.goal = goal
        self.ceiling = steps.wanted(goal)
        self.reached: Exact | None = None
        # The trees that predict one class only are the ends of the hull.
        self.hull = lower_hull([(0, plane.n_neg), (plane.n_pos, 0)])
        self.closed: set[_Edge] = set()
        self.done: set[_Edge] = set()

    def follow_hull(self) -> None:
        """Ask linear questions until no edge with candidates above it can be improved."""
        while (edge := self._most_promising(self.closed)) is not None:
            a, b = normal(*edge)
            of_edge = a * edge[0][0] + b * edge[0][1]
            triangle = self._triangle(edge, a, b)
            cutoff = min(of_edge, triangle.budget + 1)
            point = self._ask(a, b, cutoff)
            if point is None:
                self.closed.add(edge)
            else:
                self._take(*point)
                self.hull = lower_hull([*self.hull, point])

    def look_inside(self) -> None:
        """Search above the edges of the hull that have candidates."""
        while (edge := self._most_promising(self.done)) is not None:
            a, b = normal(*edge)
            triangle = self._triangle(edge, a, b)

            def visit(
                x: int, y: int, edge: _Edge = edge, a: int = a, b: int = b
            ) -> tuple[int, int, int] | None:
                if not self._take(x, y):
                    return None
                left = self._triangle(edge, a, b)
                return left.budget, *left.box

            run = self.plane.run
            try:
                run.ask_front(
                    self.plane.positives,
                    self.plane.negatives,
                    self.size,
                    direction=(a, b),
                    budget=triangle.budget,
                    box=triangle.box,
                    visit=visit,
                )
            finally:
                run.tighten(self._bound(self.floor))
            self.done.add(edge)

    def _ask(self, a: int, b: int, cutoff: int) -> tuple[int, int] | None:
        plane, run = self.plane, self.plane.run

        def raised(least: int) -> NDArray[np.int64]:
            line = -((a * self.steps.high - least) // b)
            return np.maximum(self.floor, np.clip(line, 0, plane.n_neg + 1))

        result = run.ask(
            plane.costs(a, b),
            self.size,
            cutoff=cutoff,
            to_bound=lambda least: self._bound(raised(least)),
        )
        if result.tree is None:
            self.floor = raised(cutoff)
            return None
        x, y = plane.of(run.offer(result.tree))
        self.floor = raised(a * x + b * y)
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

    def _candidates(self) -> NDArray[np.bool_]:
        return self.floor <= self.ceiling

    def _range(self, edge: _Edge) -> slice:
        """Return the steps that have false negatives between those of the ends of an edge."""
        first = int(np.searchsorted(self.steps.high, edge[0][0]))
        last = int(np.searchsorted(self.steps.low, edge[1][0], side="right"))
        return slice(first, last)

    def _most_promising(self, without: set[_Edge]) -> _Edge | None:
        """Return the edge with the largest value that is possible above it."""
        if self.reached is not None and self.reached == self.plane.top:
            return None
        candidates = self._candidates()
        if not candidates.any():
            return None
        floor = np.minimum(self.floor, self.plane.n_neg)
        values = np.where(candidates, self.steps.values(floor), -np.inf)
        best, edge_of_best = -np.inf, None
        for edge in pairwise(self.hull):
            if edge not in without and (value := values[self._range(edge)].max()) > best:
                best, edge_of_best = value, edge
        return edge_of_best

    def _triangle(self, edge: _Edge, a: int, b: int) -> _Triangle:
        """Return bounds on where the candidates above an edge are."""
        steps = self._range(edge)
        candidates = self._candidates()[steps]
        if not candidates.any() or (self.reached is not None and self.reached == self.plane.top):
            return _Triangle(-1, (-1, -1))
        high = np.minimum(self.steps.high[steps][candidates], edge[1][0])
        ceiling = self.ceiling[steps][candidates]
        budget = int((a * high + b * ceiling).max())
        return _Triangle(budget, (int(high.max()), int(ceiling.max())))

    def _bound(self, floor: NDArray[np.int64]) -> Exact:
        """Return a bound on the objective, given the least false positives by step."""
        among = np.zeros(len(floor), dtype=bool)
        for edge in pairwise(self.hull):
            if edge not in self.done:
                among[self._range(edge)] = True
        largest = self.steps.largest_value(
            np.minimum(floor, self.plane.n_neg), among & (floor <= self.ceiling)
        )
        options = [value for value in (largest, self.goal.above) if value is not None]
        return self.lift(max(options)) if options else self.plane.run.bound
