"""Exact products of integers and bounded expressions, in linear rows.

An integer is the sum of its bits, and a bit times a bounded expression is exact
in four rows. Every polynomial in a few integers, times another expression,
follows by Horner's scheme: one product per bit and degree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.metrics.polynomial import Polynomial
from goct.mip.model import MipModel, Point, Product, Term

LARGEST_COEFFICIENT = 1e5
"""Rows are scaled so that their largest coefficient is this.

Solvers let rows be violated by about 1e-6 however large they are, so that small
rows would mean little; much larger ones they do not accept.
"""

Values: TypeAlias = NDArray[np.float64]
Range: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Linear:
    """The linear expression ``constant + Σ coefficient · column``."""

    constant: Fraction = Fraction(0)
    terms: tuple[tuple[NDArray[np.intp], Values, Fraction], ...] = ()

    @classmethod
    def of(cls, columns: NDArray[np.intp], coefficients: Values) -> Linear:
        """Return ``Σ coefficient · column``."""
        return cls(Fraction(0), ((np.atleast_1d(columns), coefficients, Fraction(1)),))

    def __add__(self, other: Linear) -> Linear:
        return Linear(self.constant + other.constant, self.terms + other.terms)

    def __mul__(self, factor: Fraction | int) -> Linear:
        terms = tuple((columns, c, f * factor) for columns, c, f in self.terms if factor)
        return Linear(self.constant * factor, terms)

    def entries(self, row: int = 0, scale: float = 1.0) -> list[Term]:
        """Return the terms of a row of a model, multiplied by a number."""
        return [(row, columns, c * (float(factor) * scale)) for columns, c, factor in self.terms]

    @property
    def largest(self) -> float:
        """The largest absolute value of a coefficient."""
        sizes = [np.abs(c).max(initial=0.0) * abs(float(f)) for _, c, f in self.terms]
        return float(max(sizes, default=0.0))

    def value(self, x: Point) -> float:
        """Return the value at a point."""
        parts = (float(c @ x[columns]) * float(factor) for columns, c, factor in self.terms)
        return float(self.constant) + sum(parts)


@dataclass(frozen=True)
class Integer:
    """An integer between 0 and `upper`, as an expression and, if it has them, in bits."""

    expression: Linear
    upper: int
    bits: NDArray[np.intp] | None = None

    @property
    def range(self) -> Range:
        """Its bounds."""
        return Fraction(0), Fraction(self.upper)

    def read(self, x: Point) -> int:
        """Return the number that the bits stand for at a point."""
        assert self.bits is not None
        return sum(round(bit) << k for k, bit in enumerate(x[self.bits].tolist()))

    def leading(self, x: Point) -> tuple[int, tuple[int, int]]:
        """Return how many leading bits are known at a point, and the numbers that they leave."""
        if self.bits is None:
            return 0, (0, self.upper)
        values = x[self.bits[::-1]]
        is_open = np.abs(values - np.round(values)) > 1e-6
        known = int(is_open.argmax()) if is_open.any() else len(values)
        rest = len(values) - known
        low = sum(round(bit) << (len(values) - 1 - k) for k, bit in enumerate(values[:known]))
        return known, (min(low, self.upper), min(low + (1 << rest) - 1, self.upper))

    def differs(self, value: int, leading: int | None = None) -> Linear:
        """Return the number of bits that differ from those of a value: 0 exactly there.

        Parameters
        ----------
        value
            The value.
        leading
            Only so many of the leading bits count; all if None.
        """
        assert self.bits is not None
        first = 0 if leading is None else len(self.bits) - leading
        ones = np.array([value >> k & 1 for k in range(first, len(self.bits))], dtype=np.float64)
        terms = ((self.bits[first:], 1.0 - 2.0 * ones, Fraction(1)),)
        return Linear(Fraction(int(ones.sum())), terms)


@dataclass
class Products:
    """Adds bits and products to a model, and knows their values in every solution.

    Attributes
    ----------
    model
        The model.
    size
        How many variables, binaries and rows were added.
    """

    model: MipModel
    size: dict[str, int] = field(default_factory=lambda: {"variables": 0, "binaries": 0, "rows": 0})
    _fill: list[tuple[NDArray[np.intp], Callable[[Point], Values]]] = field(default_factory=list)

    def complete(self, x: Point) -> None:
        """Set the variables that were added, given those that the model had before."""
        for columns, values in self._fill:
            x[columns] = values(x)

    def variable(
        self,
        name: str,
        lower: float,
        upper: float,
        value: Callable[[Point], float],
        *,
        binary: bool = False,
    ) -> NDArray[np.intp]:
        """Add a variable; `value` tells it from the variables before it."""
        columns = self.model.add_variables(name, (1,), lower=lower, upper=upper, integer=binary)
        self.size["variables"] += 1
        self.size["binaries"] += binary
        self._fill.append((columns, lambda x: np.array([value(x)])))
        return columns

    def row(
        self,
        name: str,
        expression: Linear,
        *,
        lower: float = -np.inf,
        upper: float = np.inf,
        rescale: bool = True,
    ) -> None:
        """Add the row ``lower <= expression <= upper``, scaled to a size that solvers like."""
        largest = expression.largest
        scale = LARGEST_COEFFICIENT / largest if rescale and largest > 0 else 1.0
        shift = float(expression.constant)
        self.model.add_rows(
            name,
            1,
            expression.entries(scale=scale),
            lower=(lower - shift) * scale,
            upper=(upper - shift) * scale,
        )
        self.size["rows"] += 1

    def expand(self, name: str, number: Integer, length: int | None = None) -> Integer:
        """Give an integer its bits: ``Σ_k 2^k · bit[k] = number``, as few as its bound allows."""
        length = number.upper.bit_length() if length is None else length
        bits = self.model.add_variables(name, (length,), integer=True)
        powers = np.exp2(np.arange(length))

        def read(x: Point) -> Values:
            value = round(number.expression.value(x))
            return np.array([float(value >> k & 1) for k in range(length)])

        self._fill.append((bits, read))
        self.size["variables"] += length
        self.size["binaries"] += length
        whole = Linear.of(bits, powers)
        # Large rows are scaled: solvers find no point that meets them within their tolerance.
        sum_of_bits = whole + number.expression * -1
        is_large = sum_of_bits.largest > LARGEST_COEFFICIENT
        self.row(f"{name}_sum", sum_of_bits, lower=0, upper=0, rescale=is_large)
        return Integer(whole, number.upper, bits)

    def named(self, name: str, expression: Linear, span: Range) -> Linear:
        """Return a variable that is equal to an expression."""
        column = self.variable(name, float(span[0]), float(span[1]), expression.value)
        variable = Linear.of(column, np.ones(1))
        self.row(name, expression + variable * -1, lower=0, upper=0, rescale=False)
        return variable

    def times(self, name: str, number: Integer, factor: Linear, span: Range) -> Linear:
        """Return an integer times an expression within a range."""
        assert number.bits is not None
        return self.bit_times(name, number.bits, factor, span)

    def bit_times(
        self,
        name: str,
        bits: NDArray[np.intp],
        factor: Linear,
        span: Range,
        weights: Values | None = None,
    ) -> Linear:
        """Return ``Σ_k weight[k] · bit[k] · factor``, the factor being within a range.

        Without weights, they are ``2^k``.

        Each product ``z = bit · e`` of a bit and ``low <= e <= high`` has the
        rows ``low · bit <= z <= high · bit`` and
        ``low · (1 - bit) <= e - z <= high · (1 - bit)`` (McCormick), which
        leave one value of z for either value of the bit. The factor is divided
        by its largest absolute value, so that all numbers are about 1.
        """
        size = max(abs(span[0]), abs(span[1]))
        if not size:
            return Linear()
        low, high = span[0] / size, span[1] / size
        length = len(bits)
        small = factor * (1 / size)
        if sum(len(columns) for columns, _, _ in small.terms) > 1:  # a name keeps the rows short
            small = self.named(f"{name}_factor", small, (low, high))
        columns = self.model.add_variables(
            name, (length,), lower=min(float(low), 0.0), upper=max(float(high), 0.0), integer=False
        )
        self._fill.append((columns, lambda x: x[bits] * small.value(x)))
        k = np.arange(length)
        a, b, shift = (float(number) for number in (low, high, small.constant))
        one: Term = (k, columns, 1.0)
        # e - z, in every row
        rest: list[Term] = [(k, c, v * float(f)) for c, v, f in small.terms]
        rest.append((k, columns, -1.0))
        add = self.model.add_rows
        add(f"{name}_most", length, [one, (k, bits, -b)], upper=0)
        add(f"{name}_least", length, [one, (k, bits, -a)], lower=0)
        add(f"{name}_rest_most", length, [*rest, (k, bits, b)], upper=b - shift)
        add(f"{name}_rest_least", length, [*rest, (k, bits, a)], lower=a - shift)
        self.size["variables"] += length
        self.size["rows"] += 4 * length
        return Linear.of(columns, np.exp2(k) if weights is None else weights) * size

    def both(
        self,
        name: str,
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        *,
        binary: bool = False,
    ) -> NDArray[np.intp]:
        """Return variables that are 1 where both of two bits are, else 0.

        They need not be binary.
        """
        first, second = np.broadcast_arrays(first, second)
        p, q = first.ravel(), second.ravel()
        columns = self.model.add_variables(name, (len(p),), integer=binary)
        self._fill.append((columns, lambda x: x[p] * x[q]))
        k = np.arange(len(p))
        one: Term = (k, columns, 1.0)
        self.model.add_rows(f"{name}_first", len(k), [one, (k, p, -1.0)], upper=0)
        self.model.add_rows(f"{name}_second", len(k), [one, (k, q, -1.0)], upper=0)
        self.model.add_rows(f"{name}_both", len(k), [one, (k, p, -1.0), (k, q, -1.0)], lower=-1)
        self.size["variables"] += len(k)
        self.size["binaries"] += len(k) * binary
        self.size["rows"] += 3 * len(k)
        return columns.reshape(first.shape)

    def polynomial(
        self,
        name: str,
        polynomial: Polynomial,
        numbers: tuple[Integer, Integer],
        factor: Linear | None = None,
        span: Range = (Fraction(1), Fraction(1)),
    ) -> Linear:
        """Return ``polynomial(x, y) · factor`` for two integers x and y.

        Horner's scheme: ``P = R + v · Q`` with a variable v that has bits, and
        R without v. Without a factor, linear polynomials need no bits.

        Parameters
        ----------
        name
            A name for the variables and rows.
        polynomial
            The polynomial.
        numbers
            Its variables. Those that are multiplied need bits.
        factor
            The factor; 1 if None.
        span
            The bounds of the factor.
        """
        if polynomial.degree == 0 or (factor is None and polynomial.degree == 1):
            if factor is not None:
                return factor * polynomial.coefficient(0, 0)
            x, y = (number.expression for number in numbers)
            return (
                x * polynomial.coefficient(1, 0)
                + y * polynomial.coefficient(0, 1)
                + Linear(polynomial.coefficient(0, 0))
            )
        v = _horner_variable(polynomial, numbers, alone=factor is None)
        rest, inner = polynomial.split(v)
        multiplied = self.polynomial(f"{name}{'xy'[v]}", inner, numbers, factor, span)
        low, high = inner.range(numbers[0].range, numbers[1].range)
        ends = [p * s for p in (low, high) for s in span]
        product = self.times(f"{name}{'xy'[v]}", numbers[v], multiplied, (min(ends), max(ends)))
        return self.polynomial(f"{name}_", rest, numbers, factor, span) + product


class Bilinear(Products):
    """States products as they are, for solvers that branch on continuous variables."""

    def expand(self, name: str, number: Integer, length: int | None = None) -> Integer:
        """Return the integer as a variable between 0 and 1 times its bound; it needs no bits."""
        span = Fraction(0), Fraction(1)
        share = self.named(name, number.expression * Fraction(1, number.upper), span)
        return Integer(share * number.upper, number.upper)

    def times(self, name: str, number: Integer, factor: Linear, span: Range) -> Linear:
        """Return ``z = number · factor``, both divided by their largest absolute values."""
        size = max(abs(span[0]), abs(span[1]))
        if not size:
            return Linear()
        low, high = span[0] / size, span[1] / size
        small = self.named(f"{name}_factor", factor * (1 / size), (low, high))
        (first, _, _), (second, _, _) = number.expression.terms[0], small.terms[0]
        i, j = int(first[0]), int(second[0])
        column = self.variable(
            f"{name}_product",
            min(float(low), 0.0),
            max(float(high), 0.0),
            lambda x: float(x[i] * x[j]),
        )
        self.model.products.append(Product(int(column[0]), i, j))
        return Linear.of(column, np.ones(1)) * (size * number.upper)


def needed_bits(polynomial: Polynomial, lengths: tuple[int, int], *, alone: bool) -> list[int]:
    """Return, for x and y, how many products Horner's scheme makes of their bits."""
    cost = [0, 0]
    if polynomial.degree == 0 or (alone and polynomial.degree == 1):
        return cost
    v = _choose(polynomial, lengths, alone=alone)
    cost[v] += lengths[v]
    for part in polynomial.split(v):
        for k, more in enumerate(needed_bits(part, lengths, alone=alone)):
            cost[k] += more
    return cost


def _choose(polynomial: Polynomial, lengths: tuple[int, int], *, alone: bool) -> int:
    """Return the variable to factor out: one of the higher degree, then one of fewer bits."""
    degrees = [polynomial.degree_in(v) for v in (0, 1)]
    if alone:  # squares need bits of their own variable; mixed terms those of either
        squared = [v for v in (0, 1) if degrees[v] > 1]
        if squared:
            return squared[0]
    present = [v for v in (0, 1) if degrees[v]]
    return min(present, key=lambda v: (-degrees[v], lengths[v]))


def _horner_variable(
    polynomial: Polynomial, numbers: tuple[Integer, Integer], *, alone: bool
) -> int:
    lengths = tuple(number.upper.bit_length() for number in numbers)
    return _choose(polynomial, (lengths[0], lengths[1]), alone=alone)
