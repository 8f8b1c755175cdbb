"""Datasets: a folder of binarized tables, their splits, and tables made on the spot."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.uint8]
Labels = NDArray[np.int64]

SUFFIX = ".txt.gz"
PAPER = (
    "appendicitis",
    "biodeg",
    "cleve",
    "colic",
    "compas",
    "diabetes",
    "fico",
    "german-credit",
    "heart",
    "hepatitis",
    "HTRU_2",
    "hungarian",
    "magic04",
    "pendigits",
    "promoters",
    "spambase",
    "vehicle",
    "yeast",
)
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


@dataclass(frozen=True)
class Folder:
    """A folder of datasets, one ``NAME.txt.gz`` each.

    Attributes
    ----------
    path
        Where it is.
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

    def file(self, name: str) -> Path:
        """Return the file of a dataset."""
        return self.path / f"{name}{SUFFIX}"

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
    """Half of the rows to train on, a quarter to choose with, a quarter to test.

    Attributes
    ----------
    train, validation, test
        The rows of each part.
    """

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]

    @classmethod
    def draw(cls, rows: int, number: int) -> Split:
        """Draw a random split; the same number gives the same one."""
        order = np.random.default_rng(number).permutation(rows)
        half, quarter = rows // 2, rows // 4
        return cls(order[:half], order[half : half + quarter], order[half + quarter :])
