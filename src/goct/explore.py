"""All trees worth a look: sizes and operating points, proven, validated, and beside CART."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from goct.cart import seconds_for_cart
from goct.constraints import Constraint, MetricConstraint, MinLeafWeight, MinSamplesLeaf
from goct.model import Model, Validation
from goct.path import Path
from goct.problem import Problem
from goct.report.exploration import KNOWN_METRICS, Curve, Exploration, Size
from goct.report.rivals import grow_cart, rival_of
from goct.search.frontier import Vertex, frontier
from goct.solution import Limit, Solution, Status
from goct.task import Task
from goct.tree import Leaf, NodeCounts, Tree

_FOR_HULLS = 2 / 3  # the share of the time for operating points that may be spent on hulls


def explore(
    path: Path,
    describe: Callable[[Solution], Model],
    *,
    learned: Solution | None = None,
    validation: Validation | None = None,
    test: Problem | None = None,
    rows: Sequence[Mapping[str, Any]] = (),
    time_limit: float = 10.0,
    n_jobs: int = 1,
) -> Exploration:
    """Put the best trees of all sizes and, for two classes, of all operating points together.

    Parameters
    ----------
    path
        The best trees of all sizes, of :func:`goct.path`.
    describe
        Makes the model of a solution, such as :meth:`goct.Model.from_solution`.
    learned
        The tree that the page opens with: by default the one that `validation` chooses,
        or the largest.
    validation
        What trees of each size achieve on rows that were held back.
    test
        Data that was held back from all of this, to see what CART makes of it.
    rows
        Some rows of the data to try the trees on.
    time_limit
        Seconds at most to look for operating points, first for the hulls of all sizes,
        then for what is inside them. Ctrl-C ends it, too.
    n_jobs
        As in :func:`goct.frontier`.

    Returns
    -------
    Exploration
        For :func:`goct.report.html.write_report`.
    """
    started = time.monotonic()
    if learned is None:
        learned = path[-1] if validation is None else path.smallest(validation.splits)
    if learned.tree is None:
        raise ValueError(f"there is no tree to show: {learned.describe_status()}")
    why_not = _why_no_fronts(path.task)
    fronts = [_Front()] * len(path)
    if why_not is None:
        fronts = _find_fronts(path, started + time_limit, n_jobs)
    collection = _Collection(describe, learned, validation)
    sizes = []
    with_cart = seconds_for_cart(path.task.problem) * len(path) <= max(time_limit, 1.0)
    for splits, (found, front) in enumerate(zip(path, fronts, strict=True)):
        best = _better(found, learned, splits)
        if best.tree is None:
            continue
        place = collection.place(best.tree, best, splits)
        free = _without_limits(best, front)
        size = Size(
            splits=splits,
            best=place,
            points=tuple(collection.place(v.tree, free) for v in front.points),
            hull=tuple(collection.place(v.tree, free) for v in front.hull),
            is_proven=best.status is Status.OPTIMAL,
            has_hull=front.has_hull,
            has_front=front.has_front,
        )
        sizes.append(_with_cart(size, path.task, test) if with_cart else size)
    shown = collection.place(learned.tree, learned, learned.tree.splits)
    if all(size.best != shown for size in sizes):  # it is larger than the path, or not the best
        proven = learned.status is Status.OPTIMAL
        sizes.append(Size(learned.tree.splits, shown, is_proven=proven))
    models = collection.models(sizes)
    used = {name for model in models for name in model.columns}
    return Exploration(
        models,
        tuple(sizes),
        shown,
        tuple({name: row[name] for name in row if name in used} for row in rows),
        () if why_not is None else (why_not,),
    )


def limits_of(task: Task) -> list[Constraint]:
    """Return the constraints of a task that are not about the size of leaves."""
    return [c for c in task.constraints if not isinstance(c, MinLeafWeight | MinSamplesLeaf)]


def _better(found: Solution, learned: Solution, splits: int) -> Solution:
    """Return the tree of a size that is known to be best: of the path, or the learned one."""
    tree = learned.tree
    assert tree is not None
    if tree.splits > splits or found.task.refusal(tree) is not None:
        return found
    value = found.metric.evaluate(tree, found.problem)
    if found.value is not None and value < found.value:
        return found
    return _as_solution(tree, found)


def _without_limits(best: Solution, front: _Front) -> Solution:
    """Return the best tree of a size that need not keep limits, as far as it is known."""
    limits = limits_of(best.task)
    if not limits or not front.points:
        return best
    free = replace(
        best.task, constraints=tuple(c for c in best.task.constraints if c not in limits)
    )
    known = [vertex.tree for vertex in front.points]
    tree = max(known, key=lambda other: best.metric.evaluate(other, best.problem))
    bound = best.metric.best_value(best.problem)
    if front.has_front and best.metric.is_monotone:
        bound = best.metric.evaluate(tree, best.problem)
    return Solution.of_tree(free, tree, bound, limit=Limit.NONE if front.has_front else best.limit)


def _why_no_fronts(task: Task) -> str | None:
    """Return why there are no operating points; None if there are."""
    problem = task.problem
    if problem.positive is None or not (problem.n_pos and problem.n_neg):
        return "Operating points are about one class against the rest; --positive names one."
    if problem.n_classes > 2 and not task.metric.is_binary:
        return f"Operating points are left out: {task.metric.name} is about all classes."
    for constraint in limits_of(task):
        if not isinstance(constraint, MetricConstraint) or not (
            constraint.is_monotone and constraint.metric.name in KNOWN_METRICS
        ):
            return f"Operating points are left out: they do not go with “{constraint.name}”."
    return None


@dataclass(frozen=True)
class _Front:
    """What is known of the trades between errors: the hull, and points of the Pareto front."""

    hull: tuple[Vertex, ...] = ()
    points: tuple[Vertex, ...] = ()
    has_hull: bool = False
    has_front: bool = False


def _find_fronts(path: Path, deadline: float, n_jobs: int) -> list[_Front]:
    """Return the hull of every size and, as far as there is time, the Pareto front inside."""
    size = path.task.size
    found = [_Front()] * len(path)
    started, n = time.monotonic(), len(path)
    for pareto, ends in ((False, started + _FOR_HULLS * (deadline - started)), (True, deadline)):
        for splits in range(n):
            share = (ends - time.monotonic()) / (n - splits)
            if share < 1e-3 or (pareto and not found[splits].has_hull):
                continue
            front = frontier(
                path.task.problem,
                size.max_depth,
                max_splits=splits,
                min_leaf_weight=size.min_leaf_weight,
                min_samples_leaf=size.min_samples_leaf,
                pareto=pareto,
                time_limit=None if share == inf else share,
                n_jobs=n_jobs,
            )
            if not pareto:
                found[splits] = _Front(front.vertices, front.vertices, front.is_complete)
            elif front.pareto is not None and len(front.vertices) >= len(found[splits].hull):
                found[splits] = _Front(front.vertices, front.pareto, True, front.is_complete)
            if front.limit is Limit.INTERRUPTED:
                return found
    return found


@dataclass
class _Collection:
    """The trees of a page, each once."""

    describe: Callable[[Solution], Model]
    learned: Solution
    validation: Validation | None
    places: dict[Tree, int] = field(default_factory=dict)
    found: list[tuple[Solution, Validation | None]] = field(default_factory=list)

    def place(self, tree: Tree, at: Solution, splits: int | None = None) -> int:
        """Return the place of a tree, given the best of its size, and the size if it is that."""
        if tree not in self.places:
            self.places[tree] = len(self.places)
            found = self.learned if tree == self.learned.tree else _as_solution(tree, at)
            self.found.append((found, self._validated(splits)))
        return self.places[tree]

    def _validated(self, splits: int | None) -> Validation | None:
        known = self.validation
        if known is None or splits is None or splits >= len(known.means):
            return None
        if splits == known.splits:
            return known
        return replace(known, splits=splits, estimate=None, estimate_error=None)

    def models(self, sizes: Sequence[Size]) -> tuple[Model, ...]:
        """Return the models, each with CART of the first size that has it."""
        rivals: dict[int, Any] = {}
        for size in reversed(sizes):
            if size.rival is not None:
                rivals |= dict.fromkeys((size.best, *size.points), (size.rival,))
        return tuple(
            replace(self.describe(solution), validation=validation, rivals=rivals.get(i, ()))
            for i, (solution, validation) in enumerate(self.found)
        )


def _as_solution(tree: Tree, best: Solution) -> Solution:
    """Return a tree of the size of a solution, with what that proves of it."""
    if tree == best.tree:
        return best
    bound = max(best.task.objective(tree), best.bound)
    return Solution.of_tree(best.task, tree, bound, limit=best.limit, stats=best.stats)


def _with_cart(size: Size, task: Task, test: Problem | None) -> Size:
    """Return a size with CART's tree of that size, and its ROC curves."""
    problem = task.problem
    tree = grow_cart(problem, task.metric, task.size.max_depth, size.splits + 1)
    curves: list[Curve] = []
    if size.points and problem.positive is not None:
        learned = tree.node_counts(problem)
        for part in (problem, test):
            if part is not None and part.n_pos and part.n_neg:
                curves.append(_curve(tree, tree.node_counts(part), learned, problem.positive))
    rival = rival_of(tree, problem, test, task.metric, task.constraints)
    return replace(size, rival=rival, curves=tuple(curves))


def _curve(tree: Tree, counts: NodeCounts, learned: NodeCounts, positive: int) -> Curve:
    """Return the ROC curve of a tree: its leaves in the order of the training shares."""
    leaves = [i for i, node in enumerate(tree.nodes()) if isinstance(node, Leaf)]

    def share(place: int) -> float:
        total = sum(learned[place])
        return float(learned[place][positive] / total) if total else -inf

    points: list[Any] = [(0, 0)]
    for place in sorted(leaves, key=share, reverse=True):
        fp, tp = points[-1]
        positives = counts[place][positive]
        points.append((fp + sum(counts[place]) - positives, tp + positives))
    return tuple(points)
