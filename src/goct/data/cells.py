"""The cells of a CSV file as the values of columns, piece by piece."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.data.dialect import Dialect
from goct.data.rounding import MOMENT
from goct.data.table import KINDS, Column, objects

_TRUTHS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
# What a reader may take for a number or a date, whether it is written as one or not.
_LIKE_NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
)
_LIKE_DATE = re.compile(r"(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4})(?:[T ].*)?")
_INFINITE = "infinite"
_WORDS = {
    "number": "a number",
    "boolean": "true or false",
    "date": "a date such as 2024-03-01 or 2024-03-01 12:30",
    "category": "a category",
}


class CellError(ValueError):
    """A cell is not what its column holds."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


class _Memory(dict[str, Any]):
    """The values of the cells so far: most columns repeat themselves, and looking up is fast."""

    def __init__(
        self,
        read: Callable[[str], Any],
        missing_words: Collection[str],
        verbatim: Collection[str] | None = None,
    ) -> None:
        self.read = read
        self.missing_words = missing_words
        self.verbatim = verbatim

    def __missing__(self, cell: str) -> Any:
        text = cell.strip()
        is_missing = text in self.missing_words
        if self.verbatim is not None:
            text = cell
            is_missing = is_missing and cell not in self.verbatim
        value = self[cell] = self.read("" if is_missing else text)
        return value


def _truth(text: str) -> float:
    if text == "":
        return np.nan
    if text.lower() not in _TRUTHS:
        raise ValueError
    return _TRUTHS[text.lower()]


def _date(text: str, date_format: str | None = None) -> np.datetime64:
    if text and not _DATE.fullmatch(text):
        if date_format is None:
            raise ValueError
        return np.datetime64(datetime.datetime.strptime(text, date_format), "us")
    return np.datetime64(text or "NaT", "us")


def _level(text: str) -> str | None:
    return text or None


class ColumnReader:
    """Turns the cells of one column into values, piece by piece.

    If a later cell does not fit the kind that earlier ones have, it `is_stale`: the column must be
    read again, as categories. `strange` is the row, the text and the wanted kind of the first cell
    that keeps it from being one of numbers, truth values or dates, if most are.
    """

    def __init__(
        self, name: str, kind: str | None, dialect: Dialect, verbatim: Collection[str] | None = None
    ) -> None:
        self.name = name
        self.kind = kind
        self.is_forced = kind is not None
        self.dialect = dialect
        self.is_stale = False
        self.strange: tuple[int, str, str] | None = None
        self.pieces: list[NDArray[Any]] = []
        self.missing_rows = 0  # at the start, as long as the kind is not known
        self.missing_words = words = dialect.missing_words
        self.truths = _Memory(_truth, words)
        self.dates = _Memory(partial(_date, date_format=dialect.date_format), words)
        self.levels = _Memory(_level, words, verbatim)

    def add(self, cells: Sequence[str], start: int) -> None:
        """Read some cells; `start` is the row of the first."""
        if self.is_stale:
            return
        if self.kind is None:
            texts = enumerate(map(str.strip, cells))
            known = [(i, text) for i, text in texts if text not in self.missing_words]
            if not known:
                self.missing_rows += len(cells)
                return
            self.kind = self._kind_of(known, start)
        try:
            piece = self._convert(self.kind, cells)
            self.pieces.append(_with_integers(piece, cells) if self.kind == "number" else piece)
        except ValueError:
            row, cell = self._first_misfit(self.kind, cells)
            if self.is_forced or (self.kind == "number" and self._is_infinite(cell)):
                raise CellError(start + row, self._complaint(self.kind, cell)) from None
            self.is_stale = True
            self.strange = start + row, cell, self.kind

    def column(self, n_rows: int) -> Column:
        """Return all cells as a column."""
        kind = self.kind or "category"
        lead = self._convert(kind, [""] * (n_rows if self.kind is None else self.missing_rows))
        values = np.concatenate([lead, *self.pieces])
        if kind == "number":
            return Column.of_numbers(values, np.flatnonzero(values != values))
        return Column(kind, values)

    def note(self, line: int) -> str:
        """Say why the column does not hold what it seems to; `line` is that of `strange`."""
        assert self.strange is not None
        _, cell, kind = self.strange
        hint = ""
        if kind == "number" and "," in cell and _LIKE_NUMBER.fullmatch(cell):
            hint = "; write it without the comma"
            if self.dialect.delimiter != ",":
                hint += ", or name the comma as the decimal point if it is one"
        return (
            f"column {self.name!r} is read as categories, because line {line} says {cell!r}, "
            f"which is not {self._words(kind)}{hint}"
        )

    def _kind_of(self, known: Sequence[tuple[int, str]], start: int) -> str:
        kind = self._strict_kind_of([text for _, text in known])
        if kind != "category":
            return kind
        for wanted, pattern in (("number", _LIKE_NUMBER), ("date", _LIKE_DATE)):
            if 2 * sum(pattern.fullmatch(text) is not None for _, text in known) > len(known):
                place, cell = self._first_misfit(wanted, [text for _, text in known])
                self.strange = start + known[place][0], cell, wanted
                break
        return kind

    def _strict_kind_of(self, known: Sequence[str]) -> str:
        kinds = ("number", "boolean", "date")
        for kind in kinds if self.dialect.date_format is None else ("date", *kinds):
            try:
                self._convert(kind, known)
            except ValueError as error:
                if kind == "number" and str(error) == _INFINITE:
                    return kind
                continue
            return kind
        return "category"

    def _convert(self, kind: str, cells: Sequence[str]) -> NDArray[Any]:
        match kind:
            case "number":
                return self._numbers(cells)
            case "boolean":
                return np.array(list(map(self.truths.__getitem__, cells)), dtype=np.float64)
            case "date":
                return np.array(list(map(self.dates.__getitem__, cells)), dtype=MOMENT)
        return objects(list(map(self.levels.__getitem__, cells)))

    def _numbers(self, cells: Sequence[str]) -> NDArray[np.float64]:
        text = "\0".join(cells)
        if "_" in text:  # Python would read 1_000 as a number
            raise ValueError
        if self.dialect.decimal == ",":
            if "." in text:
                raise ValueError
            cells = text.replace(",", ".").split("\0") if cells else cells
        try:
            numbers = np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            words = self.missing_words
            numbers = np.array(
                [np.nan if c in words or c.strip() in words else float(c) for c in cells],
                dtype=np.float64,
            )
        if np.isinf(numbers).any():
            raise ValueError(_INFINITE)
        missing = np.flatnonzero(np.isnan(numbers)).tolist()
        if any(cells[i].strip() not in self.missing_words for i in missing):
            raise ValueError  # Python would read NAN and -nan as numbers, too
        return numbers

    def _first_misfit(self, kind: str, cells: Sequence[str]) -> tuple[int, str]:
        for row, cell in enumerate(cells):
            try:
                self._convert(kind, [cell])
            except ValueError:
                return row, cell.strip()
        raise AssertionError("all cells fit")

    def _is_infinite(self, cell: str) -> bool:
        try:
            self._numbers([cell])
        except ValueError as error:
            return str(error) == _INFINITE
        return False

    def _complaint(self, kind: str, cell: str) -> str:
        if kind == "number" and self._is_infinite(cell):
            return f"{cell} is infinite or too large; numbers must be finite"
        return f"{cell!r} is not {self._words(kind)}"

    def _words(self, kind: str) -> str:
        comma = kind == "number" and self.dialect.decimal == ","
        date = kind == "date" and self.dialect.date_format is not None
        if date:
            return f"a date like {self.dialect.date_format}"
        return _WORDS[kind] + (" with a decimal comma" if comma else "")


def _with_integers(numbers: NDArray[np.float64], cells: Sequence[str]) -> NDArray[Any]:
    """Put whole numbers that floats may not hold in their places."""
    large = np.flatnonzero(np.abs(numbers) >= 2**53).tolist()
    texts = {row: cells[row].strip() for row in large}
    whole = {row: int(text) for row, text in texts.items() if text.lstrip("+-").isdecimal()}
    if not whole:
        return numbers
    exact = numbers.astype(object)
    exact[list(whole)] = list(whole.values())
    return exact


def read_cells(
    column: Column, name: str, kind: str | None, missing_words: Collection[str]
) -> Column:
    """Return a column whose text is read as the cells of a CSV file are, as some kind.

    One that does not hold text stays as it is.
    """
    if column.kind != "category" or column.typed:
        return column
    made = kind if kind in KINDS else "category"
    reader = ColumnReader(name, made, Dialect(missing_words=missing_words))
    try:
        reader.add(["" if cell is None else cell for cell in column.values], 0)
    except CellError as error:
        raise ValueError(f"the table has, at row {error.row}, column {name!r}: {error}") from None
    return reader.column(len(column.values))
