"""Lists of conditions in which all thresholds of a column are one array."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from goct._deadline import check_deadline
from goct.binarize.conditions import Above, After, AtLeast, Condition, Missing, evaluate
from goct.binarize.thresholds import write_moment
from goct.data.table import Column

Reader: TypeAlias = Callable[[str, Collection[str]], Column]
"""Returns a column of a table, given its name and the levels that are asked for."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """The thresholds of a column of numbers or dates: conditions ``x > t``, made on demand."""

    column: str
    thresholds: NDArray[Any]  # increasing floats, or moments of the type datetime64[us]

    def __len__(self) -> int:
        return len(self.thresholds)

    def __getitem__(self, place: int) -> Condition:
        threshold = self.thresholds[place]
        if self.thresholds.dtype.kind == "M":
            return After(self.column, write_moment(threshold))
        return Above(self.column, float(threshold))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Cuts)
            and self.column == other.column
            and self.thresholds.dtype == other.thresholds.dtype
            and np.array_equal(self.thresholds, other.thresholds)
        )

    def __hash__(self) -> int:
        return hash((self.column, len(self)))

    def find(self, name: str) -> int | None:
        """Return the place of the condition of a name, if there is one."""
        lead = f"{self.column} > "
        if not name.startswith(lead):
            return None
        try:
            threshold = np.array(name[len(lead) :]).astype(self.thresholds.dtype)
        except ValueError:
            return None
        place = int(np.searchsorted(self.thresholds, threshold))
        return place if place < len(self) and self[place].name == name else None

    def ranks(self, read: Reader) -> NDArray[np.intp]:
        """Return how many of the thresholds each value exceeds; none if it is missing."""
        values = read(self.column, ()).values
        order = np.argsort(values)
        ranks = np.empty(len(values), dtype=np.intp)
        # Values in order are found many times faster than others.
        ranks[order] = np.searchsorted(self.thresholds, values[order])
        ranks[np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)] = 0
        return ranks


@dataclass(frozen=True)
class LevelCuts:
    """The thresholds of an ordered categorical column: conditions ``size ≥ mid``."""

    column: str
    levels: tuple[str, ...]  # in order

    def __len__(self) -> int:
        return len(self.levels) - 1

    def __getitem__(self, place: int) -> Condition:
        return AtLeast(self.column, self.levels[place + 1 :])

    def find(self, name: str) -> int | None:
        """Return the place of the condition of a name, if there is one."""
        return next((i for i in range(len(self)) if self[i].name == name), None)

    def ranks(self, read: Reader) -> NDArray[np.intp]:
        """Return how many levels are below each value; none if it is missing or unknown."""
        values, codes = read(self.column, self.levels).factorised()
        place = {level: rank for rank, level in enumerate(self.levels)}
        return np.array([place.get(value, 0) for value in values], dtype=np.intp)[codes]


Block: TypeAlias = Condition | Cuts | LevelCuts


class ConditionList(Sequence[Condition]):
    """The conditions of a table, those on thresholds being made when they are asked for.

    Each block is a column of ranks: that of a single condition has the ranks 0 and 1.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many ranks each block has."""
        lengths = [1 if isinstance(b, Condition) else len(b) for b in self.blocks]
        return np.array(lengths, dtype=np.intp) + 1

    @cached_property
    def _end(self) -> NDArray[np.intp]:
        return np.cumsum(self.sizes - 1)

    @cached_property
    def names(self) -> ConditionNames:
        """The conditions in words."""
        return ConditionNames(self)

    @property
    def missing_columns(self) -> set[str]:
        """The columns with a condition that asks whether a value is missing."""
        return {block.column for block in self.blocks if isinstance(block, Missing)}

    def __len__(self) -> int:
        return int(self._end[-1]) if self.blocks else 0

    @overload
    def __getitem__(self, place: int) -> Condition: ...

    @overload
    def __getitem__(self, place: slice) -> list[Condition]: ...

    def __getitem__(self, place: int | slice) -> Condition | list[Condition]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        k = int(np.searchsorted(self._end, number, side="right"))
        block = self.blocks[k]
        if isinstance(block, Condition):
            return block
        return block[number - int(self._end[k] - len(block))]

    def __iter__(self) -> Iterator[Condition]:
        for block in self.blocks:
            if isinstance(block, Condition):
                yield block
            else:
                yield from (block[i] for i in range(len(block)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConditionList) and self.blocks == other.blocks

    def __hash__(self) -> int:
        return hash(self.blocks)

    def find(self, name: str) -> int | None:
        """Return the place of the condition of a name, if there is one."""
        for block, end, size in zip(self.blocks, self._end, self.sizes, strict=True):
            if isinstance(block, Condition):
                place = 0 if block.name == name else None
            else:
                place = block.find(name)
            if place is not None:
                return int(end) - int(size) + 1 + place
        return None

    def ranks(self, n_rows: int, read: Reader) -> NDArray[np.unsignedinteger[Any]]:
        """Return the ranks of the rows of a table, a column per block, column after column."""
        dtype = np.uint16 if self.sizes.max(initial=0) <= 2**16 else np.uint32
        ranks: NDArray[np.unsignedinteger[Any]] = np.empty(
            (n_rows, len(self.blocks)), dtype=dtype, order="F"
        )
        single = [k for k, block in enumerate(self.blocks) if isinstance(block, Condition)]
        asked = [block for block in self.blocks if isinstance(block, Condition)]
        ranks[:, single] = evaluate(asked, n_rows, read)
        for k, block in enumerate(self.blocks):
            check_deadline("columns were ranked")
            if not isinstance(block, Condition):
                ranks[:, k] = block.ranks(read)
        return ranks


class ConditionNames(Sequence[str]):
    """The names of conditions, made when they are asked for."""

    def __init__(self, conditions: ConditionList) -> None:
        self.conditions = conditions

    def __len__(self) -> int:
        return len(self.conditions)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(condition.name for condition in self.conditions[place])
        return self.conditions[place].name

    def __iter__(self) -> Iterator[str]:
        return (condition.name for condition in self.conditions)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.conditions.find(name) is not None

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the place of a name; a `ValueError` if it is not there."""
        place = self.conditions.find(value) if isinstance(value, str) else None
        if place is None or place not in range(len(self))[start:stop]:
            raise ValueError(f"{value!r} is not a condition")
        return place

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConditionNames) and self.conditions == other.conditions

    def __hash__(self) -> int:
        return hash(self.conditions)
