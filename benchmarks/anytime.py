"""How fast good trees come: the first incumbent, and the primal integral.

    python benchmarks/anytime.py --depths 6 --limit 10
    python benchmarks/anytime.py --depths 6 --limit 2 --metric mcc --names HTRU_2 magic04 spambase

For every dataset, a metric is maximised under a time limit; the objective is recorded about twenty
times a second (for metrics that are not linear, only between questions to the oracle). The primal
integral is the mean over the time limit of the distance to the best value that was found, in
hundredths: small if good trees came at once.
"""

from __future__ import annotations

import csv

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
        row("dataset", "first tree [s]", "its value", "last", "bound", "primal integral")
        row("---", *["---:"] * 5)
        for name in options.names:
            problem = load_problem(options.data, name)
            constant = solve(problem, options.metric, 0).value
            seen: list[Progress] = []
            solution = solve(
                problem,
                options.metric,
                depth,
                engine="search",
                time_limit=options.limit,
                callback=lambda progress, seen=seen: seen.append(progress),
            )
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
                f"{100 * area / options.limit:.3f}",
            )


if __name__ == "__main__":
    main()
