"""What a certificate adds to a solution, how large it is, and how long its check takes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.formulations import SMALL
from goct.bench.experiments.tools import geometric_mean, group, limits_of
from goct.bench.render import Cell, Mark, Report, Row, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec
from goct.metrics import get_metric


class Certificates(Experiment):
    """Sizes and times of certificates."""

    name: ClassVar[str] = "certificates"
    title: ClassVar[str] = "Certificates"
    summary: ClassVar[str] = "proofs as files: their size, what they add, how long a check takes"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each metric, depth and dataset, on all rows."""
        datasets = plan.choose_datasets(PAPER, SMALL[:2])
        depths = plan.choose("depths", (4,), (3,), (2,))
        metrics = [get_metric(m).name for m in plan.choose("metrics", ("f1", "mcc"), ("f1", "mcc"))]
        limit, tables = plan.choose_limit(90.0), plan.folder.tables
        specs = []
        for metric, depth, name in product(metrics, depths, datasets):
            target = plan.folder.target(name) if name in tables else None
            options = {} if target is None else {"target": target}
            specs.append(
                plan.spec(
                    name, "certified", metric=metric, depth=depth, limit=limit, options=options
                )
            )
        return specs

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table for each metric and depth, and one of their means."""
        tables, summary = [], []
        for (metric, depth), members in group(runs, lambda s: (s.metric, s.depth)).items():
            caption = f"{metric} at depth {depth}"
            rows = [_row(run) for run in members]
            tables.append(Table.of(f"{metric}-depth{depth}", caption, rows, digits=2))
            done = [run.outcome.stats for run in members if run.outcome and run.outcome.stats]
            done = [stats for stats in done if stats.get("facts")]
            means: Row = {
                "metric": metric,
                "depth": depth,
                "proofs": len(done),
                "with / without": geometric_mean(s["certified"] / s["plain"] for s in done),
                "at most": max((s["certified"] / s["plain"] for s in done), default=None),
                "check / solve": geometric_mean(s["check"] / s["plain"] for s in done),
                "at most ": max((s["check"] / s["plain"] for s in done), default=None),
                "largest file [kB]": max((s["bytes"] / 1000 for s in done), default=None),
            }
            summary.append(means)
        return Report(
            [
                "Each dataset is solved without and with a certificate, twice in turn, and the "
                "certificate is checked by `goct.verify`. CPU seconds of one thread, the smaller "
                f"of two; each solution may take {limits_of(runs)}. Datasets of numbers are cut "
                "at any threshold."
            ],
            [
                Table.of("summary", "Means are geometric, over proofs that have facts", summary, 2),
                *tables,
            ],
            notes=[
                "A perfect tree needs no facts: its certificate is the tree.",
                "Most of what a certificate adds is a second search, which writes down its steps.",
            ],
        )


def _row(run: Run) -> Row:
    stats: dict[str, Any] = {} if run.outcome is None else dict(run.outcome.stats)
    row: dict[str, Cell] = {"dataset": run.spec.dataset}
    if "check" not in stats:
        why = None if run.outcome is None else Mark(None, run.outcome.status.value)
        heads = ("solve [s]", "with / without", "size [kB]", "facts", "check [s]", "check / solve")
        return row | dict.fromkeys(heads, None) | {"proves": why}
    plain = stats["plain"]
    row |= {"solve [s]": Mark(plain, f"{plain:.3f}"), "with / without": stats["certified"] / plain}
    row |= {"size [kB]": stats["bytes"] / 1000, "facts": stats["facts"]}
    row |= {"check [s]": stats["check"], "check / solve": stats["check"] / plain}
    return row | {"proves": stats["proves"]}
