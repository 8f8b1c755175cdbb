"""A scikit-learn classifier: binarize, solve, predict."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from goct._deadline import deadline, seconds_left
from goct._validation import check_choice, check_count, check_labels, is_missing, label_array, plain
from goct.binarize import Binarizer
from goct.binarize.plain import PlainBinarizer
from goct.class_weight import class_weight_of
from goct.data.frame import read_table
from goct.exact import as_fraction
from goct.exceptions import InfeasibleError, NotProvenWarning, NoTreeError
from goct.export import to_sklearn
from goct.metrics import Metric, choose_metric, get_metric
from goct.probabilities import Smoothing
from goct.problem import Problem
from goct.solution import Progress, Solution, Status
from goct.solve import solve
from goct.tree import Leaf, Split, Tree

BINARIZERS = ("auto", "mdlp", "quantiles", "midpoints", "exact", "none")
_ROUNDING = Fraction(1, 10**9)
"""A gap that numbers too fine for the engine leave is not worth a warning."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the search is about: the data over fitted conditions."""

    binarizer: PlainBinarizer
    problem: Problem
    metric: Metric
    classes: NDArray[Any]  # sorted
    n_samples: int
    class_weight: Mapping[Any, Any] | None = None  # by label


class OptimalTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The tree of a given depth that maximises a metric, proven to be the best.

    Columns are turned into conditions by a :class:`goct.binarize.Binarizer`
    first; the tree is the best of all trees over these conditions.

    Parameters
    ----------
    metric
        What to maximise on the training data: a name such as "f1", or a
        metric, see :mod:`goct.metrics`. "auto" is F1 for two classes or if
        `pos_label` is given, and accuracy for more classes, or with
        `class_weight` and no `pos_label`, by these weights.
    max_depth
        The largest number of splits between root and leaf.
    split_penalty
        λ, the price of a split in the metric's own unit (cf. ``ccp_alpha``): the
        tree maximises ``metric - λ * splits``.
    max_splits
        The largest number of splits; no limit if None.
    min_samples_leaf
        The least number of samples in a leaf, whatever they weigh; a float such
        as 0.05 is a share of all samples, rounded up.
    min_weight_fraction_leaf
        The least share of the weight of all samples in a leaf. If samples have
        different weights, only the MIP engine can keep both minimums at once.
    class_weight
        What the weights of the samples of a class are multiplied by in `fit`: a
        dictionary from labels to numbers, or "balanced" to give all classes the
        same weight in total. The conditions do not depend on it. `score` takes the
        same weights: those of "balanced" are by the rows of `fit`.
    pos_label
        The positive class of metrics for two classes. By default the last of
        two labels in sorted order; with more labels it must be named, and
        stands against the rest.
    binarizer
        How to make conditions: "auto", "mdlp", "quantiles" or "midpoints", see
        :class:`goct.binarize.Binarizer`, or one of these with parameters of
        your own. "exact" for trees that may cut anywhere. "none" if all columns
        are 0/1 or truth values already. Parameters such as
        ``binarizer__n_thresholds`` can be set in either case.
    smoothing
        How the shares of classes in a leaf become probabilities, see
        :class:`goct.probabilities.Smoothing`: "laplace" draws them towards equal
        ones, "parent" towards those of the parent, "none" leaves them as they
        are; with a weight of your own as in ``("parent", 5)``.
    constraints
        Conditions that the tree must meet on the training data, such as
        "recall >= 0.9", see :mod:`goct.constraints`.
    engine
        "search", "mip", or "auto" to let goct choose.
    engine_options
        Further options of the engine as a dictionary, see
        :func:`goct.search.solve_search` and :func:`goct.mip.solve_mip`.
    certificate
        A file for the proof, as in :func:`goct.solve`; ``solution_.certificate``
        says what was written, and ``goct.verify(file, solution_.problem)`` checks it.
    time_limit
        Seconds after which the best tree so far is taken, with a warning. Making
        conditions counts; if that takes all of it, there is no tree, and an error.
    n_jobs
        The number of threads of the engine; -1 for all processors.
    random_state
        A seed for engines that depend on chance; the search engine does not.
    verbose
        1 to print a line about the progress from time to time.
    keep_data
        Whether a pickle of the fitted classifier keeps all training data. By
        default only what the tree tells apart is kept: its conditions in the
        data of `solution_`, which is enough for `summary` and reports.

    Attributes
    ----------
    metric_
        The metric that was maximised.
    tree_
        The :class:`goct.Tree` over the conditions.
    solution_
        The :class:`goct.Solution`: value, bound, gap, status, and the training
        data as a :class:`goct.Problem`.
    binarizer_
        The fitted :class:`goct.binarize.Binarizer`; its `conditions_` say what
        the tree asks.
    classes_
        The labels, sorted.
    leaf_weights_
        The weight of each class at each node of the tree, in preorder.
    n_features_in_
        The number of columns.
    feature_names_in_
        Their names; only if they had any.

    Notes
    -----
    A leaf predicts what is best for the metric of the whole tree, which need
    not be its most frequent class. `predict` is therefore not always the class
    of the largest probability.

    Examples
    --------
    >>> from goct import OptimalTreeClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> classifier = OptimalTreeClassifier("f1", max_depth=2, pos_label=0).fit(X, y)
    >>> classifier.solution_.status.name, round(classifier.score(X, y), 4)
    ('OPTIMAL', 0.944)
    """

    metric_: Metric
    tree_: Tree
    solution_: Solution
    binarizer_: Binarizer
    classes_: NDArray[Any]
    leaf_weights_: NDArray[np.float64]
    n_features_in_: int

    def __init__(
        self,
        metric: str | Metric = "auto",
        max_depth: int | None = 3,
        *,
        split_penalty: Any = 0,
        max_splits: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, Any] | None = None,
        pos_label: Any = None,
        binarizer: str | Binarizer = "auto",
        smoothing: Any = "laplace",
        constraints: Any = (),
        engine: str = "auto",
        engine_options: Mapping[str, Any] | None = None,
        certificate: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = 1,
        random_state: Any = None,
        verbose: int = 0,
        keep_data: bool = False,
    ) -> None:
        self.metric = metric
        self.max_depth = max_depth
        self.split_penalty = split_penalty
        self.max_splits = max_splits
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.binarizer = binarizer
        self.smoothing = smoothing
        self.constraints = constraints
        self.engine = engine
        self.engine_options = engine_options
        self.certificate = certificate
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.keep_data = keep_data

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, costs: ArrayLike | None = None
    ) -> OptimalTreeClassifier:
        """Find the best tree.

        Parameters
        ----------
        X
            A data frame of pandas, polars or pyarrow, an array, or a list of rows.
        y
            The labels, of any type that can be sorted.
        sample_weight
            Non-negative weights of the rows.
        costs
            The cost of each prediction for each row, for the metric
            "instance_cost"; see :meth:`goct.Problem.from_arrays`.

        Raises
        ------
        InfeasibleError
            If it is proven that no tree meets the constraints.
        NoTreeError
            If none was found before a limit was reached.

        Warns
        -----
        NotProvenWarning
            If the search stopped at a limit; the message tells the gap. Not if it is
        below 1e-9.
        """
        with deadline(self.time_limit):
            prepared = self._prepare(X, y, sample_weight, costs)
            solution = self._solve(prepared)
        if solution.tree is None:
            raise no_tree(solution)
        self._keep(prepared, solution)
        if solution.gap is not None and solution.gap > _ROUNDING:
            warnings.warn(solution.describe_status(), NotProvenWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of each row."""
        leaves = self.apply(X)
        labels = [n.label if isinstance(n, Leaf) else 0 for n in self.tree_.nodes()]
        predicted: NDArray[Any] = self.classes_[np.array(labels)[leaves]]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class in the leaf of each row, in the order of `classes_`.

        The shares are those of the training data, by weight, smoothed as the
        parameter `smoothing` says.
        """
        leaves = self.apply(X)
        smoothing = Smoothing.read(self.smoothing)
        return smoothing.probabilities(self.tree_, self.leaf_weights_.tolist())[leaves]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest number of splits between root and leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def set_params(self, **params: Any) -> OptimalTreeClassifier:
        """Set parameters; those of the binarizer as ``binarizer__n_thresholds`` and the like.

        A binarizer that is given by its name becomes a
        :class:`goct.binarize.Binarizer` for that.
        """
        binarizer = params.get("binarizer", self.binarizer)
        if isinstance(binarizer, str) and any(name.startswith("binarizer__") for name in params):
            params["binarizer"] = Binarizer(check_choice(binarizer, "binarizer", BINARIZERS))
        super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "solution_" in state and not self.keep_data:
            state = {**state, "solution_": state["solution_"].condensed()}
        return state

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf of each row, as its place in preorder."""
        check_is_fitted(self)
        asked = self.tree_.features
        places = {feature: k for k, feature in enumerate(asked)}
        names = [self.tree_.feature_names[feature] for feature in asked]
        return self.tree_.over(places, names).apply(self.binarizer_.evaluate(X, asked))

    def decision_path(self, X: Any) -> csr_matrix:
        """Return which nodes each row passes: a sparse 0/1 matrix, nodes in preorder."""
        leaves = self.apply(X)
        paths = np.zeros((len(self.leaf_weights_), len(self.leaf_weights_)), dtype=np.uint8)
        for number, parent in enumerate(self.tree_.parents):
            paths[number, number] = 1
            if parent is not None:
                paths[number] |= paths[parent[0]]
        return csr_matrix(paths)[leaves]

    def score(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, costs: ArrayLike | None = None
    ) -> float:
        """Return the metric that was maximised, on other data.

        With a `class_weight` the classes have the weights that they had in :meth:`fit`, also
        if they were balanced there and are not here.

        Parameters
        ----------
        X, y, sample_weight, costs
            As in :meth:`fit`.
        """
        check_is_fitted(self)
        problem = self._over_conditions(X, y, sample_weight, costs, self._class_weight)
        return float(self.solution_.metric.evaluate(self.tree_, problem))

    def to_problem(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, costs: ArrayLike | None = None
    ) -> Problem:
        """Return data as a problem over the conditions of this classifier.

        Whatever takes a tree and a problem (confusion matrices, metrics,
        `tree_.to_text`) then works on data that the tree has not seen. Its rows are
        counted as they are, without `class_weight`.

        Parameters
        ----------
        X, y, sample_weight, costs
            As in :meth:`fit`; every label must have occurred there.
        """
        check_is_fitted(self)
        return self._over_conditions(X, y, sample_weight, costs, None)

    def _over_conditions(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        costs: ArrayLike | None,
        class_weight: Mapping[Any, Any] | None,
    ) -> Problem:
        fitted = self.solution_.problem
        return Problem.from_columns(
            X,
            column_or_1d(np.asarray(y)),
            binarizer=self.binarizer_,
            classes=fitted.classes,
            pos_label=None if fitted.positive is None else fitted.classes[fitted.positive],
            sample_weight=sample_weight,
            class_weight=class_weight,
            costs=costs,
        )

    def to_sklearn(self, *, over: str = "auto") -> Any:
        """Return the tree as a ``DecisionTreeClassifier`` of scikit-learn, or a pipeline.

        Parameters
        ----------
        over
            See :func:`goct.export.to_sklearn`.
        """
        check_is_fitted(self)
        return to_sklearn(self, over=over)

    @property
    def dropped_columns_(self) -> dict[str, str]:
        """The columns that give no condition, each with the reason."""
        check_is_fitted(self)
        return self.binarizer_.dropped_columns_

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column contributes, adding up to 1; all 0 if there is no split.

        As in scikit-learn: the decrease of the Gini impurity by the splits on
        conditions of the column, weighted by the rows that reach them. It
        describes the tree, not the metric.
        """
        check_is_fitted(self)
        place = {name: j for j, name in enumerate(self.binarizer_.column_names)}
        weights = self.leaf_weights_
        total = weights.sum(axis=1)
        impurity = total - (weights**2).sum(axis=1) / total.clip(np.finfo(float).tiny)
        # What a split gains: its impurity, minus that of its children.
        gains = impurity.copy()
        for number, parent in enumerate(self.tree_.parents):
            if parent is not None:
                gains[parent[0]] -= impurity[number]
        importances = np.zeros(len(place))
        for node, gain in zip(self.tree_.nodes(), gains, strict=True):
            if isinstance(node, Split):
                importances[place[self.binarizer_.conditions_[node.feature].column]] += gain
        whole = importances.sum()
        return importances / whole if whole > 0 else importances

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        try:
            tags.classifier_tags.multi_class = (
                self.metric == "auto"
                or self.pos_label is not None
                or not get_metric(self.metric).is_binary
            )
        except (TypeError, ValueError):  # an unknown metric; fit will say so
            tags.classifier_tags.multi_class = False
        return tags

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        costs: ArrayLike | None,
        classes: tuple[Any, ...] | None = None,
    ) -> Prepared:
        """Make conditions and a problem of a table; `classes` may have more than occur in it."""
        if self.metric != "auto":
            get_metric(self.metric)
        binarizer = self._make_binarizer()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        table = read_table(X)
        y = check_target(y)
        classes = classes or check_labels(y, table.n_rows)[0]
        metric = choose_metric(
            self.metric,
            len(classes),
            one_vs_rest=self.pos_label is not None,
            has_class_weight=self.class_weight is not None,
        )
        self._check_classes(metric, classes)
        least_leaf(self.min_samples_leaf, table.n_rows)  # an error comes early
        Smoothing.read(self.smoothing)

        # A metric of one class against the rest needs cuts that tell these two apart.
        is_one_vs_rest = metric.is_binary and len(classes) > 2
        target = y == self.pos_label if is_one_vs_rest else y
        problem = Problem.from_columns(
            table,
            y,
            binarizer=binarizer.fit(table, target, sample_weight),
            classes=classes,
            pos_label=self.pos_label,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            costs=costs,
        )
        return Prepared(
            binarizer,
            problem,
            metric,
            np.array(classes, dtype=y.dtype),
            table.n_rows,
            class_weight_of(self.class_weight, y, sample_weight),
        )

    def _keep(self, prepared: Prepared, solution: Solution) -> None:
        """Set the fitted attributes; nothing is set before everything has gone well."""
        binarizer = prepared.binarizer
        assert solution.tree is not None
        assert isinstance(binarizer, Binarizer)
        self.metric_ = prepared.metric
        self.binarizer_ = binarizer
        self.tree_ = solution.tree
        self.solution_ = solution
        self.classes_ = prepared.classes
        self._class_weight = prepared.class_weight
        counts = self.tree_.node_counts(prepared.problem)
        self.leaf_weights_ = np.array(counts, dtype=np.float64)
        self.n_features_in_ = binarizer.n_features_in_
        if hasattr(binarizer, "feature_names_in_"):
            self.feature_names_in_ = binarizer.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _make_binarizer(self) -> Binarizer:
        if isinstance(self.binarizer, Binarizer):
            return clone(self.binarizer)  # type: ignore[no-any-return]
        if not isinstance(self.binarizer, str):
            raise TypeError(
                f"binarizer must be one of {', '.join(BINARIZERS)}, or a goct.binarize.Binarizer; "
                f"got {self.binarizer!r}"
            )
        return Binarizer(check_choice(self.binarizer, "binarizer", BINARIZERS))

    def _check_classes(self, metric: Metric, classes: tuple[Any, ...]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes[0]!r}; a classifier needs at least two classes"
            )
        if self.pos_label is not None and plain(self.pos_label) not in classes:
            raise ValueError(
                f"pos_label {self.pos_label!r} is not a label; the labels are {list(classes)}"
            )
        if metric.is_binary and len(classes) > 2 and self.pos_label is None:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"the metric {metric.name!r} is for two classes, but the labels are "
                f"{list(classes)}; name the positive one with pos_label, and it stands against "
                "the rest, or choose a metric such as 'accuracy' or 'balanced_accuracy'"
            )

    def _solve(self, prepared: Prepared) -> Solution:
        problem = prepared.problem
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        printer = _Printer() if self.verbose else None
        solution = solve(
            problem,
            prepared.metric,
            self.max_depth,
            split_penalty=self.split_penalty,
            max_splits=self.max_splits,
            min_leaf_weight=_leaf_weight(self.min_weight_fraction_leaf, problem),
            min_samples_leaf=least_leaf(self.min_samples_leaf, prepared.n_samples),
            constraints=self.constraints,
            engine=self.engine,
            time_limit=seconds_left(self.time_limit),
            random_state=seed,
            callback=printer,
            certificate=self.certificate,
            **{"n_jobs": joblib.effective_n_jobs(self.n_jobs), **(self.engine_options or {})},
        )
        if printer is not None:
            printer.finish(solution)
        return solution


class _Printer:
    """Prints the progress of a search: a line per second, and one at the end."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.elapsed >= self._next:
            self._next = progress.elapsed + 1
            print(progress.describe(), flush=True)

    def finish(self, solution: Solution) -> None:
        """Print the last line."""
        elapsed = solution.stats.get("time", 0.0)
        print(Progress(elapsed, solution.objective, solution.bound, 0).describe())
        print(solution.describe_status(), flush=True)


def least_leaf(number: Any, n_samples: int) -> int:
    """Return the least number of samples in a leaf; 0 if every tree has such leaves."""
    if isinstance(number, float | np.floating):
        if not 0 < number < 1:
            raise ValueError(
                "min_samples_leaf must be an integer, or a share between 0 and 1; "
                f"got {float(number)!r}"
            )
        number = ceil(as_fraction(number, "min_samples_leaf") * n_samples)
    least = check_count(number, "min_samples_leaf", minimum=1)
    return 0 if least == 1 else least


def _leaf_weight(share: Any, problem: Problem) -> Fraction:
    """Return the least weight of a leaf from a share of the weight of all samples."""
    fraction = as_fraction(share, "min_weight_fraction_leaf")
    if not 0 <= fraction <= Fraction(1, 2):
        raise ValueError(f"min_weight_fraction_leaf must be between 0 and 0.5, got {share}")
    return fraction * problem.total_weight


def check_target(y: Any) -> NDArray[Any]:
    """Return the labels, if they are some; the errors are those that scikit-learn demands."""
    labels: NDArray[Any] = column_or_1d(label_array(y), warn=True)
    if labels.dtype.kind in "Of" and (missing := is_missing(labels)).any():
        row = int(np.argmax(missing))
        raise ValueError(f"y has a missing label at row {row}; leave out rows without a label")
    if labels.dtype.kind == "f" and (infinite := np.isinf(labels)).any():
        row = int(np.argmax(infinite))
        raise ValueError(f"y has the value {labels[row]} at row {row}, which is no class label")
    check_classification_targets(labels)
    return labels


def no_tree(solution: Solution) -> NoTreeError:
    """Return the error for a solution without a tree."""
    constraints = ", ".join(constraint.name for constraint in solution.constraints)
    if solution.status is Status.INFEASIBLE:
        return InfeasibleError(
            f"no {solution.task.size.describe()} over these conditions meets the constraints "
            f"({constraints}); this is proven. Relax them, allow a larger depth, or use more "
            "thresholds"
        )
    return NoTreeError(
        f"no tree that meets the constraints ({constraints}) was found before the "
        f"{solution.limit.value} limit was reached; it is not proven that there is none"
    )
