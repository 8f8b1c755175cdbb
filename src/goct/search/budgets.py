"""Split penalties: all numbers of splits at once.

A tree with m splits wins if its value is larger than ``objective + penalty * m``
of the best tree so far. So each m has its own staircase of interesting points.
Trees are points (FN, FP, m) in space, and the tree of least
``a * FN + b * FP + c * m`` is one question to the oracle, whose answer bounds
them all. Such planes come first, then one question about all numbers of splits
that are left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import Shape
from goct.metrics.arrays import linear
from goct.plane.oracle import Incumbent, InsideOracle, Scored, TooFineError
from goct.plane.points import RESOLUTION, Plane, Target
from goct.plane.staircase import Staircase
from goct.search.questions import LARGEST_COST
from goct.tree import Tree

Direction: TypeAlias = tuple[int, int, int]
"""What a false negative, a false positive and a split cost."""

_MOST_CUTS = 50
_FIRST_CUTS = 9
"""Where level lines are curved, no few planes separate before so many cuts."""
_MOST_ALONE = 31
"""Up to so many splits, each number has bounds of its own."""
_SHARE = 8
"""Beyond, a number m shares its group with about m divided by this."""
_FEW_SPLITS = 5
"""Up to so many, the question about all numbers of splits is the quicker one."""
_FINE_ENOUGH = 64
"""Coarser directions than these take longer than their smaller numbers save."""
_TILT, _TILTS = 0.1, 41
_STRETCHES = (
    np.linspace(0.94, 1, 7),
    np.linspace(0.85, 0.94, 7),
    np.linspace(0.7, 0.85, 7),
    np.linspace(1, 1.4, 17),
    np.append(np.linspace(0, 0.7, 15), np.linspace(1.4, 5, 25)),
)
"""Directions that are tried around a tangent.

A question takes many times as long if splits are a tenth cheaper. Those of the tangent itself and
more leave no room for trees with several splits.
"""


class BudgetSweep:
    """Finds better trees with fewer splits, and where none can be.

    Parameters
    ----------
    oracle, incumbent
        Whom to ask, and what is known so far: there is a best tree.
    plane, staircase
        The points of trees, the metric and the constraints.
    floor
        No tree has fewer false positives, by step.

    Attributes
    ----------
    groups
        Numbers of splits from 0 on, those that can win: the first and the last one
        of each group. Larger numbers share a group.
    floors
        No tree with at most as many splits as the last number of a group has
        fewer false positives, by step.
    """

    def __init__(
        self,
        oracle: InsideOracle,
        incumbent: Incumbent,
        plane: Plane,
        staircase: Staircase,
        floor: NDArray[np.int64],
    ) -> None:
        self.oracle = oracle
        self.incumbent = incumbent
        self.task = incumbent.task
        self.plane = plane
        self.staircase = staircase
        self.groups = _groups(self._most_splits())
        self.floors = [floor] * len(self.groups)
        # The costs of splits may be as large as all others together, and 64 of them must fit.
        room = LARGEST_COST // (400 * max(plane.n_pos + plane.n_neg, 1))
        self._resolution = min(max(room, 2), RESOLUTION)
        if (small := plane.small_resolution) >= _FINE_ENOUGH:
            self._resolution = min(self._resolution, small)
        self._met = {(0, plane.n_neg, 0), (plane.n_pos, 0, 0)}  # trees without a split
        self._ceilings: dict[int, NDArray[np.int64]] = {}
        self._ceilings_for: tuple[Exact, int] | None = None

    def _most_splits(self) -> int:
        """Return a number of splits that no tree that wins has more of."""
        task = self.task
        to_gain = float(self.plane.value(0, 0) - self.incumbent.known.objective)
        affordable = int(min(to_gain / float(task.split_penalty), 1e9)) + 1
        # Every leaf has rows: a split that leaves a side empty is useless.
        return min(task.size.most_splits, task.problem.n_rows - 1, affordable)

    def go(self) -> None:
        """Ask until that finds no better tree."""
        # The numbers of the questions after these may be smaller.
        with suppress(TooFineError):
            self._cut(self._guess)
            if self.task.metric.shape is not Shape.FRACTIONAL:
                self._cut(self._ask, _FIRST_CUTS)
            self._separate()
            self._cut(self._ask)
            self._separate()
        self.incumbent.tighten(self.bound())  # before, a question that is stopped does so
        with suppress(TooFineError):
            self._sweep()

    def target(self, splits: int) -> Target:
        """Return what a tree with so many splits must reach to win; ties go to fewer splits."""
        best = self.incumbent.known
        above = best.objective + self.task.split_penalty * splits
        return Target(above, attain=best.tree.splits > splits)

    def candidates(self) -> Iterator[int]:
        """Yield the numbers of splits with which a tree may still win, from 1 on."""
        for group, (first, last) in enumerate(self.groups):
            for splits in range(max(first, 1), last + 1):
                if not self._among(group, first).any():
                    break
                if self._among(group, splits).any():
                    yield splits

    def floor(self, splits: int) -> NDArray[np.int64]:
        """Return the least number of false positives of trees with so many splits, by step."""
        return self.floors[self._group(splits)]

    def bound(self, beyond: int = 0) -> Exact:
        """Return a bound on the objective of trees with more than so many splits."""
        return self._bound(self.floors, beyond)

    def _cut(self, ask: Callable[[Direction, Sequence[int]], bool], most: int = _MOST_CUTS) -> None:
        """Cut off the most promising point, as long as that finds new trees."""
        for _ in range(most):
            point = self._most_promising()
            if point is None:
                return
            group, step = point
            x, y = int(self.staircase.low[step]), int(self.floors[group][step])
            if not ask(self._tangent(x, y), self._left()):
                return

    def _separate(self) -> None:
        """Ask for trees below planes that all known trees are above."""
        for _ in range(_MOST_CUTS):
            left = self._left()
            if not left or self.groups[left[-1]][1] <= _FEW_SPLITS:
                return
            if (plane := self._between(left)) is None:
                return
            self._ask(*plane, any_tree=True)

    def _sweep(self) -> None:
        """Ask for the cheapest tree of each number of splits."""
        best: Scored | None = None
        while best is not self.incumbent.best and (left := list(self.candidates())):
            best = self.incumbent.known
            a, b, _ = self._tangent(*self.plane.of(best.tree))
            last_group = self._group(left[-1])
            most = self.groups[last_group][1]
            cutoffs = [-1] * (most + 1)
            for splits in left:
                cutoffs[splits] = self._cutoff(self._group(splits), splits, (a, b, 0))
            size = replace(self.task.size, max_splits=most)
            results = self.oracle.cheapest_by_splits(a, b, size, cutoffs=cutoffs)
            for group in reversed(range(last_group + 1)):
                least = results[self.groups[group][1]].bound
                floor = self.staircase.raised(self.floors[group], a, b, least)
                if group + 1 < len(self.groups):
                    floor = np.maximum(floor, self.floors[group + 1])
                self.floors[group] = floor

    def _guess(self, direction: Direction, wanted: Sequence[int]) -> bool:
        """Look for a cheap tree in a direction, without a proof; say whether it is a new one."""
        a, b, c = direction
        cutoff = self._largest_cutoff(direction, wanted)
        return self._meet(self.oracle.guess(a, b, self.task.size, cutoff=cutoff, split_cost=c))

    def _ask(self, direction: Direction, wanted: Sequence[int], *, any_tree: bool = False) -> bool:
        """Find the cheapest tree in a direction, or any; say whether it is a new one."""
        a, b, c = direction
        answer = self.oracle.cheapest(
            a,
            b,
            self.task.size,
            split_cost=c,
            cutoff=self._largest_cutoff(direction, wanted),
            any_tree=any_tree,
            to_bound=lambda least: self._bound(self._raised(direction, least)),
        )
        self.floors = self._raised(direction, answer.bound)
        return self._meet(answer.tree)

    def _meet(self, tree: Tree | None) -> bool:
        """Remember the point of a tree; say whether it is a new one."""
        before = len(self._met)
        if tree is not None:
            self._met.add((*self.plane.of(tree), tree.splits))
        return len(self._met) > before

    def _largest_cutoff(self, direction: Direction, wanted: Sequence[int]) -> int:
        """Return the largest cost, over the wanted groups, that can still improve the incumbent."""
        return max(self._cutoff(k, self.groups[k][0], direction) for k in wanted)

    def _group(self, splits: int) -> int:
        """Return the group that a number of splits is in."""
        return bisect_left([last for _, last in self.groups], splits)

    def _left(self) -> list[int]:
        """Return the groups with candidates; group 0 are the trees without a split."""
        return [k for k in range(1, len(self.groups)) if self._first_among(k).any()]

    def _ceiling(self, splits: int) -> NDArray[np.int64]:
        """Return the largest number of false positives of trees that win, by step; or -1."""
        best = self.incumbent.known
        if self._ceilings_for != (now := (best.objective, best.tree.splits)):
            self._ceilings, self._ceilings_for = {}, now
        if splits not in self._ceilings:
            self._ceilings[splits] = self.staircase.wanted(self.target(splits))
        return self._ceilings[splits]

    def _among(self, group: int, splits: int) -> NDArray[np.bool_]:
        """Say for each step whether there are candidates with so many splits."""
        return self.floors[group] <= self._ceiling(splits)

    def _first_among(self, group: int) -> NDArray[np.bool_]:
        """Say the same for the first number of a group, which stands for all of them."""
        return self._among(group, self.groups[group][0])

    def _most_promising(self) -> tuple[int, int] | None:
        """Return the group and the step of the largest objective that is possible."""
        penalty = float(self.task.split_penalty)
        best, where = -np.inf, None
        for group in self._left():
            floor = np.minimum(self.floors[group], self.plane.n_neg)
            values = np.where(self._first_among(group), self.staircase.values(floor), -np.inf)
            step = int(values.argmax())
            objective = values[step] - penalty * self.groups[group][0]
            if objective > best:
                best, where = objective, (group, step)
        return where

    def _raised(self, direction: Direction, least: int) -> list[NDArray[np.int64]]:
        """Return the floors, now that no tree costs less."""
        a, b, c = direction
        return [
            self.staircase.raised(floor, a, b, least - c * last)
            for (_, last), floor in zip(self.groups, self.floors, strict=True)
        ]

    def _bound(self, floors: list[NDArray[np.int64]], beyond: int = 0) -> Exact:
        bound = self.incumbent.known.objective
        for (first, last), floor in zip(self.groups, floors, strict=True):
            if last > beyond:
                splits = max(first, beyond + 1)
                among = floor <= self._ceiling(splits)
                largest = self.staircase.largest_value(np.minimum(floor, self.plane.n_neg), among)
                if largest is not None:
                    bound = max(bound, self.task.penalised(largest, splits))
        return bound

    def _cutoff(self, group: int, splits: int, direction: Direction) -> int:
        """Return the least cost that trees of a group that can win stay below.

        Those with at least so many splits are meant.
        """
        a, b, c = direction
        among = self._among(group, splits)
        x, y = self.staircase.high[among], self._ceiling(splits)[among]
        return int(linear(c * self.groups[group][1], (a, b), (x, y)).max()) + 1

    def _between(self, left: Sequence[int]) -> tuple[Direction, list[int]] | None:
        """Return a direction in which trees that can win are cheaper than all known trees.

        That with the largest margins, and the groups that it is good for.
        """
        # In floats, which are fast and do not wrap around; the question itself is exact.
        known = np.array(sorted(self._met), dtype=np.float64)
        lasts = np.array([self.groups[k][1] for k in left])
        tangents = [self._tangent_of_ceiling(k) for k in (left[0], left[len(left) // 2], left[-1])]
        least, most = (end([a for a, _, _ in tangents]) for end in (min, max))
        near = np.linspace(
            least - _TILT * self._resolution, most + _TILT * self._resolution, _TILTS
        )
        a = np.unique(np.clip(np.rint(near), 1, self._resolution - 1)).astype(np.int64)[:, None]
        b = self._resolution - a
        corners = [(self._first_among(k), self._ceiling(self.groups[k][0])) for k in left]
        weights = np.hstack([a, b]).astype(np.float64)
        cutoffs = np.stack(
            [(weights @ np.stack([self.staircase.high[m], y[m]])).max(axis=1) for m, y in corners],
            axis=1,
        )
        costs = a * known[:, 0] + b * known[:, 1]
        typical = max(c for _, _, c in tangents)
        for stretches in _STRETCHES:
            c = np.unique(np.rint(np.outer([c for _, _, c in tangents], stretches)))[:, None]
            # By share, price and group.
            cheapest = (costs[:, None] + c * known[:, 2]).min(axis=2)
            margins = cheapest[:, :, None] - cutoffs[:, None] - c * lasts
            good = margins >= 1
            many, margin = good.sum(axis=2), np.clip(margins, 0, max(typical, 1)).sum(axis=2)
            i, j = np.unravel_index(np.lexsort((margin.ravel(), many.ravel()))[-1], many.shape)
            if many[i, j]:
                direction = int(a[i, 0]), int(b[i, 0]), int(c[j, 0])
                return direction, [left[int(k)] for k in np.flatnonzero(good[i, j])]
        return None

    def _tangent_of_ceiling(self, group: int) -> Direction:
        steps = np.flatnonzero(self._first_among(group))
        step = steps[len(steps) // 2]
        ceiling = self._ceiling(self.groups[group][0])
        return self._tangent(int(self.staircase.low[step]), int(ceiling[step]))

    def _tangent(self, x: int, y: int) -> Direction:
        return self.plane.tangent(x, y, self.task.split_penalty, self._resolution)


def _groups(most: int) -> list[tuple[int, int]]:
    """Return the first and the last number of each group, from 0 up to a number of splits."""
    groups = [(m, m) for m in range(min(most, _MOST_ALONE) + 1)]
    while (last := groups[-1][1]) < most:
        groups.append((last + 1, min(last + 1 + last // _SHARE, most)))
    return groups
