"""Race for sparse trees: accuracy minus a price per split, and no limit on the depth.

    python benchmarks/race_sparse.py
    python benchmarks/race_sparse.py --names heart tic --prices 0.02 0.01

goct's search engine with max_depth=None beside imodels' FastSmallTreeClassifier (pip install
imodels six numba), one thread each: CPU seconds of the fit, goct's preparation of the problem
included. The objectives must agree wherever both claim a proof.
"""

from __future__ import annotations

import time
import warnings
from fractions import Fraction

import numpy as np

from common import Features, Fit, Labels, geometric_mean, installed, load, row
from common import parser as make_parser
from goct import Problem, Status, solve

NAMES = (
    "monk1 monk2 monk3 car-binary tic breast heart hepatitis spect vote kr mushroom compas "
    "diabetes yeast HTRU_2 spambase"
)


def run_goct(X: Features, y: Labels, price: str, limit: float) -> Fit:
    start = time.process_time()
    problem = Problem.from_arrays(X, y)
    solution = solve(
        problem,
        "accuracy",
        None,
        split_penalty=Fraction(price),
        time_limit=limit,
        engine="search",
        fewest_splits=False,
    )
    seconds = time.process_time() - start
    return Fit(seconds, float(solution.objective), solution.status is Status.OPTIMAL)


def fast_small_tree():
    from imodels import FastSmallTreeClassifier

    def run(X: Features, y: Labels, price: str, limit: float) -> Fit:
        model = FastSmallTreeClassifier(regularization=float(price), time_limit=limit)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        seconds = time.process_time() - start
        # It counts leaves, of which there is one more than splits.
        return Fit(seconds, 1 - model.objective_ + float(price), bool(model.optimal_))

    run(np.eye(4, dtype=int), np.array([0, 1, 0, 1]), "0.1", 60)  # compiles
    return run


def main() -> None:
    parser = make_parser(__doc__, NAMES.split(), [])
    parser.add_argument("--prices", nargs="+", default=["0.05", "0.02", "0.01", "0.005"])
    parser.set_defaults(limit=15.0)
    options = parser.parse_args()
    peer = installed(fast_small_tree)
    row("dataset", "price", "objective", "goct", "FastSmallTree", "ratio")
    row("---", *["---:"] * 5)
    ratios: list[float] = []
    for name in options.names:
        X, y = load(options.data, name)
        for price in options.prices:
            own = run_goct(X, y, price, options.limit)
            other = None if peer is None else peer(X, y, price, options.limit)
            ratio = ""
            if other is not None and own.is_proven and other.is_proven:
                if abs(own.quality - other.quality) > 1e-9:
                    ratio = f"differs: {other.quality:.6f}"
                else:
                    ratios.append(other.seconds / own.seconds)
                    ratio = f"{ratios[-1]:.1f}"
            cells = ("" if fit is None else _cell(fit) for fit in (own, other))
            row(name, price, f"{own.quality:.6f}", *cells, ratio)
    if ratios:
        print(f"\ngeometric mean of {len(ratios)} ratios: {geometric_mean(ratios):.1f}")


def _cell(fit: Fit) -> str:
    return f"{fit.seconds:.3f}" if fit.is_proven else f"open at {fit.seconds:.1f}"


if __name__ == "__main__":
    main()
