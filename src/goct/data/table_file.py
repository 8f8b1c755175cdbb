"""Files that hold tables, as lines of text: CSV, compressed or not, Parquet and Excel."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from goct.files import read_bytes

STANDARD_INPUT = "-"
_GZIP, _ZIP, _PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"
_KINDS = {"string": "category", "large_string": "category", "dictionary": "category"}


class TableError(ValueError):
    """A table cannot be read; the message says what is wrong where."""


@dataclass(frozen=True, eq=False)
class TableFile:
    """A file that holds a table, as lines of text.

    A table that is no text was written to `path` as CSV.
    """

    name: str  # what messages call it
    path: Path
    is_compressed: bool = False
    delimiter: str | None = None  # if that is known
    kinds: Mapping[str, str] = field(default_factory=dict)  # as far as the file says so
    has_names: bool = False  # whether columns have names, by the format
    _kept: Any = field(default=None, repr=False)  # a temporary file lives as long as this

    @classmethod
    def find(cls, path: str | os.PathLike[str] | TableFile) -> TableFile:
        """Find out what a file is, by its first bytes; ``-`` is standard input."""
        if isinstance(path, TableFile):
            return path
        file = cls(str(path), Path(path))
        if str(path) == STANDARD_INPUT:
            with _temporary(cls("standard input", file.path)) as (file, raw):
                shutil.copyfileobj(sys.stdin.buffer, raw)
        try:
            head = read_bytes(file.path, 4)
        except ValueError as error:
            raise TableError(f"{file}: {error}") from None
        if head.startswith(_GZIP):
            return replace(file, is_compressed=True)
        if head == _PARQUET:
            return _from_parquet(file)
        return _from_excel(file) if head == _ZIP else file

    def head(self, limit: int) -> bytes:
        """Return the first bytes of the lines."""
        try:
            with self._open() as raw:
                return raw.read(limit)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{self}: {getattr(error, 'strerror', None) or error}") from None

    def open(self, encoding: str) -> IO[str]:
        """Open the lines for reading."""
        try:
            return io.TextIOWrapper(self._open(), encoding=encoding, newline="")
        except OSError as error:
            raise TableError(f"{self}: {error.strerror or error}") from None

    def _open(self) -> IO[bytes]:
        if self.is_compressed:
            return gzip.GzipFile(self.path)  # type: ignore[return-value]
        return self.path.open("rb")

    def __str__(self) -> str:
        return self.name


@contextmanager
def _temporary(file: TableFile) -> Iterator[tuple[TableFile, IO[bytes]]]:
    """Make a temporary file in the place of another one, which goes when nobody needs it."""
    kept = tempfile.NamedTemporaryFile(prefix="goct-", suffix=".csv")  # noqa: SIM115
    yield replace(file, path=Path(kept.name), _kept=kept), kept
    kept.flush()


def _as_csv(file: TableFile, rows: Iterable[Iterable[Any]], kinds: Mapping[str, str]) -> TableFile:
    with _temporary(file) as (converted, raw):
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        csv.writer(text, lineterminator="\n").writerows(map(_cell, row) for row in rows)
        text.detach()
    return replace(converted, delimiter=",", kinds=kinds)


def _cell(value: Any) -> str:
    """Write a value as the text of a cell that is read as the same value."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return str(value)
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def _from_parquet(file: TableFile) -> TableFile:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise _missing(file, "Parquet", "pyarrow") from None
    try:
        source = parquet.ParquetFile(file.path)
        names = source.schema_arrow.names
        types = [str(kind).partition("<")[0] for kind in source.schema_arrow.types]
    except Exception as error:  # of many types
        raise TableError(f"{file}: {error}") from None

    def rows() -> Iterator[Iterable[Any]]:
        yield names
        for batch in source.iter_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    kinds = {name: _KINDS[kind] for name, kind in zip(names, types, strict=True) if kind in _KINDS}
    return _as_csv(replace(file, has_names=True), rows(), kinds)


def _from_excel(file: TableFile) -> TableFile:
    try:
        import openpyxl
    except ImportError:
        raise _missing(file, "Excel", "openpyxl") from None
    try:
        content = io.BytesIO(file.path.read_bytes())  # by its name, it would refuse some
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
    except Exception as error:  # of many types
        raise TableError(f"{file}: this is a zip file, but no Excel file: {error}") from None
    if not book.worksheets:
        raise TableError(f"{file}: there is no sheet with cells")
    rows = (tuple(map(_cell, row)) for row in book.worksheets[0].iter_rows(values_only=True))
    return _as_csv(file, _trimmed(rows), {})


def _trimmed(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Leave out empty rows, and the empty columns behind the last one that has a name."""
    width = None
    for row in rows:
        if not any(row):
            continue
        if width is None:
            width = max(i for i, cell in enumerate(row, start=1) if cell)
        yield row[:width] + ("",) * (width - len(row))


def _missing(file: TableFile, what: str, package: str) -> ImportError:
    return ImportError(f"{file}: this is {what}, which needs {package}: pip install 'goct[tables]'")
