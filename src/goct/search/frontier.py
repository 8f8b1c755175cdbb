"""The frontier: all trees that are best for some prices of the two kinds of error."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from goct._validation import check_count
from goct.exact import Exact, as_fraction
from goct.metrics import Confusion, Metric, Shape
from goct.problem import Problem
from goct.search.oracle import LinearOracle
from goct.search.plane import Points
from goct.search.quasiconvex import lower_hull, normal
from goct.search.run import original_tree
from goct.solution import Limit, Limits
from goct.tree import Leaf, Tree


@dataclass(frozen=True)
class Vertex:
    """A vertex of the frontier.

    Attributes
    ----------
    tree
        A tree at the vertex.
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
        The number of vertices found so far.
    open_edges
        The number of neighbouring pairs between which there may be more.
    """

    elapsed: float
    vertices: int
    open_edges: int


@dataclass(frozen=True)
class Frontier:
    """The convex hull of what trees of a depth achieve, seen from the perfect corner.

    Attributes
    ----------
    vertices
        The vertices, from the largest recall to the smallest false positive
        rate.
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

    def best(self, metric: Metric) -> Vertex:
        """Return the vertex with the largest value of a metric.

        If the frontier is complete, no tree has a larger one. This holds for
        metrics that are linear in (TP, TN), FRACTIONAL or QUASICONVEX, and only
        they are accepted.
        """
        if metric.shape in (Shape.MONOTONE, Shape.GENERAL) or not metric.is_monotone:
            raise ValueError(
                f"the best tree for {metric.name!r}, which is {metric.shape.value}, "
                "need not be on the frontier"
            )

        def value(vertex: Vertex) -> Exact:
            return metric.value(vertex.confusion)

        return max(self.vertices, key=value)


def frontier(
    problem: Problem,
    max_depth: int,
    *,
    max_splits: int | None = None,
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
        The data, with two classes.
    max_depth
        The largest number of splits between root and leaf.
    max_splits
        The largest number of splits; no limit if None.
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
    if problem.n_classes != 2 or not problem.n_pos or not problem.n_neg:
        raise ValueError(
            f"the frontier needs two classes that occur; the labels are {list(problem.classes)}"
        )
    max_depth = check_count(max_depth, "max_depth")
    limits = Limits(time_limit)
    points = Points(problem)
    oracle = LinearOracle(problem.X, n_jobs=n_jobs, memory_limit=memory_limit)
    trees = {
        points.of(tree): tree
        for tree in (Tree(Leaf(k), problem.classes, problem.feature_names) for k in range(2))
    }
    hull = lower_hull(list(trees))
    closed: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    limit, calls = Limit.NONE, 0

    def open_edges() -> list[tuple[tuple[int, int], tuple[int, int]]]:
        return [e for e in itertools.pairwise(hull) if e not in closed]

    def length(edge: tuple[tuple[int, int], tuple[int, int]]) -> float:
        (x0, y0), (x1, y1) = edge
        return (x1 - x0) / points.n_pos + (y0 - y1) / points.n_neg

    def watch(_oracle: object) -> bool:
        assert callback is not None
        elapsed = time.perf_counter() - started
        return bool(callback(FrontierProgress(elapsed, len(hull), len(open_edges()))))

    while limit is Limit.NONE and (edges := open_edges()):
        edge = max(edges, key=length)
        a, b = normal(*edge)
        calls += 1
        result = oracle.solve(
            points.costs(a, b),
            max_depth=max_depth,
            max_splits=max_splits,
            cutoff=a * edge[0][0] + b * edge[0][1],
            time_limit=limits.after(time.perf_counter() - started).time,
            callback=watch if callback is not None else None,
        )
        limit = result.limit
        if result.tree is not None:
            tree = original_tree(problem, result.tree)
            point = points.of(tree)
            trees[point] = tree
            hull = lower_hull([*hull, point])
        elif limit is Limit.NONE:
            closed.add(edge)
    vertices = tuple(Vertex(trees[point], points.confusion(*point)) for point in hull)
    return Frontier(
        vertices,
        is_complete=limit is Limit.NONE,
        limit=limit,
        max_depth=max_depth,
        max_splits=max_splits,
        problem=problem,
        stats={"oracle_calls": calls, "time": time.perf_counter() - started},
    )
