"""What a second thread gains: wall time with one thread over wall time with more.

    python benchmarks/threads.py --jobs 2 --depths 5 --names diabetes hepatitis HTRU_2

The trees must be the same. Accuracy; preparation of the problem not included.
"""

from __future__ import annotations

import statistics
import time

from common import geometric_mean, load_problem, parser, row
from goct import Problem, Solution, solve


def fit(problem: Problem, depth: int, jobs: int, limit: float) -> tuple[float, Solution]:
    start = time.perf_counter()
    solution = solve(problem, "accuracy", depth, engine="search", n_jobs=jobs, time_limit=limit)
    return time.perf_counter() - start, solution


def main() -> None:
    arguments = parser(__doc__, ["diabetes", "heart", "hepatitis", "HTRU_2", "yeast"], [5])
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    for depth in options.depths:
        print(f"\n## depth {depth}\n")
        row("dataset", "1 thread [s]", f"{options.jobs} threads [s]", "speed-up")
        row("---", "---:", "---:", "---:")
        gains = []
        for name in options.names:
            problem = load_problem(options.data, name)
            times = []
            trees = set()
            for jobs in (1, options.jobs):
                runs = [fit(problem, depth, jobs, options.limit) for _ in range(options.repeats)]
                times.append(statistics.median(seconds for seconds, _ in runs))
                trees |= {solution.tree for _, solution in runs}
            if len(trees) > 1:
                raise AssertionError(f"{name}: the tree depends on the number of threads")
            gains.append(times[0] / times[1])
            row(name, f"{times[0]:.2f}", f"{times[1]:.2f}", f"{gains[-1]:.2f}")
        print(f"\ngeometric mean {geometric_mean(gains):.2f}")


if __name__ == "__main__":
    main()
