"""Warm starts side by side: what is injected, and what the solver makes of it.

    python benchmarks/warm_start.py --limit 60
    python benchmarks/warm_start.py --names monk3 heart --formulation benders-weighted-cut

This is Table 2 of the paper: accuracy with a penalty of 0.01 per split, in the form of a loss,
`1 - accuracy + 0.01 * splits`. As there, the limit is for the last model: the paper's injection may
take two thirds of it on top, and the others get as long for their last model as that one had. The
gap is that of Gurobi, `(bound - objective) / objective`.

"paper" is the depth-incremental warm start with sub-MIPs at nodes, "cart" the tree of CART with
rounding at nodes; "search" starts from the tree of the search engine and has to prove it by itself;
"search + bound" is goct's default, where a proof of the search engine counts.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from common import load_problem, row
from common import parser as make_parser
from goct import Problem, solve

PENALTY = 0.01
SHARE = 0.4
NAMES = ["monk1", "monk2", "monk3", "tic", "balance", "hayes", "spect", "IndiansDiabetes",
         "messidor", "compas", "heart", "hepatitis"]  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"injection": "paper", "node_heuristic": "mip", "injection_share": SHARE},
    "cart": {"injection": "cart", "node_heuristic": "rounding"},
    "search": {"injection": "search", "search_bound": False},
    "search + bound": {"injection": "search"},
}


@dataclass(frozen=True)
class Outcome:
    """Loss of the injected tree and in the end, gap, seconds of the last model, rejected trees."""

    injected: float
    final: float
    gap: float
    seconds: float
    rejected: int


def run(problem: Problem, depth: int, limit: float, **settings: Any) -> Outcome:
    solution = solve(
        problem,
        "accuracy",
        depth,
        split_penalty=PENALTY,
        engine="mip",
        time_limit=limit,
        random_state=0,
        **settings,
    )
    stats = solution.stats
    assert solution.objective is not None
    assert solution.gap is not None
    objective = float(solution.objective)
    rejected = stats["heuristic_rejected"] + (stats.get("start_accepted") is False)
    return Outcome(
        1 - stats["injected"],
        1 - objective,
        float(solution.gap) / objective,
        stats["stage_times"].get("mip", 0.0),
        rejected,
    )


def reported(folder: Path) -> dict[int, dict[str, dict[str, float]]]:
    """Read what the paper reports, by depth and variant; nothing if it is not there."""
    path = folder.parent / "paper" / "reported" / "warm_start_ablation.csv"
    if not path.exists():
        return {}
    with path.open() as file:
        lines = list(csv.DictReader(file))
    return {
        int(line["depth"]): {
            name: {
                "injected": float(line[f"injection_obj_{name}"]),
                "final": float(line[f"final_obj_{name}"]),
                "gap": float(line[f"final_gap_{name}"].rstrip("%")) / 100,
            }
            for name in ("paper", "cart")
        }
        for line in lines
    }


def header(first: str) -> None:
    row(first, *(f"{what}: {name}" for what in ("injected", "final", "gap") for name in VARIANTS))
    row("---", *["---:"] * (3 * len(VARIANTS)))


def main() -> None:
    parser = make_parser(__doc__, NAMES, [2, 3, 4, 5])
    parser.add_argument("--backend", default="scip")
    parser.add_argument("--formulation", default="benders-pair-cut")
    options = parser.parse_args()
    settings = {"backend": options.backend, "formulation": options.formulation}
    outcomes: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
    for depth in options.depths:
        print(f"\n## depth {depth}\n")
        header("dataset")
        for name in options.names:
            problem = load_problem(options.data, name)
            found: dict[str, Outcome] = {}
            for variant, own in VARIANTS.items():
                limit = options.limit / (1 - SHARE)
                if variant != "paper":
                    limit = max(options.limit, found["paper"].seconds)
                found[variant] = run(problem, depth, limit, **settings, **own)
            for variant, outcome in found.items():
                outcomes[depth, variant].append(outcome)
            row(
                name,
                *(f"{outcome.injected:.3f}" for outcome in found.values()),
                *(f"{outcome.final:.3f}" for outcome in found.values()),
                *(f"{outcome.gap:.1%}" for outcome in found.values()),
            )
    theirs = reported(options.data)
    print(f"\n## averages over {len(options.names)} datasets, {options.limit:g} s or more each\n")
    header("depth")
    for depth in options.depths:
        cells = []
        for what in ("injected", "final", "gap"):
            for variant in VARIANTS:
                value = mean(getattr(outcome, what) for outcome in outcomes[depth, variant])
                cells.append(f"{value:.1%}" if what == "gap" else f"{value:.3f}")
        row(depth, *cells)
    if theirs:
        print("\n## reported in the paper: 50 datasets, 900 s each on Gurobi\n")
        row("depth", *(f"{what}: {n}" for what in ("injected", "final", "gap")
                       for n in ("paper", "cart")))  # fmt: skip
        row("---", *["---:"] * 6)
        for depth in sorted(theirs.keys() & set(options.depths)):
            cells = []
            for what in ("injected", "final", "gap"):
                values = [theirs[depth][name][what] for name in ("paper", "cart")]
                cells += [f"{v:.1%}" if what == "gap" else f"{v:.3f}" for v in values]
            row(depth, *cells)
    print("\nsolutions that a solver rejected:",
          sum(o.rejected for found in outcomes.values() for o in found))  # fmt: skip
    for variant in VARIANTS:
        seconds = mean(o.seconds for depth in options.depths for o in outcomes[depth, variant])
        print(f"seconds of the last model, {variant}: {seconds:.1f} on average")


if __name__ == "__main__":
    main()
