"""Reading tables from CSV files: the standard library's parser, columns as numpy arrays.

The parser of the standard library reads a million rows in seconds, needs no
data frame library, and knows the line of everything it reads, so that errors
can name it.
"""

from __future__ import annotations

import contextlib
import csv
import gc
import gzip
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from typing import IO, Any

from goct._validation import suggest
from goct.data.cells import CellError, ColumnReader
from goct.data.dialect import Dialect, find_dialect, place_name
from goct.data.table import Column, Table
from goct.data.table_file import TableError, TableFile

MAX_COLUMNS = 100_000
_CELLS_PER_CHUNK = 1 << 15  # few enough to stay in the processor's cache


def read_csv(
    path: str | os.PathLike[str] | TableFile,
    *,
    kinds: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    only: Collection[str] | None = None,
    verbatim: Mapping[str, Collection[str]] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Collection[str] = (),
    date_format: str | None = None,
    names: Sequence[str] | None = None,
    dialect: Dialect | None = None,
) -> Table:
    """Read a CSV file with a line of column names.

    It may be compressed by gzip. Parquet files and the first sheet of Excel files
    are read, too, with the extra ``tables``.

    Blanks around a cell do not count, nor do quotes: double ones, or single ones if
    no cell has double ones. Empty cells and NA, N/A, NaN, nan, NULL,
    null and ? are missing values.

    Parameters
    ----------
    path
        The file; ``-`` is standard input.
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
    missing
        Further words that stand for a missing value, such as ``<5``.
    date_format
        How dates are written besides ISO 8601, such as ``%d.%m.%Y``.
    names
        The names of the columns, of a file without a line of them; if empty, they are
        column_1, column_2, and so on.
    dialect
        All of this at once, as :func:`find_dialect` returns them.

    Raises
    ------
    TableError
        If the file cannot be read as a table; the message says where.
    """
    source = TableFile.find(path)
    dialect = dialect or find_dialect(
        source,
        delimiter,
        decimal,
        encoding,
        missing=missing,
        date_format=date_format,
        names=names,
    )
    header, notes = read_header(source, dialect, kinds or ())
    for name in [*(kinds or {}), *ignore, *(only or ())]:
        if name not in header:
            raise TableError(f"{source}: there is no column {name!r}{suggest(name, header)}")
    wanted = {
        name: j
        for j, name in enumerate(header)
        if name is not None and name not in ignore and (only is None or name in only)
    }
    forced = {**source.kinds, **(kinds or {})}
    verbatim = verbatim or {}
    readers, n_rows = _read_columns(source, dialect, len(header), wanted, forced, verbatim)
    notes += [dialect.note] if dialect.note else []
    line_of = partial(_line_of, source, dialect)
    for reader in readers.values():
        if reader.strange is not None:
            notes.append(reader.note(line_of(reader.strange[0])))
    changed = {name: "category" for name, reader in readers.items() if reader.is_stale}
    if changed:
        # Some column looked like numbers at first: its first cells are needed as they were.
        again = {name: wanted[name] for name in changed}
        more, _ = _read_columns(
            source, dialect, len(header), again, {**forced, **changed}, verbatim
        )
        readers.update(more)
    if n_rows == 0:
        raise TableError(f"{source}: there are no rows below the line of column names")
    columns = [readers[name].column(n_rows) for name in wanted]
    if dialect.names is None:
        notes += _about_header(dict(zip(wanted, columns, strict=True)))
    read = columns.__getitem__
    return Table(n_rows, len(columns), list(wanted), read, source.name, tuple(notes), line_of)


def read_rows(path: str | os.PathLike[str] | TableFile, dialect: Dialect) -> Iterator[list[str]]:
    """Iterate over the lines of a CSV file as lists of cells; empty lines are left out."""
    source = TableFile.find(path)
    with source.open(dialect.encoding) as file:
        reader = _parser(file, dialect)
        with _naming_the_line(source, reader):
            for row in reader:
                if row:
                    yield row


def write_csv(
    file: IO[str], names: Sequence[str], rows: Iterator[Sequence[Any]], delimiter: str = ","
) -> None:
    """Write a table as a CSV file with a line of column names."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


def _parser(lines: Any, dialect: Dialect) -> Any:
    return csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)


@contextlib.contextmanager
def _naming_the_line(path: TableFile, reader: Any) -> Iterator[None]:
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
    except (UnicodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{path}, line {reader.line_num + 1}: {error}") from None


def read_header(
    path: TableFile, dialect: Dialect, meant: Collection[str] = ()
) -> tuple[list[str | None], list[str]]:
    """Return the column names, None for columns without one, and notes on them.

    No two columns may have one of the names that are `meant`.
    """
    first = next(read_rows(path, dialect), None)
    if first is None:
        raise TableError(f"{path}: the file is empty")
    if len(first) > MAX_COLUMNS:
        raise TableError(f"{path}: there are {len(first)} columns; at most {MAX_COLUMNS} are read")
    given = dialect.names or [place_name(j) for j in range(len(first))]
    names = [name.strip() or None for name in (first if dialect.names is None else given)]
    if len(names) != len(first):
        raise TableError(
            f"{path}, line 1: there are {len(first)} cells, but {len(names)} names were given"
        )
    if dialect.names is None and all(_is_number(name) for name in names):
        raise TableError(
            f"{path}, line 1: this looks like data; the first line must name columns, unless you "
            "say --no-header, or name them with --names"
        )
    seen: dict[str, int] = {}
    notes = []
    for j, name in enumerate(names, start=1):
        if name is None:
            notes.append(f"column {j} has no name and is not used")
        elif name in seen and name in meant:
            both = f"the columns {seen[name]} and {j} are both called {name!r}"
            raise TableError(f"{path}: {both}; rename one of them")
        elif name in seen:
            other = next(new for k in count(2) if (new := f"{name} ({k})") not in {*names, *seen})
            notes.append(
                f"the columns {seen[name]} and {j} are both called {name!r}; the second one is "
                f"{other!r} here"
            )
            names[j - 1] = other
            seen[other] = j
        else:
            seen[name] = j
    return names, notes


def _about_header(columns: Mapping[str, Column]) -> Iterator[str]:
    """Give a note if a name is among the values below it, as if the first line were data."""
    for name, column in columns.items():
        is_number = column.kind == "number" and _is_number(name)
        if (column.values == (float(name) if is_number else name)).any():
            yield (
                f"the first line is read as names of the columns, but it looks like data: {name!r} "
                "is also among the values below; if it is no name, say --no-header"
            )
            return


def _is_number(cell: str | None) -> bool:
    try:
        return cell is None or float(cell) is not None
    except ValueError:
        return False


def _read_columns(
    path: TableFile,
    dialect: Dialect,
    width: int,
    wanted: Mapping[str, int],
    kinds: Mapping[str, str],
    verbatim: Mapping[str, Collection[str]],
) -> tuple[dict[str, ColumnReader], int]:
    """Read columns in pieces, so that only their values are kept and not the text."""
    readers = {
        name: ColumnReader(name, kinds.get(name), dialect, verbatim.get(name)) for name in wanted
    }
    step = max(64, _CELLS_PER_CHUNK // width)
    done = _first_row(dialect)
    with path.open(dialect.encoding) as file, _without_collector():
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
                except CellError as error:
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


def _first_row(dialect: Dialect) -> int:
    """Return the place of the first row that is not empty: -1 if it holds the names."""
    return -1 if dialect.names is None else 0


def _line_of(path: TableFile, dialect: Dialect, row: int) -> int:
    """Return the line on which a row starts, the first row below the names being 0."""
    with path.open(dialect.encoding) as file:
        reader = _parser(file, dialect)
        count = _first_row(dialect)
        before = 0
        for cells in reader:
            if cells:
                if count == row:
                    return before + 1
                count += 1
            before = reader.line_num
    return before
