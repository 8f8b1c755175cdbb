"""Mixed tables, flags and categories beside numbers, every threshold: this checkout and another.

    python benchmarks/race_mixed.py --other ../before/.venv/bin/python --depths 3 4
    python benchmarks/race_mixed.py --tables ../shared/tables --depths 2 3 --metrics f1

Times are CPU seconds of one thread, the least of a few runs, without reading the data; `gain` is
what the other checkout takes, divided by that. Optima must agree. The tables are made by a rule,
with a fifth of the labels turned; with `--tables`, those of a folder that has a catalog.csv stand
beside them, the rarest class against the rest.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROWS = 1500
MADE = {
    "40 flags": (40, ()),
    "40 flags, 20 values": (40, (20,)),
    "40 flags, 300 values": (40, (300,)),
    "40 flags, a number": (40, (ROWS,)),
    "40 flags, four numbers": (40, (ROWS,) * 4),
    "20 flags, two levels, two numbers": (20, (5, 9, ROWS, ROWS)),
    "six numbers": (0, (ROWS,) * 6),
}
"""Flags, and how many values each other column has."""


def make(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ranks and labels."""
    flags, others = MADE[name]
    rng = np.random.default_rng(0)
    numbers = rng.random((ROWS, max(len(others), 1)))
    columns = [rng.random((ROWS, flags)) < rng.uniform(0.1, 0.9, flags)]
    columns += [(numbers[:, [j]] * size).astype(int) for j, size in enumerate(others)]
    ranks = np.concatenate(columns, axis=1).astype(np.int64)
    dense = np.stack([np.unique(c, return_inverse=True)[1] for c in ranks.T], axis=1)
    first, second = (dense[:, j] > np.median(dense[:, j]) for j in (0, -1))
    labels = (first & (dense[:, 1] > 0)) ^ second ^ (rng.random(ROWS) < 0.2)
    return dense, labels.astype(int)


def work() -> None:
    """Answer questions, one per line: this runs in either checkout."""
    from goct import Problem, solve
    from goct.data.csv_file import read_csv

    for line in sys.stdin:
        name, target, metric, depth, limit, repeats = json.loads(line)
        if target is None:
            problem = Problem.from_ranks(*make(name))
        else:
            table = read_csv(name)
            labels = np.asarray(table.columns[target]).astype(str)
            classes, counts = np.unique(labels, return_counts=True)
            rare = labels == classes[counts.argmin()]
            problem = Problem.from_columns(table.without([target]), rare.astype(int))
        times: list[float] = []
        while len(times) < repeats and sum(times) < 2:
            start = time.process_time()
            found = solve(problem, metric, depth, time_limit=limit)
            times.append(time.process_time() - start)
        answer = min(times), float(found.objective), found.status.name == "OPTIMAL"
        print(json.dumps(answer), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--other", help="the Python of another checkout")
    parser.add_argument("--tables", type=Path, help="a folder of raw tables")
    parser.add_argument("--depths", nargs="+", type=int, default=[3, 4])
    parser.add_argument("--metrics", nargs="+", default=["accuracy", "f1"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per question")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    questions: list[tuple[str, str | None]] = [(name, None) for name in MADE]
    if options.tables is not None:
        with (options.tables / "catalog.csv").open(newline="") as catalog:
            questions += [
                (str(options.tables / f"{row['table']}.csv.gz"), row["target"])
                for row in csv.DictReader(catalog)
            ]
    pythons = [sys.executable] + ([options.other] if options.other else [])
    checkouts = [
        subprocess.Popen(
            [python, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for python in pythons
    ]
    for depth in options.depths:
        for metric in options.metrics:
            print(f"\n## {metric}, depth {depth}\n\n| table | here | other | gain |")
            print("| --- | ---: | ---: | ---: |")
            gains: list[float] = []
            for name, target in questions:
                found = []
                for process in checkouts:
                    assert process.stdin is not None
                    assert process.stdout is not None
                    question = (name, target, metric, depth, options.limit, options.repeats)
                    print(json.dumps(question), file=process.stdin, flush=True)
                    found.append(json.loads(process.stdout.readline()))
                if all(is_proven for *_, is_proven in found) and len({v for _, v, _ in found}) > 1:
                    raise AssertionError(f"{name}: {found}")
                cells = [f"{seconds:.3f}" + " (open)" * (not ok) for seconds, _, ok in found]
                if len(found) > 1:
                    gains.append(found[1][0] / found[0][0])
                    cells.append(f"{gains[-1]:.2f}")
                print(f"| {Path(name).name} | {' | '.join(cells)} |", flush=True)
            if gains:
                mean = math.exp(sum(map(math.log, gains)) / len(gains))
                print(f"\nmean gain {mean:.2f}, least {min(gains):.2f}")


if __name__ == "__main__":
    work() if "--work" in sys.argv else main()
