"""The search engine beside every other package for optimal trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import (
    ANY_OPTIMUM,
    PENALTY,
    geometric_mean,
    group,
    limits_of,
    outcomes,
    proof_cell,
)
from goct.bench.peers import get_solver
from goct.bench.render import Cell, Report, Row, Table, refuted
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec, Status
from goct.metrics import get_metric

_PEERS = ("search", "streed", "dl85", "gosdt", "odtlearn")
_METRICS = ("accuracy", "balanced_accuracy", "f1")
_PENALTIES = {"accuracy": ("0", PENALTY)}  # the others are asked without


class VersusPeers(Experiment):
    """Who proves what in which time; and who does not tell the truth."""

    name: ClassVar[str] = "peers"
    title: ClassVar[str] = "Peers"
    summary: ClassVar[str] = "goct beside pystreed, pydl8.5, gosdt and odtlearn, where they apply"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each question that a solver can answer."""
        datasets = plan.choose_datasets(PAPER, ("compas", "hepatitis", "monk2"))
        depths = plan.choose("depths", (3, 4), (2, 3), (2,))
        specs = []
        solvers = plan.choose("solvers", _PEERS, _PEERS)
        metrics = [get_metric(m).name for m in plan.choose("metrics", _METRICS, _METRICS)]
        questions = [(m, penalty) for m in metrics for penalty in _PENALTIES.get(m, ("0",))]
        for (metric, penalty), depth, name, solver in product(questions, depths, datasets, solvers):
            peer = get_solver(solver)
            can = peer.metrics is None or metric in peer.metrics
            wants = peer.penalised is None or metric in peer.penalised
            if not can or (penalty != "0" and not wants) or (solver == "gosdt" and penalty == "0"):
                continue
            specs.append(
                plan.spec(name, solver, metric=metric, depth=depth, penalty=penalty,
                          limit=plan.choose_limit(90.0),
                          options=ANY_OPTIMUM if solver == "search" else {})
            )  # fmt: skip
        return specs

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table for each question and depth, and the ratios of times."""
        false = [run for run, *_ in refuted(runs)]
        tables = []
        summary: list[Row] = []
        for (metric, penalty, depth), members in group(
            runs, lambda s: (s.metric, s.penalty, s.depth)
        ).items():
            solvers = list(group(members, lambda spec: spec.solver))
            question = metric if penalty == "0" else f"{metric} − {penalty} · splits"
            rows: list[list[Cell]] = []
            ratios: dict[str, list[float]] = {name: [] for name in solvers}
            for dataset, some in group(members, lambda spec: spec.dataset).items():
                by_solver = {run.spec.solver: run for run in some}
                own = by_solver["search"].outcome if "search" in by_solver else None
                best = max((o.objective for o in outcomes(some) if o.objective is not None),
                           default=None)  # fmt: skip
                cells: list[Cell] = [dataset, best]
                for name in solvers:
                    run = by_solver.get(name)
                    outcome = None if run is None else run.outcome
                    cells.append(proof_cell(outcome, is_refuted=run in false))
                    if own is None or outcome is None or not own.is_proven:
                        continue
                    if outcome.has_tree or outcome.status is Status.TIMEOUT:
                        assert run is not None
                        seconds = min(outcome.seconds, run.spec.limit)
                        ratios[name].append(seconds / max(own.seconds, 1e-6))
                rows.append(cells)
            stem = f"{metric}{'' if penalty == '0' else '-penalty'}-depth{depth}"
            tables.append(
                Table(stem, f"{question} at depth {depth}: seconds", ["dataset", "best", *solvers],
                      rows)
            )  # fmt: skip
            for name in solvers:
                done = outcomes(r for r in members if r.spec.solver == name)
                missing = sum(not o.has_tree for o in done)
                ratio = geometric_mean(ratios[name]) if 2 * missing < len(done) else None
                summary.append(
                    {"question": question, "depth": depth, "solver": name, "datasets": len(done),
                     "claims a proof": sum(o.is_proven for o in done),
                     "refuted": sum(r in false for r in members if r.spec.solver == name),
                     "without a tree": missing, "time / goct's": ratio}
                )  # fmt: skip
        caption = "Proofs, false claims, and the geometric mean of the time divided by goct's"
        head = Table.of("summary", caption, summary, digits=2)
        return Report(
            [
                "Each solver is asked the same question on all rows, on one thread, in at most "
                f"{limits_of(runs)}, where it can answer it. Values are computed from predictions. "
                "A time without a mark ends with a claim of a proof. Any optimal tree is right: "
                "goct is not asked for the smallest one."
            ],
            [head, *tables],
            notes=[
                "A solver that stopped at the limit counts with the time it took, so that its "
                "ratio is too small. One that has trees on less than half of the datasets has no "
                "ratio.",
                "gosdt counts its penalty per leaf, which is one more than splits, and so has the "
                "same best trees; it takes no questions without a penalty. odtlearn needs a "
                "licence of Gurobi for all but small tables.",
                "The paper has no such experiment, but for F1 and STreeD.",
            ],
        )
