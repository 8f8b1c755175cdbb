"""The search engine: picks the maximiser for a metric and reports what it proved."""

from __future__ import annotations

import time
from collections.abc import Mapping

from goct._validation import check_flag
from goct.constraints import MetricConstraint, MinLeafWeight
from goct.metrics import LinearMetric, Metric
from goct.problem import Problem
from goct.search.linear import LinearMaximiser
from goct.search.maximiser import PlaneMaximiser
from goct.search.oracle import LinearOracle
from goct.search.run import Run, StopRunError, TooFineError
from goct.search.ties import break_ties
from goct.solution import Callback, Limit, Limits, Solution
from goct.task import Task
from goct.tree import Tree


def can_maximise(metric: Metric) -> bool:
    """Say whether the search engine can prove a tree optimal for the metric."""
    return isinstance(metric, LinearMetric) or metric.is_monotone


def unsupported(task: Task) -> str | None:
    """Say why the search engine cannot answer a question; None if it can."""
    problem, metric = task.problem, task.metric
    constraints = [c for c in task.constraints if not isinstance(c, MinLeafWeight)]
    if not can_maximise(metric):
        return (
            f"the search engine cannot maximise {metric.name!r}: it is not known to be monotone, "
            "that is, never to fall when TP or TN rises; if it is, declare it so"
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
    if constraints and not _has_plane(problem, metric):
        return (
            f"the search engine cannot maximise {metric.name!r} under constraints, only monotone "
            "metrics of two classes"
        )
    return None


def _has_plane(problem: Problem, metric: Metric) -> bool:
    """Say whether trees are points in the (FN, FP) plane, as far as the metric is concerned."""
    return problem.n_classes == 2 and metric.is_monotone


def _maximiser(run: Run) -> LinearMaximiser | PlaneMaximiser:
    task = run.task
    has_plane = _has_plane(task.problem, task.metric)
    if isinstance(task.metric, LinearMetric) and not run.metric_constraints:
        try:
            return LinearMaximiser(run, task.metric)
        except TooFineError:
            if not has_plane:
                raise  # else there are questions with smaller numbers
    return PlaneMaximiser(run)


def solve_search(
    task: Task,
    *,
    limits: Limits,
    start: Tree | None,
    random_state: int | None,  # noqa: ARG001
    callback: Callback | None,
    fewest_splits: bool = True,
    n_jobs: int = 1,
    memory_limit: int = 1 << 30,
    techniques: Mapping[str, bool] | None = None,
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
    n_jobs
        The number of threads. They share the work at the root from depth 4 on,
        unless the number of splits is limited.
    memory_limit
        How many bytes the cache may take.
    techniques
        Switches techniques of the search off, see :class:`LinearOracle`.
    """
    started = time.perf_counter()
    if (why := unsupported(task)) is not None:
        raise ValueError(f"{why}; use engine='mip'")
    if limits.nodes is not None:
        raise ValueError("the search engine takes no node_limit; use time_limit, or engine='mip'")
    check_flag(fewest_splits, "fewest_splits")
    run = Run(task, start=start, limits=limits, callback=callback)
    smallest = False
    try:
        run.oracle = LinearOracle(
            task.problem.X,
            weights=task.problem.counts.sum(axis=1),
            n_jobs=n_jobs,
            memory_limit=memory_limit,
            techniques=techniques,
        )
        maximiser = _maximiser(run)
        maximiser.maximise()
        if fewest_splits and run.best is not None:
            break_ties(run, maximiser.attain, splits_are_fewest=maximiser.splits_are_fewest)
            smallest = True
    except StopRunError:
        pass  # what is known by now is the answer
    except KeyboardInterrupt:
        run.limit = Limit.INTERRUPTED
    return Solution.of_tree(
        task,
        run.best,
        run.bound,
        limit=run.limit,
        stats={
            "engine": "search",
            "oracle_calls": run.calls,
            "nodes": run.nodes,
            "phase_two": run.phase_two,
            "fewest_splits": smallest,
            "time": time.perf_counter() - started,
        },
    )
