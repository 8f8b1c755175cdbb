"""Datasets: a folder of binarized tables, their splits, and tables made on the spot."""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.metrics import Confusion, get_metric

Features = NDArray[np.uint8]
Labels = NDArray[np.int64]

SUFFIX = ".txt.gz"
RAW = ".csv"  # how the names of raw tables end
PAPER = (
    "appendicitis", "biodeg", "cleve", "colic", "compas", "diabetes", "fico", "german-credit",
    "heart", "hepatitis", "HTRU_2", "hungarian", "magic04", "pendigits", "promoters", "spambase",
    "vehicle", "yeast",
)  # fmt: skip
"""The datasets of the paper's study of nonlinear metrics."""

_GZIP = b"\x1f\x8b"
_SYNTHETIC = re.compile(r"synthetic-(\d+)x(\d+)")


def default_folder() -> Path | None:
    """Return the folder that GOCT_DATASETS names, else `shared/datasets` beside a checkout."""
    if named := os.environ.get("GOCT_DATASETS"):
        return Path(named)
    root = Path(__file__).resolve().parents[3]
    beside = root.parent / "shared" / "datasets"
    return beside if (root / "pyproject.toml").exists() and beside.is_dir() else None


def read_dataset(path: Path) -> tuple[Features, Labels]:
    """Read a dataset: a row per line, the label first, then 0/1 features."""
    if path.suffix == ".gz":
        with path.open("rb") as file:
            if file.read(len(_GZIP)) != _GZIP:
                raise ValueError(f"{path.name} is not compressed with gzip")
    try:
        table = np.loadtxt(path, dtype=np.int64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path.name} is not a table of whole numbers: {error}") from None
    if table.shape[0] == 0 or table.shape[1] < 2:
        raise ValueError(f"{path.name} needs rows with a label and at least one feature")
    features = table[:, 1:]
    if ((features != 0) & (features != 1)).any():
        raise ValueError(f"{path.name}: features must be 0 or 1")
    return np.ascontiguousarray(features, dtype=np.uint8), table[:, 0].copy()


def read_any(
    path: Path, target: str | None = None, *, leaks: Sequence[str] = ()
) -> tuple[Any, Labels]:
    """Read a dataset or a raw table: features, as a data frame if it is raw, and labels 0, 1, ...

    Columns that state the label are `leaks`, and left out.
    """
    if not path.name.endswith(f"{RAW}.gz"):
        return read_dataset(path)
    import pandas as pd

    frame = pd.read_csv(path, low_memory=False)
    target = frame.columns[-1] if target is None else target
    if target not in frame:
        raise ValueError(f"{path.name} has no column {target!r}")
    _, labels = np.unique(frame[target].to_numpy(), return_inverse=True)
    return frame.drop(columns=[target, *leaks]), labels.astype(np.int64)


def draw_test(
    y: Labels, number: int, *, most: int | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw three quarters of the rows to learn from, and a quarter to test, with equal shares.

    The same number gives the same rows. At most `most` are learnt from; the test rows do not depend
    on it.
    """
    rng = np.random.default_rng(number)
    place = np.empty(len(y))  # where a row stands in its class, from 0 to 1
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        place[rows] = (rng.permutation(len(rows)) + rng.random()) / len(rows)
    order = np.argsort(place, kind="stable")
    cut = round(0.75 * len(y))
    return np.sort(order[: cut if most is None else min(cut, most)]), np.sort(order[cut:])


def confusion(y: Labels, predicted: Labels) -> tuple[int, ...]:
    """Return TP, FP, FN and TN of label 1 against the rest."""
    cells = ((True, True), (False, True), (True, False), (False, False))
    return tuple(int((((y == 1) == a) & ((predicted == 1) == b)).sum()) for a, b in cells)


def value_of(metric: str, y: Labels, predicted: Labels) -> float:
    """Return the value of a metric, computed from labels and predictions alone."""
    measure = get_metric(metric)
    if y.max() <= 1 or measure.is_binary:
        return float(measure.value(Confusion(*confusion(y, predicted))))
    if measure.name == "accuracy":
        return float((y == predicted).mean())
    if measure.name == "balanced_accuracy":
        return float(np.mean([(predicted[y == k] == k).mean() for k in np.unique(y)]))
    raise ValueError(f"no {metric} of more than two classes")


@dataclass(frozen=True)
class Folder:
    """A folder of datasets, one ``NAME.txt.gz`` each.

    Raw tables, one ``NAME.csv.gz`` each, are in it, or in a folder `tables` beside
    it. They are called ``NAME.csv``; the target is the last column, unless a
    file `catalog.csv` there has a column `target`.
    """

    path: Path

    def __post_init__(self) -> None:
        if not self.path.is_dir():
            raise ValueError(f"there is no folder of datasets {self.path}; name one with --data")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The datasets that are there, in alphabetical order."""
        found = [file.name.removesuffix(SUFFIX) for file in self.path.glob(f"*{SUFFIX}")]
        return tuple(sorted(found, key=str.lower))

    @cached_property
    def tables(self) -> dict[str, Path]:
        """The raw tables by name, in alphabetical order."""
        places = (self.path, self.path.parent / "tables")
        files = [file for place in places for file in place.glob(f"*{RAW}.gz")]
        named = {file.name.removesuffix(".gz"): file for file in reversed(files)}
        return dict(sorted(named.items(), key=lambda item: item[0].lower()))

    def target(self, name: str) -> str | None:
        """Return the target of a raw table; None if no catalog says so."""
        catalog = self.file(name).with_name("catalog.csv")
        if not catalog.exists():
            return None
        with catalog.open(encoding="utf-8", newline="") as file:
            rows = {f"{row['table']}{RAW}": row.get("target") for row in csv.DictReader(file)}
        return rows.get(name)

    def file(self, name: str) -> Path:
        """Return the file of a dataset."""
        return self.tables.get(name, self.path / f"{name}{SUFFIX}")

    def read(self, name: str) -> tuple[Features, Labels]:
        """Return the features and labels of a dataset."""
        return read_dataset(self.file(name))

    def digest(self, name: str) -> str:
        """Return what tells the content of a dataset from others."""
        return hashlib.sha256(self.file(name).read_bytes()).hexdigest()[:12]


def synthetic_name(rows: int, features: int) -> str:
    """Return the name of a dataset that is made on the spot, see :func:`make_synthetic`."""
    return f"synthetic-{rows}x{features}"


def is_synthetic(name: str) -> bool:
    """Say whether a name stands for a dataset that is made on the spot."""
    return _SYNTHETIC.fullmatch(name) is not None


def make_synthetic(name: str, seed: int) -> tuple[Features, Labels]:
    """Make a dataset: features are fair coins, the label is a noisy rule of a few of them.

    The label follows a tree of depth 4 over the first features, but one in ten
    labels is flipped, so that no tree is perfect and none is trivially best.
    """
    match = _SYNTHETIC.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no synthetic dataset")
    rows, columns = int(match[1]), int(match[2])
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(rows, columns), dtype=np.uint8)

    def column(i: int) -> NDArray[np.bool_]:
        return X[:, i % columns].astype(bool)

    rule = np.where(column(0), column(1) & (column(2) | column(3)), column(4) & column(5))
    y = rule ^ (rng.random(rows) < 0.1)
    return X, y.astype(np.int64)


@dataclass(frozen=True)
class Split:
    """Half of the rows to train on, a quarter to choose with, a quarter to test."""

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]

    @classmethod
    def draw(cls, rows: int, number: int) -> Split:
        """Draw a random split; the same number gives the same one."""
        order = np.random.default_rng(number).permutation(rows)
        half, quarter = rows // 2, rows // 4
        return cls(order[:half], order[half : half + quarter], order[half + quarter :])
