"""A first look: an optimal tree on a dataset that comes with scikit-learn."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable

from sklearn.datasets import load_breast_cancer

from goct.binarize import Binarizer
from goct.files import atomic_write
from goct.problem import Problem
from goct.solution import Solution
from goct.solve import solve


def run_demo(
    *, depth: int = 4, time_limit: float = 60.0, echo: Callable[[str], object] = print
) -> Solution:
    """Maximise the F1 score on the breast cancer data, and show what is proven."""
    data = load_breast_cancer()
    binarizer = Binarizer(n_thresholds=5).fit(data.data)
    problem = Problem.from_arrays(
        binarizer.transform(data.data),
        data.target_names[data.target],
        pos_label="malignant",
        feature_names=binarizer.get_feature_names_out(data.feature_names).tolist(),
    )
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
    data = load_breast_cancer()
    with atomic_write(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*data.feature_names, "diagnosis"])
        labels = data.target_names[data.target]
        writer.writerows(
            [*row, label] for row, label in zip(data.data.tolist(), labels, strict=True)
        )
