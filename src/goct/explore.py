"""All trees worth a look: sizes and operating points, proven, validated, and beside CART."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

from goct.binarize.conditions import Condition
from goct.cart import cart_tree
from goct.exact import Exact
from goct.metrics import Metric, get_metric
from goct.model import ColumnInfo, Model, Part, Source
from goct.path import Path, path
from goct.problem import Problem
from goct.report.explorer import Exploration, Greedy, Size
from goct.search.frontier import Vertex, frontier
from goct.solution import Limit, Solution, Status
from goct.tree import Tree

MOST_SPLITS = 15
"""The largest number of splits that is looked at, unless another is given."""


@dataclass(frozen=True)
class Origin:
    """Where the data of a problem come from, as :meth:`goct.Model.from_solution` takes it."""

    conditions: Sequence[Condition]
    source: Source | None = None
    columns: Mapping[str, ColumnInfo] | None = None
    missing_words: Iterable[str] | None = None


def explore(
    train: Problem,
    metric: str | Metric,
    max_depth: int = 3,
    *,
    origin: Origin,
    max_splits: int | None = None,
    test: Problem | None = None,
    folds: Iterable[tuple[Problem, Problem]] = (),
    rows: Sequence[Mapping[str, Any]] = (),
    time_limit: float = 60.0,
    n_jobs: int = 1,
    callback: Callable[[str], Any] | None = None,
) -> Exploration:
    """Find the best trees of all sizes and, for two classes, of all operating points.

    Parameters
    ----------
    train
        The data to learn from.
    metric, max_depth, max_splits, n_jobs
        As in :func:`goct.path`; at most 15 splits by default.
    origin
        What the features stand for.
    test
        Data that was held back.
    folds
        Pairs of data to learn from and data to validate on.
    rows
        Some rows of the data to try the trees on.
    time_limit
        Seconds at most. A third of it is for the sizes, a third for the folds, and
        the rest for the operating points.
    callback
        Called with a word on what comes next.
    """
    goal = get_metric(metric)
    tell = callback or str
    most = min(MOST_SPLITS if max_splits is None else max_splits, 2**max_depth - 1)
    limits: dict[str, Any] = {"max_splits": most, "n_jobs": n_jobs}
    start = time.monotonic()
    tell("sizes")
    found = path(train, goal, max_depth, time_limit=time_limit / 3, **limits)
    pairs = list(folds)
    scores: list[list[float]] = [[] for _ in found]
    for number, (learn, check) in enumerate(pairs):
        tell(f"fold {number + 1} of {len(pairs)}")
        share = time_limit / 3 / len(pairs)
        for k, solution in enumerate(path(learn, goal, max_depth, time_limit=share, **limits)):
            value = _value(goal, solution.tree, check)
            if value is not None:
                scores[k].append(float(value))
    fronts = [_Front()] * len(found)
    if train.positive is not None and train.n_pos and train.n_neg:
        left = max(time_limit - (time.monotonic() - start), 1.0)
        tell("operating points")
        fronts = [_front(train, max_depth, k, left / len(found), n_jobs) for k in range(len(found))]
    return _collect(found, fronts, scores, train, test, origin, rows)


def _value(metric: Metric, tree: Tree | None, problem: Problem) -> Exact | None:
    try:
        return None if tree is None else metric.evaluate(tree, problem)
    except (ValueError, ZeroDivisionError):  # a class does not occur there
        return None


@dataclass(frozen=True)
class _Front:
    """What is known of the trades between errors: the hull, and points of the Pareto front."""

    hull: tuple[Vertex, ...] = ()
    points: tuple[Vertex, ...] = ()
    has_hull: bool = False
    has_front: bool = False


def _front(problem: Problem, max_depth: int, splits: int, seconds: float, n_jobs: int) -> _Front:
    """Return the hull and, as far as there is time, the Pareto front inside."""
    limits: dict[str, Any] = {"max_splits": splits, "n_jobs": n_jobs}
    start = time.monotonic()
    hull = frontier(problem, max_depth, time_limit=seconds / 2, **limits)
    left = seconds - (time.monotonic() - start)
    if not hull.is_complete or left < 0.01:
        return _Front(hull.vertices, hull.vertices, hull.is_complete)
    whole = frontier(problem, max_depth, pareto=True, time_limit=left, **limits)
    if whole.pareto is None or len(whole.vertices) < len(hull.vertices):
        return _Front(hull.vertices, hull.vertices, True)
    return _Front(whole.vertices, whole.pareto, True, whole.is_complete)


def _collect(
    found: Path,
    fronts: Sequence[_Front],
    scores: Sequence[Sequence[float]],
    train: Problem,
    test: Problem | None,
    origin: Origin,
    rows: Sequence[Mapping[str, Any]],
) -> Exploration:
    """Give every tree a place, and every size its trees."""
    solutions: list[Solution] = []
    sizes = []

    places: dict[Tree, int] = {}

    def place(tree: Tree, at: Solution) -> int:
        if tree not in places:
            places[tree] = len(places)
            solutions.append(_as_solution(tree, at))
        return places[tree]

    for k, (solution, front) in enumerate(zip(found, fronts, strict=True)):
        if solution.tree is None:
            continue
        rival = cart_tree(train, found.task.size.max_depth, k + 1)
        sizes.append(
            Size(
                splits=k,
                best=place(solution.tree, solution),
                points=tuple(place(vertex.tree, solution) for vertex in front.points),
                hull=tuple(place(vertex.tree, solution) for vertex in front.hull),
                is_proven=solution.status is Status.OPTIMAL,
                has_hull=front.has_hull,
                has_front=front.has_front,
                validation=_mean_and_error(scores[k]),
                greedy=_greedy(rival, train, test, found.task.metric),
            )
        )
    models = tuple(_model(solution, test, origin) for solution in solutions)
    used = {name for model in models for name in model.columns}
    cells = tuple({name: row[name] for name in row if name in used} for row in rows)
    return Exploration(models, tuple(sizes), cells, len(scores[0]))


def _as_solution(tree: Tree, best: Solution) -> Solution:
    """Return a tree of the size of a solution, with what that proves of it."""
    if tree == best.tree:
        return best
    value = best.metric.evaluate(tree, best.problem)
    bound = max(value, best.bound)
    is_best = value == bound
    return replace(
        best,
        tree=tree,
        value=value,
        objective=value,
        bound=bound,
        status=Status.OPTIMAL if is_best else Status.FEASIBLE,
        limit=Limit.NONE if is_best else best.limit,
    )


def _mean_and_error(scores: Sequence[float]) -> tuple[float, float] | None:
    if len(scores) < 2:
        return None
    return fmean(scores), stdev(scores) / len(scores) ** 0.5


def _greedy(tree: Tree, train: Problem, test: Problem | None, metric: Metric) -> Greedy:
    parts = [train] if test is None else [train, test]
    values = [_value(metric, tree, part) for part in parts]
    return Greedy(
        tree.splits,
        tuple(None if value is None else float(value) for value in values),
        tuple(tree.node_counts(part) for part in parts),
        tree,
    )


def _model(solution: Solution, test: Problem | None, origin: Origin) -> Model:
    model = Model.from_solution(
        solution,
        origin.conditions,
        source=origin.source,
        columns=origin.columns,
        missing_words=origin.missing_words,
    )
    assert solution.tree is not None
    part = None if test is None else Part.of(solution.tree, test, solution.metric)
    return replace(model, test=part)
