"""What trees can ask of the rows of a problem: 0/1 features, or thresholds on ranked columns."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct._deadline import check_deadline, timed
from goct._validation import check_explicit_size

Ranks: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Ranks of rows (outer) in columns, 16 or 32 bits, column after column in memory."""


@dataclass(frozen=True, eq=False)
class BinaryFeatures:
    """A matrix of 0/1 features, without columns that no tree needs.

    Attributes
    ----------
    X
        The values in the distinct rows, shape (rows, kept features).
    kept
        The feature behind each column of `X`.
    source, flipped
        For every feature, the column of `X` that tells its value (-1 for
        constant features) and whether it is the complement of it (for a constant
        feature: whether its value is 1).
    names
        A name for every feature.
    owner
        The column of the user's table that every feature is a condition on.
    columns
        The names of these columns.
    """

    X: NDArray[np.uint8]
    kept: NDArray[np.intp]
    source: NDArray[np.intp]
    flipped: NDArray[np.bool_]
    names: Sequence[str]
    owner: NDArray[np.intp]
    columns: Sequence[str]

    def __post_init__(self) -> None:
        for array in (self.X, self.kept, self.source, self.flipped, self.owner):
            array.flags.writeable = False

    @classmethod
    def reduced(
        cls,
        rows: NDArray[np.uint8],
        names: Sequence[str],
        owner: NDArray[np.intp],
        columns: Sequence[str],
    ) -> BinaryFeatures:
        """Return the features of a matrix, without constant columns, copies and complements."""
        rows = np.ascontiguousarray(rows)
        first = timed("equal columns were found", _core.match_columns, rows)
        kept = np.flatnonzero(first == np.arange(len(first)))
        position = np.full(len(first) + 1, -1, dtype=np.intp)  # the last one: constant columns
        position[kept] = np.arange(len(kept))
        source = position[first]
        flipped = rows[0].astype(bool)
        flipped[source >= 0] ^= flipped[kept[source[source >= 0]]]
        X = rows if len(kept) == len(first) else np.take(rows, kept, axis=1)
        return cls(X, kept, source, flipped, names, owner, columns)

    @property
    def n_kept(self) -> int:
        """The number of features that differ from each other."""
        return len(self.kept)

    def column(self, feature: int) -> NDArray[np.uint8]:
        """Return the values of a feature in the distinct rows."""
        if self.source[feature] < 0:
            return np.full(len(self.X), self.flipped[feature], dtype=np.uint8)
        return self.X[:, self.source[feature]] ^ np.uint8(self.flipped[feature])

    def owner_of(self, feature: int) -> int:
        """Return the column that a feature is a condition on."""
        return int(self.owner[feature])

    def features_of(self, columns: Sequence[int]) -> NDArray[np.intp]:
        """Return the features that are conditions on some columns, in increasing order."""
        return np.flatnonzero(np.isin(self.owner, np.asarray(columns, dtype=np.intp)))

    def restricted(self, chosen: NDArray[np.intp]) -> tuple[BinaryFeatures, NDArray[np.integer]]:
        """Return some of the features, the others being constant, and the new row of each row."""
        values = np.zeros((len(self.X), len(chosen)), dtype=np.uint8)
        for k, feature in enumerate(chosen.tolist()):
            values[:, k] = self.column(feature)
        first, group = _core.group_rows(values)
        rows = np.zeros((len(first), len(self.names)), dtype=np.uint8)
        rows[:, chosen] = values[first]
        return BinaryFeatures.reduced(rows, self.names, self.owner, self.columns), group

    @property
    def explicit(self) -> BinaryFeatures:
        """The features as a matrix, which they are."""
        return self


@dataclass(frozen=True, eq=False)
class RankedFeatures:
    """Thresholds on columns of ranks: feature ``offset[j] + t`` is "the rank in column j is > t".

    No matrix of these features is made unless :attr:`explicit` is asked for.

    Attributes
    ----------
    ranks
        The ranks of the distinct rows in the columns that are kept, shape
        (rows, kept columns). They are dense: each from 0 to the largest occurs.
    sizes
        How many ranks there were in each original column; one more than it has
        thresholds.
    source, flipped
        For every original column, the column of `ranks` that tells its ranks (-1
        for constant columns), and whether it does so in reversed order.
    behind
        For every original column, an original rank behind each dense one.
    cuts
        For every column of `ranks`, the original threshold behind each dense one.
    names
        A name for every feature.
    owner
        The column of the user's table behind each original column of ranks.
    columns
        The names of these columns.
    allowed
        Which features may be used; all if None. The others count as constant.
    """

    ranks: Ranks
    sizes: NDArray[np.intp]
    source: NDArray[np.intp]
    flipped: NDArray[np.bool_]
    behind: tuple[NDArray[np.intp], ...]
    cuts: tuple[NDArray[np.intp], ...]
    names: Sequence[str]
    owner: NDArray[np.intp]
    columns: Sequence[str]
    allowed: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        for array in (self.ranks, self.sizes, self.source, self.flipped, self.owner):
            array.flags.writeable = False

    @classmethod
    def reduced(
        cls,
        ranks: Ranks,
        sizes: NDArray[np.intp],
        names: Sequence[str],
        owner: NDArray[np.intp],
        columns: Sequence[str],
    ) -> RankedFeatures:
        """Return the features of distinct rows, whose ranks need not be dense."""
        places = np.arange(sizes.max(initial=1))
        thresholds, behind = ([places[: size - k] for size in sizes] for k in (1, 0))
        return cls._dense(ranks, sizes, thresholds, behind, names, owner, columns, None)

    @classmethod
    def _dense(
        cls,
        ranks: Ranks,
        sizes: NDArray[np.intp],
        thresholds: Sequence[NDArray[np.intp]],
        behind: Sequence[NDArray[np.intp]],
        names: Sequence[str],
        owner: NDArray[np.intp],
        columns: Sequence[str],
        allowed: NDArray[np.bool_] | None,
    ) -> RankedFeatures:
        """Make ranks dense, and leave out constant columns, copies and reversed copies.

        Parameters
        ----------
        ranks
            The ranks, one column per original column.
        sizes, names, owner, columns, allowed
            As in the result.
        thresholds
            For each column, the original threshold above each of its ranks.
        behind
            For each column, an original rank behind each of its ranks.
        """
        dense: list[Ranks] = []
        cuts: list[NDArray[np.intp]] = []
        known: dict[int, list[tuple[int, int]]] = {}
        all_behind: list[NDArray[np.intp]] = []
        source = np.full(len(sizes), -1, dtype=np.intp)
        flipped = np.zeros(len(sizes), dtype=bool)
        for j in range(len(sizes)):
            check_deadline("rows were merged")
            occurs = np.zeros(len(behind[j]), dtype=bool)
            occurs[ranks[:, j]] = True
            size, above, column = int(occurs.sum()), thresholds[j], ranks[:, j]
            all_behind.append(behind[j] if size == len(occurs) else behind[j][occurs])
            if size < 2:
                continue
            if size < len(occurs):
                above = above[np.flatnonzero(occurs)[:-1]]
                column = (np.cumsum(occurs) - 1).astype(ranks.dtype)[column]
            source[j], flipped[j] = _find_copy(column, size, dense, known)
            if source[j] < 0:
                source[j] = len(dense)
                known.setdefault(size, []).append((_checksum(column), len(dense)))
                dense.append(column)
                cuts.append(above)
        return cls(
            _stack(dense, len(ranks)),
            sizes,
            source,
            flipped,
            tuple(all_behind),
            tuple(cuts),
            names,
            owner,
            columns,
            allowed,
        )

    @cached_property
    def offset(self) -> NDArray[np.intp]:
        """The first feature of each original column, and the number of features."""
        return np.concatenate([[0], np.cumsum(self.sizes - 1)]).astype(np.intp)

    @cached_property
    def kept_offset(self) -> NDArray[np.intp]:
        """The first feature of each column of `ranks`, and their number, as an engine counts."""
        return np.cumsum([0, *map(len, self.cuts)]).astype(np.intp)

    @cached_property
    def _kept_columns(self) -> NDArray[np.intp]:
        """The original column behind each column of `ranks`."""
        first = np.full(len(self.cuts), -1, dtype=np.intp)
        for j in range(len(self.sizes) - 1, -1, -1):
            if self.source[j] >= 0:
                first[self.source[j]] = j
        return first

    @property
    def n_kept(self) -> int:
        """The number of thresholds of the columns of `ranks`."""
        return int(self.kept_offset[-1])

    def place(self, feature: int) -> tuple[int, int]:
        """Return the original column and the threshold that a feature stands for."""
        if not 0 <= feature < self.offset[-1]:
            raise IndexError(f"there is no feature {feature}; there are {self.offset[-1]}")
        j = int(np.searchsorted(self.offset, feature, side="right")) - 1
        return j, feature - int(self.offset[j])

    def column(self, feature: int) -> NDArray[np.uint8]:
        """Return the values of a feature in the distinct rows."""
        j, threshold = self.place(feature)
        cut = int(np.searchsorted(self.behind[j], threshold, side="right")) - 1
        most = len(self.behind[j]) - 1
        if self.allowed is not None and not self.allowed[feature]:
            return np.zeros(len(self.ranks), dtype=np.uint8)
        if not 0 <= cut < most:
            return np.full(len(self.ranks), cut < 0, dtype=np.uint8)
        ranks = self.ranks[:, self.source[j]]
        holds = ranks < most - cut if self.flipped[j] else ranks > cut
        return holds.view(np.uint8)

    def original(self, number: int) -> int:
        """Return the feature behind a threshold of `ranks`, which an engine counts on."""
        k = int(np.searchsorted(self.kept_offset, number, side="right")) - 1
        cut = self.cuts[k][number - int(self.kept_offset[k])]
        return int(self.offset[self._kept_columns[k]] + cut)

    def spread(self, count: int) -> NDArray[np.intp]:
        """Return some features: at most so many thresholds of each column, at quantiles."""
        shares = np.arange(1, count + 1) / (count + 1)
        chosen = [np.empty(0, dtype=np.intp)]
        for k, cuts in enumerate(self.cuts):
            rows = np.cumsum(np.bincount(self.ranks[:, k], minlength=len(cuts) + 1))
            places = np.unique(np.searchsorted(rows, shares * len(self.ranks)))
            first = self.offset[self._kept_columns[k]]
            chosen.append(first + cuts[places[places < len(cuts)]])
        return np.concatenate(chosen)

    def owner_of(self, feature: int) -> int:
        """Return the column that a feature is a condition on."""
        return int(self.owner[self.place(feature)[0]])

    def features_of(self, columns: Sequence[int]) -> NDArray[np.intp]:
        """Return the features that are conditions on some columns, in increasing order."""
        chosen = np.flatnonzero(np.isin(self.owner, np.asarray(columns, dtype=np.intp)))
        parts = [np.arange(self.offset[j], self.offset[j + 1]) for j in chosen]
        return np.concatenate([np.empty(0, dtype=np.intp), *parts])

    def restricted(self, chosen: NDArray[np.intp]) -> tuple[RankedFeatures, NDArray[np.integer]]:
        """Return some of the features, the others being constant, and the new row of each row."""
        allowed = np.zeros(self.offset[-1], dtype=bool)
        allowed[chosen] = True
        if self.allowed is not None:
            allowed &= self.allowed
        ranks: list[Ranks] = []
        thresholds: list[NDArray[np.intp]] = []
        behind: list[NDArray[np.intp]] = []
        for j, (start, end) in enumerate(zip(self.offset[:-1], self.offset[1:], strict=True)):
            left = np.flatnonzero(allowed[start:end])
            thresholds.append(left)
            # A rank behind each new one: the first above the threshold before it.
            behind.append(np.concatenate([[0], left + 1]).astype(np.intp))
            new = np.searchsorted(left, self.behind[j])  # how many thresholds are below
            ranks.append(new.astype(self.ranks.dtype)[self.ranks_of(j)])
        matrix = _stack(ranks, len(self.ranks))
        first, group = group_ranks(matrix, np.array([len(b) for b in behind]))
        kept = RankedFeatures._dense(
            take_rows(matrix, first),
            self.sizes,
            thresholds,
            behind,
            self.names,
            self.owner,
            self.columns,
            allowed,
        )
        return kept, group

    def ranks_of(self, j: int) -> Ranks:
        """Return the dense ranks of an original column."""
        if self.source[j] < 0:
            return np.zeros(len(self.ranks), dtype=self.ranks.dtype)
        ranks: Ranks = self.ranks[:, self.source[j]]
        return (len(self.behind[j]) - 1 - ranks).astype(ranks.dtype) if self.flipped[j] else ranks

    @cached_property
    def explicit(self) -> BinaryFeatures:
        """The features as a matrix of 0 and 1.

        Raises
        ------
        ValueError
            If it would be too large.
        """
        n_rows = len(self.ranks)
        check_explicit_size(n_rows, self.n_kept)
        rows = np.empty((n_rows, self.n_kept), dtype=np.uint8)
        for k, (start, end) in enumerate(
            zip(self.kept_offset[:-1], self.kept_offset[1:], strict=True)
        ):
            rows[:, start:end] = self.ranks[:, k, None] > np.arange(end - start)
        dense = BinaryFeatures.reduced(rows, (), np.empty(0, dtype=np.intp), ())
        source = np.empty(self.offset[-1], dtype=np.intp)
        flipped = np.empty(self.offset[-1], dtype=bool)
        for j, (start, end) in enumerate(zip(self.offset[:-1], self.offset[1:], strict=True)):
            source[start:end], flipped[start:end] = self._explicit_source(j, dense)
        originals = [self.offset[self._kept_columns[k]] + cut for k, cut in enumerate(self.cuts)]
        if self.allowed is not None:
            source[~self.allowed], flipped[~self.allowed] = -1, False
        return BinaryFeatures(
            dense.X,
            np.concatenate([np.empty(0, dtype=np.intp), *originals])[dense.kept],
            source,
            flipped,
            self.names,
            np.repeat(self.owner, self.sizes - 1),
            self.columns,
        )

    def _explicit_source(
        self, j: int, dense: BinaryFeatures
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return where the features of an original column are in a matrix, and if flipped."""
        most = len(self.behind[j]) - 1
        cut = np.searchsorted(self.behind[j], np.arange(self.sizes[j] - 1), side="right") - 1
        source, flipped = np.full(len(cut), -1, dtype=np.intp), cut < 0
        inside = (cut >= 0) & (cut < most)
        if inside.any():
            number = self.kept_offset[self.source[j]] + (
                most - 1 - cut[inside] if self.flipped[j] else cut[inside]
            )
            source[inside] = dense.source[number]
            flipped[inside] = dense.flipped[number] ^ self.flipped[j]
        return source, flipped


Features: TypeAlias = BinaryFeatures | RankedFeatures


def group_ranks(
    ranks: Ranks, sizes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.integer]]:
    """Find equal rows.

    Parameters
    ----------
    ranks
        The ranks.
    sizes
        How many ranks there are in each column.

    Returns
    -------
    first, group
        A row of each kind, the kinds being in lexicographic order, and the kind
        of each row.
    """
    words = _packed(ranks, sizes)
    check_deadline("rows were merged")
    order = np.argsort(words[0], kind="stable") if words else np.arange(len(ranks))
    differs = np.zeros(len(ranks), dtype=bool)
    differs[:1] = True
    if words:
        differs[1:] = words[0][order][1:] != words[0][order][:-1]
    if len(words) > 1 and not differs.all():
        order = np.lexsort(words[::-1])
        for word in words:
            ordered = word[order]
            differs[1:] |= ordered[1:] != ordered[:-1]
    group = np.empty(len(ranks), dtype=np.intp)
    group[order] = np.cumsum(differs) - 1
    return order[differs], group


def _packed(ranks: Ranks, sizes: NDArray[np.intp]) -> list[NDArray[np.uint64]]:
    """Write the ranks of each row into as few integers of 64 bits as hold them, in order."""
    words: list[NDArray[np.uint64]] = []
    room = 1
    for j, size in enumerate(sizes.tolist()):
        if size < 2:
            continue
        if not words or size > room:
            words.append(ranks[:, j].astype(np.uint64))
            room = 2**64 // size
        else:
            words[-1] *= np.uint64(size)
            words[-1] += ranks[:, j]
            room //= size
    return words


def take_rows(ranks: Ranks, rows: NDArray[np.integer]) -> Ranks:
    """Return some rows, column after column."""
    return _stack([column[rows] for column in ranks.T], len(rows))


def _stack(columns: Sequence[Ranks], n_rows: int) -> Ranks:
    """Return columns as a matrix that is stored column after column."""
    largest = max((int(column.max()) for column in columns), default=0)
    dtype = np.uint16 if largest < 2**16 else np.uint32
    matrix: Ranks = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
    for k, column in enumerate(columns):
        matrix[:, k] = column
    return matrix


def _checksum(column: Ranks) -> int:
    return zlib.crc32(column.tobytes())


def _find_copy(
    column: Ranks, size: int, dense: Sequence[Ranks], known: dict[int, list[tuple[int, int]]]
) -> tuple[int, bool]:
    """Return an earlier column that is equal or reversed, or -1, and whether it is reversed.

    Parameters
    ----------
    column, size
        Dense ranks, and how many of them there are.
    dense
        The earlier columns.
    known
        By the number of ranks, the checksums and places of the earlier columns.
    """
    for flipped in (False, True) if size in known else ():
        values = (size - 1 - column).astype(column.dtype) if flipped else column
        checksum = _checksum(values)
        for other, k in known[size]:
            if other == checksum and np.array_equal(dense[k], values):
                return k, flipped
    return -1, False


class RankNames(Sequence[str]):
    """The names "x3 > 7" of the thresholds of columns of ranks, made when they are asked for.

    Parameters
    ----------
    sizes
        How many ranks there are in each column.
    """

    def __init__(self, sizes: NDArray[np.intp]) -> None:
        self._end = np.cumsum(sizes - 1)

    def __len__(self) -> int:
        return int(self._end[-1]) if len(self._end) else 0

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        number = range(len(self))[place]
        j = int(np.searchsorted(self._end, number, side="right"))
        return f"x{j} > {number - (int(self._end[j - 1]) if j else 0)}"
