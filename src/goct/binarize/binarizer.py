"""A scikit-learn transformer from the columns of a table to conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from goct.binarize.plain import PlainBinarizer


class Binarizer(TransformerMixin, PlainBinarizer, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table into readable conditions such as ``age > 50``.

    A tree over the conditions is a tree over the columns that may only ask
    these questions: what is proven optimal is optimal among such trees.

    Numbers and dates become ``x > t`` for some thresholds t, text and
    categorical columns ``job = cook`` for each level, truth values a condition
    with the name of the column. A column in which values are missing gets a
    condition that says so; a missing value meets no other condition, and an
    unknown level meets none.

    Parameters
    ----------
    method
        Where to cut numbers and dates. "mdlp": where the labels say that a cut
        is worth its description (Fayyad and Irani), which may be nowhere.
        "quantiles": into parts of about the same size. "midpoints": wherever
        the label changes. "exact": between all values that differ, and between
        all levels of an ordered categorical column, so that a tree may cut
        anywhere; see :meth:`ranks`. A column with values that no threshold tells apart,
        such as neighbouring integers beyond 2**53, is refused. "none":
        nowhere, all values being 0 and 1 already. "auto": at MDLP's cuts, and at
        quantiles besides, at most 32 in a column and 128 in all columns of numbers
        and dates; without labels, at quantiles only.
    n_thresholds
        How many thresholds per column at most. By default 3 for quantiles, and
        no limit otherwise. More thresholds leave less to be lost outside the
        conditions, and make the proof longer.
    thresholds
        Thresholds of your own for some columns, such as
        ``{"age": [30, 50], "joined": ["2024-03-01"]}``; the columns of an
        array are called x0, x1, ...
    no_cut
        What becomes of a column with at least three values that "mdlp" does
        not want to cut: "drop" makes no condition, "quantiles" cuts it there.
    min_frequency
        Levels that are rarer share one condition ``job in {cook, nurse}``: a
        share of the rows if it is a float, their number (or weight) if it is
        an integer. None keeps them apart.
    max_levels
        How many conditions of levels per column at most, the one that rare
        levels share included; at least 2. None for no limit.

    drop_ids
        Whether columns in which every row has a value of its own, such as names
        and numbers of customers, give no condition: "text" for categories only,
        True also for whole numbers, False for none.

    Attributes
    ----------
    dropped_columns_
        The columns that give no condition, each with the reason.
    id_columns_
        The columns of categories and of whole numbers in which every row has a
        value of its own.
    conditions_
        The conditions, one per output column: a list of
        :class:`goct.binarize.conditions.Condition`. With "exact" a sequence that
        makes them when they are asked for.
    thresholds_
        The increasing thresholds of each column of numbers or dates (those of
        dates as text). They can be given as `thresholds` again. With "exact" they are
        arrays.
    levels_
        The levels of each categorical column that occurred: texts, or the
        numbers and truth values that the column held. Not known (and empty) if
        the binarizer was made by :meth:`from_dict`.
    kinds_
        What each column holds: "number", "boolean", "category", "date", or
        "empty" if it has no value at all.
    n_features_in_
        The number of columns.
    feature_names_in_
        Their names; only if they had any.

    Notes
    -----
    If "mdlp" leaves the whole table without a condition, quantiles are used,
    with a warning.

    Examples
    --------
    >>> from goct.binarize import Binarizer
    >>> rows = [[23, "cook"], [35, "nurse"], [41, "cook"], [60, None]]
    >>> binarizer = Binarizer("quantiles", n_thresholds=1).fit(rows)
    >>> for condition in binarizer.conditions_:
    ...     print(condition.name)
    x0 > 40
    x1 = cook
    x1 = nurse
    x1 is missing
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self.method in ("mdlp", "midpoints")
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def transform(self, X: Any) -> NDArray[np.uint8]:  # its own, so that `set_output` finds it
        """Return the 0/1 matrix of the conditions, one column each.

        The columns of a data frame are found by their names, in any order, and
        further columns do not matter; those of an array by their places.
        """
        return super().transform(X)
