"""What one run of the search engine knows: the best tree, the bound, the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from goct.constraints import MetricConstraint
from goct.exact import Exact
from goct.problem import Problem
from goct.search.oracle import (
    FrontResult,
    LinearOracle,
    OracleProgress,
    OracleResult,
    TreeTuple,
)
from goct.solution import Callback, Limit, Limits, Progress
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Node, Split, Tree

LARGEST_COST = 2**59
"""The oracle computes with integers up to this size, which leaves room for sums."""


class TooFineError(ValueError):
    """Weights, costs or penalties need larger integers than the oracle has."""

    def __init__(self) -> None:
        super().__init__(
            "the weights, costs or penalties are too fine for the search engine, which computes "
            "with integers of 60 bits; round them to fewer digits"
        )


class StopRunError(Exception):
    """The run has to end: a limit was reached, or the user wants it."""


class Run:
    """One question to the search engine, and what is known about its answer.

    Maximisers ask the oracle through it, which keeps the best tree and the
    time; when a limit is reached it raises :class:`StopRunError`, and what is known
    by then is the answer.

    Attributes
    ----------
    task
        The question.
    oracle, labels
        Whom to ask, which is set once it is ready; and the class that each of
        its labels stands for.
    best, objective
        The best tree so far and its objective; None if there is no tree yet.
    bound
        No tree has a larger objective.
    limit
        Why the run was stopped, if it was.
    calls, nodes, phase_two
        How often the oracle was asked, the search nodes it used, and the seconds
        spent inside the hull.
    """

    def __init__(
        self,
        task: Task,
        *,
        start: Tree | None,
        limits: Limits,
        callback: Callback | None,
    ) -> None:
        self.started = time.perf_counter()
        self.task = task
        self.problem = problem = task.problem
        self.metric = task.metric
        self.size = task.size
        self.split_penalty = task.split_penalty
        self.metric_constraints = tuple(
            c for c in task.constraints if isinstance(c, MetricConstraint)
        )
        self.oracle: LinearOracle | None = None
        self.labels: Sequence[int] = range(problem.n_classes)
        self.limits = limits
        self.callback = callback
        self.best = start
        self.objective = None if start is None else task.objective(start)
        self.bound = task.metric.best_value(problem)
        self.limit = Limit.NONE
        self.calls = 0
        self.nodes = 0
        self.phase_two = 0.0
        self._min_leaf = task.size.min_leaf_count(problem)

    def offer(self, found: TreeTuple) -> Tree:
        """Consider a tree over the reduced columns; return it over the original ones.

        Of two trees with the same objective the one with fewer splits is
        better, and of two with as many the one of smaller depth.
        """
        tree = original_tree(self.problem, found, self.labels)
        if self.task.is_feasible(tree):
            objective = self.task.objective(tree)
            if self.best is None or self.objective is None or objective > self.objective:
                self.best, self.objective = tree, objective
            elif objective == self.objective:
                self.best = min(self.best, tree, key=lambda t: (t.splits, t.depth))
        return tree

    def tighten(self, bound: Exact) -> None:
        """Take a proven bound on the objective into account."""
        if self.objective is not None:
            bound = max(bound, self.objective)
        self.bound = min(self.bound, bound)

    def ask(
        self,
        costs: NDArray[np.int64],
        size: SizeLimit,
        *,
        to_bound: Callable[[int], Exact],
        cost_is_objective: bool = False,
        split_cost: int = 0,
        cutoff: int | None = None,
    ) -> OracleResult:
        """Ask the oracle for the cheapest tree.

        Parameters
        ----------
        costs, split_cost, cutoff
            The question, see :meth:`LinearOracle.solve`.
        size
            How large the tree may be.
        to_bound
            Turns a proven lower bound on the cost into one on the objective.
        cost_is_objective
            Whether `to_bound` turns the cost of a tree into its objective.

        Raises
        ------
        StopRunError
            If the oracle had to stop before it was done.
        """
        assert self.oracle is not None
        self.calls += 1
        result = self.oracle.solve(
            costs,
            max_depth=size.reachable_depth,
            split_cost=split_cost,
            max_splits=size.max_splits,
            min_leaf_weight=self._min_leaf,
            cutoff=cutoff,
            time_limit=self._time_left(),
            callback=self._watcher(to_bound, cost_is_objective),
        )
        self.nodes += int(result.stats["nodes"])
        if result.limit is not Limit.NONE:
            if result.tree is not None:
                self.offer(result.tree)
            self.tighten(to_bound(result.bound))
            self.limit = result.limit
            raise StopRunError
        return result

    def ask_fewest(
        self, costs: NDArray[np.int64], size: SizeLimit, *, cost: int, split_cost: int = 0
    ) -> TreeTuple | None:
        """Find the tree with the fewest splits of all that cost least.

        Costs are multiplied so that a split more or less counts, but not as
        much as any difference in costs.

        Parameters
        ----------
        costs, split_cost
            The question.
        size
            How large the tree may be.
        cost
            The least cost of all trees of this depth or more.

        Raises
        ------
        TooFineError
            If the multiplied costs are too large, or if larger trees that are
            not allowed might cost less.
        StopRunError
            If the oracle had to stop before it was done.
        """
        factor = 2**size.max_depth
        if self.size.max_splits is not None or factor > LARGEST_COST // (
            int(np.abs(costs).max(axis=1).sum()) + 64 * split_cost + 1
        ):
            raise TooFineError
        result = self.ask(
            factor * costs,
            replace(size, max_splits=None),
            split_cost=factor * split_cost + 1,
            cutoff=factor * cost + size.most_splits + 1,
            to_bound=lambda _: self.bound,
        )
        return result.tree

    def ask_budgets(
        self, costs: NDArray[np.int64], size: SizeLimit, cutoffs: Sequence[int]
    ) -> list[OracleResult]:
        """Ask the oracle for the cheapest tree of each number of splits, from 0 on.

        Parameters
        ----------
        costs
            The question.
        size
            How large the trees may be.
        cutoffs
            Only cheaper trees are of interest, by number of splits.

        Raises
        ------
        StopRunError
            If the oracle had to stop before it was done.
        """
        assert self.oracle is not None
        self.calls += 1
        results = self.oracle.solve_budgets(
            costs,
            max_depth=size.reachable_depth,
            max_splits=size.most_splits,
            min_leaf_weight=self._min_leaf,
            cutoffs=cutoffs,
            time_limit=self._time_left(),
            callback=self._watcher(lambda _: self.bound),
        )
        self.nodes += int(results[0].stats["nodes"])
        for result in results:
            if result.tree is not None:
                self.offer(result.tree)
        if results[0].limit is not Limit.NONE:
            self.limit = results[0].limit
            raise StopRunError
        return results

    def ask_front(
        self,
        positives: NDArray[np.int64],
        negatives: NDArray[np.int64],
        size: SizeLimit,
        *,
        direction: tuple[int, int],
        budget: int,
        box: tuple[int, int],
        visit: Callable[[int, int], tuple[int, int, int] | None],
    ) -> FrontResult:
        """Look for trees inside the hull, see :meth:`LinearOracle.search_front`.

        Raises
        ------
        StopRunError
            If the oracle had to stop before it was done.
        """
        assert self.oracle is not None
        started = time.perf_counter()
        self.calls += 1
        result = self.oracle.search_front(
            positives,
            negatives,
            direction=direction,
            budget=budget,
            box=box,
            visit=visit,
            max_depth=size.reachable_depth,
            max_splits=size.max_splits,
            min_leaf_weight=self._min_leaf,
            time_limit=self._time_left(),
            callback=self._watcher(lambda _: self.bound),
        )
        self.nodes += int(result.stats["nodes"])
        self.phase_two += time.perf_counter() - started
        if result.tree is not None:
            self.offer(result.tree)
        if result.limit is not Limit.NONE:
            self.limit = result.limit
            raise StopRunError
        return result

    def _time_left(self) -> float | None:
        return self.limits.after(time.perf_counter() - self.started).time

    def _watcher(
        self, to_bound: Callable[[int], Exact], cost_is_objective: bool = False
    ) -> Callable[[OracleProgress], bool] | None:
        if (callback := self.callback) is None:
            return None

        def watch(oracle: OracleProgress) -> bool:
            self.tighten(to_bound(oracle.bound))
            objective = self.objective
            if cost_is_objective and oracle.cost is not None:
                found = to_bound(oracle.cost)
                objective = found if objective is None else max(objective, found)
            elapsed = time.perf_counter() - self.started
            progress = Progress(elapsed, objective, self.bound, self.nodes + oracle.nodes)
            return bool(callback(progress))

        return watch


def original_tree(problem: Problem, found: TreeTuple, labels: Sequence[int]) -> Tree:
    """Return a tree of the oracle over the original columns, without useless splits.

    Parameters
    ----------
    problem
        The data.
    found
        The tree.
    labels
        The class of the problem that each label of the oracle stands for.
    """

    def build(node: TreeTuple) -> Node:
        if isinstance(node, int):
            return Leaf(labels[node])
        feature, left, right = node
        return Split(int(problem.kept[feature]), build(left), build(right))

    return Tree(build(found), problem.classes, problem.feature_names).pruned(problem)
