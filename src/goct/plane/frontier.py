"""The frontier: all vertices of the hull, and the nondominated points inside it."""

from __future__ import annotations

from itertools import pairwise

from goct.plane.hull import Edge, HullWalk, Point, normal
from goct.plane.oracle import InsideOracle
from goct.plane.points import Points
from goct.task import SizeLimit
from goct.tree import Leaf, Tree


class FrontierWalk(HullWalk):
    """A running enumeration of the supported and unsupported nondominated points.

    Parameters
    ----------
    oracle, points, size
        As for :class:`goct.plane.hull.HullWalk`.

    Attributes
    ----------
    inside
        The points of the Pareto front that are no vertices, as far as they are
        found.
    """

    def __init__(self, oracle: InsideOracle, points: Points, size: SizeLimit) -> None:
        problem = points.problem
        constants = (Tree(Leaf(k), problem.classes, problem.feature_names) for k in range(2))
        trees = {points.of(tree): tree for tree in constants}
        super().__init__(oracle, points, size, trees)
        self.trees |= trees
        self.inside: list[Point] = []
        self._inside_oracle = oracle

    def follow_hull(self) -> None:
        """Find all vertices of the hull, the longest open edge first."""
        while edges := self.open_edges():
            edge = max(edges, key=self._length)
            a, b = normal(*edge)
            point, _ = self.ask(a, b, a * edge[0][0] + b * edge[0][1])
            if point is None:
                self.closed.add(edge)

    def look_inside(self) -> None:
        """Find all points of the Pareto front between the vertices of the hull."""
        self.closed = set()
        for edge in sorted(pairwise(self.hull), key=self._length):
            self._find_front(edge)
            self.closed.add(edge)

    def _find_front(self, edge: Edge) -> None:
        """Find the points of the front between the ends of an edge, and trees there."""
        a, b = normal(*edge)
        front = list(edge)

        def room() -> tuple[int, int, int]:
            """Return budget and box of what no known point dominates."""
            gaps = [
                (q[0] - 1, p[1] - 1)
                for p, q in pairwise(front)
                if a * (q[0] - 1) + b * (p[1] - 1) >= a * edge[0][0] + b * edge[0][1]
            ]
            if not gaps:
                return -1, -1, -1
            return (
                max(a * x + b * y for x, y in gaps),
                max(x for x, _ in gaps),
                max(y for _, y in gaps),
            )

        def visit(x: int, y: int) -> tuple[int, int, int] | None:
            if any(p[0] <= x and p[1] <= y for p in front):
                return None
            front[:] = sorted([p for p in front if p[0] < x or p[1] < y] + [(x, y)])
            return room()

        budget, *box = room()
        if budget >= 0:
            self._inside_oracle.search_inside(
                self.size,
                direction=(a, b),
                budget=budget,
                box=(box[0], box[1]),
                visit=visit,
                take=self._take,
            )

    def _take(self, tree: Tree) -> None:
        point = self.points.of(tree)
        if point not in self.trees:
            self.trees[point] = tree
            self.inside.append(point)

    def _length(self, edge: Edge) -> float:
        (x0, y0), (x1, y1) = edge
        return (x1 - x0) / self.points.n_pos + (y0 - y1) / self.points.n_neg
