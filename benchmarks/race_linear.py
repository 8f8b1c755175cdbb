"""Race for accuracy: goct's search engine beside pystreed and pydl8.5, one thread each.

    python benchmarks/race_linear.py --depths 3 4 5
    python benchmarks/race_linear.py --ablation --depths 4

Every solver gets the same 0/1 matrix and labels; the time is the CPU time of the fit, goct's
preparation of the problem included, and the median of a few runs. The optima must agree.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from common import (
    PAPER,
    Features,
    Fit,
    Labels,
    Solver,
    geometric_mean,
    installed,
    load,
    measure,
    race,
    row,
    streed_solver,
)
from common import parser as make_parser
from goct import Problem, Status, solve
from goct.search import TECHNIQUES


def goct_solver(**options: object) -> Solver:
    def run(X: Features, y: Labels, depth: int, limit: float) -> Fit:
        start = time.process_time()
        problem = Problem.from_arrays(X, y)
        solution = solve(
            problem,
            "accuracy",
            depth,
            engine="search",
            time_limit=limit,
            fewest_splits=False,
            **options,
        )
        seconds = time.process_time() - start
        wrong = problem.total_weight * (1 - solution.value.as_fraction())
        return Fit(seconds, int(wrong), solution.status is Status.OPTIMAL)

    return run


def errors(y: Labels, predicted: Labels) -> int:
    return int((predicted != y).sum())


def dl85_solver() -> Solver:
    from pydl85 import DL85Classifier

    def run(X: Features, y: Labels, depth: int, limit: float) -> Fit:
        X, y = X.astype(np.int32), y.astype(np.int32)
        model = DL85Classifier(max_depth=depth, time_limit=math.ceil(limit))
        start = time.process_time()
        model.fit(X, y)
        return Fit(time.process_time() - start, int(model.error_), not model.timeout_)

    return run


def ablation(options: argparse.Namespace) -> None:
    variants = {"all on": {}} | {f"without {name}": {name: False} for name in TECHNIQUES}
    for depth in options.depths:
        print(f"\n## depth {depth}: CPU seconds\n")
        row("variant", *options.names, "total", "geometric mean of ratios")
        row("---", *["---:"] * (len(options.names) + 2))
        base: list[float] = []
        for variant, switches in variants.items():
            solver = goct_solver(techniques=switches)
            times = [
                measure(
                    solver, *load(options.data, name), depth, options.limit, options.repeats
                ).seconds
                for name in options.names
            ]
            base = base or times
            mean = geometric_mean(t / b for t, b in zip(times, base, strict=True))
            row(variant, *(f"{t:.3f}" for t in times), f"{sum(times):.2f}", f"{mean:.2f}")


def main() -> None:
    parser = make_parser(__doc__, PAPER, [3, 4])
    parser.add_argument("--ablation", action="store_true", help="switch techniques off, one by one")
    options = parser.parse_args()
    if options.ablation:
        ablation(options)
    else:
        peers = {
            "pystreed": installed(lambda: streed_solver("accuracy", errors)),
            "pydl8.5": installed(dl85_solver),
        }
        race(options, goct_solver(), peers, "errors")


if __name__ == "__main__":
    main()
