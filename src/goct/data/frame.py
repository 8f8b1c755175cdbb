"""Data frames, arrays, lists of rows and mappings as tables."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from goct._validation import column_name, mask_of, plain
from goct.data.rounding import MOMENT
from goct.data.table import WORDS, Column, Table, is_missing, kind_of, objects


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
    if (masked := mask_of(values)).any():
        array = array.astype(np.float64 if array.dtype.kind in "uif" else object)
        array[masked] = np.nan if array.dtype.kind == "f" else None
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


def _read_series(series: Any, where: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return _read_numbers(series, where)
    if dtype == nw.Boolean:
        return Column("boolean", series.cast(nw.Float64).to_numpy())
    if dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        values = series.to_numpy()
        is_plain = values.dtype.kind == "M"
        return Column.of_moments(values) if is_plain else _read_objects(series.to_list(), where)
    if dtype == nw.Date:
        return Column.of_moments(series.to_numpy().astype(MOMENT))
    if dtype in (nw.Categorical, nw.Enum):
        return Column.of_categories(series.to_list(), _order_of(series), where)
    if dtype in (nw.String, nw.Object, nw.Unknown):
        return _read_objects(series.to_list(), where)
    raise TypeError(
        f"{where} of X holds values of the type {dtype}; allowed are numbers, truth values, text "
        "and dates: convert or leave out the column"
    )


def _read_numbers(series: Any, where: str) -> Column:
    dtype = series.dtype
    if dtype in (nw.Int64, nw.UInt64):
        missing = series.is_null().to_numpy()
        return Column.of_numbers(series.fill_null(0).to_numpy(), missing)
    if dtype == nw.Decimal or dtype in (nw.Int128, nw.UInt128):
        return _read_objects(series.to_list(), where)
    return Column("number", series.cast(nw.Float64).to_numpy())


def _order_of(series: Any) -> Sequence[Any]:
    """Return the categories of a series in order; nothing if they have none."""
    if series.dtype == nw.Enum:
        return tuple(series.dtype.categories)
    native = series.to_native()
    if not getattr(getattr(native, "type", None), "ordered", False) or len(native) == 0:
        return ()
    categories: list[Any] = native.unify_dictionaries().chunk(0).dictionary.to_pylist()  # pyarrow
    return categories


def _read_values(values: NDArray[Any], where: str) -> Column:
    kind = values.dtype.kind
    if kind == "b":
        return Column("boolean", values.astype(np.float64))
    if kind in "uif":
        return Column.of_numbers(values)
    if kind == "M":
        return Column.of_moments(values)
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
        elif is_missing(value):
            missing[row] = True
        else:
            kind = kind_of(value)
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
            f"{where} of X mixes {WORDS[a]} ({plain(values[first[a]])!r} at row {first[a]}) and "
            f"{WORDS[b]} ({plain(values[first[b]])!r} at row {first[b]}); make them one type, "
            "such as text with astype(str)"
        )
    if not kinds:
        return Column.of_nothing("empty", len(values))
    (kind,) = kinds
    if kind == "category":
        texts = [None if missing[row] else str(value) for row, value in enumerate(values)]
        return Column(kind, objects(texts))
    if kind == "date":
        never = np.datetime64("NaT", "us")
        moments = [never if missing[row] else _moment(v) for row, v in enumerate(values)]
        return Column.of_moments(objects(moments))
    numbers = [0 if missing[row] else value for row, value in enumerate(values)]
    try:
        column = Column.of_numbers(objects(numbers), missing)
    except OverflowError as error:
        raise ValueError(f"{where} of X holds a number that is too large: {error}") from error
    return column if kind == "number" else Column(kind, column.values)


def _moment(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    if hasattr(value, "to_datetime64"):  # of pandas, with nanoseconds
        return value.to_datetime64()
    return value if isinstance(value, np.datetime64) else np.datetime64(value, "us")
