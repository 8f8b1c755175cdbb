"""Constraints on the set of columns that a tree uses: branch and bound over columns.

The relaxation of a node, the task without these constraints over the columns
that may still be used, is solved by the search engine. If its tree meets the
constraints, the node is solved. If not, the tree uses a column that is not
committed to: one child forbids it, the other commits to it, which leaves only
the columns that can be afforded beside what is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

from goct.constraints import FeatureSetConstraint
from goct.exact import Exact
from goct.plane.oracle import Branch, IncumbentSession, Proven
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.task import Task
from goct.tree import Tree

Solver = Callable[[Task, Limits, Callback | None, list[Proven | Branch]], Solution]
"""Solves a task without constraints on the set of features, within limits.

The list takes what its linear questions prove.
"""


@dataclass(frozen=True)
class _Node:
    """Trees that use no column outside `allowed`; those in `committed` are paid for.

    Attributes
    ----------
    relaxation
        The solution of a relaxation over the same columns, if it is known.
    """

    committed: frozenset[int]
    allowed: frozenset[int]
    relaxation: Solution | None = None


class ColumnSearch:
    """Finds the best tree whose set of columns is admitted.

    Parameters
    ----------
    session
        Clock, callback and incumbent of the whole task.
    solve
        Solves relaxations.
    """

    def __init__(self, session: IncumbentSession, solve: Solver) -> None:
        self.session = session
        self.incumbent = session.incumbent
        self.task = task = session.incumbent.task
        self.solve = solve
        self._tests = [
            c.admits(task.problem) for c in task.constraints if isinstance(c, FeatureSetConstraint)
        ]
        rest = tuple(c for c in task.constraints if not isinstance(c, FeatureSetConstraint))
        self._relaxed = replace(task, constraints=rest)
        self._repaired: set[frozenset[int]] = set()
        self._order = count()
        self._open: list[tuple[float, int, Exact, _Node]] = []
        self._relaxations = 0
        self._is_smallest = False
        # What no tree of a node exceeds whose own tree is admitted, but not proven to be its best:
        # costs that are too fine are rounded.
        self._unproven: list[Exact] = []
        self._push(
            self.incumbent.bound,
            _Node(
                frozenset(), self._affordable(frozenset(), range(len(task.problem.column_names)))
            ),
        )

    def run(self) -> bool:
        """Find the best tree, and prove it.

        Returns
        -------
        bool
            Whether it is certain that no optimal tree has fewer splits.

        Raises
        ------
        StopError
            If a limit was reached; the incumbent has what is proven by then.
        """
        while self._open:
            bound, node = self._pop()
            best = self.incumbent.objective
            if best is None or bound > best:
                self._look_at(bound, node)
        if (best := self.incumbent.objective) is not None:
            self.incumbent.tighten(self._bound(best))
        return self._is_smallest

    def _look_at(self, bound: Exact, node: _Node) -> None:
        """Solve the relaxation of a node, and branch if its tree is not admitted."""
        found = node.relaxation or self._relax(bound, node)
        tree = found.tree
        if found.limit is not Limit.NONE:
            if tree is not None and self._admits(self._columns(tree)):
                self.incumbent.offer(tree)
            self.incumbent.tighten(self._bound(min(bound, found.bound)))
            self.session.stop(found.limit, found.stats["memory_needed"])
        column = None
        if tree is not None and self._admits(used := self._columns(tree)):
            self.incumbent.offer(tree)
            if found.objective is None or found.bound > found.objective:
                self._unproven.append(found.bound)
            self._is_smallest = self._relaxations == 1 and bool(found.stats["fewest_splits"])
        elif tree is not None:
            self._repair(node, tree)
            column = self._branch(node, found, used)
        self.session.proven.append(Branch(node.committed, node.allowed, found.bound, column))
        if tree is None:
            return
        if self._open:
            self.incumbent.tighten(self._bound(self._open[0][2]))

    def _repair(self, node: _Node, tree: Tree) -> None:
        """Offer the best tree over some of the columns of one that uses too many."""
        chosen = node.committed
        for column in sorted(self._columns(tree)):
            if self._admits(chosen | {column}):
                chosen |= {column}
        if chosen in self._repaired:
            return
        self._repaired.add(chosen)
        found = self.solve(self._relaxed.on(self._over(chosen)), self.session.left, None, [])
        if found.tree is not None:
            self.incumbent.offer(found.tree)

    def _branch(self, node: _Node, found: Solution, used: frozenset[int]) -> int:
        """Forbid a column, or commit to it; that one which leaves the fewest columns then."""
        children = []
        for column in sorted(used - node.committed):
            committed = node.committed | {column}
            children.append((committed, self._affordable(committed, node.allowed), column))
        committed, allowed, column = min(children, key=lambda child: len(child[1]))
        self._push(found.bound, _Node(node.committed, node.allowed - {column}))
        known = found if allowed == node.allowed else None
        self._push(found.bound, _Node(committed, allowed, known))
        return column

    def _relax(self, bound: Exact, node: _Node) -> Solution:
        self._relaxations += 1

        def tell(progress: Progress) -> bool:
            self.incumbent.tighten(self._bound(min(bound, progress.bound)))
            return self.session.tell(progress.nodes)

        callback = None if self.session.callback is None else tell
        proven: list[Proven | Branch] = []
        relaxed = self._relaxed.on(self._over(node.allowed))
        found = self.solve(relaxed, self.session.left, callback, proven)
        self.session.proven += [
            replace(p, columns=node.allowed) for p in proven if isinstance(p, Proven)
        ]
        self.session.calls += found.stats.get("oracle_calls", 0)
        self.session.nodes += found.stats.get("nodes", 0)
        return found

    def _columns(self, tree: Tree) -> frozenset[int]:
        """Return the columns that a tree asks."""
        return self.task.problem.columns_of(tree.features)

    def _over(self, columns: frozenset[int]) -> Problem:
        """Return the problem as seen by trees over some of the columns."""
        return self.task.problem.restricted(self.task.problem.features_of(columns))

    def _bound(self, at_hand: Exact) -> Exact:
        """Return the largest bound of the node at hand, the open ones and those not proven."""
        return max([at_hand, *self._unproven, *(bound for _, _, bound, _ in self._open)])

    def _affordable(self, committed: frozenset[int], among: Iterable[int]) -> frozenset[int]:
        """Return the committed columns and those that are admitted beside them."""
        return committed | {f for f in among if self._admits(committed | {f})}

    def _admits(self, columns: frozenset[int]) -> bool:
        return all(admits(columns) for admits in self._tests)

    def _push(self, bound: Exact, node: _Node) -> None:
        if self._admits(node.committed):
            heappush(self._open, (-float(bound), next(self._order), bound, node))

    def _pop(self) -> tuple[Exact, _Node]:
        _, _, bound, node = heappop(self._open)
        return bound, node
