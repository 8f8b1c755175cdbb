"""Products that have one value at every integral point."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goct import Problem
from goct.metrics import FBeta, Precision
from goct.metrics.polynomial import Polynomial
from goct.mip.backends.base import Settings
from goct.mip.backends.scip import Scip
from goct.mip.nonlinear.linearize import Integer, Linear, PaperProducts, Products, needed_bits
from goct.mip.numerics import LARGEST_COEFFICIENT
from goct.mip.program import MipProgram
from tests.support.mip import model_of, noisy_arrays, solve, solve_and_check

X, Y = Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1})


POLYNOMIALS = [
    X * Y,
    (5 + X - Y) * (6 + Y - X),
    X * X * Y - 3 * Y,
    Polynomial.of(4),
    2 - X,
    (X - Y) ** 3,
]


@pytest.mark.slow
@pytest.mark.parametrize("polynomial", POLYNOMIALS, ids=repr)
@pytest.mark.parametrize("has_factor", [False, True])
def test_products_are_exact(polynomial, has_factor) -> None:
    """With x, y and the factor fixed, both the largest and the least value are the true one."""
    sizes = (6, 5)
    for (x, y), sign in product([(0, 0), (6, 5), (3, 4), (5, 1)], (1, -1)):
        model = MipProgram()
        columns = model.add_variables("count", (2,), upper=6, integer=False)
        products = Products(model)
        numbers = [Integer(Linear.of(columns[k : k + 1], np.ones(1)), sizes[k]) for k in range(2)]
        lengths = (numbers[0].upper.bit_length(), numbers[1].upper.bit_length())
        needed = needed_bits(polynomial, lengths, alone=not has_factor)
        a, b = (products.expand("xy"[k], n) if needed[k] else n for k, n in enumerate(numbers))
        factor, value = None, 1.0
        span = (Fraction(1), Fraction(1))
        if has_factor:
            value, span = -0.3, (Fraction(-1, 2), Fraction(1))
            factor = products.variable("t", (-0.5, 1.0), lambda _: -0.3)
            products.row("fix", factor, lower=value, upper=value, rescale=False)
        result = products.polynomial("p", polynomial, (a, b), factor, span)
        assert products.size == {
            "variables": model.n_variables - 2,
            "binaries": int(model.is_integer.sum()),
            "rows": model.n_rows,
        }
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
        model.complete(point)
        assert model.violation(point) < 1e-9
        assert result.value(point) == pytest.approx(expected)


def test_both() -> None:
    model = MipProgram()
    products = PaperProducts(model)
    bits = model.add_variables("bits", (2, 2), integer=True)
    first, second = np.broadcast_arrays(bits[:1].T, bits[1:])
    columns = products.both("and", first.ravel(), second.ravel())
    point = np.zeros(model.n_variables)
    point[bits] = [[1, 0], [1, 1]]
    model.complete(point)
    assert point[columns].tolist() == [1, 1, 0, 0]
    assert model.violation(point) == 0


@pytest.mark.parametrize("upper", [100, 10**5, 10**7, 10**9])
def test_rows_of_bits_are_not_too_large_for_solvers(upper) -> None:
    """A solver took a row with numbers of 10^7 for one that no point meets."""
    model = MipProgram()
    column = model.add_variables("number", (1,), upper=float(upper), integer=True)
    number = Integer(Linear.of(column, np.ones(1)), upper)
    products = Products(model)
    expanded = products.expand("bits", number)
    coefficients = np.concatenate([rows.coefficient for rows in model.rows])
    assert np.abs(coefficients).max() <= 1.001 * LARGEST_COEFFICIENT
    # Still, a number that is wrong by a half is far from meeting it.
    point = np.zeros(model.n_variables)
    point[column] = upper // 3
    model.complete(point)
    assert expanded.read(point) == upper // 3
    assert model.violation(point) <= 1e-6
    point[column] += 0.5
    assert model.violation(point) > 1e-5


def test_sizes() -> None:
    """The paper's count of variables and rows for MCC, and what the compact form needs."""
    X, y = noisy_arrays(40)
    n, P = len(y), int(y.sum())
    problem = Problem.from_arrays(X, y)
    sizes = {}
    for linearization in ("paper", "compact"):
        options = {"engine": "mip", "linearization": linearization, "node_limit": 1}
        stats = solve(problem, "mcc", 2, **options).stats
        sizes[linearization] = {k: stats[f"metric_{k}"] for k in ("binaries", "rows", "variables")}
    L, T = (n - 1).bit_length(), (P * (n - P) - 1).bit_length()
    expected = 2 * (L + 1) + (L + 1) ** 2 + (T + 1) + (T + 1) ** 2
    assert sizes["paper"]["binaries"] == expected
    assert sizes["compact"]["variables"] < sizes["paper"]["variables"] / 3
    assert sizes["compact"]["rows"] < sizes["paper"]["rows"] / 3


def test_quotients_share_the_bits_of_the_paper() -> None:
    """F-beta and the negative predictive value both expand counts of predictions."""
    metric = FBeta(2) + Precision()
    solve_and_check(metric, 41, Fraction(0), linearization="paper")
    model = model_of(Problem.from_arrays(*noisy_arrays(41)), metric, 2, linearization="paper")
    assert [name for name in model.program.families if name.endswith("_bits")] == ["U_bits"]
