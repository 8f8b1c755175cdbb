"""Race over raw thresholds: goct beside pycontree, one thread each, proof included.

    pip install pycontree
    python benchmarks/race_thresholds.py --depths 2 3 --limit 60

The tables are CSV files of numbers with a header, the column `label` is the class; every distinct
value of every column is a possible threshold. The time is the CPU time from the numbers to the
proof (for goct: ranks, oracle, tree), the quality the number of errors, and the optima must agree.
`--costs 3 5` lets errors on class 1 and class 0 cost that much in goct, without a peer.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np

from common import Features, Fit, Labels, Solver, default_folder, installed, parser, race
from goct.search import LinearOracle, OracleStatus

NAMES = ["raisin", "bank", "wilt", "bidding", "segment", "fault", "occupancy", "htru", "magic"]


def read(folder: Path, name: str) -> tuple[Features, Labels]:
    table = np.genfromtxt(folder / f"{name}.csv.gz", delimiter=",", names=True)
    columns = [column for column in table.dtype.names if column != "label"]
    labels = np.unique(table["label"], return_inverse=True)[1]
    return np.stack([table[column] for column in columns], axis=1), labels


def goct_solver(costs: tuple[int, int] | None) -> Solver:
    def fit(X: Features, y: Labels, depth: int, limit: float) -> Fit:
        start = time.process_time()
        ranks = [np.unique(column, return_inverse=True)[1] for column in X.T]
        oracle = LinearOracle.from_ranks(np.stack(ranks, axis=1))
        errors = (np.arange(y.max() + 1) != y[:, None]).astype(np.int64)
        if costs is not None:
            errors *= np.where(y == 1, costs[0], costs[1])[:, None]
        result = oracle.solve(errors, max_depth=depth, time_limit=limit)
        seconds = time.process_time() - start
        return Fit(seconds, result.cost, result.status is OracleStatus.OPTIMAL)

    return fit


def contree_solver() -> Solver:
    from pycontree import ConTree

    def fit(X: Features, y: Labels, depth: int, limit: float) -> Fit:
        model = ConTree(max_depth=depth, time_limit=limit)
        start = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        seconds = time.process_time() - start
        errors = int((model.predict(X) != y).sum())
        return Fit(seconds, errors, not any("time limit" in str(w.message) for w in caught))

    return fit


if __name__ == "__main__":
    arguments = parser(__doc__, NAMES, [2, 3])
    arguments.set_defaults(data=default_folder().parent / "tables")
    arguments.add_argument("--costs", nargs=2, type=int, help="of errors on class 1 and class 0")
    options = arguments.parse_args()
    costs = None if options.costs is None else (options.costs[0], options.costs[1])
    peers = {} if costs else {"pycontree": installed(contree_solver)}
    race(options, goct_solver(costs), peers, "errors", read)
