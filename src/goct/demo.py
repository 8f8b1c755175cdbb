"""A first look: an optimal tree on a dataset that comes with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.datasets import load_wine

from goct.binarize import Binarizer
from goct.problem import Problem
from goct.solution import Solution
from goct.solve import solve


def run_demo(
    *, depth: int = 2, time_limit: float = 60.0, echo: Callable[[str], object] = print
) -> Solution:
    """Maximise balanced accuracy on the wine data, and show the tree and what is proven.

    Parameters
    ----------
    depth
        The depth of the tree.
    time_limit
        Seconds at most.
    echo
        Prints a line.
    """
    wine = load_wine()
    names = [name.replace("_", " ") for name in wine.feature_names]
    binarizer = Binarizer(n_thresholds=1).fit(wine.data)
    problem = Problem.from_arrays(
        binarizer.transform(wine.data),
        [f"cultivar {label + 1}" for label in wine.target],
        feature_names=binarizer.get_feature_names_out(names).tolist(),
    )
    echo(
        f"wine: {problem.n_samples} samples of {problem.n_classes} cultivars, "
        f"{problem.n_features} conditions, {problem.n_rows} distinct rows"
    )
    echo(f"maximising balanced accuracy over all trees of depth {depth} ...\n")
    solution = solve(problem, "balanced_accuracy", max_depth=depth, time_limit=time_limit)
    echo(solution.summary())
    return solution
