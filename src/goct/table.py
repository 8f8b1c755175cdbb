"""Reading tables from CSV files: the standard library's parser, columns as numpy arrays.

The parser of the standard library reads a million rows in seconds, needs no
data frame library, and knows the line of everything it reads, so that errors
can name it.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gc
import io
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from goct.binarize import table as binarize

KINDS = ("number", "boolean", "date", "category")
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"})
DELIMITERS = ",;\t|"
MAX_COLUMNS = 100_000

_TRUTHS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?")
_SURELY_DECIMAL = re.compile(r"[+-]?(?:0+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
# What a reader may take for a number or a date, whether it is written as one or not.
_LIKE_NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?|\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?"
)
_LIKE_DATE = re.compile(r"(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4})(?:[T ].*)?")
# Codecs of Python that are not made for files.
_NO_FILE_ENCODINGS = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
_SAMPLE_BYTES = 1 << 16
_CELLS_PER_CHUNK = 1 << 15  # few enough to stay in the processor's cache


class TableError(ValueError):
    """A table cannot be read; the message says what is wrong where."""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter
        What separates the columns.
    decimal
        The decimal point: "." or ",".
    encoding
        The text encoding.
    note
        What a reader should know of how this was found out, if anything.
    missing_words
        What stands for a missing value, without blanks around it.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8-sig"
    note: str | None = None
    missing_words: Collection[str] = MISSING


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    Attributes
    ----------
    columns
        The values by column name: floats for numbers and truth values (NaN is
        missing), datetime64 for dates (NaT is missing), texts for categories
        (None is missing).
    kinds
        What each column holds: "number", "boolean", "date" or "category".
    n_rows
        The number of rows.
    path, dialect
        The file that the table was read from, if any, and how it is written.
    notes
        What a reader should know, such as a column of numbers that was taken for
        categories because of one word in it.
    """

    columns: Mapping[str, NDArray[Any]]
    kinds: Mapping[str, str]
    n_rows: int
    path: Path | None = None
    dialect: Dialect | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    def take(self, rows: NDArray[Any]) -> Table:
        """Return the table with some of its rows."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        n_rows = int(rows.sum()) if rows.dtype == bool else len(rows)
        return Table(columns, self.kinds, n_rows, self.path, self.dialect, self.notes)

    def line_of(self, row: int) -> int:
        """Return the line of the file on which a row starts; the first row is 0."""
        if self.path is None or self.dialect is None:
            raise ValueError("the table was not read from a file")
        return _line_of(self.path, self.dialect, row)

    def columns_only(self) -> binarize.Table:
        """Return the table as a :class:`goct.binarize.Binarizer` takes it."""
        names = list(self.columns)
        columns = [binarize.Column(self.kinds[name], self.columns[name]) for name in names]
        return binarize.Table(self.n_rows, len(names), names, columns.__getitem__)

    def without(self, names: Collection[str]) -> Table:
        """Return the table without some of its columns."""
        columns = {name: values for name, values in self.columns.items() if name not in names}
        kinds = {name: kind for name, kind in self.kinds.items() if name not in names}
        return Table(columns, kinds, self.n_rows, self.path, self.dialect, self.notes)


def read_csv(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    only: Collection[str] | None = None,
    verbatim: Mapping[str, Collection[str]] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    dialect: Dialect | None = None,
) -> Table:
    """Read a CSV file with a line of column names.

    Blanks around a cell do not count. Empty cells and NA, N/A, NaN, nan, NULL,
    null and ? are missing values.

    Parameters
    ----------
    path
        The file.
    kinds
        What columns hold, for those where the content shall not decide. A cell
        that does not fit is an error.
    ignore
        Columns to leave out.
    only
        Columns to read; all if None.
    verbatim
        Columns of categories that are taken as they are written, blanks and all,
        with their known categories, which are never missing values.
    delimiter, decimal, encoding
        How the file is written. By default the delimiter is the comma,
        semicolon, tab or bar that fits the first lines, the decimal comma is
        recognised where it is clear, and the encoding is UTF-8 (or UTF-16 with a
        mark).
    dialect
        All three at once, as :func:`find_dialect` returns them.

    Raises
    ------
    TableError
        If the file cannot be read as a table; the message says where.
    """
    source = Path(path)
    dialect = dialect or find_dialect(source, delimiter, decimal, encoding)
    names, notes = read_header(source, dialect)
    for name in [*(kinds or {}), *ignore, *(only or ())]:
        if name not in names:
            raise TableError(f"{source}: there is no column {name!r}{suggest(name, names)}")
    wanted = {
        name: j
        for j, name in enumerate(names)
        if name is not None and name not in ignore and (only is None or name in only)
    }
    forced = dict(kinds or {})
    verbatim = verbatim or {}
    readers, n_rows = _read_columns(source, dialect, len(names), wanted, forced, verbatim)
    notes += [dialect.note] if dialect.note else []
    for reader in readers.values():
        if reader.strange is not None:
            notes.append(reader.note(_line_of(source, dialect, reader.strange[0])))
    changed = {name: "category" for name, reader in readers.items() if reader.is_stale}
    if changed:
        # Some column looked like numbers at first: its first cells are needed as they were.
        again = {name: wanted[name] for name in changed}
        more, _ = _read_columns(source, dialect, len(names), again, {**forced, **changed}, verbatim)
        readers.update(more)
    if n_rows == 0:
        raise TableError(f"{source}: there are no rows below the line of column names")
    columns = {name: readers[name].values(n_rows) for name in wanted}
    found = {name: readers[name].kind or "category" for name in wanted}
    return Table(columns, found, n_rows, source, dialect, tuple(notes))


def with_cells_read(
    table: binarize.Table, name: str, kind: str | None, missing_words: Collection[str]
) -> binarize.Table:
    """Return a table in which the text of a column is read as the cells of a CSV file are.

    Parameters
    ----------
    table
        The table; columns that do not hold text stay as they are.
    name
        The column, for messages.
    kind
        What the column shall hold; text if None.
    missing_words
        What stands for a missing value.
    """

    def read(j: int) -> binarize.Column:
        column = table.column(j)
        if column.kind != "category" or column.typed:
            return column
        made = kind if kind in KINDS else "category"
        reader = _ColumnReader(name, made, Dialect(missing_words=missing_words))
        try:
            reader.add(["" if cell is None else cell for cell in column.values], 0)
        except _CellError as error:
            raise ValueError(
                f"the table has, at row {error.row}, column {name!r}: {error}"
            ) from None
        return binarize.Column(made, reader.values(table.n_rows))

    return binarize.Table(table.n_rows, table.n_columns, table.names, read)


def read_rows(path: str | os.PathLike[str], dialect: Dialect) -> Iterator[list[str]]:
    """Iterate over the lines of a CSV file as lists of cells, the column names first.

    Empty lines are left out.
    """
    source = Path(path)
    with _open(source, dialect.encoding) as file:
        reader = _parser(file, dialect)
        with _naming_the_line(source, reader):
            for row in reader:
                if row:
                    yield row


def find_dialect(
    path: Path,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dialect:
    """Find out how a CSV file is written, from its first lines.

    Raises
    ------
    TableError
        If some columns have decimal commas and others decimal points.
    """
    head = _read_head(path)
    if encoding is None:
        encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    else:
        _check_encoding(encoding)
    if encoding == "utf-8-sig" and b"\0" in head:
        raise TableError(f"{path}: this is not a text file (it holds zero bytes)")
    text = io.TextIOWrapper(io.BytesIO(head), encoding=encoding, errors="replace", newline="")
    try:
        lines = text.read()
    except UnicodeError as error:
        raise TableError(f"{path}: this is not {encoding} text: {error}") from None
    if len(head) == _SAMPLE_BYTES:  # the last line may be cut
        lines = lines[: lines.rfind("\n") + 1] or lines
    if delimiter is None:
        delimiter = _find_delimiter(lines)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(f"the delimiter must be one character, got {delimiter!r}")
    if decimal not in (None, ".", ","):
        raise TableError(f"the decimal point must be '.' or ',', got {decimal!r}")
    note = None
    if decimal is None:
        decimal, note = _find_decimal(path, lines, delimiter)
    if decimal == delimiter:
        raise TableError("the comma cannot be the delimiter and the decimal point at once")
    return Dialect(delimiter, decimal, encoding, note)


def _check_encoding(encoding: str) -> None:
    try:
        "a".encode(encoding)  # complains about codecs that are not for text, too
    except (LookupError, ValueError):
        raise TableError(f"there is no encoding {encoding!r} of text") from None
    if codecs.lookup(encoding).name in _NO_FILE_ENCODINGS:
        raise TableError(f"{encoding!r} is no encoding of text files")


def write_csv(
    file: IO[str], names: Sequence[str], rows: Iterator[Sequence[Any]], delimiter: str = ","
) -> None:
    """Write a table as a CSV file with a line of column names."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


def _read_head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise TableError(f"{path}: this is a folder, not a file")
        with path.open("rb") as file:
            head = file.read(_SAMPLE_BYTES)
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file") from None
    except PermissionError:
        raise TableError(f"{path}: you may not read this file") from None
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from None
    if not head.strip():
        raise TableError(f"{path}: the file is empty")
    for mark, what in ((b"\x1f\x8b", "compressed by gzip"), (b"PK\x03\x04", "a zip or Excel file")):
        if head.startswith(mark):
            raise TableError(f"{path}: this is {what}, not a CSV file")
    return head


def _open(path: Path, encoding: str) -> IO[str]:
    try:
        return path.open(encoding=encoding, newline="")
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from None


def _parser(lines: Any, dialect: Dialect) -> Any:
    return csv.reader(lines, delimiter=dialect.delimiter, strict=True)


@contextlib.contextmanager
def _naming_the_line(path: Path, reader: Any) -> Iterator[None]:
    try:
        yield
    except csv.Error as error:
        text = str(error)
        if "field limit" in text:
            text = (
                f"a cell has more than {csv.field_size_limit():,} characters; perhaps a quote is "
                "not closed"
            )
        elif "unexpected end" in text:
            text = "a quoted cell does not end"
        raise TableError(f"{path}, line {reader.line_num}: {text}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start : error.start + 1].hex()
        line = reader.line_num + error.object.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{path}, line {line}: the byte 0x{byte} is not {error.encoding} text; name the "
            "encoding, for example cp1252 or latin-1"
        ) from None
    except UnicodeError as error:
        raise TableError(f"{path}, line {reader.line_num + 1}: {error}") from None


def _find_delimiter(text: str) -> str:
    """Return the delimiter that splits the first lines into the most columns, all alike."""

    def score(delimiter: str) -> tuple[bool, int]:
        rows = _first_rows(text, delimiter)
        if not rows:
            return False, 0
        width = len(rows[0])
        return width > 1 and all(len(row) == width for row in rows), width

    return max(DELIMITERS, key=score)


def _find_decimal(path: Path, text: str, delimiter: str) -> tuple[str, str | None]:
    """Return the decimal point, and a note if it is the comma.

    It is the comma if some column has decimal commas beyond doubt, and none has
    decimal points.
    """
    if delimiter == ",":
        return ".", None
    lines: list[int] = []
    rows = _first_rows(text, delimiter, 1000, lines)
    comma: str | None = None
    point: str | None = None
    for name, *cells in zip(*rows, strict=False):
        texts = [cell.strip() for cell in cells]
        known = [i for i, cell in enumerate(texts) if cell not in MISSING]
        for pattern, is_sure in (
            (_DECIMAL_COMMA, _SURELY_DECIMAL.fullmatch),
            (_DECIMAL_POINT, lambda cell: "." in cell),
        ):
            sure = next((i for i in known if is_sure(texts[i])), None)
            if sure is None or not all(pattern.fullmatch(texts[i]) for i in known):
                continue
            where = f"{texts[sure]!r} in column {name.strip()!r}, line {lines[sure + 1]}"
            if pattern is _DECIMAL_COMMA:
                comma = comma or where
            else:
                point = point or where
    if comma is not None and point is not None:
        raise TableError(
            f"{path}: there is {comma}, and {point}; name the decimal point, '.' or ','"
        )
    if comma is None:
        return ".", None
    return ",", f"numbers are read with decimal commas, because of {comma}"


def _first_rows(
    text: str, delimiter: str, limit: int = 50, lines: list[int] | None = None
) -> list[list[str]]:
    """Return the first rows that are not empty, and add the lines where they end to `lines`."""
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        for row in reader:
            if row:
                rows.append(row)
                if lines is not None:
                    lines.append(reader.line_num)
            if len(rows) == limit:
                break
    return rows


def read_header(path: Path, dialect: Dialect) -> tuple[list[str | None], list[str]]:
    """Return the column names, None for columns without one, and notes on them."""
    first = next(read_rows(path, dialect), None)
    if first is None:
        raise TableError(f"{path}: the file is empty")
    if len(first) > MAX_COLUMNS:
        raise TableError(f"{path}: there are {len(first)} columns; at most {MAX_COLUMNS} are read")
    names = [name.strip() or None for name in first]
    if all(_is_number(name) for name in names):
        raise TableError(f"{path}, line 1: this looks like data; the first line must name columns")
    seen: dict[str, int] = {}
    notes = []
    for j, name in enumerate(names, start=1):
        if name is None:
            notes.append(f"column {j} has no name and is not used")
        elif name in seen:
            raise TableError(
                f"{path}, line 1: the columns {seen[name]} and {j} are both called {name!r}"
            )
        else:
            seen[name] = j
    return names, notes


def _is_number(cell: str | None) -> bool:
    try:
        return cell is None or float(cell) is not None
    except ValueError:
        return False


def suggest(name: str, names: Collection[str | None]) -> str:
    """Return a hint at the names that are nearest to one that does not exist."""
    from difflib import get_close_matches

    known = {text.lower(): text for text in names if text is not None}
    near = [known[match] for match in get_close_matches(name.lower(), known, n=3, cutoff=0.5)]
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(repr(text) for text in list(known.values())[:12])
    return f"; there are {shown}{', ...' if len(known) > 12 else ''}"


def _read_columns(
    path: Path,
    dialect: Dialect,
    width: int,
    wanted: Mapping[str, int],
    kinds: Mapping[str, str],
    verbatim: Mapping[str, Collection[str]],
) -> tuple[dict[str, _ColumnReader], int]:
    """Read columns in pieces, so that only their values are kept and not the text."""
    readers = {
        name: _ColumnReader(name, kinds.get(name), dialect, verbatim.get(name)) for name in wanted
    }
    step = max(64, _CELLS_PER_CHUNK // width)
    done = -1  # the first row that is not empty holds the names
    with _open(path, dialect.encoding) as file, _without_collector():
        parser = _parser(file, dialect)
        while True:
            with _naming_the_line(path, parser):
                chunk = list(islice(parser, step))
            if not chunk:
                return readers, done
            lengths = set(map(len, chunk))
            if 0 in lengths:
                chunk = [row for row in chunk if row]
                lengths.discard(0)
            if lengths - {width}:
                bad = next(i for i, row in enumerate(chunk) if len(row) != width)
                line = _line_of(path, dialect, done + bad)
                raise TableError(
                    f"{path}, line {line}: there are {len(chunk[bad])} cells, but {width} "
                    "column names"
                )
            if done < 0 and chunk:
                del chunk[0]
                done = 0
            columns = list(zip(*chunk, strict=True))
            for name, j in wanted.items() if columns else ():
                try:
                    readers[name].add(columns[j], done)
                except _CellError as error:
                    line = _line_of(path, dialect, error.row)
                    raise TableError(f"{path}, line {line}, column {name!r}: {error}") from None
            done += len(chunk)


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the garbage collector, which would look at millions of cells again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _line_of(path: Path, dialect: Dialect, row: int) -> int:
    """Return the line on which a row starts, the first row below the names being 0."""
    with _open(path, dialect.encoding) as file:
        reader = _parser(file, dialect)
        count = -1
        before = 0
        for cells in reader:
            if cells:
                if count == row:
                    return before + 1
                count += 1
            before = reader.line_num
    return before


class _CellError(ValueError):
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


def _date(text: str) -> np.datetime64:
    if text and not _DATE.fullmatch(text):
        raise ValueError
    return np.datetime64(text or "NaT", "us")


def _level(text: str) -> str | None:
    return text or None


class _ColumnReader:
    """Turns the cells of one column into values, piece by piece.

    Attributes
    ----------
    kind
        What the column holds; None as long as all cells are missing.
    is_stale
        Whether a later cell does not fit `kind`, which was found on earlier
        ones. The column must be read again, as categories.
    strange
        The row, the text and the wanted kind of the first cell that keeps the
        column from being one of numbers, truth values or dates, if most are.
    """

    def __init__(
        self,
        name: str,
        kind: str | None,
        dialect: Dialect,
        verbatim: Collection[str] | None = None,
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
        self.truths, self.dates = _Memory(_truth, words), _Memory(_date, words)
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
            self.pieces.append(self._convert(self.kind, cells))
        except ValueError:
            row, cell = self._first_misfit(self.kind, cells)
            if self.is_forced or (self.kind == "number" and self._is_infinite(cell)):
                raise _CellError(start + row, self._complaint(self.kind, cell)) from None
            self.is_stale = True
            self.strange = start + row, cell, self.kind

    def values(self, n_rows: int) -> NDArray[Any]:
        """Return the values of all cells."""
        kind = self.kind or "category"
        lead = self._convert(kind, [""] * (n_rows if self.kind is None else self.missing_rows))
        return np.concatenate([lead, *self.pieces])

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
        for kind in ("number", "boolean", "date"):
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
                return np.array(list(map(self.dates.__getitem__, cells)), dtype="datetime64[us]")
        values = np.empty(len(cells), dtype=object)
        values[:] = list(map(self.levels.__getitem__, cells))
        return values

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
        return _WORDS[kind] + (" with a decimal comma" if comma else "")


_INFINITE = "infinite"
_WORDS = {
    "number": "a number",
    "boolean": "true or false",
    "date": "a date such as 2024-03-01 or 2024-03-01 12:30",
    "category": "a category",
}
