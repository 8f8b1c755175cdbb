"""How a CSV file is written, and how to find it out."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from goct.files import read_bytes

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"})
DELIMITERS = ",;\t|"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?")
_SURELY_DECIMAL = re.compile(r"[+-]?(?:0+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
# Codecs of Python that are not made for files.
_NO_FILE_ENCODINGS = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
_SAMPLE_BYTES = 1 << 16


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


def _read_head(path: Path) -> bytes:
    try:
        head = read_bytes(path, _SAMPLE_BYTES)
    except ValueError as error:
        raise TableError(f"{path}: {error}") from None
    if not head.strip():
        raise TableError(f"{path}: the file is empty")
    for mark, what in ((b"\x1f\x8b", "compressed by gzip"), (b"PK\x03\x04", "a zip or Excel file")):
        if head.startswith(mark):
            raise TableError(f"{path}: this is {what}, not a CSV file")
    return head


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
