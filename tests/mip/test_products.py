"""Polynomials, and products that have one value at every integral point."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goct.metrics.polynomial import Polynomial
from goct.mip.backends.base import Settings
from goct.mip.backends.scip import Scip
from goct.mip.model import MipModel
from goct.mip.products import LARGEST_COEFFICIENT, Integer, Linear, Products, needed_bits

X, Y = Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1})


def test_arithmetic() -> None:
    p = (X + 2 * Y - 1) ** 2 / 2
    assert p(3, 5) == Fraction(72)
    assert p == X * X / 2 + 2 * X * Y + 2 * Y**2 - X - 2 * Y + Fraction(1, 2)
    assert (p.degree, p.degree_in(0)) == (2, 2)
    rest, factor = p.split(0)
    assert rest + X * factor == p
    assert p.substitute(Y, X)(5, 3) == p(3, 5)
    assert (3 - X).range((Fraction(0), Fraction(7)), (Fraction(0), Fraction(1))) == (-4, 3)
    assert hash(X + Y) == hash(Y + X)
    with pytest.raises(TypeError, match="whole powers"):
        X ** (1 / 2)


POLYNOMIALS = [
    X * Y,
    (5 + X - Y) * (6 + Y - X),
    X * X * Y - 3 * Y,
    Polynomial.of(4),
    2 - X,
    (X - Y) ** 3,
]


@pytest.mark.parametrize("polynomial", POLYNOMIALS, ids=repr)
@pytest.mark.parametrize("has_factor", [False, True])
def test_products_are_exact(polynomial, has_factor) -> None:
    """With x, y and the factor fixed, both the largest and the least value are the true one."""
    sizes = (6, 5)
    for (x, y), sign in product([(0, 0), (6, 5), (3, 4), (5, 1)], (1, -1)):
        model = MipModel()
        products = Products(model)
        columns = model.add_variables("count", (2,), upper=6, integer=False)
        numbers = [Integer(Linear.of(columns[k : k + 1], np.ones(1)), sizes[k]) for k in range(2)]
        lengths = (numbers[0].upper.bit_length(), numbers[1].upper.bit_length())
        needed = needed_bits(polynomial, lengths, alone=not has_factor)
        a, b = (products.expand("xy"[k], n) if needed[k] else n for k, n in enumerate(numbers))
        factor, value = None, 1.0
        span = (Fraction(1), Fraction(1))
        if has_factor:
            value, span = -0.3, (Fraction(-1, 2), Fraction(1))
            column = products.variable("t", -0.5, 1.0, lambda _: -0.3)
            factor = Linear.of(column, np.ones(1))
            products.row("fix", factor, lower=value, upper=value, rescale=False)
        result = products.polynomial("p", polynomial, (a, b), factor, span)
        model.add_rows("fix", 2, [([0, 1], columns, 1.0)], lower=[x, y], upper=[x, y])
        for row, column, coefficient in result.entries():
            assert row == 0
            np.add.at(model.objective, np.asarray(column), sign * np.asarray(coefficient))
        expected = float(polynomial(x, y)) * value
        solution = Scip().run(model, Settings())
        claimed = sign * solution.bound + float(result.constant)
        assert claimed == pytest.approx(expected, abs=1e-5)
        # The values that are set for a tree are a solution.
        point = np.zeros(model.n_variables)
        point[columns] = x, y
        products.complete(point)
        assert model.violation(point) < 1e-9
        assert result.value(point) == pytest.approx(expected)
        assert products.size["variables"] == model.n_variables - 2
        assert products.size["binaries"] == int(model.is_integer.sum())
        assert products.size["rows"] == model.n_rows - 2


def test_both() -> None:
    model = MipModel()
    products = Products(model)
    bits = model.add_variables("bits", (2, 2), integer=True)
    columns = products.both("and", bits[:1].T, bits[1:])
    assert columns.shape == (2, 2)
    point = np.zeros(model.n_variables)
    point[bits] = [[1, 0], [1, 1]]
    products.complete(point)
    assert point[columns].tolist() == [[1, 1], [0, 0]]
    assert model.violation(point) == 0


@pytest.mark.parametrize("upper", [100, 10**5, 10**7, 10**9])
def test_rows_of_bits_are_not_too_large_for_solvers(upper) -> None:
    """A solver took a row with numbers of 10^7 for one that no point meets."""
    model = MipModel()
    column = model.add_variables("number", (1,), upper=float(upper), integer=True)
    number = Integer(Linear.of(column, np.ones(1)), upper)
    products = Products(model)
    expanded = products.expand("bits", number)
    coefficients = np.concatenate([rows.coefficient for rows in model.rows])
    assert np.abs(coefficients).max() <= 1.001 * LARGEST_COEFFICIENT
    # Still, a number that is wrong by a half is far from meeting it.
    point = np.zeros(model.n_variables)
    point[column] = upper // 3
    products.complete(point)
    assert expanded.read(point) == upper // 3
    assert model.violation(point) <= 1e-6
    point[column] += 0.5
    assert model.violation(point) > 1e-5
