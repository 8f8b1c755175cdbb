"""The datasets beside the paper's table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from goct.bench.experiments.base import Experiment, Plan, Profile
from goct.bench.render import Cell, Mark, Report, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

_COUNTS = ("rows", "unique_rows", "features", "classes")


class Datasets(Experiment):
    """Rows, distinct rows, features and classes."""

    name: ClassVar[str] = "datasets"
    title: ClassVar[str] = "Datasets"
    summary: ClassVar[str] = "rows, distinct rows, features and classes, beside the paper's table"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset of the folder."""
        names = plan.folder.names
        if plan.profile is Profile.TINY:
            names = names[:2]
        return [
            plan.spec(name, "describe", depth=0, limit=plan.choose_limit(60.0, 30.0))
            for name in plan.choose_datasets(names, names)
        ]

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return the table; numbers that differ from the paper's are in bold."""
        paper = reported.table("datasets")
        rows: list[list[Cell]] = []
        different = []
        for run in runs:
            if run.outcome is None or not run.outcome.stats:
                continue
            name, stats = run.spec.dataset, run.outcome.stats
            known = paper.get(name, {})
            cells: list[Cell] = [name]
            for count in _COUNTS:
                other = known.get(count)
                differs = other is not None and other != stats.get(count)
                number = stats.get(count)
                cells.append(Mark(number, f"**{number}**") if differs else number)
                if differs:
                    different.append(name)
            cells += [stats.get("vectors"), stats.get("kept_features"), stats.get("minority_share")]
            if paper:
                cells += [None if (n := known.get(count)) is None else int(n) for count in _COUNTS]
            rows.append(cells)
        names = [run.spec.dataset for run in runs]
        heads = ["rows", "distinct rows", "features", "classes"]
        table = Table(
            "counts",
            "The datasets",
            ["dataset", *heads, "distinct vectors", "features kept", "minority share"]
            + ([f"{head}, paper" for head in heads] if paper else []),
            rows,
        )
        notes = [
            "“Distinct rows” differ in a feature or in the label, “distinct vectors” in a feature.",
            "“Features kept” are those left after constant columns, copies of others and "
            "complements of others are dropped, which no tree needs.",
        ]
        if paper:
            shared = [name for name in names if name in paper]
            absent = [name for name in paper if name not in names]
            same = [name for name in shared if name not in different]
            notes += [
                f"Of the paper's {len(paper)} datasets, {len(shared)} are here; {len(same)} of "
                "them have the same numbers. Numbers that differ are in bold: these files come "
                "from other collections, which binarized the raw data in another way or left out "
                "other rows.",
                f"Not here: {', '.join(absent) or 'none'}.",
            ]
        return Report(["Every dataset is a table of 0/1 features."], [table], notes=notes)
