"""What a size path costs beside one solve of the same depth.

    python benchmarks/path.py --depths 4 --metrics accuracy f1 mcc

One thread, CPU seconds, medians, preparation of the problem not included. A path has every number
of splits that the depth allows; `solve` breaks ties as by default.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

from common import PAPER, geometric_mean, load_problem, parser, row
from goct import Path, Solution, Status, path, solve


def seconds(run: Callable[[], Path | Solution], repeats: int) -> tuple[float, Path | Solution]:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
        if times[-1] > 5:
            break
    return statistics.median(times), found


def main() -> None:
    arguments = parser(__doc__, PAPER, [4])
    arguments.add_argument("--metrics", nargs="+", default=["accuracy", "f1", "mcc"])
    options = arguments.parse_args()
    for depth in options.depths:
        for metric in options.metrics:
            print(f"\n## {metric}, depth {depth}\n")
            row("dataset", "solve [s]", "path [s]", "ratio", "questions", "proven")
            row("---", *["---:"] * 5)
            ratios = []
            for name in options.names:
                problem = load_problem(options.data, name)
                question = (problem, metric, depth)
                ask = {"time_limit": options.limit}
                one, solution = seconds(partial(solve, *question, **ask), options.repeats)
                every, found = seconds(partial(path, *question, **ask), options.repeats)
                if found.is_proven and solution.status is Status.OPTIMAL:
                    assert found[-1].value == solution.value, name
                    ratios.append(every / one)
                proven = sum(s.status is Status.OPTIMAL for s in found)
                row(
                    name,
                    f"{one:.3f}",
                    f"{every:.3f}",
                    f"{every / one:.2f}",
                    found.stats["oracle_calls"],
                    f"{proven} of {len(found)}",
                )
            print(f"\ngeometric mean {geometric_mean(ratios):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
