"""Trees of scikit-learn predict what the model does, and other tools take them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, export_text

import goct
from goct.binarize.conditions import Above, IsTrue, Missing
from goct.export import to_sklearn
from goct.export.sklearn import LabelledTreeClassifier
from goct.model import Model
from goct.tree import Leaf, Split, Tree
from tests.export.conftest import Case, all_kinds_of_rows
from tests.support.models import model_of, random_model, small_model


def numeric_case(seed: int) -> Case:
    """A random tree that asks of numbers and truth values only."""
    rng = np.random.default_rng(seed)
    classes = [("no", "yes"), (0, 1, 2)][seed % 2]
    model = random_model(rng, depth=5, classes=classes)
    asked: list[Any] = [
        *(Above("age", 50.5), Above("age", 20.0), Above('in"come', -0.5), IsTrue("mem ber")),
        *(Missing("age"), Missing("mem ber"), Missing('in"come')),
    ]
    conditions = tuple(asked[i % len(asked)] for i in range(len(model.conditions)))
    names = {name: model.columns[name] for name in ("age", "mem ber", 'in"come')}
    model = replace(model, conditions=conditions, columns=names)
    rows = all_kinds_of_rows(rng)
    return Case.of(model, {name: rows[name] for name in names})


@pytest.mark.parametrize("seed", range(10))
def test_over_columns(seed: int) -> None:
    case = numeric_case(seed)
    tree = to_sklearn(case.model)
    assert isinstance(tree, DecisionTreeClassifier)
    table = pd.DataFrame(case.rows).astype(float).replace([np.inf, -np.inf], [1e9, -1e9])
    assert tree.feature_names_in_.tolist() == list(case.model.columns)
    assert tree.predict(table).tolist() == case.labels
    np.testing.assert_array_equal(tree.predict_proba(table), case.probabilities)
    np.testing.assert_array_equal(
        tree.apply(table), case.model.tree.apply(case.model.matrix(case.rows))
    )
    kept = pickle.loads(pickle.dumps(tree))
    assert kept.predict(table).tolist() == case.labels
    assert clone(tree).get_params() == tree.get_params()


@pytest.mark.parametrize("threshold", [0.1, 0.3, 1 / 3, -0.7, 1e-9, 123456.789, 16777217.0])
def test_values_at_a_threshold(threshold: float) -> None:
    """scikit-learn compares 32 bits of a value with 64 bits of a threshold."""
    apart = abs(threshold) * 1e-6
    X = np.array([[threshold - apart], [threshold], [threshold + apart]])
    names = small_model().tree.feature_names
    model = model_of(Tree(Split(0, Leaf(0), Leaf(1)), ("no", "yes"), names))
    asked = tuple(Above("age", threshold) for _ in model.conditions)
    model = replace(model, conditions=asked, columns={"age": model.columns["age"]})
    wanted = model.predict({"age": X[:, 0].tolist()}).tolist()
    assert len(set(wanted)) == 2
    for given in (X, X.astype(np.float32)):
        table = pd.DataFrame(given, columns=["age"])
        assert to_sklearn(model).predict(table).tolist() == wanted


def test_over_conditions(case: Case) -> None:
    made = to_sklearn(case.model)
    assert isinstance(made, Pipeline)
    table = pd.DataFrame(case.rows)
    assert made.predict(table).tolist() == case.labels
    np.testing.assert_array_equal(made.predict_proba(table), case.probabilities)
    names = made[:-1].get_feature_names_out().tolist()
    assert export_text(made[-1], feature_names=names).count("class:") == case.model.tree.n_leaves


def test_labels_that_are_not_the_most_likely() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = rng.random(200) < 0.4 * (X[:, 0] > 0.5)
    classifier = goct.OptimalTreeClassifier("f2", max_depth=2, binarizer="quantiles").fit(X, y)
    tree = to_sklearn(classifier)
    assert isinstance(tree, LabelledTreeClassifier)
    assert (tree.predict(X) == classifier.predict(X)).all()
    np.testing.assert_array_equal(tree.predict_proba(X), classifier.predict_proba(X))
    assert (tree.predict(X) != tree.classes_[tree.predict_proba(X).argmax(axis=1)]).any()


def test_what_cannot_be_asked_of_columns() -> None:
    with pytest.raises(ValueError, match=r"'job in .* is no question .* use over='conditions'"):
        to_sklearn(small_model(), over="columns")
    with pytest.raises(ValueError, match="unknown over 'rows'; allowed"):
        to_sklearn(small_model(), over="rows")


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, pd.DataFrame, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return goct.OptimalTreeClassifier("accuracy", max_depth=2).fit(X, y), X, y


def test_estimators(cancer: tuple[Any, pd.DataFrame, Any]) -> None:
    classifier, X, _ = cancer
    tree = to_sklearn(classifier)
    assert type(tree) is DecisionTreeClassifier
    assert (tree.predict(X) == classifier.predict(X)).all()
    np.testing.assert_array_equal(tree.predict_proba(X), classifier.predict_proba(X))
    np.testing.assert_allclose(tree.feature_importances_, classifier.feature_importances_)
    assert (tree.decision_path(X) != classifier.decision_path(X)).nnz == 0
    over = to_sklearn(classifier, over="conditions")
    assert (over.predict(X) == classifier.predict(X)).all()
    few = to_sklearn(Model.from_estimator(classifier))
    assert (few.predict(X[few.feature_names_in_]) == classifier.predict(X)).all()
    array = goct.OptimalTreeClassifier("accuracy", max_depth=2).fit(*load_iris(return_X_y=True))
    iris = load_iris().data
    for source in (array, Model.from_estimator(array)):
        assert (to_sklearn(source).predict(iris) == array.predict(iris)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_shap(cancer: tuple[Any, pd.DataFrame, Any]) -> None:
    shap: Any = pytest.importorskip("shap")
    classifier, X, _ = cancer
    explainer = shap.TreeExplainer(to_sklearn(classifier))
    values = explainer(X.iloc[:50])
    total = values.values.sum(axis=1) + values.base_values
    np.testing.assert_allclose(total, classifier.predict_proba(X.iloc[:50]), atol=1e-6)
    used = {condition.column for condition in Model.from_estimator(classifier).conditions}
    others = [j for j, name in enumerate(X.columns) if name not in used]
    assert not values.values[:, others].any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dtreeviz(cancer: tuple[Any, pd.DataFrame, Any]) -> None:
    dtreeviz: Any = pytest.importorskip("dtreeviz")
    classifier, X, y = cancer
    tree = to_sklearn(classifier)
    made = dtreeviz.model(
        tree, X, y, feature_names=list(X.columns), target_name="y", class_names=["m", "b"]
    )
    shadow = made.shadow_tree
    assert shadow.get_feature_path_importance is not None
    assert sum(leaf.nsamples() for leaf in shadow.leaves) == len(X)
    assert "worst" in made.explain_prediction_path(X.to_numpy()[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_supertree(cancer: tuple[Any, pd.DataFrame, Any], tmp_path: Any) -> None:
    supertree: Any = pytest.importorskip("supertree")
    classifier, X, y = cancer
    made = supertree.SuperTree(to_sklearn(classifier), X, y, list(X.columns), ["m", "b"])
    made.save_html(str(tmp_path / "tree"))
    (page,) = tmp_path.iterdir()
    condition = Model.from_estimator(classifier).conditions[0]
    assert condition.column in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_skl2onnx(cancer: tuple[Any, pd.DataFrame, Any]) -> None:
    skl2onnx: Any = pytest.importorskip("skl2onnx")
    runtime: Any = pytest.importorskip("onnxruntime")
    classifier, X, _ = cancer
    values = X.to_numpy(dtype=np.float32)
    made = skl2onnx.to_onnx(to_sklearn(classifier), values[:1], options={"zipmap": False})
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, shares = session.run(None, {"X": values})
    assert (labels == classifier.predict(X)).all()
    np.testing.assert_allclose(shares, classifier.predict_proba(X), atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_skops(cancer: tuple[Any, pd.DataFrame, Any]) -> None:
    skops: Any = pytest.importorskip("skops.io")
    classifier, X, _ = cancer
    raw = skops.dumps(to_sklearn(classifier))
    kept = skops.loads(raw, trusted=skops.get_untrusted_types(data=raw))
    assert (kept.predict(X) == classifier.predict(X)).all()
