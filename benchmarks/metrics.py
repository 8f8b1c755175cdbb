"""What every objective costs: time, oracle calls, share of phase two, and the ratio to F1.

    python benchmarks/metrics.py --depths 3 4 --names cleve yeast

Every metric of the catalogue, three combinations, four constraints and penalised F1. One thread,
CPU seconds, preparation of the problem not included, ties broken as by default (`--any-optimum`
leaves that out).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from common import PAPER, geometric_mean, load_problem, parser, row
from goct import Status, solve
from goct.constraints import Constraint
from goct.metrics import (
    F1,
    MCC,
    METRICS,
    Accuracy,
    BalancedAccuracy,
    ClassCost,
    FalsePositives,
    GMean,
    Metric,
    Precision,
    Recall,
    Specificity,
)


@dataclass(frozen=True)
class Question:
    """An objective, with how it is called in the table."""

    label: str
    metric: Metric
    penalty: float = 0
    constraints: tuple[Constraint, ...] = ()


def questions() -> list[Question]:
    """F1 comes first: it is what the others are compared with."""
    counts = {"true_positives", "true_negatives", "false_positives", "false_negatives"}
    skipped = {"f1", "class_cost", "instance_cost", "predicted_positives", *counts}
    of_errors = [m() for name, m in METRICS.items() if name not in skipped]
    mixes = [
        0.5 * F1() + 0.5 * Accuracy(),
        0.4 * F1() + 0.3 * MCC() + 0.3 * BalancedAccuracy(),
        0.5 * GMean() + 0.5 * Precision(),
    ]
    constrained = [
        (Precision(), Recall() >= 0.9),
        (Recall(), Precision() >= 0.9),
        (F1(), Specificity() >= 0.95),
        (Recall(), FalsePositives() <= 20),
    ]
    return [
        Question("f1", F1()),
        *(Question(m.name, m) for m in [*of_errors, ClassCost(5, 1), *mixes]),
        *(Question(f"{m.name}, {c.name}", m, constraints=(c,)) for m, c in constrained),
        *(Question(f"f1 - {p} * splits", F1(), p) for p in (0.001, 0.005, 0.01, 0.02)),
    ]


def main() -> None:
    arguments = parser(__doc__, PAPER, [3, 4])
    arguments.add_argument("--any-optimum", action="store_true", help="do not break ties")
    options = arguments.parse_args()
    problems = {name: load_problem(options.data, name) for name in options.names}
    for depth in options.depths:
        print(f"\n## depth {depth}\n")
        row("objective", "total [s]", "largest [s]", "calls", "phase 2", "open", "geo. mean / f1")
        row("---", *["---:"] * 6)
        base: list[float] = []
        for question in questions():
            times, calls, inside, left_open = [], 0, 0.0, 0
            for problem in problems.values():
                start = time.process_time()
                solution = solve(
                    problem,
                    question.metric,
                    depth,
                    split_penalty=question.penalty,
                    constraints=question.constraints,
                    engine="search",
                    time_limit=options.limit,
                    fewest_splits=not options.any_optimum,
                )
                times.append(time.process_time() - start)
                calls += solution.stats["oracle_calls"]
                inside += solution.stats["phase_two"] / solution.stats["time"]
                left_open += solution.status in (Status.FEASIBLE, Status.NO_SOLUTION)
            base = base or times
            mean = geometric_mean(t / b for t, b in zip(times, base, strict=True))
            row(
                question.label,
                f"{sum(times):.2f}",
                f"{max(times):.2f}",
                calls,
                f"{inside / len(times):.0%}",
                left_open,
                f"{mean:.2f}",
            )


if __name__ == "__main__":
    main()
