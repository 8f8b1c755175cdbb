"""F1 in 90 seconds: goct's engines and STreeD."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import ANY_OPTIMUM, group, outcomes
from goct.bench.render import (
    Cell,
    Mark,
    Report,
    Row,
    Table,
    mark_best,
    mean,
    question_of,
    refuted,
)
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

_PAPER_COLUMNS = {"BendersOCT-cut": "benders_cut", "STreeD": "streed"}
_PAPER_DEPTHS = (4, 5)
_OPTIONS: dict[str, dict[str, Any]] = {
    "mip": {"injection": "paper", "node_heuristic": "mip"},  # the search engine does not help
    "search": ANY_OPTIMUM,
}
_NAMES = {"search": "goct search", "mip": "goct MIP", "streed": "STreeD"}


class VersusStreed(Experiment):
    """The largest F1 score that each solver finds within a limit, and what it proves."""

    name: ClassVar[str] = "streed"
    title: ClassVar[str] = "F1 against STreeD"
    summary: ClassVar[str] = "the best F1 score within a limit: goct's engines beside STreeD"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset, depth and solver, on all rows and on a half."""
        datasets = plan.choose_datasets(PAPER, ("compas", "hepatitis", "promoters"))
        depths = plan.choose("depths", (4, 5), (3, 4), (2,))
        solvers = plan.choose("solvers", ("search", "mip", "streed"), ("search", "mip", "streed"))
        splits: dict[str, list[int | None]] = {
            "all": [None],
            "train": [*range(plan.choose("splits", 1, 1))],
        }
        return [
            plan.spec(name, solver, metric="f1", depth=depth, limit=plan.choose_limit(90.0),
                      split=split, options=_OPTIONS.get(solver, {}))
            for rows in plan.choose("rows", ("all", "train"), ("all", "train"), ("train",))
            for depth, split, name, solver in product(depths, splits[rows], datasets, solvers)
        ]  # fmt: skip

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table for each depth and kind of rows, and how often each solver is best."""
        paper = reported.table("f1_vs_streed_90s")
        solvers = list(dict.fromkeys(run.spec.solver for run in runs))
        tables = []
        summary: list[Row] = []
        for (is_all, depth), members in group(runs, lambda s: (s.split is None, s.depth)).items():
            known = paper if depth in _PAPER_DEPTHS else {}
            tables.append(_table(is_all, depth, members, solvers, known))
            summary += _summary(is_all, depth, members, solvers)
        limits = ", ".join(f"{limit:g}" for limit in sorted({run.spec.limit for run in runs}))
        caption = "How often each solver has the best F1 score, and what it proves"
        head = Table.of("summary", caption, summary)
        return Report(
            [
                "Every solver is asked for the tree with the largest F1 score of label 1, without "
                f"a penalty per split and with at most 2^depth − 1 splits, in {limits} s on one "
                "thread. The MIP engine starts from the paper's depth-incremental warm start, but "
                "asks linear models only, on pair cuts, as it does by default: this is not the "
                "paper's one model of F1. The search engine has no part in it. "
                "Of equally good trees, any is right, so that the "
                "search engine does not look for one with fewer splits. The F1 score is computed "
                "from the predictions on the rows learnt from. “Proven” means that the solver says "
                "that no tree is better."
            ],
            [head, *tables],
            notes=_notes(runs, paper),
        )


def _where(is_all: bool) -> str:
    return "all rows" if is_all else "training half"


def _table(
    is_all: bool,
    depth: int,
    runs: Sequence[Run],
    solvers: Sequence[str],
    paper: dict[str, dict[str, float | None]],
) -> Table:
    questions = group(runs, lambda spec: (spec.dataset, spec.split))
    many = len({split for _, split in questions}) > 1
    false = [run for run, *_ in refuted(runs)]
    names = [_NAMES.get(solver, solver) for solver in solvers]
    rows: list[Row] = []
    for (dataset, split), some in questions.items():
        by_solver = {run.spec.solver: run for run in some}
        asked = [by_solver.get(solver) for solver in solvers]
        values = [None if r is None or r.outcome is None else r.outcome.value for r in asked]
        row: dict[str, Cell] = {"dataset": f"{dataset}, split {split}" if many else dataset}
        row |= {f"F1, {name}": cell for name, cell in zip(names, mark_best(values), strict=True)}
        for name, run in zip(names, asked, strict=True):
            row[f"time [s], {name}"] = _time(run, is_false=run in false)
        known = paper.get(dataset, {})
        for name, column in _PAPER_COLUMNS.items() if paper else ():
            row[f"F1, {name} in the paper"] = known.get(f"d{depth}_f1_{column}")
        for name, column in _PAPER_COLUMNS.items() if paper else ():
            seconds = known.get(f"d{depth}_time_{column}")
            mark = None if seconds is None else Mark(seconds, f"{seconds:.1f}")
            row[f"time [s], {name} in the paper"] = mark
        rows.append(row)
    stem = f"{'all' if is_all else 'train'}-depth{depth}"
    return Table.of(stem, f"Depth {depth}, {_where(is_all)}", rows)


def _time(run: Run | None, *, is_false: bool) -> Cell:
    if run is None or (outcome := run.outcome) is None:
        return None
    if not outcome.has_tree:
        return Mark(outcome.seconds, outcome.status.value)
    sign = " refuted" if is_false else " proven" if outcome.is_proven else ""
    return Mark(outcome.seconds, f"{outcome.seconds:.1f}{sign}")


def _summary(is_all: bool, depth: int, runs: Sequence[Run], solvers: Sequence[str]) -> list[Row]:
    best: dict[tuple[object, ...], list[tuple[float, str]]] = {}
    for run in runs:
        if run.outcome is not None and run.outcome.value is not None:
            pair = (round(run.outcome.value, 9), run.spec.solver)
            best.setdefault(question_of(run.spec), []).append(pair)
    winners = [
        [solver for value, solver in pairs if value == max(pairs)[0]] for pairs in best.values()
    ]
    rows: list[Row] = []
    for solver in solvers:
        done = outcomes(run for run in runs if run.spec.solver == solver)
        rows.append(
            {
                "rows": _where(is_all),
                "depth": depth,
                "solver": _NAMES.get(solver, solver),
                "questions": len(done),
                "best": sum(solver in w for w in winners),
                "alone best": sum(w == [solver] for w in winners),
                "proven": sum(o.is_proven for o in done),
                "without a tree": sum(not o.has_tree for o in done),
                "mean F1": mean(o.value for o in done),
                "mean time [s]": mean(o.seconds for o in done),
            }
        )
    return rows


def _notes(runs: Sequence[Run], paper: dict[str, dict[str, float | None]]) -> list[str]:
    notes = [
        "Times are wall-clock seconds of the solver, its preparation of the data included; "
        "“refuted” marks a claim of optimality, or a bound, that another solver's tree disproves.",
        "The mean F1 of a solver is over the questions that it has a tree for.",
    ]
    if not paper:
        return notes
    surpassed = sorted({run.spec.dataset for run in runs if _surpasses(run, paper)}, key=str.lower)
    if surpassed:
        notes.append(
            "The paper does not say which rows were learnt from. They cannot have been all: on "
            f"{', '.join(surpassed)} its BendersOCT-cut stopped before the limit, so with an "
            "optimum, and there are better trees for all rows."
        )
    distances = {is_all: _distance(runs, paper, is_all) for is_all in (True, False)}
    if None not in distances.values():
        notes.append(
            f"The F1 scores of the paper's BendersOCT-cut differ by {distances[True]:.3f} on "
            f"average from the best ones found here on all rows, and by {distances[False]:.3f} "
            "from the best ones on training halves. The paper's halves cannot be the same, since "
            "its random splits are not published."
        )
    notes.append(
        "The paper's BendersOCT-cut ran on Gurobi 11 with a penalty of 0.0001 per split, on "
        "another machine. goct's MIP engine ran on the solver that the command below names (SCIP "
        "if it names none), without a penalty, so that all solvers answer the same question."
    )
    return notes


def _distance(
    runs: Sequence[Run], paper: dict[str, dict[str, float | None]], is_all: bool
) -> float | None:
    """Return how far the paper's values are from the best ones here, on average."""
    best: dict[tuple[str, int, int | None], float] = {}
    for run in runs:
        spec = run.spec
        value = None if run.outcome is None else run.outcome.value
        if (spec.split is None) == is_all and value is not None:
            question = (spec.dataset, spec.depth, spec.split)
            best[question] = max(best.get(question, value), value)
    return mean(
        None if known is None else abs(known - value)
        for (dataset, depth, _), value in best.items()
        for known in [paper.get(dataset, {}).get(f"d{depth}_f1_benders_cut")]
    )


def _surpasses(run: Run, paper: dict[str, dict[str, float | None]]) -> bool:
    """Say whether a tree for all rows beats one that the paper found optimal."""
    known = paper.get(run.spec.dataset, {})
    value = known.get(f"d{run.spec.depth}_f1_benders_cut")
    seconds = known.get(f"d{run.spec.depth}_time_benders_cut")
    if None in (value, seconds) or run.outcome is None or run.outcome.value is None:
        return False
    is_done = seconds < 90  # type: ignore[operator]
    return run.spec.split is None and is_done and run.outcome.value > value + 0.0005  # type: ignore[operator]
