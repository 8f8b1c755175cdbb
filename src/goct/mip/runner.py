"""Builds the model of an objective and runs a solver on it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from goct.mip.backends.base import Ability, Settings, is_feasible
from goct.mip.cuts import NoGoodCuts
from goct.mip.heuristics import (
    Improve,
    RoundingHeuristic,
    SaliencyHeuristic,
    improve_by_search,
    or_constant,
)
from goct.mip.numerics import LARGEST_SPLIT_COST
from goct.mip.objective import Answer, Model, ModelObjective
from goct.mip.options import MipOptions
from goct.mip.program import Heuristic
from goct.search.engine import unsupported
from goct.solution import Callback, Limit, Limits
from goct.task import Task
from goct.tree import Tree

_COUNTS = ("heuristic_calls", "heuristic_injected", "heuristic_rejected")


@dataclass(frozen=True)
class ModelRunner:
    """Runs models on a solver; `counts` is what was built, and what the heuristic did, in all."""

    options: MipOptions
    seed: int | None = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("models", *_COUNTS), 0))

    def build(self, objective: ModelObjective) -> Model:
        """Return the model of an objective."""
        options, size = self.options.model, objective.task.size
        if objective.split_cost > LARGEST_SPLIT_COST:
            raise ValueError(
                f"split_penalty={float(objective.task.split_penalty):g} is too large for the MIP "
                "engine; what a perfect tree is worth is enough to forbid splits"
            )
        form, side = options.form, objective.side
        program = form.build(
            objective.instances(is_merged=form.is_merged),
            size.reachable_depth,
            split_cost=objective.split_cost,
            max_splits=size.max_splits,
            integer_flow=options.integer_flow,
            cuts=options.families,
            separation=self.options.separation,
        )
        can_separate = Ability.SEPARATION in self.options.solver.solver.abilities
        if side.constraints:
            side.add_to(program, objective.task.problem, lazily=not form.is_compact)
            if can_separate:
                program.separators.append(NoGoodCuts(program, objective.is_allowed))
        return Model(objective, program, objective.state(program, can_separate=can_separate))

    def run(
        self,
        objective: ModelObjective,
        *,
        gap: Fraction = Fraction(0),
        limits: Limits,
        callback: Callback | None = None,
    ) -> Answer:
        """Return the best tree and what is proven, see :class:`goct.mip.session.Runner`."""
        started = time.perf_counter()
        solver = self.options.solver.solver
        nothing = Answer.of(objective.task, objective.start, objective.bound(np.inf))
        if limits.time is not None and limits.time <= 1e-3:
            return replace(nothing, limit=Limit.TIME)
        try:
            if (answer := objective.without_solver()) is not None:
                return answer
            self.counts["models"] += 1
            model = self.build(objective)
            program = model.program
            deadline = np.inf if limits.time is None else started + limits.time
            program.heuristic = self._heuristic(model, deadline)
            start = None if objective.start is None else model.point(objective.start)
            is_start = start is not None and is_feasible(program, start)
            result = solver.run(
                program,
                self._settings(objective.gap(gap), limits.after(time.perf_counter() - started)),
                start=start if is_start else None,
                callback=None if callback is None else model.reporter(callback, started),
            )
        except KeyboardInterrupt:  # while the model was built; solvers return what they have
            return replace(nothing, limit=Limit.INTERRUPTED)
        for name in _COUNTS:
            self.counts[name] += result.stats.get(name, 0)
        answer = model.judge(result, solver.name)
        stats = {"variables": program.n_variables, "rows": program.n_rows}
        stats |= model.stats | answer.stats
        if start is not None and not is_start:
            stats["start_accepted"] = False
        return replace(answer, stats=stats)

    def _settings(self, gap: float, limits: Limits) -> Settings:
        options = self.options
        return Settings(
            limits=limits,
            gap=gap,
            seed=self.seed,
            threads=options.solver.n_jobs,
            max_rounds=options.separation.max_rounds,
            heuristic_every=options.heuristic.heuristic_every,
            log=options.solver.log,
            parameters=options.solver.solver_parameters,
        )

    def _heuristic(self, model: Model, deadline: float) -> Heuristic | None:
        """Return what makes trees at the nodes of the solver."""
        options, objective = self.options.heuristic, model.objective
        kind = options.node_heuristic
        if kind == "none" or Ability.INJECTION not in self.options.solver.solver.abilities:
            return None
        rounding = RoundingHeuristic(
            model.program, objective.check, objective.task.size.max_splits, objective.ratios
        )
        cannot_search = kind == "search" and unsupported(objective.task) is not None
        if kind == "rounding" or not objective.wants_best or cannot_search:
            return rounding
        improve = improve_by_search if kind == "search" else self._improve_by_model(objective)
        return SaliencyHeuristic(model, improve, options, rounding, deadline)

    def _improve_by_model(self, objective: ModelObjective) -> Improve:
        """Return a function that solves small problems by models, as in the paper."""
        runner = replace(self, options=self.options.rounding_only(), counts=dict(self.counts))

        def improve(task: Task, known: Tree | None, limits: Limits) -> Tree | None:
            answer = runner.run(objective.on(task, or_constant(task, known)), limits=limits)
            if answer.limit is Limit.INTERRUPTED:
                raise KeyboardInterrupt
            return answer.best

        return improve
