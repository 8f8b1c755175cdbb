"""What every metric costs: time, oracle calls, and the ratio to F1.

    python benchmarks/metrics.py --depths 3 4 --names cleve yeast

One thread, CPU seconds, preparation of the problem not included. Penalised F1 comes last.
"""

from __future__ import annotations

import time

from common import PAPER, geometric_mean, load_problem, parser, row
from goct import Status, solve
from goct.metrics import METRICS, ClassCost, get_metric
from goct.search.engine import can_maximise

PENALTIES = (0.001, 0.005, 0.01, 0.02)


def main() -> None:
    options = parser(__doc__, PAPER, [3, 4]).parse_args()
    questions = [("f1", get_metric("f1"), 0.0)]
    for name, make in METRICS.items():
        if name not in ("f1", "class_cost", "instance_cost") and can_maximise(make()):
            questions.append((name, make(), 0.0))
    questions.append(("class_cost(5, 1)", ClassCost(5, 1), 0.0))
    questions += [(f"f1 - {p} * splits", get_metric("f1"), p) for p in PENALTIES]
    problems = {name: load_problem(options.data, name) for name in options.names}
    for depth in options.depths:
        print(f"\n## depth {depth}\n")
        row("objective", "total [s]", "largest [s]", "calls", "open", "geometric mean / f1")
        row("---", *["---:"] * 5)
        base: list[float] = []
        for label, metric, penalty in questions:
            times, calls, left_open = [], 0, 0
            for problem in problems.values():
                start = time.process_time()
                solution = solve(
                    problem,
                    metric,
                    depth,
                    split_penalty=penalty,
                    engine="search",
                    time_limit=options.limit,
                )
                times.append(time.process_time() - start)
                calls += solution.stats["oracle_calls"]
                left_open += solution.status is not Status.OPTIMAL
            base = base or times
            mean = geometric_mean(t / b for t, b in zip(times, base, strict=True))
            row(label, f"{sum(times):.2f}", f"{max(times):.2f}", calls, left_open, f"{mean:.2f}")


if __name__ == "__main__":
    main()
