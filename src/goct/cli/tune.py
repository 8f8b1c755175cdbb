"""The size of the tree by cross-validation, for ``goct fit``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from goct import estimator
from goct._deadline import seconds_left
from goct.binarize import Binarizer
from goct.cli.data import Prepared
from goct.cli.options import TestOptions
from goct.cli.progress import ProgressDisplay
from goct.constraints import Constraint
from goct.estimator import OptimalTreeClassifier
from goct.exceptions import InfeasibleError, NoTreeError
from goct.metrics import Metric, is_total
from goct.model import Validation
from goct.path import Path
from goct.solution import Limit, Solution
from goct.tuning import (
    LEAVES,
    Clock,
    Data,
    PathFinder,
    Tuning,
    Validator,
    folds_of,
    score_choice,
    tune,
)

_DEPTH = 4
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best trees of all sizes on all training rows, and how one of these was chosen."""

    path: Path
    tuning: Tuning | None  # None if the size was not chosen
    is_complete: bool  # nothing was stopped, by a limit or by Ctrl-C
    is_interrupted: bool = False

    @property
    def is_stopped(self) -> bool:
        """Whether a time limit ended searches, or left out folds."""
        return not self.is_complete and not self.is_interrupted and seconds_left() is not None

    @property
    def solution(self) -> Solution:
        """The tree of the size that was chosen, or the largest one."""
        return self.path[-1] if self.tuning is None else self.path.smallest(self.tuning.best_splits)

    @property
    def validation(self) -> Validation | None:
        """What trees of each size achieve on rows that were held back."""
        tuning = self.tuning
        if tuning is None:
            return None
        name = self.path.task.metric.name + self.per_row
        results, estimate = tuning.results(), tuning.estimate()
        return Validation.of_results(name, tuning.n_folds, results, tuning.choice, estimate)

    @property
    def per_row(self) -> str:
        """What scores of folds are said to be, if the metric itself is a total."""
        return " per row" if is_total(self.path.task.metric.name) else ""

    def describe(self) -> list[tuple[str, str]]:
        """Say what was chosen and why, and what to expect on new rows."""
        tuning = self.tuning
        if tuning is None:
            return [("size", "not tuned: the largest tree")]
        results = tuning.results()
        mean, error = results["mean_test_score"], results["se_test_score"]
        chosen, most = tuning.choice, tuning.choice - tuning.best_splits + len(self.path) - 1
        fewest = Tuning(tuning.settings, tuning.found, "one_se").choice
        others = [
            f"{_splits(tuning.splits[k])}: {mean[k]:.4f}" for k in sorted({fewest, most} - {chosen})
        ]
        leaf = tuning.best_setting.min_samples_leaf
        leaves = f", leaves of {leaf} rows at least" if len(tuning.settings) > 1 else ""
        per_row = self.per_row
        by = f"{tuning.n_folds} folds" if tuning.n_folds > 1 else "1 fold"
        rows = [
            (
                "size",
                f"{_splits(tuning.best_splits)} of 0 to {len(self.path) - 1}{leaves}: "
                f"{mean[chosen]:.4f} ± {error[chosen]:.4f}{per_row} on rows held back, "
                f"the best of {by}" + (f"  ({', '.join(others)})" if others else ""),
            )
        ]
        estimate, uncertainty = tuning.estimate()
        if estimate == estimate:
            by_others = "expected, by folds that had no say in the size"
            rows.append(("on new data", f"{estimate:.4f} ± {uncertainty:.4f}{per_row} {by_others}"))
        if not tuning.is_proven:
            rows.append(("", "searches for the size stopped at a limit: its trees are not proven"))
        return rows


def _splits(number: int) -> str:
    return "1 split" if number == 1 else f"{number} splits"


def _on_cluster(client: Any) -> AbstractContextManager[Any]:
    """Leave folds to the workers of a Dask cluster, if there is one."""
    return nullcontext() if client is None else joblib.parallel_config("dask", client=client)


def tune_size(
    prepared: Prepared,
    metric: Metric,
    options: TestOptions,
    constraints: Sequence[Constraint],
    min_leaf: int | None,
    progress: ProgressDisplay,
    n_folds: int = _FOLDS,
) -> Tuned:
    """Find the best trees of all sizes, and choose one by cross-validation.

    Ctrl-C ends it: of the trees that are found by then, the size is chosen by the folds that
    are complete, or the largest is taken.
    """
    train = prepared.train
    depth = options.depth_or(_DEPTH)
    leaves = LEAVES if min_leaf is None else (max(min_leaf, 1),)
    binarizer = Binarizer(options.binarizer, options.thresholds, drop_ids=options.ids)
    settings = [
        OptimalTreeClassifier(
            metric,
            depth,
            min_samples_leaf=leaf,
            pos_label=None if train.positive is None else train.classes[train.positive],
            binarizer=binarizer,
            constraints=constraints,
            class_weight=prepared.class_weight,
        )
        for leaf in leaves
    ]
    clock = Clock(seconds_left(), joblib.effective_n_jobs(options.n_jobs))
    clock.preparation = prepared.seconds

    def report(done: int, total: int) -> None:
        since = clock.elapsed

        def describe() -> str:
            now = clock.elapsed
            each = max(since / (done + 1), now - since)
            left = each * (total - done) - (now - since)
            about = f", about {left:.0f} s left" if left < progress.seconds_left else ""
            return f"{now:8.1f} s  choosing the size: {done} of {total} folds done{about}"

        progress.show(describe)

    def report_estimate(done: int, total: int) -> None:
        progress.show(
            lambda: (
                f"{clock.elapsed:8.1f} s  what to expect of new rows: "
                f"{done} of {total} pairs of folds"
            )
        )

    data = Data(
        prepared.table, prepared.table, prepared.labels, train.classes, prepared.weights, None
    )
    folds = folds_of(n_folds, prepared.labels, random_state=options.seed) if n_folds else []

    classes, rows = np.array(train.classes), prepared.table.n_rows
    whole = estimator.Prepared(prepared.binarizer, train, metric, classes, rows)
    with PathFinder(whole, options.max_splits, clock.width, options.executor) as finder:
        rest = len(folds) * len(leaves)
        found = finder.find(settings[0], clock.limit(rest, least=prepared.seconds), progress)
        if found.limit is Limit.INTERRUPTED or found[-1].tree is None or not folds:
            is_interrupted = found.limit is Limit.INTERRUPTED
            return Tuned(found, None, found.limit is Limit.NONE, is_interrupted)
        report(0, len(folds))
        try:
            validator = Validator(data, None, options.max_splits)
            n_jobs = options.n_jobs if options.executor is None else -1
            with _on_cluster(options.executor):
                tuning = tune(settings, folds, validator, clock, n_jobs=n_jobs, report=report)
            if clock.is_cancelled:  # there are trees of the first setting only
                first = tuning.found[:: len(settings)]
                tuning = Tuning(settings[:1], first, tuning.rule, tuning.held_back)
                number = f"{tuning.n_folds} of {len(folds)}"
                progress.note(f"interrupted: the size is chosen by {number} folds")
        except NoTreeError as error:
            progress.note(f"the number of splits is not tuned: {error}")
            return Tuned(found, None, isinstance(error, InfeasibleError))
        except KeyboardInterrupt:
            progress.note("interrupted: the number of splits is not tuned")
            return Tuned(found, None, is_complete=False, is_interrupted=True)
        if (setting := tuning.best_setting) is not settings[0]:
            found = finder.find(setting, clock.limit(0, least=prepared.seconds), progress)
        is_interrupted = clock.is_cancelled or found.limit is Limit.INTERRUPTED
        if not is_interrupted:
            with _on_cluster(options.executor):
                score_choice(tuning, folds, validator, clock, n_jobs=n_jobs, report=report_estimate)
    complete = found.limit is Limit.NONE and tuning.n_folds == len(folds)
    return Tuned(found, tuning, complete and tuning.is_proven, is_interrupted)
