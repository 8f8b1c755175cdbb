"""From the columns of a table to conditions."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct._deadline import check_deadline
from goct._validation import (
    check_choice,
    check_count,
    check_explicit_size,
    check_labels,
    check_weights,
)
from goct.binarize.chooser import Chooser
from goct.binarize.condition_list import Block, ConditionList, Cuts, LevelCuts, Reader
from goct.binarize.conditions import Above, After, Condition, OneOf, condition_from_dict, evaluate
from goct.data.table import KINDS, Column, Table, as_table
from goct.exact import as_fraction
from goct.exceptions import BinarizationWarning

SCHEMA = "goct.binarizer/1"
_OWN_VALUES = "every row has a value of its own"
_FEW = 10  # rows that say nothing about whether a column numbers them
_MOST_QUANTILES, _QUANTILES_IN_ALL = 32, 128  # of "auto", see docs/results/unseen.md
METHODS = ("auto", "mdlp", "quantiles", "midpoints", "exact", "none")


class PlainBinarizer:
    """A :class:`goct.binarize.Binarizer` that needs no scikit-learn, which takes long to load."""

    conditions_: Sequence[Condition]
    thresholds_: dict[str, list[Any]]
    levels_: dict[str, list[Any]]
    kinds_: list[str]
    dropped_columns_: dict[str, str]
    id_columns_: list[str]
    n_features_in_: int

    def __init__(
        self,
        method: str = "auto",
        n_thresholds: int | None = None,
        *,
        thresholds: Mapping[Any, Sequence[Any]] | None = None,
        no_cut: str = "drop",
        min_frequency: float | None = 0.01,
        max_levels: int | None = 20,
        drop_ids: bool | str = "text",
    ) -> None:
        self.method = method
        self.n_thresholds = n_thresholds
        self.thresholds = thresholds
        self.no_cut = no_cut
        self.min_frequency = min_frequency
        self.max_levels = max_levels
        self.drop_ids = drop_ids

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the conditions.

        Parameters
        ----------
        X
            A data frame of pandas, polars or pyarrow, an array, or a list of rows.
        y
            The labels; needed by "mdlp" and "midpoints".
        sample_weight
            Non-negative weights of the rows. They count as numbers of rows,
            and a row of weight 0 as none; weights that are all below 1 are
            scaled to a mean of 1.
        """
        table = as_table(X)
        method = self._check_parameters(y)
        labels = weights = None
        if method in ("auto", "mdlp", "midpoints"):
            labels = check_labels(y, table.n_rows)[1]
        if sample_weight is not None:
            weights = _check_weights(sample_weight, table.n_rows)
        rows = slice(None) if weights is None else weights > 0
        chooser = Chooser(
            method=method,
            n_thresholds=self.n_thresholds,
            n_quantiles=_quantiles_beside(table) if method == "auto" else 0,
            no_cut=self.no_cut,
            min_frequency=self.min_frequency,
            max_levels=self.max_levels,
            given=self._check_thresholds(table),
            labels=None if labels is None else labels[rows],
            weights=None if weights is None else weights[rows],
        )

        def columns() -> Iterator[tuple[str, Column]]:
            for j, name in enumerate(table.column_names):
                column = table.column(j, "boolean" if method == "none" else None)
                yield name, column.take(rows)

        kinds: list[str] = []
        blocks: list[Block] = []
        levels: dict[str, list[Any]] = {}
        dropped: dict[str, str] = {}
        ids: list[str] = []
        for name, column in columns():
            check_deadline("conditions were chosen")
            kinds.append(column.kind)
            if column.kind == "empty":
                _warn(f"column {name!r} has no value at all, and gives no condition")
                dropped[name] = "it has no value at all"
                continue
            if column.kind == "category":
                texts = sorted({text for text in column.values if text is not None})
                levels[name] = [column.typed.get(text, text) for text in texts]
            if _is_id(column):
                ids.append(name)
                if self.drop_ids is True or (self.drop_ids and column.kind == "category"):
                    dropped[name] = _OWN_VALUES
                    continue
            choose = chooser.blocks if method == "exact" else chooser.conditions
            if not (chosen := choose(name, column)):
                dropped[name] = _why_no_condition(column)
            blocks += chosen
        if not blocks and method in ("auto", "mdlp"):
            blocks = [
                condition
                for name, column in columns()
                if dropped.get(name) != _OWN_VALUES
                for condition in chooser.quantiles(name, column)
            ]
            if blocks:
                _warn("MDLP finds no column worth cutting; the thresholds are at quantiles instead")
        if not blocks:
            rare = [name for name, texts in levels.items() if len(texts) > 1]
            why = "no column has two different values"
            if rare:
                why = f"each category of {', '.join(map(repr, rare[:5]))} is too rare for one"
            _warn(f"X gives no condition: {why}")
        names = list(table.column_names)
        conditions = [block for block in blocks if isinstance(block, Condition)]
        self._set_fitted(
            ConditionList(blocks) if method == "exact" else conditions,
            names,
            kinds,
            has_names=table.names is not None,
        )
        self.levels_ = levels
        asked = {block.column for block in blocks}
        self.dropped_columns_ = {name: why for name, why in dropped.items() if name not in asked}
        self.id_columns_ = ids
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return the 0/1 matrix of the conditions, one column each."""
        self._check_fitted()
        table = as_table(X)
        if not isinstance(self.conditions_, ConditionList):
            return evaluate(self.conditions_, table.n_rows, self._reader(table))
        conditions = self.conditions_
        check_explicit_size(table.n_rows, len(conditions))
        ranks = conditions.ranks(table.n_rows, self._reader(table))
        above = [ranks[:, k, None] > np.arange(s - 1) for k, s in enumerate(conditions.sizes)]
        empty = np.empty((table.n_rows, 0), dtype=bool)
        return np.concatenate([empty, *above], axis=1).view(np.uint8)

    def ranks(self, X: Any) -> NDArray[np.unsignedinteger[Any]]:
        """Return the ranks of the rows of a table; for the method "exact".

        Each column of numbers or dates becomes one of ranks: the number of
        thresholds below a value, 0 if it is missing. Each other condition becomes
        a column of 0 and 1. This is all that trees over the conditions can see.
        """
        return self._ranked().ranks((table := as_table(X)).n_rows, self._reader(table))

    @property
    def has_ranks(self) -> bool:
        """Whether :meth:`ranks` can be asked for."""
        self._check_fitted()
        return isinstance(self.conditions_, ConditionList)

    @property
    def rank_sizes(self) -> NDArray[np.intp]:
        """How many ranks each column of :meth:`ranks` has."""
        return self._ranked().sizes

    @property
    def owner(self) -> list[int]:
        """The column of the table behind each condition; "exact": each column of :meth:`ranks`."""
        place = {name: j for j, name in enumerate(self.column_names)}
        return [place[block.column] for block in self._blocks()]

    def evaluate(self, X: Any, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return some columns of :meth:`transform`, without making the others.

        Parameters
        ----------
        X
            As in :meth:`transform`.
        features
            The places of the conditions.
        """
        self._check_fitted()
        table = as_table(X)
        asked = [self.conditions_[feature] for feature in features]
        levels: dict[str, set[str]] = {condition.column: set() for condition in asked}
        for block in self._blocks():
            if block.column in levels and isinstance(block, OneOf | LevelCuts):
                levels[block.column].update(block.levels)
        read = self._reader(table, levels)
        columns = {name: read(name, known) for name, known in levels.items()}
        return evaluate(asked, table.n_rows, lambda name, _: columns[name])

    @property
    def feature_names(self) -> Sequence[str]:
        """The conditions in words; those of "exact" are made when they are asked for."""
        self._check_fitted()
        if isinstance(self.conditions_, ConditionList):
            return self.conditions_.names
        return tuple(condition.name for condition in self.conditions_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "conditions_"):
            raise ValueError("the binarizer is not fitted yet; call fit first")

    def _blocks(self) -> Sequence[Block]:
        """Return the conditions, all thresholds of a column at once where they are an array."""
        conditions = self.conditions_
        return conditions.blocks if isinstance(conditions, ConditionList) else conditions

    def _ranked(self) -> ConditionList:
        self._check_fitted()
        if not isinstance(self.conditions_, ConditionList):
            raise ValueError(f"there are ranks with the method 'exact' only, not {self.method!r}")
        return self.conditions_

    def _reader(self, table: Table, needed: Collection[str] | None = None) -> Reader:
        """Return what reads a column of a table as one of the fit, by its name.

        Not all columns must be there if only some are `needed`.
        """
        place = self._match_columns(table, needed)
        kind = dict(zip(self.column_names, self.kinds_, strict=True))

        def read(name: str, levels: Collection[str]) -> Column:
            return table.column(place[name], kind[name], levels, is_finite=False)

        return read

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the conditions in words, such as ``mean radius > 15.1``.

        Parameters
        ----------
        input_features
            Names for the columns, if the table had none.
        """
        self._check_fitted()
        old = self.column_names
        names = old if input_features is None else [str(name) for name in input_features]
        if len(names) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)} names"
            )
        if hasattr(self, "feature_names_in_") and names != old:
            raise ValueError(f"input_features is not equal to feature_names_in_, {old}")
        new = dict(zip(old, names, strict=True))
        renamed = [replace(c, column=new[c.column]).name for c in self.conditions_]
        return np.array(renamed, dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns and conditions as plain data that JSON can hold."""
        self._check_fitted()
        columns = zip(self.column_names, self.kinds_, strict=True)
        return {
            "schema": SCHEMA,
            "has_names": hasattr(self, "feature_names_in_"),
            "columns": [{"name": name, "kind": kind} for name, kind in columns],
            "conditions": [
                {key: list(v) if isinstance(v, tuple) else v for key, v in c.to_dict().items()}
                for c in self.conditions_
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return a fitted binarizer from :meth:`to_dict`, checking every part of it.

        It transforms as the original does; its parameters are the defaults.

        Raises
        ------
        ValueError
            If the data is not what :meth:`to_dict` returns.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"a binarizer must be a mapping, got {type(data).__name__}")
        if data.get("schema") != SCHEMA:
            raise ValueError(f"unknown schema {data.get('schema')!r}; expected {SCHEMA!r}")
        if set(data) != {"schema", "has_names", "columns", "conditions"}:
            raise ValueError(
                "a binarizer must have the entries schema, has_names, columns and conditions; "
                f"got {', '.join(sorted(map(str, data)))}"
            )
        if not isinstance(data["has_names"], bool):
            raise ValueError(f"has_names must be true or false, got {data['has_names']!r}")
        names, kinds = _read_columns(data["columns"])
        if not data["has_names"] and names != [f"x{j}" for j in range(len(names))]:
            raise ValueError("columns without names must be called x0, x1, ...")
        binarizer = cls()
        conditions = _read_conditions(data["conditions"], names, kinds)
        binarizer._set_fitted(conditions, names, kinds, has_names=data["has_names"])
        return binarizer

    @property
    def column_names(self) -> list[str]:
        """The names of the columns: x0, x1, ... if they had none."""
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_)
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _set_fitted(
        self,
        conditions: Sequence[Condition],
        names: list[str],
        kinds: list[str],
        *,
        has_names: bool,
    ) -> None:
        _check_distinct_names(conditions)
        self.conditions_ = conditions
        self.levels_ = {}
        self.dropped_columns_ = {}
        self.id_columns_ = []
        self.kinds_ = kinds
        self.thresholds_ = {
            name: [] for name, kind in zip(names, kinds, strict=True) if kind in ("number", "date")
        }
        for condition in self._blocks():
            if isinstance(condition, Cuts):
                self.thresholds_[condition.column] = condition.thresholds  # type: ignore[assignment]
            elif isinstance(condition, Above):
                self.thresholds_[condition.column].append(condition.threshold)
            elif isinstance(condition, After):
                self.thresholds_[condition.column].append(condition.moment)
        self.n_features_in_ = len(names)
        if has_names:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_parameters(self, y: Any) -> str:
        method = check_choice(self.method, "method", METHODS)
        if method == "auto" and y is None:
            method = "quantiles"
        if method in ("mdlp", "midpoints") and y is None:
            raise ValueError(
                f"the method {method!r} requires y to be passed, but the target y is None; "
                "without labels, use 'quantiles'"
            )
        if self.n_thresholds is not None and method == "exact":
            raise ValueError(
                "the method 'exact' takes every threshold; leave out n_thresholds, or choose "
                "'quantiles'"
            )
        if self.n_thresholds is not None:
            check_count(self.n_thresholds, "n_thresholds", minimum=1)
        check_choice(self.no_cut, "no_cut", ("drop", "quantiles"))
        if self.min_frequency is not None and as_fraction(self.min_frequency, "min_frequency") < 0:
            raise ValueError(f"min_frequency must not be negative, got {self.min_frequency}")
        if self.max_levels is not None:
            check_count(self.max_levels, "max_levels", minimum=2)
        if not isinstance(self.drop_ids, bool):
            check_choice(self.drop_ids, "drop_ids", ("text",))
        return method

    def _check_thresholds(self, table: Table) -> dict[str, list[Any]]:
        if self.thresholds is None:
            return {}
        if not isinstance(self.thresholds, Mapping):
            raise TypeError(
                "thresholds must map columns to lists, such as {'age': [30, 50]}; "
                f"got {self.thresholds!r}"
            )
        given = {}
        for key, values in self.thresholds.items():
            name = f"x{key}" if isinstance(key, int) and table.names is None else str(key)
            if name not in table.column_names:
                raise ValueError(
                    f"thresholds names the column {key!r}, which X does not have; its columns are "
                    f"{_some(table.column_names)}"
                )
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise TypeError(f"thresholds of {key!r} must be a list, got {values!r}")
            given[name] = list(values)
        return given

    def _match_columns(self, table: Table, needed: Collection[str] | None) -> Mapping[str, int]:
        """Return the place of each column of the fit in another table, if it is there."""
        known: list[str] | None = None
        if hasattr(self, "feature_names_in_"):
            known = list(self.feature_names_in_)
        if known is not None and table.names is not None:
            place = {name: j for j, name in enumerate(table.names)}
            if lost := [n for n in (known if needed is None else needed) if n not in place]:
                raise ValueError(
                    f"X lacks the column {_some(lost)}, which the conditions were made from; it "
                    f"has {_some(table.names)}"
                )
            return place
        if table.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {table.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if (known is None) != (table.names is None):
            has, had = ("names", "had none") if known is None else ("no names", "had some")
            warnings.warn(
                f"the columns of X have {has}, but they {had} when the conditions were made: "
                "they are taken in their order",
                UserWarning,
                stacklevel=3,
            )
        return {name: j for j, name in enumerate(self.column_names)}


def _is_id(column: Column) -> bool:
    """Say whether every row has a value of its own: a category or a whole number."""
    if len(column.values) < _FEW or column.missing.any() or column.order:
        return False
    if column.kind == "category":
        return len(set(column.values.tolist())) == len(column.values)
    if column.kind != "number":
        return False
    if any((some % 1 != 0).any() for some in (column.values[:_FEW], column.values)):
        return False
    return len(np.unique(column.values)) == len(column.values)


def _quantiles_beside(table: Table) -> int:
    """Return how many quantiles "auto" takes in each column, MDLP's cuts apart."""
    kinds = [table.column(j).kind for j in range(len(table.column_names))]
    scales = sum(kind in ("number", "date") for kind in kinds)
    return min(_MOST_QUANTILES, _QUANTILES_IN_ALL // max(scales, 1))


def _why_no_condition(column: Column) -> str:
    present = column.values[~column.missing]
    if len(set(present.tolist())) < 2:
        return "it has the same value everywhere"
    if column.kind == "category":
        return "each category is too rare"
    return "no cut is worth it"


def _warn(message: str) -> None:
    warnings.warn(message, BinarizationWarning, stacklevel=3)


def _check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    weights = check_weights(sample_weight, n_rows).astype(np.float64)
    # They cannot be numbers of rows, which the criterion of MDLP needs.
    return weights / weights[weights > 0].mean() if weights.max() < 1 else weights


def _check_distinct_names(conditions: Sequence[Condition]) -> None:
    columns: dict[str, str] = {}
    cuts: list[Cuts | LevelCuts] = []
    if isinstance(conditions, ConditionList):
        cuts = [block for block in conditions.blocks if not isinstance(block, Condition)]
        conditions = [block for block in conditions.blocks if isinstance(block, Condition)]
    for condition in conditions:
        for block in cuts:
            if block.find(condition.name) is not None:
                columns[condition.name] = block.column
        other = columns.setdefault(condition.name, condition.column)
        if other != condition.column:
            raise ValueError(
                f"the columns {other!r} and {condition.column!r} both give a condition "
                f"{condition.name!r}; rename one of them"
            )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} others"


def _read_columns(data: Any) -> tuple[list[str], list[str]]:
    if not isinstance(data, list) or not data:
        raise ValueError("columns must be a list with at least one column")
    kinds = (*KINDS, "empty")
    for column in data:
        if not isinstance(column, Mapping) or set(column) != {"name", "kind"}:
            raise ValueError(f"a column must have a name and a kind, got {column!r}")
        if not isinstance(column["name"], str) or column["kind"] not in kinds:
            raise ValueError(
                f"a column must have a text as its name and one of the kinds {', '.join(kinds)}; "
                f"got {dict(column)!r}"
            )
    names = [column["name"] for column in data]
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    return names, [column["kind"] for column in data]


def _read_conditions(data: Any, names: list[str], kinds: list[str]) -> list[Condition]:
    if not isinstance(data, list):
        raise ValueError(f"conditions must be a list, got {type(data).__name__}")
    place = {name: j for j, name in enumerate(names)}
    conditions = [condition_from_dict(entry) for entry in data]
    for condition in conditions:
        if condition.column not in place:
            raise ValueError(f"the condition {condition.name!r} is on a column that is not there")
        kind = kinds[place[condition.column]]
        if condition.column_kind not in (None, kind) or kind == "empty":
            raise ValueError(
                f"the condition {condition.name!r} does not go with a column of the kind {kind!r}"
            )
    if len(set(conditions)) < len(conditions):
        raise ValueError("two conditions are the same")
    return conditions
