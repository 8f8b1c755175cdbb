"""The exact linear oracle: the only door to the search core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct import _core
from goct._validation import (
    check_binary_matrix,
    check_choice,
    check_count,
    check_flag,
    check_jobs,
)
from goct.solution import Limit

TreeTuple: TypeAlias = "int | tuple[int, TreeTuple, TreeTuple]"
"""A tree: a class label, or (feature, tree where the feature is 0, tree where it is 1)."""

Ask: TypeAlias = "Callable[[Any, float | None, Callable[[], bool]], Any]"
Delegate: TypeAlias = "tuple[Ask, int, float, float]"
"""Others who search units: a function that asks them, their number, the seconds before they are
asked, and those after which a feature is divided. See :mod:`goct.search.cluster`."""

TECHNIQUES: Mapping[str, str] = {
    "order": "try the features with the best depth-two trees first",
    "similarity": "a solved side of a split bounds the sides of the other splits",
    "inheritance": "a searched node leaves bounds to similar nodes elsewhere",
    "cache": "remember solved row sets",
    "transfer": "carry bounds over from calls with other costs",
    "cutoffs": "a child need not beat what its sibling leaves",
    "price": "a side has no more splits, and no other features, than it can pay for",
    "slack": "search a child a little beyond that where its value helps others",
    "first_pass": "look for a good tree before proving",
    "deepening": "if it takes long, look again at smaller depths, and raise the bound in steps",
}
"""What can be switched off for an ablation. No switch changes what is found, only how fast."""

NARROW, FEW = 8, 500
"""Columns of ranks with no more thresholds are searched as 0/1 features; and all columns if there
are no more in all."""

MEMORY_LIMIT = 1 << 31
"""Bytes that a search may take by default."""

_LARGEST = 2**63 - 1


class Effort(Enum):
    """How far a search goes."""

    ALL = 0
    """To a proof."""
    ANY_TREE = 1
    """To a proof, unless a tree below the cutoff is found at once."""
    FIRST_TREES = 2
    """No further than what is found at once."""


class OracleStatus(Enum):
    """What a result claims."""

    OPTIMAL = "optimal"
    """The tree is proven to be the cheapest."""
    CUTOFF = "cutoff"
    """It is proven that no tree costs less than the cutoff."""
    STOPPED = "stopped"
    """The search ended before; the tree is the best so far, the bound is proven."""


@dataclass(frozen=True, slots=True)
class OracleProgress:
    """A look at a running search."""

    elapsed: float
    cost: int | None
    """Cost of the best tree so far; None if there is none yet."""
    bound: int
    nodes: int
    depth_two: int
    cache_entries: int


@dataclass(frozen=True, slots=True)
class OracleResult:
    """The answer to one question.

    Attributes
    ----------
    tree
        The best tree found; None if none was found below the cutoff.
    cost
        Its cost, counted from the rows; None without a tree.
    bound
        Proven: no tree costs less. Equal to `cost` if the status is OPTIMAL, and at least the
        cutoff if it is CUTOFF.
    status, limit
        What is claimed, and why the search ended early if it did.
    stats
        Counters of the search: seconds, nodes, depth_two, cache_entries, cache_bytes.
    """

    tree: TreeTuple | None
    cost: int | None
    bound: int
    status: OracleStatus
    limit: Limit
    stats: dict[str, float | int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class FrontResult:
    """The end of a search by :meth:`LinearOracle.search_front`.

    Attributes
    ----------
    tree
        A tree of the last accepted point; None if no point was accepted. Label 1
        is positive, 0 negative.
    point
        The tree's false negatives and false positives, counted from the rows:
        the last accepted point or one that is nowhere larger. None without a
        tree.
    trees
        With `keep_all`, a tree and its point for each accepted point that is
        nowhere larger than another, in the order of the visits; else the last
        one alone, if there is one.
    proven
        Whether the search came to its end, see :meth:`LinearOracle.search_front`
        for what that proves.
    limit
        Why it ended early if it did.
    stats
        Counters of the search: seconds, nodes, depth_two, cache_entries,
        cache_bytes, visits.
    """

    tree: TreeTuple | None
    point: tuple[int, int] | None
    trees: tuple[tuple[TreeTuple, tuple[int, int]], ...] = field(repr=False)
    proven: bool
    limit: Limit
    stats: dict[str, float | int] = field(repr=False)


class LinearOracle:
    """Finds the decision tree of least total cost, for any costs on the same rows.

    The oracle lives across calls: data, solved row sets and lower bounds stay, also when the costs
    change. It answers one question at a time; a second thread that asks meanwhile gets a
    RuntimeError. The data are prepared by the first question, within its limits.

    Parameters
    ----------
    X
        Matrix of 0 and 1; every row a different one for full speed (merge equal rows by adding up
        their costs).
    weights
        Non-negative integers, one per row, that `min_leaf_weight` counts; ones by default.
    memory_limit
        Bytes that a search may take, estimated before they are taken: nodes, cells, remembered
        results and pair counts; 64 MB are always allowed. If the data do not fit, the answer is a
        greedy tree, and the limit is MEMORY.
    n_jobs
        Threads, or -1 for one per processor. The result does not depend on it.
    techniques
        Switches by name, see `TECHNIQUES`; all on by default.

    Notes
    -----
    Row sets are told apart by 128-bit random keys. Two of them are mistaken for each other with
    probability 2^-128, so below 2^-48 for a search that compares 2^40 sets with each other. Each
    returned tree's cost is counted again from the rows.
    """

    def __init__(
        self,
        X: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        memory_limit: int = MEMORY_LIMIT,
        n_jobs: int = 1,
        techniques: Mapping[str, bool] | None = None,
    ) -> None:
        cells = check_binary_matrix(X)
        # The first question reads them, so nobody may change them until then.
        self._build(
            cells.copy() if cells.flags.writeable else cells,
            int(cells.shape[1]),
            weights,
            memory_limit,
            n_jobs,
            techniques,
        )

    @classmethod
    def from_ranks(
        cls,
        ranks: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        memory_limit: int = MEMORY_LIMIT,
        n_jobs: int = 1,
        techniques: Mapping[str, bool] | None = None,
        narrow: int = NARROW,
        few: int = FEW,
    ) -> LinearOracle:
        """Make an oracle for every threshold of columns of numbers, without a matrix of them.

        The trees are those of a matrix X that has a column "rank of column j > t" for each column
        j and t = 0, ..., m_j - 2, in this order, where m_j is the number of distinct values of
        column j. Feature numbers in answers are columns of that matrix.

        Parameters
        ----------
        ranks
            Integer matrix, one row per row and one column per column of numbers. The ranks of a
            column are 0, ..., m_j - 1, each of them taken by some row; 0/1 columns are columns of
            two ranks. Every row a different one for full speed.
        weights, memory_limit, n_jobs, techniques
            As for `LinearOracle`; "inheritance" and "slack" make no difference where there are no
            narrow columns.
        narrow, few
            Columns with no more thresholds are narrow: they are searched as features. If there are
            no more than `few` in all, all columns are; and none if the wide ones are too many for
            that to pay, unless `few` is 0.
        """
        matrix = np.asarray(ranks)
        if matrix.ndim != 2:
            raise ValueError("ranks must be a matrix")
        if not np.issubdtype(matrix.dtype, np.integer):
            raise TypeError("ranks must be integers")
        thresholds = sum(_count_ranks(column, j) - 1 for j, column in enumerate(matrix.T))
        matrix = np.array(matrix, dtype=np.uint32, order="F", copy=True)
        self = cls.__new__(cls)
        self._build(matrix, thresholds, weights, memory_limit, n_jobs, techniques, narrow, few)
        return self

    @property
    def has_wide(self) -> bool:
        """Whether some columns of ranks have many thresholds."""
        return self._core.has_wide

    def has_features(self, n_classes: int, min_leaf_weight: int) -> bool:
        """Say whether features are searched for a question, or thresholds of wide columns alone."""
        return self._core.has_features(n_classes, min_leaf_weight)

    def _build(
        self,
        matrix: NDArray[np.uint8] | NDArray[np.uint32],
        features: int,
        weights: ArrayLike | None,
        memory_limit: int,
        n_jobs: int,
        techniques: Mapping[str, bool] | None,
        *narrow_and_few: int,
    ) -> None:
        self._rows, self._features = len(matrix), features
        if self._rows == 0:
            raise ValueError("there must be at least one row")
        row_weights = None
        if weights is not None:
            row_weights = _integers(weights, "weights")
            if row_weights.shape != (self._rows,) or (row_weights < 0).any():
                raise ValueError("weights must be one non-negative integer per row")
        for name, switch in (techniques or {}).items():
            check_choice(name, "technique", tuple(TECHNIQUES))
            check_flag(switch, f"techniques[{name!r}]")
        if isinstance(memory_limit, float) and memory_limit % 1 == 0:
            memory_limit = int(memory_limit)
        self._core = _core.Oracle(
            matrix,
            row_weights,
            min(check_count(memory_limit, "memory_limit"), _LARGEST),
            check_jobs(n_jobs),
            dict(techniques or {}),
            *narrow_and_few,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._features

    def solve(
        self,
        costs: ArrayLike,
        *,
        max_depth: int,
        split_cost: int = 0,
        max_splits: int | None = None,
        min_leaf_weight: int = 0,
        cutoff: int | None = None,
        effort: Effort = Effort.ALL,
        time_limit: float | None = None,
        callback: Callable[[OracleProgress], bool | None] | None = None,
    ) -> OracleResult:
        """Find the cheapest tree.

        Ctrl-C, the callback and the time limit stop the search within a fraction of a second; the
        best tree so far is returned, and `limit` says why.

        Parameters
        ----------
        costs
            Integer matrix, one row per row of X and one column per class: the cost of predicting
            the class there. Any sign.
        max_depth
            Largest number of splits on a path.
        split_cost
            Cost of each split, not negative.
        max_splits
            Largest number of splits; no limit by default.
        min_leaf_weight
            Least weight of the rows of a leaf. A tree without splits is always allowed.
        cutoff
            Only trees that cost less are wanted.
        effort
            How far to search. Less than all may end without a proof: then the status is
            ``STOPPED``, and there is no limit. Does not matter if splits are limited, or over
            ranks.
        time_limit
            Seconds.
        callback
            Called about twenty times per second while the search runs; stops it by returning True.

        Raises
        ------
        OverflowError
            If sums of costs do not fit 60 bits.
        """
        matrix = self._costs(costs)
        split_cost = _non_negative(split_cost, "split_cost")
        min_leaf_weight = _non_negative(min_leaf_weight, "min_leaf_weight")
        tree, cost, bound, proven, reason, stats = self._core.solve(
            matrix,
            split_cost,
            _non_negative(max_depth, "max_depth", 10**6),
            min_leaf_weight,
            None if cutoff is None else max(-_LARGEST, min(int(cutoff), _LARGEST)),
            None if max_splits is None else _non_negative(max_splits, "max_splits", 10**6),
            Effort(effort).value,
            time_limit,
            _adapt(callback),
            self._delegate(matrix, split_cost, min_leaf_weight),
        )
        return _result(tree, cost, bound, proven, reason, stats)

    def solve_budgets(
        self,
        costs: ArrayLike,
        *,
        max_depth: int,
        max_splits: int,
        min_leaf_weight: int = 0,
        cutoffs: Sequence[int] | None = None,
        time_limit: float | None = None,
        callback: Callable[[OracleProgress], bool | None] | None = None,
    ) -> list[OracleResult]:
        """Find the cheapest tree for every split budget 0, 1, ..., `max_splits` in one search.

        The costs are those of the leaves; a price per split is the caller's, who may put it into
        `cutoffs`, one per budget: only trees below it are wanted, and a very low one switches the
        budget off. The other parameters are those of `solve`.
        """
        matrix = self._costs(costs)
        most = _non_negative(max_splits, "max_splits", 10**6)
        min_leaf_weight = _non_negative(min_leaf_weight, "min_leaf_weight")
        limits = None
        if cutoffs is not None:
            limits = np.array(
                [max(-_LARGEST, min(int(c), _LARGEST)) for c in cutoffs], dtype=np.int64
            )
            if limits.shape != (most + 1,):
                raise ValueError("cutoffs must have one entry per budget 0 .. max_splits")
        answers, reason, stats = self._core.solve_budgets(
            matrix,
            _non_negative(max_depth, "max_depth", 10**6),
            most,
            min_leaf_weight,
            limits,
            time_limit,
            _adapt(callback),
            self._delegate(matrix, 0, min_leaf_weight),
        )
        return [_result(*answer, reason, stats) for answer in answers]

    def helper(
        self, costs: ArrayLike, split_cost: int, min_leaf_weight: int, most_notes: int = 0
    ) -> _core.Helper:
        """Return somebody who searches units of a question that another oracle was asked.

        With each answer there are about so many notes, for other helpers.
        """
        return _core.Helper(self._core, self._costs(costs), split_cost, min_leaf_weight, most_notes)

    def _delegate(
        self,
        costs: NDArray[np.int64],
        split_cost: int,
        min_leaf_weight: int,
    ) -> Delegate | None:
        """Return others who help with a question."""
        return None

    def search_front(
        self,
        positives: ArrayLike,
        negatives: ArrayLike,
        *,
        direction: tuple[int, int],
        budget: int,
        box: tuple[int, int],
        visit: Callable[[int, int], tuple[int, int, int] | None],
        max_depth: int,
        max_splits: int | None = None,
        min_leaf_weight: int = 0,
        time_limit: float | None = None,
        callback: Callable[[OracleProgress], bool | None] | None = None,
        keep_all: bool = False,
    ) -> FrontResult:
        """Look for wanted trees among those that are best for no price of errors.

        A tree has a point (x, y): x is the sum of `positives` over the rows it predicts
        negative, y that of `negatives` over the rows it predicts positive. `visit` is called with
        the points of some trees within a region ::

            a * x + b * y <= budget,   x <= box[0],   y <= box[1]

        and says whether they are wanted. Wanted points make the region smaller.

        If the search comes to its end (`proven`), every tree whose point is within the last region
        has been accounted for: some visited point, accepted or rejected, is nowhere larger than the
        tree's. So nothing wanted is left, if `visit` obeys these rules: with a rejected point,
        everything that is nowhere smaller is unwanted; after an accepted one, everything still
        wanted is within the new region, and what is nowhere smaller than the accepted point is
        unwanted.

        Parameters
        ----------
        positives, negatives
            Non-negative integers, one per row of X each.
        direction
            The weights (a, b), positive integers. The search knows and extends what calls of
            `solve` with the costs ``[a * positives, b * negatives]`` (label 0 is negative) have
            found, if they had the same `min_leaf_weight` and no `max_splits`.
        budget, box
            The region; a negative number makes it empty.
        visit
            Called with x and y, by the thread that called `search_front`, for points of trees
            within the present region; never for one that is nowhere smaller than a point visited
            before. Returns None if the point is not wanted, or the new budget and the two sides of
            the new box. The region never grows: of the old and the new limits the smaller ones
            count. A negative number ends the search. An error comes out of `search_front`. It must
            not use this oracle.
        max_depth, max_splits, min_leaf_weight
            Which trees there are, as in `solve`.
        time_limit
            Seconds.
        callback
            As in `solve`; its progress has no cost, and the bound is a trivial one.
        keep_all
            Whether to return the trees of all accepted points, but for those that another one
            dominates.

        Raises
        ------
        OverflowError
            If the weighted counts do not fit 60 bits.

        Notes
        -----
        Ctrl-C, the callback and the time limit stop the search within a fraction of a second; a
        tree of the last accepted point is returned all the same. The points come in the same order
        whatever `n_jobs` is.
        """
        a, b = (_non_negative(weight, "direction") for weight in direction)
        if a == 0 or b == 0:
            raise ValueError("direction must be two positive integers")
        width, height = box

        def ask(x: int, y: int) -> tuple[int, int, int] | None:
            region = visit(x, y)
            if region is None:
                return None
            most, new_width, new_height = region
            return _clip(most), _clip(new_width), _clip(new_height)

        trees, proven, reason, stats = self._core.search_front(
            self._counts(positives, "positives"),
            self._counts(negatives, "negatives"),
            (a, b, _clip(budget)),
            (_clip(width), _clip(height)),
            ask,
            _non_negative(max_depth, "max_depth", 10**6),
            _non_negative(min_leaf_weight, "min_leaf_weight"),
            None if max_splits is None else _non_negative(max_splits, "max_splits", 10**6),
            time_limit,
            _adapt(callback),
            keep_all,
        )
        tree, point = trees[-1] if trees else (None, None)
        return FrontResult(tree, point, tuple(trees), proven, Limit(reason), stats)

    def _counts(self, counts: ArrayLike, name: str) -> NDArray[np.int64]:
        array = _integers(counts, name)
        if array.shape != (self._rows,) or (array < 0).any():
            raise ValueError(f"{name} must be one non-negative integer per row of X")
        return array

    def _costs(self, costs: ArrayLike) -> NDArray[np.int64]:
        matrix = _integers(costs, "costs")
        if matrix.ndim != 2 or len(matrix) != self._rows or matrix.shape[1] == 0:
            raise ValueError(
                "costs must be a matrix with one row per row of X and at least one class"
            )
        return matrix


def _count_ranks(column: NDArray[np.integer[Any]], index: int) -> int:
    """Return the number of ranks of a column, which must be without gaps."""
    if len(column) == 0:
        return 1
    if column.min() != 0 or column.max() >= len(column) or not np.bincount(column).all():
        raise ValueError(f"the ranks of column {index} must be 0, 1, ... without gaps")
    return int(column.max()) + 1


def _integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype == object:
        if any(abs(int(v)) > _LARGEST for v in array.flat):
            raise OverflowError(f"{name} do not fit 64 bits")
    elif not np.issubdtype(array.dtype, np.integer) and array.dtype != bool:
        raise TypeError(f"{name} must be integers")
    if array.dtype == np.uint64 and array.size and int(array.max()) > _LARGEST:
        raise OverflowError(f"{name} do not fit 64 bits")
    return np.ascontiguousarray(array, dtype=np.int64)


def _non_negative(value: int, name: str, most: int = _LARGEST) -> int:
    number = int(value)
    if number < 0 or number != value:
        raise ValueError(f"{name} must be a non-negative integer")
    return min(number, most)


def _clip(limit: int) -> int:
    """Return an integer that fits 64 bits and limits sums as the given one does."""
    return max(-1, min(int(limit), _LARGEST))


def _adapt(callback: Callable[[OracleProgress], bool | None] | None) -> Callable[..., bool] | None:
    return None if callback is None else lambda *progress: bool(callback(OracleProgress(*progress)))


def _result(
    tree: TreeTuple | None,
    cost: int,
    bound: int,
    proven: bool,
    reason: str,
    stats: dict[str, float | int],
) -> OracleResult:
    if not proven:
        status = OracleStatus.STOPPED
    else:
        status = OracleStatus.CUTOFF if tree is None else OracleStatus.OPTIMAL
    return OracleResult(tree, None if tree is None else cost, bound, status, Limit(reason), stats)
