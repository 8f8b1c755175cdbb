"""Which points of the (FN, FP) plane a monotone metric and constraints leave worth looking at.

A metric that never falls when TP or TN rises, and constraints of the same kind,
are met by a set that is closed towards fewer errors: for each number x of false
negatives there is a largest number y of false positives. This is a staircase.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.constraints import MetricConstraint
from goct.exact import Exact
from goct.metrics import LevelLine, Metric
from goct.metrics.arrays import linear
from goct.plane.points import Points, Target

MOST_STEPS = 1 << 14
"""With more false negatives than this, several of them share a step."""

_MARGIN = 1e-10
"""Floats that are closer than this, relative to the metric's size, are compared exactly."""
_MOST_EXACT = 2000
"""So many times for one staircase; what is left is taken as worth looking at."""


class Staircase:
    """The numbers of false negatives, in steps, and what is worth looking at there.

    Attributes
    ----------
    low, high
        The least and the largest number of false negatives of each step; they
        are the same unless there are more than `most_steps`, by default
        `MOST_STEPS`.
    """

    def __init__(
        self,
        points: Points,
        metric: Metric,
        constraints: tuple[MetricConstraint, ...],
        most_steps: int | None = None,
    ) -> None:
        self.points = points
        self.metric = metric
        self.constraints = constraints
        self._margins: dict[Metric, float] = {}
        n = points.n_pos
        most = MOST_STEPS if most_steps is None else most_steps
        most = most if metric.has_formula else most // 4
        if n < most:
            self.low = self.high = np.arange(n + 1)
        else:
            # In integers: floats need not reach the last of very many.
            step, rest = divmod(n + 1, most)
            ends = np.arange(most + 1) * step + np.arange(most + 1) * rest // most
            self.low, self.high = ends[:-1], ends[1:] - 1

    @property
    def lowest(self) -> NDArray[np.int64]:
        """The floor that needs no proof: no tree has less than no false positives, by step."""
        return np.zeros(len(self.low), dtype=np.int64)

    @cached_property
    def allowed(self) -> NDArray[np.int64]:
        """The largest number of false positives that the constraints allow, by step; or -1."""
        allowed = np.full(len(self.low), self.points.n_neg)
        for constraint in self.constraints:
            metric, threshold = constraint.metric, constraint.threshold
            if constraint.sense == "<=":
                metric, threshold = -metric, -threshold
            allowed = np.minimum(
                allowed, self._largest(metric, Target(Exact(threshold), attain=True))
            )
        return allowed

    def meets(self, x: int, y: int) -> bool:
        """Say whether a point meets the constraints."""
        confusion = self.points.confusion(x, y)
        return all(c.is_met_by(c.metric.value(confusion)) for c in self.constraints)

    def wanted(self, target: Target) -> NDArray[np.int64]:
        """Return the largest number of false positives that is of interest, by step; or -1.

        Where that is not known exactly it is too large, never too small.
        """
        if not target.admits(self.metric.value(self.points.confusion(0, 0))):
            return np.full(len(self.low), -1)
        if target.above is None:
            return self.allowed
        return np.minimum(self.allowed, self._largest(self.metric, target))

    def values(self, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the approximate metric at the low end of each step, given false positives."""
        return self._approximate(self.metric, self.low, y)

    def largest_value(self, y: NDArray[np.int64], among: NDArray[np.bool_]) -> Exact | None:
        """Return a proven bound on the metric of points at or above y, in some of the steps."""
        steps = np.flatnonzero(among)
        if not steps.size:
            return None
        values = self._approximate(self.metric, self.low[steps], y[steps])
        top = float(values.max())
        margin = self._margin(self.metric)
        close = steps[values >= top - 2 * margin]
        if len(close) > _MOST_EXACT // 20:
            return Exact(Fraction(top + 2 * margin))
        return max(
            self.metric.value(self.points.confusion(int(self.low[i]), int(y[i]))) for i in close
        )

    def raised(self, floor: NDArray[np.int64], a: int, b: int, least: int) -> NDArray[np.int64]:
        """Return the least false positives by step, now that ``a * FN + b * FP >= least``."""
        if a < 0 or b < 0:
            return floor
        beyond = self.points.n_neg + 1
        missing = linear(least, (-a, b), (self.high, self.lowest))  # b, so that it divides them
        if b == 0:
            return np.where(missing > 0, beyond, floor)
        least_y: NDArray[np.int64] = np.clip(-(-missing // b), 0, beyond).astype(np.int64)
        return np.maximum(floor, least_y)

    def _approximate(
        self, metric: Metric, x: NDArray[np.int64], y: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        p, n = self.points.n_pos, self.points.n_neg
        return metric.approximate(p - x, y, x, n - y, self.points.problem.weight_unit)

    def _largest(self, metric: Metric, target: Target) -> NDArray[np.int64]:
        """Return the largest y with a value of interest at the low end of each step, or -1."""
        assert target.above is not None
        points = self.points
        if target.above.is_rational and points.n_pos and points.n_neg:
            value, unit = target.above.as_fraction(), points.problem.weight_unit
            line = metric.level_line(value, points.n_pos, points.n_neg, unit)
            # At a pole the metric is 0, so that more than the line is above a negative value.
            if line is not None and line.b >= 0 and (value >= 0 or line.pole is None):
                return self._below_line(line, target.attain, is_positive=value > 0)
        return self._by_bisection(metric, target)

    def _below_line(self, line: LevelLine, attain: bool, *, is_positive: bool) -> NDArray[np.int64]:
        """Return the same for a metric whose level set is a line."""
        n = self.points.n_neg
        most = line.most if attain else line.cutoff - 1
        room = linear(most, (-line.a, line.b), (self.low, self.lowest))
        largest: NDArray[Any] = room // line.b if line.b else np.where(room >= 0, n, -1)
        y: NDArray[np.int64] = np.clip(largest, -1, n).astype(np.int64)
        pole = line.pole
        if attain and is_positive and pole is not None:
            while (
                zero := (y >= 0) & (linear(0, (pole.a, pole.b), (self.low, y)) == pole.level)
            ).any():
                y[zero] -= 1
        return y

    def _by_bisection(self, metric: Metric, target: Target) -> NDArray[np.int64]:
        """Return the same for any monotone metric, from floats, exact where they are close."""
        assert target.above is not None
        if not metric.has_formula:
            low = np.full(len(self.low), self.points.n_neg)
            every_step = np.arange(len(low))
            _Settler(low, lambda i, y: self._holds(metric, target, i, y), near=False).settle(
                every_step
            )
            return low
        level = float(target.above)
        margin = max(self._margin(metric), _MARGIN * abs(level))
        low = np.full(len(self.low), -1)
        high = np.full(len(self.low), self.points.n_neg)
        while (low < high).any():
            middle = np.maximum((low + high + 1) // 2, 0)
            holds = self._approximate(metric, self.low, middle) > level - margin
            searched = low < high
            low, high = (
                np.where(searched & holds, middle, low),
                np.where(searched & ~holds, middle - 1, high),
            )
        if self.low is not self.high:  # steps are no single numbers, so exactness is in vain
            return low
        values = self._approximate(metric, self.low, np.maximum(low, 0))
        close = np.flatnonzero((low >= 0) & (np.abs(values - level) <= 2 * margin))
        _Settler(low, lambda i, y: self._holds(metric, target, i, y), near=True).settle(close)
        return low

    def _margin(self, metric: Metric) -> float:
        """Return how close floats may be to be compared exactly."""
        if metric not in self._margins:
            problem = self.points.problem
            self._margins[metric] = _MARGIN * metric.magnitude(problem.n_pos, problem.n_neg)
        return self._margins[metric]

    def _holds(self, metric: Metric, target: Target, step: int, y: int) -> bool:
        return target.admits(metric.value(self.points.confusion(int(self.low[step]), y)))


class _Settler:
    """Replaces entries that may be too large by the largest y for which `holds(step, y)`.

    The right entries never rise from one step to the next; so where two steps
    have the same, those between have it, too. After `_MOST_EXACT` questions
    entries stay as they are.

    Parameters
    ----------
    y
        The entries by step.
    holds
        The question; it holds up to the right entry and not beyond.
    near
        Whether entries are mostly right, or one too large.
    """

    def __init__(
        self, y: NDArray[np.int64], holds: Callable[[int, int], bool], *, near: bool
    ) -> None:
        self._y = y
        self._near = near
        self._holds = holds
        self._left = _MOST_EXACT

    def settle(self, steps: NDArray[np.intp]) -> None:
        """Settle the entries at some steps, in increasing order."""
        y = self._y
        if not steps.size:
            return
        y[steps[-1]] = self._largest(int(steps[-1]), -1)
        y[steps[0]] = self._largest(int(steps[0]), int(y[steps[-1]]))
        spans = deque([(0, len(steps) - 1)])
        while spans:
            i, j = spans.popleft()
            between = slice(i + 1, j)
            y[steps[between]] = np.minimum(y[steps[between]], y[steps[i]])
            if j - i > 1 and y[steps[i]] > y[steps[j]]:
                middle = (i + j) // 2
                step = int(steps[middle])
                y[step] = self._largest(step, int(y[steps[j]]))
                spans += [(i, middle), (middle, j)]

    def _largest(self, step: int, low: int) -> int:
        """Return the right entry, which is at least `low`."""
        high = int(self._y[step])
        nearest = 2 if self._near else 0
        while low < high and self._left > 0:
            guess = high if nearest else (low + high + 1) // 2
            nearest = max(nearest - 1, 0)
            self._left -= 1
            if self._holds(step, guess):
                low = guess
            else:
                high = guess - 1
        return high
