"""Learners that choose their own size by cross-validation, and are tested on unseen rows.

All get the same training rows, raw or 0/1, tune themselves within them, and have
the same limit on depth. What is fitted to data, conditions included, is fitted
inside each fold.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from goct.bench.data import Labels, value_of
from goct.bench.peers.base import Answer, Question, Solver, Unsupported

FOLDS = 5
DATA_OPTIONS = ("target", "most_rows", "leaks")
"""Options of a run that are about its data."""
_LEAVES = (1, 5, 10, 20)
_MOST_PRICES = 10


@dataclass(frozen=True)
class Lesson:
    """Rows to learn from, and what to be good at.

    Attributes
    ----------
    X, y
        A data frame or 0/1 features, and labels 0, 1, ...; label 1 is the positive
        class.
    metric, depth, limit, seed, options
        As in :class:`goct.bench.spec.Spec`.
    """

    X: Any
    y: Labels
    metric: str
    depth: int
    limit: float
    seed: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Pupil:
    """What was learnt: predictions, the number of splits, and whether a proof came with it."""

    predict: Callable[[Any], Labels]
    splits: int | None = None
    is_proven: bool = False
    stats: Mapping[str, Any] = field(default_factory=dict)


class Learner(Solver):
    """Someone who tunes itself; see :class:`Lesson`."""

    module: ClassVar[str] = "sklearn"
    distribution: ClassVar[str] = "scikit-learn"
    learns: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("sklearn.ensemble", "sklearn.model_selection", "pandas")

    def load(self) -> None:
        """Import what the learner needs, which is not timed."""
        for module in (self.module, *self.needs):
            import_module(module)

    def fit(self, question: Question) -> Answer:
        """Learners answer no questions about one tree."""
        raise Unsupported("takes part in the experiment unseen only")

    def refusal_of(self, lesson: Lesson) -> str | None:
        """Say why the learner cannot take part; None if it can."""
        if lesson.y.max() > 1 and not (self.has_many_classes and lesson.metric == "accuracy"):
            return "takes two classes only"
        if np.bincount(lesson.y).min() < 2 * FOLDS and lesson.metric != "accuracy":
            return f"a class has fewer than {2 * FOLDS} rows"
        return None

    @abstractmethod
    def learn(self, lesson: Lesson) -> Pupil:
        """Tune and fit."""


class TunedGoct(Learner):
    """goct as it comes: the number of splits from the exact size path of each fold."""

    module: ClassVar[str] = "goct"
    distribution: ClassVar[str] = "goct"
    settings: ClassVar[Mapping[str, Any]] = {}

    def learn(self, lesson: Lesson) -> Pupil:
        """Choose the number of splits by cross-validation, and refit."""
        from goct.binarize import Binarizer
        from goct.estimator_cv import OptimalTreeClassifierCV

        settings = dict(self.settings)
        if isinstance(quantiles := settings.get("binarizer"), int):
            settings["binarizer"] = Binarizer("quantiles", n_thresholds=quantiles)
        estimator = OptimalTreeClassifierCV(
            lesson.metric,
            max_depth=lesson.depth,
            cv=_folds(lesson),
            time_limit=lesson.limit,
            **settings,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(lesson.X, lesson.y)
        solution = estimator.solution_
        return Pupil(
            estimator.predict, int(estimator.get_n_leaves()) - 1, solution.status.name == "OPTIMAL"
        )


class OneStandardError(TunedGoct):
    """goct with the one-standard-error rule."""

    settings: ClassVar[Mapping[str, Any]] = {"rule": "one_se"}


class Mdlp(TunedGoct):
    """goct over the conditions of MDLP."""

    settings: ClassVar[Mapping[str, Any]] = {"binarizer": "mdlp"}


class EightQuantiles(TunedGoct):
    """goct over eight thresholds for each number."""

    settings: ClassVar[Mapping[str, Any]] = {"binarizer": 8}


class ManyQuantiles(TunedGoct):
    """goct over 32 thresholds for each number."""

    settings: ClassVar[Mapping[str, Any]] = {"binarizer": 32}


class EveryThreshold(TunedGoct):
    """goct over every threshold."""

    settings: ClassVar[Mapping[str, Any]] = {"binarizer": "exact"}


class TunedCart(Learner):
    """CART, tuned over depth, leaf size and `ccp_alpha`."""

    class_weight: ClassVar[str | None] = None

    def learn(self, lesson: Lesson) -> Pupil:
        """Search the grid, and refit."""
        model = self.tune(lesson)
        return Pupil(model.predict, _splits(model))

    def tune(self, lesson: Lesson) -> Any:
        """Return the tuned pipeline."""
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(random_state=lesson.seed, class_weight=self.class_weight)
        model = _on_numbers(tree, lesson.X)
        grid = [
            {"max_depth": depth, "min_samples_leaf": leaf, "ccp_alpha": price}
            for depth in range(2, lesson.depth + 1)
            for leaf in _LEAVES
            for price in _prices(model, lesson, depth, leaf)
        ]
        return _search(model, grid, lesson)


class TunedBalancedCart(TunedCart):
    """CART with balanced class weights, tuned as the other."""

    class_weight: ClassVar[str | None] = "balanced"


class TunedThresholdCart(TunedCart):
    """Tuned CART, whose threshold on the probability is tuned as well."""

    has_many_classes: ClassVar[bool] = False

    def learn(self, lesson: Lesson) -> Pupil:
        """Tune the tree, then its threshold."""
        from sklearn.model_selection import TunedThresholdClassifierCV

        model = self.tune(lesson)
        tuned = TunedThresholdClassifierCV(model, scoring=_scorer(lesson), cv=_folds(lesson))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tuned.fit(lesson.X, lesson.y)
            except ValueError as error:
                if "constant predictions" not in str(error):
                    raise
                return Pupil(model.predict, _splits(model))  # no threshold to tune
        return Pupil(tuned.predict, _splits(tuned.estimator_))


class Boosting(Learner):
    """Histogram gradient boosting of scikit-learn as it comes: the ceiling, no small tree."""

    def learn(self, lesson: Lesson) -> Pupil:
        """Fit."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = _on_numbers(HistGradientBoostingClassifier(random_state=lesson.seed), lesson.X)
        return Pupil(model.fit(lesson.X, lesson.y).predict)


class Figs(Learner):
    """FIGS of imodels: a sum of small trees, tuned over the number of splits."""

    module: ClassVar[str] = "imodels"
    distribution: ClassVar[str] = "imodels"
    has_many_classes: ClassVar[bool] = False

    def learn(self, lesson: Lesson) -> Pupil:
        """Tune and fit."""
        from imodels import FIGSClassifier

        most = 2**lesson.depth - 1
        sizes = [size for size in (1, 2, 3, 4, 5, 7, 9, 12, 15, 20, 25, 31) if size <= most]
        model = _tune_imodels(FIGSClassifier(), [{"max_rules": size} for size in sizes], lesson)
        return Pupil(_as_labels(model.predict), int(model[-1].complexity_))


class Shrunken(Learner):
    """CART with hierarchical shrinkage of imodels, tuned over leaves and shrinkage."""

    module: ClassVar[str] = "imodels"
    distribution: ClassVar[str] = "imodels"
    has_many_classes: ClassVar[bool] = False

    def learn(self, lesson: Lesson) -> Pupil:
        """Tune and fit."""
        from imodels import HSTreeClassifier
        from sklearn.tree import DecisionTreeClassifier

        most = 2**lesson.depth
        trees = [
            DecisionTreeClassifier(
                max_depth=lesson.depth, max_leaf_nodes=size, random_state=lesson.seed
            )
            for size in (2, 3, 4, 6, 8, 12, 16, 32)
            if size <= most
        ]
        grid = [
            {"reg_param": strength, "estimator_": tree}
            for strength in (0.1, 1.0, 10.0, 50.0, 100.0)
            for tree in trees
        ]
        model = _tune_imodels(HSTreeClassifier(), grid, lesson)
        return Pupil(_as_labels(model.predict), int(model[-1].estimator_.get_n_leaves()) - 1)


def _tune_imodels(learner: Any, grid: list[dict[str, Any]], lesson: Lesson) -> Any:
    from sklearn.impute import SimpleImputer

    model = _on_numbers(learner, lesson.X)
    model.steps.insert(len(model) - 1, ("fill", SimpleImputer(strategy="median")))
    return _search(model, grid, lesson)


def _search(model: Any, grid: list[dict[str, Any]], lesson: Lesson) -> Any:
    """Return a pipeline with those parameters of its last step that do best in the folds.

    As a grid search of scikit-learn does, only that the steps before the last one are fitted
    once for each fold.
    """
    from sklearn.base import clone

    X, y = lesson.X, lesson.y
    take = X.iloc if hasattr(X, "iloc") else X
    scores = np.zeros((FOLDS, len(grid)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold, (train, test) in enumerate(_folds(lesson).split(X, y)):
            before = clone(model[:-1]) if len(model) > 1 else None
            known = take[train] if before is None else before.fit_transform(take[train])
            others = take[test] if before is None else before.transform(take[test])
            for place, params in enumerate(grid):
                fitted = clone(model[-1]).set_params(**params).fit(known, y[train])
                predicted = np.asarray(fitted.predict(others)).astype(np.int64)
                scores[fold, place] = value_of(lesson.metric, y[test], predicted)
        best = grid[int(scores.mean(axis=0).argmax())]
        chosen = clone(model)
        chosen[-1].set_params(**best)
        return chosen.fit(X, y)


def _folds(lesson: Lesson) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(FOLDS, shuffle=True, random_state=lesson.seed)


def _scorer(lesson: Lesson) -> Any:
    from sklearn.metrics import f1_score, make_scorer, matthews_corrcoef

    if lesson.metric == "accuracy":
        return "accuracy"
    if lesson.metric == "f1":
        return make_scorer(f1_score, zero_division=0)
    if lesson.metric == "mcc":
        return make_scorer(matthews_corrcoef)
    raise Unsupported(f"is not tuned for {lesson.metric}")


def _on_numbers(model: Any, X: Any) -> Any:
    """Return a pipeline that turns text columns into one column per level."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    if not hasattr(X, "iloc"):
        return Pipeline([("model", model)])
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    text = make_column_selector(dtype_exclude=np.number)
    encoder = make_column_transformer((levels, text), remainder="passthrough")
    return Pipeline([("numbers", encoder), ("model", model)])


def _prices(model: Any, lesson: Lesson, depth: int, leaf: int) -> list[float]:
    """Return values of `ccp_alpha` between those at which the tree of all rows changes."""
    from sklearn.base import clone

    pipeline = clone(model).set_params(model__max_depth=depth, model__min_samples_leaf=leaf)
    X = lesson.X if len(pipeline) == 1 else pipeline[:-1].fit_transform(lesson.X)
    alphas = np.clip(pipeline[-1].cost_complexity_pruning_path(X, lesson.y).ccp_alphas, 0, None)
    between = np.unique([0.0, *np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1]])
    which = np.linspace(0, len(between) - 1, min(len(between), _MOST_PRICES)).round().astype(int)
    return [float(price) for price in between[which]]


def _splits(model: Any) -> int:
    return int(model[-1].get_n_leaves()) - 1


def _as_labels(predict: Callable[[Any], Any]) -> Callable[[Any], Labels]:
    return lambda X: np.asarray(predict(X)).astype(np.int64)
