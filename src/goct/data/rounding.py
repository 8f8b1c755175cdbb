"""Numbers that floats cannot hold, and moments finer than a microsecond: rounded up.

A value that is rounded up exceeds a float t if and only if the value itself does, so that it
meets the conditions that it met before. Floats stand for the numbers they print as.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOMENT = "datetime64[us]"
_EXACT = 2**53  # floats hold all integers up to here


def float_above(value: Any) -> float:
    """Return the least float that is no smaller than a Python number."""
    number = float(value)
    if number == value or not isfinite(number):
        return number
    shown = Fraction(number) if number.is_integer() else Fraction(repr(number))
    is_low = shown < Fraction(*value.as_integer_ratio())
    return float(np.nextafter(number, np.inf)) if is_low else number


def floats_above(exact: NDArray[Any]) -> tuple[NDArray[np.float64], bool]:
    """Return the least floats that are no smaller than some numbers, and whether all are equal."""
    if exact.dtype == object:
        numbers = [int(v) if isinstance(v, np.integer) else v for v in exact.tolist()]
        floats = np.array([float_above(v) for v in numbers], dtype=np.float64)
        return floats, all(f == v or f != f for f, v in zip(floats.tolist(), numbers, strict=True))
    with np.errstate(over="ignore"):
        floats = exact.astype(np.float64)
    if exact.dtype == np.float64 or exact.itemsize < 8:
        return floats, True
    if exact.dtype.kind == "f":
        odd = (floats != exact) & np.isfinite(floats)
        low = odd & (floats < exact)
    else:
        if exact.size == 0 or (exact.min() >= -_EXACT and exact.max() <= _EXACT):
            return floats, True
        fits = floats < 2.0 ** (8 * exact.itemsize - (exact.dtype.kind == "i"))
        back = np.where(fits, floats, 0).astype(exact.dtype)
        odd = ~fits | (back != exact)
        low = fits & (back < exact)
    return np.where(low, np.nextafter(floats, np.inf), floats), not odd.any()


def moments_above(exact: NDArray[Any]) -> tuple[NDArray[np.datetime64], bool]:
    """Return the first microseconds not before some moments, and whether all are equal."""
    moments = exact.astype(MOMENT)
    if exact.dtype == object:  # moments of different units
        low = np.array([m < e for m, e in zip(moments, exact, strict=True)], dtype=bool)
    else:
        low = moments < exact
    return np.where(low, moments + np.timedelta64(1, "us"), moments), not low.any()
