"""Ways to state nonlinear metrics: the sizes of models, and what rounding does to them.

    python benchmarks/linearization.py --tables sizes numerics --limit 6

"compact" and "paper" are linear, "miqp" has products. The sizes are those of what states the
metric, without the tree. How fast they are is shown by `goct bench run linearization`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from common import row
from goct import Problem, solve
from goct.metrics import get_metric

ALONE = {"injection": "none", "node_heuristic": "rounding"}
VARIANTS: dict[str, dict[str, Any]] = {
    "compact": {"linearization": "compact"},
    "paper": {"linearization": "paper"},
    "miqp": {"linearization": "none"},
}
SIZES = [100, 1_000, 10_000, 17_898, 100_000, 250_000]


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


TABLES = {"sizes": sizes, "numerics": numerics}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--metrics", nargs="+", default=["f1", "mcc"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per solve")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    options = parser.parse_args()
    for table in options.tables:
        TABLES[table](options)


if __name__ == "__main__":
    main()
