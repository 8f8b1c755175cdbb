"""Tables of any make as columns of plain numpy values, each of a known kind.

======== ============================================ =====================
kind     values                                       missing
======== ============================================ =====================
number   floats, all finite                           NaN
boolean  the floats 0 and 1                           NaN
category text                                         None
date     datetime64 in microseconds, without a zone   NaT
empty    none at all                                  NaN
======== ============================================ =====================

The text of a category that is a number or a truth value is that of :func:`level`,
so that 1 and 1.0 are the same category.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from goct._validation import column_name, plain

KINDS = ("number", "boolean", "category", "date", "empty")

_WORDS = {
    "number": "numbers",
    "boolean": "truth values",
    "category": "text",
    "date": "dates",
    "empty": "nothing",
}
_MOMENT = "datetime64[us]"


@dataclass(frozen=True, eq=False)
class Column:
    """A column: what its values are, and the values.

    Attributes
    ----------
    kind, values
        See the table above.
    typed
        What the text of a category stands for, where that is a number or a truth value.
    """

    kind: str
    values: NDArray[Any]
    typed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.kind == "category":
            return np.asarray(self.values == np.array(None))
        return np.asarray(np.isnat(self.values) if self.kind == "date" else np.isnan(self.values))


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns are read one by one, when they are asked for.

    Attributes
    ----------
    n_rows
        The number of rows.
    n_columns
        The number of columns.
    names
        The names of the columns; None if they have none.
    """

    n_rows: int
    n_columns: int
    names: list[str] | None
    _read: Callable[[int], Column]

    def column(self, j: int, kind: str | None = None, levels: Collection[str] = ()) -> Column:
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

        Raises
        ------
        TypeError, ValueError
            If the column holds something else, or values that cannot be used;
            the message names the column and the row.
        """
        column = self._read(j)
        if column.kind == "number":
            _check_finite(column.values, column_name(j, self.names))
        if kind is not None:
            return _as_kind(column, kind, column_name(j, self.names), levels)
        return _nothing("empty", self.n_rows) if column.missing.all() else column


def read_table(X: Any) -> Table:
    """Read a data frame (pandas, polars, pyarrow, ...), an array, or a list of rows.

    A mapping from names to columns will do, too, and a :class:`Table` is returned as it is.

    Raises
    ------
    TypeError, ValueError
        If `X` is no table; the message says what is wrong.
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, Mapping):
        return _read_mapping(X)
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise TypeError("X is a sparse matrix; pass a dense one, for example X.toarray()")
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        raise ValueError(f"X has columns of the same name; rename them ({error})") from error
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame; pass X.collect()")
    return _read_frame(frame) if isinstance(frame, nw.DataFrame) else _read_array(X)


def level(value: Any) -> str | int | float | bool:
    """Return a category as plain text, number or truth value, equal numbers as the same.

    Its text is ``str`` of that: "1" for 1, 1.0 and Decimal("1.00").
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if _kind_of(value) != "number" or value in (np.inf, -np.inf):
        return str(value)
    return int(value) if value == int(value) else float(value)


def _read_frame(frame: nw.DataFrame[Any]) -> Table:
    names = [str(name) for name in frame.columns]
    _check_distinct(names)
    _check_shape(frame.shape)
    series = list(frame.iter_columns())

    def read(j: int) -> Column:
        return _read_series(series[j], column_name(j, names))

    return Table(len(frame), len(names), names, read)


def _check_distinct(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"X has columns of the same name, {twice!r}; rename them")


def _read_mapping(X: Mapping[Any, Any]) -> Table:
    names = [str(name) for name in X]
    _check_distinct(names)
    columns = [_as_array(values) for values in X.values()]
    lengths = {len(values) if values.ndim == 1 else -1 for values in columns}
    if len(lengths) > 1 or -1 in lengths:
        raise ValueError("the columns of X must be one-dimensional and equally long")
    n_rows = lengths.pop() if lengths else 0
    _check_shape((n_rows, len(names)))
    return Table(
        n_rows, len(names), names, lambda j: _read_values(columns[j], column_name(j, names))
    )


def _as_array(values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.asarray(values, dtype=object)  # numpy would turn numbers into text
    return array


def _read_array(X: Any) -> Table:
    try:
        array = _as_array(X)
    except ValueError as error:
        raise ValueError(f"X must be a table whose rows are equally long: {error}") from error
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers")
    if array.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows, columns), got shape {array.shape}. Reshape your "
            "data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
        )
    _check_shape(array.shape)
    n_rows, n_columns = array.shape

    def read(j: int) -> Column:
        return _read_values(array[:, j], column_name(j, None))

    return Table(n_rows, n_columns, None, read)


def _check_shape(shape: tuple[int, ...]) -> None:
    if shape[1] == 0:
        raise ValueError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[0] == 0:
        raise ValueError(f"X has no rows (shape={shape}); at least one is needed")


def _check_finite(values: NDArray[np.float64], where: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"X has the value {values[row]} at row {row}, {where}; replace it by a number, or by "
            "NaN if it stands for a missing value"
        )


def _read_series(series: Any, where: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return Column("number", series.cast(nw.Float64).to_numpy())
    if dtype == nw.Boolean:
        return Column("boolean", series.cast(nw.Float64).to_numpy())
    if dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return Column("date", series.to_numpy().astype(_MOMENT))
    if dtype == nw.Date:
        return Column("date", series.to_numpy().astype(_MOMENT))
    if dtype in (nw.Categorical, nw.Enum):
        return _read_categories(series.to_list())
    if dtype in (nw.String, nw.Object, nw.Unknown):
        return _read_objects(series.to_list(), where)
    raise TypeError(
        f"{where} of X holds values of the type {dtype}; allowed are numbers, truth values, text "
        "and dates: convert or leave out the column"
    )


def _read_values(values: NDArray[Any], where: str) -> Column:
    kind = values.dtype.kind
    if kind == "b":
        return Column("boolean", values.astype(np.float64))
    if kind in "uif":
        return Column("number", values.astype(np.float64))
    if kind == "M":
        return Column("date", values.astype(_MOMENT))
    if kind in "UO":
        return _read_objects(values.tolist(), where)
    raise TypeError(
        f"{where} of X holds values of the type {values.dtype}; allowed are numbers, truth "
        "values, text and dates"
    )


def _read_objects(values: list[Any], where: str) -> Column:
    """Find out what Python objects are, and make plain values of them."""
    first: dict[str, int] = {}  # the row in which each kind occurs first
    missing = np.zeros(len(values), dtype=bool)
    for row, value in enumerate(values):
        if type(value) is str:
            first.setdefault("category", row)
        elif _is_missing(value):
            missing[row] = True
        else:
            kind = _kind_of(value)
            if kind is None:
                raise TypeError(
                    f"X has a value of the type {type(value).__name__} at row {row}, {where}; "
                    "a value must be a string, a number, a truth value or a date"
                )
            first.setdefault(kind, row)
    kinds = set(first)
    if kinds == {"number", "boolean"}:
        kinds = {"number"}
    if len(kinds) > 1:
        a, b = sorted(first, key=first.__getitem__)[:2]
        raise TypeError(
            f"{where} of X mixes {_WORDS[a]} ({plain(values[first[a]])!r} at row {first[a]}) and "
            f"{_WORDS[b]} ({plain(values[first[b]])!r} at row {first[b]}); make them one type, "
            "such as text with astype(str)"
        )
    if not kinds:
        return _nothing("empty", len(values))
    (kind,) = kinds
    converters: dict[str, Callable[[Any], Any]] = {"category": str, "date": _moment}
    convert = converters.get(kind, float)
    column = _nothing(kind, len(values))
    present = np.flatnonzero(~missing)
    try:
        column.values[present] = _objects([convert(values[row]) for row in present])
    except OverflowError as error:
        raise ValueError(f"{where} of X holds a number that is too large: {error}") from error
    return column


def _read_categories(values: list[Any]) -> Column:
    levels = [None if _is_missing(value) else level(value) for value in values]
    texts = [None if known is None else str(known) for known in levels]
    typed = {str(known): known for known in levels if not isinstance(known, str | None)}
    return Column("category", _objects(texts), typed)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def _kind_of(value: Any) -> str | None:
    if isinstance(value, str):
        return "category"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | np.integer | np.floating | Decimal | Fraction):
        return "number"
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    return None


def _moment(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _nothing(kind: str, n_rows: int) -> Column:
    """Return a column in which every value is missing."""
    if kind == "category":
        return Column(kind, np.full(n_rows, None, dtype=object))
    if kind == "date":
        return Column(kind, np.full(n_rows, "NaT", dtype=_MOMENT))
    return Column(kind, np.full(n_rows, np.nan))


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _as_kind(column: Column, kind: str, where: str, levels: Collection[str]) -> Column:
    """Return a column as one of another kind, if its values allow it."""
    values, n_rows = column.values, len(column.values)
    if kind == "empty":
        return _nothing(kind, n_rows)
    if column.kind == kind:
        return column
    if column.kind == "boolean" and kind == "number":
        return Column(kind, values)
    if kind == "category" and any(_stands_for(column.kind, known) for known in levels):
        make: Callable[[float], Any] = bool if column.kind == "boolean" else float
        return _read_categories([value if value != value else make(value) for value in values])
    if column.kind == "number" and kind == "boolean":
        wrong = ~np.isnan(values) & (values != 0) & (values != 1)
        if not wrong.any():
            return Column(kind, values)
        row = int(np.argmax(wrong))
        raise ValueError(
            f"X has the value {values[row]:g} at row {row}, {where}; it must be 0 or 1"
        )
    missing = column.missing
    if missing.all():
        return _nothing(kind, n_rows)
    row = int(np.argmin(missing))
    raise TypeError(
        f"{where} of X must hold {_WORDS[kind]}, got {_WORDS[column.kind]} "
        f"({plain(values[row])!r} at row {row}); convert the column"
    )


def _stands_for(kind: str, text: str) -> bool:
    """Say whether the text of a category is that of a number or a truth value."""
    if kind == "boolean":
        return text in ("True", "False")
    try:
        return kind == "number" and str(level(float(text))) == text
    except (ValueError, OverflowError):
        return False
