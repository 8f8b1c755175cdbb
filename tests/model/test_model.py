from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import goct
from goct.model import ColumnInfo, Model, ModelFileError, Quantity
from goct.model.file import MAX_BYTES
from tests.support.models import random_model, random_rows, small_model

GOLDEN = Path(__file__).parent / "model-v1.json"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    small_model().save(path)
    return path


@pytest.mark.parametrize("seed", range(5))
def test_save_and_load(seed: int, tmp_path: Path) -> None:
    classes = [("no", 'y"e"s\n'), (0, 1, 2), (False, True)][seed % 3]
    model = random_model(np.random.default_rng(seed), classes=classes)
    model.save(tmp_path / "model.json")
    loaded = Model.load(tmp_path / "model.json")
    assert loaded == model
    assert Model.from_dict(model.to_dict()) == model
    assert loaded.classes == classes
    assert [type(label) for label in loaded.classes] == [type(label) for label in classes]


def test_golden_file_of_the_first_version() -> None:
    """Files that are out in the world must load for ever, and mean the same."""
    model = Model.load(GOLDEN)
    assert model == small_model()
    rows = {
        "age": [60, None, 30, 30],
        "job": ["nurse", 'a "cook"', "nurse", None],
        "joined": [None] * 4,
        "mem ber": [None] * 4,
        'in"come': [1.0] * 4,
    }
    assert model.predict(rows).tolist() == ["yes", "yes", "no", "no"]


def test_how_the_size_was_chosen_is_kept(tmp_path: Path) -> None:
    X = np.arange(60).reshape(30, 2) % 7
    classifier = goct.OptimalTreeClassifierCV("accuracy", 2, min_samples_leaf=5)
    classifier.fit(X, (X[:, 0] > 2) ^ (X[:, 1] > 4))
    validation = Model.from_estimator(classifier).validation
    assert validation is not None
    assert validation.score == "accuracy"
    assert (validation.splits, validation.n_folds) == (classifier.best_splits_, 5)
    assert validation.mean == pytest.approx(classifier.best_score_)
    assert (validation.estimate, validation.estimate_error) == classifier.score_estimate_
    assert validation.means == tuple(classifier.cv_results_["mean_test_score"])
    model = replace(small_model(), validation=validation)
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
    data = model.to_dict()
    data["validation"]["splits"] = 99
    with pytest.raises(ModelFileError, match=r"validation\.splits is 99"):
        Model.from_dict(data)


def test_fractions_of_weights(tmp_path: Path) -> None:
    problem = goct.Problem.from_arrays([[0], [1]], ["a", "b"], sample_weight=[0.5, 1.25])
    solution = goct.solve(problem, "accuracy", 1)
    assert solution.tree is not None
    assert solution.tree.node_counts(problem)[0] == (Fraction(1, 2), Fraction(5, 4))
    model = Model.from_solution(solution, [goct.binarize.conditions.IsTrue("x")])
    model.save(tmp_path / "m.json")
    assert Model.load(tmp_path / "m.json") == model


def test_files_that_were_altered(saved: Path) -> None:
    text = saved.read_text()
    saved.write_text(text.replace("50.5", "51.5"))
    with pytest.raises(ModelFileError, match=r"model\.json: .*changed after it was written"):
        Model.load(saved)


def test_files_that_were_cut(saved: Path) -> None:
    text = saved.read_text()
    for length in range(0, len(text) - 2, 37):
        saved.write_text(text[:length])
        with pytest.raises(ModelFileError, match=r"model\.json: (line \d+|the file is empty)"):
            Model.load(saved)


def test_random_changes_never_do_harm(saved: Path) -> None:
    raw = saved.read_bytes()
    rng = random.Random(0)
    for _ in range(400):
        changed = bytearray(raw)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        saved.write_bytes(changed)
        try:
            Model.load(saved)
        except ModelFileError:
            continue
        assert json.loads(changed) == json.loads(raw)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema="goct.model/9"), "schema is 'goct.model/9'"),
        (lambda d: d.pop("nodes"), "the entry nodes is not there"),
        (lambda d: d.update(extra=1), "unknown entries: extra"),
        (lambda d: d["nodes"].append({"label": 0}), "not part of the tree"),
        (lambda d: d["nodes"][0].update(left=0), "node 0 has the child 0"),
        (lambda d: d["nodes"][2].update(label=7), "label 7"),
        (lambda d: d["nodes"].__setitem__(0, 3), r"nodes\[0\] must be an object"),
        (lambda d: d["conditions"][0].update(kind="exec"), r"conditions\[0\]: .*kinds"),
        (lambda d: d["conditions"][0].update(threshold="1"), r"conditions\[0\]: .*threshold"),
        (lambda d: d["conditions"][4].update(moment="now"), r"conditions\[4\]: .*ISO 8601"),
        (lambda d: d["columns"].pop("age"), "'age'"),
        (lambda d: d["columns"]["age"].update(kind="text"), r"columns\.age\.kind must be one of"),
        (lambda d: d["columns"]["age"].update(kind="date"), "condition on a number"),
        (lambda d: d.update(positive=5), "positive class 5"),
        (lambda d: d.update(positive=-1), "positive must be an integer"),
        (lambda d: d["train"]["counts"][0].__setitem__(0, 10**6), r"train\.counts\[0\]"),
        (lambda d: d["train"]["counts"].pop(), r"train\.counts"),
        (lambda d: d["train"]["counts"][0].__setitem__(0, "1e999999999"), "a fraction such as"),
        (lambda d: d["proof"].update(status="great"), r"proof\.status must be one of"),
        (lambda d: d["proof"]["bound"].update(exact="1/3"), r"proof\.bound\.exact is 1/3"),
        (lambda d: d["proof"].update(seconds=10**400), r"proof\.seconds must be a finite number"),
        (lambda d: d["proof"]["objective"].update(value=0.8, exact="4/5"), "is above proof.bound"),
        (lambda d: d["proof"].update(status="optimal"), r"status is optimal, but .* is 0\.5 and"),
        (lambda d: d["train"]["value"].update(value=0.9, exact="9/10"), "above the proven bound"),
        (lambda d: d["question"].update(max_depth=10**6), r"question\.max_depth"),
        (lambda d: d["question"].update(constraints="recall"), r"question\.constraints must be a"),
        (lambda d: d["rivals"][0].update(train=[[1]]), r"rivals\[0\]\.train"),
        (lambda d: d.update(created="yesterday"), "created must be a date"),
        (lambda d: d.update(created="2026-01-02\n03:04:05"), "created must be a date"),
        (lambda d: d.update(classes=["a", "a"]), "classes must differ"),
        (lambda d: d.update(classes=[["a"], "b"]), r"classes\[0\] must be a text"),
        (lambda d: d.update(version="x" * 70_000), "version must be a text of at most"),
        (lambda d: d.update(classes=["a\ud800", "b"]), r"half a character, \\ud800, after .*\"a'"),
        (lambda d: d["conditions"][0].update(column="\udfff"), r"half a character, \\udfff"),
    ],
)
def test_what_is_wrong_is_named(change, message: str) -> None:
    data = json.loads(json.dumps(small_model().to_dict()))
    change(data)
    with pytest.raises(ModelFileError, match=message):
        Model.from_dict(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\x80\x04\x95", "not a text file"),
        (b"[1, 2]", "must be a JSON object, not a list"),
        (b"[" * 100_000, "nested too deeply|ends too early"),
        (b'{"schema": NaN}', "NaN is not a number"),
        (b'{"schema": 1, "schema": 2}', "'schema' occurs twice"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "a number has 5000 digits"),
        (b" " * (MAX_BYTES + 1), "larger than 16 MB"),
    ],
    ids=["empty", "pickle", "list", "deep", "nan", "twice", "digits", "large"],
)
def test_files_that_are_no_models(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        Model.load(path)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file"):
        Model.load(tmp_path / "absent.json")
    with pytest.raises(ModelFileError, match="a folder"):
        Model.load(tmp_path)


def test_saving_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    path.write_text("what was there before")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        small_model().save(path)
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_predictions_for_all_kinds_of_tables() -> None:
    rng = np.random.default_rng(3)
    model = random_model(rng, depth=5, classes=("no", "yes"))
    rows = random_rows(rng, 200)
    expected = model.predict(rows).tolist()
    frame = pd.DataFrame(rows)
    assert (
        model.predict(frame.assign(other=1)[[*reversed(frame.columns), "other"]]).tolist()
        == expected
    )
    assert model.predict(pl.DataFrame(rows, strict=False)).tolist() == expected
    assert model.predict(pa.table(rows)).tolist() == expected


def test_tables_that_do_not_fit() -> None:
    model = small_model()
    rows = random_rows(np.random.default_rng(0), 5)
    with pytest.raises(ValueError, match="no column 'age'; the tree needs 'age', 'job'"):
        model.predict({name: values for name, values in rows.items() if name != "age"})
    with pytest.raises(TypeError, match=r"'age'.* must hold numbers"):
        model.predict({**rows, "age": ["old"] * 5})
    with pytest.raises(TypeError, match=r"'job'.* must hold text"):
        model.predict({**rows, "job": [1, 2, 3, 4, 5]})
    with pytest.raises(ValueError, match="equally long"):
        model.predict({**rows, "age": [1, 2]})
    with pytest.raises(TypeError, match=r"must be a data frame or a mapping.*it needs age, job"):
        model.predict(np.zeros((2, 5)))
    from_file = replace(model, missing_words=("", "?"))
    with pytest.raises(ValueError, match="row 1, column 'age': 'old' is not a number"):
        from_file.predict({**rows, "age": ["30", "old", "?", "", "5"]})


def test_arrays_for_trees_that_were_learned_from_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((50, 4))
    classifier = goct.OptimalTreeClassifier("accuracy", 1).fit(X, X[:, 2] > 0.5)
    model = Model.from_dict(Model.from_estimator(classifier).to_dict())
    assert model.predict(X).tolist() == classifier.predict(X).tolist()
    assert model.predict(X.tolist()).tolist() == classifier.predict(X).tolist()
    with pytest.raises(ValueError, match="has 3 columns, and the tree needs 4"):
        model.predict(X[:, :3])


def test_from_estimator() -> None:
    frame = pd.DataFrame({"age": [20, 30, 40, None, 60, 70] * 5, "job": list("aabbcc") * 5})
    labels = ["no", "no", "yes", "no", "yes", "yes"] * 5
    classifier = goct.OptimalTreeClassifier("accuracy", max_depth=2).fit(frame, labels)
    model = Model.from_estimator(classifier)
    assert model.predict(frame).tolist() == classifier.predict(frame).tolist()
    assert model.proof.status == "optimal"
    assert model.question.metric == "accuracy"
    assert sum(map(sum, model.confusion_matrix())) == 30
    with pytest.raises(ValueError, match="not fitted"):
        Model.from_estimator(goct.OptimalTreeClassifier())
    with pytest.raises(TypeError, match=r"got Pipeline; pass its last step, pipeline\[-1\]"):
        Model.from_estimator(make_pipeline(classifier))
    search = GridSearchCV(classifier, {"max_depth": [1]}, cv=2).fit(frame, labels)
    with pytest.raises(TypeError, match="got GridSearchCV; pass its best_estimator_"):
        Model.from_estimator(search)
    for draw in (goct.plot_tree, goct.export_text):
        with pytest.raises(TypeError, match=r"a Model, a Solution or a fitted Opt.* got int"):
            draw(3)


def test_levels_of_an_estimator_are_known() -> None:
    sizes = pd.Categorical([1, 2, None, 2] * 5)
    frame = pd.DataFrame({"size": sizes})
    labels = ["no", "yes", "yes", "no"] * 5
    classifier = goct.OptimalTreeClassifier("accuracy", max_depth=3).fit(frame, labels)
    made = Model.from_estimator(classifier)
    model = Model.from_dict(json.loads(json.dumps(made.to_dict())))
    assert model == made
    assert model.columns["size"] == ColumnInfo("category", True, (1, 2))
    assert model.unknown_levels(frame) == {}
    assert model.unknown_levels(frame.assign(size=pd.Categorical([1.0, 7.0] * 10))) == {
        "size": {"7": 10}
    }
    assert model.predict(frame.assign(size=frame["size"].astype(float))).tolist() == (
        classifier.predict(frame).tolist()
    )


@pytest.mark.parametrize("levels", [(1, 2, 3), (True, False, True)])
def test_a_model_takes_the_tables_that_its_classifier_takes(levels, tmp_path: Path) -> None:
    table = pd.DataFrame({"c": pd.Categorical([*levels, None] * 6)})
    classifier = goct.OptimalTreeClassifier("accuracy", 1, binarizer="exact")
    classifier.fit(table, [0, 0, 0, 1] * 6)
    Model.from_estimator(classifier).save(tmp_path / "model.json")
    new = {"c": [levels[0], None, levels[1]]}
    assert classifier.predict(new).tolist() == [0, 1, 0]
    for model in (Model.from_estimator(classifier), Model.load(tmp_path / "model.json")):
        assert [condition.name for condition in model.conditions] == ["c is missing"]
        assert model.predict(new).tolist() == [0, 1, 0]


def test_inconsistent_models_are_refused() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="features"):
        replace(model, conditions=model.conditions[1:])
    with pytest.raises(ValueError, match="condition on a number"):
        replace(model, columns={**model.columns, "age": ColumnInfo("date")})


def test_quantities() -> None:
    assert str(Quantity.of(Fraction(200, 207))) == "0.966184  (= 200/207)"
    assert str(Quantity.of(1)) == "1"
    assert Quantity.of(goct.Exact.sqrt(2)) == Quantity(2**0.5, None)
