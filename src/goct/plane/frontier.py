"""The frontier: all vertices of the hull, and the nondominated points inside it."""

from __future__ import annotations

from itertools import pairwise

from goct.plane.hull import Edge, HullWalk, Point, normal
from goct.plane.oracle import InsideOracle, SideBySide
from goct.plane.points import Points
from goct.task import SizeLimit
from goct.tree import Leaf, Tree


def _below(edge: Edge) -> tuple[int, int, int]:
    """Return direction and cutoff of a question about trees below an edge."""
    a, b = normal(*edge)
    return a, b, a * edge[0][0] + b * edge[0][1]


class _Triangle:
    """The points of the front between the ends of an edge, as far as they are found."""

    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        self.direction = normal(*edge)
        self._front = list(edge)

    def room(self) -> tuple[int, int, int]:
        """Return budget and box of what no known point dominates."""
        a, b = self.direction
        least = a * self.edge[0][0] + b * self.edge[0][1]
        gaps = [
            (q[0] - 1, p[1] - 1)
            for p, q in pairwise(self._front)
            if a * (q[0] - 1) + b * (p[1] - 1) >= least
        ]
        if not gaps:
            return -1, -1, -1
        return (
            max(a * x + b * y for x, y in gaps),
            max(x for x, _ in gaps),
            max(y for _, y in gaps),
        )

    def visit(self, x: int, y: int) -> tuple[int, int, int] | None:
        """Take a point, unless another one dominates it; return what is left."""
        if any(p[0] <= x and p[1] <= y for p in self._front):
            return None
        self._front = sorted([p for p in self._front if p[0] < x or p[1] < y] + [(x, y)])
        return self.room()


class FrontierWalk(HullWalk):
    """A running enumeration of the supported and unsupported nondominated points.

    Parameters
    ----------
    oracle, points, size
        As for :class:`goct.plane.hull.HullWalk`.
    others
        Whom to ask many questions at the same time; nobody by default.

    Attributes
    ----------
    inside
        The points of the Pareto front that are no vertices, as far as they are
        found.
    """

    def __init__(
        self,
        oracle: InsideOracle,
        points: Points,
        size: SizeLimit,
        others: SideBySide | None = None,
    ) -> None:
        problem = points.problem
        constants = (Tree(Leaf(k), problem.classes, problem.feature_names) for k in range(2))
        trees = {points.of(tree): tree for tree in constants}
        super().__init__(oracle, points, size, trees)
        self.trees |= trees
        self.inside: list[Point] = []
        self._inside_oracle = oracle
        self._others = others

    def follow_hull(self) -> None:
        """Find all vertices of the hull, the longest open edge first."""
        long: set[Edge] = set()
        while edges := sorted(self.open_edges(), key=self._length, reverse=True):
            short = [edge for edge in edges if edge not in long]
            if self._others is None or len(short) < 2:
                a, b, cutoff = _below(edges[0])
                answer = self.oracle.cheapest(a, b, self.size, cutoff=cutoff)
                self._learn(edges[0], answer.tree)
                continue
            answers = self._others.cheapest_of_all([_below(edge) for edge in short], self.size)
            for edge, found in zip(short, answers, strict=True):
                if found is None:
                    long.add(edge)
                else:
                    self._learn(edge, found.tree)

    def _learn(self, edge: Edge, tree: Tree | None) -> None:
        """Learn the answer to a question about an edge."""
        if tree is None:
            self.closed.add(edge)
        else:
            self.add(tree)

    def look_inside(self) -> None:
        """Find all points of the Pareto front between the vertices of the hull."""
        self.closed = set()
        # Others that were found on the way may lie on its edges: they are taken as all between.
        self.trees = {point: self.trees[point] for point in self.hull}
        triangles = [_Triangle(edge) for edge in sorted(pairwise(self.hull), key=self._length)]
        self.closed.update(each.edge for each in triangles if each.room()[0] < 0)
        left = [each for each in triangles if each.edge not in self.closed]
        if self._others is not None:
            done = self._others.search_all_inside(self.size, left, self._take)
            self.closed.update(each.edge for each, ended in zip(left, done, strict=True) if ended)
        for triangle in left:
            if triangle.edge in self.closed:
                continue
            budget, *box = triangle.room()
            self._inside_oracle.search_inside(
                self.size,
                direction=triangle.direction,
                budget=budget,
                box=(box[0], box[1]),
                visit=triangle.visit,
                take=self._take,
            )
            self.closed.add(triangle.edge)

    def _take(self, tree: Tree) -> None:
        point = self.points.of(tree)
        if point not in self.trees:
            self.trees[point] = tree
            self.inside.append(point)

    def _length(self, edge: Edge) -> float:
        (x0, y0), (x1, y1) = edge
        return (x1 - x0) / self.points.n_pos + (y0 - y1) / self.points.n_neg
