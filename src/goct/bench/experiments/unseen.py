"""How trees of tuned size do on unseen rows, beside tuned rivals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import stdev
from typing import Any, ClassVar

from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import group
from goct.bench.peers.tuned import FOLDS
from goct.bench.render import Cell, Figure, Mark, Report, Table, mean
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec

LEARNERS = {
    "goct-cv": "goct",
    "goct-1se": "goct, one standard error",
    "goct-mdlp": "goct, MDLP",
    "goct-8": "goct, 8 quantiles",
    "goct-32": "goct, 32 quantiles",
    "goct-exact": "goct, every threshold",
    "cart-cv": "CART",
    "cart-balanced": "CART, balanced",
    "cart-threshold": "CART, tuned threshold",
    "figs": "FIGS",
    "shrunken": "shrunken CART",
    "boosting": "boosting",
}
"""Who takes part: solvers, and what they are called."""

_BINARIZERS = ("goct-mdlp", "goct-8", "goct-32", "goct-exact")
"""Ways to make conditions, which 0/1 data do not need."""
_NEVER = ("mushroom", "corral", "mux6")
"""Datasets that every learner solves without an error, or nearly so."""
_QUICK = ("compas", "heart", "hepatitis", "raisin.csv")
_LEAKS = {"coupon.csv": ("click",)}
"""Columns that state the label."""
_MOST_ROWS = 4000
_FEW_ROWS = 250


class Unseen(Experiment):
    """Three quarters of the rows to learn and tune, a quarter to test, several times."""

    name: ClassVar[str] = "unseen"
    title: ClassVar[str] = "Trees of tuned size on unseen rows"
    summary: ClassVar[str] = "goct beside CART and others, all tuned by cross-validation"

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset, metric and learner, over all splits."""
        every = (*(name for name in plan.folder.names if name not in _NEVER), *plan.folder.tables)
        names = plan.choose_datasets(every, _QUICK)
        metrics = plan.choose("metrics", ("accuracy", "f1", "mcc"), ("accuracy", "f1"), ("f1",))
        depths = plan.choose("depths", (4,), (3,), (2,))
        splits = plan.choose("splits", 5, 2, 1)
        limit = plan.choose_limit(120.0, 20.0)
        learners = plan.choose("solvers", tuple(LEARNERS), tuple(LEARNERS), ("goct-cv", "cart-cv"))
        specs = []
        for depth, metric, name, who in product(depths, metrics, names, learners):
            is_raw = name in plan.folder.tables
            if not takes_part(who, metric, is_raw=is_raw):
                continue
            options: dict[str, Any] = {"most_rows": _MOST_ROWS, "splits": splits}
            if is_raw:
                options |= {"target": plan.folder.target(name), "leaks": _LEAKS.get(name, ())}
            specs.append(
                plan.spec(name, who, metric=metric, depth=depth, limit=limit * splits,
                          options=options)
            )  # fmt: skip
        return specs

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return, for each metric and depth, the means, the duels and each dataset."""
        tables: list[Table] = []
        figures = []
        for (metric, depth), members in group(runs, lambda s: (s.metric, s.depth)).items():
            for kind, part in _parts(members):
                study = Study(metric, part)
                if study.learners:
                    stem = f"{metric}-depth{depth}-{kind}"
                    tables += study.tables(stem, f"{metric}, depth {depth}, {_KINDS[kind]}")
                    figures.append(study.figure(stem))
        return Report(_text(runs), tables, figures, _notes(runs))


_KINDS = {"binary": "0/1 datasets", "raw": "raw tables"}


def takes_part(learner: str, metric: str, *, is_raw: bool) -> bool:
    """Say whether a learner takes part: not if it is the same as another one there."""
    if learner in ("cart-balanced", "cart-threshold"):
        return metric != "accuracy"
    return is_raw or learner not in _BINARIZERS


def _parts(runs: Sequence[Run]) -> Iterator[tuple[str, list[Run]]]:
    raw = [run for run in runs if run.spec.option("target") is not None]
    yield "binary", [run for run in runs if run.spec.option("target") is None]
    yield "raw", raw


@dataclass(frozen=True)
class Study:
    """The runs for a metric and a depth."""

    metric: str
    runs: Sequence[Run]

    @cached_property
    def outcomes(self) -> dict[tuple[str, str], Outcome]:
        """The outcomes by dataset and learner, of those that have done all splits."""
        return {
            (run.spec.dataset, run.spec.solver): run.outcome
            for run in self.runs
            if run.outcome is not None and run.outcome.has_tree
        }

    @cached_property
    def learners(self) -> list[str]:
        """Who learnt, in the order of :data:`LEARNERS`."""
        there = {learner for _, learner in self.outcomes}
        return [*(w for w in LEARNERS if w in there), *sorted(there - LEARNERS.keys())]

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets on which goct and CART are done, in alphabetical order."""
        both = ("goct-cv", "cart-cv")
        names = {name for name, _ in self.outcomes}
        done = [name for name in names if all((name, who) in self.outcomes for who in both)]
        return sorted(done, key=str.lower)

    @cached_property
    def rival(self) -> str | None:
        """The variant of CART with the largest mean."""
        variants = [name for name in self.learners if name.startswith("cart")]
        return max(variants, key=lambda who: self.average(who) or 0.0, default=None)

    def score(self, dataset: str, learner: str) -> float | None:
        """Return the mean over the splits on the test rows."""
        outcome = self.outcomes.get((dataset, learner))
        return None if outcome is None else outcome.value

    def average(self, learner: str, names: Sequence[str] | None = None) -> float | None:
        """Return the mean over the datasets."""
        return mean(self.score(name, learner) for name in names or self.datasets)

    def tables(self, stem: str, title: str) -> list[Table]:
        """Return means and duels, and the scores on each dataset."""
        if not self.datasets:
            return []
        few = [n for n in self.datasets if _rows(self.outcomes[n, "goct-cv"]) <= _FEW_ROWS]
        many = [name for name in self.datasets if name not in few]
        heads = ["learner", "datasets", "mean", "splits", "CPU [s]",
                 f"wins : losses against {_called(self.rival)}", "difference ± standard error",
                 "Wilcoxon's p", f"mean, more than {_FEW_ROWS} rows",
                 f"mean, at most {_FEW_ROWS} rows"]  # fmt: skip
        rows: list[list[Cell]] = []
        for who in self.learners:
            names = [name for name in self.datasets if (name, who) in self.outcomes]
            done = [self.outcomes[name, who] for name in names]
            rows.append(
                [_called(who), len(names), self.average(who), mean(map(_splits, done)),
                 mean(o.cpu for o in done), *self._duel(who, names), self.average(who, many),
                 self.average(who, few) if few else None]
            )  # fmt: skip
        scores: list[list[Cell]] = [
            [name, _rows(self.outcomes[name, "goct-cv"]),
             *(_with_error(self.outcomes.get((name, who))) for who in self.learners)]
            for name in self.datasets
        ]  # fmt: skip
        return [
            Table(f"{stem}-means", f"{title}: means on unseen rows", heads, rows),
            Table(f"{stem}-scores", f"{title}: each dataset, mean ± standard error over splits",
                  ["dataset", "rows", *map(_called, self.learners)], scores),
        ]  # fmt: skip

    def _duel(self, who: str, names: Sequence[str]) -> list[Cell]:
        if self.rival is None or who == self.rival:
            return [None, None, None]
        pairs = [
            (a, b)
            for name in names
            if (a := self.score(name, who)) is not None
            and (b := self.score(name, self.rival)) is not None
        ]
        gains = [a - b for a, b in pairs]
        wins, losses = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
        if not wins + losses:
            return [f"{wins} : {losses}", 0.0, None]
        from scipy.stats import wilcoxon

        error = stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
        average = sum(gains) / len(gains)
        shown = Mark(average, f"{average:+.4f} ± {error:.4f}")
        return [f"{wins} : {losses}", shown, float(wilcoxon(gains).pvalue)]

    def figure(self, stem: str) -> Figure:
        """Return the mean score against the mean number of leaves."""

        def draw(figure: Any) -> None:
            axes = figure.subplots()
            for who in self.learners:
                done = [o for name in self.datasets if (o := self.outcomes.get((name, who)))]
                splits, score = mean(map(_splits, done)), self.average(who)
                if score is None:
                    continue
                if splits is None:
                    axes.axhline(score, linestyle=":", label=_called(who))
                else:
                    axes.plot([splits + 1], [score], marker="o", linestyle="", label=_called(who))
            axes.set_xlabel("mean number of leaves")
            axes.set_ylabel(f"mean {self.metric} on unseen rows")
            axes.legend(fontsize="small")

        return Figure(f"{stem}-leaves", f"{stem}: score against number of leaves", draw)


def _called(learner: str | None) -> str:
    return LEARNERS.get(learner or "", learner or "nobody")


def _rows(outcome: Outcome) -> int:
    return int(outcome.stats["rows"])


def _splits(outcome: Outcome) -> float | None:
    """Return the mean number of splits of the trees."""
    return mean(outcome.stats["sizes"])


def _with_error(outcome: Outcome | None) -> Cell:
    if outcome is None:
        return None
    values, average = outcome.stats["values"], outcome.value
    if len(values) == 1:
        return average
    return Mark(average, f"{average:.3f} ± {stdev(values) / math.sqrt(len(values)):.3f}")


def _text(runs: Sequence[Run]) -> list[str]:
    (splits,) = {run.spec.option("splits") for run in runs}
    (limit,) = {run.spec.limit / splits for run in runs}
    return [
        f"Each dataset is split {splits} times at random into 75 % of the rows to learn from and "
        f"25 % to test, with the same shares of the classes; at most {_MOST_ROWS:,} rows are "
        f"learnt from, in at most {limit:g} s. Each learner chooses its settings by {FOLDS}-"
        "fold cross-validation inside these rows, by the metric that is tested; conditions are "
        "made inside each fold. All small trees have the same limit on depth.",
        "goct chooses the number of splits from the exact size path of each fold, and the least "
        "leaf (5, 10 or 20 rows). CART is tuned over depth, leaf size (1, 5, 10 or 20 rows) and "
        "`ccp_alpha`; for metrics other than accuracy also "
        "with balanced class weights, and with a tuned threshold on its probabilities. FIGS "
        "(sums of trees) is tuned over the number of splits, and hierarchical shrinkage over "
        "leaves and strength. Histogram gradient boosting, as it comes, is the ceiling.",
        "Wins, differences and p are against the variant of CART with the best mean, over the "
        "means of the datasets.",
    ]


def _notes(runs: Sequence[Run]) -> list[str]:
    own = [r.outcome for r in runs if r.spec.solver.startswith("goct") and r.outcome is not None]
    own = [outcome for outcome in own if outcome.has_tree]
    leaks = ", ".join(f"{c} of {t}" for t, columns in _LEAKS.items() for c in columns)
    proven, trees = sum(o.stats["proven"] for o in own), sum(len(o.stats["values"]) for o in own)
    notes = [
        f"{proven} of {trees} final trees of goct are proven optimal for their training rows and "
        "number of splits.",
        f"Left out because they state the label: {leaks}.",
    ]
    many = {r.spec.dataset for r in runs if r.outcome and r.outcome.status.value == "unsupported"}
    if many:
        notes.append(
            "Not all learners take more than two classes, and F1 and MCC need two: "
            + ", ".join(sorted(many, key=str.lower))
            + "."
        )
    return notes
