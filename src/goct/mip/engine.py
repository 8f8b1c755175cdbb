"""The MIP engine: from a problem and a metric to a model, a solver run and a solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_choice, check_count
from goct.constraints import Constraint
from goct.exact import Exact, as_fraction
from goct.lattice import Lattice
from goct.metrics import LinearMetric, Metric
from goct.mip.backends.base import (
    Ability,
    Backend,
    BackendError,
    MipCallback,
    MipProgress,
    MipResult,
    Settings,
)
from goct.mip.backends.gurobi import Gurobi
from goct.mip.backends.highs import Highs
from goct.mip.backends.scip import Scip
from goct.mip.formulations import FORMULATIONS, Separation
from goct.mip.heuristic import RoundingHeuristic
from goct.mip.instances import Instances
from goct.mip.model import Point
from goct.mip.side import ForbiddenTrees, SideConstraints
from goct.mip.tree_model import TreeModel
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.tree import Tree

BACKENDS: dict[str, Backend] = {"scip": Scip(), "gurobi": Gurobi(), "highs": Highs()}

# SCIP compares objective values with a relative tolerance of 1e-9. That it lets rows be violated by
# 1e-6 makes its bounds too large rather than too small: it may cost a proof, never correctness.
_RELATIVE_TOLERANCE = 1e-7
_ABSOLUTE_TOLERANCE = 1e-5
_LARGEST_OBJECTIVE = 1e9


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
    """Maximise a linear metric with a mixed-integer program.

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
    if not isinstance(metric, LinearMetric):
        raise ValueError(
            f"the MIP engine maximises linear metrics only, and {metric.name!r} is "
            f"{metric.shape.value}; linear are accuracy, balanced_accuracy, recall, specificity, "
            "youden, class_cost, instance_cost, CostMatrix and sums of them"
        )
    needs_separation = not form.is_compact or bool(families - {"static_conflicts", "redundancy"})
    _check_backend(backend, solver, formulation, needs_separation, threads)
    question = _Question(
        problem, metric, split_penalty, start, SideConstraints.read(constraints, problem)
    )
    settings = Settings(
        gap=float(allowed_gap / question.lattice.unit) / question.scale,
        seed=random_state,
        threads=threads,
        max_rounds=max_rounds,
        log=log,
    )

    def run() -> MipResult:
        answer = question.answer_without_solver()
        if answer is not None:
            return answer
        tree = form.build(
            _instances(question, is_merged=form.is_merged),
            max_depth,
            split_cost=question.lattice.split_cost / question.scale,
            max_splits=max_splits,
            integer_flow=integer_flow,
            cuts=families,
            separation=separation,
        )
        question.attach(tree, solver, is_compact=form.is_compact)
        if heuristic and Ability.INJECTION in solver.abilities:
            check = question.is_allowed if constraints else None
            tree.model.heuristic = RoundingHeuristic(tree, check, max_splits)
        result = solver.run(
            tree.model,
            replace(settings, limits=limits.after(time.perf_counter() - started)),
            start=None if start is None else tree.encode(start),
            callback=None if callback is None else question.reporter(callback, started),
        )
        size = {"variables": tree.model.n_variables, "rows": tree.model.n_rows}
        return replace(result, stats=size | result.stats)

    try:
        result = run()
    except KeyboardInterrupt:  # while the model was built; solvers return what they have
        result = MipResult(None, np.inf, Limit.INTERRUPTED)
    best, bound = question.judge(result, solver.name)
    return Solution.of_tree(
        best,
        bound,
        metric=metric,
        problem=problem,
        split_penalty=split_penalty,
        max_depth=max_depth,
        max_splits=max_splits,
        constraints=constraints,
        limit=result.limit,
        stats={
            "engine": "mip",
            "formulation": formulation,
            "backend": backend,
            **result.stats,
            "time": time.perf_counter() - started,
        },
    )


class _Question:
    """What is asked, in exact numbers: what trees are worth and whether they are allowed."""

    def __init__(
        self,
        problem: Problem,
        metric: LinearMetric,
        split_penalty: Fraction,
        start: Tree | None,
        side: SideConstraints,
    ) -> None:
        self.problem = problem
        self.metric = metric
        self.split_penalty = split_penalty
        self.start = start
        self.side = side
        self.lattice = Lattice(metric.rewards(problem), split_penalty)
        # Integers where floats are exact; solvers do not accept objectives that are much larger.
        self.scale = max(1.0, self.lattice.most / _LARGEST_OBJECTIVE)
        self.model: TreeModel | None = None

    def answer_without_solver(self) -> MipResult | None:
        """Return the answer if no split is possible, or if no tree can meet the constraints."""
        if self.side.is_impossible:
            return MipResult(None, np.inf, Limit.NONE, is_infeasible=True)
        if len(self.side.columns):
            return None
        if self.start is None:
            return MipResult(None, np.inf, Limit.NONE, is_infeasible=True)
        value = self.objective(self.start).as_fraction()
        units = (value - self.lattice.offset) / self.lattice.unit
        return MipResult(None, float(units) / self.scale, Limit.NONE)

    def attach(self, tree: TreeModel, solver: Backend, *, is_compact: bool) -> None:
        """Add the side constraints to a model."""
        self.model = tree
        if self.side.constraints:
            self.side.add_to(tree, self.problem, lazily=not is_compact)
            if Ability.SEPARATION in solver.abilities:
                tree.model.separators.append(ForbiddenTrees(tree, self.is_allowed))

    def is_allowed(self, features: Mapping[int, int], labels: Mapping[int, int]) -> bool:
        """Say whether a tree meets the constraints, given by its nodes under heap numbers."""
        return self.side.are_met(self._tree_of(features, labels), self.problem)

    def _tree_of(self, features: Mapping[int, int], labels: Mapping[int, int]) -> Tree:
        original = {n: int(self.side.columns[f]) for n, f in features.items()}
        return Tree.from_heap(original, labels, self.problem.classes, self.problem.feature_names)

    def tree(self, x: Point) -> Tree:
        """Return the tree of a point, without splits that make no difference."""
        assert self.model is not None
        return self._tree_of(*self.model.decode(x)).pruned(self.problem)

    def objective(self, tree: Tree) -> Exact:
        """Return the exact objective of a tree."""
        return self.metric.evaluate(tree, self.problem) - self.split_penalty * tree.splits

    def best(self, x: Point | None) -> Tree | None:
        """Return the better one of the start and the tree of a point, if that is allowed."""
        trees = [] if self.start is None else [self.start]
        if x is not None:
            found = self.tree(x)
            if self.side.are_met(found, self.problem):
                trees.append(found)
        return max(trees, key=lambda tree: (self.objective(tree), -tree.splits), default=None)

    def bound(self, solver_bound: float) -> Exact:
        """Return what the solver's bound proves."""
        return proven_bound(self.lattice, solver_bound * self.scale)

    def reporter(self, callback: Callback, started: float) -> MipCallback:
        """Return a callback for solvers that tells the user's callback."""

        def tell(progress: MipProgress) -> bool:
            tree, bound = self.best(progress.x), self.bound(progress.bound)
            objective = None if tree is None else self.objective(tree)
            if objective is not None:
                bound = max(bound, objective)
            elapsed = time.perf_counter() - started
            return bool(callback(Progress(elapsed, objective, bound, progress.nodes)))

        return tell

    def judge(self, result: MipResult, solver: str) -> tuple[Tree | None, Exact]:
        """Return the best tree and the proven bound, or raise an error if they contradict."""
        best, bound = self.best(result.x), self.bound(result.bound)
        if best is not None and (self.objective(best) > bound or result.is_infeasible):
            claim = "infeasible" if result.is_infeasible else f"bounded by {float(bound)}"
            raise BackendError(
                f"{solver} claims that the model is {claim}, but there is a tree with the "
                f"objective {float(self.objective(best))}"
            )
        if best is None and result.x is not None:
            tree = self.tree(result.x)
            missed = [c.name for c in self.side.constraints if not c.is_met(tree, self.problem)]
            raise BackendError(
                f"the tree of {solver} misses {', '.join(missed)} by a rounding error; "
                "a backend that can separate cuts checks this exactly"
            )
        if best is None and result.limit is Limit.NONE and not result.is_infeasible:
            raise BackendError(f"{solver} found no tree, nor that there is none")
        return best, bound


def _instances(question: _Question, *, is_merged: bool) -> Instances:
    """Return the pairs of row and label that earn something or matter for a constraint."""
    problem, lattice, side = question.problem, question.lattice, question.side
    gains = (lattice.gains * lattice.factor).astype(np.float64) / question.scale
    needed = np.asarray(lattice.gains > 0, dtype=bool)
    for requirement in side.requirements:
        needed = needed | np.asarray(requirement.gains > 0, dtype=bool)
    X = np.stack([problem.column(int(j)) for j in side.columns], axis=1)
    return Instances.of_gains(X, gains, needed, None if is_merged else _copies(problem))


def _copies(problem: Problem) -> NDArray[np.int64] | None:
    """Return how many samples stand behind each pair; None if samples have weights.

    Where no sample has the label, all samples of the row do.
    """
    if problem.weight_unit != 1 or int(problem.counts.sum()) != problem.n_samples:
        return None
    return np.where(problem.counts > 0, problem.counts, problem.counts.sum(axis=1)[:, None])


def _check_backend(
    name: str, solver: Backend, formulation: str, needs_separation: bool, threads: int
) -> None:
    if not solver.is_available:
        raise ImportError(
            f"the backend {name!r} needs {solver.module}: pip install 'goct[{solver.extra}]'"
        )
    wanted = []
    if needs_separation:
        wanted.append((Ability.SEPARATION, f"the formulation {formulation!r} and its cuts need"))
    if threads > 1:
        wanted.append((Ability.THREADS, f"threads={threads} needs"))
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


def proven_bound(lattice: Lattice, solver_bound: float) -> Exact:
    """Return a bound on the objective from the solver's bound in units of the lattice."""
    best = lattice.most
    if np.isfinite(solver_bound):
        slack = _ABSOLUTE_TOLERANCE + _RELATIVE_TOLERANCE * abs(solver_bound)
        padded = solver_bound + slack
        best = min(best, floor(padded) if slack < 0.5 else ceil(padded))
    return Exact(lattice.objective(best))
