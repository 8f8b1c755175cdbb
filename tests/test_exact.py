from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct.exact import Exact, as_fraction, check_magnitude, common_integers, scale_to_integers

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=60)
terms = st.lists(st.tuples(fractions, st.integers(0, 60)), max_size=4)


def build(rational: Fraction, roots: list[tuple[Fraction, int]]) -> Exact:
    return sum((Exact.sqrt(m) * c for c, m in roots), Exact(rational))


def approximate(rational: Fraction, roots: list[tuple[Fraction, int]]) -> float:
    return float(rational) + sum(float(c) * math.sqrt(m) for c, m in roots)


@pytest.mark.slow
@given(fractions, terms, fractions, terms)
def test_comparison_agrees_with_floats_where_these_can_tell(q, roots, r, others) -> None:
    x, y = build(q, roots), build(r, others)
    a, b = approximate(q, roots), approximate(r, others)
    assert float(x) == pytest.approx(a, abs=1e-9)
    if abs(a - b) > 1e-6:
        assert (x < y) == (a < b)
        assert x != y
    assert (x < y) + (x == y) + (x > y) == 1


@pytest.mark.slow
@given(fractions, terms, st.integers(1, 12))
def test_a_number_equals_itself_in_another_form(q, roots, k) -> None:
    x = build(q, roots)
    # c * sqrt(m) = c / k * sqrt(k^2 m), in reverse order
    y = build(q, [(c / k, m * k * k) for c, m in reversed(roots)])
    assert x == y
    assert hash(x) == hash(y)
    assert not x - y


def test_floats_cannot_decide_what_exact_does() -> None:
    # sqrt(n^2 + 1) - n is about 1 / (2n): far below the resolution of floats at n = 10^12
    n = 10**12
    assert Exact.sqrt(n * n + 1) > n
    assert math.sqrt(n * n + 1) == n


def test_square_roots() -> None:
    assert Exact.sqrt(Fraction(4, 9)) == Fraction(2, 3)
    assert Exact.signed_sqrt(Fraction(-1, 2)) == -Exact.sqrt(Fraction(1, 2))
    assert Exact.sqrt(2) + Exact.sqrt(3) != Exact.sqrt(5)
    with pytest.raises(ValueError, match="negative"):
        Exact.sqrt(-1)
    with pytest.raises(ValueError, match="irrational"):
        Exact.sqrt(2).as_fraction()


def test_arithmetic_with_numbers_of_other_types() -> None:
    half = Exact(Fraction(1, 2))
    assert half + 0.1 == Fraction(3, 5)
    assert 1 - half == half == 0.5
    assert 2 * half == 1
    assert half * Exact.sqrt(8) == Exact.sqrt(2)
    assert half / 3 == Fraction(1, 6)
    assert abs(-half) == half
    assert np.float64(0.5) == half
    assert half < float("1e300")
    assert half != "0.5"
    with pytest.raises(TypeError):
        half < "0.5"  # noqa: B015
    with pytest.raises(TypeError):
        half + "0.5"


def test_formatting() -> None:
    assert f"{Exact(Fraction(1, 3)):.3f}" == "0.333"
    assert f"{Exact.sqrt(2)}" == "1.41421"
    assert repr(Exact.sqrt(Fraction(1, 2))) == "Exact(1/2*√2)"
    assert repr(Exact(Fraction(-2, 3))) == "Exact(-2/3)"
    assert round(Exact.sqrt(2), 2) == 1.41


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (1 / 3, Fraction(1, 3)),
        (212 / 569, Fraction(212, 569)),
        (0.12345678, Fraction(12345678, 10**8)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float32(1 / 3), Fraction(1, 3)),
        (np.int64(7), Fraction(7)),
        (True, Fraction(1)),
        (0.1 + 0.2, Fraction(3, 10)),
        (3 / 10 * 7, Fraction(21, 10)),
        (1e-9, Fraction(1, 10**9)),
        (1 / 999_983, Fraction(1, 999_983)),
        (1 / 1_500_007, Fraction(str(1 / 1_500_007))),  # no denominator up to a million
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_floats_are_read_as_meant(value, expected) -> None:
    assert as_fraction(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reading_a_float_loses_next_to_nothing(value) -> None:
    assert abs(float(as_fraction(value)) - value) <= 1e-15 * abs(value)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_reading_floats_keeps_their_order(a, b) -> None:
    if a < b:
        assert as_fraction(a) <= as_fraction(b)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_must_be_finite(bad) -> None:
    with pytest.raises(ValueError, match="split_penalty must be finite"):
        as_fraction(bad, "split_penalty")


def test_numbers_must_be_numbers() -> None:
    with pytest.raises(TypeError, match="real number"):
        as_fraction("1")


def test_scaling_to_integers() -> None:
    integers, unit, exact = scale_to_integers(np.array([0.5, 0.25, 1 / 3]), "weights")
    assert exact
    assert unit == Fraction(1, 12)
    assert integers.tolist() == [6, 3, 4]

    integers, unit, exact = scale_to_integers(np.array([0.1, 0.3], dtype=np.float32), "weights")
    assert (integers.tolist(), unit, exact) == ([1, 3], Fraction(1, 10), True)

    integers, unit, exact = scale_to_integers(np.array([3, 5]), "weights")
    assert (integers.tolist(), unit, exact) == ([3, 5], 1, True)


def test_scaling_irregular_numbers_rounds_them_finely() -> None:
    values = np.random.default_rng(0).random((50, 2))
    integers, unit, exact = scale_to_integers(values, "weights")
    assert not exact
    assert integers.shape == values.shape
    assert np.abs(integers * float(unit) - values).max() < values.sum() * 2.0**-27


@pytest.mark.parametrize("values", [[5e-324] * 3, [1e308] * 4, [1e-300, 1e300], [1e-30, 1, 1]])
def test_scaling_extreme_numbers(values) -> None:
    integers, unit, _ = scale_to_integers(np.array(values), "weights")
    assert (integers >= 0).all()
    assert 0 < integers.sum() < 2**62
    assert abs(unit * int(integers.max()) - Fraction(max(values))) <= Fraction(max(values)) / 10**6


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**61, 2**61, 2**61]),
        np.array([2**61, -(2**61)]),
        np.array([2**64 - 1, 3], dtype=np.uint64),
        np.array([2**62], dtype=np.uint64),
    ],
)
def test_scaling_refuses_sums_beyond_64_bits(values) -> None:
    with pytest.raises(ValueError, match=r"2\*\*62"):
        scale_to_integers(values, "weights")


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint64, np.int64])
def test_scaling_whole_numbers_is_exact(dtype) -> None:
    for values in ([], [1, 0, 1], [2**61, 2**60] if dtype in (np.uint64, np.int64) else [1]):
        integers, unit, exact = scale_to_integers(np.array(values, dtype=dtype), "weights")
        assert (integers.dtype, exact) == (np.int64, True)
        assert [unit * n for n in integers.tolist()] == values


@pytest.mark.parametrize("factor", [1, 10**9, 0.125, 0.01])
def test_multiples_of_the_same_numbers_have_the_same_integers(factor) -> None:
    integers, unit, exact = scale_to_integers(np.array([3, 0, -5, 7]) * factor, "weights")
    assert (integers.tolist(), unit, exact) == ([3, 0, -5, 7], as_fraction(factor, ""), True)


def test_comparison_at_equality() -> None:
    for number in (Exact(2), Exact.sqrt(2), Exact.sqrt(2) - 1):
        same = number + Exact.sqrt(3) - Exact.sqrt(3)
        assert number == same
        assert number <= same
        assert number >= same
        assert not number < same
        assert not number > same
        assert number != same + Fraction(1, 10**30)
        assert number < same + Fraction(1, 10**30)


def test_magnitudes() -> None:
    for number in (Fraction(0), Fraction(10) ** 100, Fraction(1, 10**100), Fraction(-3)):
        assert check_magnitude(number, "it") == number
    with pytest.raises(ValueError, match="too large to make sense"):
        check_magnitude(Fraction(10) ** 100 + 1, "it")
    with pytest.raises(ValueError, match="too close to 0"):
        check_magnitude(Fraction(1, 10**100 + 1), "it")


def test_common_integers() -> None:
    assert common_integers([Fraction(1, 6), Fraction(3, 4), Fraction(-2)]) == (12, [2, 9, -24])


def test_signed_roots() -> None:
    assert Exact.signed_sqrt(Fraction(-9, 4)) == Fraction(-3, 2)
    assert Exact.signed_sqrt(0) == 0
    assert Exact.signed_sqrt(Fraction(1, 4)) == Fraction(1, 2)
