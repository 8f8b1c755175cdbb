"""The size path: the best tree for every split budget, by questions that all budgets share.

The budgets are settled from the largest on. A linear question about one of
them is asked about all smaller ones that are still open, in the same search;
every tree that it finds is offered to every budget that allows its splits, and
every bound raises the floor of its budget and of the smaller ones. So most
budgets are settled before it is their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics.arrays import linear
from goct.plane.hull import Point
from goct.plane.oracle import (
    Answer,
    Incumbent,
    InsideOracle,
    Learn,
    Scored,
    Session,
    ToBound,
)
from goct.plane.points import Plane, Points, Target
from goct.plane.staircase import Staircase
from goct.solution import Limits
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Node, Split, Tree

OFF = -(2**62)
"""A cutoff that no tree is below."""


class Budgets:
    """The best tree so far, and the dual bound, for every split budget from 0 on.

    Parameters
    ----------
    task
        The question, without a split penalty.
    number
        How many budgets there are, from 0 on.

    Attributes
    ----------
    incumbents
        What is known, by split budget.
    """

    def __init__(self, task: Task, number: int) -> None:
        self.task = task
        constant = task.best_constant()
        self.incumbents = [
            Incumbent(replace(task, size=replace(task.size, max_splits=splits)), constant)
            for splits in range(number)
        ]
        if constant is not None:
            self.incumbents[0].tighten(task.objective(constant))

    def __len__(self) -> int:
        return len(self.incumbents)

    def offer(self, tree: Tree) -> None:
        """Consider a tree for every budget that allows it."""
        if tree.splits < len(self) and self.task.is_feasible(tree):
            found = Scored(tree, self.task.objective(tree))
            for incumbent in self.incumbents[tree.splits :]:
                incumbent.take(found)

    def tighten(self, splits: int, bound: Exact) -> None:
        """Take a proven bound on trees of a budget into account; it holds for smaller ones."""
        for incumbent in self.incumbents[: splits + 1]:
            incumbent.tighten(bound)

    def learn_from(self, relaxed: Budgets) -> None:
        """Take over what is known of a task that allows the same trees and more."""
        for splits, known in enumerate(relaxed.incumbents):
            if known.tree is not None:
                self.offer(known.tree)
            self.tighten(splits, known.bound)

    def is_proven(self, splits: int) -> bool:
        """Say whether the best tree of a budget is proven to be one."""
        incumbent = self.incumbents[splits]
        return incumbent.objective == incumbent.bound

    @property
    def n_proven(self) -> int:
        """The number of budgets whose best tree is proven."""
        return sum(map(self.is_proven, range(len(self))))


class BudgetsSession(Session):
    """A run that looks for the best tree of every split budget.

    Parameters
    ----------
    budgets
        What is known so far.
    limits
        As in :func:`goct.path`.
    report
        Is told the seconds and the nodes from time to time; says whether to stop.
    """

    def __init__(
        self, budgets: Budgets, limits: Limits, report: Callable[[float, int], bool] | None
    ) -> None:
        super().__init__(limits)
        self.budgets = budgets
        self._report = report

    def offer(self, tree: Tree) -> None:
        """Consider a tree that was found."""
        self.budgets.offer(tree)

    def tell(self, nodes: int, objective: Exact | None = None) -> bool:
        """Report the progress, and say whether the callback wants to stop."""
        return self._report is not None and self._report(self.elapsed, self.nodes + nodes)


class SharedOracle:
    """Asks every linear question about a split budget also about the smaller ones.

    Parameters
    ----------
    oracle
        Whom to ask.
    budgets
        What is known so far.
    plane, staircase
        The points of trees, the metric and the constraints.

    Attributes
    ----------
    floors
        No tree has fewer false positives, by split budget and step; this is proven.
    points
        Points of trees that were found, by split budget.
    """

    def __init__(
        self, oracle: InsideOracle, budgets: Budgets, plane: Plane, staircase: Staircase
    ) -> None:
        self.oracle = oracle
        self.budgets = budgets
        self.plane = plane
        self.staircase = staircase
        self.floors = [staircase.lowest] * len(budgets)
        self.points: list[set[Point]] = [set() for _ in range(len(budgets))]
        self._ceilings: dict[int, tuple[Exact, NDArray[np.int64]]] = {}

    def is_open(self, splits: int) -> bool:
        """Say whether there may be a better tree with at most so many splits."""
        return not self.budgets.is_proven(splits) and bool(self._candidates(splits).any())

    def settle(self, splits: int) -> None:
        """Turn what is proven about the points of a budget into a bound on its objective."""
        floor, among = self.floors[splits], self._candidates(splits)
        largest = self.staircase.largest_value(np.minimum(floor, self.plane.n_neg), among)
        known = self.budgets.incumbents[splits].objective
        options = [value for value in (largest, known) if value is not None]
        if options:
            self.budgets.tighten(splits, max(options))

    def cheapest(
        self,
        a: int,
        b: int,
        size: SizeLimit,
        *,
        cutoff: int,
        to_bound: ToBound | None = None,
        split_cost: int = 0,
        any_tree: bool = False,
    ) -> Answer:
        """Find the tree of least ``a * FN + b * FP`` below a cutoff, for the largest budget."""
        assert split_cost == 0, "a price per split is none of a budget"
        most = size.most_splits
        cutoffs = [self._cutoff(splits, a, b) for splits in range(most)] + [cutoff]
        answers = self.cheapest_by_splits(a, b, replace(size, max_splits=most), cutoffs=cutoffs)
        return answers[most]

    def guess(
        self, a: int, b: int, size: SizeLimit, *, cutoff: int, split_cost: int = 0
    ) -> Tree | None:
        """Find a tree below a cutoff in no time, if possible."""
        return self.oracle.guess(a, b, size, cutoff=cutoff, split_cost=split_cost)

    def cheapest_by_splits(
        self, a: int, b: int, size: SizeLimit, *, cutoffs: Sequence[int], learn: Learn | None = None
    ) -> list[Answer]:
        """Find the tree of least ``a * FN + b * FP`` for each split budget, from 0 on."""

        def share(answers: Sequence[Answer]) -> None:
            self._learn(a, b, answers)
            if learn is not None:
                learn(answers)

        return self.oracle.cheapest_by_splits(a, b, size, cutoffs=cutoffs, learn=share)

    def fewest_splits(self, a: int, b: int, size: SizeLimit, *, cost: int) -> Tree | None:
        """Find the tree with the fewest splits of all that cost least, which is `cost`."""
        return self.oracle.fewest_splits(a, b, size, cost=cost)

    def search_inside(
        self,
        size: SizeLimit,
        *,
        direction: tuple[int, int],
        budget: int,
        box: tuple[int, int],
        visit: Callable[[int, int], tuple[int, int, int] | None],
        take: Callable[[Tree], None] | None = None,
    ) -> Tree | None:
        """Visit the points of trees below a line and in a box."""
        return self.oracle.search_inside(
            size, direction=direction, budget=budget, box=box, visit=visit, take=take
        )

    def _learn(self, a: int, b: int, answers: Sequence[Answer]) -> None:
        """Raise the floors, and keep the points."""
        above: NDArray[np.int64] | None = None
        for splits in reversed(range(len(answers))):
            floor = self.staircase.raised(self.floors[splits], a, b, answers[splits].bound)
            above = floor if above is None else np.maximum(floor, above)
            self.floors[splits] = above
            if (tree := answers[splits].tree) is not None:
                point = self.plane.of(tree)
                for points in self.points[splits:]:
                    points.add(point)

    def _ceiling(self, splits: int) -> NDArray[np.int64]:
        """Return the largest number of false positives of better trees, by step; or -1."""
        best = self.budgets.incumbents[splits].objective
        if best is None:
            return self.staircase.wanted(Target(None))
        known = self._ceilings.get(splits)
        if known is None or known[0] != best:
            known = self._ceilings[splits] = best, self.staircase.wanted(Target(best))
        return known[1]

    def _candidates(self, splits: int) -> NDArray[np.bool_]:
        """Say for each step whether there may be better trees."""
        return self.floors[splits] <= self._ceiling(splits)

    def _cutoff(self, splits: int, a: int, b: int) -> int:
        """Return the least cost that all better trees of a budget stay below."""
        if a < 0 or b < 0 or self.budgets.is_proven(splits):
            return OFF
        among = self._candidates(splits)
        if not among.any():
            return OFF
        x, y = self.staircase.high[among], self._ceiling(splits)[among]
        return int(linear(0, (a, b), (x, y)).max()) + 1


def prunings(tree: Tree, points: Points, a: int, b: int) -> list[Tree]:
    """Return a tree's prunings of least ``a * FN + b * FP`` with 0, 1, ... splits at most.

    The least cost of a node with m splits at most is that of a leaf or, with i of them on one
    side and m - 1 - i on the other, the least sum of both; leaves have the cheaper label.
    """
    negative, positive = points.labels
    nodes = tree.reached(points.problem)

    def prune() -> list[tuple[int, Node]]:
        node, rows = next(nodes)
        missed = a * int(points.positives[rows].sum())
        raised = b * int(points.negatives[rows].sum())
        label = negative if missed <= raised else positive
        best: list[tuple[int, Node]] = [(min(missed, raised), Leaf(label))]
        if isinstance(node, Split):
            left, right = prune(), prune()
            for splits in range(len(left) + len(right) - 1):
                some = range(max(splits - len(right) + 1, 0), min(splits + 1, len(left)))
                i = min(some, key=lambda i: left[i][0] + right[splits - i][0])
                cost, larger = left[i][0] + right[splits - i][0], best[-1]
                if cost < larger[0]:
                    larger = cost, Split(node.feature, left[i][1], right[splits - i][1])
                best.append(larger)
        return best

    nodes_left = dict.fromkeys(node for _, node in prune())
    return [Tree(node, tree.classes, tree.feature_names) for node in nodes_left]
