from __future__ import annotations

import doctest
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import f1_score, make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import goct
import goct.binarize.binarizer
import goct.estimator
import goct.export
from goct import OptimalTreeClassifier, Problem, Status, solve
from goct.binarize import Binarizer
from goct.constraints import ForbidFeatures, MaxFeatures, MinLeafWeight, RequireFeatures
from goct.exceptions import (
    BinarizationWarning,
    GoctWarning,
    InfeasibleError,
    NotProvenWarning,
    NoTreeError,
)
from goct.metrics import MCC, CostMatrix, Recall, get_metric
from goct.model import Model
from goct.report.html import write_report

pd = pytest.importorskip("pandas")
quiet = pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.normal(3, 1, n).round(2)),
            "job": rng.choice(["cook", "nurse", "clown"], n),
            "smoker": rng.random(n) < 0.3,
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
        }
    )
    risky = (frame.age > 50) & (frame.smoker | (frame.job == "clown")) | frame.income.isna()
    return frame, np.where(risky ^ (rng.random(n) < 0.05), "ill", "well")


@pytest.mark.slow
@quiet
@parametrize_with_checks(
    [
        OptimalTreeClassifier(),
        OptimalTreeClassifier("accuracy", max_depth=2),
        OptimalTreeClassifier("balanced_accuracy", binarizer=Binarizer("quantiles")),
        OptimalTreeClassifier("mcc", max_depth=2, split_penalty=0.01, binarizer="midpoints"),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_class_weight_classifiers": "balanced accuracy undoes weights of classes"}
        if estimator.metric == "balanced_accuracy"
        else {}
    ),
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def test_it_is_what_solve_finds(cancer) -> None:
    X, y = cancer
    classifier = OptimalTreeClassifier("f1", max_depth=2, pos_label="malignant").fit(X, y)
    binarizer = Binarizer("auto").fit(X, y)
    problem = Problem.from_arrays(
        binarizer.transform(X),
        y,
        pos_label="malignant",
        feature_names=binarizer.get_feature_names_out(),
    )
    solution = solve(problem, "f1", max_depth=2)
    assert classifier.solution_.status is Status.OPTIMAL
    assert classifier.solution_.value == solution.value
    assert classifier.tree_ == solution.tree
    assert classifier.score(X, y) == float(solution.value)
    assert classifier.score(X, y) == pytest.approx(
        f1_score(y, classifier.predict(X), pos_label="malignant")
    )
    assert classifier.binarizer_.conditions_ == binarizer.conditions_
    assert classifier.feature_names_in_.tolist() == list(X.columns)
    assert classifier.classes_.tolist() == ["benign", "malignant"]
    assert "malignant" in classifier.solution_.summary()


def test_any_depth(cancer) -> None:
    X, y = cancer
    fitted = OptimalTreeClassifier(max_depth=None, split_penalty=0.02).fit(X, y)
    assert fitted.solution_.status is Status.OPTIMAL
    assert fitted.solution_.max_depth is None
    with pytest.raises(ValueError, match="max_splits"):
        OptimalTreeClassifier(max_depth=None).fit(X, y)


def test_a_table_of_all_kinds(people) -> None:
    frame, y = people
    classifier = OptimalTreeClassifier("f1", pos_label="ill").fit(frame, y)
    assert classifier.score(frame, y) > 0.89
    assert "income is missing" in classifier.tree_.feature_names
    shuffled = frame[frame.columns[::-1]]
    assert (classifier.predict(shuffled) == classifier.predict(frame)).all()
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        again = OptimalTreeClassifier("f1", pos_label="ill").fit(other, y)
        assert again.tree_ == classifier.tree_
        assert (classifier.predict(other) == classifier.predict(frame)).all()
    strange = frame.assign(job="astronaut")
    assert set(classifier.predict(strange)) <= {"ill", "well"}


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [1, 2], [-1, 1], [False, True], ["a", "b"], [0.0, 1.0], [np.int8(3), np.int8(7)]],
)
def test_labels_of_any_type(labels) -> None:
    x = np.arange(40.0)[:, None]
    y = np.array(labels)[(x[:, 0] > 17).astype(int)]
    for target in (y, y.tolist(), pd.Series(y)):
        classifier = OptimalTreeClassifier(max_depth=1).fit(x, target)
        assert classifier.classes_.tolist() == sorted(labels)
        assert classifier.predict(x).dtype == classifier.classes_.dtype
        assert (classifier.predict(x) == y).all()
        assert classifier.score(x, target) == 1
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for target in (pd.Series(y).convert_dtypes(), pl.Series(y.tolist()), pa.array(y.tolist())):
        assert (OptimalTreeClassifier(max_depth=1).fit(x, target).predict(x) == y).all()


@quiet
@settings(max_examples=25)
@given(st.data())
def test_nodes_and_probabilities(data) -> None:
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    y = rng.integers(0, 3, 40)
    weight = rng.integers(1, 4, 40)
    classifier = OptimalTreeClassifier("accuracy", max_depth=2, binarizer="quantiles")
    classifier.fit(X, y, sample_weight=weight)
    leaves = classifier.apply(X)
    smoothed = classifier.predict_proba(X)
    assert smoothed.sum(axis=1) == pytest.approx(1)
    assert (smoothed > 0).all()
    probabilities = classifier.set_params(smoothing="none").predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        shares = np.bincount(y[rows], weights=weight[rows], minlength=3) / weight[rows].sum()
        assert (probabilities[rows] == pytest.approx(shares)) or (
            np.abs(probabilities[rows] - shares).max() < 1e-12
        )
        # The most accurate label is the most frequent one.
        label = classifier.predict(X)[rows][0]
        assert shares[label] == pytest.approx(shares.max())
    path = classifier.decision_path(X)
    assert path.shape == (40, classifier.tree_.splits + classifier.tree_.n_leaves)
    assert (path[np.arange(40), leaves] == 1).all()
    assert (path.toarray()[:, 0] == 1).all()
    assert path.toarray().sum(axis=1).max() == classifier.tree_.depth + 1
    importances = classifier.feature_importances_
    assert importances.shape == (3,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1 if classifier.tree_.splits else 0)


def test_importances_belong_to_columns(cancer) -> None:
    X, y = cancer
    classifier = OptimalTreeClassifier("accuracy", max_depth=2).fit(X, y)
    used = {classifier.binarizer_.conditions_[f].column for f in classifier.tree_.features}
    assert set(X.columns[classifier.feature_importances_ > 0]) == used


def test_more_than_two_classes() -> None:
    X, y = load_iris(return_X_y=True)
    classifier = OptimalTreeClassifier("accuracy", max_depth=2).fit(X, y)
    assert classifier.score(X, y) == pytest.approx((classifier.predict(X) == y).mean())
    assert classifier.predict_proba(X).shape == (150, 3)
    with pytest.raises(ValueError, match=r"'f1' is for two classes.*pos_label"):
        OptimalTreeClassifier("f1").fit(X, y)
    one = OptimalTreeClassifier("f1", max_depth=2, pos_label=1).fit(X, y)
    assert one.score(X, y) == pytest.approx(f1_score(y == 1, one.predict(X) == 1))
    # Cuts are made for the class that counts: setosa is told apart by one of them.
    setosa = OptimalTreeClassifier("f1", max_depth=1, pos_label=0, binarizer="mdlp").fit(X, y)
    assert setosa.score(X, y) == 1
    assert setosa.binarizer_.thresholds_["x3"] == [0.8]


def test_scores_on_other_data() -> None:
    X, y = load_iris(return_X_y=True)
    classifier = OptimalTreeClassifier("balanced_accuracy", max_depth=2).fit(X, y)
    part = y != 1  # a class that does not occur
    expected = np.mean([(classifier.predict(X[y == k]) == k).mean() for k in (0, 2)])
    assert classifier.score(X[part], y[part]) == pytest.approx(expected)
    assert classifier.score(X, y, sample_weight=(y == 0)) == 1
    problem = classifier.to_problem(X[part], y[part])
    assert classifier.tree_.confusion_matrix(problem)[0][0] == 50
    assert problem.n_samples == problem.total_weight == part.sum()
    with pytest.raises(ValueError, match="label 7 at row 3, which is not one of the classes"):
        classifier.score(X[:5], [0, 0, 0, 7, 0])


def test_costs() -> None:
    X = np.array([[0.0], [1], [2], [3]])
    y = [0, 0, 1, 1]
    costs = [1, 9, 1, 1]
    classifier = OptimalTreeClassifier("instance_cost", max_depth=1, binarizer="midpoints")
    classifier.fit(X, y, costs=costs)
    assert classifier.score(X, y, costs=costs) == 0
    assert classifier.score(X, [1, 0, 1, 1], costs=costs) == -1
    with pytest.raises(ValueError, match="needs the costs"):
        classifier.fit(X, y)
    matrix = CostMatrix([[0, 1], [5, 0]])
    assert OptimalTreeClassifier(matrix, max_depth=1).fit(X, y).score(X, y) == 0


def test_sample_weight_counts_as_repetition(cancer) -> None:
    X, y = cancer
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = OptimalTreeClassifier("mcc", max_depth=2).fit(X, y, sample_weight=weight)
    repeated = OptimalTreeClassifier("mcc", max_depth=2)
    repeated.fit(X.loc[X.index.repeat(weight)], np.repeat(y, weight))
    assert weighted.solution_.value == repeated.solution_.value
    assert weighted.tree_ == repeated.tree_
    assert weighted.score(X, y, weight) == float(repeated.solution_.value)


def test_binarizers(cancer) -> None:
    X, y = cancer
    X = X.iloc[:, :3]
    counts = {}
    for binarizer in ("mdlp", "quantiles", "midpoints", Binarizer("quantiles", 7)):
        classifier = OptimalTreeClassifier("accuracy", max_depth=1, binarizer=binarizer).fit(X, y)
        counts[str(binarizer)] = len(classifier.binarizer_.conditions_)
        assert classifier.binarizer_ is not binarizer
    assert counts["quantiles"] == 9
    assert max(counts, key=counts.__getitem__) == "midpoints"
    bits = pd.DataFrame({"a": [0, 1, 0, 1], "b": [True, True, False, False]})
    classifier = OptimalTreeClassifier("accuracy", max_depth=1, binarizer="none")
    assert classifier.fit(bits, [0, 1, 0, 1]).tree_.to_text().startswith("a?")
    with pytest.raises(ValueError, match="it must be 0 or 1"):
        classifier.fit(X, y)
    with pytest.raises(ValueError, match="unknown binarizer 'mdpl'"):
        OptimalTreeClassifier(binarizer="mdpl").fit(X, y)
    with pytest.raises(TypeError, match=r"or a goct\.binarize\.Binarizer"):
        OptimalTreeClassifier(binarizer=3).fit(X, y)


# ------------------------------------------------------- limits, constraints


def noise(n: int = 400):
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n, 60)), rng.random(n) < 0.4


def test_trees_that_may_cut_anywhere(people, tmp_path) -> None:
    frame, y = people
    chosen = OptimalTreeClassifier("f1", max_depth=2).fit(frame, y)
    exact = OptimalTreeClassifier("f1", max_depth=2, binarizer="exact").fit(frame, y)
    assert exact.solution_.status is Status.OPTIMAL
    assert exact.solution_.value >= chosen.solution_.value
    problem = exact.solution_.problem
    assert problem.has_thresholds
    assert len(exact.binarizer_.conditions_) > 500
    assert exact.solution_.value == solve(problem.explicit(), "f1", 2).value
    # Leaves, paths, shares and importances are those of the tree over the 0/1 matrix.
    matrix = exact.binarizer_.transform(frame)
    assert np.array_equal(exact.apply(frame), exact.tree_.apply(matrix))
    assert exact.decision_path(frame).shape == (300, 2 * exact.tree_.splits + 1)
    assert exact.score(frame, y) == float(exact.solution_.value)
    importances = dict(zip(frame.columns, exact.feature_importances_, strict=True))
    asked = {exact.binarizer_.conditions_[f].column for f in exact.tree_.features}
    assert {name for name, share in importances.items() if share > 0} <= asked
    # Other rows, with values and levels that were not there.
    other = frame.head(9).assign(age=[-1, 200, 33.3, 0, 50, 50.5, 51, 99, 1], job="king")
    problem = exact.to_problem(other, y[:9])
    assert exact.tree_.confusion_matrix(problem) == [
        [int(((y[:9] == a) & (exact.predict(other) == b)).sum()) for b in exact.classes_]
        for a in exact.classes_
    ]
    again = pickle.loads(pickle.dumps(exact))
    assert np.array_equal(again.predict(other), exact.predict(other))
    model = Model.from_estimator(exact)
    model.save(tmp_path / "model.json")
    model = Model.load(tmp_path / "model.json")
    assert np.array_equal(model.predict(other), exact.predict(other))
    for export in goct.export.FORMATS.values():
        assert export(model)
    write_report(model, tmp_path / "report.html")


def test_trees_that_may_cut_anywhere_under_constraints(people) -> None:
    frame, y = people
    constraints = [ForbidFeatures("age"), MaxFeatures(2), "recall >= 0.5"]
    classifier = OptimalTreeClassifier(
        "accuracy", max_depth=2, binarizer="exact", constraints=constraints, pos_label="ill"
    ).fit(frame, y)
    assert classifier.solution_.status is Status.OPTIMAL
    asked = {classifier.binarizer_.conditions_[f].column for f in classifier.tree_.features}
    assert len(asked) <= 2
    assert "age" not in asked
    assert recall_score(y, classifier.predict(frame), pos_label="ill") >= 0.5


def test_ranking_counts_as_time() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60_000, 5)), rng.integers(0, 2, 60_000)
    classifier = OptimalTreeClassifier("accuracy", max_depth=3, binarizer="exact", time_limit=1e-3)
    with pytest.raises(NoTreeError, match="was reached while"):
        classifier.fit(X, y)


def test_a_limit_warns_once_with_the_gap() -> None:
    X, y = noise(1500)
    classifier = OptimalTreeClassifier(max_depth=6, binarizer="none", time_limit=0.5)
    with pytest.warns(NotProvenWarning, match=r"time limit.*at most 0\.\d+") as caught:
        classifier.fit(X, y)
    assert len(caught) == 1
    assert issubclass(NotProvenWarning, GoctWarning)
    assert classifier.solution_.status is Status.FEASIBLE
    assert classifier.solution_.gap > 0
    assert classifier.predict(X).shape == y.shape


def test_constraints(cancer) -> None:
    X, y = cancer
    free = OptimalTreeClassifier("precision", max_depth=2, pos_label="malignant").fit(X, y)
    bound = clone(free).set_params(constraints=["recall >= 0.95"]).fit(X, y)
    found = Recall().evaluate(bound.tree_, bound.solution_.problem)
    assert found >= Fraction(95, 100)
    assert bound.solution_.value <= free.solution_.value


def test_constraints_name_columns(cancer) -> None:
    X, y = cancer
    whole = OptimalTreeClassifier(max_depth=3).fit(X, y)

    def columns(classifier) -> set[str]:
        conditions = classifier.binarizer_.conditions_
        return {conditions[f].column for f in classifier.tree_.features}

    best = sorted(columns(whole))[0]
    without = OptimalTreeClassifier(max_depth=3, constraints=ForbidFeatures(best)).fit(X, y)
    assert best not in columns(without)
    dropped = OptimalTreeClassifier(max_depth=3).fit(X.drop(columns=best), y)
    assert without.solution_.value == dropped.solution_.value < whole.solution_.value
    one = OptimalTreeClassifier(max_depth=2, binarizer="mdlp")
    few = clone(one).set_params(constraints=[MaxFeatures(1)]).fit(X, y)
    assert len(columns(few)) == 1
    assert few.solution_.status is Status.OPTIMAL
    assert few.solution_.stats["engine"] == "search"
    assert few.solution_.value == max(
        clone(one).fit(X[[name]], y).solution_.value
        for name, cuts in few.binarizer_.thresholds_.items()
        if cuts
    )
    with pytest.raises(ValueError, match="unknown feature 'worst perimeter > 114'"):
        OptimalTreeClassifier(constraints=ForbidFeatures("worst perimeter > 114")).fit(X, y)


def test_constraints_that_no_tree_meets() -> None:
    X, y = noise(60)
    classifier = OptimalTreeClassifier(max_depth=1, binarizer="none").fit(X, y)
    before = vars(classifier).copy()
    classifier.set_params(constraints=["recall >= 0.99", "specificity >= 0.99"])
    with pytest.raises(InfeasibleError, match=r"recall >= 0.99, specificity >= 0.99.*proven"):
        classifier.fit(X, y)
    assert issubclass(InfeasibleError, ValueError)
    after = {key: value for key, value in vars(classifier).items() if key.endswith("_")}
    assert all(value is before[key] for key, value in after.items())


def test_no_tree_before_the_limit(monkeypatch) -> None:
    X, y = noise(60)

    def give_up(problem, metric, max_depth, **options):
        from goct.solution import Limit, Solution
        from goct.task import Task

        task = Task.read(problem, metric, max_depth, constraints=options["constraints"])
        return Solution.of_tree(task, None, metric.best_value(problem), limit=Limit.TIME)

    monkeypatch.setattr("goct.estimator.solve", give_up)
    classifier = OptimalTreeClassifier(constraints="recall >= 0.9", binarizer="none")
    with pytest.raises(NoTreeError, match=r"recall >= 0.9.*time limit.*not proven"):
        classifier.fit(X, y)
    assert not hasattr(classifier, "tree_")


def test_options_reach_the_engine(cancer) -> None:
    X, y = cancer
    classifier = OptimalTreeClassifier(
        "accuracy",
        max_depth=2,
        max_splits=1,
        min_samples_leaf=250,
        split_penalty=0.01,
        n_jobs=2,
        random_state=np.random.RandomState(0),
        engine_options={"fewest_splits": False},
    ).fit(X, y)
    assert classifier.tree_.splits == 1
    assert classifier.solution_.split_penalty == Fraction(1, 100)
    assert classifier.leaf_weights_.sum(axis=1).min() >= 250
    assert OptimalTreeClassifier("accuracy", 1).fit(X, y).leaf_weights_.sum(axis=1).min() < 250
    with pytest.raises(TypeError, match="unknown option 'speed' of the search engine"):
        OptimalTreeClassifier(engine_options={"speed": 1}).fit(X, y)
    with pytest.raises(TypeError, match="'backend' is an option of the MIP engine, but the search"):
        OptimalTreeClassifier(engine_options={"backend": "highs"}).fit(X, y)
    with pytest.raises(ValueError, match="unknown engine 'fast'"):
        OptimalTreeClassifier(engine="fast").fit(X, y)
    few = X.iloc[:60, :2]
    mip = OptimalTreeClassifier("accuracy", max_depth=1, engine="mip", random_state=1)
    search = clone(mip).set_params(engine="search")
    assert mip.fit(few, y[:60]).solution_.value == search.fit(few, y[:60]).solution_.value


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_what_transformers_return_does_not_matter(output: str, cancer) -> None:
    X, y = cancer
    plain = OptimalTreeClassifier(max_depth=1).fit(X, y)
    with config_context(transform_output=output):
        wrapped = OptimalTreeClassifier(max_depth=1).fit(X, y)
        assert wrapped.predict(X).tolist() == plain.predict(X).tolist()


def test_threads_and_options_of_the_engine_that_was_chosen() -> None:
    X, y = noise(40)
    classifier = OptimalTreeClassifier("accuracy", 1, binarizer="none", n_jobs=2)
    light = clone(classifier).set_params(constraints=[MinLeafWeight(5)])
    assert light.fit(X, y).solution_.stats["engine"] == "search"
    required = clone(classifier).set_params(constraints=[RequireFeatures(["x0"])])
    with pytest.raises(TypeError, match="'fewest_splits' is an option of the search engine, but"):
        clone(required).set_params(engine_options={"fewest_splits": False}).fit(X, y)
    required.set_params(engine_options={"backend": "highs", "formulation": "wflow"})
    assert required.fit(X, y).solution_.stats["engine"] == "mip"


def test_progress(capsys, cancer) -> None:
    X, y = cancer
    OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert capsys.readouterr().out == ""
    OptimalTreeClassifier(max_depth=2, verbose=1).fit(X, y)
    printed = capsys.readouterr().out
    assert "best 0.9" in printed
    assert "gap 0.000000\noptimal: no tree of depth 2" in printed
    X, y = noise(1500)
    slow = OptimalTreeClassifier(max_depth=6, binarizer="none", time_limit=1.5, verbose=1)
    with pytest.warns(NotProvenWarning):
        slow.fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 3
    assert all(" s  best " in line and "  bound " in line for line in lines[:-1])


# ------------------------------------------------------ scikit-learn manners


def test_the_metric_goes_by_the_number_of_classes(cancer) -> None:
    X, y = load_iris(return_X_y=True)
    assert OptimalTreeClassifier().fit(X, y).metric_.name == "accuracy"
    assert OptimalTreeClassifier(pos_label=1, max_depth=1).fit(X, y).metric_.name == "f1"
    assert OptimalTreeClassifier(max_depth=1).fit(*cancer).metric_.name == "f1"
    weighted = OptimalTreeClassifier(class_weight="balanced").fit(X, y)
    assert weighted.metric_.name == "accuracy"
    assert weighted.solution_.value == OptimalTreeClassifier().fit(X, y).solution_.value
    assert OptimalTreeClassifier("mcc", max_depth=1).fit(*cancer).metric_ == MCC()


def test_small_leaves(cancer) -> None:
    X, y = cancer
    for options, least in (({"min_samples_leaf": 40}, 40), ({"min_samples_leaf": 0.1}, 57)):
        classifier = OptimalTreeClassifier(**options).fit(X, y)
        assert np.bincount(classifier.apply(X)).max() > 100
        assert np.unique(classifier.apply(X), return_counts=True)[1].min() >= least
        assert classifier.solution_.status is Status.OPTIMAL
        assert classifier.solution_.stats["engine"] == "search"
    # Numbers of samples under weights, and shares of the weight.
    weights = np.where(y == "benign", 1, 3)
    by_number = OptimalTreeClassifier(min_samples_leaf=40).fit(X, y, weights)
    assert np.unique(by_number.apply(X), return_counts=True)[1].min() >= 40
    by_weight = OptimalTreeClassifier(min_weight_fraction_leaf=0.1).fit(X, y, weights)
    found = np.bincount(by_weight.apply(X), weights=weights)
    assert found[found > 0].min() >= weights.sum() / 10
    assert by_weight.solution_.status is Status.OPTIMAL
    for name, value in (
        ("min_samples_leaf", 0),
        ("min_samples_leaf", 1.5),
        ("min_weight_fraction_leaf", 0.6),
    ):
        with pytest.raises(ValueError, match=name):
            OptimalTreeClassifier(**{name: value}).fit(X, y)


def test_weights_of_classes_are_weights_of_samples(cancer) -> None:
    X, y = cancer
    given = Binarizer("quantiles")
    weighted = OptimalTreeClassifier("accuracy", class_weight={"benign": 3}, binarizer=given)
    weighted.fit(X, y)
    same = solve(
        Problem.from_arrays(
            given.fit(X).transform(X),
            y,
            sample_weight=np.where(y == "benign", 3, 1),
            feature_names=given.get_feature_names_out(),
        ),
        "accuracy",
    )
    assert weighted.tree_ == same.tree
    assert weighted.solution_.value == same.value
    balanced = OptimalTreeClassifier("accuracy", class_weight="balanced").fit(X, y)
    assert balanced.solution_.problem.is_exact
    assert balanced.solution_.value == get_metric("balanced_accuracy").evaluate(
        balanced.tree_, balanced.to_problem(X, y)
    )
    with pytest.raises(ValueError, match="class_weight has the label 'bening'"):
        OptimalTreeClassifier(class_weight={"bening": 2}).fit(X, y)


@pytest.mark.parametrize("seed", range(8))
def test_the_score_is_the_metric_that_was_maximised(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, (60, 3)), rng.integers(0, 2 + seed % 2, 60)
    weights = rng.integers(0, 4, 60) if seed % 4 else None
    given = ["balanced", {0: 1, 1: 5}, {1: 0.3}, None][seed // 2]
    metric = "accuracy" if seed % 2 else "f1"
    classifier = OptimalTreeClassifier(metric, 2, class_weight=given).fit(X, y, weights)
    assert classifier.score(X, y, weights) == pytest.approx(float(classifier.solution_.value))


def test_balanced_weights_are_those_of_the_training_rows() -> None:
    X, y = [[0], [0], [0], [1]], [0, 0, 0, 1]  # weights 2/3 and 2
    classifier = OptimalTreeClassifier("accuracy", 1, class_weight="balanced").fit(X, y)
    assert classifier.score([[0], [0], [1]], [0, 1, 1]) == pytest.approx((2 / 3 + 2) / (2 / 3 + 4))


def test_size_and_logarithms(cancer) -> None:
    classifier = OptimalTreeClassifier(max_depth=2).fit(*cancer)
    assert classifier.get_depth() == classifier.tree_.depth == 2
    assert classifier.get_n_leaves() == classifier.tree_.n_leaves
    logs = classifier.predict_log_proba(cancer[0])
    assert np.allclose(np.exp(logs), classifier.predict_proba(cancer[0]))


def test_parameters_of_a_binarizer_that_is_a_name(cancer) -> None:
    classifier = OptimalTreeClassifier(max_depth=1)
    assert classifier.set_params(binarizer__n_thresholds=1) is classifier
    assert classifier.binarizer.get_params()["method"] == "auto"
    thresholds = classifier.fit(*cancer).binarizer_.thresholds_.values()
    assert max(map(len, thresholds)) == 1
    classifier.set_params(binarizer="quantiles", binarizer__n_thresholds=2)
    assert classifier.binarizer.get_params()["method"] == "quantiles"
    grid = GridSearchCV(OptimalTreeClassifier(max_depth=1), {"binarizer__n_thresholds": [1, 2]})
    assert grid.fit(*cancer).best_params_
    with pytest.raises(ValueError, match="Invalid parameter 'n_cuts'"):
        OptimalTreeClassifier().set_params(binarizer__n_cuts=1)


def test_a_pickle_has_no_more_data_than_the_tree_tells_apart(cancer) -> None:
    X, y = cancer
    classifier = OptimalTreeClassifier(max_depth=2, min_samples_leaf=3).fit(X, y)
    copy = pickle.loads(pickle.dumps(classifier))
    assert copy.solution_.problem.n_rows <= 2 ** len(classifier.tree_.features)
    assert copy.solution_.problem.X.shape[1] == len(classifier.tree_.features)
    assert copy.solution_.summary() == classifier.solution_.summary()
    assert copy.solution_.value == classifier.solution_.value
    assert str(Model.from_estimator(copy)) == str(Model.from_estimator(classifier))
    assert copy.score(X, y) == classifier.score(X, y)
    whole = pickle.loads(pickle.dumps(classifier.set_params(keep_data=True)))
    assert np.array_equal(whole.solution_.problem.X, classifier.solution_.problem.X)
    assert pickle.loads(pickle.dumps(OptimalTreeClassifier())).get_params()


def test_copies_and_files(people, tmp_path) -> None:
    joblib = pytest.importorskip("joblib")
    frame, y = people
    classifier = OptimalTreeClassifier(MCC(), max_depth=2, constraints=[Recall() >= 0.5])
    classifier.fit(frame, y)
    assert clone(classifier).get_params()["metric"] == MCC()
    joblib.dump(classifier, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(classifier)), joblib.load(tmp_path / "model")):
        assert (copy.predict(frame) == classifier.predict(frame)).all()
        assert copy.solution_.summary() == classifier.solution_.summary()
    assert repr(clone(classifier)).startswith("OptimalTreeClassifier(")


@pytest.mark.slow
def test_grid_search(cancer) -> None:
    X, y = cancer
    classifier = OptimalTreeClassifier(pos_label="malignant", binarizer=Binarizer("quantiles"))
    grid = {"max_depth": [1, 2], "split_penalty": [0, 0.05], "binarizer__n_thresholds": [1, 3]}
    search = GridSearchCV(classifier, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    assert search.best_estimator_.tree_.depth <= 2
    assert search.best_params_["binarizer__n_thresholds"] == 3
    # Different metrics are compared by one that is the same for all.
    scorer = make_scorer(f1_score, pos_label="malignant")
    metrics = GridSearchCV(classifier, {"metric": ["accuracy", "f1"]}, scoring=scorer, cv=3)
    assert 0.85 < metrics.fit(X, y).best_score_ < 1


def test_pipelines(people) -> None:
    frame, y = people
    numbers = make_column_transformer(
        ("passthrough", make_column_selector(dtype_include="number"))
    ).set_output(transform="pandas")
    pipeline = make_pipeline(numbers, OptimalTreeClassifier(pos_label="ill", max_depth=2))
    assert cross_val_score(pipeline, frame, y, cv=3).shape == (3,)
    steps = make_pipeline(
        Binarizer().set_output(transform="pandas"),
        OptimalTreeClassifier(pos_label="ill", max_depth=2, binarizer="none"),
    ).fit(frame, y)
    whole = OptimalTreeClassifier(pos_label="ill", max_depth=2).fit(frame, y)
    assert steps[-1].tree_ == whole.tree_


def test_metadata_routing(cancer) -> None:
    import sklearn

    X, y = cancer
    weight = np.where(y == "malignant", 3, 1)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = OptimalTreeClassifier("accuracy", max_depth=1)
        classifier.set_fit_request(sample_weight=True, costs=False)
        classifier.set_score_request(sample_weight=True, costs=False)
        routed = cross_validate(
            classifier, X, y, params={"sample_weight": weight}, cv=3, return_estimator=True
        )
    problem = routed["estimator"][0].solution_.problem
    assert problem.total_weight > problem.n_samples


@pytest.mark.parametrize("module", [goct.estimator, goct.binarize.binarizer])
def test_examples_in_docstrings(module) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


def test_it_is_loaded_on_demand() -> None:
    assert goct.OptimalTreeClassifier is OptimalTreeClassifier
    with pytest.raises(AttributeError, match="no attribute 'OptimalTree'"):
        _ = goct.OptimalTree


# ------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1, 1], "only one class, 1"),
        (["a", "b", None, "a"], "missing label at row 2"),
        ([0, 1, np.nan, 1], "missing label at row 2"),
        (pd.Series([0, 1, None, 1], dtype="Int64"), "missing label at row 2"),
        ([0, 1, np.inf, 1], "inf at row 2"),
        ([0.5, 1.5, 2.5, 0.1], "Unknown label type"),
        ([0, 1, 0], "4 rows but y has 3 labels"),
        ([[0, 1]] * 4, "1d array"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels(y, message) -> None:
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier().fit([[1], [2], [3], [4]], y)


def test_columns_that_the_tree_does_not_ask_about_need_not_be_there(people) -> None:
    frame, y = people
    classifier = OptimalTreeClassifier(max_depth=1, pos_label="ill").fit(frame, y)
    (asked,) = {classifier.binarizer_.conditions_[k].column for k in classifier.tree_.features}
    assert (classifier.predict(frame[[asked]]) == classifier.predict(frame)).all()


def test_bad_tables(people) -> None:
    frame, y = people
    classifier = OptimalTreeClassifier(pos_label="ill").fit(frame, y)
    with pytest.raises(ValueError, match="X lacks the column 'age'"):
        classifier.predict(frame.drop(columns="age"))
    with pytest.raises(TypeError, match=r"column 0 \('age'\) of X must hold numbers, got text"):
        classifier.predict(frame.assign(age="old"))
    above_all, largest = frame.assign(age=np.inf), frame.assign(age=1e300)
    assert (classifier.predict(above_all) == classifier.predict(largest)).all()
    with pytest.raises(ValueError, match="no rows"):
        classifier.predict(frame.iloc[:0])
    with pytest.raises(ValueError, match="no rows"):
        OptimalTreeClassifier().fit(frame.iloc[:0], [])
    with pytest.raises(ValueError, match="same name"):
        OptimalTreeClassifier().fit(pd.concat([frame, frame], axis=1), y)
    with pytest.raises(ValueError, match=r"inf at row 0, column 0 \('age'\)"):
        OptimalTreeClassifier().fit(frame.assign(age=np.inf), y)
    with pytest.raises(TypeError, match=r"\('age'\) of X mixes"):
        OptimalTreeClassifier().fit(frame.assign(age=["x", *frame.age[1:]]), y)
    with pytest.raises(ValueError, match="pos_label 'sick' is not a label"):
        OptimalTreeClassifier(pos_label="sick").fit(frame, y)
    with pytest.raises(ValueError, match="unknown metric 'f11x'"):
        OptimalTreeClassifier("f11x").fit(frame, y)
    assert OptimalTreeClassifier("f11x").__sklearn_tags__().classifier_tags.multi_class is False


def test_columns_without_information() -> None:
    y = [0, 1, 0, 1, 1]
    with pytest.warns(BinarizationWarning, match="no condition"):
        classifier = OptimalTreeClassifier("accuracy").fit(np.ones((5, 2)), y)
    assert classifier.predict([[5, 5]]).tolist() == [1]
    assert classifier.predict_proba([[5, 5]])[0] == pytest.approx([3 / 7, 4 / 7])
    assert classifier.feature_importances_.tolist() == [0, 0]
    names = pd.DataFrame({"name": [f"n{i}" for i in range(200)]})
    with pytest.warns(BinarizationWarning, match="each category of 'name' is too rare"):
        OptimalTreeClassifier("accuracy").fit(names, y * 40)
    void = pd.DataFrame({"a": [1, 2, 1, 2, 2], "void": [np.nan] * 5})
    with pytest.warns(BinarizationWarning, match="'void' has no value"):
        assert OptimalTreeClassifier("accuracy").fit(void, y).score(void, y) == 1


def test_masked_values_are_missing_values() -> None:
    X = np.ma.array(
        [[0.0], [1.0], [2.0], [3.0]] * 10, mask=[[False], [True], [False], [False]] * 10
    )
    with_nan = OptimalTreeClassifier("accuracy", 2).fit(X.filled(np.nan), [0, 1, 0, 0] * 10)
    masked = OptimalTreeClassifier("accuracy", 2).fit(X, [0, 1, 0, 0] * 10)
    assert str(masked.tree_) == str(with_nan.tree_)
    assert "missing" in str(masked.tree_)
    with pytest.raises(ValueError, match="y has a missing label at row 1"):
        OptimalTreeClassifier().fit(X, np.ma.array([0, 1, 0, 0] * 10, mask=[0, 1, 0, 0] * 10))
