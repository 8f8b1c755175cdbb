"""What is gained on unseen rows by maximising the metric itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from statistics import median
from typing import Any, ClassVar

from goct.bench.data import PAPER
from goct.bench.experiments.base import Experiment, Plan
from goct.bench.experiments.tools import METRICS
from goct.bench.render import Cell, Mark, Report, Table, mark_best, mean
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Outcome, Spec
from goct.exact import Exact
from goct.metrics import Confusion, get_metric

PENALTIES = ("0", "0.001", "0.01", "0.05")
"""The penalties per split that are tried; the best on the validation rows is taken."""

_SMALL = 50  # test rows
_TEST = ("accuracy", "f1", "mcc")
_PAPER = {"accuracy": "acc", "f1": "f1", "mcc": "mcc"}
_CART: dict[str, dict[str, Any]] = {"CART": {}, "CART, balanced": {"class_weight": "balanced"}}


class OutOfSample(Experiment):
    """Train on a half, choose the penalty on a quarter, test on a quarter, five times.

    Attributes
    ----------
    metrics
        What is maximised.
    depth, limit
        The depth of the trees, and the seconds for each.
    """

    name: ClassVar[str] = "out-of-sample"
    title: ClassVar[str] = "Unseen rows"
    summary: ClassVar[str] = "accuracy, F1 and MCC on test rows, by what was maximised"
    metrics: ClassVar[tuple[str, ...]] = _TEST
    depth: ClassVar[int] = 5
    limit: ClassVar[float] = 900.0

    def specs(self, plan: Plan) -> list[Spec]:
        """Return a run for each dataset, split, objective and penalty; CART has no objective."""
        datasets = plan.choose_datasets(PAPER, ("compas", "hepatitis", "promoters"))
        depths = plan.choose("depths", (self.depth,), (3,), (2,))
        metrics = [get_metric(m).name for m in plan.choose("metrics", self.metrics, self.metrics)]
        splits = range(plan.choose("splits", 5, 2, 1))
        penalties = plan.choose("penalties", PENALTIES, ("0", "0.01"), ("0.01",))
        common = {"limit": plan.choose_limit(self.limit, 10.0)}
        specs = []
        for depth, name, split in product(depths, datasets, splits):
            common |= {"depth": depth, "split": split}
            specs += [
                plan.spec(name, "search", metric=metric, penalty=penalty, **common)
                for metric, penalty in product(metrics, penalties)
            ]
            specs += [
                plan.spec(name, "cart", options=options | {"penalties": penalties}, **common)
                for options in _CART.values()
            ]
        return specs

    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return a table for each test metric, and means and wins."""
        done = [run for run in runs if run.outcome is not None and run.outcome.test is not None]
        objectives = list(dict.fromkeys(r.spec.metric for r in runs if r.spec.solver == "search"))
        depths = list(dict.fromkeys(run.spec.depth for run in runs))
        paper = reported.table("out_of_sample_depth5")
        tables = []
        for depth in depths:
            trees = [tree for run in done if run.spec.depth == depth for tree in candidates(run)]
            study = Study(trees, objectives)
            known = paper if depth == 5 else {}
            tables += _tables(study, known, f"depth{depth}")
        own = [run.spec for run in runs if run.spec.solver == "search"]
        penalties = ", ".join(dict.fromkeys(spec.penalty for spec in own))
        is_known = 5 in depths and any(run.spec.dataset in paper for run in done)
        notes = _notes(done, is_known)
        many = {r.spec.dataset for r in runs if r.outcome and r.outcome.has_tree}
        if many := many - {run.spec.dataset for run in done}:
            names = ", ".join(sorted(many, key=str.lower))
            notes.append(f"Left out, since they have more than two classes: {names}.")
        return Report(_text(runs, penalties), tables, notes=notes)


class EveryMetric(OutOfSample):
    """The same for shallower trees and every kind of metric that goct has."""

    name: ClassVar[str] = "every-metric"
    title: ClassVar[str] = "Unseen rows, every metric"
    summary: ClassVar[str] = "the same for trees of depth 3 that maximise any of nine metrics"
    metrics: ClassVar[tuple[str, ...]] = METRICS
    depth: ClassVar[int] = 3
    limit: ClassVar[float] = 90.0


@dataclass(frozen=True)
class Candidate:
    """A tree that may be chosen for its performance on the validation rows."""

    dataset: str
    split: int | None
    learner: str
    penalty: Fraction
    splits: int
    validation: Confusion
    test: Confusion


def candidates(run: Run) -> list[Candidate]:
    """Return the trees of a run."""
    spec, outcome = run.spec, run.outcome
    if outcome is None or outcome.test is None or outcome.validation is None:
        return []
    trees: Sequence[Mapping[str, Any]] = outcome.path or [
        {"penalty": spec.penalty, **vars(outcome)}
    ]
    return [
        Candidate(
            spec.dataset,
            spec.split,
            learner_of(spec),
            Fraction(tree["penalty"]),
            tree["splits"],
            Confusion(*tree["validation"]),
            Confusion(*tree["test"]),
        )
        for tree in trees
    ]


def learner_of(spec: Spec) -> str:
    """Return who learnt: the objective, or CART."""
    if spec.solver == "search":
        return spec.metric
    return "CART" if spec.option("class_weight") is None else "CART, balanced"


@dataclass(frozen=True)
class Study:
    """The trees of a depth.

    Attributes
    ----------
    trees
        What was learnt.
    objectives
        What was maximised.
    """

    trees: Sequence[Candidate]
    objectives: Sequence[str]

    @cached_property
    def learners(self) -> list[str]:
        """Who learnt: an objective each, and CART."""
        present = {tree.learner for tree in self.trees}
        return [name for name in (*self.objectives, *_CART) if name in present]

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets."""
        return list(dict.fromkeys(tree.dataset for tree in self.trees))

    @property
    def tests(self) -> list[str]:
        """What is tested: the paper's three metrics, and what else was maximised."""
        return list(dict.fromkeys((*_TEST, *self.objectives)))

    @cached_property
    def _groups(self) -> dict[tuple[str, str], dict[int | None, list[Candidate]]]:
        groups: dict[tuple[str, str], dict[int | None, list[Candidate]]] = {}
        for tree in self.trees:
            splits = groups.setdefault((tree.dataset, tree.learner), {})
            splits.setdefault(tree.split, []).append(tree)
        return groups

    def chosen(self, dataset: str, learner: str, criterion: str) -> list[Candidate]:
        """Return, for each split, the tree with the best criterion on the validation rows.

        Of several, the one with the largest penalty is taken.
        """
        metric = get_metric(criterion)

        def rank(tree: Candidate) -> tuple[Exact, Fraction]:
            return metric.value(tree.validation), tree.penalty

        groups = self._groups.get((dataset, learner), {})
        return [max(trees, key=rank) for trees in groups.values()]

    def score(self, dataset: str, learner: str, test: str) -> float | None:
        """Return a learner's mean of a metric on the test rows.

        CART, which has no objective, chooses with the metric that is tested.
        """
        criterion = learner if learner in self.objectives else test
        metric = get_metric(test)
        trees = self.chosen(dataset, learner, criterion)
        return mean(float(metric.value(tree.test)) for tree in trees)

    def size(self, dataset: str, learner: str) -> float | None:
        """Return the mean number of splits of the trees that a learner chose."""
        criterion = learner if learner in self.objectives else "accuracy"
        return mean(float(t.splits) for t in self.chosen(dataset, learner, criterion))


def _tables(study: Study, paper: dict[str, dict[str, float | None]], stem: str) -> list[Table]:
    learners, objectives = study.learners, study.objectives
    in_paper = [o for o in objectives if o in _PAPER] if paper else []
    scores = {
        test: {
            name: {learner: study.score(name, learner, test) for learner in learners}
            for name in study.datasets
        }
        for test in study.tests
    }
    heads = [f"max {name}" if name in objectives else name for name in learners]
    means: list[list[Cell]] = []
    wins: list[list[Cell]] = []
    tables = []
    for test, by_dataset in scores.items():
        known = in_paper if test in _PAPER else []
        rows: list[list[Cell]] = []
        for name, values in by_dataset.items():
            cells: list[Cell] = [name, *mark_best([values[learner] for learner in learners])]
            reported = paper.get(name, {})
            cells += mark_best(
                [reported.get(f"test_{_PAPER[test]}_obj_{_PAPER[o]}") for o in known]
            )
            rows.append(cells)
        averages = [mean(values[learner] for values in by_dataset.values()) for learner in learners]
        here = [paper.get(name, {}) for name in by_dataset]
        theirs = [mean(r.get(f"test_{_PAPER[test]}_obj_{_PAPER[o]}") for r in here) for o in known]
        rows.append([Mark("mean", "**mean**"), *mark_best(averages), *mark_best(theirs)])
        columns = ["dataset", *heads, *(f"max {o}, paper" for o in known)]
        caption = f"{test} on test rows, mean over the splits ({stem.replace('depth', 'depth ')})"
        tables.append(Table(f"{stem}-{test}", caption, columns, rows))
        means.append([test, *mark_best(averages), *mark_best(theirs)])
        wins.append([test, *_wins(by_dataset, objectives), *_wins(by_dataset, learners)])
    sizes: list[list[Cell]] = [
        [name, *(study.size(name, learner) for learner in learners)] for name in study.datasets
    ]
    width = 1 + len(heads) + len(in_paper)
    summary = [
        Table(
            f"{stem}-means",
            f"Means over the datasets ({stem.replace('depth', 'depth ')})",
            ["on test rows", *heads, *(f"max {o}, paper" for o in in_paper)],
            [row + [None] * (width - len(row)) for row in means],
        ),
        Table(
            f"{stem}-wins",
            "Datasets on which each is best, ties at three digits included: first among the "
            "objectives, as the paper counts, then with CART",
            ["on test rows", *(f"max {o}" for o in objectives), *(f"{h}, all" for h in heads)],
            wins,
        ),
    ]  # fmt: skip
    sizes_table = Table(
        f"{stem}-splits", "Mean number of splits of the chosen trees", ["dataset", *heads], sizes, 1
    )
    return [*summary, *tables, sizes_table]


def _wins(by_dataset: dict[str, dict[str, float | None]], learners: Sequence[str]) -> list[Cell]:
    counts = dict.fromkeys(learners, 0)
    for values in by_dataset.values():
        shown = {name: round(v, 3) for name in learners if (v := values.get(name)) is not None}
        for name, value in shown.items():
            counts[name] += value == max(shown.values())
    return list(counts.values())


def _text(runs: Sequence[Run], penalties: str) -> list[str]:
    splits = len({run.spec.split for run in runs})
    limits = ", ".join(f"{limit:g}" for limit in sorted({run.spec.limit for run in runs}))
    return [
        f"Each dataset is split {splits} times at random into 50 % to train, 25 % to choose and "
        "25 % to test. For each objective, goct's search engine finds the tree that maximises it "
        f"on the training rows minus a penalty per split, for each of the penalties {penalties}; "
        f"the limit is {limits} s for each. The tree with the largest value of the objective on "
        "the validation rows is taken (of several, that with the largest penalty) and tested.",
        "CART of scikit-learn has the same depth. Its cost-complexity parameter is chosen from "
        "the same numbers on the same validation rows, by the metric in question, once without "
        "and once with balanced class weights.",
    ]


def _notes(done: Sequence[Run], has_paper: bool) -> list[str]:
    def proven(outcome: Outcome | None) -> bool:
        return outcome is not None and outcome.is_proven

    own = [run for run in done if run.spec.solver == "search"]
    notes = [
        f"{sum(proven(run.outcome) for run in own)} of {len(own)} trees of goct are proven optimal "
        "for their training rows and penalty."
    ]
    if seconds := [run.outcome.seconds for run in own if run.outcome is not None]:
        notes.append(
            f"A tree of goct took {median(seconds):.1f} s in the median, and at most "
            f"{max(seconds):.0f} s."
        )
    sizes = {
        run.spec.dataset: sum(run.outcome.test) for run in own if run.outcome and run.outcome.test
    }
    if small := [f"{name} ({size})" for name, size in sizes.items() if size < _SMALL]:
        notes.append(
            f"Few test rows ({', '.join(small)}) mean that differences are mostly chance there."
        )
    if has_paper:
        notes += [
            "The paper's trees come from Gurobi with a limit of 900 s, often without a proof; it "
            "does not say which penalties it tried, and reports one number for each dataset, where "
            "means over the splits are shown here. Its splits are not published.",
            "The paper's means in these tables are over the datasets that are here.",
        ]
    return notes
