"""All best trades between missed positives and false alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import group, limits_of
from goct.bench.render import Cell, Figure, Report, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

_PANELS = 6


class FrontierExperiment(Experiment):
    """The corners of the ROC hull, and the whole Pareto front."""

    name: ClassVar[str] = "frontier"
    title: ClassVar[str] = "Frontiers"
    summary: ClassVar[str] = "all best trades between the two kinds of error, proven complete"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset, depth, and kind of frontier."""
        datasets = plan.choose_datasets(PAPER, ("compas", "hepatitis", "fico"))
        depths = plan.choose("depths", (2, 3, 4), (2, 3), (1, 2))
        return [
            plan.spec(
                name,
                "frontier",
                depth=depth,
                limit=plan.choose_limit(300.0),
                options={"pareto": True} if pareto else {},
            )
            for depth, pareto, name in product(depths, (False, True), datasets)
        ]

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return the number of points and the time for each, and pictures of the hulls."""
        rows: list[list[Cell]] = []
        for (dataset, depth), members in group(runs, lambda s: (s.dataset, s.depth)).items():
            cells: list[Cell] = [dataset, depth]
            for pareto in (False, True):
                run = next((r for r in members if bool(r.spec.option("pareto")) == pareto), None)
                outcome = None if run is None else run.outcome
                if outcome is None or "points" not in outcome.stats:
                    cells += [None, None, None if outcome is None else outcome.status.value]
                    continue
                proof = "complete" if outcome.is_proven else "open"
                cells += [len(outcome.stats["points"]), outcome.seconds, proof]
            rows.append(cells)
        columns = ["dataset", "depth"]
        for count, what in (("corners", "hull"), ("points", "Pareto front")):
            columns += [f"{count} of the {what}", f"time [s], {what}", f"proof, {what}"]
        hulls = {
            name: members
            for name, members in group(
                [r for r in runs if r.outcome is not None and not r.spec.option("pareto")],
                lambda spec: spec.dataset,
            ).items()
            if any("points" in r.outcome.stats for r in members if r.outcome is not None)
        }

        def draw(figure: Any) -> None:
            shown = list(hulls.items())[:_PANELS]
            columns = min(len(shown), 3) or 1
            lines = math.ceil(len(shown) / columns) or 1
            panels = figure.subplots(lines, columns, squeeze=False).ravel()
            for axes, (name, members) in zip(panels, shown, strict=False):
                for run in members:
                    if run.outcome is not None and run.outcome.stats.get("points"):
                        xs, ys = _roc(run.outcome.stats)
                        axes.plot(xs, ys, marker=".", label=f"depth {run.spec.depth}")
                axes.set_title(name)
                axes.set_xlabel("false positive rate")
                axes.set_ylabel("recall")
                axes.legend(fontsize="small", loc="lower right")

        return Report(
            [
                "For each dataset and depth, goct finds all corners of the ROC hull of the trees "
                "of that depth, with one best tree for each, and, as a second task, all trees "
                "that no other beats in both kinds of error; on all rows, in at most "
                f"{limits_of(runs)}."
            ],
            [Table("counts", "How many points there are", columns, rows)],
            [Figure("roc", "Optimal ROC hulls by depth", draw, (11.0, 7.0))],
            ["The paper has no such experiment."],
        )


def _roc(stats: Any) -> tuple[list[float], list[float]]:
    points = [[stats["positives"], 0], *stats["points"], [0, stats["negatives"]]]
    pairs = sorted((fp / stats["negatives"], 1 - fn / stats["positives"]) for fn, fp in points)
    return [x for x, _ in pairs], [y for _, y in pairs]
