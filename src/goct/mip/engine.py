"""The MIP engine: from a problem and a metric to a model, a solver run and a solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from goct._validation import check_choice, check_count
from goct.constraints import Constraint
from goct.exact import Exact, as_fraction
from goct.metrics import LinearMetric, Metric
from goct.mip.attainable import Line
from goct.mip.backends.base import Ability, Backend, MipResult, Settings
from goct.mip.backends.gurobi import Gurobi
from goct.mip.backends.highs import Highs
from goct.mip.backends.scip import Scip
from goct.mip.formulations import FORMULATIONS, Formulation, Separation
from goct.mip.nonlinear import NonlinearQuestion
from goct.mip.pairs import PairQuestion, settle
from goct.mip.parametric import Parametric, refusal
from goct.mip.question import LinearQuestion, Question
from goct.mip.side import SideConstraints
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Solution
from goct.tree import Tree

BACKENDS: dict[str, Backend] = {"scip": Scip(), "gurobi": Gurobi(), "highs": Highs()}
METHODS = ("direct", "parametric")
LINEARIZATIONS = ("compact", "paper", "none")


def solve_mip(
    problem: Problem,
    metric: Metric,
    max_depth: int,
    *,
    split_penalty: Fraction,
    max_splits: int | None,
    constraints: tuple[Constraint, ...],
    limits: Limits,
    start: Tree | None,
    random_state: int | None,
    callback: Callback | None,
    formulation: str = "benders-pair-cut",
    backend: str = "scip",
    method: str = "direct",
    linearization: str = "compact",
    cuts: Mapping[str, bool] | None = None,
    max_rounds: int = 1,
    min_violation: float = 0.01,
    max_cuts: int = 200,
    neighbours: int = 8,
    heuristic: bool = True,
    integer_flow: bool = False,
    gap: Any = 0,
    threads: int = 1,
    log: bool = False,
) -> Solution:
    """Maximise a metric with a mixed-integer program.

    Parameters
    ----------
    problem, metric, max_depth, split_penalty, max_splits, constraints, limits
        As in :func:`goct.solve`; the depth is at least 1.
    random_state, callback
        As in :func:`goct.solve`; the depth is at least 1.
    start
        A tree to start from; it is returned if nothing better is found. None
        if no constant tree meets the constraints.
    formulation
        The model, see :data:`goct.mip.formulations.FORMULATIONS`: "flow",
        "wflow", "benders", "benders-weighted", "benders-weighted-cut" of the
        paper, or "benders-pair-cut".
    backend
        The solver: "scip", "gurobi" or "highs".
    method
        How nonlinear metrics are maximised: "direct", by one model that states
        the metric (:mod:`goct.mip.nonlinear`), or "parametric", by linear
        models (:mod:`goct.mip.parametric`), for metrics that are fractional or
        quasiconvex.
    linearization
        How that one model states products: "compact", in bits
        (:mod:`goct.mip.products`), "paper", in bits as the paper does
        (:mod:`goct.mip.paper`), or "none", as they are, which makes it a
        MIQCP; HiGHS does not solve these.
    cuts
        Switches families of cuts on or off, see
        :data:`goct.mip.formulations.CUTS`.
    max_rounds
        How often cuts are separated at each node but the root.
    min_violation
        The least violation of a cut at a fractional point.
    max_cuts
        The largest number of cuts of each family in a round.
    neighbours
        How many neighbours of another label each instance is paired with.
    heuristic
        Whether trees are made from the relaxation.
    integer_flow
        Whether the flow variables, z or g, are binary, as in the paper. They
        need not be.
    gap
        The solver may stop when it has proven the tree to be this close to the
        best one, in the metric's own unit.
    threads
        The number of threads of the solver.
    log
        Whether the solver prints its log.

    Notes
    -----
    Solvers compute with floats. All objective values are multiples of one
    known number, however, so the solver's bound is rounded down to the next
    multiple after adding a tolerance. A solution is called optimal only if
    that reaches the objective, which is computed exactly from the tree.
    Constraints are checked on the tree in the same way.

    The values of nonlinear metrics are no such multiples. There, a solution is
    called optimal if no pair (TP, TN), achieved or not, has a value above the
    tree and up to the solver's bound plus a tolerance. If some have, and the
    metric is fractional or quasiconvex, linear models finish the proof;
    otherwise a gap of about 1e-6 remains.
    """
    started = time.perf_counter()
    form = FORMULATIONS[check_choice(formulation, "formulation", tuple(FORMULATIONS))]
    solver = BACKENDS[check_choice(backend, "backend", tuple(BACKENDS))]
    families = form.choose_cuts(cuts)
    separation = Separation(
        min_violation=_check_positive(min_violation, "min_violation"),
        max_cuts=check_count(max_cuts, "max_cuts", minimum=1),
        neighbours=check_count(neighbours, "neighbours", minimum=1),
    )
    max_rounds = check_count(max_rounds, "max_rounds")
    threads = check_count(threads, "threads", minimum=1)
    allowed_gap = as_fraction(gap, "gap")
    if allowed_gap < 0:
        raise ValueError(f"gap must not be negative, got {gap}")
    needs_separation = not form.is_compact or bool(
        families - {"static_conflicts", "redundancy", "envelope"}
    )
    is_miqp = (
        linearization == "none" and method == "direct" and not isinstance(metric, LinearMetric)
    )
    wanted = []
    if needs_separation:
        wanted.append((Ability.SEPARATION, f"the formulation {formulation!r} and its cuts need"))
    if threads > 1:
        wanted.append((Ability.THREADS, f"threads={threads} needs"))
    if is_miqp:
        wanted.append((Ability.PRODUCTS, "linearization='none' needs"))
    _check_backend(backend, solver, wanted)
    check_choice(method, "method", METHODS)
    check_choice(linearization, "linearization", LINEARIZATIONS)
    side = SideConstraints.read(constraints, problem)
    most = 2**max_depth - 1 if max_splits is None else min(max_splits, 2**max_depth - 1)
    asker = Asker(
        form,
        solver,
        max_depth,
        integer_flow=integer_flow,
        cuts=families,
        separation=separation,
        heuristic=heuristic,
        settings=Settings(seed=random_state, threads=threads, max_rounds=max_rounds, log=log),
    )

    def finish(start: Tree | None) -> Parametric:
        parametric = Parametric(
            problem,
            metric,
            split_penalty,
            start,
            side,
            ask=asker.ask,
            solver=solver.name,
            limits=limits.after(time.perf_counter() - started),
            callback=callback,
        )
        parametric.maximise(most, max_splits)
        return parametric

    stats: dict[str, Any] = {"method": method}
    lines: list[Line] = []
    if method == "parametric" and not isinstance(metric, LinearMetric):
        run = finish(start)
        best, bound, limit = run.best, run.bound, run.limit
        stats |= {"questions": run.questions, "nodes": run.nodes}
        lines = run.lines
    else:
        question: Question
        if isinstance(metric, LinearMetric):
            question, stats = LinearQuestion(problem, metric, split_penalty, start, side), {}
        else:
            question = NonlinearQuestion(
                problem,
                metric,
                split_penalty,
                start,
                side,
                most,
                linearization,
                has_envelope="envelope" in families,
            )
            stats["linearization"] = linearization
        result = asker.ask(
            question, max_splits=max_splits, gap=allowed_gap, limits=limits, callback=callback
        )
        best, bound = question.judge(result, solver.name)
        limit, stats = result.limit, stats | result.stats
        if isinstance(question, NonlinearQuestion) and result.x is not None:
            stats["claimed"] = question.claimed(result.x)
    if best is not None and not isinstance(metric, LinearMetric):

        def ask(question: PairQuestion) -> MipResult:
            left = limits.after(time.perf_counter() - started)
            stats["pair_questions"] = stats.get("pair_questions", 0) + 1
            # Any tree will do.
            return asker.ask(question, max_splits=max_splits, gap=Fraction(1), limits=left)

        def settled(best: Tree, bound: Exact, lines: list[Line]) -> tuple[Tree, Exact, Limit]:
            return settle(
                problem,
                metric,
                best,
                bound,
                split_penalty=split_penalty,
                most_splits=most,
                side=side,
                lines=lines,
                ask=ask if limit is Limit.NONE and not allowed_gap else None,
                solver=solver.name,
            )

        best, bound, reached = settled(best, bound, lines)
        limit = reached if limit is Limit.NONE else limit
        value = metric.evaluate(best, problem) - split_penalty * best.splits
        is_open = limit is Limit.NONE and value < bound
        if is_open and method == "direct" and not allowed_gap and refusal(metric) is None:
            run = finish(best)
            assert run.best is not None
            best, bound, limit = run.best, min(bound, run.bound), run.limit
            stats |= {"questions": run.questions}
            if limit is Limit.NONE:
                best, bound, limit = settled(best, bound, run.lines)
    return Solution.of_tree(
        best,
        bound,
        metric=metric,
        problem=problem,
        split_penalty=split_penalty,
        max_depth=max_depth,
        max_splits=max_splits,
        constraints=constraints,
        limit=limit,
        stats={
            "engine": "mip",
            "formulation": formulation,
            "backend": backend,
            **stats,
            "time": time.perf_counter() - started,
        },
    )


@dataclass(frozen=True)
class Asker:
    """Builds the model of a question and runs a solver on it.

    Attributes
    ----------
    formulation, solver, depth
        The model, who solves it, and the depth of trees.
    integer_flow, cuts, separation
        As for :meth:`goct.mip.formulations.Formulation.build`.
    heuristic
        Whether trees are made from the relaxation.
    settings
        How the solver runs, but for gap and limits.
    """

    formulation: Formulation
    solver: Backend
    depth: int
    integer_flow: bool
    cuts: frozenset[str]
    separation: Separation
    heuristic: bool
    settings: Settings

    def ask(
        self,
        question: Question,
        *,
        max_splits: int | None,
        gap: Fraction = Fraction(0),
        limits: Limits,
        callback: Callback | None = None,
    ) -> MipResult:
        """Return the solver's answer to a question."""
        started = time.perf_counter()
        form, solver = self.formulation, self.solver
        try:
            answer = question.answer_without_solver()
            if answer is not None:
                return answer
            tree = form.build(
                question.instances(is_merged=form.is_merged),
                self.depth,
                split_cost=question.split_cost,
                max_splits=max_splits,
                integer_flow=self.integer_flow,
                cuts=self.cuts,
                separation=self.separation,
            )
            question.attach(tree, solver, is_compact=form.is_compact)
            if self.heuristic and Ability.INJECTION in solver.abilities:
                tree.model.heuristic = question.heuristic(max_splits)
            left = limits.after(time.perf_counter() - started)
            result = solver.run(
                tree.model,
                replace(self.settings, gap=question.gap(gap), limits=left),
                start=question.start_point(),
                callback=None if callback is None else question.reporter(callback, started),
            )
        except KeyboardInterrupt:  # while the model was built; solvers return what they have
            return MipResult(None, np.inf, Limit.INTERRUPTED)
        size = {"variables": tree.model.n_variables, "rows": tree.model.n_rows}
        return replace(result, stats=size | question.stats | result.stats)


def _check_backend(name: str, solver: Backend, wanted: list[tuple[Ability, str]]) -> None:
    if not solver.is_available:
        raise ImportError(
            f"the backend {name!r} needs {solver.module}: pip install 'goct[{solver.extra}]'"
        )
    for ability, reason in wanted:
        if ability not in solver.abilities:
            able = [repr(key) for key, other in BACKENDS.items() if ability in other.abilities]
            raise ValueError(
                f"{reason} {ability.value}, which the backend {name!r} cannot do; "
                f"{' and '.join(able)} can"
            )


def _check_positive(value: Any, name: str) -> float:
    number = as_fraction(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return float(number)
