"""Products of counts in linear rows: the compact linearization, the paper's, and none.

An integer is the sum of its bits, and a bit times a bounded expression is exact
in four rows. Every polynomial in a few integers, times another expression,
follows by Horner's scheme: one product per bit and degree (:class:`Products`).
The paper expands both factors of a product in bits (:class:`PaperProducts`);
solvers for quadratic programs take products as they are (:class:`Bilinear`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.metrics import Quotient
from goct.metrics.polynomial import Polynomial
from goct.mip.numerics import INTEGER_TOLERANCE, LARGEST_COEFFICIENT
from goct.mip.program import MipProgram, Point, Product, Term

Values: TypeAlias = NDArray[np.float64]
Range: TypeAlias = tuple[Fraction, Fraction]

_X, _Y = Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1})
_UNIT: Range = (Fraction(1), Fraction(1))


@dataclass(frozen=True)
class Linear:
    """The linear expression ``constant + Σ coefficient · column``."""

    constant: Fraction = Fraction(0)
    terms: tuple[tuple[NDArray[np.intp], Values, Fraction], ...] = ()

    @classmethod
    def of(cls, columns: int | NDArray[np.intp], coefficients: Values | None = None) -> Linear:
        """Return ``Σ coefficient · column``; the coefficients are 1 if None."""
        columns = np.atleast_1d(columns)
        ones = np.ones(len(columns))
        terms = ((columns, ones if coefficients is None else coefficients, Fraction(1)),)
        return cls(Fraction(0), terms)

    @property
    def column(self) -> int:
        """The column of the first variable."""
        return int(self.terms[0][0][0])

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
    bits: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def has_bits(self) -> bool:
        """Whether it is expanded in bits."""
        return len(self.bits) > 0

    @property
    def range(self) -> Range:
        """Its bounds."""
        return Fraction(0), Fraction(self.upper)

    def read(self, x: Point) -> int:
        """Return the number that the bits stand for at a point."""
        return sum(round(bit) << k for k, bit in enumerate(x[self.bits].tolist()))

    def leading(self, x: Point) -> tuple[int, tuple[int, int]]:
        """Return how many leading bits are known at a point, and the numbers that they leave."""
        if not self.has_bits:
            return 0, (0, self.upper)
        values = x[self.bits[::-1]]
        is_open = np.abs(values - np.round(values)) > INTEGER_TOLERANCE
        known = int(is_open.argmax()) if is_open.any() else len(values)
        rest = len(values) - known
        low = sum(round(bit) << (len(values) - 1 - k) for k, bit in enumerate(values[:known]))
        return known, (min(low, self.upper), min(low + (1 << rest) - 1, self.upper))

    def differs(self, value: int, leading: int | None = None) -> Linear:
        """Return the number of bits, or of leading bits, that differ from those of a value."""
        first = 0 if leading is None else len(self.bits) - leading
        ones = np.array([value >> k & 1 for k in range(first, len(self.bits))], dtype=np.float64)
        terms = ((self.bits[first:], 1.0 - 2.0 * ones, Fraction(1)),)
        return Linear(Fraction(int(ones.sum())), terms)


@dataclass(frozen=True)
class Basis:
    """Two of TP, TN and U = TP + FP, in which a quotient is written.

    The denominator depends on those that have bits only, and the numerator is linear in one that
    has none.
    """

    kind: str  # "TP TN", "TP U" or "U TN"
    numbers: tuple[Integer, Integer]

    def largest(
        self, x0: Values, x1: Values, y0: Values, y1: Values, n_pos: int, n_neg: int
    ) -> tuple[Values, Values]:
        """Return the largest TP and TN in blocks of the basis; negative if there are none."""
        if self.kind == "TP U":
            tp, tn = np.minimum(x1, y1), np.minimum(n_neg, n_neg + x1 - y0)
            exists = x0 <= y1
        elif self.kind == "U TN":
            tp, tn = np.minimum(n_pos, x1 - n_neg + y1), y1
            exists = x0 - n_neg + y0 <= n_pos
        else:
            return x1, y1
        return np.where(exists, tp, -1.0), tn


class Products:
    """Adds bits and products to a program: the compact linearization."""

    keeps_form = False  # whether quotients are stated as they are printed, in TP and TN
    leaves_values_open = True  # whether cuts have to make values exact where the bits are known

    def __init__(self, program: MipProgram) -> None:
        self.program = program
        self._before = self._counts()

    def _counts(self) -> tuple[int, int, int]:
        program = self.program
        return program.n_variables, int(program.is_integer.sum()), program.n_rows

    @property
    def size(self) -> dict[str, int]:
        """How many variables, binaries and rows were added."""
        counts = zip(self._counts(), self._before, strict=True)
        names = ("variables", "binaries", "rows")
        return {name: now - before for name, (now, before) in zip(names, counts, strict=True)}

    def variable(
        self,
        name: str,
        span: tuple[float | Fraction, float | Fraction],
        value: Callable[[Point], float],
        *,
        binary: bool = False,
    ) -> Linear:
        """Add a variable within a range; `value` tells it from the variables before it."""
        low, high = map(float, span)
        return Linear.of(
            self.program.add_variables(
                name, (1,), lower=low, upper=high, integer=binary, value=value
            )
        )

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
        self.program.add_rows(
            name,
            1,
            expression.entries(scale=scale),
            lower=(lower - shift) * scale,
            upper=(upper - shift) * scale,
        )

    def named(self, name: str, expression: Linear, span: Range) -> Linear:
        """Return a variable that is equal to an expression."""
        variable = self.variable(name, span, expression.value)
        self.row(name, expression + variable * -1, lower=0, upper=0, rescale=False)
        return variable

    def expand(self, name: str, number: Integer, length: int | None = None) -> Integer:
        """Give an integer its bits: ``Σ_k 2^k · bit[k] = number``, as few as its bound allows."""
        length = number.upper.bit_length() if length is None else length

        def read(x: Point) -> Values:
            value = round(number.expression.value(x))
            return np.array([float(value >> k & 1) for k in range(length)])

        bits = self.program.add_variables(name, (length,), integer=True, value=read)
        whole = Linear.of(bits, np.exp2(np.arange(length)))
        # Large rows are scaled: solvers find no point that meets them within their tolerance.
        sum_of_bits = whole + number.expression * -1
        is_large = sum_of_bits.largest > LARGEST_COEFFICIENT
        self.row(f"{name}_sum", sum_of_bits, lower=0, upper=0, rescale=is_large)
        return Integer(whole, number.upper, bits)

    def write(
        self, name: str, quotient: Quotient, tp: Integer, tn: Integer
    ) -> tuple[Quotient, Basis]:
        """Write a quotient in two of TP, TN and U that need the fewest products; give them bits."""
        n_pos, n_neg = tp.upper, tn.upper
        u = tp.expression + tn.expression * -1 + Linear(Fraction(n_neg))
        both = Integer(u, n_pos + n_neg)
        choices = [
            (Basis("TP TN", (tp, tn)), _X, _Y),
            (Basis("TP U", (tp, both)), _X, n_neg + _X - _Y),
            (Basis("U TN", (both, tn)), _X - n_neg + _Y, _Y),
        ]
        written = [(_substituted(quotient, of_tp, of_tn), basis) for basis, of_tp, of_tn in choices]
        stated, basis = min(written, key=lambda choice: sum(_cost(*choice)))
        x, y = (
            self.expand(f"{name}_{'xy'[v]}", number) if products else number
            for v, (number, products) in enumerate(
                zip(basis.numbers, _needed_products(stated, basis), strict=True)
            )
        )
        return stated, replace(basis, numbers=(x, y))

    def polynomial(
        self,
        name: str,
        polynomial: Polynomial,
        numbers: tuple[Integer, Integer],
        factor: Linear | None = None,
        span: Range = _UNIT,
    ) -> Linear:
        """Return ``polynomial(x, y) · factor`` for two integers x and y.

        Horner's scheme: ``P = R + v · Q`` with a variable v that has bits, and
        R without v. Without a factor, linear polynomials need no bits. The factor
        is between the ends of `span`.
        """
        if polynomial.degree == 0 and factor is not None:
            return factor * polynomial.coefficient(0, 0)
        if factor is None and polynomial.degree <= 1:
            x, y = (number.expression for number in numbers)
            return (
                x * polynomial.coefficient(1, 0)
                + y * polynomial.coefficient(0, 1)
                + Linear(polynomial.coefficient(0, 0))
            )
        v = _choose(polynomial, _lengths(numbers), alone=factor is None)
        rest, inner = polynomial.split(v)
        multiplied = self.polynomial(f"{name}{'xy'[v]}", inner, numbers, factor, span)
        low, high = inner.range(numbers[0].range, numbers[1].range)
        ends = [p * s for p in (low, high) for s in span]
        product = self.times(f"{name}{'xy'[v]}", numbers[v], multiplied, (min(ends), max(ends)))
        return self.polynomial(f"{name}_", rest, numbers, factor, span) + product

    def times(self, name: str, number: Integer, factor: Linear, span: Range) -> Linear:
        """Return an integer times an expression within a range."""
        weights = np.exp2(np.arange(len(number.bits)))
        return self.bit_times(name, number.bits, factor, span, weights)

    def bit_times(
        self, name: str, bits: NDArray[np.intp], factor: Linear, span: Range, weights: Values
    ) -> Linear:
        """Return ``Σ_k weight[k] · bit[k] · factor``, the factor being within a range.

        Each product ``z = bit · e`` of a bit and ``low <= e <= high`` has the
        rows ``low · bit <= z <= high · bit`` and
        ``low · (1 - bit) <= e - z <= high · (1 - bit)`` (McCormick), which
        leave one value of z for either value of the bit. The factor is divided
        by its largest absolute value, so that all numbers are about 1.
        """
        size = max(map(abs, span))
        if not size:
            return Linear()
        low, high = span[0] / size, span[1] / size
        small = factor * (1 / size)
        if sum(len(columns) for columns, _, _ in small.terms) > 1:  # a name keeps the rows short
            small = self.named(f"{name}_factor", small, (low, high))
        columns = self.program.add_variables(
            name,
            bits.shape,
            lower=min(float(low), 0.0),
            upper=max(float(high), 0.0),
            integer=False,
            value=lambda x: x[bits] * small.value(x),
        )
        k = np.arange(len(bits))
        a, b, shift = (float(number) for number in (low, high, small.constant))
        one: Term = (k, columns, 1.0)
        # e - z, in every row
        rest: list[Term] = [(k, c, v * float(f)) for c, v, f in small.terms]
        rest.append((k, columns, -1.0))
        add = self.program.add_rows
        add(f"{name}_most", len(k), [one, (k, bits, -b)], upper=0)
        add(f"{name}_least", len(k), [one, (k, bits, -a)], lower=0)
        add(f"{name}_rest_most", len(k), [*rest, (k, bits, b)], upper=b - shift)
        add(f"{name}_rest_least", len(k), [*rest, (k, bits, a)], lower=a - shift)
        return Linear.of(columns, weights) * size


class Bilinear(Products):
    """States products as they are, for solvers that branch on continuous variables."""

    leaves_values_open = False

    def expand(self, name: str, number: Integer, length: int | None = None) -> Integer:
        """Return the integer as a variable between 0 and 1 times its bound; it needs no bits."""
        span = Fraction(0), Fraction(1)
        share = self.named(name, number.expression * Fraction(1, number.upper), span)
        return Integer(share * number.upper, number.upper)

    def times(self, name: str, number: Integer, factor: Linear, span: Range) -> Linear:
        """Return ``z = number · factor``, both divided by their largest absolute values."""
        size = max(map(abs, span))
        if not size:
            return Linear()
        low, high = span[0] / size, span[1] / size
        small = self.named(f"{name}_factor", factor * (1 / size), (low, high))
        i, j = number.expression.column, small.column
        product = self.variable(
            f"{name}_product",
            (min(low, Fraction(0)), max(high, Fraction(0))),
            lambda x: float(x[i] * x[j]),
        )
        self.program.products.append(Product(product.column, i, j))
        return product * (size * number.upper)


class PaperProducts(Products):
    """The paper's own linearization, as printed but for its errata.

    A product of two counts is expanded in the bits of both, ``Σ_r Σ_s 2^(r+s) ·
    (u_r ∧ v_s)``, with a binary variable for every pair of bits; times q, each
    of these gets a continuous variable more. The bits of a count up to n are
    ``⌈log2 n⌉ + 1``. Rows are scaled, which the paper does not do.
    """

    keeps_form = True
    leaves_values_open = False

    def __init__(self, program: MipProgram) -> None:
        super().__init__(program)
        self._expanded: dict[str, Integer] = {}

    def write(
        self, name: str, quotient: Quotient, tp: Integer, tn: Integer
    ) -> tuple[Quotient, Basis]:
        """Keep the quotient as it is."""
        return quotient, Basis("TP TN", (tp, tn))

    def polynomial(
        self,
        name: str,
        polynomial: Polynomial,
        numbers: tuple[Integer, Integer],
        factor: Linear | None = None,
        span: Range = _UNIT,
    ) -> Linear:
        """Return ``polynomial(TP, TN) · factor``.

        The polynomial has to be a constant plus a multiple of one or two of
        TP, TN, FP, FN, U, V and A = n+ TN + n- TP - n+ n-.
        """
        if polynomial.degree == 0 or (factor is None and polynomial.degree == 1):
            return super().polynomial(name, polynomial, numbers, factor, span)
        constant, scale, counts = _factors(polynomial, _counts(numbers))
        first, *others = (self._in_bits(count, numbers) for count in counts)
        bits, weights = first.bits, np.exp2(np.arange(len(first.bits)))
        for second in others:
            shape = (len(bits), len(second.bits))
            weights = np.multiply.outer(weights, np.exp2(np.arange(shape[1]))).ravel()
            left, right = (np.broadcast_to(part, shape) for part in (bits[:, None], second.bits))
            bits = self.both(f"{name}_and", left.ravel(), right.ravel())
        if factor is None:
            return Linear(constant) + Linear.of(bits, weights) * scale
        theta = f"{name}_theta" if others else name
        product = self.bit_times(theta, bits, factor, span, weights)
        return factor * constant + product * scale

    def both(
        self, name: str, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return binary variables that are 1 where both of two bits are, else 0."""
        columns = self.program.add_variables(
            name, first.shape, integer=True, value=lambda x: x[first] * x[second]
        )
        k = np.arange(len(columns))
        one: Term = (k, columns, 1.0)
        add = self.program.add_rows
        add(f"{name}_first", len(k), [one, (k, first, -1.0)], upper=0)
        add(f"{name}_second", len(k), [one, (k, second, -1.0)], upper=0)
        add(f"{name}_both", len(k), [one, (k, first, -1.0), (k, second, -1.0)], lower=-1)
        return columns

    def _in_bits(self, count: str, numbers: tuple[Integer, Integer]) -> Integer:
        if count not in self._expanded:
            polynomial, upper = _counts(numbers)[count]
            expression = super().polynomial(count, polynomial, numbers)
            length = (upper - 1).bit_length() + 1
            number = Integer(expression, upper)
            self._expanded[count] = self.expand(f"{count}_bits", number, length)
        return self._expanded[count]


LINEARIZATIONS: dict[str, type[Products]] = {
    "compact": Products,
    "paper": PaperProducts,
    "none": Bilinear,
}
"""How products are stated, by name."""


def _counts(numbers: tuple[Integer, Integer]) -> dict[str, tuple[Polynomial, int]]:
    """Return the counts that the paper expands, as polynomials in TP and TN, and their bounds."""
    p, n = (number.upper for number in numbers)
    return {
        "U": (n + _X - _Y, p + n),
        "V": (p + _Y - _X, p + n),
        "TP": (_X, p),
        "TN": (_Y, n),
        "FP": (n - _Y, n),
        "FN": (p - _X, p),
        "A": (n * _X + p * _Y - p * n, p * n),
    }


def _factors(
    polynomial: Polynomial, counts: dict[str, tuple[Polynomial, int]]
) -> tuple[Fraction, Fraction, tuple[str, ...]]:
    """Write a polynomial as ``constant + scale · product`` of one or two counts."""
    degree = min(polynomial.degree, 2)
    for names in combinations_with_replacement(counts, degree):
        product = Polynomial.of(1)
        for count in names:
            product = product * counts[count][0]
        lead = max(product.terms)
        scale = polynomial.coefficient(*lead) / product.coefficient(*lead)
        rest = polynomial - product * scale
        if scale and rest.degree == 0 and (scale > 0 or polynomial.degree == 1):
            return rest.coefficient(0, 0), scale, names
    raise ValueError(
        "linearization='paper' states products of two counts only; use 'compact', which "
        "states every polynomial"
    )


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


def _lengths(numbers: tuple[Integer, Integer]) -> tuple[int, int]:
    return numbers[0].upper.bit_length(), numbers[1].upper.bit_length()


def _needed_products(quotient: Quotient, basis: Basis) -> list[int]:
    """Return, for both numbers, how many products a quotient needs of their bits."""
    lengths = _lengths(basis.numbers)
    top = needed_bits(quotient.numerator, lengths, alone=True)
    bottom = needed_bits(quotient.denominator, lengths, alone=False)
    return [a + b for a, b in zip(top, bottom, strict=True)]


def _cost(quotient: Quotient, basis: Basis) -> list[int]:
    """Return the numbers of products and of bits that a quotient needs in a basis."""
    products = _needed_products(quotient, basis)
    lengths = _lengths(basis.numbers)
    return [*products, *(n for n, needed in zip(lengths, products, strict=True) if needed)]


def _substituted(quotient: Quotient, tp: Polynomial, tn: Polynomial) -> Quotient:
    sign = quotient.sign
    return replace(
        quotient,
        numerator=quotient.numerator.substitute(tp, tn),
        denominator=quotient.denominator.substitute(tp, tn),
        sign=None if sign is None else sign.substitute(tp, tn),
    )
