"""The MIP engine: from a problem and a metric to a model, a solver run and a solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from goct._validation import check_choice, check_count
from goct.constraints import Constraint
from goct.exact import Exact, as_fraction
from goct.metrics import LinearMetric, Metric
from goct.mip.attainable import Line
from goct.mip.backends.base import Ability, Backend, MipResult, Settings, is_feasible
from goct.mip.backends.gurobi import Gurobi
from goct.mip.backends.highs import Highs
from goct.mip.backends.scip import Scip
from goct.mip.formulations import FORMULATIONS, IN_THE_MODEL, Formulation, Separation
from goct.mip.injection import INJECTIONS, Answer, Injection
from goct.mip.model import Heuristic
from goct.mip.nonlinear import NonlinearQuestion
from goct.mip.pairs import PairQuestion, settle
from goct.mip.parametric import Parametric, refusal
from goct.mip.question import LinearQuestion, Question
from goct.mip.saliency import (
    NODE_HEURISTICS,
    Improve,
    NodeHeuristic,
    SaliencyHeuristic,
    can_search,
    search_improver,
)
from goct.mip.side import SideConstraints
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.tree import Tree

BACKENDS: dict[str, Backend] = {"scip": Scip(), "gurobi": Gurobi(), "highs": Highs()}
METHODS = ("direct", "parametric")
LINEARIZATIONS = ("compact", "paper", "none")
_COUNTS = ("heuristic_calls", "heuristic_injected", "heuristic_rejected")


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
    injection: str = "auto",
    injection_share: Any = None,
    feature_step: int = 3,
    search_bound: bool = True,
    node_heuristic: str = "search",
    heuristic_features: int = 3,
    heuristic_every: int = 10,
    heuristic_share: Any = 0.2,
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
    injection
        Where the tree comes from that the solver starts from
        (:mod:`goct.mip.injection`): "search", the search engine; "paper",
        models of growing depth over growing sets of features (Algorithm 1);
        "cart", CART; "none", the best constant tree. "auto" is "search" if
        the search engine can answer the question, else "cart".
    injection_share
        The share of the time limit that "search" and "paper" may take; 0.1
        and 0.3 if None. Without a time limit, they take 10 and 60 seconds at
        most.
    feature_step
        How many features "paper" adds at each depth, k in the paper.
    search_bound
        Whether a bound that the search engine proves on the way counts. If it
        meets the tree, no model is built. If False, the tree of the search
        engine is a start like any other, and the solver proves it.
    node_heuristic
        How trees are made at the nodes of the solver
        (:mod:`goct.mip.saliency`): "search" and "mip" solve the problem of
        few salient features (Algorithm 2), by the search engine and by a
        model, and round the relaxation as well; "rounding" does only that;
        "none". Questions that the search engine cannot answer are rounded.
    heuristic_features
        How many salient features join those of the best tree.
    heuristic_every
        The heuristic sees the relaxations of the first nodes, this many, and
        then of one in so many nodes.
    heuristic_share
        The share of the solver's time that problems of few features may take.
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
    tree and up to the solver's bound plus a tolerance. If a few have, one more
    model tells whether a tree achieves them (:mod:`goct.mip.pairs`). If many
    have, and the metric is fractional or quasiconvex, linear models finish the
    proof; otherwise a gap of about 1e-6 remains.
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
    needs_separation = not form.is_compact or bool(families - IN_THE_MODEL)
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
    nodes = NodeHeuristic(
        kind=check_choice(node_heuristic, "node_heuristic", NODE_HEURISTICS),
        features=check_count(heuristic_features, "heuristic_features", minimum=1),
        every=check_count(heuristic_every, "heuristic_every", minimum=1),
        share=_check_share(heuristic_share, "heuristic_share"),
    )
    check_choice(injection, "injection", INJECTIONS)
    asker = Asker(
        form,
        solver,
        max_depth,
        integer_flow=integer_flow,
        cuts=families,
        separation=separation,
        node_heuristic=nodes,
        settings=Settings(
            seed=random_state,
            threads=threads,
            max_rounds=max_rounds,
            heuristic_every=nodes.every,
            log=log,
        ),
    )
    inquiry = Inquiry(
        asker,
        metric,
        split_penalty=split_penalty,
        max_splits=max_splits,
        constraints=constraints,
        method=method,
        linearization=linearization,
    )
    highest = inquiry.highest(problem, start)
    stages = Injection(
        problem,
        metric,
        max_depth,
        split_penalty=split_penalty,
        max_splits=max_splits,
        side=side,
        start=start,
        highest=highest,
        limits=limits,
        callback=callback,
        random_state=random_state,
        share=None if injection_share is None else _check_share(injection_share, "injection_share"),
        step=check_count(feature_step, "feature_step", minimum=1),
    )
    stages.run(injection, inquiry.solve)
    ceiling = stages.bound if search_bound else None
    is_proven = stages.best is not None and ceiling == stages.objective(stages.best)
    proof = None if ceiling is None else "search"
    answer = Answer(stages.best, highest, stages.limit)
    if search_bound and (is_proven or stages.is_infeasible):
        answer = replace(answer, limit=Limit.NONE)
    elif stages.is_over:
        answer = replace(answer, limit=Limit.TIME)
    elif stages.limit is Limit.NONE:
        with stages.stage("mip"):
            answer = inquiry.solve(
                problem,
                max_depth,
                stages.best,
                gap=allowed_gap,
                limits=stages.left,
                callback=_until(ceiling, callback),
            )
        proof = "search" if ceiling is not None and ceiling < answer.bound else "mip"
    return Solution.of_tree(
        answer.best,
        answer.bound if ceiling is None else min(answer.bound, ceiling),
        metric=metric,
        problem=problem,
        split_penalty=split_penalty,
        max_depth=max_depth,
        max_splits=max_splits,
        constraints=constraints,
        limit=answer.limit,
        stats={
            "engine": "mip",
            "formulation": formulation,
            "backend": backend,
            **answer.stats,
            **asker.counts,
            "injection": stages.kind,
            "injected": None if stages.injected is None else float(stages.injected),
            "proof": proof,
            "stage_times": stages.times,
            "time": time.perf_counter() - started,
        },
    )


def _until(bound: Exact | None, callback: Callback | None) -> Callback | None:
    """Return a callback that also stops the solver when a tree reaches a proven bound."""
    if bound is None:
        return callback

    def tell(progress: Progress) -> bool:
        reported = replace(progress, bound=min(progress.bound, bound))
        wants_stop = callback is not None and bool(callback(reported))
        return wants_stop or (progress.objective is not None and progress.objective >= bound)

    return tell


@dataclass(frozen=True)
class Inquiry:
    """Maximises a metric by a model, or by several, for any problem and depth.

    Attributes
    ----------
    asker
        Runs the models.
    metric, split_penalty, max_splits, constraints
        As in :func:`goct.solve`.
    method, linearization
        As in :func:`solve_mip`.
    """

    asker: Asker
    metric: Metric
    split_penalty: Fraction
    max_splits: int | None
    constraints: tuple[Constraint, ...]
    method: str
    linearization: str

    @property
    def is_parametric(self) -> bool:
        """Whether the metric is maximised by linear models only."""
        return self.method == "parametric" and not isinstance(self.metric, LinearMetric)

    def question(self, problem: Problem, depth: int, start: Tree | None) -> Question:
        """Return the question for one model."""
        side = SideConstraints.read(self.constraints, problem)
        if isinstance(self.metric, LinearMetric):
            return LinearQuestion(problem, self.metric, self.split_penalty, start, side)
        most = _most_splits(depth, self.max_splits)
        return NonlinearQuestion(
            problem,
            self.metric,
            self.split_penalty,
            start,
            side,
            most,
            self.linearization,
            has_envelope="envelope" in self.asker.cuts,
        )

    def highest(self, problem: Problem, start: Tree | None) -> Exact:
        """Return a bound without asking anyone, or raise an error if there is no model."""
        if self.is_parametric:
            if (why := refusal(self.metric)) is not None:
                raise ValueError(why)
            return self.metric.best_value(problem)
        return self.question(problem, self.asker.depth, start).bound(np.inf)

    def solve(
        self,
        problem: Problem,
        depth: int,
        start: Tree | None,
        *,
        gap: Fraction = Fraction(0),
        limits: Limits,
        callback: Callback | None,
    ) -> Answer:
        """Return the best tree of a depth, and what is proven.

        Parameters
        ----------
        problem, depth
            The problem, and the depth of trees.
        start
            A tree that is known.
        gap
            The solver may stop this close to the best tree.
        limits, callback
            As in :func:`goct.solve`.
        """
        asker = replace(self.asker, depth=depth)
        started = time.perf_counter()

        def finish(start: Tree | None) -> Parametric:
            parametric = Parametric(
                problem,
                self.metric,
                self.split_penalty,
                start,
                SideConstraints.read(self.constraints, problem),
                ask=asker.ask,
                solver=asker.solver.name,
                limits=limits.after(time.perf_counter() - started),
                callback=callback,
            )
            parametric.maximise(_most_splits(depth, self.max_splits), self.max_splits)
            return parametric

        def ask(question: PairQuestion) -> MipResult:
            left = limits.after(time.perf_counter() - started)
            nodes = asker.node_heuristic
            if nodes.kind != "none":  # the others look for a good tree, not for a pair
                nodes = replace(nodes, kind="rounding")
            # Any tree will do.
            return replace(asker, node_heuristic=nodes).ask(
                question, max_splits=self.max_splits, gap=Fraction(1), limits=left
            )

        def settled(answer: Answer, lines: list[Line]) -> Answer:
            best, bound, limit, asked = settle(
                problem,
                self.metric,
                answer.best,
                answer.bound,
                split_penalty=self.split_penalty,
                most_splits=_most_splits(depth, self.max_splits),
                side=SideConstraints.read(self.constraints, problem),
                lines=lines,
                ask=ask if answer.limit is Limit.NONE and not gap else None,
                solver=asker.solver.name,
            )
            limit = answer.limit if answer.limit is not Limit.NONE else limit
            asked += answer.stats.get("pair_questions", 0)
            return Answer(best, bound, limit, answer.stats | {"pair_questions": asked})

        if self.is_parametric:
            run = finish(start)
            stats = {"method": self.method, "questions": run.questions, "nodes": run.nodes}
            return settled(Answer(run.best, run.bound, run.limit, stats), run.lines)
        question = self.question(problem, depth, start)
        result = asker.ask(
            question, max_splits=self.max_splits, gap=gap, limits=limits, callback=callback
        )
        best, bound = question.judge(result, asker.solver.name)
        answer = Answer(best, bound, result.limit, result.stats)
        if not isinstance(question, NonlinearQuestion):
            return answer
        stated = {"method": self.method, "linearization": self.linearization}
        answer = settled(replace(answer, stats=stated | result.stats), [])
        if result.x is not None:
            answer.stats["claimed"] = question.claimed(result.x)
        best, bound = answer.best, answer.bound
        is_open = best is not None and question.objective(best) < bound
        if is_open and answer.limit is Limit.NONE and not gap and refusal(self.metric) is None:
            run = finish(best)
            stats = answer.stats | {"questions": run.questions}
            answer = settled(Answer(run.best, min(bound, run.bound), run.limit, stats), run.lines)
        return answer


def _most_splits(depth: int, max_splits: int | None) -> int:
    full: int = 2**depth - 1
    return full if max_splits is None else min(max_splits, full)


@dataclass(frozen=True)
class Asker:
    """Builds the model of a question and runs a solver on it.

    Attributes
    ----------
    formulation, solver, depth
        The model, who solves it, and the depth of trees.
    integer_flow, cuts, separation
        As for :meth:`goct.mip.formulations.Formulation.build`.
    node_heuristic
        How trees are made at the nodes of the solver.
    settings
        How the solver runs, but for gap and limits.
    counts
        What the heuristic did, over all questions.
    """

    formulation: Formulation
    solver: Backend
    depth: int
    integer_flow: bool
    cuts: frozenset[str]
    separation: Separation
    node_heuristic: NodeHeuristic
    settings: Settings
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))

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
            tree.model.heuristic = self._heuristic(question, max_splits, started, limits)
            start = question.start_point()
            is_start = start is not None and is_feasible(tree.model, start)
            left = limits.after(time.perf_counter() - started)
            result = solver.run(
                tree.model,
                replace(self.settings, gap=question.gap(gap), limits=left),
                start=start if is_start else None,
                callback=None if callback is None else question.reporter(callback, started),
            )
        except KeyboardInterrupt:  # while the model was built; solvers return what they have
            return MipResult(None, np.inf, Limit.INTERRUPTED)
        for name in _COUNTS:
            self.counts[name] += result.stats.get(name, 0)
        stats: dict[str, Any] = {"variables": tree.model.n_variables, "rows": tree.model.n_rows}
        stats |= question.stats | result.stats
        if start is not None and not is_start:
            stats["start_accepted"] = False
        return replace(result, stats=stats)

    def _heuristic(
        self, question: Question, max_splits: int | None, started: float, limits: Limits
    ) -> Heuristic | None:
        """Return what makes trees at the nodes of the solver."""
        kind = self.node_heuristic.kind
        if kind == "none" or Ability.INJECTION not in self.solver.abilities:
            return None
        rounding = question.rounding(max_splits)
        if kind == "rounding" or (kind == "search" and not can_search(question)):
            return rounding
        if kind == "search":
            improve = search_improver(question, self.depth, max_splits)
        else:
            improve = self._improver(question, max_splits)
        deadline = np.inf if limits.time is None else started + limits.time
        return SaliencyHeuristic(question, improve, self.node_heuristic, rounding, deadline)

    def _improver(self, question: Question, max_splits: int | None) -> Improve:
        """Return a function that solves small problems by models."""
        nodes = replace(self.node_heuristic, kind="rounding")
        asker = replace(self, node_heuristic=nodes, counts=dict.fromkeys(_COUNTS, 0))

        def improve(problem: Problem, start: Tree | None, limits: Limits) -> Tree | None:
            small = question.on(problem, start)
            result = asker.ask(small, max_splits=max_splits, limits=limits)
            if result.limit is Limit.INTERRUPTED:
                raise KeyboardInterrupt
            return small.best(result.x)

        return improve


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


def _check_share(value: Any, name: str) -> float:
    number = as_fraction(value, name)
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value}")
    return float(number)


def _check_positive(value: Any, name: str) -> float:
    number = as_fraction(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return float(number)
