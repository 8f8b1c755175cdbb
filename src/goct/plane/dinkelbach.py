r"""Quotients of linear functions: Dinkelbach's method, in integers.

A tree t is better than the value v exactly if :math:`N(t) - v D(t) > 0`, which
is linear in its false negatives and false positives. The oracle finds the tree
for which it is largest, or proves that there is none. Every step improves the
value, and there are finitely many; two or three are typical.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import FractionalMetric, LevelLine
from goct.metrics.arrays import linear
from goct.plane.oracle import Incumbent, InsideOracle, Oracle
from goct.plane.points import Plane, Target, round_share
from goct.plane.staircase import Staircase
from goct.task import SizeLimit

_RESOLUTION = 32
"""Directions that need not be exact are multiples of a part in so many: small numbers are fast."""

Lift: TypeAlias = Callable[[Exact], Exact]
"""Turns a bound on the value of trees of some size into one on the objective."""


@dataclass(frozen=True)
class Maximum:
    """The largest value of the trees of some size.

    Attributes
    ----------
    reached
        The largest value that was found; None if none is of interest.
    bound
        Proven: no tree has a larger value. It is `reached`, or what was known
        before, unless the oracle has tolerances; None if there is no tree.
    """

    reached: Exact | None
    bound: Exact | None


class Dinkelbach:
    """Finds the tree of largest value for a quotient of linear functions.

    Parameters
    ----------
    oracle, incumbent
        Whom to ask, and what is known so far.
    plane, staircase
        The points of trees, and what turns proven half-planes into bounds.
    metric
        The metric.
    floor
        If it is known that no tree has fewer false positives, by step.
    """

    def __init__(
        self,
        oracle: Oracle,
        incumbent: Incumbent,
        plane: Plane,
        staircase: Staircase,
        metric: FractionalMetric,
        floor: NDArray[np.int64] | None = None,
    ) -> None:
        self.oracle = oracle
        self.incumbent = incumbent
        self.plane = plane
        self.staircase = staircase
        self.metric = metric
        self._floor = staircase.lowest if floor is None else floor

    def settles(self, value: Exact) -> bool:
        """Say whether all points of larger values are below the line of a value.

        Those where the denominator is 0 are worth 0, and on the line of every value.
        """
        return value >= 0 or self._line(value).pole is None

    def maximise(self, target: Target, size: SizeLimit, lift: Lift) -> Maximum:
        """Find the tree of largest value, if that is larger than `target.above`.

        Parameters
        ----------
        target
            Only larger values are of interest; they must be below its line, see :meth:`settles`.
        size
            How large the tree may be.
        lift
            Turns a bound on the value of such trees into one on the objective.

        Returns
        -------
        Maximum
            The largest value, and what is proven.
        """
        plane, staircase = self.plane, self.staircase
        if target.above is None:
            raise ValueError("Dinkelbach's method starts from a value")
        value = bound = target.above
        found, floor, may_turn = None, self._floor, True
        while found is None or found != target.top:
            line = self._line(value)
            alpha, beta, cutoff = line.a, line.b, line.cutoff
            if cutoff <= 0 and alpha >= 0 and beta >= 0:
                break
            if may_turn:
                ceiling = staircase.wanted(Target(value))
                better = floor <= ceiling
                if not better.any():
                    break
                alpha, beta, cutoff = self._turned(line, staircase.high[better], ceiling[better])
            answer = self.oracle.cheapest(
                alpha,
                beta,
                size,
                cutoff=cutoff,
                to_bound=lambda least, a=alpha, b=beta, f=floor: lift(  # type: ignore[misc]
                    self._bound(staircase.raised(f, a, b, least))
                ),
                any_tree=True,
            )
            floor = staircase.raised(floor, alpha, beta, answer.bound)
            if answer.tree is None:
                if answer.bound < cutoff:  # by a tolerance of the oracle
                    bound = max(bound, self._bound(floor))
                break
            reached = plane.value(*plane.of(answer.tree))
            if reached > value:
                value = bound = found = reached
            else:
                may_turn = False
        if size == self.incumbent.task.size:
            self._floor = floor
        return Maximum(found, bound)

    def _turned(
        self, line: LevelLine, x: NDArray[np.int64], y: NDArray[np.int64]
    ) -> tuple[int, int, int]:
        """Return a line that has the points of larger values, up to (x, y), below it.

        Where few errors of one kind are left, and so few points, it may have a direction in which
        both classes weigh the same: less is avoidable there, so that it is sooner proven that there
        is no tree. The best tree is never below it, but others of smaller value may be.
        """
        plane, tree = self.plane, self.incumbent.tree
        share = plane.n_neg / max(plane.n_pos + plane.n_neg, 1)
        a = round_share(share, _RESOLUTION)
        b = _RESOLUTION - a
        a, b = a // gcd(a, b), b // gcd(a, b)
        cutoff = int(linear(0, (a, b), (x, y)).max()) + 1
        if tree is not None:
            fn, fp = plane.of(tree)
            if a * fn + b * fp >= cutoff:
                return a, b, cutoff
            if min(line.a, line.b) > 0:
                simpler = _simpler_line(line, (x, y), (fn, fp), plane.small_resolution)
                if simpler is not None:
                    return simpler
        return line.a, line.b, line.cutoff

    def find_tie(self, oracle: InsideOracle, value: Exact, size: SizeLimit) -> bool | None:
        """Find a tree of a given size and the largest value, if there is one.

        All such trees have the same, least cost in the direction of the value,
        so that their splits decide. None if this cannot be told, because trees
        whose quotient is 0 / 0 have it, too.
        """
        line = self._line(value)
        tree = oracle.fewest_splits(line.a, line.b, size, cost=line.most)
        if tree is None:
            return False
        return True if self.plane.value(*self.plane.of(tree)) == value else None

    def _line(self, value: Exact) -> LevelLine:
        plane = self.plane
        unit = plane.problem.weight_unit
        return self.metric.level_line(value.as_fraction(), plane.n_pos, plane.n_neg, unit)

    def _bound(self, floor: NDArray[np.int64]) -> Exact:
        possible = floor <= self.plane.n_neg
        largest = self.staircase.largest_value(np.where(possible, floor, 0), possible)
        return self.incumbent.bound if largest is None else largest


def _simpler_line(
    line: LevelLine,
    below: tuple[NDArray[np.int64], NDArray[np.int64]],
    above: tuple[int, int],
    most: int,
) -> tuple[int, int, int] | None:
    """Return a line of much the same direction (a, b), with a + b at most so large, and its cutoff.

    It has some points below it and one that is not; None if there is none, or if the line is simple
    enough.
    """
    if most * int(below[0].max() + below[1].max()) >= 2**62:
        return None
    share = line.a / (line.a + line.b)
    totals = np.arange(2, most + 1 if line.a + line.b > most else 2)
    a = np.clip(np.rint(share * totals).astype(np.int64), 1, totals - 1)
    directions = np.stack([a, totals - a], axis=1)
    costs = directions @ np.stack(below)
    cutoffs = costs.max(axis=1) + 1
    good = np.flatnonzero(directions @ np.array(above) >= cutoffs)
    if not len(good):
        return None
    best = good[np.abs(a[good] / totals[good] - share).argmin()]
    return int(directions[best, 0]), int(directions[best, 1]), int(cutoffs[best])
