"""The size path by search: the best tree for every split budget."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from goct.constraints import FeatureSetConstraint
from goct.metrics import LinearMetric
from goct.plane.oracle import StopError, TooFineError
from goct.plane.path import Budgets, BudgetsSession, SharedOracle, prunings
from goct.plane.points import Plane
from goct.search.engine import has_plane, has_requirements, takes_long, unsupported
from goct.search.linear import LinearMaximiser
from goct.search.maximiser import PlaneMaximiser
from goct.search.problem_oracle import ProblemOracle
from goct.search.questions import CostOracle, SearchOracle
from goct.solution import Limit
from goct.task import Task

_SMALL = 2
"""The depth of the trees that are proven first; those that are one deeper come next."""
_SHORT = 1.0
"""Seconds in which there may be no time for more than what is found without a proof."""


def can_share(task: Task) -> bool:
    """Say whether the questions of a task can be asked for all split budgets at once."""
    of_features = any(isinstance(c, FeatureSetConstraint) for c in task.constraints)
    return not of_features and unsupported(task) is None


def search_path(session: BudgetsSession, core: ProblemOracle) -> None:
    """Find the best tree of every split budget, and prove it.

    What is proven is in the session's budgets, whether or not a limit was reached.

    Parameters
    ----------
    session
        Clock, callback, and what is known so far. The task is one of
        :func:`can_share`.
    core
        Whom to ask.
    """
    try:
        if not _search_linear(session, core):
            if (deepest := session.budgets.task.size.reachable_depth) > _SMALL:
                _climb(session, core)
                for depth in range(_SMALL, min(deepest, _SMALL + 2)):
                    _try_small(session, core, depth)
            _search_plane(session, core)
    except StopError:
        pass  # what is known by now is the answer
    except KeyboardInterrupt:
        session.limit = Limit.INTERRUPTED


def _search_linear(session: BudgetsSession, core: ProblemOracle) -> bool:
    """Settle all budgets by one question; say whether the metric is one for that."""
    budgets = session.budgets
    task, problem = budgets.task, budgets.task.problem
    if not isinstance(task.metric, LinearMetric) or has_requirements(task):
        return False
    oracle = CostOracle(session, core, problem, task.size, range(problem.n_classes))
    try:
        maximiser = LinearMaximiser(oracle, budgets.incumbents[-1], task.metric)
    except TooFineError:
        if not has_plane(task):
            raise
        return False  # there are questions with smaller numbers
    maximiser.maximise_budgets(budgets)
    return True


def _climb(session: BudgetsSession, core: ProblemOracle) -> None:
    """Find a good tree for every budget without a proof: a large one, and what is left of it.

    If the time is short, that is all there is.
    """
    budgets = session.budgets
    task, left = budgets.task, session.left.time
    has_time = left is None or left > _SHORT
    if has_requirements(task) or (has_time and not takes_long(task)):
        return  # requirements are not part of any direction
    plane = Plane(task.problem, task.metric)
    whole = replace(task.size, max_splits=None)
    oracle = SearchOracle(session, core, plane, whole)
    largest, last = budgets.incumbents[-1], None
    a = b = 1
    try:
        with suppress(TooFineError):
            while (best := largest.best) is not last and best is not None:
                last = best
                x, y = plane.of(best.tree)
                a, b, _ = plane.tangent(x, y)
                tree = oracle.guess(a, b, whole, cutoff=a * x + b * y)
                for pruning in [] if tree is None else prunings(tree, plane, a, b):
                    budgets.offer(pruning)
    except (StopError, KeyboardInterrupt):
        if largest.tree is not None:
            for pruning in prunings(largest.tree, plane, a, b):
                budgets.offer(pruning)
        raise


def _try_small(session: BudgetsSession, core: ProblemOracle, depth: int) -> None:
    """Find the best trees of a small depth: their values are where good questions start.

    Trees with as many splits are no deeper, so that what is proven of these holds for all.
    """
    budgets, task = session.budgets, session.budgets.task
    small = Budgets(replace(task, size=replace(task.size, max_depth=depth)), 2**depth)
    run = BudgetsSession(small, session.left, lambda _, nodes: session.tell(nodes))
    try:
        with suppress(TooFineError):
            _search_plane(run, core)
    except StopError:
        session.stop(run.limit, run.memory_needed)
    finally:
        for incumbent in small.incumbents:
            if incumbent.tree is not None:
                budgets.offer(incumbent.tree)
        for splits, incumbent in enumerate(small.incumbents[: depth + 1]):
            budgets.tighten(splits, incumbent.bound)
        session.calls += run.calls
        session.nodes += run.nodes


def _search_plane(session: BudgetsSession, core: ProblemOracle) -> None:
    """Settle the budgets from the largest on, those that others have not settled by then."""
    budgets = session.budgets
    task = budgets.task
    plane = Plane(task.problem, task.metric)
    staircase = PlaneMaximiser.staircase_of(task, plane)
    oracle = SearchOracle(session, core, plane, task.size)
    shared = SharedOracle(oracle, budgets, plane, staircase)
    try:
        for splits in reversed(range(1, len(budgets))):
            if shared.is_open(splits):
                PlaneMaximiser(
                    shared,
                    budgets.incumbents[splits],
                    plane,
                    staircase=staircase,
                    floor=shared.floors[splits],
                    points=shared.points[splits],
                ).maximise()
            best = budgets.incumbents[splits].objective
            if best is None:
                return  # no tree with fewer splits meets the constraints, either
            budgets.tighten(splits, best)
    except (StopError, KeyboardInterrupt):
        for splits in range(1, len(budgets)):
            shared.settle(splits)
        raise
