"""Polynomials in two counts, with exact coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import as_fraction

Floats: TypeAlias = NDArray[np.float64]
Scalar: TypeAlias = int | Fraction
Range: TypeAlias = tuple[Fraction, Fraction]


class Polynomial:
    """A polynomial ``Σ c[i, j] · x^i · y^j`` with rational coefficients.

    Attributes
    ----------
    terms
        The coefficients that are not zero, under their pairs of exponents.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[tuple[int, int], Scalar]) -> None:
        self.terms = {powers: Fraction(c) for powers, c in terms.items() if c}

    @classmethod
    def of(cls, value: object) -> Polynomial:
        """Read a number as a constant polynomial."""
        if isinstance(value, Polynomial):
            return value
        return cls({(0, 0): as_fraction(value, "a coefficient")})

    @property
    def degree(self) -> int:
        """The degree; 0 for constants, zero included."""
        return max((i + j for i, j in self.terms), default=0)

    def degree_in(self, variable: int) -> int:
        """Return the degree in x (0) or in y (1)."""
        return max((powers[variable] for powers in self.terms), default=0)

    def coefficient(self, i: int, j: int) -> Fraction:
        """Return the coefficient of ``x^i · y^j``."""
        return self.terms.get((i, j), Fraction(0))

    def __call__(self, x: Scalar, y: Scalar) -> Fraction:
        """Return the value at a point."""
        return sum((c * x**i * y**j for (i, j), c in self.terms.items()), Fraction(0))

    def values(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the values at many points, and what rounding may have added or taken away."""
        total, size = np.zeros(len(x)), np.zeros(len(x))
        for (i, j), c in self.terms.items():
            term = float(c) * x**i * y**j
            total += term
            size += np.abs(term)
        return total, size * (len(self.terms) + self.degree + 2) * np.finfo(float).eps

    def split(self, variable: int) -> tuple[Polynomial, Polynomial]:
        """Write it as ``rest + v · factor``, where v is x (0) or y (1) and not in `rest`."""
        rest = {powers: c for powers, c in self.terms.items() if powers[variable] == 0}
        factor = {
            (i - (variable == 0), j - (variable == 1)): c
            for (i, j), c in self.terms.items()
            if (i, j)[variable] > 0
        }
        return Polynomial(rest), Polynomial(factor)

    def substitute(self, x: Polynomial, y: Polynomial) -> Polynomial:
        """Replace both variables."""
        total = Polynomial({})
        for (i, j), c in self.terms.items():
            term = Polynomial.of(c)
            for factor, times in ((x, i), (y, j)):
                for _ in range(times):
                    term = term * factor
            total = total + term
        return total

    def range(self, x: Range, y: Range) -> Range:
        """Return bounds over a box of non-negative numbers; exact for linear polynomials."""
        low = high = Fraction(0)
        for (i, j), c in self.terms.items():
            ends = c * x[0] ** i * y[0] ** j, c * x[1] ** i * y[1] ** j
            low, high = low + min(ends), high + max(ends)
        return low, high

    def __add__(self, other: object) -> Polynomial:
        added = dict(self.terms)
        for powers, c in Polynomial.of(other).terms.items():
            added[powers] = added.get(powers, Fraction(0)) + c
        return Polynomial(added)

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: object) -> Polynomial:
        return self + -Polynomial.of(other)

    def __rsub__(self, other: object) -> Polynomial:
        return -self + other

    def __mul__(self, other: object) -> Polynomial:
        product: dict[tuple[int, int], Fraction] = {}
        for (i, j), a in self.terms.items():
            for (k, m), b in Polynomial.of(other).terms.items():
                powers = (i + k, j + m)
                product[powers] = product.get(powers, Fraction(0)) + a * b
        return Polynomial(product)

    def __truediv__(self, divisor: object) -> Polynomial:
        return self * (1 / as_fraction(divisor, "the divisor of a polynomial"))

    def __pow__(self, exponent: int) -> Polynomial:
        if not isinstance(exponent, int) or exponent < 0:
            raise TypeError(f"polynomials have whole powers only, got {exponent!r}")
        power = Polynomial.of(1)
        for _ in range(exponent):
            power = power * self
        return power

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return self.terms == other.terms if isinstance(other, Polynomial) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        terms = [f"{c}*x^{i}*y^{j}" for (i, j), c in sorted(self.terms.items())]
        return f"Polynomial({' + '.join(terms) or '0'})"
