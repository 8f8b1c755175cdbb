"""Questions to models: what is asked for a metric, who runs it, and what the answer proves."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from goct.constraints import Constraint
from goct.exact import Exact
from goct.metrics import LinearMetric, Metric
from goct.mip.attainable import Line
from goct.mip.backends.base import Ability, Backend, MipResult, Settings, is_feasible
from goct.mip.formulations import Formulation, Separation
from goct.mip.injection import Answer
from goct.mip.model import Heuristic
from goct.mip.nonlinear import NonlinearQuestion
from goct.mip.pairs import PairQuestion, settle
from goct.mip.parametric import Parametric, refusal
from goct.mip.question import LinearQuestion, Question
from goct.mip.saliency import (
    Improve,
    NodeHeuristic,
    SaliencyHeuristic,
    can_search,
    search_improver,
)
from goct.mip.side import SideConstraints
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Progress
from goct.tree import Tree

_COUNTS = ("heuristic_calls", "heuristic_injected", "heuristic_rejected")


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

        def settled(answer: Answer, lines: list[Line]) -> Answer:
            if answer.limit is not Limit.NONE:
                return answer

            def tell(progress: Progress) -> bool:
                assert callback is not None
                known = None if answer.best is None else self._objective(answer.best, problem)
                elapsed = time.perf_counter() - started
                return bool(callback(Progress(elapsed, known, answer.bound, progress.nodes)))

            def ask(question: PairQuestion) -> MipResult:
                nodes = asker.node_heuristic
                if nodes.kind != "none":  # the others look for a good tree, not for a pair
                    nodes = replace(nodes, kind="rounding")
                return replace(asker, node_heuristic=nodes).ask(
                    question,
                    max_splits=self.max_splits,
                    gap=Fraction(1),  # any tree will do
                    limits=limits.after(time.perf_counter() - started),
                    callback=None if callback is None else tell,
                )

            try:
                best, bound, limit, asked = settle(
                    problem,
                    self.metric,
                    answer.best,
                    answer.bound,
                    split_penalty=self.split_penalty,
                    most_splits=_most_splits(depth, self.max_splits),
                    side=SideConstraints.read(self.constraints, problem),
                    lines=lines,
                    ask=None if gap else ask,
                    solver=asker.solver.name,
                )
            except KeyboardInterrupt:
                return replace(answer, limit=Limit.INTERRUPTED)
            asked += answer.stats["pair_questions"]
            return Answer(best, bound, limit, answer.stats | {"pair_questions": asked})

        stats: dict[str, Any] = {"method": self.method, "pair_questions": 0}
        if self.is_parametric:
            run = finish(start)
            stats |= {"questions": run.questions, "nodes": run.nodes}
            answer = settled(Answer(run.best, run.bound, run.limit, stats), run.lines)
            if not self._may_be_inside(answer, problem):
                return answer
            # The hull does not tell; one model does.
            start, stats = answer.best, answer.stats | {"method": "direct"}
        question = self.question(problem, depth, start)
        left = limits.after(time.perf_counter() - started)
        result = asker.ask(
            question, max_splits=self.max_splits, gap=gap, limits=left, callback=callback
        )
        best, bound = question.judge(result, asker.solver.name)
        if not isinstance(question, NonlinearQuestion):
            return Answer(best, bound, result.limit, result.stats)
        stats |= {"linearization": self.linearization} | result.stats
        if result.x is not None:
            stats["claimed"] = question.claimed(result.x)
        answer = settled(Answer(best, bound, result.limit, stats), [])
        can_finish = answer.limit is Limit.NONE and not gap and refusal(self.metric) is None
        if can_finish and not self.is_parametric and self._is_open(answer, problem):
            run = finish(answer.best)
            stats = answer.stats | {"questions": run.questions}
            bound = min(answer.bound, run.bound)
            answer = settled(Answer(run.best, bound, run.limit, stats), run.lines)
        return answer

    def _objective(self, tree: Tree, problem: Problem) -> Exact:
        return self.metric.evaluate(tree, problem) - self.split_penalty * tree.splits

    def _is_open(self, answer: Answer, problem: Problem) -> bool:
        """Say whether there may be a better tree."""
        return answer.best is not None and self._objective(answer.best, problem) < answer.bound

    def _may_be_inside(self, answer: Answer, problem: Problem) -> bool:
        """Say whether the best tree may be inside the hull, the metric not being quasiconvex there.

        That takes constraints that no tree of a usual value meets.
        """
        level = self.metric.quasiconvex_from
        if level is None or answer.best is None or answer.limit is not Limit.NONE:
            return False
        is_low = self.metric.evaluate(answer.best, problem) < level
        return is_low and self._is_open(answer, problem)


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
        if limits.time is not None and limits.time <= 1e-3:
            return MipResult(None, np.inf, Limit.TIME)
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
