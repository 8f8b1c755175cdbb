"""How fast good trees come, and what is proven about them when the time is over.

    python benchmarks/anytime.py --depths 6 --limit 10
    OTHER/.venv/bin/python benchmarks/anytime.py --depths 6 --limit 10     # another checkout
    python benchmarks/anytime.py --depths 6 --limit 2 --metric mcc --names HTRU_2 magic04 spambase

For every dataset, a metric is maximised under a time limit; the objective is recorded about twenty
times a second (for metrics that are not linear, only between questions to the oracle). The primal
integral is the mean over the time limit of the distance to the best value that was found, in
hundredths: small if good trees came at once. The gap is that between the last tree and the bound;
the limit is one of wall-clock time, so CPU seconds say what a busy machine left of it.
"""

from __future__ import annotations

import csv
import time

from common import default_folder, load_problem, parser, row
from goct import Progress, solve


def main() -> None:
    catalogue = default_folder() / "catalog.csv"
    names = []
    if catalogue.exists():
        with catalogue.open() as file:
            names = [line["dataset"] for line in csv.DictReader(file)]
    arguments = parser(__doc__, names, [6])
    arguments.add_argument("--metric", default="accuracy")
    options = arguments.parse_args()
    for depth in options.depths:
        print(f"\n## depth {depth}, {options.limit:g} s\n")
        row(
            "dataset",
            "first tree [s]",
            "its value",
            "last",
            "bound",
            "gap",
            "primal integral",
            "CPU",
        )
        row("---", *["---:"] * 7)
        every_gap = []
        for name in options.names:
            problem = load_problem(options.data, name)
            constant = solve(problem, options.metric, 0).value
            seen: list[Progress] = []
            cpu = time.process_time()
            solution = solve(
                problem,
                options.metric,
                depth,
                engine="search",
                time_limit=options.limit,
                callback=lambda progress, seen=seen: seen.append(progress),
            )
            cpu = time.process_time() - cpu
            every_gap.append(float(solution.bound - solution.value))
            first = next((p for p in seen if p.objective > constant), None)
            end = solution.stats["time"]
            # Each progress holds until the next one.
            times = [p.elapsed for p in seen] + [end]
            gaps = [float(solution.value - p.objective) for p in seen]
            start = float(solution.value - constant) * times[0]
            area = start + sum(g * (b - a) for g, a, b in zip(gaps, times, times[1:], strict=False))
            row(
                name,
                f"{first.elapsed if first else end:.2f}",
                f"{float(first.objective if first else solution.value):.4f}",
                f"{float(solution.value):.4f}",
                f"{float(solution.bound):.4f}",
                f"{every_gap[-1]:.4f}",
                f"{100 * area / options.limit:.3f}",
                f"{cpu:.1f}",
            )
        row("mean", *[""] * 4, f"{sum(every_gap) / max(len(every_gap), 1):.4f}", "", "")


if __name__ == "__main__":
    main()
