"""The frontier: all trees that are best for some prices of the two kinds of error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from goct.constraints import Constraint, MetricConstraint, check_constraints
from goct.exact import Exact, as_fraction
from goct.metrics import Confusion, Metric, Shape, get_metric
from goct.one_vs_rest import against_rest, name_the_rest
from goct.problem import Problem
from goct.search.hull import Edge, Point, lower_hull, normal
from goct.search.oracle import FrontResult, LinearOracle, TreeTuple
from goct.search.plane import Points
from goct.search.run import original_tree
from goct.solution import Limit, Limits
from goct.task import SizeLimit
from goct.tree import Leaf, Tree


@dataclass(frozen=True)
class Vertex:
    """A point of the frontier.

    Attributes
    ----------
    tree
        A tree at this point.
    confusion
        Its confusion matrix.
    """

    tree: Tree
    confusion: Confusion

    @property
    def recall(self) -> float:
        """The true positive rate."""
        return float(self.confusion.tp / self.confusion.n_pos)

    @property
    def false_positive_rate(self) -> float:
        """The share of the negative class that is predicted positive."""
        return float(self.confusion.fp / self.confusion.n_neg)


@dataclass(frozen=True)
class FrontierProgress:
    """The state of a running enumeration.

    Attributes
    ----------
    elapsed
        Seconds since the start.
    vertices
        The number of vertices, or points of the Pareto front, found so far.
    open_edges
        The number of neighbouring pairs between which there may be more.
    """

    elapsed: float
    vertices: int
    open_edges: int


@dataclass(frozen=True)
class Frontier:
    """What trees of a depth achieve, seen from the perfect corner.

    Attributes
    ----------
    vertices
        The vertices of the convex hull, from the largest recall to the smallest
        false positive rate.
    pareto
        If asked for, all points that no tree beats in both kinds of error, in
        the same order; else None.
    is_complete
        Whether it is proven that there are no others.
    limit
        Why the enumeration stopped before it was done, if it did.
    problem, max_depth, max_splits
        The question.
    stats
        Times and counts.
    """

    vertices: tuple[Vertex, ...]
    pareto: tuple[Vertex, ...] | None
    is_complete: bool
    limit: Limit
    max_depth: int
    max_splits: int | None
    problem: Problem = field(repr=False)
    stats: dict[str, Any] = field(default_factory=dict, repr=False)

    def cheapest(self, false_negative: Any, false_positive: Any) -> Vertex:
        """Return the vertex of least cost, given the non-negative prices of errors.

        If the frontier is complete, no tree is cheaper.
        """
        fn = as_fraction(false_negative, "false_negative")
        fp = as_fraction(false_positive, "false_positive")
        if fn < 0 or fp < 0:
            raise ValueError("false_negative and false_positive must not be negative")
        return min(self.vertices, key=lambda v: fn * v.confusion.fn + fp * v.confusion.fp)

    def for_prevalence(
        self, prevalence: Any, *, false_negative: Any = 1, false_positive: Any = 1
    ) -> Vertex:
        """Return the vertex of least expected cost where the positive class has a given share.

        Parameters
        ----------
        prevalence
            The share of the positive class where the tree will be used, between
            0 and 1; it may differ from that in the data.
        false_negative, false_positive
            The prices of errors.
        """
        share = as_fraction(prevalence, "prevalence")
        if not 0 <= share <= 1:
            raise ValueError(f"prevalence must be between 0 and 1, got {prevalence}")
        fn = as_fraction(false_negative, "false_negative") * share / self.problem.n_pos
        fp = as_fraction(false_positive, "false_positive") * (1 - share) / self.problem.n_neg
        return self.cheapest(fn, fp)

    def best(self, metric: str | Metric, constraints: Any = ()) -> Vertex | None:
        """Return the point with the largest value of a metric that meets the constraints.

        If the frontier is complete, no tree has a larger value. This holds for
        metrics that are linear in (TP, TN), FRACTIONAL or QUASICONVEX; with
        `pareto`, also for other monotone metrics and for monotone constraints.
        Others are refused.

        Returns
        -------
        Vertex or None
            None if no point meets the constraints.
        """
        metric = get_metric(metric)
        conditions = check_constraints(constraints, self.problem)
        if self.problem.n_classes > 2:
            _check_one_vs_rest(metric, conditions, self.problem)
            metric = metric.oriented(against_rest(self.problem))
        else:
            metric = metric.oriented(self.problem)
        for condition in conditions:
            if not isinstance(condition, MetricConstraint) or not condition.is_monotone:
                raise ValueError(
                    f"the best tree under {condition.name!r} need not be on the frontier"
                )
        hopeless = not metric.is_monotone or metric.shape is Shape.GENERAL
        if hopeless or (self.pareto is None and (conditions or metric.shape is Shape.MONOTONE)):
            hint = "" if hopeless else "; it is on the one with pareto=True"
            raise ValueError(
                f"the best tree for {metric.name!r}"
                + (" under constraints" if conditions else f", which is {metric.shape.value},")
                + f" need not be on the frontier{hint}"
            )

        def value(vertex: Vertex) -> Exact:
            return metric.value(vertex.confusion)

        points = self.vertices if self.pareto is None else self.pareto
        allowed = [v for v in points if all(c.is_met(v.tree, self.problem) for c in conditions)]
        return max(allowed, key=value, default=None)


def frontier(
    problem: Problem,
    max_depth: int,
    *,
    max_splits: int | None = None,
    pareto: bool = False,
    time_limit: float | None = None,
    n_jobs: int = 1,
    memory_limit: int = 1 << 30,
    callback: Callable[[FrontierProgress], Any] | None = None,
) -> Frontier:
    """Find all vertices of the ROC hull of the trees of a depth, and prove it.

    For every price ratio of the two kinds of error, every prevalence, and every
    metric that is linear, FRACTIONAL or QUASICONVEX, a best tree is among them.

    Parameters
    ----------
    problem
        The data. If there are more than two classes, the positive one stands
        against the rest.
    max_depth
        The largest number of splits between root and leaf.
    max_splits
        The largest number of splits; no limit if None.
    pareto
        Whether to find, after the hull, all trees inside it that no other beats
        in both kinds of error. For every monotone metric with any monotone
        constraints, a best tree is among them. This can take much longer.
    time_limit
        Seconds after which what is found by then is returned.
    n_jobs, memory_limit
        See :class:`goct.search.LinearOracle`.
    callback
        Called with a :class:`FrontierProgress` from time to time; the
        enumeration stops if it returns True.

    Returns
    -------
    Frontier
    """
    started = time.perf_counter()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if not problem.n_pos or not problem.n_neg:
        raise ValueError(
            "the frontier needs a positive class and others, and that both occur; the labels are "
            f"{list(problem.classes)}, name the positive one with pos_label"
        )
    two_classes = problem if problem.n_classes == 2 else against_rest(problem)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")
    size = SizeLimit.read(max_depth, max_splits)
    oracle = LinearOracle(problem.X, n_jobs=n_jobs, memory_limit=memory_limit)
    search = _Enumeration(two_classes, size, oracle, Limits(time_limit), started, callback)
    try:
        search.follow_hull()
        if pareto:
            search.look_inside()
    except KeyboardInterrupt:  # outside the oracle, which stops by itself
        search.limit = Limit.INTERRUPTED

    def named(vertices: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
        if two_classes is problem:
            return vertices
        return tuple(replace(v, tree=name_the_rest(v.tree, problem)) for v in vertices)

    return Frontier(
        vertices=named(search.vertices(search.hull)),
        pareto=named(search.vertices(sorted(search.hull + search.inside))) if pareto else None,
        is_complete=search.limit is Limit.NONE,
        limit=search.limit,
        max_depth=size.max_depth,
        max_splits=size.max_splits,
        problem=problem,
        stats={"oracle_calls": search.calls, "time": time.perf_counter() - started},
    )


def _check_one_vs_rest(metric: Metric, conditions: Iterable[Constraint], problem: Problem) -> None:
    """Refuse metrics of all classes: the frontier is about one class against the rest."""
    metrics = [metric, *(c.metric for c in conditions if isinstance(c, MetricConstraint))]
    for asked in metrics:
        if not asked.is_binary:
            raise ValueError(
                f"{asked.name!r} is about all classes, while the frontier is about "
                f"{problem.classes[problem.positive or 0]!r} against the rest"
            )


class _Enumeration:
    """A running enumeration.

    Attributes
    ----------
    hull, inside
        The vertices of the hull, from left to right, and the other points of
        the Pareto front that are found so far.
    limit
        Why it stopped, if it did.
    calls
        How often the oracle was asked.
    """

    def __init__(
        self,
        problem: Problem,
        size: SizeLimit,
        oracle: LinearOracle,
        limits: Limits,
        started: float,
        callback: Callable[[FrontierProgress], Any] | None,
    ) -> None:
        self.plane = Points(problem)
        self.size = size
        self.oracle = oracle
        self.limits = limits
        self.started = started
        self.callback = callback
        self.limit = Limit.NONE
        self.calls = 0
        constants = (Tree(Leaf(k), problem.classes, problem.feature_names) for k in range(2))
        self.trees = {self.plane.of(tree): tree for tree in constants}
        self.hull = lower_hull(list(self.trees))
        self.inside: list[Point] = []
        self._closed: set[Edge] = set()

    def vertices(self, points: list[Point]) -> tuple[Vertex, ...]:
        """Return points with their trees."""
        return tuple(Vertex(self.trees[p], self.plane.confusion(*p)) for p in points)

    def follow_hull(self) -> None:
        """Find all vertices of the hull, the longest open edge first."""
        while self.limit is Limit.NONE and (edges := self._open_edges()):
            edge = max(edges, key=self._length)
            a, b = normal(*edge)
            self.calls += 1
            result = self.oracle.solve(
                self.plane.costs(a, b),
                max_depth=self.size.max_depth,
                max_splits=self.size.max_splits,
                cutoff=a * edge[0][0] + b * edge[0][1],
                time_limit=self._time_left(),
                callback=self._watch(),
            )
            self.limit = result.limit
            if result.tree is not None:
                self.hull = lower_hull([*self.hull, self._add(result.tree)])
            elif self.limit is Limit.NONE:
                self._closed.add(edge)

    def look_inside(self) -> None:
        """Find all points of the Pareto front between the vertices of the hull."""
        self._closed = set()
        for edge in sorted(pairwise(self.hull), key=self._length):
            if self.limit is Limit.NONE:
                for point in self._between(edge):
                    self._tree_at(point, edge)
                self._closed.add(edge)

    def _between(self, edge: Edge) -> list[Point]:
        """Return the points of the front between the ends of an edge."""
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
            self._search_front(edge, budget, (box[0], box[1]), visit)
        return front[1:-1]

    def _tree_at(self, point: Point, edge: Edge) -> None:
        """Find a tree at a point that is known to have one."""
        a, b = normal(*edge)
        limit = self.limit
        result = self._search_front(
            edge, a * point[0] + b * point[1], point, lambda _x, _y: (-1, -1, -1), limited=False
        )
        self.limit = limit
        if result.tree is not None:
            self.inside.append(self._add(result.tree))

    def _search_front(
        self,
        edge: Edge,
        budget: int,
        box: tuple[int, int],
        visit: Callable[[int, int], tuple[int, int, int] | None],
        *,
        limited: bool = True,
    ) -> FrontResult:
        self.calls += 1
        result = self.oracle.search_front(
            self.plane.positives,
            self.plane.negatives,
            direction=normal(*edge),
            budget=budget,
            box=box,
            visit=visit,
            max_depth=self.size.max_depth,
            max_splits=self.size.max_splits,
            time_limit=self._time_left() if limited else None,
            callback=self._watch() if limited else None,
        )
        self.limit = result.limit
        return result

    def _add(self, found: TreeTuple) -> Point:
        tree = original_tree(self.plane.problem, found, self.plane.labels)
        point = self.plane.of(tree)
        self.trees[point] = tree
        return point

    def _open_edges(self) -> list[Edge]:
        return [edge for edge in pairwise(self.hull) if edge not in self._closed]

    def _length(self, edge: Edge) -> float:
        (x0, y0), (x1, y1) = edge
        return (x1 - x0) / self.plane.n_pos + (y0 - y1) / self.plane.n_neg

    def _time_left(self) -> float | None:
        return self.limits.after(time.perf_counter() - self.started).time

    def _watch(self) -> Callable[[object], bool] | None:
        if (callback := self.callback) is None:
            return None

        def watch(_oracle: object) -> bool:
            elapsed = time.perf_counter() - self.started
            found = len(self.hull) + len(self.inside)
            progress = FrontierProgress(elapsed, found, len(self._open_edges()))
            return bool(callback(progress))

        return watch
