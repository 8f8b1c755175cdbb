"""Lines in the plane of errors on which a metric has one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import TypeAlias

Rational: TypeAlias = int | Fraction


@dataclass(frozen=True)
class LevelLine:
    """The line ``a · FN + b · FP = level``, with better points below it.

    Points are counts, so the cost ``a · FN + b · FP`` of a point is an integer.
    The metric is larger than the line's value exactly where the cost is less
    than :attr:`cutoff`, and at least the value exactly where it is at most
    :attr:`most`; except at the `pole`.

    Attributes
    ----------
    a, b
        Integers without a common divisor.
    level
        The cost on the line.
    pole
        The line on which the denominator of the metric is 0, and with it, by
        convention, the metric; None if it has no point. Points with a positive
        denominator are below it.
    """

    a: int
    b: int
    level: Fraction
    pole: LevelLine | None = None

    @classmethod
    def where_positive(cls, form: Sequence[Rational], pole: LevelLine | None = None) -> LevelLine:
        """Return the line below which ``form[0] + form[1] · FN + form[2] · FP`` is positive."""
        rest, a, b = Fraction(form[0]), -Fraction(form[1]), -Fraction(form[2])
        scale = Fraction(lcm(a.denominator, b.denominator))
        scale /= gcd(int(a * scale), int(b * scale)) or 1
        return cls(int(a * scale), int(b * scale), rest * scale, pole)

    @property
    def cutoff(self) -> int:
        """The least integer cost that is not below the line."""
        return ceil(self.level)

    @property
    def most(self) -> int:
        """The largest integer cost that is not above the line."""
        return floor(self.level)
