"""The way to a node in a few words: all conditions on one column make one clause."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.binarize.conditions import Above, After, Condition, IsTrue, Missing, OneOf, plain_number
from goct.model import ColumnInfo, Model
from goct.tree import Leaf


@dataclass(frozen=True)
class Clause:
    """What the conditions on the way to a node say about one column: those met, those not."""

    column: str
    met: tuple[Condition, ...]
    unmet: tuple[Condition, ...]
    has_missing: bool = True  # whether values are known to be missing at times

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say of each value of the column whether it fits the clause."""
        result = np.ones(len(values), dtype=bool)
        for condition in self.met:
            result &= condition.holds(values)
        for condition in self.unmet:
            result &= ~condition.holds(values)
        return result

    @property
    def allows_missing(self) -> bool:
        """Whether a missing value fits the clause: it meets no condition but `Missing`."""
        return all(isinstance(c, Missing) for c in self.met) and not any(
            isinstance(c, Missing) for c in self.unmet
        )

    @property
    def words(self) -> str:
        """The clause in words, such as ``20 < age ≤ 50``."""
        asked = [c for c in (*self.met, *self.unmet) if not isinstance(c, Missing)]
        if any(isinstance(c, Missing) for c in self.met):
            # Other conditions that are met contradict it; others that are not say nothing new.
            return f"{self.column} is missing" if self.allows_missing else _NEVER
        if not asked:
            return f"{self.column} is not missing"
        words = self._value_words(asked[0])
        if words == _NEVER:
            return f"{self.column} is missing" if self.allows_missing else _NEVER
        if self.allows_missing and self.has_missing:
            return words + _OR_MISSING
        return words

    def _value_words(self, example: Condition) -> str:
        if isinstance(example, Above | After):
            return self._range_words()
        if isinstance(example, OneOf):
            return self._level_words()
        if self.met and self.unmet and any(isinstance(c, IsTrue) for c in self.unmet):
            return _NEVER
        return self.column if self.met else f"not {self.column}"

    def _range_words(self) -> str:
        lows = [c for c in self.met if isinstance(c, Above | After)]
        highs = [c for c in self.unmet if isinstance(c, Above | After)]
        low, high = max(lows, key=_limit, default=None), min(highs, key=_limit, default=None)
        if low is None or high is None:
            edge = low or high
            assert edge is not None
            return f"{self.column} {'≤' if low is None else '>'} {_limit_words(edge)}"
        if _limit(low) >= _limit(high):
            return _NEVER
        return f"{_limit_words(low)} < {self.column} ≤ {_limit_words(high)}"

    def _level_words(self) -> str:
        excluded = {level for c in self.unmet if isinstance(c, OneOf) for level in c.levels}
        allowed = [c.levels for c in self.met if isinstance(c, OneOf)]
        if allowed:
            levels = [
                level
                for level in dict.fromkeys(allowed[0])
                if level not in excluded and all(level in other for other in allowed)
            ]
            if not levels:
                return _NEVER
            if len(levels) == 1:
                return f"{self.column} = {_level_word(levels[0])}"
            return f"{self.column} in {{{', '.join(map(_level_word, levels))}}}"
        ordered = dict.fromkeys(
            level for c in self.unmet if isinstance(c, OneOf) for level in c.levels
        )
        if len(ordered) == 1:
            return f"{self.column} ≠ {_level_word(next(iter(ordered)))}"
        return f"{self.column} not in {{{', '.join(map(_level_word, ordered))}}}"


_NEVER = "never"
_OR_MISSING = " or missing"


def clauses(
    asked: Iterable[tuple[Condition, bool]], columns: Mapping[str, ColumnInfo]
) -> tuple[Clause, ...]:
    """Return one clause per column, in the order in which the columns are asked first."""
    met: dict[str, list[Condition]] = {}
    unmet: dict[str, list[Condition]] = {}
    for condition, answer in asked:
        met.setdefault(condition.column, [])
        unmet.setdefault(condition.column, [])
        (met if answer else unmet)[condition.column].append(condition)
    return tuple(
        Clause(name, tuple(met[name]), tuple(unmet[name]), columns[name].has_missing)
        for name in met
    )


def paths(model: Model) -> tuple[tuple[Clause, ...], ...]:
    """Return, for every node of a model in preorder, the clauses on the way to it."""
    nodes = list(model.tree.nodes())
    found: list[list[tuple[Condition, bool]]] = []
    for parent in model.tree.parents:
        if parent is None:
            found.append([])
            continue
        above, answer = parent
        split = nodes[above]
        assert not isinstance(split, Leaf)
        found.append([*found[above], (model.conditions[split.feature], answer)])
    return tuple(clauses(asked, model.columns) for asked in found)


def in_words(path: Iterable[Clause]) -> str:
    """Return clauses as one sentence, such as ``age > 50 and job = cook``."""
    words = [clause.words for clause in path]
    if _NEVER in words:
        return _NEVER
    if len(words) > 1:
        words = [f"({text})" if text.endswith(_OR_MISSING) else text for text in words]
    return " and ".join(words) or "always"


def _level_word(level: str) -> str:
    """Write a category, in quotes where it would not be clear where it begins and ends."""
    is_clear = level and level == level.strip() and not set(level) & set(',{}"')
    return level if is_clear else json.dumps(level, ensure_ascii=False)


def _limit(condition: Above | After) -> Any:
    if isinstance(condition, Above):
        return condition.threshold
    return np.datetime64(condition.moment)


def _limit_words(condition: Above | After) -> str:
    return plain_number(condition.threshold) if isinstance(condition, Above) else condition.moment
