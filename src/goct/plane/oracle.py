"""Whom the algorithms of the plane ask, and what a run of questions knows so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NoReturn, Protocol

from goct.exact import Exact
from goct.solution import Callback, Limit, Limits, Progress
from goct.task import SizeLimit, Task
from goct.tree import Tree

ToBound = Callable[[int], Exact]
"""Turns a proven lower bound on the cost of trees into an upper bound on the objective."""

_SHORT = 1.0  # seconds that ties may always take


class TooFineError(ValueError):
    """Weights, costs or penalties need larger integers than the oracle has."""

    def __init__(self) -> None:
        super().__init__(
            "the weights, costs or penalties are too fine: goct asks for sums of them times counts "
            "in integers of 60 bits; round them to fewer digits (weights that are floats, such as "
            "sample_weight / sample_weight.mean(), are rounded where they need it)"
        )


class StopError(Exception):
    """The run has to end: a limit was reached, or the user wants it."""


@dataclass(frozen=True)
class Answer:
    """What an oracle says to a linear question.

    Attributes
    ----------
    tree
        A tree below the cutoff, which the oracle has offered to its session;
        None if there is none.
    bound
        Proven: no tree costs less. At least the cutoff without a tree, and the
        cost of the tree otherwise, unless any tree was asked for or the oracle
        has tolerances.
    """

    tree: Tree | None
    bound: int


Learn = Callable[[Sequence[Answer]], None]
"""Is told the answers to a question about all split budgets, from 0 on."""


@dataclass(frozen=True)
class Proven:
    """What an answer proves: no tree of a size costs less.

    Attributes
    ----------
    a, b, split_cost
        The direction, for errors in counts of the problem.
    size
        Of the trees.
    least
        The bound; several if there is one for each split budget, from 0 on.
    by_splits
        Whether there are several.
    columns
        The columns that the trees may use; all if None.
    """

    a: int
    b: int
    split_cost: int
    size: SizeLimit
    least: tuple[int, ...]
    by_splits: bool = False
    columns: frozenset[int] | None = None


@dataclass(frozen=True)
class Branch:
    """A node of the search for a set of columns, for certificates.

    Attributes
    ----------
    committed, allowed
        The columns that are paid for, and all that trees may use.
    bound
        What no tree over the allowed columns exceeds.
    column
        The column that was forbidden, or committed to; None if none was.
    """

    committed: frozenset[int]
    allowed: frozenset[int]
    bound: Exact
    column: int | None


class Oracle(Protocol):
    """Finds the cheapest tree in a direction, for one problem and under fixed constraints."""

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

        Parameters
        ----------
        a, b, split_cost
            The direction, for errors in counts of the problem.
        size
            How large the tree may be.
        cutoff
            Only cheaper trees are of interest.
        to_bound
            For the bound of a run that is looked at or stopped on the way.
        any_tree
            Whether any tree below the cutoff will do, if it is found at once; the bound may be
            less than it costs then.

        Raises
        ------
        TooFineError
            If the numbers are too large for the oracle.
        StopError
            If a limit was reached; the session has what is proven by then.
        """


class Triangle(Protocol):
    """A part of the plane where points are wanted, see :meth:`InsideOracle.search_inside`."""

    direction: tuple[int, int]

    def room(self) -> tuple[int, int, int]:
        """Return the budget and the two sides of the box."""

    def visit(self, x: int, y: int) -> tuple[int, int, int] | None:
        """Take a point, or refuse it."""


class SideBySide(Protocol):
    """Answers many questions at the same time."""

    def cheapest_of_all(
        self, questions: Sequence[tuple[int, int, int]], size: SizeLimit
    ) -> list[Answer | None]:
        """Answer questions (a, b, cutoff), see :meth:`Oracle.cheapest`; None if one takes long.

        Raises
        ------
        StopError
            If a limit was reached.
        """

    def search_all_inside(
        self, size: SizeLimit, triangles: Sequence[Triangle], take: Callable[[Tree], None]
    ) -> list[bool]:
        """Say of each triangle whether it was searched, see :meth:`InsideOracle.search_inside`."""


class InsideOracle(Oracle, Protocol):
    """Can also find unsupported nondominated points, and trees with the fewest splits."""

    def guess(
        self, a: int, b: int, size: SizeLimit, *, cutoff: int, split_cost: int = 0
    ) -> Tree | None:
        """Find a tree below a cutoff in no time, if possible; see :meth:`cheapest`."""

    def fewest_splits(self, a: int, b: int, size: SizeLimit, *, cost: int) -> Tree | None:
        """Find the tree with the fewest splits of all that cost least, which is `cost`.

        None if no tree of this size costs as little.

        Raises
        ------
        TooFineError
            If the numbers are too large for the oracle, or if larger trees that
            are not allowed might cost less.
        StopError
            If a limit was reached.
        """

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

        Parameters
        ----------
        size
            How large the trees may be.
        direction, budget, box, visit
            As for :meth:`goct.search.LinearOracle.search_front`.
        take
            Gets a tree of each point that `visit` accepted, but for those that
            another one dominates; after a stop, too.

        Returns
        -------
        Tree or None
            A tree of the last point that `visit` accepted.

        Raises
        ------
        StopError
            If a limit was reached.
        """

    def cheapest_by_splits(
        self, a: int, b: int, size: SizeLimit, *, cutoffs: Sequence[int], learn: Learn | None = None
    ) -> list[Answer]:
        """Find the tree of least ``a * FN + b * FP`` for each split budget, from 0 on.

        Parameters
        ----------
        a, b, size
            The question.
        cutoffs
            Only cheaper trees are of interest, by split budget.
        learn
            Is told the answers, those of a question that was stopped included.

        Raises
        ------
        StopError
            If a limit was reached.
        """


@dataclass(frozen=True)
class Scored:
    """A tree and its objective."""

    tree: Tree
    objective: Exact


class Incumbent:
    """The best feasible tree so far, and the dual bound.

    Parameters
    ----------
    task
        The question.
    start
        A feasible tree that is known; None if there is none.
    bound
        What no tree exceeds; None for the metric of a perfect classifier.

    Attributes
    ----------
    best
        The best tree so far with its objective; None if there is none yet.
    bound
        Proven: no tree has a larger objective.
    """

    def __init__(self, task: Task, start: Tree | None, bound: Exact | None = None) -> None:
        self.task = task
        self.best = None if start is None else Scored(start, task.objective(start))
        self.bound = task.metric.best_value(task.problem) if bound is None else bound

    @property
    def tree(self) -> Tree | None:
        """The best tree so far."""
        return None if self.best is None else self.best.tree

    @property
    def objective(self) -> Exact | None:
        """The objective of the best tree so far."""
        return None if self.best is None else self.best.objective

    @property
    def known(self) -> Scored:
        """The best tree, where there is known to be one."""
        if self.best is None:
            raise LookupError("there is no tree yet")
        return self.best

    @property
    def is_optimal(self) -> bool:
        """Whether the bound proves that no tree is better."""
        return self.best is not None and self.best.objective >= self.bound

    def offer(self, tree: Tree) -> None:
        """Consider a tree.

        Of two trees with the same objective the one with fewer splits is
        better, and of two with as many the one of smaller depth.
        """
        if self.task.is_feasible(tree):
            self.take(Scored(tree, self.task.objective(tree)))

    def take(self, found: Scored) -> None:
        """Consider a feasible tree whose objective is known."""
        if self.best is None or found.objective > self.best.objective:
            self.best = found
        elif found.objective == self.best.objective:
            self.best = min(self.best, found, key=lambda s: (s.tree.splits, s.tree.depth))

    def tighten(self, bound: Exact) -> None:
        """Take a proven bound on the objective of trees that are not known into account."""
        if self.best is not None:
            bound = max(bound, self.best.objective)
        self.bound = min(self.bound, bound)


class Session:
    """The clock and the counters of a run of questions, and who is told about it.

    Parameters
    ----------
    limits
        As in :func:`goct.solve`.

    Attributes
    ----------
    limit
        Why the run was stopped, if it was.
    calls, nodes, phase_two
        How often the oracle was asked, the search nodes it used, and the
        seconds that it spent inside the hull.
    memory_needed
        Bytes that a search takes that was not begun for want of them; 0 otherwise.
    proven
        What answers about directions prove, for certificates.
    """

    def __init__(self, limits: Limits) -> None:
        self.started = time.perf_counter()
        self.limits = limits
        self.limit = Limit.NONE
        self.calls = 0
        self.nodes = 0
        self.phase_two = 0.0
        self.memory_needed = 0
        self.proven: list[Proven | Branch] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> Limits:
        """What may still be spent."""
        return self.limits.after(self.elapsed)

    @property
    def best(self) -> Tree | None:
        """The best tree so far, if the run looks for one."""
        return None

    def offer(self, tree: Tree) -> None:
        """Consider a tree that was found."""

    def tighten(self, bound: Exact) -> None:
        """Take a proven bound on the objective into account."""

    def tell(self, nodes: int, objective: Exact | None = None) -> bool:
        """Report the progress, and say whether the run has to stop.

        Parameters
        ----------
        nodes
            The nodes of the question that is being answered.
        objective
            An objective that is reached by a tree that is not offered yet.
        """
        return False

    def stop(self, limit: Limit, memory_needed: int = 0) -> NoReturn:
        """End the run."""
        self.limit = limit
        self.memory_needed = memory_needed
        raise StopError


class IncumbentSession(Session):
    """A run that looks for the best tree of a task.

    Parameters
    ----------
    incumbent
        What is known so far.
    limits, callback
        As in :func:`goct.solve`.
    """

    def __init__(self, incumbent: Incumbent, limits: Limits, callback: Callback | None) -> None:
        super().__init__(limits)
        self.incumbent = incumbent
        self.callback = callback
        self.breaks_ties = False

    def begin_ties(self, share: float) -> None:
        """Say that the best tree is proven; what follows may take a share of the time so far.

        It may take a second in any case, and no more than the limit of the run.
        """
        self.breaks_ties = True
        end = self.elapsed + max(share * self.elapsed, _SHORT)
        if end < inf:
            self.limits = replace(self.limits, time=min(end, self.limits.time or inf))

    @property
    def best(self) -> Tree | None:
        """The best tree so far."""
        return self.incumbent.tree

    def offer(self, tree: Tree) -> None:
        """Consider a tree that was found."""
        self.incumbent.offer(tree)

    def tighten(self, bound: Exact) -> None:
        """Take a proven bound on the objective into account."""
        self.incumbent.tighten(bound)

    def tell(self, nodes: int, objective: Exact | None = None) -> bool:
        """Report the progress, and say whether the callback wants to stop."""
        if self.callback is None:
            return False
        reached = [o for o in (objective, self.incumbent.objective) if o is not None]
        progress = Progress(
            self.elapsed,
            max(reached, default=None),
            self.incumbent.bound,
            self.nodes + nodes,
            self.breaks_ties,
        )
        return bool(self.callback(progress))
