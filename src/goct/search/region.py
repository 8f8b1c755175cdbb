"""The part of the (FN, FP) plane that no proof has excluded yet."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Point: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Region:
    r"""A convex region :math:`\{(x, y)\}` that is closed towards larger x and y.

    It starts as the quadrant x, y >= 0 and shrinks by half-planes
    :math:`a x + b y \ge c` with positive a and b. Every tree lies in it: x is
    its number of false negatives, y that of false positives.

    Attributes
    ----------
    corners
        The vertices from the one with the smallest x to the one with the
        smallest y. From the first a ray goes up, from the last one goes right.
    """

    corners: tuple[Point, ...] = ((Fraction(0), Fraction(0)),)

    def cut(self, a: int, b: int, c: int | Fraction) -> Region:
        """Return the region without the points where ``a x + b y < c``."""
        if a <= 0 or b <= 0:
            raise ValueError(f"the direction ({a}, {b}) must be positive")
        kept: list[Point] = []
        corners = self.corners
        values = [a * x + b * y - c for x, y in corners]
        if values[0] < 0:
            x = corners[0][0]
            kept.append((x, (c - a * x) / Fraction(b)))
        for i, (corner, value) in enumerate(zip(corners, values, strict=True)):
            if value >= 0:
                kept.append(corner)
            if i + 1 < len(corners) and value * values[i + 1] < 0:
                kept.append(_between(corner, corners[i + 1], value, values[i + 1]))
        if values[-1] < 0:
            y = corners[-1][1]
            kept.append(((c - b * y) / Fraction(a), y))
        return Region(tuple(kept))

    def between(self, low: Fraction | int, high: Fraction | int) -> tuple[Point, ...]:
        """Return the corners with ``low <= x <= high``."""
        first = bisect_left(self.corners, low, key=lambda corner: corner[0])
        last = bisect_right(self.corners, high, key=lambda corner: corner[0])
        return self.corners[first:last]


def _between(p: Point, q: Point, at_p: Fraction, at_q: Fraction) -> Point:
    """Return the point between p and q where a linear function with these values is zero."""
    t = at_p / (at_p - at_q)
    return p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])
