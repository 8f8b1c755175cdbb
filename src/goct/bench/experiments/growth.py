"""How time and memory grow with rows, features and depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from goct.bench.data import synthetic_name
from goct.bench.experiments.base import Experiment, Plan, Profile
from goct.bench.experiments.tools import limits_of, use_log_scale
from goct.bench.render import Figure, Mark, Report, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

_ROWS, _FEATURES, _DEPTH = 2_000, 20, 3  # where the three series meet
_FEW = 12  # so few features that rows repeat
_SERIES = ("rows", "rows that repeat", "features", "depth")


class Growth(Experiment):
    """Seconds and memory of the search engine on data that grows in one direction."""

    name: ClassVar[str] = "growth"
    title: ClassVar[str] = "Growth"
    summary: ClassVar[str] = "goct's search engine on ever more rows, features and depth"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each size; the data are made on the spot."""
        most = {Profile.FULL: 7, Profile.QUICK: 5, Profile.TINY: 3}[plan.profile]
        rows = [10**power for power in range(3, most + 1)]
        features = [10, 20, 40, 80, 160, 320, 640][: 2 * most - 6]
        depths = plan.choose("depths", (1, 2, 3, 4, 5, 6), (1, 2, 3, 4), (1, 2))
        points = [(n, _FEATURES, _DEPTH) for n in (_ROWS, *rows)]
        points += [(n, _FEW, _DEPTH) for n in rows]
        points += [(_ROWS, f, _DEPTH) for f in features]
        points += [(_ROWS, _FEATURES, d) for d in depths]
        metrics = plan.choose("metrics", ("f1",), ("f1",))
        return [
            Spec(
                dataset=synthetic_name(n, f),
                digest="",
                solver="search",
                metric=metric,
                depth=d,
                limit=plan.choose_limit(300.0, 30.0),
                memory=plan.memory,
                seed=plan.seed,
            )
            for metric in metrics
            for n, f, d in sorted(set(points))
        ]

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table for each series, and a figure."""
        tables = []
        lines: dict[str, list[tuple[int, float]]] = {name: [] for name in _SERIES}
        for name in _SERIES:
            rows: list[dict[str, Any]] = []
            for run in runs:
                place, outcome = _place(run.spec, name), run.outcome
                if place is None or outcome is None:
                    continue
                n, f = _size(run.spec)
                proof = "proven" if outcome.is_proven else "open"
                search, peak = outcome.stats.get("time"), outcome.peak
                rows.append(
                    {
                        "rows": n,
                        "features": f,
                        "depth": run.spec.depth,
                        "time [s]": outcome.seconds,
                        "of it search [s]": search if isinstance(search, float) else None,
                        "memory [MB]": None if peak is None else Mark(peak, f"{peak >> 20}"),
                        "F1": outcome.value,
                        "proof": proof if outcome.has_tree else outcome.status.value,
                    }
                )
                if outcome.has_tree:
                    lines[name].append((place, outcome.seconds))
            if rows:
                rows.sort(key=lambda row: (row["rows"], row["features"], row["depth"]))
                tables.append(Table.of(name.replace(" ", "-"), f"More {name}", rows))

        def draw(figure: Any) -> None:
            panels = figure.subplots(1, len(_SERIES), sharey=True)
            for axes, name in zip(panels, _SERIES, strict=True):
                points = sorted(lines[name])
                axes.plot([x for x, _ in points], [max(y, 1e-4) for _, y in points], marker="o")
                use_log_scale(axes.yaxis)
                if name != "depth":
                    use_log_scale(axes.xaxis)
                axes.set_xlabel(name)
            panels[0].set_ylabel("seconds to the proof")

        return Report(
            [
                "The data are made on the spot: features are fair coins, and the label is a rule "
                "of the first six of them, but one in ten labels is flipped, so that no tree is "
                "perfect. goct's search engine maximises F1 on one thread, in at most "
                f"{limits_of(runs)}; the time includes the merging of rows. With {_FEATURES} "
                f"features, there are up to {2**_FEATURES:,} different rows; with {_FEW}, only "
                f"{2**_FEW:,}, so that more rows merely repeat them."
            ],
            tables,
            [Figure("time", "Seconds to the proof", draw, (11.0, 3.5))],
            ["Memory is the largest that the whole process took, the raw table included."],
        )


def _size(spec: Spec) -> tuple[int, int]:
    rows, _, features = spec.dataset.removeprefix("synthetic-").partition("x")
    return int(rows), int(features)


def _place(spec: Spec, series: str) -> int | None:
    """Return where a run is on the axis of a series; None if it is not part of it."""
    rows, features = _size(spec)
    on = {
        "rows": (features, spec.depth) == (_FEATURES, _DEPTH),
        "rows that repeat": (features, spec.depth) == (_FEW, _DEPTH),
        "features": (rows, spec.depth) == (_ROWS, _DEPTH),
        "depth": (rows, features) == (_ROWS, _FEATURES),
    }
    at = {"features": features, "depth": spec.depth}
    return at.get(series, rows) if on[series] else None
