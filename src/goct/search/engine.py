"""The search engine: picks the maximiser for a metric and reports what it proved."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction

from goct.constraints import Constraint
from goct.exact import Exact
from goct.metrics import FractionalMetric, LinearMetric, Metric, Shape
from goct.problem import Problem
from goct.search.fractional import maximise_fractional
from goct.search.linear import maximise_linear
from goct.search.oracle import LinearOracle
from goct.search.plane import Lift, Plane
from goct.search.quasiconvex import maximise_quasiconvex
from goct.search.region import Region
from goct.search.run import Run, StopRunError, TooFineError
from goct.solution import Callback, Limit, Limits, Solution
from goct.tree import Tree


def can_maximise(metric: Metric) -> bool:
    """Say whether the search engine can prove a tree optimal for the metric."""
    return isinstance(metric, LinearMetric | FractionalMetric) or metric.shape is Shape.QUASICONVEX


def solve_search(
    problem: Problem,
    metric: Metric,
    max_depth: int,
    *,
    split_penalty: Fraction,
    max_splits: int | None,
    constraints: tuple[Constraint, ...],
    limits: Limits,
    start: Tree | None,
    random_state: int | None,  # noqa: ARG001
    callback: Callback | None,
    n_jobs: int = 1,
    memory_limit: int = 1 << 30,
    techniques: Mapping[str, bool] | None = None,
) -> Solution:
    """Maximise a metric by exact search.

    Parameters
    ----------
    problem, metric, max_depth, split_penalty, max_splits, limits, callback
        As in :func:`goct.solve`.
    start
        A tree to start from.
    random_state
        Not needed: the search does not depend on chance.
    n_jobs
        The number of threads. They share the work at the root from depth 4 on,
        unless the number of splits is limited.
    memory_limit
        How many bytes the cache may take.
    techniques
        Switches techniques of the search off, see :class:`LinearOracle`.
    """
    started = time.perf_counter()
    if not can_maximise(metric):
        raise ValueError(
            f"the search engine cannot maximise {metric.name!r}, which is {metric.shape.value}; "
            "it maximises metrics that are linear, fractional or quasiconvex"
        )
    if limits.nodes is not None:
        raise ValueError("the search engine takes no node_limit; use time_limit, or engine='mip'")
    if constraints or start is None:
        raise ValueError("not yet")
    run = Run(problem, metric, max_depth, split_penalty, start, limits, callback)
    try:
        run.oracle = LinearOracle(
            problem.X, n_jobs=n_jobs, memory_limit=memory_limit, techniques=techniques
        )
        if isinstance(metric, LinearMetric):
            _maximise_linear(run, metric, max_splits)
        else:
            _maximise_in_plane(run, Plane(run), max_splits)
    except StopRunError:
        pass  # what is known by now is the answer
    except KeyboardInterrupt:
        run.limit = Limit.INTERRUPTED
    return Solution.of_tree(
        run.best,
        run.bound,
        metric=metric,
        problem=problem,
        split_penalty=split_penalty,
        max_depth=max_depth,
        max_splits=max_splits,
        limit=run.limit,
        stats={
            "engine": "search",
            "oracle_calls": run.calls,
            "nodes": run.nodes,
            "time": time.perf_counter() - started,
        },
    )


def _maximise_linear(run: Run, metric: LinearMetric, max_splits: int | None) -> None:
    """Ask one question or, if its numbers do not fit, those of the hull, which are smaller."""
    try:
        maximise_linear(run, metric, max_splits)
    except TooFineError:
        if run.problem.n_classes != 2 or not metric.is_monotone:
            raise
        _maximise_in_plane(run, Plane(run), max_splits)


def _maximise_in_plane(run: Run, plane: Plane, max_splits: int | None) -> None:
    """Maximise a metric of (FN, FP) with a split penalty.

    With a penalty, the largest value over all trees comes first. It leaves few
    numbers of splits that can still win; for each, the largest value of trees
    with at most so many splits follows.
    """

    def maximise(
        above: Exact, splits: int | None, region: Region, lift: Lift
    ) -> tuple[Exact, Region]:
        if isinstance(run.metric, FractionalMetric):
            # Its directions can need larger numbers than those of the hull's edges.
            with suppress(TooFineError):
                return maximise_fractional(
                    plane, run.metric, above, max_splits=splits, region=region, lift=lift
                )
        return maximise_quasiconvex(plane, above, max_splits=splits, region=region, lift=lift)

    penalty = run.split_penalty
    # A tree that is better than the constant one has a split.
    top, region = maximise(run.objective + penalty, max_splits, Region(), lambda v: v - penalty)
    run.tighten(top - penalty)
    if not penalty:
        return
    most = 2**run.max_depth - 1 if max_splits is None else max_splits
    for splits in range(1, most + 1):
        more = top - penalty * (splits + 1)  # the bound for trees with more splits
        if more + penalty <= run.objective:
            break
        maximise(
            run.objective + penalty * splits,
            splits,
            region,
            lambda v, s=splits, more=more: max(v - penalty * s, more),  # type: ignore[misc]
        )
        run.tighten(more)
    run.tighten(run.objective)
