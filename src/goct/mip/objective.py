"""What a program maximises, in exact numbers, and what the answer of a solver proves."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import IntegerObjective, LinearMetric
from goct.mip.backends.base import BackendError, MipCallback, MipProgress, MipResult
from goct.mip.cuts import Check
from goct.mip.numerics import LARGEST_INTEGER, LARGEST_OBJECTIVE, whole_units
from goct.mip.program import Point
from goct.mip.side import SideConstraints
from goct.mip.tree_program import Instances, TreeProgram
from goct.plane.oracle import TooFineError
from goct.problem import Problem
from goct.solution import Callback, Limit, Progress
from goct.task import Task
from goct.tree import Tree


@dataclass(frozen=True)
class Answer:
    """The best tree, a proven bound on the objective, why the solver stopped, and counts.

    Without a tree and without a limit, it is proven that there is none.
    """

    best: Tree | None
    objective: Exact | None
    bound: Exact
    limit: Limit = Limit.NONE
    stats: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        task: Task,
        best: Tree | None,
        bound: Exact,
        limit: Limit = Limit.NONE,
        stats: dict[str, Any] | None = None,
    ) -> Answer:
        """Return the answer for a tree; its objective is computed, and the bound no less."""
        objective = None if best is None else task.objective(best)
        bound = bound if objective is None else max(bound, objective)
        return cls(best, objective, bound, limit, stats or {})


@dataclass(frozen=True, eq=False)
class ModelObjective(ABC):
    """The objective of a task, as a program states it."""

    task: Task
    start: Tree | None  # a feasible tree that is known

    states_constants = True  # if not, a program without a solution proves that they are all
    ratios: ClassVar[tuple[float, ...]] = (1.0,)  # weights of the second class for rounding
    wants_best = True  # whether better trees are what it looks for, not just any solution

    @cached_property
    def side(self) -> SideConstraints:
        """The side constraints, sorted by what a program does with them."""
        return SideConstraints.read(self.task.constraints, self.task.problem)

    @property
    @abstractmethod
    def split_cost(self) -> float:
        """The cost of a split, in units of the program's objective."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """What the program's objective, v, says about the objective of the task."""

    @property
    def goal(self) -> str:
        """The objective of the task as it is written."""
        penalty = self.task.split_penalty
        return self.task.metric.name + (f" - {float(penalty):g} * splits" if penalty else "")

    @abstractmethod
    def gap(self, allowed: Fraction) -> float:
        """Return a gap of the objective in units of the program's objective."""

    @abstractmethod
    def instances(self, *, is_merged: bool) -> Instances:
        """Return the pairs of row and label that earn something or matter for a constraint."""

    @abstractmethod
    def bound(self, dual_bound: float) -> Exact:
        """Return what a solver's dual bound proves."""

    def state(self, program: TreeProgram, *, can_separate: bool) -> dict[str, int]:
        """Add what the instances' weights do not say; returns how many variables and rows do."""
        return {}

    def stats_of(self, claimed: float) -> dict[str, float]:
        """Return what there is to say about a value of the program's objective."""
        return {}

    def on(self, task: Task, start: Tree | None) -> Self:
        """Return the same objective for another task, such as one with fewer features."""
        return replace(self, task=task, start=start)

    def without_solver(self) -> Answer | None:
        """Return the answer if no split is possible, or if no tree can be feasible."""
        if self.side.is_impossible:
            return Answer.of(self.task, None, self.bound(np.inf))
        if len(self.side.columns):
            return None
        best = self.task.best_constant()
        highest = self.bound(np.inf)
        return Answer.of(self.task, best, highest if best is None else self.task.objective(best))

    # ------------------------------------------------------------------ trees

    def tree_of(self, features: Mapping[int, int], labels: Mapping[int, int]) -> Tree:
        """Return the tree of features of the program and labels, under heap numbers."""
        problem = self.task.problem
        original = {n: int(self.side.columns[f]) for n, f in features.items()}
        return Tree.from_heap(original, labels, problem.classes, problem.feature_names)

    def is_allowed(self, features: Mapping[int, int], labels: Mapping[int, int]) -> bool:
        """Say, exactly, whether the tree of features and labels is feasible."""
        return self.task.is_feasible(self.tree_of(features, labels))

    @property
    def check(self) -> Check | None:
        """Says whether trees are feasible; None if all are."""
        return self.is_allowed if self.side.constraints else None

    def better(self, found: Tree | None) -> Tree | None:
        """Return the better one of the start and a tree, if that is feasible."""
        trees = [] if self.start is None else [self.start]
        if found is not None and self.task.is_feasible(found):
            trees.append(found)
        return max(trees, key=lambda tree: (self.task.objective(tree), -tree.splits), default=None)


@dataclass(frozen=True, eq=False)
class LinearObjective(ModelObjective):
    """The objective of a linear metric, in integers."""

    @cached_property
    def integers(self) -> IntegerObjective:
        """The objective in integers."""
        metric = self.task.metric
        assert isinstance(metric, LinearMetric)
        integers = IntegerObjective(metric.rewards(self.task.problem), self.task.split_penalty)
        if max(integers.most, integers.split_cost) > LARGEST_INTEGER:
            raise TooFineError
        return integers

    @cached_property
    def scale(self) -> float:
        """How many of these integers are one unit of the program's objective."""
        return max(1.0, self.integers.most / LARGEST_OBJECTIVE)

    @property
    def split_cost(self) -> float:
        """The cost of a split, in units of the program's objective."""
        return self.integers.split_cost / self.scale

    @property
    def in_words(self) -> str:
        """What the program's objective, v, says about the objective of the task."""
        unit = float(self.integers.unit) * self.scale
        return f"{self.goal} = {float(self.integers.offset)!r} + {unit!r} * v for the objective v"

    def gap(self, allowed: Fraction) -> float:
        """Return a gap of the objective in units of the program's objective."""
        return float(allowed / self.integers.unit) / self.scale

    def instances(self, *, is_merged: bool) -> Instances:
        """Return the pairs of row and label that earn something or matter for a constraint."""
        integers = self.integers
        gains = (integers.gains * integers.factor).astype(np.float64) / self.scale
        needed = np.asarray(integers.gains > 0, dtype=bool)
        return instances_of(self.task.problem, self.side, gains, needed, is_merged=is_merged)

    def bound(self, dual_bound: float) -> Exact:
        """Return what a dual bound proves: the next possible value below it."""
        return proven_bound(self.integers, dual_bound * self.scale)


def proven_bound(integers: IntegerObjective, dual_bound: float) -> Exact:
    """Return what a dual bound, in units of an integer objective, proves."""
    best = integers.most
    if np.isfinite(dual_bound):
        best = min(best, whole_units(dual_bound))
    return Exact(integers.objective(best))


@dataclass(frozen=True, eq=False)
class Model:
    """A program that states an objective: points as trees, trees as points.

    Its `stats` say how many variables and rows state a nonlinear objective.
    """

    objective: ModelObjective
    program: TreeProgram
    stats: dict[str, int] = field(default_factory=dict)

    def tree(self, x: Point) -> Tree:
        """Return the tree of a point, without splits that make no difference."""
        found = self.objective.tree_of(*self.program.decode(x))
        return found.pruned(self.objective.task.problem)

    def point(self, tree: Tree) -> Point | None:
        """Return a tree as a complete solution of the program; None if it is none."""
        if not tree.splits and not self.objective.states_constants:
            return None
        try:
            return self.program.encode(tree, self.objective.side.columns)
        except ValueError:
            return None

    def best(self, x: Point | None) -> Tree | None:
        """Return the better one of the start and the tree of a point, if that is feasible."""
        return self.objective.better(None if x is None else self.tree(x))

    def reporter(self, callback: Callback, started: float) -> MipCallback:
        """Return a callback for solvers that tells the user's callback."""
        task = self.objective.task

        def tell(progress: MipProgress) -> bool:
            tree, bound = self.best(progress.x), self.objective.bound(progress.bound)
            objective = None if tree is None else task.objective(tree)
            if objective is not None:
                bound = max(bound, objective)
            elapsed = time.perf_counter() - started
            return bool(callback(Progress(elapsed, objective, bound, progress.nodes)))

        return tell

    def judge(self, result: MipResult, solver: str) -> Answer:
        """Return the best tree and the proven bound, or raise an error if they contradict."""
        task, objective = self.objective.task, self.objective
        is_empty = result.is_infeasible and not objective.states_constants
        best, bound = self.best(result.x), objective.bound(-np.inf if is_empty else result.bound)
        denies = result.is_infeasible and objective.states_constants
        if best is not None and (task.objective(best) > bound or denies):
            claim = "infeasible" if result.is_infeasible else f"bounded by {float(bound)}"
            raise BackendError(
                f"{solver} claims that the model is {claim}, but there is a tree with the "
                f"objective {float(task.objective(best))}"
            )
        if best is None and result.x is not None:
            tree = self.tree(result.x)
            missed = [c.name for c in task.constraints if not c.is_met(tree, task.problem)]
            raise BackendError(
                f"the tree of {solver} misses {', '.join(missed)} by a rounding error; "
                "a backend that can separate cuts checks this exactly"
            )
        if best is None and result.limit is Limit.NONE and not result.is_infeasible:
            raise BackendError(f"{solver} found no tree, nor that there is none")
        stats = dict(result.stats)
        if result.x is not None:
            stats |= objective.stats_of(float(self.program.objective @ result.x))
        return Answer.of(task, best, bound, result.limit, stats)


def instances_of(
    problem: Problem,
    side: SideConstraints,
    gains: NDArray[np.float64],
    needed: NDArray[np.bool_],
    *,
    is_merged: bool,
) -> Instances:
    """Return the pairs of row and label that are needed, or matter for a constraint."""
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
