"""The datasets beside the paper's table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from goct.bench.experiments.base import Experiment, Plan, Profile
from goct.bench.render import Cell, Mark, Report, Row, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

_COUNTS = {
    "rows": "rows", "unique_rows": "distinct rows", "features": "features", "classes": "classes",
}  # fmt: skip
_MORE = {
    "vectors": "distinct vectors", "kept_features": "features kept",
    "minority_share": "minority share",
}  # fmt: skip


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
        rows: list[Row] = []
        different = []
        for run in runs:
            if run.outcome is None or not run.outcome.stats:
                continue
            name, stats = run.spec.dataset, run.outcome.stats
            known = paper.get(name, {})
            row: dict[str, Cell] = {"dataset": name}
            for count, head in _COUNTS.items():
                number, other = stats.get(count), known.get(count)
                differs = other is not None and other != number
                row[head] = Mark(number, f"**{number}**") if differs else number
                if differs:
                    different.append(name)
            row |= {head: stats.get(count) for count, head in _MORE.items()}
            for count, head in _COUNTS.items() if paper else ():
                row[f"{head}, paper"] = None if (n := known.get(count)) is None else int(n)
            rows.append(row)
        names = [run.spec.dataset for run in runs]
        table = Table.of("counts", "The datasets", rows)
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
