"""How long the search engine takes to prove a tree optimal, for each metric and depth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import (
    METRICS,
    draw_proven,
    geometric_mean,
    group,
    limits_of,
    outcomes,
    proven_times,
)
from goct.bench.render import Cell, Figure, Mark, Report, Row, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec
from goct.metrics import get_metric


class TimeToProof(Experiment):
    """Seconds until the tree is proven optimal."""

    name: ClassVar[str] = "time-to-proof"
    title: ClassVar[str] = "Time to the proof"
    summary: ClassVar[str] = "goct's search engine: seconds to the proof, for each metric and depth"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each metric, depth and dataset, on all rows."""
        datasets = plan.choose_datasets(PAPER, ("compas", "hepatitis", "fico"))
        depths = plan.choose("depths", (3, 4, 5), (2, 3), (2,))
        metrics = [
            get_metric(m).name
            for m in plan.choose("metrics", METRICS, ("accuracy", "f1", "mcc", "gmean"))
        ]
        solvers = plan.choose("solvers", ("search",), ("search",))
        penalties = plan.choose("penalties", ("0",), ("0",))
        return [
            plan.spec(name, solver, metric=metric, depth=depth, penalty=penalty,
                      limit=plan.choose_limit(90.0))
            for solver, depth, metric, penalty in product(solvers, depths, metrics, penalties)
            for name in datasets
        ]  # fmt: skip

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table of sums, a table for each depth, and a figure."""
        labels = {run.spec: _label(run.spec, runs) for run in runs}
        summary: list[Row] = []
        for (label, depth), members in group(runs, lambda s: (labels[s], s.depth)).items():
            done, times = outcomes(members), proven_times(members)
            seconds = [outcome.seconds for outcome in done]
            summary.append(
                {"metric": label, "depth": depth, "datasets": len(done), "proven": len(times),
                 "sum": sum(seconds), "largest": max(seconds, default=None),
                 "geometric mean": geometric_mean(seconds)}
            )  # fmt: skip
        caption = "Seconds over the datasets; what is not proven counts with the time it took"
        head = Table.of("summary", caption, summary, digits=2)
        tables = []
        for depth, members in group(runs, lambda spec: spec.depth).items():
            names = list(dict.fromkeys(labels[run.spec] for run in members))
            rows: list[Row] = []
            for dataset, some in group(members, lambda spec: spec.dataset).items():
                by_name = {labels[run.spec]: run.outcome for run in some}
                times_by_name = {name: _seconds(by_name.get(name)) for name in names}
                rows.append({"dataset": dataset, **times_by_name})
            caption = f"Depth {depth}: seconds to the proof, or “open” at the limit"
            tables.append(Table.of(f"depth{depth}", caption, rows))

        def draw(figure: Any) -> None:
            by_depth = group(runs, lambda spec: spec.depth)
            panels = figure.subplots(1, len(by_depth), squeeze=False, sharey=True)[0]
            for axes, (depth, members) in zip(panels, by_depth.items(), strict=True):
                series = group(members, lambda spec: labels[spec])
                draw_proven(axes, {**series}, f"depth {depth}")
            panels[-1].legend(fontsize="small")

        return Report(
            [
                "goct's search engine maximises each metric on all rows of each dataset, on one "
                f"thread, in at most {limits_of(runs)}. Times include the preparation of the data "
                "and, after the proof, the search for an optimal tree with the fewest splits."
            ],
            [head, *tables],
            [Figure("proven", "Datasets proven over time, for each metric", draw, (11.0, 4.0))],
            ["The paper has no such table."],
        )


def _label(spec: Spec, runs: Sequence[Run]) -> str:
    parts = [spec.metric]
    if len({run.spec.penalty for run in runs}) > 1:
        parts.append(f"λ={spec.penalty}")
    if len({run.spec.solver for run in runs}) > 1:
        parts.append(spec.solver)
    return ", ".join(parts)


def _seconds(outcome: Outcome | None) -> Cell:
    if outcome is None:
        return None
    if outcome.is_proven:
        return Mark(outcome.seconds, f"{outcome.seconds:.2f}")
    return Mark(None, "open" if outcome.has_tree else outcome.status.value)
