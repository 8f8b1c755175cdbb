"""A scikit-learn classifier that chooses the size of its tree by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from goct._validation import check_choice, check_count
from goct.data import Table
from goct.data.frame import read_table
from goct.estimator import OptimalTreeClassifier, Prepared, check_target, no_tree
from goct.exceptions import BinarizationWarning, InfeasibleError, NotProvenWarning, NoTreeError
from goct.metrics import Metric
from goct.path import Path, path
from goct.problem import Problem
from goct.solution import Limit, Limits, Solution, Status
from goct.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RULES = ("best", "one_se")
_LISTS = (list, tuple, np.ndarray)


class OptimalTreeClassifierCV(OptimalTreeClassifier):
    """The best tree of a size that is chosen by cross-validation.

    The largest tree that a depth allows fits the training rows best, but mostly
    not new ones. In each fold, one search finds the best tree for every number
    of splits (:func:`goct.path`), conditions included; the number that does
    best on the rows that were held back is used on all rows. If lists of depths,
    of least leaves or of binarizers are given, these are chosen as well.

    Parameters
    ----------
    metric
        What to maximise, see :class:`goct.OptimalTreeClassifier`.
    max_depth
        The largest number of splits between root and leaf, or a list of such.
    max_splits
        The largest number of splits that is tried; by default as many as the
        depth allows, but at most 31.
    min_samples_leaf
        The least number of samples in a leaf, or their share, or a list of such.
    class_weight, pos_label, constraints
        See :class:`goct.OptimalTreeClassifier`.
    binarizer
        How to make conditions, see :class:`goct.OptimalTreeClassifier`, or a list
        of such.
    cv
        The number of folds, stratified and shuffled; or a splitter of
        scikit-learn, such as ``RepeatedStratifiedKFold()``; or pairs of training
        and validation rows. If a class has fewer rows than there would be folds,
        there are as many folds as it has rows; a single row is held back once.
    scoring
        How trees are compared on the rows that were held back: by default by
        the metric; or the name of a scorer of scikit-learn, or a function
        ``scoring(classifier, X, y)``.
    rule
        "best" takes the best mean score; "one_se" the fewest splits whose mean
        score is at most one standard error below the best
        (the one-standard-error rule). Ties go to fewer splits.
    time_limit
        Seconds for all of it. Searches that are stopped take their best trees so
        far, with a warning.
    n_jobs
        How many folds are searched at once, by joblib; -1 for all processors.
    random_state
        A seed that decides on the folds, if `cv` is a number. None stands for 0:
        the same data give the same tree.
    verbose
        1 to print a line after each fold, with an estimate of the time that is left.
    keep_data
        See :class:`goct.OptimalTreeClassifier`; `path_` is left out of a pickle
        without the data.

    Attributes
    ----------
    best_splits_
        The number of splits that was chosen; the tree may have fewer.
    best_params_
        It, as `max_splits`, and what was chosen from lists: `max_depth`,
        `min_samples_leaf` and `binarizer`.
    best_score_
        The mean score of the folds for that choice. Since it was chosen for
        that, it is a little too good; see `score_estimate_`.
    score_estimate_
        An estimate of the score on new rows, and its standard error: each fold's
        score with what the other folds would have chosen.
    best_index_
        The place of the choice in `cv_results_`.
    cv_results_
        The scores by fold, their means, standard deviations and standard
        errors, and ranks, as scikit-learn has them. An entry is a number of
        splits with a depth, a least leaf and a binarizer. The score is NaN where
        no tree of a fold meets the constraints; such entries are not chosen.
    path_
        The :class:`goct.Path` on all rows: the best tree for every number of splits.
    n_folds_
        The number of folds.
    tree_, solution_, binarizer_, metric_, classes_, leaf_weights_
        See :class:`goct.OptimalTreeClassifier`.
    n_features_in_, feature_names_in_
        See :class:`goct.OptimalTreeClassifier`.

    Notes
    -----
    Ctrl-C ends the cross-validation: if at least one fold is done by then, the
    size is chosen from those that are, and the tree on all rows is searched. A
    second Ctrl-C takes the best one so far.

    Examples
    --------
    >>> from goct import OptimalTreeClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> classifier = OptimalTreeClassifierCV("accuracy", max_depth=3).fit(X, y)
    >>> classifier.best_splits_ == classifier.best_params_["max_splits"]
    True
    """

    cv_results_: dict[str, Any]
    path_: Path
    best_splits_: int
    best_params_: dict[str, Any]
    best_score_: float
    score_estimate_: tuple[float, float]
    best_index_: int
    n_folds_: int

    def __init__(
        self,
        metric: str | Metric = "auto",
        max_depth: Any = 4,
        *,
        max_splits: int | None = None,
        min_samples_leaf: Any = 5,
        class_weight: str | Mapping[Any, Any] | None = None,
        pos_label: Any = None,
        binarizer: Any = "mdlp",
        constraints: Any = (),
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        rule: str = "best",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        keep_data: bool = False,
    ) -> None:
        self.metric = metric
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.binarizer = binarizer
        self.constraints = constraints
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.keep_data = keep_data

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> OptimalTreeClassifierCV:
        """Choose the size, and find the best tree.

        Parameters
        ----------
        X, y, sample_weight, costs
            See :meth:`goct.OptimalTreeClassifier.fit`. Weights and costs count
            in the scores, too.
        groups
            For each row the group that it belongs to. Rows of one group are all
            in training or all held back.

        Raises
        ------
        ValueError
            If there are too few rows for folds, or if a fold lacks a class; the
            message says which.
        InfeasibleError
            If it is proven that no tree meets the constraints, on all rows or in
            some fold.
        NoTreeError
            If none was found before a limit was reached.

        Warns
        -----
        NotProvenWarning
            If searches stopped at a limit; the message tells how many.
        """
        check_choice(self.rule, "rule", RULES)
        settings = list(self._settings())
        whole = settings[0]._prepare(X, y, sample_weight, costs)
        data = _Data(X, read_table(X), check_target(y), whole.problem.classes, sample_weight, costs)
        folds = self._folds(data, groups)
        scorer = None if self.scoring is None else check_scoring(settings[0], self.scoring)
        clock = _Clock(self.time_limit, joblib.effective_n_jobs(self.n_jobs))
        found = self._validate(settings, folds, _Validator(data, scorer, self.max_splits), clock)
        table = _Candidates(settings, found)
        choice = table.choose(table.scores, self.rule)
        if choice is None:
            raise _no_candidate(found, settings[0])
        setting, splits = table.of(choice)
        if setting is not settings[0]:
            whole = setting._prepare(X, y, sample_weight, costs)
        limit = clock.limit(0)
        every = find_path(setting, whole, self.max_splits, limit, n_jobs=clock.width)
        solution = next((s for s in every.solutions[splits:] if s.tree is not None), every[splits])
        if solution.tree is None:
            raise no_tree(solution)
        self._keep(whole, solution)
        self.path_ = every
        self.n_folds_ = len(found) // len(settings)
        self.best_index_ = choice
        self.best_splits_ = splits
        self.best_params_ = table.params(choice)
        self.best_score_ = float(table.scores[:, choice].mean())
        self.score_estimate_ = table.estimate(self.rule)
        self.cv_results_ = table.results()
        _warn_of_limits(found, solution)
        return self

    def plot_validation(self, ax: Axes | None = None) -> Axes:
        """Draw the score against the number of splits: on training rows, and on rows held back.

        The line is the mean of the folds, the band one standard error around it, the ring
        what was chosen. If several depths, least leaves or binarizers were tried, these
        are the chosen ones.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install goct[plot]``.
        """
        check_is_fitted(self)
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("a plot needs matplotlib: pip install 'goct[plot]'") from None
        if ax is None:
            ax = plt.subplots(figsize=(6, 3.8), layout="constrained")[1]
        results = self.cv_results_
        settings = results["setting"] == results["setting"][self.best_index_]
        splits = results["param_max_splits"][settings]
        mean, error = (results[f"{n}_test_score"][settings] for n in ("mean", "se"))
        colour, name = "#3a78b5", self.metric_.name if self.scoring is None else "score"
        ax.fill_between(splits, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
        ax.plot(splits, mean, "o-", color=colour, markersize=4, label="rows held back")
        if self.scoring is None and hasattr(self, "path_"):
            values = self.path_.to_dict()["value"]
            ax.plot(range(len(values)), values, color="#9aa3ad", lw=1, label="training rows")
        ax.plot(self.best_splits_, self.best_score_, "o", color="#d9622b", markersize=10,
                fillstyle="none", label="chosen")  # fmt: skip
        ax.set(xlabel="splits, at most", ylabel=name)
        ax.grid(color="#eceff2")
        ax.set_axisbelow(True)
        ax.legend(loc="lower right", frameon=False)
        return ax

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if not self.keep_data:
            state = {name: value for name, value in state.items() if name != "path_"}
        return state

    def _settings(self) -> Iterator[OptimalTreeClassifier]:
        """Yield what is tried, with every number of splits each."""
        lists = [
            list(value) if isinstance(value, _LISTS) else [value]
            for value in (self.max_depth, self.min_samples_leaf, self.binarizer)
        ]
        for name, values in zip(_LISTED, lists, strict=True):
            if not values:
                raise ValueError(f"{name} is an empty list; give at least one value")
        for depth, leaf, binarizer in product(*lists):
            yield OptimalTreeClassifier(
                self.metric,
                depth,
                min_samples_leaf=leaf,
                class_weight=self.class_weight,
                pos_label=self.pos_label,
                binarizer=binarizer,
                constraints=self.constraints,
            )

    def _folds(self, data: _Data, groups: ArrayLike | None) -> list[_Fold]:
        """Return the rows to learn from and the rows to hold back, for each fold."""
        splitter = self._splitter(data, groups)
        places = np.arange(len(data.y))
        with warnings.catch_warnings():
            # Classes of few rows are documented to be held back in some folds only.
            warnings.filterwarnings("ignore", message="The least populated class in y")
            folds = [
                _Fold(places[train], places[test])
                for train, test in splitter.split(places[:, None], data.y, groups)
            ]
        for number, fold in enumerate(folds, 1):
            if not len(fold.train) or not len(fold.test):
                which = "held back" if len(fold.train) else "to learn from"
                raise ValueError(f"cv: fold {number} has no rows {which}")
        if not folds:
            raise ValueError("cv has no folds")
        return folds

    def _splitter(self, data: _Data, groups: ArrayLike | None) -> Any:
        if self.cv is not None and not isinstance(self.cv, Integral):
            return check_cv(self.cv, data.y, classifier=True)
        number = 5 if self.cv is None else check_count(self.cv, "cv", minimum=2)
        _, sizes = np.unique(data.y, return_counts=True)
        least = int(sizes[sizes > 1].min(initial=len(data.y)))
        if sizes.max() < 2:
            raise ValueError(
                "every class has only 1 sample, and cross-validation needs some both to learn from "
                "and to hold back; use OptimalTreeClassifier, or choose the folds by cv"
            )
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        seed = 0 if self.random_state is None else self.random_state
        return kind(min(number, least), shuffle=True, random_state=seed)

    def _validate(
        self,
        settings: Sequence[OptimalTreeClassifier],
        folds: Sequence[_Fold],
        validator: _Validator,
        clock: _Clock,
    ) -> list[Validation]:
        """Return what all settings achieve in each fold, for the folds that are complete."""
        jobs = [(setting, fold) for fold in folds for setting in settings]
        run = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")
        results = run(
            joblib.delayed(validator)(setting, fold, clock, len(jobs) - number)
            for number, (setting, fold) in enumerate(jobs)
        )
        found: list[Validation] = []
        try:
            for result in results:
                if result.limit is Limit.INTERRUPTED:
                    raise KeyboardInterrupt
                found.append(result)
                self._report(len(found), len(jobs), clock)
        except KeyboardInterrupt:
            results.close()
            del found[len(found) - len(found) % len(settings) :]
            if not found:
                raise
        return found

    def _report(self, done: int, total: int, clock: _Clock) -> None:
        """Tell that so many of all searches are done."""
        if self.verbose:
            left = clock.elapsed / done * (total + 1 - done)
            print(
                f"{clock.elapsed:8.1f} s  {done} of {total} searches for the size done, "
                f"about {left:.0f} s left",
                flush=True,
            )


_LISTED = ("max_depth", "min_samples_leaf", "binarizer")


def find_path(
    setting: OptimalTreeClassifier,
    prepared: Prepared,
    max_splits: int | None,
    time_limit: float | None,
    n_jobs: int = 1,
) -> Path:
    """Find the best tree for every number of splits, for the parameters of a classifier."""
    return path(
        prepared.problem,
        prepared.metric,
        setting.max_depth,
        max_splits=max_splits,
        min_samples_leaf=prepared.min_samples_leaf,
        constraints=setting.constraints,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )


@dataclass(frozen=True)
class _Fold:
    """The rows to learn from, and the rows to hold back."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


class _Clock:
    """Shares a time limit among searches, some of them at once, and one more at the end."""

    def __init__(self, limit: float | None, width: int) -> None:
        Limits(limit)
        self.width = width
        self._started = time.time()  # processes of one machine agree on it
        self._limit = None if limit == float("inf") else limit

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.time() - self._started

    def limit(self, before_last: int) -> float | None:
        """Return the seconds for a search, if so many are left before the last one."""
        if self._limit is None:
            return None
        rounds = 1 + ceil(before_last / self.width)
        return max((self._limit - self.elapsed) / rounds, 1e-3)


@dataclass(frozen=True, eq=False)
class _Data:
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
    """

    scores: tuple[float, ...]
    limit: Limit
    seconds: float
    is_infeasible: bool


@dataclass(frozen=True, eq=False)
class _Validator:
    """Finds the path of a fold and scores its trees."""

    data: _Data
    scorer: Callable[..., float] | None
    max_splits: int | None

    def __call__(
        self, setting: OptimalTreeClassifier, fold: _Fold, clock: _Clock, left: int
    ) -> Validation:
        """Return the scores of a fold, if so many searches are left, this one included."""
        started = time.perf_counter()
        data, rows = self.data, fold.train
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BinarizationWarning)  # all rows will tell
            prepared = setting._prepare(
                data.table.take(rows),
                data.y[rows],
                data.of_rows(data.sample_weight, rows),
                data.of_rows(data.costs, rows),
                data.classes,
            )
        limit = clock.limit(left)
        found = find_path(setting, prepared, self.max_splits, limit)
        seconds = time.perf_counter() - started
        score = self._by_metric if self.scorer is None else self._by_scorer
        scores = score(setting, prepared, fold.test, found)
        infeasible = found[-1].status is Status.INFEASIBLE
        return Validation(tuple(scores), found.limit, seconds, infeasible)

    def _by_metric(
        self,
        setting: OptimalTreeClassifier,
        prepared: Prepared,
        rows: NDArray[np.intp],
        found: Path,
    ) -> Iterator[float]:
        """Yield the metric of each tree on rows that were held back."""
        data, problem = self.data, prepared.problem
        held_back = Problem.from_columns(
            data.table.take(rows),
            data.y[rows],
            binarizer=prepared.binarizer,
            classes=problem.classes,
            pos_label=None if problem.positive is None else problem.classes[problem.positive],
            sample_weight=data.of_rows(data.sample_weight, rows),
            costs=data.of_rows(data.costs, rows),
        )

        def score(solution: Solution) -> float:
            assert solution.tree is not None
            return float(prepared.metric.evaluate(solution.tree, held_back))

        return self._each(found, score)

    def _by_scorer(
        self,
        setting: OptimalTreeClassifier,
        prepared: Prepared,
        rows: NDArray[np.intp],
        found: Path,
    ) -> Iterator[float]:
        """Yield the score of each tree on rows that were held back."""
        data, scorer = self.data, self.scorer
        assert scorer is not None
        X = _safe_indexing(data.X, rows)
        weights = data.of_rows(data.sample_weight, rows)
        options = {} if weights is None else {"sample_weight": weights}

        def score(solution: Solution) -> float:
            setting._keep(prepared, solution)
            return float(scorer(setting, X, data.y[rows], **options))

        return self._each(found, score)

    @staticmethod
    def _each(found: Path, score: Callable[[Solution], float]) -> Iterator[float]:
        last: tuple[Tree | None, float] = None, float("nan")
        for solution in found:
            if solution.tree is not None and solution.tree is not last[0]:
                last = solution.tree, score(solution)
            yield last[1]


class _Candidates:
    """The numbers of splits of all settings, with their scores by fold.

    Attributes
    ----------
    scores
        One row per fold.
    splits, setting
        The number of splits of each candidate, and its setting's number.
    """

    def __init__(
        self, settings: Sequence[OptimalTreeClassifier], found: Sequence[Validation]
    ) -> None:
        self.settings = settings
        self.found = found
        n = len(settings)
        sizes = [len(validation.scores) for validation in found[:n]]
        self.setting = np.repeat(np.arange(n), sizes)
        self.splits = np.concatenate([np.arange(size) for size in sizes])
        self.scores = np.array(
            [
                np.concatenate([v.scores for v in found[first : first + n]])
                for first in range(0, len(found), n)
            ]
        )

    def choose(self, scores: NDArray[np.float64], rule: str) -> int | None:
        """Return the place of the best candidate, given the scores of some folds."""
        mean = np.where(np.isnan(scores).any(axis=0), -np.inf, scores.mean(axis=0))
        top = int(mean.argmax())
        if mean[top] == -np.inf:
            return None
        room = _ROUNDING if rule == "best" else max(float(_error(scores)[top]), _ROUNDING)
        close = np.flatnonzero(mean >= mean[top] - room)
        return int(min(close, key=lambda i: (self.splits[i], -mean[i])))

    def estimate(self, rule: str) -> tuple[float, float]:
        """Return the mean score of each fold with what the others choose, and its error."""
        scores, n = self.scores, len(self.scores)
        if n < 2:
            return float("nan"), float("nan")
        honest = []
        for fold in range(n):
            choice = self.choose(np.delete(scores, fold, axis=0), rule)
            honest.append(np.nan if choice is None else scores[fold, choice])
        return float(np.mean(honest)), float(np.std(honest, ddof=1) / np.sqrt(n))

    def of(self, place: int) -> tuple[OptimalTreeClassifier, int]:
        """Return the setting and the number of splits of a candidate."""
        return self.settings[self.setting[place]], int(self.splits[place])

    def params(self, place: int) -> dict[str, Any]:
        """Return the parameters of a candidate."""
        setting, splits = self.of(place)
        return {"max_splits": splits} | {name: getattr(setting, name) for name in _LISTED}

    def results(self) -> dict[str, Any]:
        """Return all of it as scikit-learn does."""
        params = [self.params(i) for i in range(len(self.splits))]
        mean, n = self.scores.mean(axis=0), len(self.settings)
        seconds = np.array([v.seconds for v in self.found]).reshape(-1, n)
        proven = np.array([v.limit is Limit.NONE for v in self.found]).reshape(-1, n)
        order = np.where(np.isnan(mean), -np.inf, mean)
        columns: dict[str, Any] = {"params": params, "setting": self.setting}
        for name in ("max_splits", *_LISTED):
            kind = np.int64 if name in ("max_splits", "max_depth") else object
            columns[f"param_{name}"] = np.array([p[name] for p in params], dtype=kind)
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


def _no_candidate(found: Sequence[Validation], setting: OptimalTreeClassifier) -> NoTreeError:
    """Return the error for constraints that some fold has no tree for."""
    infeasible = sum(v.is_infeasible for v in found)
    where = f"in {infeasible} of {len(found)} searches of folds this is proven"
    kind = InfeasibleError if infeasible else NoTreeError
    return kind(
        "there is no number of splits for which every fold has a tree that meets the constraints "
        f"({setting.constraints}); {where}. Relax them, or allow larger trees or smaller leaves"
    )


def _warn_of_limits(found: Sequence[Validation], solution: Solution) -> None:
    """Warn once of all that is not proven."""
    texts = []
    if stopped := sum(v.limit is not Limit.NONE for v in found):
        texts.append(
            f"{stopped} of {len(found)} searches for the size stopped at a limit: it was chosen "
            "from trees that are not proven to be the best"
        )
    if solution.status is Status.FEASIBLE:
        texts.append(solution.describe_status())
    if texts:
        warnings.warn("; ".join(texts), NotProvenWarning, stacklevel=3)
