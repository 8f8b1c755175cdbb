"""Race for F1: goct beside pystreed's `f1-score`, one thread each, proof included.

    python benchmarks/race_f1.py --depths 3 4 --limit 90

Label 1 is the positive class. The time is the CPU time of the fit, goct's preparation of the
problem included, and the median of a few runs. The optima must agree. Any optimal tree will do, as
it does for pystreed; `--fewest-splits` makes goct look for the smallest one as well.
"""

from __future__ import annotations

import time
from fractions import Fraction

from common import PAPER, Features, Fit, Labels, Solver, installed, parser, race, streed_solver
from goct import Problem, Status, solve


def goct_solver(fewest_splits: bool) -> Solver:
    def fit(X: Features, y: Labels, depth: int, limit: float) -> Fit:
        start = time.process_time()
        problem = Problem.from_arrays(X, y, pos_label=1)
        solution = solve(
            problem,
            "f1",
            depth,
            engine="search",
            time_limit=limit,
            fewest_splits=fewest_splits,
        )
        seconds = time.process_time() - start
        return Fit(seconds, solution.value.as_fraction(), solution.status is Status.OPTIMAL)

    return fit


def f1(y: Labels, predicted: Labels) -> Fraction:
    tp = int(((predicted == 1) & (y == 1)).sum())
    return Fraction(2 * tp, int((predicted == 1).sum() + (y == 1).sum()))


if __name__ == "__main__":
    arguments = parser(__doc__, PAPER, [3, 4])
    arguments.add_argument("--fewest-splits", action="store_true", help="break ties")
    options = arguments.parse_args()
    race(
        options,
        goct_solver(options.fewest_splits),
        {"pystreed": installed(lambda: streed_solver("f1-score", f1))},
        "F1",
    )
