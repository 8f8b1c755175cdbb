"""Split penalties: all numbers of splits at once.

A tree with m splits wins if its value is larger than ``objective + penalty * m``
of the best tree so far. So each m has its own staircase of interesting points,
and one question to the oracle, in the direction of the best tree's level line,
rules out nearly all m together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goct.search.plane import Goal, Plane
from goct.search.run import Run
from goct.search.staircase import Steps

_RESOLUTION = 1000


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

    def goal(self, splits: int) -> Goal:
        """Return what a tree with so many splits must reach to win; ties go to fewer splits."""
        run = self.run
        assert run.best is not None
        assert run.objective is not None
        above = run.objective + run.split_penalty * splits
        return Goal(above, attain=run.best.splits > splits)

    def has_candidates(self, splits: int) -> bool:
        """Say whether a tree with at most so many splits may still win."""
        return bool((self.floors[splits] <= self.steps.wanted(self.goal(splits))).any())

    def go(self) -> None:
        """Ask until that finds no better tree."""
        run, best = self.run, None
        while best is not run.best:
            best = run.best
            a, b = self._direction()
            cutoffs = [self._cutoff(splits, a, b) for splits in range(len(self.floors))]
            if max(cutoffs) < 0:
                return
            results = run.ask_budgets(self.plane.costs(a, b), run.size, cutoffs)
            for splits in reversed(range(len(self.floors))):
                floor = self.steps.raised(self.floors[splits], a, b, results[splits].bound)
                if splits + 1 < len(self.floors):
                    floor = np.maximum(floor, self.floors[splits + 1])
                self.floors[splits] = floor

    def _cutoff(self, splits: int, a: int, b: int) -> int:
        """Return the least cost that trees with so many splits that can win stay below."""
        if splits == 0:
            return -1
        ceiling = self.steps.wanted(self.goal(splits))
        candidates = self.floors[splits] <= ceiling
        if not candidates.any():
            return -1
        costs = a * self.steps.high[candidates] + b * ceiling[candidates]
        return int(costs.max()) + 1

    def _direction(self) -> tuple[int, int]:
        """Return, roughly, the normal of the metric's level line at the best tree."""
        assert self.run.best is not None
        x, y = self.plane.of(self.run.best)
        # One more, or one less at the end, of either kind of error.
        dx, dy = (1 if x < self.plane.n_pos else -1), (1 if y < self.plane.n_neg else -1)
        here, right, up = (
            float(self.plane.value(*point)) for point in ((x, y), (x + dx, y), (x, y + dy))
        )
        a, b = max((here - right) * dx, 0.0), max((here - up) * dy, 0.0)
        share = a / (a + b) if a + b > 0 else 0.5
        a_parts = min(max(round(_RESOLUTION * share), 1), _RESOLUTION - 1)
        return a_parts, _RESOLUTION - a_parts
