"""A scikit-learn classifier that chooses the size of its tree by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from goct._ctrl_c import keeping_the_best
from goct._plot import axes_or_new, finish
from goct._validation import check_choice
from goct.data.frame import read_table
from goct.estimator import OptimalTreeClassifier, check_target, no_tree
from goct.metrics import Metric
from goct.path import Path
from goct.solution import Limit
from goct.tuning import (
    LEAVES,
    LISTED,
    RULES,
    Clock,
    Data,
    PathFinder,
    Validator,
    folds_of,
    score_choice,
    takes_weights,
    tune,
    warn_of_limits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        The least number of samples in a leaf, or their share, or a list of such
        to choose from. Where there are fewer rows, it is all of them: no split.
    class_weight, pos_label, constraints, smoothing
        See :class:`goct.OptimalTreeClassifier`.
    binarizer
        How to make conditions, see :class:`goct.OptimalTreeClassifier`, or a list
        of such.
    cv
        The number of folds, stratified and shuffled; or a splitter of
        scikit-learn, such as ``RepeatedStratifiedKFold()``; or pairs of training
        and validation rows. If a class has fewer rows than there would be folds,
        there are as many folds as it has rows; a single row is held back once.
        With groups there are at most as many folds as groups.
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
        far, and folds that there is no time for are left out, with a warning. The
        conditions of all rows and of one fold, with one search on each, however short,
        are made in any case.
    n_jobs
        How many folds are searched at once, by threads; -1 for all processors. A backend
        of joblib, such as Dask's, takes their place ("multiprocessing" does not).
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
        An estimate of the score on new rows, and its standard error, by nested
        cross-validation: each fold's score with what would be chosen by trees that
        saw none of its rows. These learn without it and without one of its neighbours
        at a time, two on each side (with five folds all others), and are scored there.
        Where there is no time for these trees, with two folds, or with more than 5000
        rows, the other folds choose by their own trees, which is a little too good on
        few rows. The error is that of the rows that were held back, by a jackknife of
        tenths (of groups, if there are), and larger since folds share rows to learn
        from: the correction of Nadeau and Bengio (2003). Two of it to both sides hold
        about 95 %. Costs, which add up over rows, are scored per row.
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
    second Ctrl-C takes the best one so far, unless it comes within five seconds, which is a
    `KeyboardInterrupt`.

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
        min_samples_leaf: Any = LEAVES,
        class_weight: str | Mapping[Any, Any] | None = None,
        pos_label: Any = None,
        binarizer: Any = "auto",
        constraints: Any = (),
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        rule: str = "best",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        smoothing: Any = "laplace",
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
        self.smoothing = smoothing
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
            See :meth:`goct.OptimalTreeClassifier.fit`. Weights and costs count in the
            scores, too; those of "balanced" classes are by the rows to learn from.
        groups
            For each row the group that it belongs to. Rows of one group are all
            in training or all held back.

        Raises
        ------
        ValueError
            If there are too few rows for folds. A fold may lack a class: its trees
            and scores are what they are then.
        InfeasibleError
            If it is proven that no tree meets the constraints, on all rows or in
            some fold.
        NoTreeError
            If none was found before a limit was reached, or if `scoring` gives no numbers.

        Warns
        -----
        NotProvenWarning
            If searches stopped at a limit; the message tells how many.
        """
        check_choice(self.rule, "rule", RULES)
        clock = Clock(self.time_limit, joblib.effective_n_jobs(self.n_jobs))
        settings = list(self._settings())
        whole = settings[0]._prepare(X, y, sample_weight, costs)
        clock.preparation = clock.elapsed
        data = Data(X, read_table(X), check_target(y), whole.problem.classes, sample_weight, costs)
        folds = folds_of(self.cv, data.y, groups, self.random_state)
        scorer = None if self.scoring is None else check_scoring(settings[0], self.scoring)
        if scorer is not None and sample_weight is not None and not takes_weights(scorer):
            warnings.warn(
                "scoring takes no sample_weight: all rows count alike in the scores of the folds",
                UserWarning,
                stacklevel=2,
            )
        validator = Validator(data, scorer, self.max_splits)
        with keeping_the_best():
            tuning = tune(
                settings,
                folds,
                validator,
                clock,
                rule=self.rule,
                n_jobs=self.n_jobs,
                report=lambda done, total: self._report(done, total, clock.elapsed),
            )
            setting, splits = tuning.best_setting, tuning.best_splits
            if setting.binarizer is not settings[0].binarizer:
                whole = setting._prepare(X, y, sample_weight, costs)
            with PathFinder(whole, self.max_splits, clock.width) as finder:
                every = finder.find(setting, clock.limit(0, least=clock.preparation))
            if every.limit is not Limit.INTERRUPTED and not clock.is_cancelled:
                score_choice(tuning, folds, validator, clock, n_jobs=self.n_jobs)
        solution = every.smallest(splits)
        if solution.tree is None:
            raise no_tree(solution)
        self._keep(whole, solution)
        self.path_ = every
        self.n_folds_ = tuning.n_folds
        self.best_index_ = tuning.choice
        self.best_splits_ = splits
        self.best_params_ = tuning.params(tuning.choice)
        self.best_score_ = float(tuning.scores[:, tuning.choice].mean())
        self.score_estimate_ = tuning.estimate()
        self.cv_results_ = tuning.results()
        warn_of_limits(tuning, len(folds), solution)
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
        ax = axes_or_new(ax, 6, 3.8)
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
        return finish(ax, "splits, at most", name)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if not self.keep_data:
            state = {name: value for name, value in state.items() if name != "path_"}
        return state

    def _settings(self) -> Iterator[OptimalTreeClassifier]:
        """Yield what is tried, with every number of splits each."""
        lists = {}
        for name in LISTED:
            value = getattr(self, name)
            lists[name] = list(value) if isinstance(value, _LISTS) else [value]
            if not lists[name]:
                raise ValueError(f"{name} is an empty list; give at least one value")
        depths, leaves, binarizers = lists.values()
        for binarizer, depth, leaf in product(binarizers, depths, leaves):
            yield OptimalTreeClassifier(
                self.metric,
                depth,
                min_samples_leaf=leaf,
                class_weight=self.class_weight,
                pos_label=self.pos_label,
                binarizer=binarizer,
                constraints=self.constraints,
                smoothing=self.smoothing,
            )

    def _report(self, done: int, total: int, elapsed: float) -> None:
        """Tell that so many of all folds are done."""
        if self.verbose:
            left = elapsed / done * (total + 1 - done)
            print(
                f"{elapsed:8.1f} s  {done} of {total} folds done, about {left:.0f} s left",
                flush=True,
            )
