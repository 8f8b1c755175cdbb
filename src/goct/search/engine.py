"""The search engine: picks the maximiser for a metric and reports what it proved."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil, inf
from typing import Any

from goct._validation import check_flag
from goct.constraints import (
    FeatureSetConstraint,
    MetricConstraint,
    MinLeafWeight,
    MinSamplesLeaf,
)
from goct.features import RankedFeatures
from goct.metrics import FractionalMetric, LinearMetric, Metric
from goct.plane.oracle import (
    Branch,
    Incumbent,
    IncumbentSession,
    Proven,
    Session,
    StopError,
    TooFineError,
)
from goct.plane.points import Plane
from goct.search.columns import ColumnSearch
from goct.search.linear import LinearMaximiser
from goct.search.maximiser import PlaneMaximiser
from goct.search.oracle import FEW, MEMORY_LIMIT
from goct.search.problem_oracle import ProblemOracle
from goct.search.questions import CostOracle, SearchOracle
from goct.search.ties import break_ties
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.task import Task
from goct.tree import Tree

_DEEP = 4
"""From this depth on, smaller depths are solved first."""
_DEEPEST_START = 8
"""Up to this one."""
_SHARE_OF_SMALLER = 0.5
"""Of a time limit. The rest is for the question itself, whose bound counts."""
_MANY_STEPS = 10**8
_STEPS_PER_SECOND = 10**9
_LONG = 50
"""Seconds that a question may take, by these steps, before all smaller depths are solved first."""
_DEEP_FOR_THRESHOLDS = 3
"""From this depth on, trees over some of the thresholds come first."""
_GRID, _GRID_SECONDS = 8, 1.0
"""So many thresholds of each column, and for so many seconds."""


def can_maximise(metric: Metric) -> bool:
    """Say whether the search engine can prove a tree optimal for the metric."""
    return isinstance(metric, LinearMetric) or metric.is_monotone


def unsupported(task: Task) -> str | None:
    """Say why the search engine cannot answer a question; None if it can."""
    problem, metric = task.problem, task.metric
    own = (MinLeafWeight, MinSamplesLeaf, FeatureSetConstraint)
    constraints = [c for c in task.constraints if not isinstance(c, own)]
    if not can_maximise(metric):
        return (
            f"the search engine cannot maximise {metric.name!r}: it is not known to be monotone, "
            "that is, never to fall when TP or TN rises; if it is, declare it so"
        )
    if len(task.size.leaf_measures(problem)) > 1:
        return (
            "the search engine measures leaves by the number of samples or by their weight, not "
            "by both at once if these differ"
        )
    for constraint in constraints:
        if not isinstance(constraint, MetricConstraint):
            return f"the search engine handles constraints on metrics, not {constraint.name!r}"
        if not constraint.is_monotone:
            return (
                f"the search engine cannot handle the constraint {constraint.name!r}: a tree that "
                "meets it may no longer do so when it makes fewer errors"
            )
        if problem.n_classes != 2:
            return (
                f"the search engine handles the constraint {constraint.name!r} for two classes only"
            )
    if constraints and not has_plane(task):
        return (
            f"the search engine cannot maximise {metric.name!r} under constraints, only monotone "
            "metrics of two classes"
        )
    return None


def relaxation(task: Task) -> Task | None:
    """Return a task without the constraints that the search engine cannot handle.

    What is proven of its trees holds for those of the whole task. None if the
    metric is one that the search engine cannot maximise.
    """
    if not can_maximise(task.metric):
        return None
    size, constraints = task.size, task.constraints
    if len(size.leaf_measures(task.problem)) > 1:
        size = replace(size, min_leaf_weight=Fraction(0))
        constraints = tuple(c for c in constraints if not isinstance(c, MinLeafWeight))
    kept = replace(task, size=size, constraints=())
    for constraint in constraints:
        more = replace(kept, constraints=(*kept.constraints, constraint))
        if unsupported(more) is None:
            kept = more
    return kept


def has_plane(task: Task) -> bool:
    """Say whether trees are points in the (FN, FP) plane, as far as the metric is concerned."""
    return task.problem.n_classes == 2 and task.metric.is_monotone


def has_requirements(task: Task) -> bool:
    """Say whether there are constraints on metrics."""
    return any(isinstance(c, MetricConstraint) for c in task.constraints)


def core_of(task: Task, **options: Any) -> ProblemOracle:
    """Return the search core for the data of a task; options are those of the oracle."""
    (measure,) = task.size.leaf_measures(task.problem)
    return ProblemOracle(task.problem, measure.weights, **options)


def _maximiser(
    session: Session, incumbent: Incumbent, core: ProblemOracle
) -> LinearMaximiser | PlaneMaximiser:
    task = incumbent.task
    problem, metric = task.problem, task.metric
    if isinstance(metric, LinearMetric) and not has_requirements(task):
        labels = range(problem.n_classes)
        oracle = CostOracle(session, core, problem, task.size, labels)
        with suppress(TooFineError):  # there are questions with smaller numbers in the plane
            return LinearMaximiser(oracle, incumbent, metric, coarse=not has_plane(task))
    plane = Plane(problem, metric)
    return PlaneMaximiser(SearchOracle(session, core, plane, task.size), incumbent, plane)


def _steps(task: Task) -> int:
    """Return, roughly, what a question takes: rows · features^(depth - 2)."""
    depth = task.size.reachable_depth
    levels = min(depth, _DEEPEST_START) - 2
    return task.problem.n_rows * task.problem.features.n_kept**levels if depth >= _DEEP else 0


def takes_long(task: Task) -> bool:
    """Say whether a question takes long."""
    return _steps(task) >= _MANY_STEPS


def _smaller_depths(task: Task, time: float | None) -> range:
    """Return the depths that are solved first, given the time limit.

    Their trees are good incumbents, so that a run that is stopped hardly has a
    worse tree than one of a smaller depth. Depth two takes no time, but guesses serve
    quotients as well. Larger ones are for questions that may well be stopped, and
    for prices and constraints. A linear question deepens by itself, in the core.
    """
    is_constrained = has_requirements(task)
    if not takes_long(task) or (isinstance(task.metric, LinearMetric) and not is_constrained):
        return range(0)
    seconds = min(ceil(time or _LONG), _LONG)  # in full: some milliseconds decide nothing
    is_plain = not task.split_penalty and not is_constrained
    if is_plain and _steps(task) < seconds * _STEPS_PER_SECOND:
        return range(0) if isinstance(task.metric, FractionalMetric) else range(2, 3)
    return range(2, min(task.size.reachable_depth, _DEEPEST_START + 1))


def _try_smaller(
    task: Task, session: IncumbentSession, core: ProblemOracle, seconds: float = inf
) -> None:
    """Find the best tree of a smaller question for the incumbent, within what is left of limits.

    Its trees must be trees of the session's task. Only those that are better than the best one so
    far are looked for, which need not be small itself. It may take so many seconds.
    """
    incumbent = session.incumbent

    def tell(progress: Progress) -> bool:
        return session.tell(progress.nodes, progress.objective)  # with the bound of the task

    small = Incumbent(task, incumbent.tree)
    left = session.left
    has_time = left.time is None or left.time > seconds
    limits = replace(left, time=seconds) if has_time and seconds < inf else left
    run = IncumbentSession(small, limits, None if session.callback is None else tell)
    try:
        with suppress(TooFineError):
            _maximiser(run, small, core).maximise()
    except StopError:
        if run.limit is not Limit.TIME or limits is left:
            session.stop(run.limit, run.memory_needed)
    finally:
        if small.tree is not None:
            incumbent.offer(small.tree)
        session.calls += run.calls
        session.nodes += run.nodes
        session.phase_two += run.phase_two


def _try_grid(session: IncumbentSession, options: Mapping[str, Any]) -> None:
    """Find a good tree over some of the thresholds, which is soon done."""
    task = session.incumbent.task
    features, is_deep = task.problem.features, task.size.reachable_depth >= _DEEP_FOR_THRESHOLDS
    if isinstance(features, RankedFeatures) and features.n_kept > FEW and is_deep:
        grid = task.on(task.problem.restricted(features.spread(_GRID)))
        _try_smaller(grid, session, core_of(grid, **options), _GRID_SECONDS)


def _search(
    session: IncumbentSession,
    options: Mapping[str, Any],
    *,
    fewest_splits: bool,
    tie_share: float,
) -> bool:
    """Find the best tree, and prove it; say whether no optimal tree has fewer splits for sure."""
    incumbent, task = session.incumbent, session.incumbent.task
    _try_grid(session, {**options, "executor": None})
    smaller = _smaller_depths(task, session.limits.time)
    until = session.elapsed + _SHARE_OF_SMALLER * (session.left.time or inf)
    with closing(core_of(task, **options)) as core:
        maximiser = _maximiser(session, incumbent, core)
        for depth in smaller:
            if depth > smaller.start and isinstance(maximiser, PlaneMaximiser):
                maximiser.climb()  # good trees leave little to ask about smaller ones
            if (seconds := until - session.elapsed) <= 0 or incumbent.is_optimal:
                break
            before = incumbent.best
            small = replace(task, size=replace(task.size, max_depth=depth))
            _try_smaller(small, session, core, seconds)
            if task.split_penalty and depth > smaller.start and incumbent.best is before:
                break  # deeper trees hardly pay
        maximiser.maximise()
        if not fewest_splits or incumbent.best is None or not maximiser.is_exact:
            return False
        session.begin_ties(tie_share)
        least = task.size.leaf_measures(task.problem)[0].least
        break_ties(
            incumbent,
            maximiser.find_tie,
            splits_are_fewest=maximiser.splits_are_fewest,
            few_take_long=not core.has_features(task.problem.n_classes, least),
        )
        return True


def _solve_relaxation(
    task: Task,
    limits: Limits,
    callback: Callback | None,
    proven: list[Proven | Branch],
    **options: Any,
) -> Solution:
    """Solve a task over some of the columns."""
    start = task.best_constant()
    if task.has_only_constants:
        bound = task.metric.best_value(task.problem) if start is None else task.objective(start)
        return Solution.of_tree(task, start, bound, stats={"fewest_splits": True})
    return solve_search(
        task,
        limits=limits,
        start=start,
        random_state=None,
        callback=callback,
        proven=proven,
        **options,
    )


def solve_search(
    task: Task,
    *,
    limits: Limits,
    start: Tree | None,
    random_state: int | None,  # noqa: ARG001
    callback: Callback | None,
    fewest_splits: bool = True,
    tie_share: float = 2.0,
    n_jobs: int = 1,
    memory_limit: int = MEMORY_LIMIT,
    techniques: Mapping[str, bool] | None = None,
    proven: list[Proven | Branch] | None = None,
    executor: Any = None,
) -> Solution:
    """Maximise a metric by exact search.

    Parameters
    ----------
    task
        The question.
    limits, callback
        As in :func:`goct.solve`.
    start
        A tree to start from, if there is one that meets the constraints.
    random_state
        Not needed: the search does not depend on chance.
    fewest_splits
        Whether, of all optimal trees, one with the fewest splits is returned,
        and of those one of the smallest depth. That takes a question or more
        after the proof; without it, any optimal tree is returned.
    tie_share
        How long that may take, as a multiple of the time that the proof took; a
        second in any case. ``solution.fewest_splits`` says whether it was enough.
        Infinity for as long as it takes, so that the same data give the same
        tree also if that takes long.
    n_jobs
        The number of threads, or -1 for one per processor. The result does not
        depend on it.
    memory_limit
        How many bytes a search may take. One that needs more is not begun.
    techniques
        Switches techniques of the search off, see :class:`LinearOracle`.
    proven
        A list that takes what the answers to linear questions prove; for
        certificates.
    executor
        A `distributed.Client`: the workers of its Dask cluster share the work of
        every question that takes long.
    """
    if (why := unsupported(task)) is not None:
        raise ValueError(f"{why}; use engine='mip'")
    if limits.nodes is not None:
        raise ValueError("the search engine takes no node_limit; use time_limit, or engine='mip'")
    check_flag(fewest_splits, "fewest_splits")
    if not tie_share >= 0:
        raise ValueError(f"tie_share must not be negative, got {tie_share}")
    incumbent = Incumbent(task, start)
    if (constant := task.best_constant()) is not None:
        incumbent.offer(constant)  # sweeps over split budgets begin with one split
    session = IncumbentSession(incumbent, limits, callback)
    smallest = False
    options: dict[str, Any] = {
        "n_jobs": n_jobs,
        "memory_limit": memory_limit,
        "techniques": techniques,
        "executor": executor,
    }
    try:
        if any(isinstance(c, FeatureSetConstraint) for c in task.constraints):
            solve = partial(
                _solve_relaxation, fewest_splits=fewest_splits, tie_share=tie_share, **options
            )
            smallest = ColumnSearch(session, solve).run()
        else:
            smallest = _search(session, options, fewest_splits=fewest_splits, tie_share=tie_share)
    except StopError:
        pass  # what is known by now is the answer
    except KeyboardInterrupt:
        session.limit = Limit.INTERRUPTED
    if proven is not None:
        proven += session.proven
    return Solution.of_tree(
        task,
        incumbent.tree,
        incumbent.bound,
        limit=session.limit,
        stats={
            "engine": "search",
            "oracle_calls": session.calls,
            "nodes": session.nodes,
            "phase_two": session.phase_two,
            "memory_needed": session.memory_needed,
            "fewest_splits": smallest,
            "time": session.elapsed,
        },
    )
