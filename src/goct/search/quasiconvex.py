"""Quasi-convex metrics: outer approximation in the plane.

Such a metric takes its maximum over all trees at a vertex of the convex hull of
their (FN, FP) points, and over a convex region at a corner. So the corners of
the region that is not excluded yet bound it, and the oracle is asked in the
direction of an edge of the known hull, to find a vertex below it or to exclude
the best corner.
"""

from __future__ import annotations

from math import floor, gcd

from goct.exact import Exact
from goct.search.plane import Goal, Lift, Plane
from goct.search.region import Point, Region
from goct.search.run import Size


def maximise_quasiconvex(plane: Plane, goal: Goal, size: Size, lift: Lift) -> Exact | None:
    """Find the tree of largest value, if that is of interest.

    Parameters and results are those of
    :func:`goct.search.fractional.maximise_fractional`.
    """
    region, reached = plane.region, None
    # The trees that predict one class only are the ends of the hull.
    hull = [(0, plane.n_neg), (plane.n_pos, 0)]
    while True:
        corner = max(region.corners, key=lambda point: plane.value(*point))
        if not goal.admits(plane.value(*corner)):
            plane.keep(region, size)
            return reached
        left, right = _edge_at(hull, corner)
        a, b = normal(left, right)
        cutoff = _weakest_cutoff(plane, region, goal, corner, left, right, a, b)
        point, region = plane.ask(a, b, size, cutoff=cutoff, region=region, lift=lift)
        if point is not None:
            value = plane.value(*point)
            if goal.admits(value):
                goal, reached = Goal(value), value
                if value == plane.top:
                    return value
            hull = lower_hull([*hull, point])


def normal(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Return the direction that is the same at both ends of an edge, in lowest terms."""
    a, b = left[1] - right[1], right[0] - left[0]
    return a // gcd(a, b), b // gcd(a, b)


def _edge_at(hull: list[tuple[int, int]], corner: Point) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ends of the edge of the known hull above a corner of the region."""
    i = next((i for i, point in enumerate(hull) if point[0] > corner[0]), len(hull) - 1)
    return hull[i - 1], hull[i]


def _weakest_cutoff(
    plane: Plane,
    region: Region,
    goal: Goal,
    corner: Point,
    left: tuple[int, int],
    right: tuple[int, int],
    a: int,
    b: int,
) -> int:
    """Return the least cost below which a tree must be found to matter.

    If no tree is cheaper, the region above this edge holds nothing of interest.
    The cost of the edge itself always suffices.
    """

    def suffices(cost: int) -> bool:
        corners = region.cut(a, b, cost).between(left[0], right[0])
        return not any(goal.admits(plane.value(x, y)) for x, y in corners)

    low, high = floor(a * corner[0] + b * corner[1]), a * left[0] + b * left[1]
    while high - low > 1:
        middle = (low + high) // 2
        if suffices(middle):
            high = middle
        else:
            low = middle
    return high


def lower_hull(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the vertices of the hull that minimise a direction with positive weights.

    They are ordered by increasing x, and so by decreasing y.
    """
    hull: list[tuple[int, int]] = []
    for point in sorted(set(points)):
        if hull and point[1] >= hull[-1][1]:
            continue  # dominated
        while len(hull) > 1 and _turns_right_or_straight(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _turns_right_or_straight(p: tuple[int, int], q: tuple[int, int], r: tuple[int, int]) -> bool:
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) <= 0
