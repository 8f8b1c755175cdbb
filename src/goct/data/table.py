"""One form for tables of any make: columns of plain numpy values, each of a known kind.

======== ============================================ =====================
kind     values                                       missing
======== ============================================ =====================
number   floats, all finite                           NaN
boolean  the floats 0 and 1                           NaN
date     datetime64 in microseconds, without a zone   NaT
category text                                         None
empty    none at all                                  NaN
======== ============================================ =====================

The text of a category that is a number or a truth value is that of :func:`level`,
so that 1 and 1.0 are the same category. Numbers that no float is equal to, and moments
between microseconds, are rounded up; see :mod:`goct.data.rounding`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import column_name, plain
from goct.data.rounding import MOMENT, floats_above, moments_above

KINDS = ("number", "boolean", "date", "category")  # what the values of a column can be

WORDS = {
    "number": "numbers",
    "boolean": "truth values",
    "category": "text",
    "date": "dates",
    "empty": "nothing",
}


@dataclass(frozen=True, eq=False)
class Column:
    """A column: what its values are, and the values.

    Attributes
    ----------
    kind, values
        See the table above.
    typed
        What the text of a category stands for, where that is a number or a truth value.
    order
        All categories in order, if they have one.
    exact
        The values before they were rounded, if some were.
    """

    kind: str
    values: NDArray[Any]
    typed: Mapping[str, Any] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    exact: NDArray[Any] | None = None

    @classmethod
    def of_numbers(cls, exact: NDArray[Any], missing: Any = None) -> Column:
        """Return numbers of any type as floats; `missing` are the places that hold no value."""
        floats, is_equal = floats_above(exact)
        if missing is not None:
            floats[missing] = np.nan
        return cls("number", floats, exact=None if is_equal else exact)

    @classmethod
    def of_moments(cls, exact: NDArray[Any]) -> Column:
        """Return dates of any unit."""
        moments, is_equal = moments_above(exact)
        return cls("date", moments, exact=None if is_equal else exact)

    @classmethod
    def of_nothing(cls, kind: str, n_rows: int) -> Column:
        """Return a column in which every value is missing."""
        if kind == "category":
            return cls(kind, np.full(n_rows, None, dtype=object))
        if kind == "date":
            return cls(kind, np.full(n_rows, "NaT", dtype=MOMENT))
        return cls(kind, np.full(n_rows, np.nan))

    @classmethod
    def of_categories(
        cls, values: Iterable[Any], order: Iterable[Any] = (), where: str = "a column"
    ) -> Column:
        """Return categories that may be texts, numbers or truth values, and have an order."""
        values = list(values)
        levels = [None if is_missing(value) else level(value) for value in values]
        texts = [None if known is None else str(known) for known in levels]
        typed = {str(known): known for known in levels if not isinstance(known, str | None)}
        first: dict[str | None, Any] = {}
        for text, value in zip(texts, values, strict=True):
            if text is not None and first.setdefault(text, value) != value:
                raise ValueError(
                    f"{where} of X has the categories {plain(first[text])!r} and "
                    f"{plain(value)!r}, which are both written {text}; rename one of them"
                )
        return cls("category", objects(texts), typed, tuple(str(level(value)) for value in order))

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.kind == "category":
            return np.asarray(self.values == np.array(None))
        return np.asarray(np.isnat(self.values) if self.kind == "date" else np.isnan(self.values))

    def take(self, rows: Any) -> Column:
        """Return the column with some of its rows."""
        exact = None if self.exact is None else self.exact[rows]
        return replace(self, values=self.values[rows], exact=exact)

    def merged(self) -> tuple[Any, Any] | None:
        """Return two values that differ, but were rounded to the same; None if there are none."""
        if self.exact is None:
            return None
        present = np.flatnonzero(~self.missing)
        order = present[np.argsort(self.values[present])]
        same = np.flatnonzero(self.values[order[1:]] == self.values[order[:-1]])
        first, second = self.exact[order[same]], self.exact[order[same + 1]]
        found = np.flatnonzero(first != second)
        return (first[found[0]], second[found[0]]) if len(found) else None

    def factorised(self) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
        """Return the distinct values, and for each value its place among them."""
        place: dict[Any, int] = {}
        codes = [place.setdefault(value, len(place)) for value in self.values]
        return objects(list(place)), np.array(codes, dtype=np.intp)

    def as_kind(self, kind: str, where: str, levels: Collection[str] = ()) -> Column:
        """Return the column as one of another kind, if its values allow it.

        `where` names it in errors; `levels` are the known categories, see :meth:`Table.column`.
        """
        values, n_rows = self.values, len(self.values)
        if kind == "empty":
            return Column.of_nothing(kind, n_rows)
        if self.kind == kind:
            return self
        if self.kind == "boolean" and kind == "number":
            return Column(kind, values)
        if kind == "category" and any(_stands_for(self.kind, known) for known in levels):
            make: Callable[[Any], Any] = bool if self.kind == "boolean" else plain
            known = values if self.exact is None else self.exact
            missing = self.missing
            return Column.of_categories(
                None if missing[row] else make(known[row]) for row in range(n_rows)
            )
        if self.kind == "number" and kind == "boolean":
            wrong = ~np.isnan(values) & (values != 0) & (values != 1)
            if not wrong.any():
                return Column(kind, values)
            row = int(np.argmax(wrong))
            raise ValueError(
                f"X has the value {values[row]:g} at row {row}, {where}; it must be 0 or 1"
            )
        missing = self.missing
        if missing.all():
            return Column.of_nothing(kind, n_rows)
        row = int(np.argmin(missing))
        raise TypeError(
            f"{where} of X must hold {WORDS[kind]}, got {WORDS[self.kind]} "
            f"({plain(values[row])!r} at row {row}); convert the column"
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, each read when it is asked for.

    Attributes
    ----------
    n_rows, n_columns
        The number of rows and of columns.
    names
        The names of the columns; None if they have none.
    path
        The name of the file that the table was read from, if any.
    notes
        What a reader should know, such as a column of numbers that was taken for
        categories because of one word in it.
    """

    n_rows: int
    n_columns: int
    names: Sequence[str] | None
    _read: Callable[[int], Column] = field(repr=False)
    path: str | None = None
    notes: tuple[str, ...] = ()
    _line_of: Callable[[int], int] | None = field(default=None, repr=False)

    @property
    def column_names(self) -> Sequence[str]:
        """The names of the columns: x0, x1, ... if they have none."""
        return self.names or [f"x{j}" for j in range(self.n_columns)]

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The values by column name."""
        return {name: self._read(j).values for j, name in enumerate(self.column_names)}

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds, by its name."""
        return {name: self._read(j).kind for j, name in enumerate(self.column_names)}

    def column(
        self,
        j: int,
        kind: str | None = None,
        levels: Collection[str] = (),
        *,
        is_finite: bool = True,
    ) -> Column:
        """Return a column, by its place.

        Parameters
        ----------
        j
            The place of the column.
        kind
            What the values must be; by default what they look like.
        levels
            The known categories. Numbers are taken for categories if one of these is a
            number, and truth values if one is a truth value.
        is_finite
            Whether infinite numbers are refused.

        Raises
        ------
        TypeError, ValueError
            If the column holds something else, or values that cannot be used;
            the message names the column and the row.
        """
        column = self._read(j)
        where = column_name(j, self.names)
        if is_finite and column.kind == "number" and (infinite := np.isinf(column.values)).any():
            row = int(np.argmax(infinite))
            raise ValueError(
                f"X has the value {column.values[row]} at row {row}, {where}; replace it by a "
                "number, or by NaN if it stands for a missing value"
            )
        if kind is not None:
            return column.as_kind(kind, where, levels)
        return Column.of_nothing("empty", self.n_rows) if column.missing.all() else column

    def map(self, change: Callable[[Column], Column]) -> Table:
        """Return the table with every column changed when it is read."""
        return replace(self, _read=lambda j: change(self._read(j)))

    def take(self, rows: NDArray[Any]) -> Table:
        """Return the table with some of its rows, given by their places or by truth values."""
        chosen = np.arange(self.n_rows)[rows]
        line_of = self._line_of
        return replace(
            self.map(lambda column: column.take(chosen)),
            n_rows=len(chosen),
            _line_of=None if line_of is None else lambda row: line_of(int(chosen[row])),
        )

    def without(self, names: Collection[str]) -> Table:
        """Return the table without some of its columns."""
        places = [j for j, name in enumerate(self.column_names) if name not in names]
        left = [self.column_names[j] for j in places]
        return replace(
            self, n_columns=len(places), names=left, _read=lambda j: self._read(places[j])
        )

    def line_of(self, row: int) -> int:
        """Return the line of the file on which a row starts; the first row is 0."""
        if self._line_of is None:
            raise ValueError("the table was not read from a file")
        return self._line_of(row)


def as_table(X: Any) -> Table:
    """Return a table as it is, and anything else as :func:`goct.data.read_table` reads it."""
    if isinstance(X, Table):
        return X
    from goct.data.frame import read_table  # loads narwhals, which takes a moment

    return read_table(X)


def level(value: Any) -> str | int | float | bool:
    """Return a category as plain text, number or truth value, equal numbers as the same.

    Its text is ``str`` of that: "1" for 1, 1.0 and Decimal("1.00").
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if kind_of(value) != "number" or value in (np.inf, -np.inf):
        return str(value)
    return int(value) if value == int(value) else float(value)


def kind_of(value: Any) -> str | None:
    """Return the kind of column that a Python value belongs to, if any."""
    if isinstance(value, str):
        return "category"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | np.integer | np.floating | Decimal | Fraction):
        return "number"
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    return None


def is_missing(value: Any) -> bool:
    """Say whether a Python value stands for a missing one."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """Return Python objects as an array of them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _stands_for(kind: str, text: str) -> bool:
    """Say whether the text of a category is that of a number or a truth value."""
    if kind == "boolean":
        return text in ("True", "False")
    try:
        return kind == "number" and str(level(float(text))) == text
    except (ValueError, OverflowError):
        return False
