"""The size of a tree by cross-validation: one size path per fold and setting."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass
from inspect import signature
from itertools import groupby
from math import ceil
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing

from goct._validation import check_count
from goct.data import Table
from goct.estimator import OptimalTreeClassifier, Prepared, least_leaf
from goct.exceptions import BinarizationWarning, InfeasibleError, NotProvenWarning, NoTreeError
from goct.metrics import is_total
from goct.path import Path, PathProgress, PathSearch, read_path_task
from goct.problem import Problem
from goct.solution import Limit, Limits, Solution, Status
from goct.task import Task
from goct.tree import Tree

RULES = ("best", "one_se")
"""How the number of splits is chosen from the scores."""

LEAVES = (5, 10, 20)
"""The least numbers of rows in a leaf that are tried by default."""

LISTED = ("max_depth", "min_samples_leaf", "binarizer")


class PathFinder:
    """Finds the best tree for every number of splits, for classifiers that share conditions.

    Those with the smallest leaves come first: their trees help with the others of the
    same depth, see :class:`goct.path.PathSearch`.

    Parameters
    ----------
    prepared
        The conditions, and the problem over them.
    max_splits
        The largest number of splits.
    n_jobs
        The number of threads.
    executor
        A `distributed.Client` whose workers share the work.
    """

    def __init__(
        self, prepared: Prepared, max_splits: int | None, n_jobs: int = 1, executor: Any = None
    ) -> None:
        self.prepared = prepared
        self.max_splits = max_splits
        self._options = {"n_jobs": n_jobs, "executor": executor}
        self._searches: dict[int | None, tuple[int, PathSearch]] = {}

    def __enter__(self) -> PathFinder:
        return self

    def __exit__(self, *_error: object) -> None:
        for _, search in self._searches.values():
            search.close()

    def task(self, setting: OptimalTreeClassifier) -> Task:
        """Return what is asked by the depth, leaves and constraints of a classifier."""
        # A leaf of all rows is the largest: there is a tree without a split in every fold.
        rows = self.prepared.n_samples
        return read_path_task(
            self.prepared.problem,
            self.prepared.metric,
            setting.max_depth,
            max_splits=self.max_splits,
            min_samples_leaf=min(least_leaf(setting.min_samples_leaf, rows), rows),
            constraints=setting.constraints,
        )

    def find(
        self,
        setting: OptimalTreeClassifier,
        time_limit: float | None,
        callback: Callable[[PathProgress], Any] | None = None,
    ) -> Path:
        """Return the path for :meth:`task`."""
        task, depth = self.task(setting), setting.max_depth
        leaf = task.size.min_samples_leaf
        last, search = self._searches.get(depth, (0, None))
        if search is not None and leaf < last:
            search.close()
            search = None
        search = search or PathSearch(**self._options)
        self._searches[depth] = leaf, search
        return search.find(task, Limits(time_limit), callback)


@dataclass(frozen=True)
class Fold:
    """The rows to learn from, the rows to hold back, and sets of rows that are scored as well."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    others: tuple[NDArray[np.intp], ...] = ()


class Clock:
    """Shares a time limit among searches, some of them at once, and one more at the end.

    Parameters
    ----------
    limit
        Seconds for all of them.
    width
        How many go on at once.
    """

    preparation = 0.0
    """Seconds that it took to make conditions from all rows, if that is known."""
    is_cancelled = False
    """Whether searches that have begun shall end."""

    def __init__(self, limit: float | None, width: int) -> None:
        Limits(limit)
        self.width = width
        self._started = time.time()  # processes of one machine agree on it
        self._limit = None if limit == float("inf") else limit

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.time() - self._started

    def limit(self, before_last: int, spare: float = 0.0, least: float = 0.0) -> float | None:
        """Return the seconds for a search, if so many are left before the last one.

        So many seconds are needed for other things, and so many it gets if there are as many.
        """
        if self._limit is None:
            return None
        left = self._limit - self.elapsed
        rounds = 1 + ceil(before_last / self.width)
        return max((left - spare) / rounds, min(least, left), 1e-3)

    @property
    def has_ended(self) -> bool:
        """Whether the time is up."""
        return self._limit is not None and self.elapsed >= self._limit

    @property
    def is_over(self) -> bool:
        """Whether there is no time for another fold, and as long as for its searches after it."""
        return self._limit is not None and self.elapsed + 3 * self.preparation >= self._limit


@dataclass(frozen=True, eq=False)
class Data:
    """A table with what belongs to its rows."""

    X: Any
    table: Table
    y: NDArray[Any]
    classes: tuple[Any, ...]
    sample_weight: ArrayLike | None
    costs: ArrayLike | None

    def of_rows(self, values: ArrayLike | None, rows: NDArray[np.intp]) -> NDArray[Any] | None:
        """Return the entries of some rows."""
        return None if values is None else np.asarray(values)[rows]

    def counts(self, rows: NDArray[np.intp]) -> bool:
        """Say whether some row has a weight."""
        weights = self.of_rows(self.sample_weight, rows)
        return weights is None or bool(np.any(weights))


@dataclass(frozen=True)
class Validation:
    """What the trees of one fold achieve on the rows that were held back.

    Attributes
    ----------
    scores
        By number of splits; NaN where there is no tree.
    limit
        Why the search for the trees stopped, if it did.
    seconds
        The time of the search, conditions included.
    is_infeasible
        Whether it is proven that no tree meets the constraints.
    other_scores
        The same as `scores` on other sets of rows, see :class:`Fold`.
    """

    scores: tuple[float, ...]
    limit: Limit
    seconds: float
    is_infeasible: bool
    other_scores: tuple[tuple[float, ...], ...] = ()

    def deviations(self) -> NDArray[np.float64]:
        """Return the standard errors of the scores, if the others are those of a jackknife."""
        if len(self.other_scores) < 2:
            return np.full(len(self.scores), np.nan)
        return np.asarray(np.std(self.other_scores, axis=0) * np.sqrt(len(self.other_scores) - 1))


@dataclass(frozen=True, eq=False)
class Validator:
    """Finds the paths of a fold and scores their trees."""

    data: Data
    scorer: Callable[..., float] | None
    max_splits: int | None

    def __call__(
        self,
        settings: Sequence[OptimalTreeClassifier],
        fold: Fold,
        clock: Clock,
        left: int,
        threads: int = 1,
    ) -> list[Validation]:
        """Return the scores of a fold for each of some settings that make the same conditions.

        So many searches are left, these included.
        """
        started = time.perf_counter()
        data, rows = self.data, fold.train
        is_main = threading.current_thread() is threading.main_thread()  # of some process
        with _quietly() if is_main else nullcontext():
            prepared = settings[0]._prepare(
                data.table.take(rows),
                data.y[rows],
                data.of_rows(data.sample_weight, rows),
                data.of_rows(data.costs, rows),
                data.classes,
            )
        others = fold.others if all(map(data.counts, fold.others)) else ()
        held_back = (fold.test, *others)
        scores_of = [self._score_on(settings[0], prepared, part) for part in held_back]
        # The other folds need as much for their conditions, and so do all rows in the end. The
        # searches of a fold have as long together: without it there are no trees to compare.
        seconds = time.perf_counter() - started
        spare, least = seconds * ceil(left / len(settings) / clock.width), seconds / len(settings)
        order = sorted(
            range(len(settings)), key=lambda i: least_leaf(settings[i].min_samples_leaf, len(rows))
        )
        results: dict[int, Validation] = {}
        with PathFinder(prepared, self.max_splits, threads) as finder:
            for place in order:
                if results and clock.has_ended:
                    nothing = (float("nan"),) * (finder.task(settings[place]).size.most_splits + 1)
                    results[place] = Validation(
                        nothing, Limit.TIME, 0.0, False, (nothing,) * len(others)
                    )
                    continue
                limit = clock.limit(left - len(results), spare, least)
                found = finder.find(settings[place], limit, lambda _: clock.is_cancelled)
                scores, *more = (tuple(_each(found, score)) for score in scores_of)
                seconds = time.perf_counter() - started
                infeasible = found[-1].status is Status.INFEASIBLE
                results[place] = Validation(scores, found.limit, seconds, infeasible, tuple(more))
                started = time.perf_counter()
                if found.limit is Limit.INTERRUPTED:
                    break
        return [results[place] for place in sorted(results)]

    def _score_on(
        self, setting: OptimalTreeClassifier, prepared: Prepared, rows: NDArray[np.intp]
    ) -> Callable[[Solution], float]:
        """Return what scores trees on rows that were held back."""
        if self.scorer is None:
            return self._metric_on(prepared, rows)
        return self._scorer_on(setting, prepared, rows)

    def _metric_on(self, prepared: Prepared, rows: NDArray[np.intp]) -> Callable[[Solution], float]:
        """Return what evaluates the metric on rows that were held back.

        Classes have the weights that they had in training.
        """
        data, problem = self.data, prepared.problem
        held_back = Problem.from_columns(
            data.table.take(rows),
            data.y[rows],
            binarizer=prepared.binarizer,
            classes=problem.classes,
            pos_label=None if problem.positive is None else problem.classes[problem.positive],
            sample_weight=data.of_rows(data.sample_weight, rows),
            class_weight=prepared.class_weight,
            costs=data.of_rows(data.costs, rows),
        )

        n_rows = held_back.total_weight if is_total(prepared.metric.name) else 1

        def score(solution: Solution) -> float:
            assert solution.tree is not None
            value = prepared.metric.evaluate(solution.tree, held_back)
            return float(value) / float(n_rows)

        return score

    def _scorer_on(
        self, setting: OptimalTreeClassifier, prepared: Prepared, rows: NDArray[np.intp]
    ) -> Callable[[Solution], float]:
        """Return what scores trees on rows that were held back."""
        data, scorer, setting = self.data, self.scorer, copy(setting)  # threads share it
        assert scorer is not None
        X = _safe_indexing(data.X, rows)
        weights = data.of_rows(data.sample_weight, rows)
        is_weighted = weights is not None and takes_weights(scorer)
        options = {"sample_weight": weights} if is_weighted else {}

        def score(solution: Solution) -> float:
            setting._keep(prepared, solution)
            return float(scorer(setting, X, data.y[rows], **options))

        return score


@contextmanager
def _quietly() -> Iterator[None]:
    """Say nothing about conditions of folds: all rows will tell. For all threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BinarizationWarning)
        yield


def _each(found: Path, score: Callable[[Solution], float]) -> Iterator[float]:
    """Yield the score of each tree; NaN where there is none."""
    last: tuple[Tree | None, float] = None, float("nan")
    for solution in found:
        if solution.tree is not None and solution.tree is not last[0]:
            last = solution.tree, score(solution)
        yield last[1]


class Tuning:
    """The scores of all numbers of splits of all settings, by fold, and what was chosen.

    Parameters
    ----------
    settings
        What was tried, with every number of splits each.
    found
        What each setting achieves in each fold, fold by fold.
    rule
        How to choose.
    held_back
        How many rows are held back for each to learn from.

    Attributes
    ----------
    scores
        One row per fold, one column per candidate.
    splits, setting
        The number of splits of each candidate, and the place of its setting.
    inner_scores
        By fold what trees achieve in other folds if they learned from the rows of neither, one
        row for each of those; see :func:`score_choice`. Folds may be missing.

    Raises
    ------
    NoTreeError
        If there is no number of splits for which every fold has a tree.
    """

    def __init__(
        self,
        settings: Sequence[OptimalTreeClassifier],
        found: Sequence[Validation],
        rule: str,
        held_back: float = 0.25,
    ) -> None:
        self.settings = settings
        self.found = found
        self.rule = rule
        self.held_back = held_back
        n = len(settings)
        sizes = [len(validation.scores) for validation in found[:n]]
        self.setting = np.repeat(np.arange(n), sizes)
        self.splits = np.concatenate([np.arange(size) for size in sizes])
        by_fold = [found[first : first + n] for first in range(0, len(found), n)]
        self.scores = np.array([np.concatenate([v.scores for v in fold]) for fold in by_fold])
        self._deviations = [np.concatenate([v.deviations() for v in fold]) for fold in by_fold]
        self.inner_scores: dict[int, list[NDArray[np.float64]]] = {}
        choice = self.choose(self.scores)
        if choice is None:
            raise _no_candidate(found, settings[0])
        self.choice = choice

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.scores)

    @property
    def best_setting(self) -> OptimalTreeClassifier:
        """The setting that was chosen."""
        return self.settings[int(self.setting[self.choice])]

    @property
    def best_splits(self) -> int:
        """The number of splits that was chosen."""
        return int(self.splits[self.choice])

    @property
    def is_proven(self) -> bool:
        """Whether no search was stopped."""
        return all(v.limit is Limit.NONE for v in self.found)

    def choose(self, scores: NDArray[np.float64]) -> int | None:
        """Return the place of the best candidate, given the scores of some folds."""
        mean = np.where(np.isnan(scores).any(axis=0), -np.inf, scores.mean(axis=0))
        top = int(mean.argmax())
        if mean[top] == -np.inf:
            return None
        room = _ROUNDING if self.rule == "best" else max(float(_error(scores)[top]), _ROUNDING)
        close = np.flatnonzero(mean >= mean[top] - room)
        return int(min(close, key=lambda i: (self.splits[i], -mean[i])))

    def estimate(self) -> tuple[float, float]:
        """Return the mean score of each fold with what is chosen without it, and its error.

        Folds share rows to learn from, so their scores are not independent: Nadeau and Bengio's
        correction. A jackknife tells the variance of each, which stratified folds hide; for folds
        of one row it is that of the folds.
        """
        n = len(self.scores)
        if n < 2:
            return float("nan"), float("nan")
        scores, deviations = np.array([self._outer(fold) for fold in range(n)]).T
        known = ~np.isnan(deviations).any()
        variance = np.mean(deviations**2) if known else np.var(scores, ddof=1)
        return float(scores.mean()), float(np.sqrt(variance * (1 / n + self.held_back)))

    def _outer(self, fold: int) -> tuple[float, float]:
        """Return the score of a fold with what is chosen without it, and its deviation."""
        inner = self.inner_scores.get(fold)
        without = np.delete(self.scores, fold, axis=0) if inner is None else np.array(inner)
        choice = self.choose(without)
        if choice is None:
            return float("nan"), float("nan")
        return float(self.scores[fold, choice]), float(self._deviations[fold][choice])

    def params(self, place: int) -> dict[str, Any]:
        """Return the parameters of a candidate."""
        setting = self.settings[self.setting[place]]
        listed = {name: getattr(setting, name) for name in LISTED}
        return {"max_splits": int(self.splits[place])} | listed

    def results(self) -> dict[str, Any]:
        """Return all of it as scikit-learn does."""
        params = [self.params(i) for i in range(len(self.splits))]
        mean, n = self.scores.mean(axis=0), len(self.settings)
        seconds = np.array([v.seconds for v in self.found]).reshape(-1, n)
        proven = np.array([v.limit is Limit.NONE for v in self.found]).reshape(-1, n)
        order = np.where(np.isnan(mean), -np.inf, mean)
        columns: dict[str, Any] = {"params": params, "setting": self.setting}
        for name in ("max_splits", *LISTED):
            values = [p[name] for p in params]
            kind = np.int64 if all(isinstance(value, int) for value in values) else object
            columns[f"param_{name}"] = np.array(values, dtype=kind)
        columns |= {f"split{i}_test_score": row for i, row in enumerate(self.scores)}
        return columns | {
            "mean_test_score": mean,
            "std_test_score": self.scores.std(axis=0),
            "se_test_score": _error(self.scores),
            "rank_test_score": 1 + np.array([(order > score).sum() for score in order]),
            "mean_fit_time": seconds.mean(axis=0)[self.setting],
            "n_proven": proven.sum(axis=0)[self.setting],
        }


_ROUNDING = 1e-12


def _error(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error of the mean of the folds; 0 for a single fold."""
    n = len(scores)
    if n < 2:
        return np.zeros(scores.shape[1])
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(n))


def takes_weights(scorer: Callable[..., Any]) -> bool:
    """Say whether a scorer may be given weights of rows."""
    parameters = signature(scorer).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def _no_candidate(found: Sequence[Validation], setting: OptimalTreeClassifier) -> NoTreeError:
    """Return the error for constraints that some fold has no tree for, or for what is no score."""
    if not setting.constraints:
        return NoTreeError(
            "there is no number of splits for which every fold has a tree with a score: scoring "
            "gives no number (NaN); choose another one, or other folds by cv"
        )
    infeasible = sum(v.is_infeasible for v in found)
    where = f"in {infeasible} of {len(found)} searches of folds this is proven"
    kind = InfeasibleError if infeasible else NoTreeError
    return kind(
        "there is no number of splits for which every fold has a tree that meets the constraints "
        f"({setting.constraints}); {where}. Relax them, or allow larger trees or smaller leaves"
    )


def warn_of_limits(tuning: Tuning, n_folds: int, solution: Solution) -> None:
    """Warn once of all that is not proven, and of folds that are missing."""
    texts = []
    if tuning.n_folds < n_folds:
        texts.append(f"the size was chosen by {tuning.n_folds} of {n_folds} folds only")
    if stopped := sum(v.limit is not Limit.NONE for v in tuning.found):
        texts.append(
            f"{stopped} of {len(tuning.found)} searches for the size stopped at a limit: it was "
            "chosen from trees that are not proven to be the best"
        )
    if solution.status is Status.FEASIBLE:
        texts.append(solution.describe_status())
    if texts:
        warnings.warn("; ".join(texts), NotProvenWarning, stacklevel=3)


def folds_of(
    cv: Any, y: NDArray[Any], groups: ArrayLike | None = None, random_state: Any = None
) -> list[Fold]:
    """Return the rows to learn from and the rows to hold back, for each fold.

    Parameters
    ----------
    cv, random_state
        As in :class:`goct.OptimalTreeClassifierCV`.
    y, groups
        The labels, and which rows belong together.
    """
    splitter = _splitter(cv, y, groups, random_state)
    places = np.arange(len(y))
    with warnings.catch_warnings():
        # Classes of few rows are documented to be held back in some folds only.
        warnings.filterwarnings("ignore", message="The least populated class in y")
        folds = [
            Fold(places[train], places[test], _jackknife(places[test], groups))
            for train, test in splitter.split(places[:, None], y, groups)
        ]
    for number, fold in enumerate(folds, 1):
        if not len(fold.train) or not len(fold.test):
            which = "held back" if len(fold.train) else "to learn from"
            raise ValueError(f"cv: fold {number} has no rows {which}")
    if not folds:
        raise ValueError("cv has no folds")
    return folds


def _jackknife(rows: NDArray[np.intp], groups: ArrayLike | None) -> tuple[NDArray[np.intp], ...]:
    """Return the rows without a tenth of them, ten times; rows of a group stay together."""
    units = rows if groups is None else np.asarray(groups)[rows]
    names, unit = np.unique(units, return_inverse=True)
    parts = min(len(names), 10)
    part = np.random.default_rng(0).permutation(len(names))[unit] % parts
    return tuple(rows[part != k] for k in range(parts)) if parts > 1 else ()


def _splitter(cv: Any, y: NDArray[Any], groups: ArrayLike | None, random_state: Any) -> Any:
    if cv is not None and not isinstance(cv, Integral):
        return check_cv(cv, y, classifier=True)
    number = 5 if cv is None else check_count(cv, "cv", minimum=2)
    _, sizes = np.unique(y, return_counts=True)
    least = int(sizes[sizes > 1].min(initial=len(y)))
    if sizes.max() < 2:
        raise ValueError(
            "every class has only 1 sample, and cross-validation needs some both to learn from "
            "and to hold back; choose the folds by cv, or do not tune the size"
        )
    seed = 0 if random_state is None else random_state
    if groups is None:
        return StratifiedKFold(min(number, least), shuffle=True, random_state=seed)
    groups = np.asarray(groups)
    if groups.dtype == object and (absent := (groups == None) | (groups != groups)).any():  # noqa: E711
        raise ValueError(f"groups: row {int(absent.argmax())} (counted from 0) has none")
    if (several := len(np.unique(groups))) < 2:
        raise ValueError("groups: all rows are in one group, and none could be held back")
    return StratifiedGroupKFold(min(number, several), shuffle=True, random_state=seed)


def tune(
    settings: Sequence[OptimalTreeClassifier],
    folds: Sequence[Fold],
    validator: Validator,
    clock: Clock,
    *,
    rule: str = "best",
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Choose the number of splits, and a setting, by what trees achieve on rows held back.

    Ctrl-C ends it, and so does the clock; the folds that are complete by then count, the
    first one in any case.

    Parameters
    ----------
    settings
        Classifiers with what is tried, apart from the number of splits; those that make the
        same conditions one after the other.
    folds
        The rows to learn from and the rows to hold back.
    validator
        Has the data, and scores trees.
    clock
        Shares the time among the searches.
    rule
        One of :data:`RULES`.
    n_jobs
        How many folds are searched at once, by threads, or by what a backend of joblib has.
        Cores that are left over become threads of each.
    report
        Is told how many folds are done, and of how many, for each way to make conditions.

    Raises
    ------
    NoTreeError
        If there is no number of splits for which every fold has a tree.
    KeyboardInterrupt
        If no fold is complete.
    """
    groups = _alike(settings)
    jobs = [(group, fold) for fold in folds for group in groups]
    found: list[Validation] = []
    try:
        with closing(_validate(jobs, len(groups), validator, clock, n_jobs)) as results:
            for number, result in enumerate(results, 1):
                found += result
                if report is not None:
                    report(number, len(jobs))
    except KeyboardInterrupt:
        clock.is_cancelled = True
        if len(found) < len(settings):
            raise
    del found[len(found) - len(found) % len(settings) :]  # of a fold that is not complete
    held_back = sum(len(fold.test) for fold in folds) / sum(len(fold.train) for fold in folds)
    return Tuning(settings, found, rule, held_back)


def score_choice(
    tuning: Tuning,
    folds: Sequence[Fold],
    validator: Validator,
    clock: Clock,
    *,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> None:
    """Find out what would be chosen without a fold, by trees that have seen none of its rows.

    For a fold and each of its neighbours, trees learn from the rows of neither. It is not needed
    where there are many rows, and ends early if time does, or by Ctrl-C.

    Parameters
    ----------
    tuning
        Takes the scores.
    folds, validator, clock, n_jobs, report
        As in :func:`tune`.
    """
    folds = folds[: tuning.n_folds]
    if len(validator.data.y) > MANY_ROWS:
        return
    pairs = {(i, j): _both(folds[i], folds[j]) for i, j in _neighbours(len(folds))}
    counts = validator.data.counts
    possible = {
        pair: both
        for pair, both in pairs.items()
        if both is not None and all(map(counts, (both.train, both.test, *both.others)))
    }
    jobs = [(group, both) for both in possible.values() for group in _alike(tuning.settings)]
    found: list[Validation] = []
    try:
        with closing(_validate(jobs, 0, validator, clock, n_jobs)) as results:
            for number, result in enumerate(results, 1):
                found += result
                if report is not None:
                    report(number, len(jobs))
    except KeyboardInterrupt:
        clock.is_cancelled = True
    n = len(tuning.settings)
    for place, (i, j) in zip(range(0, len(found) - n + 1, n), possible, strict=False):
        both = found[place : place + n]
        for fold, scores in ((i, [v.scores for v in both]), (j, [v.other_scores[0] for v in both])):
            tuning.inner_scores.setdefault(fold, []).append(np.concatenate(scores))


MANY_ROWS = 5000
"""With more rows, what other folds choose is as good as new: see benchmarks/estimates.py."""
_NEIGHBOURS = 2  # on each side


def _neighbours(n_folds: int) -> list[tuple[int, int]]:
    """Return pairs of folds; with five of them all."""
    pairs = {
        (min(i, j), max(i, j))
        for i in range(n_folds)
        for j in ((i + step) % n_folds for step in range(1, _NEIGHBOURS + 1))
        if i != j
    }
    return sorted(pairs)


def _both(first: Fold, second: Fold) -> Fold | None:
    """Hold back what either does, and score the rows of the second, and of the first, alone."""
    train = np.intersect1d(first.train, second.train)
    test, other = np.setdiff1d(second.test, first.test), np.setdiff1d(first.test, second.test)
    return Fold(train, test, (other,)) if len(train) and len(test) and len(other) else None


def _alike(settings: Sequence[OptimalTreeClassifier]) -> list[list[OptimalTreeClassifier]]:
    """Return settings that make the same conditions together."""
    return [list(group) for _, group in groupby(settings, lambda s: id(s.binarizer))]


def _validate(
    jobs: Sequence[tuple[list[OptimalTreeClassifier], Fold]],
    least: int,
    validator: Validator,
    clock: Clock,
    n_jobs: int | None,
) -> Generator[list[Validation]]:
    """Yield what is found in folds, one after the other: so many at least, and others in time."""
    threads = max(clock.width // max(len(jobs), 1), 1)  # of each search, if cores are left over
    searches = sum(len(group) for group, _ in jobs)
    left = [searches - sum(len(g) for g, _ in jobs[:number]) for number in range(len(jobs))]
    # Threads: the core needs no lock, and a new process takes a second or two to begin.
    active, _ = joblib.parallel.get_active_backend(prefer="threads")
    all_at_once = isinstance(active, joblib.parallel.MultiprocessingBackend)  # at the end
    results = joblib.Parallel(
        n_jobs=n_jobs,
        backend="threading" if all_at_once else None,
        prefer="threads",
        pre_dispatch="n_jobs",
        return_as="generator",
    )(
        joblib.delayed(validator)(group, fold, clock, rest, threads)
        for number, ((group, fold), rest) in enumerate(zip(jobs, left, strict=True))
        if number < least or not clock.is_over
    )
    try:
        with _quietly():
            for result in results:
                if any(validation.limit is Limit.INTERRUPTED for validation in result):
                    raise KeyboardInterrupt
                yield result
    except (KeyboardInterrupt, GeneratorExit):
        clock.is_cancelled = True
        results.close()
        raise
