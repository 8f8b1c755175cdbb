"""Ways to state nonlinear metrics: the paper's Table 3 (MIP or MIQP), model sizes, and numerics.

    python benchmarks/linearization.py --names monk1 monk3 --depths 2 --limit 30
    python benchmarks/linearization.py --tables sizes numerics

"compact" and "paper" are linear, "miqp" has products, "parametric" solves linear models only. Times
and the limit are in CPU seconds, the building of the model included. The sizes are those of what
states the metric, without the tree.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from common import load_problem, row
from common import parser as make_parser
from goct import Problem, Status, solve
from goct.metrics import get_metric

NAMES = ["appendicitis", "monk1", "monk3", "hepatitis", "IndiansDiabetes"]
ALONE = {"injection": "none", "node_heuristic": "rounding"}
VARIANTS: dict[str, dict[str, Any]] = {
    "compact": {"linearization": "compact"},
    "paper": {"linearization": "paper"},
    "miqp": {"linearization": "none"},
    "parametric": {"method": "parametric"},
}
SIZES = [100, 1_000, 10_000, 17_898, 100_000, 250_000]


def compare(options: Any) -> None:
    """Print gap, time and objective of every variant; proven optima must agree."""
    for metric in options.metrics:
        print(f"\n## {metric}: CPU seconds, or gap and objective after {options.limit:g} s\n")
        row("dataset", "depth", *options.variants)
        row("---", "---:", *["---:"] * len(options.variants))
        for name in options.names:
            problem = load_problem(options.data, name)
            for depth in options.depths:
                cells, optima = [], set()
                for variant in options.variants:
                    start = time.process_time()
                    solution = solve(
                        problem,
                        metric,
                        depth,
                        split_penalty=options.penalty,
                        engine="mip",
                        **ALONE,
                        callback=lambda _, s=start: time.process_time() - s > options.limit,
                        **VARIANTS[variant],
                    )
                    seconds = time.process_time() - start
                    assert solution.objective is not None
                    assert solution.gap is not None
                    if solution.status is Status.OPTIMAL:
                        optima.add(solution.objective)
                        cells.append(f"{seconds:.2f} (→ {float(solution.objective):.4f})")
                    else:
                        gap = float(solution.gap)
                        cells.append(f"gap {gap:.2g} (→ {float(solution.objective):.4f})")
                if len(optima) > 1:
                    raise AssertionError(f"{metric}, {name}, depth {depth}: {optima}")
                row(name, depth, *cells)


def blocks(n: int) -> Problem:
    """Eight rows whose counts add up to n, about one positive in eleven."""
    rng = np.random.default_rng(n)
    X = np.array([[r >> k & 1 for k in range(3)] for r in range(8)])
    counts = rng.multinomial(n, rng.dirichlet(np.ones(8)) * 0.5 + 0.0625)
    positive = rng.binomial(counts, rng.permutation([0.01, 0.02, 0.02, 0.03, 0.05, 0.1, 0.25, 0.4]))
    both = np.concatenate([positive, counts - positive])
    labels = np.repeat([1, 0], 8)
    kept = both > 0
    return Problem.from_arrays(np.tile(X, (2, 1))[kept], labels[kept], sample_weight=both[kept])


def sizes(options: Any) -> None:
    """Print the variables, binaries and rows that state a metric."""
    print("\n## what states the metric: variables / binaries / rows\n")
    variants = ["compact", "paper", "miqp"]
    row("metric", "n", *variants)
    row("---", "---:", *["---:"] * len(variants))
    for metric in options.metrics:
        for n in SIZES:
            cells = []
            for variant in variants:
                stats = solve(
                    blocks(n), metric, 1, engine="mip", node_limit=1, time_limit=options.limit,
                    gap=1, **ALONE, **VARIANTS[variant],
                ).stats  # fmt: skip
                kinds = ("variables", "binaries", "rows")
                cells.append(" / ".join(str(stats[f"metric_{kind}"]) for kind in kinds))
            row(metric, n, *cells)


def numerics(options: Any) -> None:
    """Print by how much the solver's own value differs from the exact one of its tree."""
    print("\n## claimed minus exact value, depth 2 (a * if the run is not proven)\n")
    variants = ["compact", "paper"]
    row("metric", "n", *variants)
    row("---", "---:", *["---:"] * len(variants))
    for name in options.metrics:
        metric = get_metric(name)
        for n in SIZES:
            cells = []
            for variant in variants:
                solution = solve(
                    blocks(n), metric, 2, engine="mip", gap=1e-9, node_heuristic="none",
                    time_limit=options.limit, injection="none", **VARIANTS[variant],
                )  # fmt: skip
                claimed = solution.stats.get("claimed")
                if claimed is None:
                    cells.append("–")
                    continue
                proven = solution.gap is not None and float(solution.gap) < 1e-4
                cells.append(f"{claimed - float(solution.value):.1e}{'' if proven else ' *'}")
            row(name, n, *cells)


TABLES = {"compare": compare, "sizes": sizes, "numerics": numerics}


def main() -> None:
    parser = make_parser(__doc__, NAMES, [2])
    parser.add_argument("--metrics", nargs="+", default=["f1", "mcc"])
    parser.add_argument("--penalty", type=float, default=0.01)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    options = parser.parse_args()
    for table in options.tables:
        TABLES[table](options)


if __name__ == "__main__":
    main()
