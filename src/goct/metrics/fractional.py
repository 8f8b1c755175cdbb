"""Quotients of linear functions of (TP, TN), whose level sets are lines."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from goct.exact import Exact, common_integers
from goct.metrics.arrays import Counts, Floats, divide, exact_sum, first
from goct.metrics.confusion import Confusion
from goct.metrics.level_line import LevelLine
from goct.metrics.metric import Metric, Rational, Shape
from goct.metrics.polynomial import Polynomial
from goct.metrics.quotient import Quotient


@dataclass(frozen=True)
class Affine:
    """The function ``constant + tp · TP + tn · TN``."""

    constant: Rational
    tp: Rational
    tn: Rational

    def __call__(self, tp: Rational, tn: Rational) -> Fraction:
        """Return the value at a point."""
        return Fraction(self.constant + self.tp * tp + self.tn * tn)

    def of_errors(
        self, n_pos: int, n_neg: int, unit: Fraction
    ) -> tuple[Fraction, Fraction, Fraction]:
        """Return the constant and the coefficients of FN and FP, in counts."""
        perfect = self(unit * n_pos, unit * n_neg)
        return perfect, -unit * Fraction(self.tp), -unit * Fraction(self.tn)


class FractionalMetric(Metric):
    """A quotient of two linear functions of (TP, TN); 0 where it is 0 / 0."""

    @property
    def shape(self) -> Shape:
        """FRACTIONAL."""
        return Shape.FRACTIONAL

    @abstractmethod
    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return numerator and denominator.

        The denominator is nowhere negative, and where it is 0 the numerator is 0, too.
        """

    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""
        numerator, denominator = self.fraction(confusion.n_pos, confusion.n_neg)
        divisor = denominator(confusion.tp, confusion.tn)
        return Exact(numerator(confusion.tp, confusion.tn) / divisor if divisor else 0)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices; only the quotient is rounded."""
        if not np.broadcast(tp, fp, fn, tn).size:
            return np.zeros(np.broadcast(tp, fp, fn, tn).shape)
        n_pos, n_neg = first(tp) + first(fn), first(tn) + first(fp)
        top, bottom = self.fraction(unit * n_pos, unit * n_neg)
        forms = [(f.constant, unit * f.tp, unit * f.tn) for f in (top, bottom)]
        _, factors = common_integers([Fraction(entry) for form in forms for entry in form])
        divisor = math.gcd(*factors) or 1
        factors = [factor // divisor for factor in factors]
        numerator, denominator = (
            exact_sum(constant, rest, (tp, tn)) for constant, *rest in (factors[:3], factors[3:])
        )
        return divide(numerator, denominator)

    def level_line(
        self, value: Fraction, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)
    ) -> LevelLine:
        """Return the line below which the metric is larger than a value."""
        top, bottom = (f.of_errors(n_pos, n_neg, unit) for f in self._parts(n_pos, n_neg, unit))
        corners = [(x, y) for x in (0, n_pos) for y in (0, n_neg)]
        has_pole = any(bottom[0] + bottom[1] * x + bottom[2] * y == 0 for x, y in corners)
        pole = LevelLine.where_positive(bottom) if has_pole else None
        # N / D > v exactly if N - v D > 0
        form = [n - value * d for n, d in zip(top, bottom, strict=True)]
        return LevelLine.where_positive(form, pole)

    def quotient(self, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> Quotient:
        """Return the metric as a quotient of polynomials in the counts TP and TN."""
        parts = self._parts(n_pos, n_neg, unit)
        top, bottom = (
            Polynomial({(0, 0): f.constant, (1, 0): unit * f.tp, (0, 1): unit * f.tn})
            for f in parts
        )
        # Level sets are lines, so that extreme values are at corners, or where it is 0 / 0.
        corners = [(x, y) for x in (0, n_pos) for y in (0, n_neg)]
        values = [top(*c) / bottom(*c) for c in corners if bottom(*c)]
        zero = Fraction(0)
        return Quotient(top, bottom, min([zero, *values]), max([zero, *values]))

    def _parts(self, n_pos: int, n_neg: int, unit: Fraction) -> tuple[Affine, Affine]:
        """Return numerator and denominator, after a look at the corners, where they are extreme."""
        top, bottom = self.fraction(unit * n_pos, unit * n_neg)
        for tp in (0, unit * n_pos):
            for tn in (0, unit * n_neg):
                divisor = bottom(tp, tn)
                if divisor < 0 or (divisor == 0 and top(tp, tn) != 0):
                    raise ValueError(
                        f"the metric {self.name!r} is {top(tp, tn)} / {divisor} where TP = {tp} "
                        f"and TN = {tn}; its denominator must not be negative, nor 0 unless its "
                        "numerator is, too"
                    )
        return top, bottom
