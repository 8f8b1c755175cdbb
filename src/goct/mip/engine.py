"""The MIP engine: from a task to models, solver runs and a solution.

Three strategies answer a question. :func:`direct` states the objective in one
model. :func:`parametric` maximises fractional and quasiconvex metrics by linear
models only. :func:`goct.mip.settle.settle` closes the gap that the tolerances of
a solver leave. :func:`maximise` says which of them come when.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

from goct.exact import Exact
from goct.metrics import LinearMetric
from goct.mip.nonlinear.objective import NonlinearObjective
from goct.mip.objective import Answer, LinearObjective, ModelObjective
from goct.mip.options import MipOptions, not_parametric
from goct.mip.parametric import Line, Parametric
from goct.mip.runner import ModelRunner
from goct.mip.session import ModelSession, Runner
from goct.mip.settle import settle
from goct.mip.warm_start import Solver, WarmStart
from goct.plane.oracle import Incumbent
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.task import Task
from goct.tree import Tree

_MOST_DEPTH = 10  # up to here, a split budget may stand for a limit on the depth


def solve_mip(
    task: Task,
    *,
    limits: Limits,
    start: Tree | None,
    random_state: int | None,
    callback: Callback | None,
    **options: Any,
) -> Solution:
    """Maximise a metric with a mixed-integer program.

    Parameters
    ----------
    task
        The question; the depth is at least 1.
    limits, random_state, callback
        As in :func:`goct.solve`.
    start
        A tree to start from; it is returned if nothing better is found. None
        if no constant tree meets the constraints.
    **options
        See :class:`goct.mip.options.MipOptions`.

    Notes
    -----
    Solvers compute with floats; :mod:`goct.mip.numerics` says why what is
    called proven is. A solution is called optimal only if the proven bound
    reaches the objective, which is computed exactly from the tree.
    """
    started = time.perf_counter()
    asked, task = task, task.on(task.problem.explicit())  # a model has a variable per condition
    settings = MipOptions.read(**options)
    if task.size.max_depth is None and task.size.reachable_depth > _MOST_DEPTH:
        names = ", ".join(repr(constraint.name) for constraint in task.constraints)
        raise ValueError(
            f"the MIP engine{f', asked because of {names},' if names else ''} needs a limit on the "
            "depth: its models have a place for every node; give max_depth, or max_splits of at "
            f"most {_MOST_DEPTH}"
        )
    runner = ModelRunner(settings, random_state)
    solve = partial(maximise, runner=runner, options=settings)
    warm = WarmStart(
        task,
        start,
        settings.warm_start,
        highest=_highest(task, start, settings),
        limits=limits,
        callback=callback,
        random_state=random_state,
    )
    warm.run(solve)
    answer, proof = _prove(warm, partial(solve, gap=settings.solver.gap))
    if settings.solver.gap and "mip" in warm.times and answer.limit is Limit.NONE:
        answer = replace(answer, limit=Limit.GAP)
    stats = {
        "engine": "mip",
        "formulation": settings.model.formulation,
        "backend": settings.solver.backend,
        **answer.stats,
        **runner.counts,
        "injection": warm.kind,
        "injected": None if warm.injected is None else float(warm.injected),
        "proof": proof,
        "stage_times": warm.times,
        "time": time.perf_counter() - started,
    }
    return Solution.of_tree(asked, answer.best, answer.bound, limit=answer.limit, stats=stats)


def _highest(task: Task, start: Tree | None, options: MipOptions) -> Exact:
    """Return what no tree exceeds, or raise an error if no model can state the task."""
    if options.method_for(task.metric) == "parametric":
        return task.metric.best_value(task.problem)
    return objective_of(task, start, options).bound(inf)


def _prove(warm: WarmStart, solve: Solver) -> tuple[Answer, str | None]:
    """Solve a task after its warm start, and say whose bound it is: "search" or "mip"."""
    task = warm.task
    ceiling = warm.bound if warm.options.search_bound else None
    known = Answer.of(task, warm.best, warm.highest, warm.limit)
    proof = None if ceiling is None else "search"
    if warm.options.search_bound and warm.is_proven:
        known = replace(known, limit=Limit.NONE)
    elif warm.is_over:
        known = replace(known, limit=Limit.TIME)
    elif warm.limit is Limit.NONE:
        with warm.stage("mip"):
            tell = _until(ceiling, warm.callback, lambda: warm.elapsed)
            known = solve(task, warm.best, limits=warm.left, callback=tell)
        is_infeasible = known.best is None and known.limit is Limit.NONE
        by_search = ceiling is not None and ceiling < known.bound and not is_infeasible
        proof = "search" if by_search else "mip"
    return known if ceiling is None else replace(known, bound=min(known.bound, ceiling)), proof


def maximise(
    task: Task,
    start: Tree | None,
    *,
    runner: Runner,
    options: MipOptions,
    limits: Limits,
    callback: Callback | None,
    gap: Fraction = Fraction(0),
) -> Answer:
    """Return the best tree of a task, and what is proven.

    Linear metrics take one model. For the others, one strategy comes first, and
    the other one where that leaves the question open: below the value from
    which a metric is quasiconvex, the hull does not tell, and one model does;
    where the tolerances of one model are too large, lines are more precise.
    The solver may stop `gap` close to the best tree.
    """
    incumbent = Incumbent(task, start, _highest(task, start, options))
    session = ModelSession(runner, incumbent, limits, callback)
    method = options.method_for(task.metric)
    is_linear = isinstance(task.metric, LinearMetric)
    if not is_linear:
        session.stats = {"method": method, "pair_questions": 0}
    try:
        if method == "parametric":
            settle(session, parametric(session))
            if session.is_open and _may_be_inside(incumbent):
                session.stats["method"] = "direct"
                direct(session, options, gap)
                settle(session)
        else:
            direct(session, options, gap)
            if not is_linear:
                settle(session, asks=not gap)
                if session.is_open and not gap and not_parametric(task.metric) is None:
                    settle(session, parametric(session))
    except KeyboardInterrupt:
        session.limit = Limit.INTERRUPTED
    return Answer(
        incumbent.tree, incumbent.objective, incumbent.bound, session.limit, session.stats
    )


def direct(session: ModelSession, options: MipOptions, gap: Fraction) -> None:
    """State the objective in one model, and solve that."""
    incumbent = session.incumbent
    objective = objective_of(incumbent.task, incumbent.tree, options)
    answer = session.run(objective, gap=gap, is_whole=True)
    if isinstance(objective, NonlinearObjective):
        session.stats["linearization"] = objective.linearization
    session.stats |= answer.stats


def parametric(session: ModelSession) -> list[Line]:
    """Maximise by linear models; returns what they proved about all trees."""
    before = session.calls
    search = Parametric(session)
    search.maximise()
    session.stats |= {"questions": session.calls - before}
    session.stats.setdefault("nodes", session.nodes)
    return search.oracle.lines


def objective_of(task: Task, start: Tree | None, options: MipOptions) -> ModelObjective:
    """Return the objective of a task, for one model."""
    if isinstance(task.metric, LinearMetric):
        return LinearObjective(task, start)
    linearization = options.model.linearization or "compact"
    has_envelope = "envelope" in options.model.families
    return NonlinearObjective(task, start, linearization, has_envelope)


def _may_be_inside(incumbent: Incumbent) -> bool:
    """Say whether the best tree may be inside the hull, the metric not being quasiconvex there.

    That takes constraints that no tree of a usual value meets.
    """
    task, level = incumbent.task, incumbent.task.metric.quasiconvex_from
    return level is not None and task.metric.evaluate(incumbent.known.tree, task.problem) < level


def _until(
    bound: Exact | None, callback: Callback | None, elapsed: Callable[[], float]
) -> Callback | None:
    """Return a callback that also stops the solver when a tree reaches a proven bound."""
    if callback is None and bound is None:
        return None

    def tell(progress: Progress) -> bool:
        objective, known = progress.objective, progress.bound
        if bound is not None:
            known = min(known, bound)
        reported = replace(progress, elapsed=elapsed(), bound=known)
        wants_stop = callback is not None and bool(callback(reported))
        return wants_stop or (bound is not None and objective is not None and objective >= bound)

    return tell
