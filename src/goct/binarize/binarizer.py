"""A scikit-learn transformer from numeric columns to conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from goct._validation import check_count, column_name, names_of_columns
from goct.binarize.thresholds import quantile_thresholds


class Binarizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn numeric columns into conditions ``column > threshold``.

    A tree over the conditions is a tree over the columns that may only cut at
    these thresholds: what is proven optimal is optimal among such trees.

    Parameters
    ----------
    n_thresholds
        How many thresholds per column at most, placed at quantiles.

    Attributes
    ----------
    thresholds_
        The increasing thresholds of each column.
    n_features_in_
        The number of columns.
    feature_names_in_
        Their names; only if they had any.
    """

    def __init__(self, n_thresholds: int = 3) -> None:
        self.n_thresholds = n_thresholds

    def fit(self, X: ArrayLike, y: object = None) -> Binarizer:
        """Choose the thresholds."""
        n_thresholds = check_count(self.n_thresholds, "n_thresholds", minimum=1)
        names = names_of_columns(X)
        table = _check_table(X, names)
        if len(table) == 0:
            raise ValueError("X has no rows; at least one is needed")
        self.thresholds_ = [quantile_thresholds(column, n_thresholds) for column in table.T]
        self.n_features_in_ = table.shape[1]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return the 0/1 matrix of the conditions, one column each."""
        check_is_fitted(self)
        names = names_of_columns(X)
        table = _check_table(X, names)
        if table.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {table.shape[1]} columns, expected {self.n_features_in_}")
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and names != known.tolist():
            raise ValueError(f"X has the columns {names}, expected {known.tolist()}")
        blocks = [
            column[:, None] > np.array(thresholds)
            for column, thresholds in zip(table.T, self.thresholds_, strict=True)
        ]
        return np.concatenate(blocks, axis=1).astype(np.uint8)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the conditions in words, such as ``mean radius > 15.1``."""
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(self, "feature_names_in_", None)
        if input_features is None:
            input_features = [f"x{j}" for j in range(self.n_features_in_)]
        if len(input_features) != self.n_features_in_:
            raise ValueError(f"input_features must be {self.n_features_in_} names")
        names = [
            f"{name} > {_plain(threshold)}"
            for name, thresholds in zip(input_features, self.thresholds_, strict=True)
            for threshold in thresholds
        ]
        return np.array(names, dtype=object)


def _check_table(X: ArrayLike, names: list[str] | None) -> NDArray[np.float64]:
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must be two-dimensional (rows, columns), got shape {array.shape}")
    if array.dtype.kind not in "buif":
        columns = []
        for j in range(array.shape[1]):
            try:
                columns.append(array[:, j].astype(np.float64))
            except (TypeError, ValueError) as error:
                where = column_name(j, names)
                raise TypeError(f"{where} of X is not numeric: {error}") from error
        array = np.stack(columns, axis=1)
    table = array.astype(np.float64, copy=False)
    if not np.isfinite(table).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(table))[0])
        where = f"row {row}, {column_name(column, names)}"
        raise ValueError(f"X has the value {table[row, column]} at {where}; it must be finite")
    return table


def _plain(threshold: float) -> str:
    """Write a number in as few digits as identify it, and integers without a point."""
    return (
        str(int(threshold)) if threshold.is_integer() and abs(threshold) < 1e16 else repr(threshold)
    )
