"""Readable conditions on one column: what a 0/1 feature stands for.

A value that is missing meets no condition but :class:`Missing`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from goct._deadline import check_deadline
from goct.data.table import Column

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,9})?)?)?)?", re.ASCII)
_CELLS_AT_ONCE = 1 << 18
_SHOWN_LEVELS = 8  # in the name of a condition on many of them


@dataclass(frozen=True)
class Condition(ABC):
    """A condition on the values of a column.

    Attributes
    ----------
    column
        The name of the column.
    """

    kind: ClassVar[str]
    column_kind: ClassVar[str | None] = None  # what the column must hold; anything if None
    column: str

    @property
    @abstractmethod
    def name(self) -> str:
        """The condition in words, such as ``age > 50``."""

    @abstractmethod
    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say of each value of the column whether it meets the condition."""

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain data, for JSON."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Above(Condition):
    """A number is larger than a threshold: ``age > 50``. Values are floats, NaN is missing."""

    kind = "above"
    column_kind = "number"
    threshold: float

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"{self.column} > {plain_number(self.threshold)}"

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which values are larger."""
        return np.asarray(values > self.threshold)


@dataclass(frozen=True)
class After(Condition):
    """A date or time is later than a moment: ``joined > 2024-03-01``.

    Values are of the type datetime64, NaT is missing. The moment is text in
    ISO 8601 without a time zone.
    """

    kind = "after"
    column_kind = "date"
    moment: str

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"{self.column} > {self.moment}"

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which moments are later."""
        return np.asarray(values > np.datetime64(self.moment))


@dataclass(frozen=True)
class OneOf(Condition):
    """A category is one of some levels: ``job = retired`` or ``job in {cook, nurse}``.

    Values are text, None is missing.
    """

    kind = "one_of"
    column_kind = "category"
    levels: tuple[str, ...]

    @property
    def name(self) -> str:
        """The condition in words."""
        if len(self.levels) == 1:
            return f"{self.column} = {self.levels[0]}"
        shown = self.levels if len(self.levels) <= _SHOWN_LEVELS else self.levels[:_SHOWN_LEVELS]
        others = len(self.levels) - len(shown)
        rest = f" and {others} others" if others else ""
        return f"{self.column} in {{{', '.join(shown)}{rest}}}"

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which values are among the levels."""
        levels = set(self.levels)
        return np.fromiter((value in levels for value in values), dtype=bool, count=len(values))


@dataclass(frozen=True)
class AtLeast(OneOf):
    """An ordered category is at least some level: ``size ≥ mid``.

    `levels` are that level and all above it, in order.
    """

    kind = "at_least"

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"{self.column} ≥ {self.levels[0]}"


@dataclass(frozen=True)
class IsTrue(Condition):
    """A truth value is true: the condition is called as the column. Values are floats 0 and 1."""

    kind = "is_true"
    column_kind = "boolean"

    @property
    def name(self) -> str:
        """The condition in words."""
        return self.column

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which values are true."""
        return np.asarray(values == 1)


@dataclass(frozen=True)
class Missing(Condition):
    """A value is missing: ``income is missing``."""

    kind = "missing"

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"{self.column} is missing"

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which values are missing."""
        if values.dtype.kind == "O":
            return np.fromiter((value is None for value in values), dtype=bool, count=len(values))
        return np.asarray(np.isnat(values) if values.dtype.kind == "M" else np.isnan(values))


KINDS: dict[str, type[Condition]] = {
    kind.kind: kind for kind in (Above, After, OneOf, AtLeast, IsTrue, Missing)
}


def evaluate(
    conditions: Sequence[Condition], n_rows: int, read: Callable[[str, Collection[str]], Column]
) -> NDArray[np.uint8]:
    """Return which row of a table meets which condition, as a 0/1 matrix.

    `read` returns a column of the table, given its name and the levels that are asked for.
    """
    matrix = np.zeros((n_rows, len(conditions)), dtype=np.uint8)
    by_column: dict[str, list[int]] = {}
    for i, condition in enumerate(conditions):
        by_column.setdefault(condition.column, []).append(i)
    for name, places in by_column.items():
        asked = [conditions[i] for i in places]
        column = read(name, {text for c in asked if isinstance(c, OneOf) for text in c.levels})
        values, codes = column.values, None
        if column.kind == "category":  # few distinct ones, slow to compare
            values, codes = column.factorised()
        if codes is None and places == list(range(places[0], places[0] + len(places))):
            asked = _compare(values, asked, matrix[:, places[0] :])
        for i, condition in zip(places[len(places) - len(asked) :], asked, strict=True):
            check_deadline("conditions were evaluated")
            holds = condition.holds(values)
            matrix[:, i] = holds if codes is None else holds[codes]
    return matrix


def _compare(
    values: NDArray[Any], asked: list[Condition], matrix: NDArray[np.uint8]
) -> list[Condition]:
    """Evaluate the first conditions, as far as they are on numbers, and return the others.

    That is done for many rows and conditions at a time, in blocks that stay near.
    """
    first = takewhile(lambda condition: isinstance(condition, Above), asked)
    cuts = np.array([condition.threshold for condition in first if isinstance(condition, Above)])
    if not len(cuts):
        return asked
    holds = matrix.view(bool)[:, : len(cuts)]
    step = max(1, _CELLS_AT_ONCE // len(cuts))
    for start in range(0, len(values), step):
        check_deadline("conditions were evaluated")
        np.greater(values[start : start + step, None], cuts, out=holds[start : start + step])
    return asked[len(cuts) :]


def condition_from_dict(data: Mapping[str, Any]) -> Condition:
    """Return a condition from plain data, as made by :meth:`Condition.to_dict`; checks it."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"a condition must have one of the kinds {', '.join(KINDS)}; got {data!r}")
    made = KINDS[kind]
    wanted = [field.name for field in fields(made)]
    if set(data) != {"kind", *wanted} or not isinstance(data["column"], str):
        raise ValueError(f"a condition {kind!r} must have {', '.join(wanted)}; got {data!r}")
    column = data["column"]
    if made is Above:
        return Above(column, _check_threshold(data["threshold"]))
    if made is After:
        return After(column, _check_moment(data["moment"]))
    if issubclass(made, OneOf):
        return made(column, _check_levels(data["levels"]))
    return made(column)


def _check_threshold(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"the threshold of a condition must be a finite number; got {value!r}")
    return float(value)


def _check_moment(value: Any) -> str:
    try:
        if not isinstance(value, str) or not _MOMENT.fullmatch(value):
            raise ValueError
        np.datetime64(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a date or time in ISO 8601") from None
    return value


def _check_levels(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"the levels of a condition must be a list of texts; got {value!r}")
    if not all(isinstance(level, str) for level in value) or len(set(value)) < len(value):
        raise ValueError(f"the levels of a condition must be different texts; got {value!r}")
    return tuple(value)


def plain_number(number: float) -> str:
    """Write a number in as few digits as identify it, and integers without a point."""
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)
