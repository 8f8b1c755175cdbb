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
from typing import Any

from goct.exact import Exact
from goct.metrics import LinearMetric
from goct.mip.attainable import Line
from goct.mip.nonlinear.objective import NonlinearObjective
from goct.mip.objective import Answer, LinearObjective, ModelObjective
from goct.mip.options import MipOptions, not_parametric
from goct.mip.parametric import Parametric
from goct.mip.runner import ModelRunner
from goct.mip.session import Runner, Session
from goct.mip.settle import settle
from goct.mip.warm_start import WarmStart
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.task import Task
from goct.tree import Tree


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
    settings = MipOptions.read(**options)
    method = settings.method_for(task.metric)
    runner = ModelRunner(settings, random_state)
    solve = partial(maximise, runner=runner, options=settings)
    highest = (
        task.metric.best_value(task.problem)
        if method == "parametric"
        else objective_of(task, start, settings).bound(float("inf"))
    )
    warm = WarmStart(
        task,
        start,
        settings.warm_start,
        highest=highest,
        limits=limits,
        callback=callback,
        random_state=random_state,
    )
    warm.run(solve)
    ceiling = warm.bound if settings.warm_start.search_bound else None
    proof = None if ceiling is None else "search"
    answer = Answer.of(task, warm.best, highest, warm.limit)
    if settings.warm_start.search_bound and warm.is_proven:
        answer = replace(answer, limit=Limit.NONE)
    elif warm.is_over:
        answer = replace(answer, limit=Limit.TIME)
    elif warm.limit is Limit.NONE:
        with warm.stage("mip"):
            tell = _until(ceiling, callback, lambda: warm.elapsed)
            gap = settings.solver.gap
            answer = solve(task, warm.best, limits=warm.left, callback=tell, gap=gap)
        proof = "search" if ceiling is not None and ceiling < answer.bound else "mip"
        if gap and answer.limit is Limit.NONE:
            answer = replace(answer, limit=Limit.GAP)
    return Solution.of_tree(
        task,
        answer.best,
        answer.bound if ceiling is None else min(answer.bound, ceiling),
        limit=answer.limit,
        stats={
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
        },
    )


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

    Parameters
    ----------
    task
        The question.
    start
        A feasible tree that is known.
    runner, options
        What runs models, and how.
    limits, callback
        As in :func:`goct.solve`.
    gap
        The solver may stop this close to the best tree.
    """
    session = Session(runner, limits, callback)
    method = options.method_for(task.metric)
    stats = {"method": method, "pair_questions": 0}
    if isinstance(task.metric, LinearMetric):
        return direct(task, start, session, options, gap)
    if method == "parametric":
        answer, lines = parametric(task, start, session)
        answer = replace(answer, stats=stats | answer.stats | {"nodes": session.nodes})
        answer = settle(task, answer, session, lines)
        if answer.limit is not Limit.NONE or not _may_be_inside(task, answer):
            return answer
        stats, start = answer.stats | {"method": "direct"}, answer.best
    answer = direct(task, start, session, options, gap)
    answer = settle(task, replace(answer, stats=stats | answer.stats), session, asks=not gap)
    is_done = answer.limit is not Limit.NONE or not answer.is_open
    if is_done or gap or method == "parametric" or not_parametric(task.metric) is not None:
        return answer
    finished, lines = parametric(task, answer.best, session)
    bound, stats = min(answer.bound, finished.bound), answer.stats | finished.stats
    return settle(task, replace(finished, bound=bound, stats=stats), session, lines)


def direct(
    task: Task, start: Tree | None, session: Session, options: MipOptions, gap: Fraction
) -> Answer:
    """State the objective in one model, and solve that."""
    objective = objective_of(task, start, options)
    answer = session.run(objective, gap=gap)
    if isinstance(objective, NonlinearObjective):
        stats = {"linearization": objective.linearization} | answer.stats
        return replace(answer, stats=stats)
    return answer


def parametric(task: Task, start: Tree | None, session: Session) -> tuple[Answer, list[Line]]:
    """Maximise a metric by linear models; also returns what they proved about all trees."""
    before = session.models
    search = Parametric(task, start, session)
    search.maximise()
    stats = {"questions": session.models - before}
    return Answer(search.best, search.objective, search.bound, search.limit, stats), search.lines


def objective_of(task: Task, start: Tree | None, options: MipOptions) -> ModelObjective:
    """Return the objective of a task, for one model."""
    if isinstance(task.metric, LinearMetric):
        return LinearObjective(task, start)
    linearization = options.model.linearization or "compact"
    has_envelope = "envelope" in options.model.families
    return NonlinearObjective(task, start, linearization, has_envelope)


def _may_be_inside(task: Task, answer: Answer) -> bool:
    """Say whether the best tree may be inside the hull, the metric not being quasiconvex there.

    That takes constraints that no tree of a usual value meets.
    """
    level = task.metric.quasiconvex_from
    if level is None or answer.best is None:
        return False
    return answer.is_open and task.metric.evaluate(answer.best, task.problem) < level


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
