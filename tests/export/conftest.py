"""Models with all kinds of conditions, and rows that meet them or not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from goct.data.dialect import MISSING
from goct.model import Model
from tests.support.models import COLUMNS, random_model, random_rows

SPACE = ["", " ", "\t", "\u00a0", "\u2003\r\n", "\x1c", "\u3000 "]


@dataclass(frozen=True)
class Case:
    """A model, rows, and what the model says of them."""

    model: Model
    rows: dict[str, list[Any]]
    labels: list[Any]
    probabilities: NDArray[np.float64]

    @classmethod
    def of(cls, model: Model, rows: dict[str, list[Any]]) -> Case:
        counts = np.array(model.train.counts, dtype=float)[model.tree.apply(model.matrix(rows))]
        counts += 2 / len(model.classes)  # two rows more, as many of each class
        labels = model.predict(rows).tolist()
        return cls(model, rows, labels, counts / counts.sum(axis=1, keepdims=True))

    @property
    def table(self) -> list[dict[str, Any]]:
        """The rows one by one."""
        return [dict(zip(self.rows, r, strict=True)) for r in zip(*self.rows.values(), strict=True)]


@pytest.fixture(params=range(15))
def case(request: pytest.FixtureRequest) -> Case:
    """A random tree that was learned from a data frame."""
    rng = np.random.default_rng(request.param)
    classes = [("no", 'it\'s "yes"'), (0, 1, 2), (False, True)][request.param % 3]
    return Case.of(random_model(rng, depth=5, classes=classes), all_kinds_of_rows(rng))


@pytest.fixture(params=range(100, 106))
def file_case(request: pytest.FixtureRequest) -> Case:
    """A random tree that was learned from a file: white space and words for missing values."""
    rng = np.random.default_rng(request.param)
    model = random_model(rng, depth=5, classes=("no", "yes"))
    model = replace(model, missing_words=tuple(sorted(MISSING)))
    rows = all_kinds_of_rows(rng)
    words = ['a "cook"', "driver's mate", "ünï\\n", "nurse", "NA", "?", "", "na"]

    def pick(values: list[str]) -> str:
        return values[rng.integers(len(values))]

    jobs = [
        None if rng.random() < 0.2 else pick(SPACE) + pick(words) + pick(SPACE) for _ in range(300)
    ]
    return Case.of(model, {**rows, "job": jobs})


def all_kinds_of_rows(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Return rows in which some numbers are infinite, and some missing ones NaN."""
    rows = random_rows(rng, 300)
    strange = [np.inf, -np.inf, np.nan]
    for i in rng.choice(300, size=90, replace=False):
        rows["age"][i] = strange[i % 3]
    return rows


def microseconds(value: datetime | None) -> int:
    """Return a moment as microseconds since 1970, the least integer if it is missing."""
    return int(np.datetime64(value, "us").astype(np.int64))


def as_number(value: Any) -> float:
    """Return a number or a truth value as a float, NaN if it is missing."""
    return float("nan") if value is None else float(value)


__all__ = ["COLUMNS", "Case", "as_number", "microseconds"]
