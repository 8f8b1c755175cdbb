"""The convex hull of points, seen from the perfect corner."""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

Point: TypeAlias = tuple[int, int]
Edge: TypeAlias = tuple[Point, Point]


def normal(left: Point, right: Point) -> tuple[int, int]:
    """Return the direction that is the same at both ends of an edge, in lowest terms."""
    a, b = left[1] - right[1], right[0] - left[0]
    return a // gcd(a, b), b // gcd(a, b)


def lower_hull(points: list[Point]) -> list[Point]:
    """Return the vertices of the hull that minimise a direction with positive weights.

    They are ordered by increasing x, and so by decreasing y.
    """
    hull: list[Point] = []
    for point in sorted(set(points)):
        if hull and point[1] >= hull[-1][1]:
            continue  # dominated
        while len(hull) > 1 and _turns_right_or_straight(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _turns_right_or_straight(p: Point, q: Point, r: Point) -> bool:
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) <= 0
