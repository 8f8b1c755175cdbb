"""The choice of conditions, one column after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_numbers
from goct.binarize.condition_list import Block, Cuts, LevelCuts
from goct.binarize.conditions import Above, After, Condition, IsTrue, Missing, OneOf
from goct.binarize.entropy import label_change_gaps, mdlp_gaps
from goct.binarize.thresholds import (
    Gap,
    all_middles,
    all_moments,
    middle,
    moment_between,
    quantile_gaps,
    short_decimal,
    write_moment,
)
from goct.data.table import Column

_N_QUANTILES = 3


@dataclass(frozen=True, eq=False)
class Chooser:
    """Chooses the conditions of one column after the other, as a `Binarizer` was told to."""

    method: str
    n_thresholds: int | None
    n_quantiles: int  # in a column besides MDLP's cuts, at most
    no_cut: str
    min_frequency: float | None
    max_levels: int | None
    given: Mapping[str, list[Any]]  # thresholds of some columns that are not to be chosen
    labels: NDArray[np.intp] | None
    weights: NDArray[np.float64] | None

    def conditions(self, name: str, column: Column) -> list[Condition]:
        """Return all conditions of a column."""
        found: list[Condition] = []
        if name in self.given:
            found += _given_conditions(name, column.kind, self.given[name])
        elif column.order:
            cuts, ranks = _ordered(name, column)
            found += [cuts[int(low)] for low, _ in self._gaps(Column("number", ranks))]
        elif column.kind == "category":
            found += self._levels(name, column)
        elif column.kind == "boolean":
            present = column.values[~np.isnan(column.values)]
            if self.method == "none" or len(np.unique(present)) == 2:
                found.append(IsTrue(name))
        else:
            found += _cut(name, column.kind, self._gaps(column), self.method)
        return found + _missing(name, column)

    def blocks(self, name: str, column: Column) -> list[Block]:
        """Return all conditions of a column, every threshold of what has an order included."""
        if column.order and name not in self.given:
            levels, _ = _ordered(name, column)
            return [*([levels] if len(levels) > 0 else ()), *_missing(name, column)]
        if column.kind not in ("number", "date") or name in self.given:
            return list(self.conditions(name, column))
        _check_apart(name, column)
        values = np.unique(column.values[~column.missing])
        if column.kind == "date":
            moments = all_moments(values.astype(np.int64)).astype(values.dtype)
            cuts: list[Block] = [Cuts(name, moments)]
        else:
            cuts = [Cuts(name, all_middles(values))]
        return [*(cuts if len(values) > 1 else ()), *_missing(name, column)]

    def quantiles(self, name: str, column: Column) -> list[Condition]:
        """Return the conditions of a column of numbers or dates at quantiles."""
        if column.kind not in ("number", "date"):
            return []
        gaps = self._quantile_gaps(*self._present(column)[::2])
        return _cut(name, column.kind, gaps, "quantiles")

    def _present(
        self, column: Column
    ) -> tuple[NDArray[np.float64], NDArray[np.intp] | None, NDArray[np.float64] | None]:
        """Return the values that are not missing as numbers, with their labels and weights."""
        present = ~column.missing
        values = column.values[present]
        numbers = values.astype(np.int64) if column.kind == "date" else values
        labels = None if self.labels is None else self.labels[present]
        weights = None if self.weights is None else self.weights[present]
        return numbers.astype(np.float64), labels, weights

    def _gaps(self, column: Column) -> list[Gap]:
        values, labels, weights = self._present(column)
        if self.method == "quantiles":
            return self._quantile_gaps(values, weights)
        assert labels is not None
        if self.method == "midpoints":
            return label_change_gaps(values, labels, weights, self.n_thresholds)
        if only := _only_gap(values):
            return only
        gaps = mdlp_gaps(values, labels, weights, self.n_thresholds)
        if (more := self._quantiles_beside(gaps)) > 0:
            gaps = sorted({*gaps, *quantile_gaps(values, more, weights)})
        if gaps or self.no_cut == "drop":
            return gaps
        return self._quantile_gaps(values, weights)

    def _quantiles_beside(self, gaps: list[Gap]) -> int:
        """Return how many quantiles to take besides these cuts of MDLP."""
        if self.n_thresholds is None:
            return self.n_quantiles
        return min(self.n_quantiles, self.n_thresholds - len(gaps))

    def _quantile_gaps(
        self, values: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> list[Gap]:
        n_thresholds = _N_QUANTILES if self.n_thresholds is None else self.n_thresholds
        return quantile_gaps(values, n_thresholds, weights)

    def _levels(self, name: str, column: Column) -> list[Condition]:
        levels, codes = column.factorised()
        sizes = np.bincount(codes, weights=self.weights, minlength=len(levels))
        size_of = {level: float(size) for level, size in zip(levels, sizes, strict=True)}
        total = sum(size_of.values())
        size_of.pop(None, None)
        if len(size_of) < 2:
            return []
        least = 0.0
        if self.min_frequency is not None:
            is_share = isinstance(self.min_frequency, float | np.floating)
            least = self.min_frequency * (total if is_share else 1)
        by_size = sorted(size_of, key=lambda level: (-size_of[level], level))
        frequent = [level for level in by_size if size_of[level] >= least]
        if self.max_levels is not None and len(by_size) > self.max_levels:
            frequent = frequent[: self.max_levels - 1]
        rare = sorted(set(by_size) - set(frequent))
        found = [OneOf(name, (level,)) for level in sorted(frequent)]
        if rare and frequent:
            found.append(OneOf(name, tuple(rare)))
        return list(found)


def _check_apart(name: str, column: Column) -> None:
    if (merged := column.merged()) is None:
        return
    one, other = sorted(map(str, merged))
    thresholds, remedy = {
        "number": ("64-bit floats", "subtract the smallest value of the column, round it"),
        "date": ("whole microseconds", "round the column, pass nanoseconds as small integers"),
    }[column.kind]
    raise ValueError(
        f"column {name!r} holds {one} and {other}, but thresholds are {thresholds}, and none "
        f"tells them apart; {remedy}, leave it out, or choose another binarizer than 'exact'"
    )


def _only_gap(values: NDArray[np.float64]) -> list[Gap]:
    """Return the gap of a column of two values, which is a condition already; none of others."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    is_pair = low < high and ((values == low) | (values == high)).all()
    return [(float(low), float(high))] if is_pair else []


def _ordered(name: str, column: Column) -> tuple[LevelCuts, NDArray[np.float64]]:
    """Return the levels of an ordered column that occur, and the rank of each value."""
    levels, codes = column.factorised()
    known = tuple(level for level in column.order if level in set(levels))
    place = {level: float(rank) for rank, level in enumerate(known)}
    return LevelCuts(name, known), np.array([place.get(v, np.nan) for v in levels])[codes]


def _missing(name: str, column: Column) -> list[Condition]:
    missing = column.missing
    return [Missing(name)] if missing.any() and not missing.all() else []


def _cut(name: str, kind: str, gaps: list[Gap], method: str) -> list[Condition]:
    if kind == "date":
        return [After(name, moment_between(*gap)) for gap in gaps]
    threshold = short_decimal if method == "quantiles" else middle
    return [Above(name, threshold(*gap)) for gap in gaps]


def _given_conditions(name: str, kind: str, thresholds: list[Any]) -> list[Condition]:
    if kind == "number":
        numbers = check_numbers(
            thresholds, f"thresholds of {name!r}", len(thresholds), negative=True
        )
        return [Above(name, float(t)) for t in np.unique(numbers)]
    if kind == "date":
        try:
            moments = {np.datetime64(t, "us") for t in thresholds}
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"thresholds of {name!r} must be dates or times, or texts in ISO 8601: {error}"
            ) from error
        return [After(name, write_moment(moment)) for moment in sorted(moments)]
    raise ValueError(
        f"thresholds are given for the column {name!r}, which is neither of numbers nor of dates "
        f"but of the kind {kind!r}"
    )
