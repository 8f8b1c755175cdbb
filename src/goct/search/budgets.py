"""Split penalties: all numbers of splits at once.

A tree with m splits wins if its value is larger than ``objective + penalty * m``
of the best tree so far. So each m has its own staircase of interesting points.
Trees are points (FN, FP, m) in space, and the tree of least
``a * FN + b * FP + c * m`` is one question to the oracle, whose answer bounds
them all. Such planes come first, then one question about all numbers of splits
that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.search.plane import Goal, Plane
from goct.search.run import Run, Size, TooFineError
from goct.search.staircase import Steps

Direction: TypeAlias = tuple[int, int, int]
"""What a false negative, a false positive and a split cost."""

_RESOLUTION = 1000
_MOST_CUTS = 50
_FEW_SPLITS = 5
"""Up to so many, the question about all numbers of splits is the quicker one."""
_TILTS = (-0.1, -0.05, -0.03, -0.01, 0, 0.01, 0.03, 0.05, 0.1)
_STRETCHES = ((0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4), (0, 0.25, 0.5, 0.6, 1.7, 2, 3, 5))
"""Directions that are tried around a tangent. Cheap splits come last: they make questions hard."""


class BudgetSweep:
    """Finds better trees with fewer splits, and where none can be.

    Parameters
    ----------
    run
        The question, with a best tree.
    plane, steps
        The points of trees, the metric and the constraints.
    floor
        No tree has fewer false positives, by step.

    Attributes
    ----------
    floors
        The same for trees with at most so many splits, from 0 on.
    """

    def __init__(self, run: Run, plane: Plane, steps: Steps, floor: NDArray[np.int64]) -> None:
        self.run = run
        self.plane = plane
        self.steps = steps
        self.floors = [floor] * (run.size.most_splits + 1)
        self._met = {(0, plane.n_neg, 0), (plane.n_pos, 0, 0)}  # trees without a split
        self._ceilings: dict[int, NDArray[np.int64]] = {}
        self._ceilings_for: tuple[Exact, int] | None = None

    def go(self) -> None:
        """Ask until that finds no better tree."""
        # The numbers of the questions after these may be smaller.
        with suppress(TooFineError):
            self._cut()
            self._separate()
            self._sweep()

    def goal(self, splits: int) -> Goal:
        """Return what a tree with so many splits must reach to win; ties go to fewer splits."""
        run = self.run
        assert run.best is not None
        assert run.objective is not None
        above = run.objective + run.split_penalty * splits
        return Goal(above, attain=run.best.splits > splits)

    def has_candidates(self, splits: int) -> bool:
        """Say whether a tree with at most so many splits may still win."""
        return bool(self._candidates(splits).any())

    def bound(self, beyond: int = 0) -> Exact:
        """Return a bound on the objective of trees with more than so many splits."""
        return self._bound(self.floors, beyond)

    def _cut(self) -> None:
        """Cut off the most promising point, as long as that finds new trees."""
        for _ in range(_MOST_CUTS):
            point = self._most_promising()
            if point is None:
                return
            splits, step = point
            x, y = int(self.steps.low[step]), int(self.floors[splits][step])
            direction = self._tangent(x, y)
            if not self._ask(direction, self._left()) or self.floors[splits][step] == y:
                return

    def _separate(self) -> None:
        """Ask for trees below planes that all known trees are above."""
        for _ in range(2 * len(self.floors)):
            left = self._left()
            if not left or max(left) <= _FEW_SPLITS or (plane := self._between(left)) is None:
                return
            self._ask(*plane)

    def _sweep(self) -> None:
        """Ask for the cheapest tree of each number of splits."""
        run, best = self.run, None
        while best is not run.best and (left := self._left()):
            best = run.best
            assert best is not None
            a, b, _ = self._tangent(*self.plane.of(best))
            size = Size(run.size.depth, max(left))
            cutoffs = [
                self._cutoff(m, (a, b, 0)) if m in left else -1 for m in range(max(left) + 1)
            ]
            results = run.ask_budgets(self.plane.costs(a, b), size, cutoffs)
            for splits in reversed(range(len(cutoffs))):
                floor = self.steps.raised(self.floors[splits], a, b, results[splits].bound)
                if splits + 1 < len(self.floors):
                    floor = np.maximum(floor, self.floors[splits + 1])
                self.floors[splits] = floor

    def _ask(self, direction: Direction, wanted: Sequence[int]) -> bool:
        """Find the cheapest tree in a direction; say whether it is a new one.

        Only trees matter that are as cheap as those that can win with one of
        the wanted numbers of splits.
        """
        run, (a, b, c) = self.run, direction
        cutoff = max(self._cutoff(splits, direction) for splits in wanted)
        result = run.ask(
            self.plane.costs(a, b),
            run.size,
            split_cost=c,
            cutoff=cutoff,
            to_bound=lambda least: self._bound(self._raised(direction, least)),
        )
        self.floors = self._raised(direction, result.bound)
        is_new = False
        if result.tree is not None:
            tree = run.offer(result.tree)
            point = (*self.plane.of(tree), tree.splits)
            is_new = point not in self._met
            self._met.add(point)
        run.tighten(self.bound())
        return is_new

    def _left(self) -> list[int]:
        return [m for m in range(1, len(self.floors)) if self.has_candidates(m)]

    def _ceiling(self, splits: int) -> NDArray[np.int64]:
        """Return the largest number of false positives of trees that win, by step; or -1."""
        run = self.run
        assert run.best is not None
        assert run.objective is not None
        if self._ceilings_for != (now := (run.objective, run.best.splits)):
            self._ceilings, self._ceilings_for = {}, now
        if splits not in self._ceilings:
            self._ceilings[splits] = self.steps.wanted(self.goal(splits))
        return self._ceilings[splits]

    def _candidates(self, splits: int) -> NDArray[np.bool_]:
        return self.floors[splits] <= self._ceiling(splits)

    def _most_promising(self) -> tuple[int, int] | None:
        """Return the number of splits and the step of the largest objective that is possible."""
        penalty = float(self.run.split_penalty)
        best, where = -np.inf, None
        for splits in self._left():
            floor = np.minimum(self.floors[splits], self.plane.n_neg)
            values = np.where(self._candidates(splits), self.steps.values(floor), -np.inf)
            step = int(values.argmax())
            if values[step] - penalty * splits > best:
                best, where = values[step] - penalty * splits, (splits, step)
        return where

    def _raised(self, direction: Direction, least: int) -> list[NDArray[np.int64]]:
        """Return the floors, now that no tree costs less."""
        a, b, c = direction
        return [self.steps.raised(f, a, b, least - c * m) for m, f in enumerate(self.floors)]

    def _bound(self, floors: list[NDArray[np.int64]], beyond: int = 0) -> Exact:
        assert self.run.objective is not None
        bound = self.run.objective
        for splits in range(beyond + 1, len(floors)):
            among = floors[splits] <= self._ceiling(splits)
            floor = np.minimum(floors[splits], self.plane.n_neg)
            largest = self.steps.largest_value(floor, among)
            if largest is not None:
                bound = max(bound, largest - self.run.split_penalty * splits)
        return bound

    def _cutoff(self, splits: int, direction: Direction) -> int:
        """Return the least cost that trees with so many splits that can win stay below."""
        a, b, c = direction
        candidates = self._candidates(splits)
        costs = a * self.steps.high[candidates] + b * self._ceiling(splits)[candidates]
        return int(costs.max()) + c * splits + 1

    def _between(self, left: Sequence[int]) -> tuple[Direction, list[int]] | None:
        """Return a direction in which trees that can win are cheaper than all known trees.

        That with the largest margins, and the numbers of splits that it is good for.
        """
        known = np.array(sorted(self._met), dtype=np.int64)
        corners = [
            (self.steps.high[among], self._ceiling(m)[among])
            for m, among in ((m, self._candidates(m)) for m in left)
        ]
        numbers = np.array(left)
        tangents = {self._tangent_of_ceiling(m) for m in (left[0], left[len(left) // 2], left[-1])}
        for stretches in _STRETCHES:
            best = 0
            found: tuple[Direction, list[int]] | None = None
            for (a0, _, c0), tilt in product(sorted(tangents), _TILTS):
                a = _share(a0 / _RESOLUTION + tilt)
                b = _RESOLUTION - a
                cutoffs = np.array([(a * x + b * y).max() + 1 for x, y in corners])
                for c in sorted({round(c0 * stretch) for stretch in stretches}):
                    margins = (known @ (a, b, c)).min() - cutoffs - c * numbers
                    score = int(np.clip(margins, 0, max(c0, 1)).sum())
                    if score > best:
                        best = score
                        found = (
                            (a, b, c),
                            [m for m, margin in zip(left, margins, strict=True) if margin > 0],
                        )
            if found is not None:
                return found
        return None

    def _tangent_of_ceiling(self, splits: int) -> Direction:
        steps = np.flatnonzero(self._candidates(splits))
        step = steps[len(steps) // 2]
        return self._tangent(int(self.steps.low[step]), int(self._ceiling(splits)[step]))

    def _tangent(self, x: int, y: int) -> Direction:
        """Return, roughly, the normal of the objective's level surface at a point."""
        # One more, or one less at the end, of either kind of error.
        dx, dy = (1 if x < self.plane.n_pos else -1), (1 if y < self.plane.n_neg else -1)
        here, right, up = (
            float(self.plane.value(*point)) for point in ((x, y), (x + dx, y), (x, y + dy))
        )
        a, b = max((here - right) * dx, 0.0), max((here - up) * dy, 0.0)
        if a + b == 0:
            return _RESOLUTION // 2, _RESOLUTION // 2, 0
        a_parts = _share(a / (a + b))
        b_parts = _RESOLUTION - a_parts
        # A split that costs more than there is to gain is as good as forbidden.
        most = a_parts * self.plane.n_pos + b_parts * self.plane.n_neg + 1
        c_parts = _RESOLUTION * float(self.run.split_penalty) / (a + b)
        return a_parts, b_parts, round(min(c_parts, most))


def _share(share: float) -> int:
    return min(max(round(_RESOLUTION * share), 1), _RESOLUTION - 1)
