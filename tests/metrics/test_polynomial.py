"""Polynomials in two counts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from goct.metrics.polynomial import Polynomial

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
