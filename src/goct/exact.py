"""Exact real numbers: what a metric is worth, without rounding.

Claims of optimality rest on comparing metric values, so those values are never
floats. Every metric of the catalogue is a rational number, or a rational
combination of square roots of rational numbers (MCC, G-mean,
Fowlkes-Mallows); :class:`Exact` represents exactly these.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, isfinite, isqrt, lcm
from numbers import Rational, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Number: TypeAlias = "int | float | Fraction | Exact"

_SIMPLE_DENOMINATOR = 10**6
_INT64_LIMIT = 2**62
_FRACTION_LIMIT = 2**29
_EPSILON = sys.float_info.epsilon


def as_fraction(value: Any, name: str = "value") -> Fraction:
    """Read a number as the fraction its author meant.

    Integers and fractions are taken as they are. A float stands for a simple
    fraction, if one with a denominator up to a million differs from it by no
    more than a few rounding errors: 0.1 is 1/10, the result of 1 / 3 is 1/3 and
    that of 0.1 + 0.2 is 3/10. Otherwise it stands for the decimal number it
    prints as.

    Raises
    ------
    TypeError
        If `value` is not a real number.
    ValueError
        If `value` is NaN or infinite.
    """
    if isinstance(value, Exact):
        return value.as_fraction()
    if isinstance(value, Rational | np.integer | np.bool_):
        return Fraction(int(value)) if not isinstance(value, Rational) else Fraction(value)
    if not isinstance(value, Real | np.floating):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    simple = Fraction(number).limit_denominator(_SIMPLE_DENOMINATOR)
    if number != value:  # it has more digits than a float64
        return Fraction(str(value))
    # In the precision of the value: a float32 is not the float64 of the same digits.
    precision = np.finfo(type(value)).eps if isinstance(value, np.floating) else _EPSILON
    return (
        simple
        if abs(float(simple) - number) <= 4 * precision * abs(number)
        else Fraction(str(value))
    )


def check_magnitude(number: Fraction, name: str, digits: int = 100) -> Fraction:
    """Return a number if floats can compute with it; beyond 10^±`digits` it is a mistake."""
    if number and not 1 <= abs(number) * 10**digits <= 10 ** (2 * digits):
        what = "large" if abs(number) > 1 else "close to 0"
        raise ValueError(
            f"{name} is too {what} to make sense; it must be 0, or 1e-{digits} to 1e{digits}"
        )
    return number


class Exact:
    """An exact real number ``q0 + q1·√m1 + q2·√m2 + ...``.

    Here the q are rational and the m positive integers. It compares exactly
    with other exact numbers, integers, fractions and floats (a float is read
    by :func:`as_fraction`), can be added to them and
    multiplied by a rational number, and formats like a float. Its hash is that
    of a fraction, so do not mix it with floats in sets and dictionaries.

    Parameters
    ----------
    value
        An integer, fraction, float or another `Exact`.

    Notes
    -----
    Square roots of integers from different square classes (no product of two
    of them is a perfect square) are linearly independent over the rationals.
    Terms of the same class are therefore merged, after which the number is
    zero exactly if all of its coefficients are, and otherwise enough digits
    decide its sign.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Exact.sqrt(8) - Exact.sqrt(2) == Exact.sqrt(2)
    True
    >>> Exact.sqrt(Fraction(1, 4))
    Exact(1/2)
    >>> f"{Exact.sqrt(2):.3f}"
    '1.414'
    """

    __slots__ = ("_rational", "_roots")

    _rational: Fraction
    _roots: tuple[tuple[Fraction, int], ...]

    def __init__(self, value: Number = 0) -> None:
        if isinstance(value, Exact):
            self._rational, self._roots = value._rational, value._roots
        else:
            self._rational, self._roots = as_fraction(value), ()

    @classmethod
    def sqrt(cls, square: Number) -> Exact:
        """Return the square root of a non-negative rational number."""
        q = as_fraction(square)
        if q < 0:
            raise ValueError(f"the square root of a negative number, {q}")
        # sqrt(a/b) = sqrt(ab) / b
        return cls._from_terms(
            Fraction(0), [(Fraction(1, q.denominator), q.numerator * q.denominator)]
        )

    @classmethod
    def signed_sqrt(cls, square: Number) -> Exact:
        """Return ``√q`` of a rational number q, or ``-√(-q)`` if it is negative."""
        q = as_fraction(square)
        return -cls.sqrt(-q) if q < 0 else cls.sqrt(q)

    @classmethod
    def _from_terms(cls, rational: Fraction, terms: Iterable[tuple[Fraction, int]]) -> Exact:
        merged: list[tuple[Fraction, int]] = []
        for coefficient, radicand in terms:
            root = isqrt(radicand)
            if root * root == radicand:
                rational += coefficient * root
                continue
            for i, (other, representative) in enumerate(merged):
                product = radicand * representative
                root = isqrt(product)
                if root * root == product:
                    merged[i] = (other + coefficient * root / representative, representative)
                    break
            else:
                merged.append((coefficient, radicand))
        number = cls.__new__(cls)
        number._rational = rational
        number._roots = tuple((c, m) for c, m in merged if c)
        return number

    @property
    def is_rational(self) -> bool:
        """Whether the number is rational."""
        return not self._roots

    @property
    def terms(self) -> tuple[Fraction, tuple[tuple[Fraction, int], ...]]:
        """The rational part, and pairs of a factor and the integer whose root it multiplies."""
        return self._rational, self._roots

    def as_fraction(self) -> Fraction:
        """Return the number as a fraction; a `ValueError` if it is irrational."""
        if self._roots:
            raise ValueError(f"{self!r} is irrational")
        return self._rational

    def enclosure(self, bits: int = 64) -> tuple[Fraction, Fraction]:
        """Return rational bounds around the number.

        The width of the interval falls by half with every further bit.
        """
        low = high = self._rational
        for coefficient, radicand in self._roots:
            floor = isqrt(radicand << (2 * bits))
            ends = (
                coefficient * Fraction(floor, 1 << bits),
                coefficient * Fraction(floor + 1, 1 << bits),
            )
            low += min(ends)
            high += max(ends)
        return low, high

    def sign(self) -> int:
        """Return -1, 0 or 1."""
        if not self._roots:
            return (self._rational > 0) - (self._rational < 0)
        bits = 64
        while True:
            low, high = self.enclosure(bits)
            if low > 0:
                return 1
            if high < 0:
                return -1
            bits *= 2

    def __add__(self, other: Number) -> Exact:
        if not _is_number(other):
            return NotImplemented
        other = Exact(other)
        return Exact._from_terms(self._rational + other._rational, self._roots + other._roots)

    def __sub__(self, other: Number) -> Exact:
        return self + -Exact(other) if _is_number(other) else NotImplemented

    def __rsub__(self, other: Number) -> Exact:
        return -self + other if _is_number(other) else NotImplemented

    def __neg__(self) -> Exact:
        return self * -1

    def __abs__(self) -> Exact:
        return -self if self.sign() < 0 else self

    def __mul__(self, factor: Number) -> Exact:
        if not _is_number(factor):
            return NotImplemented
        if self.is_rational and isinstance(factor, Exact) and not factor.is_rational:
            self, factor = factor, self
        q = as_fraction(factor)
        return Exact._from_terms(self._rational * q, [(c * q, m) for c, m in self._roots])

    def __truediv__(self, divisor: Number) -> Exact:
        return self * (1 / as_fraction(divisor)) if _is_number(divisor) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def _compare(self, other: Any) -> int | None:
        """Return the sign of the difference; None if the other one is no number."""
        if isinstance(other, Exact) and not self._roots and not other._roots:
            mine, its = self._rational, other._rational
            return (mine > its) - (mine < its)
        return (self - other).sign() if _is_number(other) else None

    def __eq__(self, other: object) -> bool:
        sign = self._compare(other)
        return NotImplemented if sign is None else sign == 0

    def __lt__(self, other: Number) -> bool:
        sign = self._compare(other)
        return NotImplemented if sign is None else sign < 0

    def __le__(self, other: Number) -> bool:
        sign = self._compare(other)
        return NotImplemented if sign is None else sign <= 0

    def __gt__(self, other: Number) -> bool:
        sign = self._compare(other)
        return NotImplemented if sign is None else sign > 0

    def __ge__(self, other: Number) -> bool:
        sign = self._compare(other)
        return NotImplemented if sign is None else sign >= 0

    def __hash__(self) -> int:
        # The float is correctly rounded, so equal numbers share it.
        return hash(self._rational) if self.is_rational else hash(float(self))

    def __bool__(self) -> bool:
        return self.sign() != 0

    def __float__(self) -> float:
        if self.is_rational:
            return float(self._rational)
        bits = 128
        while True:
            low, high = (float(end) for end in self.enclosure(bits))
            if low == high:
                return low
            bits *= 2

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __str__(self) -> str:
        return f"{float(self):.6g}"

    def __repr__(self) -> str:
        terms = [str(self._rational)] if self._rational or not self._roots else []
        terms += [f"{c}*√{m}" for c, m in self._roots]
        return f"Exact({' + '.join(terms)})"


def _is_number(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isfinite(value))
    return isinstance(value, Exact | Rational | np.integer)


def common_integers(fractions: Sequence[Fraction]) -> tuple[int, list[int]]:
    """Return the least number that makes integers of all fractions, and these."""
    scale = lcm(*(f.denominator for f in fractions))
    return scale, [int(f * scale) for f in fractions]


def scale_to_integers(values: NDArray[Any], name: str) -> tuple[NDArray[np.int64], Fraction, bool]:
    """Write numbers as integer multiples of one unit.

    Returns integers, the unit, and whether ``values == integers * unit`` exactly. The unit is their
    greatest common divisor: multiples of the same numbers have the same integers. That is possible
    for integers whose absolute values sum up to less than 2**62, and for other numbers if the
    integers sum up to less than 2**29. Otherwise the values are rounded to multiples of about
    2**-28 of the sum of their absolute values, which leaves room for exact products of two such
    sums.
    """
    if values.dtype.kind in "bui":
        # In floats, which hold unsigned numbers and their sums, too.
        if np.abs(values.astype(np.float64)).sum() >= _INT64_LIMIT:
            raise ValueError(f"{name} are too large: their sum must stay below 2**62")
        integers = values.astype(np.int64)
        common = int(np.gcd.reduce(integers, axis=None)) or 1
        return integers // common, Fraction(common), True

    distinct, inverse = np.unique(values, return_inverse=True)
    fractions = [as_fraction(value, name) for value in distinct]
    denominator = 1
    for fraction in fractions:
        denominator = lcm(denominator, fraction.denominator)
        if denominator >= _FRACTION_LIMIT**2:
            break
    else:
        scaled = [int(fraction * denominator) for fraction in fractions]
        multiplicity = np.bincount(inverse.ravel(), minlength=len(scaled)).tolist()
        total = sum(abs(s) * m for s, m in zip(scaled, multiplicity, strict=True))
        common = gcd(*scaled) or 1
        if total < _FRACTION_LIMIT * common:
            multiples = np.array([s // common for s in scaled], dtype=np.int64)
            return multiples[inverse].reshape(values.shape), Fraction(common, denominator), True

    # Relative to a power of two near the largest value first: nothing over- or underflows.
    values = values.astype(np.float64)
    _, magnitude = np.frexp(np.abs(values).max())
    relative = np.ldexp(values, -int(magnitude))
    exponent = int(np.ceil(np.log2(np.abs(relative).sum()))) - 28
    integers = np.rint(relative * 2.0**-exponent).astype(np.int64)
    return integers, Fraction(2) ** (int(magnitude) + exponent), False
