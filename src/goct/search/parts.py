"""A question in parts, for several machines: who does what next, and what follows from it.

The trees of a question differ in their first split. Those that begin with some
of the columns are a part of it, and the best answer of all parts is that of the
question. Nothing here knows where parts are searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct.search.oracle import LinearOracle, OracleResult, OracleStatus, TreeTuple
from goct.solution import Limit

CoreAnswer: TypeAlias = "tuple[TreeTuple | None, int, int, bool]"
"""What the core says about a part, for one number of splits: tree, cost, bound, proven."""

PART_SECONDS = 1.0
"""How long a part should take: much longer than a message, and short beside the whole."""
_FIRST_GUESS = 1.0
_FORGET = 0.7
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Question:
    """What :class:`goct.search.LinearOracle` is asked.

    With `max_splits` it is about every split budget from 0 on, otherwise about
    trees with any number of splits.
    """

    costs: NDArray[np.int64]
    max_depth: int
    split_cost: int = 0
    min_leaf_weight: int = 0
    max_splits: int | None = None

    @property
    def budgets(self) -> int:
        """How many answers there are."""
        return 1 if self.max_splits is None else self.max_splits + 1

    @property
    def keywords(self) -> dict[str, Any]:
        """All but the costs, as an oracle takes them."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "costs"}

    def divide(self, oracle: LinearOracle, cutoffs: Sequence[int]) -> _core.Parts:
        """Return the parts of the question, see :meth:`LinearOracle.divide`."""
        return oracle.divide(self.costs, cutoffs=cutoffs, **self.keywords)


@dataclass(frozen=True, slots=True)
class Part:
    """Some first splits that follow each other in the order.

    Attributes
    ----------
    place
        Where the first one is in the order.
    columns
        The columns.
    """

    place: int
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """The best trees so far, by split budget.

    Attributes
    ----------
    costs
        What they cost, or the cutoff without a tree.
    places
        Where in the order they begin. A tree that begins before it wins with the same cost;
        those that were known from the start come after all others.
    """

    costs: tuple[int, ...]
    places: tuple[int, ...]

    def cutoffs(self, part: Part) -> list[int]:
        """Return what trees of a part must stay below."""
        return self.cutoffs_at(part.place)

    def cutoffs_at(self, first: int) -> list[int]:
        """Return the same for what begins at a place."""
        return [cost + (first < place) for cost, place in zip(self.costs, self.places, strict=True)]


@dataclass
class Spread:
    """A question that is asked in parts.

    Parameters
    ----------
    roots
        All columns to begin with, in order, and a lower bound on such trees.
    start
        What is known from the start, by split budget.
    cutoffs
        Only trees below them are wanted.
    """

    roots: Sequence[tuple[int, int]]
    start: Sequence[OracleResult]
    cutoffs: Sequence[int]
    nodes: int = 0
    durations: list[tuple[int, float]] = field(default_factory=list)
    """Of the parts that are done: how many columns, and seconds."""

    def __post_init__(self) -> None:
        self._trees = [known.tree for known in self.start]
        self._costs = [
            cutoff if known.cost is None else min(known.cost, cutoff)
            for known, cutoff in zip(self.start, self.cutoffs, strict=True)
        ]
        self._places = [
            len(self.roots) if known.cost is not None and known.cost < cutoff else -1
            for known, cutoff in zip(self.start, self.cutoffs, strict=True)
        ]
        bounds = np.array([bound for _, bound in self.roots], dtype=np.int64)
        self._bounds = np.tile(bounds, (len(self.start), 1))
        self._next = 0
        self._open: dict[int, Part] = {}
        self._again: list[Part] = []
        self._pace = _FIRST_GUESS

    @property
    def best(self) -> Best:
        """The best trees so far."""
        return Best(tuple(self._costs), tuple(self._places))

    @property
    def is_done(self) -> bool:
        """Whether no part is left."""
        return not self._open and not self._again and self._peek() is None

    def _peek(self) -> int | None:
        """Return the place of the next column that may be of use; None if there is none."""
        while self._next < len(self.roots):
            if (self._bounds[:, self._next] < self.best.cutoffs_at(self._next)).any():
                return self._next
            self._next += 1
        return None

    def draw(self, workers: int) -> Part | None:
        """Return the next part for one of some workers; None if there is none."""
        if self._again:
            part = self._again.pop()
        else:
            place = self._peek()
            if place is None:
                return None
            left = len(self.roots) - place
            most = max(left // (2 * max(workers, 1)), 1)
            size = min(max(int(PART_SECONDS / max(self._pace, 1e-6)), 1), most)
            part = Part(place, tuple(column for column, _ in self.roots[place : place + size]))
            self._next = place + size
        self._open[part.place] = part
        return part

    def put_back(self, part: Part) -> None:
        """Give up a part: somebody else has to do it."""
        del self._open[part.place]
        self._again.append(part)

    def take(
        self, part: Part, answers: Sequence[CoreAnswer], *, nodes: int, seconds: float
    ) -> None:
        """Take the answers about a part. Without a proof, it stays open."""
        self.nodes += nodes
        places = slice(part.place, part.place + len(part.columns))
        for m, (tree, cost, bound, _) in enumerate(answers):
            row = self._bounds[m, places]
            np.maximum(row, min(max(bound, -_LARGEST), _LARGEST), out=row)
            if tree is not None and cost < self.best.cutoffs(part)[m]:
                self._trees[m], self._costs[m], self._places[m] = tree, cost, part.place
        if all(proven for *_, proven in answers):
            del self._open[part.place]
            self.durations.append((len(part.columns), seconds))
            pace = seconds / len(part.columns)
            self._pace = (
                pace if len(self.durations) == 1 else (_FORGET * self._pace + (1 - _FORGET) * pace)
            )

    def bound(self, budget: int) -> int:
        """Return what every tree costs at least."""
        least = min(int(self._bounds[budget].min(initial=_LARGEST)), self._costs[budget])
        return max(least, self.start[budget].bound)

    def results(self, limit: Limit, stats: dict[str, Any]) -> list[OracleResult]:
        """Return the answers as they are now; without a limit, all parts are done."""
        found = []
        for m, tree in enumerate(self._trees):
            if limit is not Limit.NONE:
                status = OracleStatus.STOPPED
            else:
                status = OracleStatus.CUTOFF if tree is None else OracleStatus.OPTIMAL
            cost = None if tree is None else self._costs[m]
            found.append(OracleResult(tree, cost, self.bound(m), status, limit, stats))
        return found
