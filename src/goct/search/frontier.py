"""The frontier: all trees that are best for some prices of the two kinds of error."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from goct._ctrl_c import keeping_the_best
from goct._html import html_card, html_table
from goct._plot import axes_or_new, finish
from goct.certificate import CertificateError, hull_claims, write_claims
from goct.constraints import Constraint, MetricConstraint, check_constraints
from goct.exact import Exact, as_fraction
from goct.exceptions import CertificateWarning
from goct.metrics import Confusion, Metric, Shape, get_metric
from goct.one_vs_rest import against_rest, name_the_rest
from goct.plane.frontier import FrontierWalk
from goct.plane.hull import Point
from goct.plane.oracle import Session, StopError
from goct.plane.points import Points
from goct.problem import Problem
from goct.search.oracle import MEMORY_LIMIT
from goct.search.problem_oracle import ProblemOracle
from goct.search.questions import SearchOracle
from goct.solution import Certificate, Limit, Limits
from goct.task import LeafMeasure, SizeLimit, Task
from goct.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    certificate
        The certificate, if one was asked for and written.
    """

    vertices: tuple[Vertex, ...]
    pareto: tuple[Vertex, ...] | None
    is_complete: bool
    limit: Limit
    max_depth: int | None
    max_splits: int | None
    problem: Problem = field(repr=False)
    stats: dict[str, Any] = field(default_factory=dict, repr=False)
    certificate: Certificate | None = None

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

    @property
    def size_in_words(self) -> str:
        """Which trees there are, as in "depth 3 with at most 5 splits"."""
        return SizeLimit(self.max_depth, self.max_splits).describe().removeprefix("tree of ")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        metric: str | Metric | None = None,
        others: Mapping[str, Tree] | None = None,
    ) -> Axes:
        """Draw the frontier in the plane of false positive rate and recall.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.
        metric
            A metric of two classes whose level lines are drawn, too.
        others
            Other trees on the same data by name, such as one of CART, each drawn as a point.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install goct[plot]``.
        """
        ax = axes_or_new(ax, 5.6, 5.2)
        ax.plot([0, 1], [0, 1], color="#9aa3ad", linewidth=0.8, linestyle=":")
        if metric is not None:
            _draw_levels(ax, get_metric(metric), self.problem)
        if self.pareto is not None:
            rates = [(v.false_positive_rate, v.recall) for v in self.pareto]
            ax.plot(*zip(*rates, strict=True), ".", color="#3a78b5", ms=5, label="Pareto front")
        rates = [(v.false_positive_rate, v.recall) for v in self.vertices]
        words = "ROC hull" if self.is_complete else "ROC hull so far"
        ax.plot(*zip(*rates, strict=True), "o-", color="#d9622b", markersize=5, label=words)
        for name, tree in (others or {}).items():
            point = Vertex(tree, tree.confusion(self.problem))
            place = [point.false_positive_rate], [point.recall]
            ax.plot(*place, "s", color="#7f8a96", markersize=7, label=name)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_title(f"Trees of {self.size_in_words}", loc="left", fontsize=11)
        return finish(ax, "false positive rate", "recall")

    def __repr__(self) -> str:
        points = "" if self.pareto is None else f", {len(self.pareto)} points of the Pareto front"
        done = "complete" if self.is_complete else f"stopped ({self.limit.value})"
        return f"<Frontier of {self.size_in_words}: {len(self.vertices)} vertices{points}, {done}>"

    def _repr_html_(self) -> str:
        points = self.vertices if self.pareto is None else self.pareto
        rows = [
            (f"{v.recall:.4f}", f"{v.false_positive_rate:.4f}", v.tree.splits, v.tree.depth)
            for v in points
        ]
        head = ("recall", "false positive rate", "splits", "depth")
        return html_card(repr(self).strip("<>"), html_table(head, rows))

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
        metric, conditions = read_wish(
            self.problem, metric, constraints, has_pareto=self.pareto is not None
        )

        def value(vertex: Vertex) -> Exact:
            return metric.value(vertex.confusion)

        points = self.vertices if self.pareto is None else self.pareto
        allowed = [v for v in points if all(c.is_met(v.tree, self.problem) for c in conditions)]
        return max(allowed, key=value, default=None)


def read_wish(
    problem: Problem, metric: str | Metric, constraints: Any, *, has_pareto: bool
) -> tuple[Metric, Sequence[Constraint]]:
    """Return what :meth:`Frontier.best` maximises and keeps, if the frontier can answer that."""
    metric = get_metric(metric)
    conditions = check_constraints(constraints, problem)
    if problem.n_classes > 2:
        _check_one_vs_rest(metric, conditions, problem)
        metric = metric.oriented(against_rest(problem))
    else:
        metric = metric.oriented(problem)
    for condition in conditions:
        if not isinstance(condition, MetricConstraint) or not condition.is_monotone:
            raise ValueError(f"the best tree under {condition.name!r} need not be on the frontier")
    hopeless = not metric.is_monotone or metric.shape is Shape.GENERAL
    if hopeless or (not has_pareto and (conditions or metric.shape is Shape.MONOTONE)):
        hint = "" if hopeless else "; it is on the one with pareto=True"
        raise ValueError(
            f"the best tree for {metric.name!r}"
            + (" under constraints" if conditions else f", which is {metric.shape.value},")
            + f" need not be on the frontier{hint}"
        )
    return metric, conditions


def frontier(
    problem: Problem,
    max_depth: int | None,
    *,
    max_splits: int | None = None,
    min_leaf_weight: Any = 0,
    min_samples_leaf: int = 0,
    pareto: bool = False,
    time_limit: float | None = None,
    n_jobs: int = 1,
    memory_limit: int = MEMORY_LIMIT,
    callback: Callable[[FrontierProgress], Any] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    executor: Any = None,
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
    min_leaf_weight, min_samples_leaf
        The least weight, and the least number, of the samples in a leaf, as in
        :func:`goct.solve`; only one of them if samples have different weights.
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
    certificate
        A file for the proof that no tree is below the hull, which
        :func:`goct.verify` checks. It is not written if a limit was reached, and
        says nothing about the points inside the hull.
    executor
        A `distributed.Client` whose workers share the work of the hull.

    Returns
    -------
    Frontier
    """
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
    size = SizeLimit.read(max_depth, max_splits, min_leaf_weight, min_samples_leaf)
    size.check_limited()
    measure = _check_leaves(size, two_classes)
    points = Points(two_classes)

    def report(elapsed: float) -> bool:
        if callback is None:
            return False
        found = len(walk.hull) + len(walk.inside)
        return bool(callback(FrontierProgress(elapsed, found, len(walk.open_edges()))))

    session = _FrontierSession(Limits(time_limit), report)
    core = ProblemOracle(
        problem, measure.weights, executor=executor, n_jobs=n_jobs, memory_limit=memory_limit
    )
    oracle = SearchOracle(session, core, points, size)
    walk = FrontierWalk(oracle, points, size, others=oracle if core.is_spread else None)
    with keeping_the_best(), closing(core):
        try:
            walk.follow_hull()
            if pareto:
                walk.look_inside()
        except StopError:
            pass  # what is found by now is the answer
        except KeyboardInterrupt:  # outside the oracle, which stops by itself
            session.limit = Limit.INTERRUPTED

    def vertices(found: list[Point]) -> tuple[Vertex, ...]:
        trees = [walk.trees[point] for point in found]
        if two_classes is not problem:
            trees = [name_the_rest(tree, problem) for tree in trees]
        return tuple(
            Vertex(tree, points.confusion(*point)) for tree, point in zip(trees, found, strict=True)
        )

    written = None
    if certificate is not None and session.limit is Limit.NONE:
        task = Task(two_classes, get_metric("accuracy"), size)
        trees = [walk.trees[p] for p in walk.hull]
        try:
            claims, words = hull_claims(task, trees), f"the hull of {size.describe()}"
            written = write_claims(
                certificate, claims, (), problem, words, time_limit=time_limit, whole=True
            )
        except (CertificateError, KeyboardInterrupt) as error:
            why = str(error) or "interrupted"
            text = f"no certificate was written: {why}"
            warnings.warn(text, CertificateWarning, stacklevel=2)
    return Frontier(
        vertices=vertices(walk.hull),
        pareto=vertices(sorted(walk.hull + walk.inside)) if pareto else None,
        is_complete=session.limit is Limit.NONE,
        limit=session.limit,
        max_depth=size.max_depth,
        max_splits=size.max_splits,
        problem=problem,
        stats={"oracle_calls": session.calls, "time": session.elapsed},
        certificate=written,
    )


def _draw_levels(ax: Axes, metric: Metric, problem: Problem, steps: int = 40) -> None:
    """Draw the level lines of a metric in the plane of false positive rate and recall."""
    binary = problem if problem.n_classes == 2 else against_rest(problem)
    goal = metric.oriented(binary)
    pos, neg = Fraction(problem.n_pos), Fraction(problem.n_neg)
    shares = [Fraction(i, steps) for i in range(steps + 1)]

    def value(recall: Fraction, rate: Fraction) -> float:
        tp, fp = recall * pos, rate * neg
        return float(goal.value(Confusion(tp, fp, pos - tp, neg - fp)))

    values = [[value(recall, rate) for rate in shares] for recall in shares]
    rates = [float(share) for share in shares]
    lines = ax.contour(rates, rates, values, levels=14, colors="#9aa3ad", linewidths=0.8)
    ax.clabel(lines, fontsize=7, fmt="%.2g")


def _check_leaves(size: SizeLimit, problem: Problem) -> LeafMeasure:
    """Return how leaves are measured, or raise an error if that is not possible."""
    measures = size.leaf_measures(problem)
    if len(measures) > 1:
        raise ValueError(
            "samples have different weights: give either min_leaf_weight or min_samples_leaf"
        )
    if size.too_large_for(problem):
        raise ValueError("no tree has such leaves: all samples together are too few for one")
    return measures[0]


class _FrontierSession(Session):
    """A run that looks for all points, not for the best tree."""

    def __init__(self, limits: Limits, report: Callable[[float], bool]) -> None:
        super().__init__(limits)
        self._report = report

    def tell(self, nodes: int, objective: Exact | None = None) -> bool:
        """Report the progress, and say whether the callback wants to stop."""
        return self._report(self.elapsed)


def _check_one_vs_rest(metric: Metric, conditions: Iterable[Constraint], problem: Problem) -> None:
    """Refuse metrics of all classes: the frontier is about one class against the rest."""
    metrics = [metric, *(c.metric for c in conditions if isinstance(c, MetricConstraint))]
    for asked in metrics:
        if not asked.is_binary:
            raise ValueError(
                f"{asked.name!r} is about all classes, while the frontier is about "
                f"{problem.classes[problem.positive or 0]!r} against the rest"
            )
