"""A tree as one of scikit-learn, for everything that works with those."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils.validation import check_is_fitted

from goct._validation import check_choice
from goct.binarize.conditions import Above, Condition, IsTrue, Missing
from goct.export.leaves import probabilities
from goct.model import Model, as_model
from goct.tree import Leaf, Split


class LabelledTreeClassifier(DecisionTreeClassifier):  # type: ignore[misc]
    """A decision tree of scikit-learn whose leaves need not predict their most likely class.

    Attributes
    ----------
    labels_
        For each node, the place in `classes_` of what it predicts.
    """

    labels_: NDArray[np.intp]

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the predicted label of each row."""
        leaves = self.apply(X, check_input=check_input)
        predicted: NDArray[Any] = self.classes_[self.labels_[leaves]]
        return predicted


class ConditionsOf(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a table into the answers to the questions that a tree asks, as zeros and ones.

    Parameters
    ----------
    model
        The model whose conditions they are.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    def fit(self, X: Any, y: Any = None) -> ConditionsOf:
        """Do nothing: the conditions are there."""
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return which row meets which condition."""
        return self.model.matrix(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the conditions in words."""
        return np.array([condition.name for condition in self.model.conditions], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def to_sklearn(model: Any, *, over: str = "auto") -> DecisionTreeClassifier | Pipeline:
    """Return a ``DecisionTreeClassifier`` of scikit-learn, or a pipeline that ends in one.

    It predicts what the model predicts, with the same probabilities, and works with
    all that takes trees of scikit-learn: shap, dtreeviz, supertree, skl2onnx, skops.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    over
        "columns": a tree over the columns themselves, which must be numbers and truth
        values: all of the classifier's columns, or those that a model needs, in the
        order of its ``columns``. scikit-learn rounds numbers to 32 bits, so that a
        value less than a ten-millionth above a threshold may fall below it; one that is
        equal to the threshold falls where it should.
        "conditions": a pipeline whose first step works out the
        conditions, so that every value falls where it does in the model. "auto" takes
        columns where they allow it.

    Notes
    -----
    scikit-learn's trees predict the most likely class of a leaf. Where the model does not
    do so, because another label is better for its metric, the result is a
    :class:`LabelledTreeClassifier`, a ``DecisionTreeClassifier`` that predicts what
    the model does. shap, dtreeviz and skops take it; skl2onnx and supertree know the
    plain class only, and :func:`goct.export.export_onnx` needs neither.
    """
    check_choice(over, "over", ("auto", "columns", "conditions"))
    made = as_model(model)
    fits = all(_threshold(c, made) is not None for c in made.conditions)
    if over == "columns" and not fits:
        wrong = next(c for c in made.conditions if _threshold(c, made) is None)
        raise ValueError(
            f"{wrong.name!r} is no question that a tree of scikit-learn can ask of a column; "
            "use over='conditions'"
        )
    if over == "conditions" or not fits:
        names = [condition.name for condition in made.conditions]
        splits = {i: (i, 0.5, True) for i in range(len(names))}
        return Pipeline(
            [("conditions", ConditionsOf(made)), ("tree", _classifier(made, names, False, splits))]
        )
    names, has_names = _columns(model, made)
    place = {name: j for j, name in enumerate(names)}
    over_columns = {
        i: (place[c.column], *(_threshold(c, made) or (0.0, True)))
        for i, c in enumerate(made.conditions)
    }
    return _classifier(made, names, has_names, over_columns)


def _columns(model: Any, made: Model) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the data had them."""
    if model is not made:
        check_is_fitted(model)
        return list(model.binarizer_.column_names), hasattr(model, "feature_names_in_")
    names = [f"x{j}" for j in range(made.source.columns or 0)]
    if set(made.columns) <= set(names):
        return names, False
    return list(made.columns), True


def _threshold(condition: Condition, model: Model) -> tuple[float, bool] | None:
    """Return the threshold above which a value goes right, and whether missing ones go left."""
    match condition:
        case Above(threshold=threshold):
            with np.errstate(over="ignore"):  # such numbers scikit-learn does not take
                return float(np.float32(threshold)), True  # as it rounds what it compares
        case IsTrue():
            return 0.5, True
        case Missing() if model.columns[condition.column].kind in ("number", "boolean"):
            return np.inf, False
    return None


def _classifier(
    model: Model, names: list[str], has_names: bool, splits: dict[int, tuple[int, float, bool]]
) -> DecisionTreeClassifier:
    """Return a tree; `splits` has the column, threshold and side of missing values."""
    nodes = list(model.tree.nodes())
    shares = np.array(probabilities(model))
    labels = np.array([n.label if isinstance(n, Leaf) else 0 for n in nodes])
    is_leaf = np.array([isinstance(node, Leaf) for node in nodes])
    agrees = (shares.argmax(axis=1) == labels)[is_leaf].all()
    made = DecisionTreeClassifier() if agrees else LabelledTreeClassifier()
    made.set_params(max_depth=max(model.tree.depth, 1), random_state=0)
    made.n_features_in_ = len(names)
    if has_names:
        made.feature_names_in_ = np.array(names, dtype=object)
    made.classes_ = np.array(model.classes)
    made.n_classes_ = len(model.classes)
    made.n_outputs_ = 1
    made.max_features_ = len(names)
    made.tree_ = _sklearn_tree(model, len(names), splits, shares)
    if not agrees:
        made.labels_ = labels
    return made


def _sklearn_tree(
    model: Model,
    n_features: int,
    splits: dict[int, tuple[int, float, bool]],
    shares: NDArray[np.float64],
) -> SklearnTree:
    nodes = list(model.tree.nodes())
    tree = SklearnTree(n_features, np.array([len(model.classes)], dtype=np.intp), 1)
    table = np.zeros(len(nodes), dtype=tree.__getstate__()["nodes"].dtype)
    table["left_child"] = table["right_child"] = -1
    table["feature"] = table["threshold"] = -2
    for place, parent in enumerate(model.tree.parents):
        if parent is not None:
            table["right_child" if parent[1] else "left_child"][parent[0]] = place
    for row, node in zip(table, nodes, strict=True):
        if isinstance(node, Split):
            row["feature"], row["threshold"], row["missing_go_to_left"] = splits[node.feature]
    counts = np.array(model.train.counts, dtype=np.float64)
    weights = counts.sum(axis=1)
    parts = counts / weights.clip(np.finfo(float).tiny)[:, None]
    table["impurity"] = 1 - (parts**2).sum(axis=1)
    table["n_node_samples"] = np.ceil(weights)
    table["weighted_n_node_samples"] = weights
    tree.__setstate__(
        {
            "max_depth": model.tree.depth,
            "node_count": len(nodes),
            "nodes": table,
            "values": np.ascontiguousarray(shares[:, None, :]),
        }
    )
    return tree
