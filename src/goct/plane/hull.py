"""The lower convex hull of points (FN, FP), and questions about its edges."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import gcd
from typing import TypeAlias

from goct.plane.oracle import Answer, Oracle, ToBound
from goct.plane.points import Points
from goct.task import SizeLimit
from goct.tree import Tree

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


class HullWalk:
    """Grows the lower hull of the points of trees by questions to an oracle.

    Parameters
    ----------
    oracle
        Whom to ask.
    points
        The points of trees.
    size
        How large the trees may be.
    ends
        Known points to start from.

    Attributes
    ----------
    hull
        The vertices that are found so far, from left to right.
    trees
        A tree for each point that was found.
    closed
        The edges below which there is no tree, or none that could be found.
    """

    def __init__(
        self, oracle: Oracle, points: Points, size: SizeLimit, ends: Iterable[Point]
    ) -> None:
        self.oracle = oracle
        self.points = points
        self.size = size
        self.hull = lower_hull(list(ends))
        self.trees: dict[Point, Tree] = {}
        self.closed: set[Edge] = set()

    def ask(
        self, a: int, b: int, cutoff: int, to_bound: ToBound | None = None
    ) -> tuple[Point | None, Answer]:
        """Find the tree of least ``a * FN + b * FP`` below a cutoff, for the hull."""
        answer = self.oracle.cheapest(a, b, self.size, cutoff=cutoff, to_bound=to_bound)
        if answer.tree is None:
            return None, answer
        return self.add(answer.tree), answer

    def add(self, tree: Tree) -> Point:
        """Add the point of a tree."""
        point = self.points.of(tree)
        self.trees[point] = tree
        self.hull = lower_hull([*self.hull, point])
        return point

    def open_edges(self) -> list[Edge]:
        """Return the edges that are not closed."""
        return [edge for edge in pairwise(self.hull) if edge not in self.closed]
