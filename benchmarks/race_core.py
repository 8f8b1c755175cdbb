"""The core beside itself: another checkout of goct, and the same questions made harder.

    python benchmarks/race_core.py --other ../before/.venv/bin/python --depths 4 5 --limit 90
    python benchmarks/race_core.py --cases errors budgets f1 f1-0.01 --depths 4
    python benchmarks/race_core.py --ablation --cases accuracy budgets f1-0.01 --depths 4
    python benchmarks/race_core.py --other ../before/.venv/bin/python --names all --depths 2 3

A case is a metric (accuracy, f1, mcc), with a price per split (f1-0.01) or a minimum number of rows
per leaf (f1:5, f1:1%), or, by one question to the core, `errors`: the fewest errors, and `budgets`:
the same for every number of splits.
`here` is the CPU time of this checkout in seconds, one thread, the least of a few runs, without
reading the data; `gain` is what the other checkout takes, divided by that; `price` is `here`
divided by what the metric takes by itself. Optima must agree; how many did is counted. With more
than two classes, metrics other than accuracy are about class 1 and the rest. With `--ablation` each
technique is switched off by itself: then `time` is what that takes, divided by what it takes with
all of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from fractions import Fraction
from typing import Any

import numpy as np

from goct import Problem, constraints, solve
from goct.search import TECHNIQUES, LinearOracle

CASES = "accuracy f1 mcc f1-0.01 mcc-0.01 accuracy:5 accuracy:1% f1:5 f1:1% errors budgets"


def ask(
    X: Any, y: Any, case: str, depth: int, limit: float, techniques: dict[str, bool]
) -> tuple[str, bool]:
    """Return what the best tree is worth, and whether that is proven."""
    if case in ("errors", "budgets"):
        labels = np.unique(y, return_inverse=True)[1]
        costs = 1 - np.eye(labels.max() + 1, dtype=np.int64)[labels]
        oracle = LinearOracle(X, techniques=techniques)
        size = {"max_depth": depth, "time_limit": limit}
        found = (
            [oracle.solve(costs, **size)]
            if case == "errors"
            else oracle.solve_budgets(costs, max_splits=2**depth - 1, **size)
        )
        return str([one.cost for one in found]), all(one.cost == one.bound for one in found)
    metric, _, least = case.partition(":")
    metric, _, price = metric.partition("-")
    options: dict[str, Any] = {"split_penalty": Fraction(price)} if price else {}
    if least:
        rows = len(y) * int(least[:-1]) // 100 if least.endswith("%") else int(least)
        options["constraints"] = [constraints.MinLeafWeight(max(rows, 1))]
    if y.max() > 1 and metric != "accuracy":
        y = (y == 1).astype(np.int64)
    problem = Problem.from_arrays(X, y, pos_label=1 if y.max() <= 1 else None)
    solution = solve(
        problem,
        metric,
        depth,
        engine="search",
        time_limit=limit,
        fewest_splits=False,
        techniques=techniques,
        **options,
    )
    return f"{float(solution.objective):.12f}", solution.status.name == "OPTIMAL"


def work() -> None:
    """Answer questions, one per line: this runs in either checkout."""
    for line in sys.stdin:
        path, case, depth, limit, repeats, techniques = json.loads(line)
        table = np.loadtxt(path, dtype=np.int64, ndmin=2)
        X, y = np.ascontiguousarray(table[:, 1:], dtype=np.uint8), table[:, 0].copy()
        times: list[float] = []
        while len(times) < repeats and sum(times) < 2:
            start = time.process_time()
            value, is_proven = ask(X, y, case, depth, limit, techniques)
            times.append(time.process_time() - start)
        print(json.dumps([min(times), value, is_proven]), flush=True)


class Checkout:
    """A process that answers questions with the goct of its Python."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *question: object) -> tuple[float, str, bool]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        seconds, value, is_proven = json.loads(self._process.stdout.readline())
        return seconds, value, is_proven


def ablation(options: Any, here: Checkout) -> None:
    """Print what each technique gains."""
    from common import data, geometric_mean, row

    for depth in options.depths:
        for case in options.cases:
            print(f"\n## {case}, depth {depth}\n")
            row("without", *options.names, "time")
            row("---", *["---:"] * (len(options.names) + 1))
            base: list[float] = []
            for variant in ("", *options.without):
                times = [
                    here.ask(
                        str(options.data / f"{name}{data.SUFFIX}"),
                        *(case, depth, options.limit, options.repeats),
                        {variant: False} if variant else {},
                    )[0]
                    for name in options.names
                ]
                base = base or times
                mean = geometric_mean(t / b for t, b in zip(times, base, strict=True))
                row(variant or "nothing", *(f"{t:.3f}" for t in times), f"{mean:.2f}")


def main() -> None:
    from common import PAPER, data, geometric_mean, parser, row

    arguments = parser(__doc__, PAPER, [4])
    arguments.add_argument("--cases", nargs="+", default=CASES.split())
    arguments.add_argument("--other", help="the Python of another checkout")
    arguments.add_argument("--ablation", action="store_true", help="without each technique")
    arguments.add_argument("--without", nargs="+", default=[*TECHNIQUES], help="only these")
    options = arguments.parse_args()
    if options.names == ["all"]:
        paths = sorted(options.data.glob(f"*{data.SUFFIX}"))
        options.names = [path.name.removesuffix(data.SUFFIX) for path in paths]
    here = Checkout(sys.executable)
    if options.ablation:
        return ablation(options, here)
    other = Checkout(options.other) if options.other else None
    alone: dict[tuple[str, str, int], float] = {}
    agreed = 0
    for depth in options.depths:
        for case in options.cases:
            print(f"\n## {case}, depth {depth}\n")
            row("dataset", "value", "here", "other", "gain", "price")
            row("---", *["---:"] * 5)
            gains: list[float] = []
            prices: list[float] = []
            for name in options.names:
                path = str(options.data / f"{name}{data.SUFFIX}")
                question = (path, case, depth, options.limit, options.repeats, {})
                seconds, value, is_proven = here.ask(*question)
                cells = ["", "", ""]
                if other is not None:
                    before, worth, was_proven = other.ask(*question)
                    if is_proven and was_proven:
                        if value != worth:
                            raise AssertionError(f"{name}: {value} and {worth} differ")
                        agreed += 1
                    gain = before / seconds
                    cells[:2] = [f"{before:.3f}" + " (open)" * (not was_proven), f"{gain:.2f}"]
                    if is_proven:  # at least so much if the other one is open
                        gains.append(gain)
                metric = case.partition(":")[0].partition("-")[0].replace("budgets", "errors")
                if case == metric and is_proven:
                    alone[name, metric, depth] = seconds
                elif (name, metric, depth) in alone:
                    price = seconds / alone[name, metric, depth]
                    cells[2] = f"{price:.2f}" + " (at least)" * (not is_proven)
                    prices.append(price)
                shown = value if len(value) < 20 else ""
                row(name, shown, f"{seconds:.3f}" + " (open)" * (not is_proven), *cells)
            print(f"\nmean gain {geometric_mean(gains):.2f}, least {min(gains, default=0):.2f}")
            print(f"mean price {geometric_mean(prices):.2f}, largest {max(prices, default=0):.2f}")
    if other is not None:
        print(f"\n{agreed} optima were proven by both, and are equal")


if __name__ == "__main__":
    work() if "--work" in sys.argv else main()
