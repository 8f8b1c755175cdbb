"""Race for accuracy: goct's search engine beside pystreed and pydl8.5, one thread each.

    python benchmarks/race_linear.py --depths 3 4 5

Every solver gets the same 0/1 matrix and labels; the time is the CPU time of the fit, goct's
preparation of the problem included, and the median of a few runs. The optima must agree.
"""

from __future__ import annotations

import math
import time

import numpy as np

from common import (
    PAPER,
    Features,
    Fit,
    Labels,
    Solver,
    installed,
    race,
    streed_solver,
)
from common import parser as make_parser
from goct import Problem, Status, solve


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


def main() -> None:
    parser = make_parser(__doc__, PAPER, [3, 4])
    options = parser.parse_args()
    peers = {
        "pystreed": installed(lambda: streed_solver("accuracy", errors)),
        "pydl8.5": installed(dl85_solver),
    }
    race(options, goct_solver(), peers, "errors")


if __name__ == "__main__":
    main()
