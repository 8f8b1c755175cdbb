"""The search core as an oracle: questions in the user's terms, answers as trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.plane.oracle import Answer, Learn, Proven, Session, ToBound, TooFineError, Triangle
from goct.plane.points import Points
from goct.problem import Problem
from goct.search.oracle import Effort, OracleProgress, OracleStatus, TreeTuple
from goct.search.problem_oracle import ProblemOracle
from goct.solution import Limit
from goct.task import SizeLimit
from goct.tree import Leaf, Node, Split, Tree

LARGEST_COST = 2**59
"""The core computes with integers up to this size, which leaves room for sums."""
_SHORT_QUESTION = 1.0
"""Questions of no more seconds are asked side by side."""
_SHORT = 3
"""Up to this depth, a proof takes no time."""


def _is_long(size: SizeLimit) -> bool:
    """Say whether a proof takes longer than what is found without one."""
    return size.reachable_depth > _SHORT


class CostOracle:
    """Asks the search core for the cheapest tree, for any costs of predictions.

    Parameters
    ----------
    session
        Clock, counters and callback. Every tree that is found is offered to it.
    core
        Whom to ask.
    problem
        The data.
    size
        The size limit of the run; all its questions are within it.
    labels
        The class that each label of the core stands for.
    """

    def __init__(
        self,
        session: Session,
        core: ProblemOracle,
        problem: Problem,
        size: SizeLimit,
        labels: Sequence[int],
    ) -> None:
        self.session = session
        self.core = core
        self.problem = problem
        self.size = size
        self.labels = labels
        self._min_leaf = size.leaf_measures(problem)[0].least
        # Over thresholds alone, of equal trees the one with the fewest splits takes no longer.
        self.folds = not core.has_features(len(labels), self._min_leaf)
        # By direction and size, of costs that were multiplied so that splits count: by what, and
        # no tree costs less.
        self._folded: dict[tuple[int, int, SizeLimit], tuple[int, int]] = {}

    def solve(
        self,
        costs: NDArray[np.int64],
        size: SizeLimit,
        *,
        split_cost: int = 0,
        cutoff: int | None = None,
        to_bound: ToBound | None = None,
        is_objective: bool = False,
        direction: tuple[int, int] | None = None,
        fold: int = 1,
        effort: Effort = Effort.ALL,
    ) -> Answer:
        """Find the cheapest tree, see :meth:`LinearOracle.solve`.

        Parameters
        ----------
        costs, split_cost, cutoff
            The question.
        size
            How large the tree may be.
        to_bound
            Turns a proven lower bound on the cost into one on the objective.
        is_objective
            Whether `to_bound` turns the cost of a tree into its objective.
        direction
            The direction (a, b) that the costs are those of, if they are.
        fold
            What the costs were multiplied by to make room for splits of cost 1. The answer's bound
            is one on the costs as they were.
        effort
            How far to search.

        Raises
        ------
        StopError
            If a limit was reached.
        """
        session = self.session

        def unfolded(least: int) -> int:
            # There are fewer splits than `fold`.
            return -((fold - 1 - least) // fold)

        def watch(progress: OracleProgress) -> bool:
            objective: Exact | None = None
            if to_bound is not None:
                session.tighten(to_bound(unfolded(progress.bound)))
                if is_objective and progress.cost is not None:
                    objective = to_bound(progress.cost)
            return session.tell(progress.nodes, objective)

        session.calls += 1
        result = self.core.solve(
            costs,
            max_depth=size.reachable_depth,
            split_cost=split_cost,
            max_splits=size.max_splits,
            min_leaf_weight=self._min_leaf,
            cutoff=cutoff,
            effort=effort,
            time_limit=session.left.time,
            callback=watch,
        )
        session.nodes += int(result.stats["nodes"])
        is_whole = result.status is not OracleStatus.STOPPED or result.limit is not Limit.NONE
        least = unfolded(result.bound)
        if direction is not None and is_whole:
            price = split_cost if fold == 1 else 0
            session.proven.append(Proven(*direction, price, size, (least,)))
            if fold > 1:
                self._folded[*direction, size] = fold, result.bound
        tree = None if result.tree is None else self._offer(result.tree)
        if result.limit is not Limit.NONE:
            if to_bound is not None:
                session.tighten(to_bound(least))
            session.stop(result.limit, int(result.stats["memory_needed"]))
        return Answer(tree, least)

    def solve_by_splits(
        self,
        costs: NDArray[np.int64],
        size: SizeLimit,
        *,
        cutoffs: Sequence[int] | None = None,
        learn: Learn | None = None,
    ) -> list[Answer]:
        """Find the cheapest tree for each split budget, see :meth:`LinearOracle.solve_budgets`.

        Parameters
        ----------
        costs, cutoffs
            The question.
        size
            How large the trees may be.
        learn
            Is told the answers, those of a question that was stopped included.

        Raises
        ------
        StopError
            If a limit was reached.
        """
        session = self.session
        session.calls += 1
        results = self.core.solve_budgets(
            costs,
            max_depth=size.reachable_depth,
            max_splits=size.most_splits,
            min_leaf_weight=self._min_leaf,
            cutoffs=cutoffs,
            time_limit=session.left.time,
            callback=self._watch,
        )
        session.nodes += int(results[0].stats["nodes"])
        answers = []
        for result in results:
            tree = None if result.tree is None else self._offer(result.tree)
            answers.append(Answer(tree, result.bound))
        if learn is not None:
            learn(answers)
        if results[0].limit is not Limit.NONE:
            session.stop(results[0].limit, int(results[0].stats["memory_needed"]))
        return answers

    def solve_fewest(
        self, costs: NDArray[np.int64], size: SizeLimit, *, cost: int, split_cost: int = 0
    ) -> Tree | None:
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
        StopError
            If a limit was reached.
        """
        largest = int(np.abs(costs).max(axis=1).sum()) + 64 * split_cost
        factor = self._factor_for_splits(size, largest)
        if factor is None:
            raise TooFineError
        answer = self.solve(
            factor * costs,
            replace(size, max_splits=None),
            split_cost=factor * split_cost + 1,
            cutoff=factor * cost + min(size.most_splits + 1, factor),
        )
        return answer.tree

    def _factor_for_splits(self, size: SizeLimit, largest: int) -> int | None:
        """Return what costs are multiplied by so that splits decide between equal ones.

        None if that is too much for the core, or if splits are limited.

        Parameters
        ----------
        size
            How large trees may be.
        largest
            No tree costs more.
        """
        # Every leaf has rows.
        full = replace(size, max_splits=None).most_splits
        factor = min(full, max(self.problem.n_rows - 1, 0)) + 1
        fits = self.size.max_splits is None and factor <= LARGEST_COST // (largest + 1)
        return factor if fits else None

    def _offer(self, found: TreeTuple) -> Tree:
        """Offer a tree of the core over the original columns, without useless splits."""

        def build(node: TreeTuple) -> Node:
            if isinstance(node, int):
                return Leaf(self.labels[node])
            feature, left, right = node
            return Split(feature, build(left), build(right))

        problem = self.problem
        tree = Tree(build(found), problem.classes, problem.feature_names).pruned(problem)
        self.session.offer(tree)
        return tree

    def _watch(self, progress: OracleProgress) -> bool:
        return self.session.tell(progress.nodes)


class SearchOracle(CostOracle):
    """The search core as an oracle of the plane, see :class:`goct.plane.oracle.InsideOracle`.

    The core's label 0 stands for the negative class and 1 for the positive
    one, as in its :meth:`~goct.search.LinearOracle.search_front`, so that it can
    use what it learnt.

    Parameters
    ----------
    session, core, size
        As for :class:`CostOracle`.
    points
        The points of trees.
    """

    def __init__(
        self, session: Session, core: ProblemOracle, points: Points, size: SizeLimit
    ) -> None:
        super().__init__(session, core, points.problem, size, points.labels)
        self.points = points

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
        """Find the tree of least ``a * FN + b * FP + split_cost * splits`` below a cutoff.

        Over thresholds, one with the fewest splits of all that cost as little: that takes no
        longer, and :meth:`fewest_splits` has nothing left to ask.
        """
        costs = self._costs(a, b, split_cost)
        points, fold = self.points, None
        if self.folds and split_cost == 0 and size.max_splits is None:
            largest = max(a, 0) * points.n_pos + max(b, 0) * points.n_neg
            fold = self._factor_for_splits(size, largest)
        if fold is None:
            return self.solve(
                costs,
                size,
                split_cost=split_cost,
                cutoff=cutoff,
                to_bound=to_bound,
                direction=(a, b),
                effort=Effort.ANY_TREE if any_tree and _is_long(size) else Effort.ALL,
            )
        # If the best tree so far costs as much as the cutoff, those of fewer splits are news.
        known, splits = self.session.best, 0
        if known is not None:
            x, y = points.of(known)
            splits = known.splits if a * x + b * y == cutoff else 0
        answer = self.solve(
            fold * costs,
            size,
            split_cost=1,
            cutoff=fold * cutoff + splits,
            to_bound=to_bound,
            direction=(a, b),
            fold=fold,
        )
        return answer if answer.bound < cutoff else Answer(None, answer.bound)

    def guess(
        self, a: int, b: int, size: SizeLimit, *, cutoff: int, split_cost: int = 0
    ) -> Tree | None:
        """Find a tree below a cutoff in no time, if possible; see :meth:`cheapest`."""
        if size.max_splits is not None or not _is_long(size) or self.folds:
            return None
        costs = self._costs(a, b, split_cost)
        effort = Effort.FIRST_TREES
        return self.solve(costs, size, split_cost=split_cost, cutoff=cutoff, effort=effort).tree

    def fewest_splits(self, a: int, b: int, size: SizeLimit, *, cost: int) -> Tree | None:
        """Find the tree with the fewest splits of all that cost least, which is `cost`."""
        if (folded := self._folded.get((a, b, replace(size, max_splits=None)))) is not None:
            factor, least = folded
            if least >= factor * cost + min(size.most_splits + 1, factor):
                return None
        return self.solve_fewest(self._costs(a, b), size, cost=cost)

    def cheapest_by_splits(
        self, a: int, b: int, size: SizeLimit, *, cutoffs: Sequence[int], learn: Learn | None = None
    ) -> list[Answer]:
        """Find the tree of least ``a * FN + b * FP`` for each split budget, from 0 on."""

        def take(answers: Sequence[Answer]) -> None:
            bounds = tuple(answer.bound for answer in answers)
            self.session.proven.append(Proven(a, b, 0, size, bounds, by_splits=True))
            if learn is not None:
                learn(answers)

        return self.solve_by_splits(self._costs(a, b), size, cutoffs=cutoffs, learn=take)

    def cheapest_of_all(
        self, questions: Sequence[tuple[int, int, int]], size: SizeLimit
    ) -> list[Answer | None]:
        """Answer questions (a, b, cutoff) side by side; None if one takes long."""
        asked = [{"costs": self._costs(a, b), "cutoff": cutoff} for a, b, cutoff in questions]
        answers: list[Answer | None] = []
        found, limit = self._answer_all("solve", asked, size, _SHORT_QUESTION)
        for (a, b, _), result in zip(questions, found, strict=True):
            if result is None or result.limit is not Limit.NONE:
                answers.append(None)
                continue
            self.session.proven.append(Proven(a, b, 0, size, (result.bound,)))
            tree = None if result.tree is None else self._offer(result.tree)
            answers.append(Answer(tree, result.bound))
        if limit is not Limit.NONE:
            self.session.stop(limit)
        return answers

    def search_all_inside(
        self, size: SizeLimit, triangles: Sequence[Triangle], take: Callable[[Tree], None]
    ) -> list[bool]:
        """Search triangles side by side; say of each whether that came to its end."""
        asked = [
            {
                "positives": self.points.positives,
                "negatives": self.points.negatives,
                "direction": each.direction,
                "budget": each.room()[0],
                "box": each.room()[1:],
                "visit": each.visit,
                "keep_all": True,
            }
            for each in triangles
        ]
        found, limit = self._answer_all("search_front", asked, size, self.session.left.time)
        for result in found:
            for tree, _ in () if result is None else result.trees:
                take(self._offer(tree))
        if limit is not Limit.NONE:
            self.session.stop(limit)
        return [result is not None and result.proven for result in found]

    def _answer_all(
        self, method: str, questions: list[dict[str, Any]], size: SizeLimit, seconds: float | None
    ) -> tuple[list[Any], Limit]:
        """Have questions answered side by side; return also the limit that was reached, if any."""
        session = self.session
        limit = Limit.NONE

        def look() -> bool:
            nonlocal limit
            time_left = session.left.time
            if time_left is not None and time_left <= 0:
                limit = Limit.TIME
            elif session.tell(0):
                limit = Limit.INTERRUPTED
            return limit is not Limit.NONE

        session.calls += len(questions)
        for question in questions:
            question["max_depth"] = size.reachable_depth
            question["max_splits"] = size.max_splits
            question["min_leaf_weight"] = self._min_leaf
        found, is_interrupted = self.core.answer_all(method, questions, seconds, look)
        session.nodes += sum(int(each.stats["nodes"]) for each in found if each is not None)
        return found, Limit.INTERRUPTED if is_interrupted else limit

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
        """Visit the points of trees below a line and in a box.

        As :meth:`goct.search.LinearOracle.search_front` does.
        """
        session = self.session
        session.calls += 1
        started = session.elapsed
        result = self.core.search_front(
            self.points.positives,
            self.points.negatives,
            direction=direction,
            budget=budget,
            box=box,
            visit=visit,
            max_depth=size.reachable_depth,
            max_splits=size.max_splits,
            min_leaf_weight=self._min_leaf,
            time_limit=session.left.time,
            callback=self._watch,
            keep_all=take is not None,
        )
        session.nodes += int(result.stats["nodes"])
        session.phase_two += session.elapsed - started
        tree = None
        for found, _ in result.trees:
            tree = self._offer(found)
            if take is not None:
                take(tree)
        if result.limit is not Limit.NONE:
            session.stop(result.limit, int(result.stats["memory_needed"]))
        return tree

    def _costs(self, a: int, b: int, split_cost: int = 0) -> NDArray[np.int64]:
        """Return costs of predictions that add up to ``a * FN + b * FP``."""
        points = self.points
        most = abs(a) * points.n_pos + abs(b) * points.n_neg
        if most + 64 * split_cost >= LARGEST_COST:
            raise TooFineError
        return np.stack([a * points.positives, b * points.negatives], axis=1)
