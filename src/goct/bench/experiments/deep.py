"""Deep trees: good ones in a moment, and what is proven about them after a while."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan, Profile
from goct.bench.experiments.tools import ANY_OPTIMUM, group, limits_of
from goct.bench.render import Cell, Mark, Report, Table, mean
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec

_PENALTY = "0.0005"
_SOLVERS = {_PENALTY: ("licketysplit", "praxis", "paced"), "0": ("pytrees-lds", "paced")}
"""Who answers with which price per split."""
_DATASETS = (
    "yeast", "spambase", "magic04", "pendigits", "diabetes", "heart", "colic", "fico", "compas",
    "HTRU_2",
)  # fmt: skip
_SECOND = 1.0
_GAP_DEPTH, _GAP_LIMIT = 6, 10.0
_TOLERANCE = 1e-9


class Deep(Experiment):
    """Trees of depth 5 to 10 in at most a second; and the gap at depth 6 after ten."""

    name: ClassVar[str] = "deep"
    title: ClassVar[str] = "Deep trees"
    summary: ClassVar[str] = "trees of depth 5 to 10 within a second, and gaps at depth 6"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset, depth, price and solver, and those for the gaps."""
        datasets = plan.choose_datasets(_DATASETS, ("monk2", "hepatitis", "compas"))
        depths = plan.choose("depths", (5, 6, 8, 10), (5, 6), (3,))
        everyone = (*dict.fromkeys(s for some in _SOLVERS.values() for s in some), "search")
        solvers = plan.choose("solvers", everyone, everyone)
        specs = [
            plan.spec(name, solver, depth=depth, penalty=penalty, limit=_SECOND,
                      options=ANY_OPTIMUM if solver == "paced" else {})
            for penalty, name, depth in product(_SOLVERS, datasets, depths)
            for solver in _SOLVERS[penalty]
            if solver in solvers
        ]  # fmt: skip
        if "search" in solvers:
            depth = _GAP_DEPTH if plan.profile is Profile.FULL else depths[-1]
            specs += [
                plan.spec(name, "search", depth=depth, limit=plan.choose_limit(_GAP_LIMIT),
                          options=ANY_OPTIMUM)
                for name in plan.choose_datasets(PAPER, datasets)
            ]  # fmt: skip
        return specs

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return how goct's trees compare with each rival's, the trees, and the gaps."""
        races = [run for run in runs if run.spec.solver != "search"]
        gaps = [run for run in runs if run.spec.solver == "search"]
        tables = []
        summary: list[list[Cell]] = []
        for penalty, members in group(races, lambda spec: spec.penalty).items():
            tables.append(_trees(penalty, members))
            summary += _summary(penalty, members)
        head = Table(
            "summary",
            "Where goct's tree is at least as good as the rival's, of those that both have",
            ["price", "rival", "questions", "goct better", "as good", "worse", "worse at most by"],
            summary,
            digits=4,
        )
        gap_text = f"Gaps: goct's search engine on accuracy, stopped after {limits_of(gaps)}."
        return Report(
            [
                "Accuracy minus a price per split, on all rows and one thread. LicketySPLIT sets "
                "the pace: goct gets three times its CPU time, and never more than a second; "
                "the others stop by themselves, or after a second. Objectives are computed from "
                "predictions and numbers of splits.",
                *([gap_text] if gaps else []),
            ],
            [head, *tables, *([_gaps(gaps)] if gaps else [])],
            notes=[
                "LicketySPLIT and PRAXIS count their price per leaf, one more than splits, and so "
                "look for the same trees; PRAXIS rounds it to whole rows. pytrees-rs knows no "
                "price, so that it is asked without one. PRAXIS has no limit on time: what has "
                "not ended ten seconds after the second is killed.",
                "The paper has no such experiment.",
            ],
        )


def _seconds(outcome: Outcome) -> float:
    """Return the CPU seconds of the solver itself, without its pacemaker."""
    own = outcome.stats.get("own")
    if isinstance(own, float):
        return own
    return outcome.seconds if outcome.cpu is None else outcome.cpu


def _trees(penalty: str, runs: Sequence[Run]) -> Table:
    solvers = list(group(runs, lambda spec: spec.solver))
    rows: list[list[Cell]] = []
    for (dataset, depth), members in group(runs, lambda s: (s.dataset, s.depth)).items():
        found = {run.spec.solver: run.outcome for run in members}
        rows.append([dataset, depth, *(_objective(found.get(name)) for name in solvers)])
        rows[-1] += [
            None if (o := found.get(name)) is None or not o.has_tree else Mark(
                _seconds(o), f"{_seconds(o):.3f}")
            for name in solvers
        ]  # fmt: skip
    names = [_name(solver) for solver in solvers]
    columns = ["dataset", "depth", *names, *(f"time [s], {name}" for name in names)]
    title = "without a price" if penalty == "0" else f"minus {penalty} per split"
    return Table(f"price-{penalty}", f"Accuracy {title}", columns, rows, digits=4)


def _name(solver: str) -> str:
    return "goct" if solver == "paced" else solver


def _objective(outcome: Outcome | None) -> Cell:
    if outcome is None or outcome.objective is None:
        return None if outcome is None else Mark(None, outcome.status.value)
    return outcome.objective


def _summary(penalty: str, runs: Iterable[Run]) -> list[list[Cell]]:
    """Return a line for each rival."""
    differences: dict[str, list[float]] = {}
    for members in group(runs, lambda s: (s.dataset, s.depth)).values():
        found = {r.spec.solver: r.outcome.objective for r in members if r.outcome is not None}
        own = found.pop("paced", None)
        for solver, objective in found.items():
            if own is not None and objective is not None:
                differences.setdefault(solver, []).append(own - objective)
    return [
        [penalty, solver, len(some), sum(d > _TOLERANCE for d in some),
         sum(abs(d) <= _TOLERANCE for d in some), sum(d < -_TOLERANCE for d in some),
         max(0.0, -min(some))]
        for solver, some in differences.items()
    ]  # fmt: skip


def _gaps(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        outcome = run.outcome
        if outcome is None:
            rows.append([run.spec.dataset, None, None, None, None])
        else:
            values = (outcome.objective, outcome.bound, outcome.gap, outcome.cpu)
            rows.append([run.spec.dataset, *values])
    rows.append(["mean", None, None, mean(r.outcome.gap for r in runs if r.outcome), None])
    depth = " and ".join(map(str, sorted({run.spec.depth for run in runs})))
    columns = ["dataset", "accuracy", "bound", "gap", "time [s]"]
    return Table("gaps", f"Gaps at depth {depth}, accuracy", columns, rows, digits=4)
