"""A first look: an optimal tree on a dataset that comes along."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

from goct.binarize.plain import PlainBinarizer
from goct.data import read_csv
from goct.files import atomic_write
from goct.problem import Problem
from goct.solution import Solution
from goct.solve import solve

_TABLE = Path(__file__).parent / "breast-cancer.csv.gz"  # as scikit-learn has it


def run_demo(
    *, depth: int = 4, time_limit: float = 60.0, echo: Callable[[str], object] = print
) -> Solution:
    """Maximise the F1 score on the breast cancer data, and show what is proven."""
    table = read_csv(_TABLE)
    X, diagnosis = table.without({"diagnosis"}), table.columns["diagnosis"]
    binarizer = PlainBinarizer("quantiles", n_thresholds=5).fit(X)
    problem = Problem.from_columns(X, diagnosis, binarizer=binarizer, pos_label="malignant")
    echo(
        f"breast cancer: {problem.n_samples} samples, {problem.n_pos} of them malignant, "
        f"{problem.n_features} conditions"
    )
    echo(f"maximising the F1 score of 'malignant' over all trees of depth {depth} ...\n")
    solution = solve(problem, "f1", max_depth=depth, time_limit=time_limit)
    echo(solution.summary())
    return solution


def write_table(path: str | os.PathLike[str]) -> None:
    """Write the breast cancer data as a CSV file, its last column the diagnosis."""
    with atomic_write(path) as file, gzip.open(_TABLE, "rt") as table:
        file.write(table.read())
