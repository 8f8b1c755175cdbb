"""What a model is asked, in exact numbers, and what its answer proves."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import IntegerObjective, LinearMetric, Metric
from goct.mip.backends.base import (
    Ability,
    Backend,
    BackendError,
    MipCallback,
    MipProgress,
    MipResult,
)
from goct.mip.embedding import embed
from goct.mip.heuristic import Check, RoundingHeuristic
from goct.mip.instances import Instances
from goct.mip.model import Heuristic, Point
from goct.mip.side import ForbiddenTrees, SideConstraints
from goct.mip.tree_model import TreeModel
from goct.problem import Problem
from goct.solution import Callback, Limit, Progress
from goct.tree import Tree

# SCIP compares objective values with a relative tolerance of 1e-9. That it lets rows be violated by
# 1e-6 makes its bounds too large rather than too small: it may cost a proof, never correctness.
_RELATIVE_TOLERANCE = 1e-7
_ABSOLUTE_TOLERANCE = 1e-5
_LARGEST_OBJECTIVE = 1e9


class Question(ABC):
    """What is asked: what trees are worth and whether they are allowed.

    Attributes
    ----------
    problem, metric, split_penalty
        As in :func:`goct.solve`.
    start
        A tree that is known; None if there is none.
    side
        The side constraints.
    model
        The model that asks the question, once it is there.
    """

    def __init__(
        self,
        problem: Problem,
        metric: Metric,
        split_penalty: Fraction,
        start: Tree | None,
        side: SideConstraints,
    ) -> None:
        self.problem = problem
        self.metric = metric
        self.split_penalty = split_penalty
        self.start = start
        self.side = side
        self.model: TreeModel | None = None

    @property
    def stats(self) -> dict[str, int]:
        """What there is to say about the model, beyond its size."""
        return {}

    @property
    @abstractmethod
    def split_cost(self) -> float:
        """The cost of a split, in units of the model's objective."""

    @abstractmethod
    def gap(self, allowed: Fraction) -> float:
        """Return a gap of the objective in units of the model's objective."""

    @abstractmethod
    def instances(self, *, is_merged: bool) -> Instances:
        """Return the pairs of row and label that earn something or matter for a constraint."""

    @abstractmethod
    def bound(self, solver_bound: float) -> Exact:
        """Return what the solver's bound proves."""

    def answer_without_solver(self) -> MipResult | None:
        """Return the answer if no split is possible, or if no tree can meet the constraints."""
        if self.side.is_impossible or (not len(self.side.columns) and self.start is None):
            return MipResult(None, np.inf, Limit.NONE, is_infeasible=True)
        return None if len(self.side.columns) else self._only_start()

    @abstractmethod
    def _only_start(self) -> MipResult:
        """Return the answer if the start is the only tree there is."""

    def attach(self, tree: TreeModel, solver: Backend, *, is_compact: bool) -> None:
        """Add the side constraints to a model."""
        self.model = tree
        if self.side.constraints:
            self.side.add_to(tree, self.problem, lazily=not is_compact)
            if Ability.SEPARATION in solver.abilities:
                tree.model.separators.append(ForbiddenTrees(tree, self.is_allowed))

    def rounding(self, max_splits: int | None) -> Heuristic:
        """Return what makes trees from the relaxation by rounding."""
        assert self.model is not None
        return RoundingHeuristic(self.model, self._check, max_splits)

    @property
    def _check(self) -> Check | None:
        return self.is_allowed if self.side.constraints else None

    def start_point(self) -> Point | None:
        """Return the start as a solution of the model; None if it is none."""
        return None if self.start is None else self.point(self.start)

    def point(self, tree: Tree) -> Point | None:
        """Return a tree as a complete solution of the model; None if it is none."""
        assert self.model is not None
        try:
            return embed(tree, self.model, self.side.columns)
        except ValueError:
            return None

    @abstractmethod
    def on(self, problem: Problem, start: Tree | None) -> Question:
        """Return the same question about another problem, such as one with fewer features."""

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
        if best is not None and (self.objective(best) > bound or self._denies(result)):
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

    def _denies(self, result: MipResult) -> bool:
        """Say whether a result denies that there is a tree at all."""
        return result.is_infeasible


class LinearQuestion(Question):
    """The question for a linear metric: a linear objective in integers."""

    def __init__(
        self,
        problem: Problem,
        metric: LinearMetric,
        split_penalty: Fraction,
        start: Tree | None,
        side: SideConstraints,
    ) -> None:
        super().__init__(problem, metric, split_penalty, start, side)
        self.lattice = IntegerObjective(metric.rewards(problem), split_penalty)
        # Integers where floats are exact; solvers do not accept objectives that are much larger.
        self.scale = max(1.0, self.lattice.most / _LARGEST_OBJECTIVE)

    def on(self, problem: Problem, start: Tree | None) -> LinearQuestion:
        """Return the same question about another problem."""
        assert isinstance(self.metric, LinearMetric)
        side = SideConstraints.read(self.side.constraints, problem)
        return LinearQuestion(problem, self.metric, self.split_penalty, start, side)

    @property
    def split_cost(self) -> float:
        """The cost of a split, in units of the model's objective."""
        return self.lattice.split_cost / self.scale

    def gap(self, allowed: Fraction) -> float:
        """Return a gap of the objective in units of the model's objective."""
        return float(allowed / self.lattice.unit) / self.scale

    def instances(self, *, is_merged: bool) -> Instances:
        """Return the pairs of row and label that earn something or matter for a constraint."""
        gains = (self.lattice.gains * self.lattice.factor).astype(np.float64) / self.scale
        needed = np.asarray(self.lattice.gains > 0, dtype=bool)
        return instances_of(self.problem, self.side, gains, needed, is_merged=is_merged)

    def bound(self, solver_bound: float) -> Exact:
        """Return what the solver's bound proves."""
        return proven_bound(self.lattice, solver_bound * self.scale)

    def _only_start(self) -> MipResult:
        assert self.start is not None
        value = self.objective(self.start).as_fraction()
        units = (value - self.lattice.offset) / self.lattice.unit
        return MipResult(None, float(units) / self.scale, Limit.NONE)


def instances_of(
    problem: Problem,
    side: SideConstraints,
    gains: NDArray[np.float64],
    needed: NDArray[np.bool_],
    *,
    is_merged: bool,
) -> Instances:
    """Return the pairs of row and label that are needed, or matter for a constraint.

    Parameters
    ----------
    problem, side
        The problem and its constraints.
    gains
        The reward of each pair.
    needed
        Which pairs are needed.
    is_merged
        Whether equal samples are one instance.
    """
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


def proven_bound(lattice: IntegerObjective, solver_bound: float) -> Exact:
    """Return a bound on the objective from the solver's bound in units of the lattice."""
    best = lattice.most
    if np.isfinite(solver_bound):
        slack = _ABSOLUTE_TOLERANCE + _RELATIVE_TOLERANCE * abs(solver_bound)
        padded = solver_bound + slack
        best = min(best, floor(padded) if slack < 0.5 else ceil(padded))
    return Exact(lattice.objective(best))
