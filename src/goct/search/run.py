"""What one run of the search engine knows: the best tree, the bound, the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import Metric
from goct.problem import Problem
from goct.search.oracle import LinearOracle, OracleProgress, OracleResult, TreeTuple
from goct.solution import Callback, Limit, Limits, Progress
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
    problem, metric, split_penalty, max_depth
        The question.
    oracle
        Whom to ask; it is set once it is ready.
    best, objective
        The best tree so far and its objective.
    bound
        No tree has a larger objective.
    limit
        Why the run was stopped, if it was.
    calls, nodes
        How often the oracle was asked, and the search nodes it used.
    """

    def __init__(
        self,
        problem: Problem,
        metric: Metric,
        max_depth: int,
        split_penalty: Fraction,
        start: Tree,
        limits: Limits,
        callback: Callback | None,
    ) -> None:
        self.started = time.perf_counter()
        self.problem = problem
        self.metric = metric
        self.max_depth = max_depth
        self.split_penalty = split_penalty
        self.oracle: LinearOracle | None = None
        self.limits = limits
        self.callback = callback
        self.best = start
        self.objective = self.objective_of(start)
        self.bound = metric.best_value(problem)
        self.limit = Limit.NONE
        self.calls = 0
        self.nodes = 0

    def objective_of(self, tree: Tree) -> Exact:
        """Return the objective of a tree."""
        return self.metric.evaluate(tree, self.problem) - self.split_penalty * tree.splits

    def offer(self, found: TreeTuple) -> Tree:
        """Consider a tree over the reduced columns; return it over the original ones."""
        tree = original_tree(self.problem, found)
        objective = self.objective_of(tree)
        if (objective, -tree.splits) > (self.objective, -self.best.splits):
            self.best, self.objective = tree, objective
        return tree

    def tighten(self, bound: Exact) -> None:
        """Take a proven bound on the objective into account."""
        self.bound = min(self.bound, max(bound, self.objective))

    def ask(
        self,
        costs: NDArray[np.int64],
        *,
        to_bound: Callable[[int], Exact],
        cost_is_objective: bool = False,
        split_cost: int = 0,
        max_splits: int | None = None,
        cutoff: int | None = None,
    ) -> OracleResult:
        """Ask the oracle for the cheapest tree.

        Parameters
        ----------
        costs, split_cost, max_splits, cutoff
            The question, see :meth:`LinearOracle.solve`.
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
        left = self.limits.after(time.perf_counter() - self.started)
        watch: Callable[[OracleProgress], bool] | None = None
        if self.callback is not None:
            watch = self._watcher(self.callback, to_bound, cost_is_objective)
        self.calls += 1
        result = self.oracle.solve(
            costs,
            max_depth=self.max_depth,
            split_cost=split_cost,
            max_splits=max_splits,
            cutoff=cutoff,
            time_limit=left.time,
            callback=watch,
        )
        self.nodes += int(result.stats["nodes"])
        if result.limit is not Limit.NONE:
            if result.tree is not None:
                self.offer(result.tree)
            self.tighten(to_bound(result.bound))
            self.limit = result.limit
            raise StopRunError
        return result

    def _watcher(
        self, callback: Callback, to_bound: Callable[[int], Exact], cost_is_objective: bool
    ) -> Callable[[OracleProgress], bool]:
        def watch(oracle: OracleProgress) -> bool:
            self.tighten(to_bound(oracle.bound))
            objective = self.objective
            if cost_is_objective and oracle.cost is not None:
                objective = max(objective, to_bound(oracle.cost))
            elapsed = time.perf_counter() - self.started
            progress = Progress(elapsed, objective, self.bound, self.nodes + oracle.nodes)
            return bool(callback(progress))

        return watch


def original_tree(problem: Problem, found: TreeTuple) -> Tree:
    """Return a tree of the oracle over the original columns, without useless splits."""

    def build(node: TreeTuple) -> Node:
        if isinstance(node, int):
            return Leaf(node)
        feature, left, right = node
        return Split(int(problem.kept[feature]), build(left), build(right))

    return Tree(build(found), problem.classes, problem.feature_names).pruned(problem)
