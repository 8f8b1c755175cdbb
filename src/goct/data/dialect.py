"""How a CSV file is written, and how to find it out."""

from __future__ import annotations

import codecs
import contextlib
import csv
import datetime
import io
import os
import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from goct.data.table_file import TableError, TableFile

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"})
DELIMITERS = ",;\t|"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?")
_SURELY_DECIMAL = re.compile(r"[+-]?(?:0+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
# Codecs of Python that are not made for files.
_NO_FILE_ENCODINGS = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
_SAMPLE_BYTES = 1 << 16


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
    date_format
        How dates are written besides ISO 8601, such as ``%d.%m.%Y``.
    quote
        What stands around cells that hold the delimiter.
    names
        The names of the columns of a file without a line of them: () if they shall have
        none but their places; None if the first line holds the names.
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8-sig"
    note: str | None = None
    missing_words: Collection[str] = MISSING
    date_format: str | None = None
    quote: str = '"'
    names: tuple[str, ...] | None = None


def find_dialect(
    path: str | os.PathLike[str] | TableFile,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    *,
    missing: Collection[str] = (),
    date_format: str | None = None,
    names: Sequence[str] | None = None,
) -> Dialect:
    """Find out how a CSV file is written, from its first lines.

    Parameters
    ----------
    path
        The file.
    delimiter, decimal, encoding
        What is known already.
    missing
        Further words that stand for a missing value.
    date_format
        How dates are written besides ISO 8601.
    names
        The names of the columns of a file without a line of them, see :class:`Dialect`.

    Raises
    ------
    TableError
        If some columns have decimal commas and others decimal points.
    """
    file = TableFile.find(path)
    head = _read_head(file)
    if file.has_names and names is not None:
        raise TableError(f"{file}: its columns have names already; leave out --no-header, --names")
    if file.delimiter is not None:  # it was no CSV file
        delimiter, decimal, encoding = file.delimiter, ".", "utf-8"
    if date_format is not None:
        _check_date_format(date_format)
    words = MISSING | {word.strip() for word in missing}
    if encoding is None:
        encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    else:
        _check_encoding(encoding)
    if encoding == "utf-8-sig" and b"\0" in head:
        raise TableError(f"{file}: this is not a text file (it holds zero bytes)")
    text = io.TextIOWrapper(io.BytesIO(head), encoding=encoding, errors="replace", newline="")
    try:
        lines = text.read()
    except UnicodeError as error:
        raise TableError(f"{file}: this is not {encoding} text: {error}") from None
    if len(head) == _SAMPLE_BYTES:  # the last line may be cut
        lines = lines[: lines.rfind("\n") + 1] or lines
    quote = "'" if _is_quoted(lines, "'") and not _is_quoted(lines, '"') else '"'
    if delimiter is None:
        delimiter = _find_delimiter(lines, quote)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(f"the delimiter must be one character, got {delimiter!r}")
    if decimal not in (None, ".", ","):
        raise TableError(f"the decimal point must be '.' or ',', got {decimal!r}")
    note = None
    given = None if names is None else tuple(names)
    if decimal is None:
        rows, ends = _first_rows(lines, delimiter, quote, 1000)
        decimal, note = _find_decimal(file, rows, ends, delimiter, words, given)
    if decimal == delimiter:
        raise TableError("the comma cannot be the delimiter and the decimal point at once")
    return Dialect(delimiter, decimal, encoding, note, words, date_format, quote, given)


def _check_date_format(date_format: str) -> None:
    moment = datetime.datetime(2001, 12, 31, 23, 59, 58)
    try:
        written = moment.strftime(date_format)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.13 warns of days without a year
            is_date = datetime.datetime.strptime(written, date_format).date() == moment.date()
    except ValueError:
        is_date = False
    if not is_date:
        raise TableError(
            f"the date format {date_format!r} does not tell year, month and day; it is like "
            "'%d.%m.%Y' for 01.03.2024, or '%m/%d/%y %H:%M' for 3/1/24 12:30"
        )


def _check_encoding(encoding: str) -> None:
    try:
        "a".encode(encoding)  # complains about codecs that are not for text, too
    except (LookupError, ValueError):
        raise TableError(f"there is no encoding {encoding!r} of text") from None
    if codecs.lookup(encoding).name in _NO_FILE_ENCODINGS:
        raise TableError(f"{encoding!r} is no encoding of text files")


def _read_head(file: TableFile) -> bytes:
    head = file.head(_SAMPLE_BYTES)
    if not head.strip():
        raise TableError(f"{file}: the file is empty")
    return head


def _is_quoted(text: str, quote: str) -> bool:
    """Say whether there are cells between quotes of a kind."""
    return (
        re.search(
            rf"(?:^|[{DELIMITERS}]){quote}[^{quote}]*{quote}(?:[{DELIMITERS}\r\n]|$)", text, re.M
        )
        is not None
    )


def _find_delimiter(text: str, quote: str) -> str:
    """Return the delimiter that splits the first lines into the most columns, all alike."""

    def score(delimiter: str) -> tuple[bool, int]:
        rows, _ = _first_rows(text, delimiter, quote)
        if not rows:
            return False, 0
        width = len(rows[0])
        return width > 1 and all(len(row) == width for row in rows), width

    return max(DELIMITERS, key=score)


def _find_decimal(
    file: TableFile,
    rows: list[list[str]],
    ends: list[int],
    delimiter: str,
    missing_words: Collection[str],
    names: tuple[str, ...] | None,
) -> tuple[str, str | None]:
    """Return the decimal point, and a note if it is the comma.

    It is the comma if some column has decimal commas beyond doubt, and none has
    decimal points.
    """
    if delimiter == ",":
        return ".", None
    head = 1 if names is None else 0
    comma: str | None = None
    point: str | None = None
    for j, cells in enumerate(zip(*rows, strict=False)):
        texts = [cell.strip() for cell in cells]
        name = texts[0] if head else dict(enumerate(names or ())).get(j, place_name(j))
        known = [i for i, cell in enumerate(texts) if i >= head and cell not in missing_words]
        for pattern, is_sure in (
            (_DECIMAL_COMMA, _SURELY_DECIMAL.fullmatch),
            (_DECIMAL_POINT, lambda cell: "." in cell),
        ):
            sure = next((i for i in known if is_sure(texts[i])), None)
            if sure is None or not all(pattern.fullmatch(texts[i]) for i in known):
                continue
            where = f"{texts[sure]!r} in column {name!r}, line {ends[sure]}"
            if pattern is _DECIMAL_COMMA:
                comma = comma or where
            else:
                point = point or where
    if comma is not None and point is not None:
        raise TableError(
            f"{file}: there is {comma}, and {point}; name the decimal point, '.' or ','"
        )
    if comma is None:
        return ".", None
    return ",", f"numbers are read with decimal commas, because of {comma}"


def place_name(j: int) -> str:
    """Return what a column without a name is called; `j` is its place, from 0."""
    return f"column_{j + 1}"


def _first_rows(
    text: str, delimiter: str, quote: str, limit: int = 50
) -> tuple[list[list[str]], list[int]]:
    """Return the first rows that are not empty, and the lines where they end."""
    rows: list[list[str]] = []
    ends: list[int] = []
    with contextlib.suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)
        for row in reader:
            if row:
                rows.append(row)
                ends.append(reader.line_num)
            if len(rows) == limit:
                break
    return rows, ends
