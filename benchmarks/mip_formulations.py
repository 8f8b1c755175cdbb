"""The formulations of the paper side by side: how many questions each proves, and how fast.

    python benchmarks/mip_formulations.py --limit 60
    python benchmarks/mip_formulations.py --names monk1 monk2 monk3 --depths 2 3 --backend gurobi
    python benchmarks/mip_formulations.py --odtlearn --names monk1 monk3 iris --depths 2

This is Figure 3 of the paper: accuracy with a penalty of 0.01 per split, no warm starts, every
solver on one thread. Times and the limit are in CPU seconds, the building of the model included.
"best" is goct's default.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from common import load, load_problem, row
from common import parser as make_parser
from goct import Status, solve

PENALTY = 0.01
NAMES = ["monk1", "monk2", "monk3", "iris", "hayes", "banknote", "IndiansDiabetes", "messidor",
         "compas", "soybean", "spect", "balance"]  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "benders": {"formulation": "benders"},
    "benders-weighted": {"formulation": "benders-weighted"},
    "benders-weighted-cut": {"formulation": "benders-weighted-cut"},
    "best": {},
}


@dataclass(frozen=True)
class Outcome:
    """What a variant did with one question: CPU seconds, gap, objective, and whether it is done."""

    seconds: float
    gap: float
    objective: float
    is_proven: bool


Run = Callable[[str, int], Outcome | None]


def goct_run(options: argparse.Namespace, **settings: Any) -> Run:
    def run(name: str, depth: int) -> Outcome:
        problem = load_problem(options.data, name)
        start = time.process_time()
        solution = solve(
            problem,
            "accuracy",
            depth,
            split_penalty=PENALTY,
            engine="mip",
            callback=lambda _: time.process_time() - start > options.limit,
            backend=options.backend,
            injection="none",
            node_heuristic="rounding",
            **settings,
        )
        seconds = time.process_time() - start
        assert solution.gap is not None
        assert solution.objective is not None
        is_proven = solution.status is Status.OPTIMAL
        return Outcome(seconds, float(solution.gap), float(solution.objective), is_proven)

    return run


def odtlearn_run(options: argparse.Namespace) -> Run:
    """BendersOCT of odtlearn, which needs Gurobi; None where the licence does not reach."""
    from odtlearn.flow_oct import BendersOCT

    def run(name: str, depth: int) -> Outcome | None:
        X, y = load(options.data, name)
        # odtlearn maximises (1 - λ) Σ right - λ · splits; the same trees are best with this λ.
        loss = PENALTY * len(y)
        model = BendersOCT(
            solver="gurobi",
            depth=depth,
            time_limit=int(options.limit),
            _lambda=loss / (1 + loss),
            num_threads=1,
        )
        start = time.process_time()
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # the solver's log
                model.fit(X.astype(np.int64), y)
        except Exception as error:
            print(f"odtlearn on {name}, depth {depth}: {error}")
            return None
        seconds = time.process_time() - start
        is_proven = model.optim_gap <= 1e-6
        return Outcome(seconds, float(model.optim_gap), float("nan"), bool(is_proven))

    return run


def table(options: argparse.Namespace, runs: dict[str, Run]) -> dict[str, list[Outcome]]:
    """Print a row for each question, and return the outcomes."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in runs}
    print(f"\nCPU seconds, or the gap after {options.limit:g} CPU seconds in brackets\n")
    row("dataset", "depth", *runs)
    row("---", "---:", *["---:"] * len(runs))
    for name in options.names:
        for depth in options.depths:
            cells = []
            objectives = set()
            for variant, run in runs.items():
                outcome = run(name, depth)
                if outcome is None:
                    cells.append("–")
                    continue
                outcomes[variant].append(outcome)
                cells.append(
                    f"{outcome.seconds:.2f}" if outcome.is_proven else f"({outcome.gap:.3f})"
                )
                if outcome.is_proven and outcome.objective == outcome.objective:
                    objectives.add(outcome.objective)
            if len(objectives) > 1:
                raise AssertionError(f"{name}, depth {depth}: optima differ: {objectives}")
            row(name, depth, *cells)
    return outcomes


def summary(options: argparse.Namespace, outcomes: dict[str, list[Outcome]]) -> None:
    """Print how many questions were proven by when, and how far the others are from it."""
    times = [options.limit * share for share in (0.01, 0.05, 0.1, 0.25, 0.5)]
    print("\nquestions proven within CPU seconds, and the gaps at the end\n")
    header = [f"{t:g} s" for t in times]
    row("variant", *header, "in all", "gap ≤ 0.01", "gap ≤ 0.05", "mean gap")
    row("---", *["---:"] * (len(times) + 4))
    for variant, results in outcomes.items():
        proven = sorted(result.seconds for result in results if result.is_proven)
        gaps = [0.0 if result.is_proven else result.gap for result in results]
        within = [sum(gap <= bound for gap in gaps) for bound in (0.01, 0.05)]
        row(
            variant,
            *(sum(seconds <= t for seconds in proven) for t in times),
            f"{len(proven)} of {len(results)}",
            *within,
            f"{np.mean(gaps):.3f}",
        )
    for variant, results in outcomes.items():
        done = sorted(result.seconds for result in outcomes["best"] if result.is_proven)
        proven = sorted(result.seconds for result in results if result.is_proven)
        if variant != "best" and proven and len(done) >= len(proven):
            print(
                f"\nbest has proven as many as {variant} in all ({len(proven)}) after "
                f"{done[len(proven) - 1]:.2f} s each; {variant} takes up to {proven[-1]:.2f} s"
            )


def main() -> None:
    parser = make_parser(__doc__, NAMES, [2, 3, 4, 5])
    parser.add_argument("--backend", default="scip")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--odtlearn", action="store_true", help="odtlearn beside them")
    options = parser.parse_args()
    runs = {name: goct_run(options, **VARIANTS[name]) for name in options.variants}
    if options.odtlearn:
        runs["odtlearn"] = odtlearn_run(options)
    summary(options, table(options, runs))


if __name__ == "__main__":
    main()
