"""Checks of what a metric declares about itself, on which proofs rest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from goct.metrics.arrays import Counts, Floats
from goct.metrics.confusion import Confusion
from goct.metrics.metric import LinearMetric, Metric, Shape

_POINTS = 25  # at most so many numbers of false negatives and of false positives are tried
_DIRECTIONS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1))


def check_declaration(metric: Metric, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> None:
    """Raise a `ValueError` if a metric is not as monotone, or as quasiconvex, as it says.

    All confusion matrices of few samples are tried, and a grid of those of many. This
    settles linear and fractional metrics; a false declaration of another one may
    go unnoticed.
    """
    if not (metric.is_monotone or metric.is_antitone) or isinstance(metric, LinearMetric):
        return
    grid = _Grid(metric, n_pos, n_neg, unit)
    if metric.is_monotone:
        grid.check_monotone(1)
    if metric.is_antitone:
        grid.check_monotone(-1)
    if metric.shape is Shape.QUASICONVEX:
        grid.check_quasiconvex()


class _Grid:
    """The values of a metric for some numbers of errors."""

    def __init__(self, metric: Metric, n_pos: int, n_neg: int, unit: Fraction) -> None:
        self.metric, self.n_pos, self.n_neg, self.unit = metric, n_pos, n_neg, unit
        self.fn, self.fp = _spread(n_pos), _spread(n_neg)
        fn, fp = np.meshgrid(self.fn, self.fp, indexing="ij")
        self.values: Floats = metric.approximate(n_pos - fn, fp, fn, n_neg - fp, unit)

    def check_monotone(self, sign: int) -> None:
        """Refute that the metric falls (1) or rises (-1) with errors."""
        for step in ((1, 0), (0, 1)):
            here, there = self._shifted((0, 0), step), self._shifted(step, (0, 0))
            i, j = _largest(sign * (there - here))
            if i < 0:
                continue
            fewer, more = self._confusion(i, j), self._confusion(i + step[0], j + step[1])
            before, after = self.metric.value(fewer), self.metric.value(more)
            if (after - before) * sign > 0:
                raise ValueError(
                    f"the metric {self.metric.name!r} is declared to "
                    f"{'fall' if sign > 0 else 'rise'} with errors, never to "
                    f"{'rise' if sign > 0 else 'fall'}, but it is {float(before):.6g} for "
                    f"{_text(fewer)} and {float(after):.6g} for {_text(more)}"
                )

    def check_quasiconvex(self) -> None:
        """Refute that the metric is largest at an end of each line on which one error falls."""
        level = self.metric.quasiconvex_from
        for a, b in _DIRECTIONS:
            # From (i, j + 2 b) over the middle (i + a, j + b) to (i + 2 a, j)
            left = self._shifted((0, 2 * b), (2 * a, 0))
            middle, right = self._shifted((a, b), (a, b)), self._shifted((2 * a, 0), (0, 2 * b))
            rise = middle - np.maximum(left, right)
            if level is not None:
                rise = np.where(middle > float(level), rise, 0)
            i, j = _largest(rise)
            if i < 0:
                continue
            ends = self._confusion(i, j + 2 * b), self._confusion(i + 2 * a, j)
            center = self._confusion(i + a, j + b)
            if center.fn * 2 != sum(c.fn for c in ends) or center.fp * 2 != sum(c.fp for c in ends):
                continue  # the last of the numbers is not as far from the others
            value = self.metric.value(center)
            if value > max(map(self.metric.value, ends)) and (level is None or value > level):
                raise ValueError(
                    f"the metric {self.metric.name!r} is declared QUASICONVEX, but it is larger "
                    f"for {_text(center)} than at both ends of a line through it: "
                    f"{_text(ends[0])} and {_text(ends[1])}"
                )

    def _shifted(self, start: tuple[int, int], end: tuple[int, int]) -> Floats:
        """Return the values without the first and last rows and columns, so many of each."""
        rows, columns = self.values.shape
        return self.values[start[0] : max(rows - end[0], 0), start[1] : max(columns - end[1], 0)]

    def _confusion(self, i: int, j: int) -> Confusion:
        fn, fp = int(self.fn[i]), int(self.fp[j])
        return Confusion(*(self.unit * n for n in (self.n_pos - fn, fp, fn, self.n_neg - fp)))


def _spread(most: int) -> Counts:
    """Return numbers from 0 to `most`, at equal distances but for the last."""
    step = most // _POINTS + 1
    return np.append(np.arange(0, most, step), most)


def _largest(rise: NDArray[np.float64]) -> tuple[int, int]:
    """Return the place of the largest number, or (-1, -1) if none is positive."""
    if not rise.size or not rise.max() > 0:
        return -1, -1
    i, j = np.unravel_index(int(rise.argmax()), rise.shape)
    return int(i), int(j)


def _text(confusion: Confusion) -> str:
    c = confusion
    return f"TP={c.tp}, FP={c.fp}, FN={c.fn}, TN={c.tn}"
