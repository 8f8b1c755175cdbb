"""Metrics of (FN, FP) and constraints: outer approximation, and the inside of the hull.

What a staircase of interesting points (:mod:`goct.plane.staircase`) and the
proven half-planes leave between them are the candidates. *Phase 1* asks linear
questions where there are candidates: each finds a vertex of the convex hull of
all trees, proves an edge of it, or leaves no candidates there. A quasi-convex
metric takes its maximum over all trees at such a vertex, so this settles it. Any
other monotone metric, and any metric under constraints, may take it at a tree
inside the hull. *Phase 2* searches the triangle above each edge that still has
candidates for all trees that are of interest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics.arrays import linear
from goct.plane.dinkelbach import Lift, Maximum
from goct.plane.hull import Edge, HullWalk, Point, lower_hull, normal
from goct.plane.oracle import Incumbent, InsideOracle, Oracle, TooFineError
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.task import SizeLimit


class OuterApproximation:
    """Finds the tree of largest value that meets the constraints.

    Parameters
    ----------
    oracle, incumbent
        Whom to ask, and what is known so far.
    plane, staircase
        The points of trees, the metric and the constraints.
    inside
        Whom to ask about the inside of the hull; None if its vertices suffice.
    ends
        The points of the trees without a split, if they are feasible: the ends
        of the hull. Other known points may be among them. If None, the oracle is
        asked for these.
    floor
        If it is known that no tree has fewer false positives, by step.

    Attributes
    ----------
    floor
        No tree has fewer false positives, by step; this is proven.
    """

    def __init__(
        self,
        oracle: Oracle,
        incumbent: Incumbent,
        plane: Plane,
        staircase: Staircase,
        *,
        inside: InsideOracle | None,
        ends: Sequence[Point] | None,
        floor: NDArray[np.int64] | None = None,
    ) -> None:
        self.oracle = oracle
        self.incumbent = incumbent
        self.plane = plane
        self.staircase = staircase
        self.inside = inside
        self.ends = ends
        self.floor = staircase.lowest if floor is None else floor
        self._hull: list[Point] = []
        # No errors are cheapest in every direction.
        self._cheapest_in: dict[Point, tuple[int, int]] = {(0, 0): (1, 1)}

    def maximise(
        self, target: Target, size: SizeLimit, lift: Lift, floor: NDArray[np.int64] | None = None
    ) -> Maximum:
        """Find the tree of largest value, if that is of interest.

        Parameters
        ----------
        target
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
        Maximum
            The largest value, and what is proven.
        """
        walk = _Walk(self, target, size, lift, self.floor if floor is None else floor)
        best = self.incumbent.tree
        if self.ends is None and not walk.find_ends():
            return Maximum(None, target.above)
        if self._hull:
            walk.try_edges(self._hull)
        elif best is not None and best.splits:
            walk.begin_with(self.plane.of(best))
        walk.follow_hull()
        if self.inside is not None:
            walk.look_inside(self.inside)
        if size == self.incumbent.task.size:
            self.floor = walk.floor
            self._hull = walk.hull
            self._cheapest_in |= walk.cheapest_in
        return walk.maximum()

    def find_tie(
        self,
        oracle: InsideOracle,
        value: Exact,
        size: SizeLimit,
        floor: NDArray[np.int64] | None = None,
    ) -> bool:
        """Find a tree of a given size and value, which is the largest, if there is one.

        The floor is as in :meth:`maximise`.
        """
        target = Target(value, attain=True, top=value)
        point = self._only_candidate(target)
        if point in self._cheapest_in:
            a, b = self._cheapest_in[point]
            with suppress(TooFineError):
                cost = a * point[0] + b * point[1]
                tree = oracle.fewest_splits(a, b, size, cost=cost)
                if tree is None:
                    return False
                if self.plane.of(tree) == point:
                    return True
        found = self.maximise(target, size, lambda _: self.incumbent.bound, floor)
        return found.reached is not None

    def _only_candidate(self, target: Target) -> Point | None:
        """Return the point of all trees of interest, if there is just one."""
        ceiling = self.staircase.wanted(target)
        steps = np.flatnonzero(self.floor <= ceiling)
        if len(steps) != 1:
            return None
        step = int(steps[0])
        x, y = int(self.staircase.low[step]), int(ceiling[step])
        return (x, y) if x == self.staircase.high[step] and y == self.floor[step] else None


@dataclass
class _Triangle:
    """What is left above an edge: costs up to a budget, and a box."""

    budget: int
    box: Point


class _Walk(HullWalk):
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
    unsettled
        Closed edges below which there may be trees, by a tolerance of the oracle.
    searched
        Edges whose triangle inside the hull was searched.
    """

    def __init__(
        self,
        search: OuterApproximation,
        target: Target,
        size: SizeLimit,
        lift: Lift,
        floor: NDArray[np.int64],
    ) -> None:
        super().__init__(search.oracle, search.plane, size, search.ends or ())
        self.plane, self.staircase, self.lift = search.plane, search.staircase, lift
        self.incumbent = search.incumbent
        self.floor = floor
        self.target = target
        self.ceiling = self.staircase.wanted(target)
        self.reached: Exact | None = None
        self.cheapest_in: dict[Point, tuple[int, int]] = {}
        self.unsettled: set[Edge] = set()
        self.searched: set[Edge] = set()

    def find_ends(self) -> bool:
        """Find the ends of the hull, a tree with the fewest errors of each kind, if there are any.

        Ties do no harm: they are further edges.
        """
        left, _ = self._ask(1, 0, self.plane.n_pos + 1)
        right, _ = self._ask(0, 1, self.plane.n_neg + 1)
        return left is not None and right is not None

    def begin_with(self, point: Point) -> None:
        """Take note of the point of a tree that is known, and ask about all candidates at once.

        That is soon answered if the classes are of different sizes. But it is no news that the
        known tree is below a line.
        """
        if len(self.hull) < 2 or self.target.admits(self.plane.value(*point)):
            return
        whole = self.hull[0], self.hull[-1]
        a, b = normal(*whole)
        self.hull = lower_hull([*self.hull, point])
        if a * point[0] + b * point[1] > self._triangle(whole).budget:
            self.try_edges([*whole])

    def try_edges(self, hull: list[Point]) -> None:
        """Ask above the edges of a hull, as that of larger trees: mostly nothing is there."""
        for edge in pairwise(hull):
            budget = self._triangle(edge).budget
            if budget >= 0:
                with suppress(TooFineError):
                    self._ask(*normal(*edge), budget + 1)

    def follow_hull(self) -> None:
        """Ask linear questions until no edge with candidates above it can be improved."""
        while (edge := self._most_promising(self.closed)) is not None:
            point, is_proven = self._ask_above(edge)
            if point is None:
                self.closed.add(edge)
                if not is_proven:
                    self.unsettled.add(edge)

    def maximum(self) -> Maximum:
        """Return the largest value, and what is proven when all edges are closed."""
        edges = set(pairwise(self.hull))
        among = self._steps(edges & self.unsettled) | ~self._steps(edges)
        return Maximum(self.reached, self._largest_value(self.floor, among))

    def _ask_above(self, edge: Edge) -> tuple[Point | None, bool]:
        """Ask for trees below a line that has all candidates above an edge below it."""
        steps = self._range(edge)
        among = self.floor[steps] <= self.ceiling[steps]
        x, y = self.staircase.high[steps][among], self.ceiling[steps][among]
        for a, b in self._directions(edge, x, y):
            cutoff = int(linear(0, (a, b), (x, y)).max()) + 1
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

    def look_inside(self, oracle: InsideOracle) -> None:
        """Search above the edges of the hull that have candidates."""
        while (edge := self._most_promising(self.searched)) is not None:
            triangle = self._triangle(edge)

            def visit(x: int, y: int, edge: Edge = edge) -> tuple[int, int, int] | None:
                if not self._take(x, y):
                    return None
                left = self._triangle(edge)
                return left.budget, *left.box

            try:
                oracle.search_inside(
                    self.size,
                    direction=normal(*edge),
                    budget=triangle.budget,
                    box=triangle.box,
                    visit=visit,
                )
                self.searched.add(edge)
            finally:
                self.incumbent.tighten(self._bound(self.floor))

    def _ask(self, a: int, b: int, cutoff: int) -> tuple[Point | None, bool]:
        """Find the tree of least ``a * FN + b * FP`` below a cutoff; learn from the answer.

        Says also whether, without such a tree, it is proven that there is none.
        """
        raised = self.staircase.raised
        point, answer = self.ask(
            a, b, cutoff, lambda least: self._bound(raised(self.floor, a, b, least))
        )
        self.floor = raised(self.floor, a, b, answer.bound)
        if point is not None:
            self.cheapest_in[point] = a, b
            self._take(*point)
        return point, answer.bound >= cutoff

    def _take(self, x: int, y: int) -> bool:
        """Consider the point of a tree; say whether it is of interest."""
        if not self.staircase.meets(x, y):
            return False
        value = self.plane.value(x, y)
        if not self.target.admits(value):
            return False
        self.reached = value
        self.target = self.target.after(value)
        self.ceiling = self.staircase.wanted(self.target)
        return True

    def _at_the_top(self) -> bool:
        return self.reached is not None and self.reached == self.target.top

    def _range(self, edge: Edge) -> slice:
        """Return the steps that have false negatives between those of the ends of an edge."""
        first = int(np.searchsorted(self.staircase.high, edge[0][0]))
        last = int(np.searchsorted(self.staircase.low, edge[1][0], side="right"))
        return slice(first, last)

    def _most_promising(self, without: set[Edge]) -> Edge | None:
        """Return the edge with the largest value that is possible above it."""
        candidates = self.floor <= self.ceiling
        if self._at_the_top() or not candidates.any():
            return None
        floor = np.minimum(self.floor, self.plane.n_neg)
        values = np.where(candidates, self.staircase.values(floor), -np.inf)
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
        x = np.minimum(self.staircase.high[steps][candidates], edge[1][0])
        y = ceiling[candidates]
        return _Triangle(int(linear(0, (a, b), (x, y)).max()), (int(x.max()), int(y.max())))

    def _bound(self, floor: NDArray[np.int64]) -> Exact:
        """Return a bound on the objective, given the least false positives by step."""
        edges = set(pairwise(self.hull))
        among = self._steps(edges - self.searched) | ~self._steps(edges)
        value = self._largest_value(floor, among)
        return self.incumbent.bound if value is None else self.lift(value)

    def _steps(self, edges: set[Edge]) -> NDArray[np.bool_]:
        """Say of each step whether it is above one of some edges.

        Where none of the whole hull is, its ends are not known, or not exactly.
        """
        among = np.zeros(len(self.floor), dtype=bool)
        for edge in edges:
            among[self._range(edge)] = True
        return among

    def _largest_value(self, floor: NDArray[np.int64], among: NDArray[np.bool_]) -> Exact | None:
        """Return the largest value of candidates in some steps, or what is known."""
        largest = self.staircase.largest_value(
            np.minimum(floor, self.plane.n_neg), among & (floor <= self.ceiling)
        )
        options = [value for value in (largest, self.target.above) if value is not None]
        return max(options, default=None)
