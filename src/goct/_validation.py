"""Checks of what users pass in, with errors that say what is wrong and what is allowed."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.exact import as_fraction

_BLOCK_ELEMENTS = 1 << 24
_MOST_JOBS = 256
EXPLICIT_BYTES = 2**30
"""How large a matrix of all conditions may be."""


def mask_of(values: Any) -> NDArray[np.bool_] | np.bool_:
    """Return which cells of a masked array are masked.

    `numpy.ma` takes longer to import than a small question to answer; where nobody has imported
    it, nothing is masked.
    """
    masked = sys.modules.get("numpy.ma")
    return np.False_ if masked is None else masked.getmask(values)


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python number that users wrote."""
    return value.item() if isinstance(value, np.generic) else value


def check_count(value: Any, name: str, minimum: int = 0) -> int:
    """Return `value` as an integer of at least `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral | np.integer):
        raise TypeError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    return int(value)


def check_jobs(n_jobs: Any) -> int:
    """Return a number of threads; -1 stands for one per processor."""
    if plain(n_jobs) == -1:
        return os.cpu_count() or 1
    return min(check_count(n_jobs, "n_jobs", minimum=1), _MOST_JOBS)


def check_flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_positive(value: Any, name: str, most: int | None = None) -> Fraction:
    """Return `value` as a number above 0 and up to `most`."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = as_fraction(value, name)
    if number <= 0 or (most is not None and number > most):
        rule = "positive" if most is None else f"above 0 and at most {most}"
        raise ValueError(f"{name} must be {rule}, got {value}")
    return number


def check_choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of the `allowed` words."""
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"unknown {name} {value!r}; allowed: {words}")
    return str(value)


def column_name(column: int, names: Sequence[str] | None) -> str:
    """Say which column is meant, by number and, if it has one, by name."""
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def names_of_columns(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None for anything else."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def check_binary_matrix(X: Any, names: Sequence[str] | None = None) -> NDArray[np.uint8]:
    """Return `X` as a C-contiguous 0/1 matrix of bytes.

    Booleans, integers and floats are accepted as long as every value is 0 or
    1; the first value that is not is named in the error.
    """
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise TypeError("X is a sparse matrix; pass a dense one, for example X.toarray()")
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must be two-dimensional (rows, features), got shape {array.shape}")
    if (masked := mask_of(X)).any():
        row, column = (int(i) for i in np.argwhere(masked)[0])
        raise ValueError(_not_binary(None, row, column, names))
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array).view(np.uint8)
    if array.dtype == np.uint8 and array.max(initial=0) <= 1:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "uifO":
        raise TypeError(f"X must hold 0/1 numbers or booleans, got values of type {array.dtype}")

    result = array if array.dtype == np.uint8 else np.empty(array.shape, dtype=np.uint8)
    # In blocks: a matrix of booleans as large as X would double the memory.
    step = max(1, _BLOCK_ELEMENTS // max(1, array.shape[1]))
    for start in range(0, array.shape[0], step):
        block = array[start : start + step]
        ones = block == 1
        bad = ~(ones | (block == 0))
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            raise ValueError(_not_binary(block[row, column], start + row, column, names))
        if result is not array:
            result[start : start + step] = ones
    return np.ascontiguousarray(result)


def _not_binary(value: Any, row: int, column: int, names: Sequence[str] | None) -> str:
    where = f"row {row}, {column_name(column, names)}"
    if value is None or value != value:
        return f"X has a missing value at {where}; features must be 0 or 1"
    return (
        f"X has the value {plain(value)!r} at {where}; features must be 0 or 1 "
        "(goct.binarize turns other columns into 0/1 conditions)"
    )


def check_labels(y: Any, n_rows: int) -> tuple[tuple[Any, ...], NDArray[np.intp]]:
    """Return the sorted distinct labels and, for each row, the index of its label."""
    labels = label_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {labels.shape}")
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {len(labels)} labels")
    if labels.dtype.kind in "Of" and (missing := is_missing(labels)).any():
        raise ValueError(f"y has a missing label at row {int(np.argmax(missing))}")
    if labels.dtype.kind == "f" and (fractional := labels != np.floor(labels)).any():
        row = int(np.argmax(fractional))
        raise ValueError(
            f"y has the value {plain(labels[row])!r} at row {row}: that is a number to regress on, "
            "not a class label; use strings, integers or booleans"
        )
    if labels.dtype.kind in "bui" and len(labels):
        wide = labels if labels.dtype == np.uint64 else labels.astype(np.int64)
        low, high = wide.min(), wide.max()
        if int(high) - int(low) < 1 << 16:  # counting is much faster than sorting
            offsets = (wide - low).astype(np.intp)
            present = np.flatnonzero(np.bincount(offsets))
            rank = np.zeros(int(high - low) + 1, dtype=np.intp)
            rank[present] = np.arange(len(present))
            classes = (present.astype(wide.dtype) + low).astype(labels.dtype)
            return tuple(classes.tolist()), rank[offsets]
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(f"y mixes labels of the types {', '.join(kinds)}; use one type") from error
    return tuple(classes.tolist()), codes


def label_array(y: Any) -> NDArray[Any]:
    """Return labels as an array in which those that differ still do; masked ones are None."""
    labels = np.asarray(y)
    if (masked := mask_of(y)).any():
        labels = labels.astype(object)
        labels[masked] = None
    if isinstance(y, list | tuple) and labels.ndim == 1 and labels.size:
        # numpy would turn numbers among texts into texts, and round large integers.
        is_rounded = labels.dtype.kind == "f" and all(isinstance(label, int) for label in y)
        if labels.dtype.kind == "U" or is_rounded:
            return np.asarray(y, dtype=object)
    return labels


def is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each label whether it is None, NaN or another placeholder."""
    try:
        unequal = labels != labels
        return np.asarray(unequal | (labels == np.array(None)), dtype=bool)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return np.array([label is None or (label != label) is not False for label in labels])


def check_numbers(values: Any, name: str, n_rows: int, *, negative: bool) -> NDArray[Any]:
    """Return a numeric array with one entry (or one row) per row of X, all of them finite.

    Fractions, and integers beyond 64 bits, stay what they are, as objects.
    """
    array = np.asarray(values)
    if (masked := mask_of(values)).any():
        row = int(np.argwhere(masked)[0][0])
        raise ValueError(f"{name} has a missing (masked) value at row {row}")
    if array.dtype.kind == "O":
        try:
            floats = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"{name} must be numbers: {error}") from error
        if all(isinstance(value, Integral) for value in array.flat):
            with suppress(OverflowError):
                array = array.astype(np.int64)
        elif not all(isinstance(value, Rational) for value in array.flat):
            array = floats
    if array.dtype.kind not in "buifO":
        raise TypeError(f"{name} must be numbers, got values of type {array.dtype}")
    if array.ndim == 0 or len(array) != n_rows:
        raise ValueError(f"X has {n_rows} rows but {name} has shape {array.shape}")
    wrong = ~np.isfinite(array.astype(np.float64, copy=False))
    if not negative:
        wrong |= array < 0
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        rule = "finite" if negative else "finite and not negative"
        raise ValueError(
            f"{name} has the value {plain(array[where])!r} at row {where[0]}; it must be {rule}"
        )
    return array


def check_weights(values: Any, n_rows: int) -> NDArray[Any]:
    """Return the weights of the rows of X: none negative, and not all of them zero."""
    weights = check_numbers(values, "sample_weight", n_rows, negative=False)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be one-dimensional, got {weights.shape}")
    if not weights.any():
        raise ValueError("sample_weight is zero everywhere; some row must count")
    return weights


def check_explicit_size(n_rows: int, n_conditions: int) -> None:
    """Raise a `ValueError` if a 0/1 matrix of all conditions of rows would be too large."""
    size = n_rows * n_conditions
    if size > EXPLICIT_BYTES:
        raise ValueError(
            f"a 0/1 matrix of {n_rows} rows and {n_conditions} conditions would take "
            f"{size / 2**30:.1f} GB, and at most {EXPLICIT_BYTES / 2**30:g} are made; use fewer "
            "thresholds, such as those of the binarizer 'mdlp', fewer columns or fewer rows"
        )


def suggest(name: str, names: Collection[str | None]) -> str:
    """Return a hint at the names that are nearest to one that does not exist."""
    known = {text.lower(): text for text in names if text is not None}
    near = [known[match] for match in get_close_matches(name.lower(), known, n=3, cutoff=0.5)]
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(repr(text) for text in list(known.values())[:12])
    return f"; there are {shown}{', ...' if len(known) > 12 else ''}"
