"""Every threshold of columns of numbers: goct beside ConTree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import geometric_mean, group, limits_of
from goct.bench.peers import get_solver
from goct.bench.render import Cell, Mark, Report, Table
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec
from goct.metrics import get_metric

_TABLES = ("raisin", "bank", "wilt", "bidding", "segment", "fault", "occupancy", "htru", "magic")
_OWN, _PEER = "thresholds", "contree"


class ThresholdRace(Experiment):
    """Trees that may cut numbers anywhere: who proves what in which time."""

    name: ClassVar[str] = "thresholds"
    title: ClassVar[str] = "Every threshold"
    summary: ClassVar[str] = "goct beside ConTree where numbers may be cut anywhere; F1 and MCC"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each question that a solver can answer."""
        names = [f"{name}.csv" for name in _TABLES]
        tables = plan.choose_datasets(names, names[:4])
        metrics = plan.choose("metrics", ("accuracy", "f1", "mcc"), ("accuracy", "f1", "mcc"))
        depths = plan.choose("depths", (2, 3), (2, 3), (2,))
        solvers = plan.choose("solvers", (_OWN, _PEER), (_OWN, _PEER))
        limit = plan.choose_limit(300.0, 20.0)
        specs = []
        for depth, metric, name, who in product(depths, metrics, tables, solvers):
            peer = get_solver(who)
            if peer.metrics is None or get_metric(metric).name in peer.metrics:
                target = plan.folder.target(name) if name in plan.folder.tables else None
                options = {} if target is None else {"target": target}
                specs.append(
                    plan.spec(name, who, metric=metric, depth=depth, limit=limit, options=options)
                )
        return specs

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table for each depth, and the ratios of times."""
        tables, summary = [], []
        for depth, members in group(runs, lambda s: s.depth).items():
            others = [m for m in group(members, lambda s: s.metric) if m != "accuracy"]
            race = _Race(members, others)
            rows = [race.row(name) for name in group(members, lambda s: s.dataset)]
            heads = ["table", "errors", "goct [s]", "ConTree [s]", "ConTree / goct"]
            heads += [f"{m} [s]" for m in others] + [f"{m} / accuracy" for m in others]
            tables.append(Table(f"depth{depth}", f"Depth {depth}", heads, rows, digits=3))
            summary.append([depth, *race.summary()])
        heads = ["depth", "tables", "proven by goct", "proven by ConTree", "ConTree / goct"]
        metrics = [m for m in group(runs, lambda s: s.metric) if m != "accuracy"]
        heads += [f"{m} / accuracy" for m in metrics]
        head = Table(
            "summary", "Proofs, and geometric means of the ratios", heads, summary, digits=2
        )
        return Report(
            [
                "Every distinct value of every column of numbers is a possible threshold. CPU "
                "seconds of one thread from the numbers to the proof, in at most "
                f"{limits_of(runs)} of wall-clock time. ConTree maximises accuracy only. Errors "
                "are counted from predictions; a time without a mark ends with a proof.",
                "F1 and MCC are those of label 1 against the rest, and need two classes.",
            ],
            [head, *tables],
            notes=[
                "A solver that was stopped counts with its time, so that its ratio is too small."
            ],
        )


class _Race:
    """The runs of a depth."""

    def __init__(self, runs: Sequence[Run], others: Sequence[str]) -> None:
        self.others = others
        self.outcomes = {
            (run.spec.dataset, run.spec.solver, run.spec.metric): run.outcome for run in runs
        }
        self.tables = list(group(runs, lambda spec: spec.dataset))

    def row(self, name: str) -> list[Cell]:
        """Return what there is to say about a table."""
        own, peer = (self.outcomes.get((name, who, "accuracy")) for who in (_OWN, _PEER))
        others = [self.outcomes.get((name, _OWN, metric)) for metric in self.others]
        return [
            name.removesuffix(".csv"),
            _errors(own, peer),
            _cell(own),
            _cell(peer),
            _ratio(peer, own),
            *map(_cell, others),
            *(_ratio(other, own) for other in others),
        ]

    def summary(self) -> list[Cell]:
        """Return counts and geometric means."""
        both = [[self.outcomes.get((n, who, "accuracy")) for n in self.tables]
                for who in (_OWN, _PEER)]  # fmt: skip
        own, peer = both
        pairs = [zip(peer, own, strict=True)]
        pairs += [
            zip([self.outcomes.get((n, _OWN, m)) for n in self.tables], own, strict=True)
            for m in self.others
        ]
        means: list[Cell] = [
            geometric_mean(r for a, b in some if (r := _ratio(a, b)) is not None) for some in pairs
        ]
        proven = [sum(o is not None and o.is_proven for o in some) for some in both]
        return [len(self.tables), *proven, *means]


def _ratio(one: Outcome | None, other: Outcome | None) -> float | None:
    times = [o.cpu for o in (one, other) if o is not None and o.has_tree and o.cpu]
    return times[0] / times[1] if len(times) == 2 else None


def _cell(outcome: Outcome | None) -> Cell:
    if outcome is None:
        return None
    if not outcome.has_tree or outcome.cpu is None:
        return Mark(None, outcome.status.value)
    return Mark(outcome.cpu, f"{outcome.cpu:.3f}" + ("" if outcome.is_proven else " (open)"))


def _errors(own: Outcome | None, peer: Outcome | None) -> Cell:
    """Return the errors of both, once if they are equal."""
    shares = [o.value for o in (own, peer) if o is not None and o.value is not None]
    if not shares:
        return None
    texts = [f"{100 * (1 - share):.3f} %" for share in shares]
    return texts[0] if len(set(texts)) == 1 else " against ".join(texts)
