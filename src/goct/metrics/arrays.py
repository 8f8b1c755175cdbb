"""Arithmetic on arrays of counts, as the approximate values of metrics need it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]


def first(counts: Counts) -> int:
    """Return the first of some counts."""
    return int(np.asarray(counts).flat[0])


def floats(*counts: Counts) -> list[Floats]:
    """Return counts as floats, whose products do not overflow."""
    return [np.asarray(count).astype(np.float64) for count in counts]


def linear(constant: int, factors: Sequence[int], counts: Sequence[Counts]) -> NDArray[Any]:
    """Return ``constant + Σ factor · count`` for arrays of counts, without a wrap-around.

    In integers of 64 bits if all of it fits, and in Python's if not. Every product of counts goes
    through this, or is one of Python's integers.
    """
    largest = abs(constant) + sum(
        abs(factor) * int(np.abs(count).max(initial=1))
        for factor, count in zip(factors, counts, strict=True)
    )
    dtype: type = np.int64 if largest < 2**62 else object
    total: NDArray[Any] = np.full(np.broadcast(*counts).shape, constant, dtype=dtype)
    for factor, count in zip(factors, counts, strict=True):
        if factor:
            total = total + np.asarray(count).astype(dtype) * factor
    return total


def exact_sum(constant: int, factors: Sequence[int], counts: Sequence[Counts]) -> Floats:
    """Return ``constant + Σ factor · count`` for arrays of counts, rounded once."""
    return linear(constant, factors, counts).astype(np.float64)


def as_float(number: Fraction | int) -> float:
    """Return a number as a float; infinity if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of floats, 0 where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    values = np.zeros(numerator.shape)
    return np.divide(numerator, denominator, out=values, where=denominator != 0)
