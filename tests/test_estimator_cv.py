from __future__ import annotations

import doctest
import os
import pickle
import signal
import threading
import time
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GroupKFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import goct.estimator_cv
from goct import Limit, OptimalTreeClassifier, OptimalTreeClassifierCV, Status
from goct.binarize import Binarizer
from goct.exceptions import InfeasibleError, NotProvenWarning, NoTreeError
from goct.metrics import CostMatrix, InstanceCost
from goct.path import Path
from goct.tuning import Clock, PathFinder, folds_of

pd = pytest.importorskip("pandas")
quiet = pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data.iloc[:300], data.target_names[data.target][:300]


@pytest.mark.slow
@quiet
@parametrize_with_checks(
    [
        OptimalTreeClassifierCV(min_samples_leaf=1, max_depth=2),
        OptimalTreeClassifierCV("accuracy", max_depth=[1, 2], min_samples_leaf=1, cv=2),
    ]
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def test_it_chooses_what_a_search_over_sizes_chooses(cancer) -> None:
    """Fold by fold, split by split, with conditions from the training part only."""
    X, y = cancer
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    ours = OptimalTreeClassifierCV(
        "f1", max_depth=2, min_samples_leaf=5, pos_label="malignant", cv=folds
    ).fit(X, y)
    scores = np.zeros((3, 4))
    for i, (train, test) in enumerate(folds):
        for splits in range(4):
            one = OptimalTreeClassifier(
                "f1", max_depth=2, max_splits=splits, min_samples_leaf=5, pos_label="malignant"
            ).fit(X.iloc[train], y[train])
            path_tree = ours.path_[splits]
            assert path_tree.status is Status.OPTIMAL
            scores[i, splits] = one.score(X.iloc[test], y[test])
    # Trees of one value may differ, and so their scores; those of one split hardly do.
    found = np.array([ours.cv_results_[f"split{i}_test_score"] for i in range(3)])
    assert found.shape == scores.shape
    assert np.abs(found - scores).max() < 0.1
    assert (found[:, :2] == scores[:, :2]).all()
    best = found.mean(axis=0).argmax()
    assert ours.best_splits_ == best == ours.best_index_
    assert ours.best_score_ == found[:, best].mean()
    assert ours.n_folds_ == 3
    refit = OptimalTreeClassifier(
        "f1", max_depth=2, max_splits=best, min_samples_leaf=5, pos_label="malignant"
    ).fit(X, y)
    assert ours.solution_.value == refit.solution_.value == ours.path_[best].value
    assert ours.score(X, y) == pytest.approx(f1_score(y, ours.predict(X), pos_label="malignant"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 5}])
def test_rows_held_back_have_the_class_weights_of_training(class_weight, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, weights = rng.integers(0, 6, (90, 3)), rng.integers(0, 4, 90)
    y = (X[:, 0] + rng.integers(0, 5, 90) > 6).astype(int)
    options = {"class_weight": class_weight, "max_splits": 2, "min_samples_leaf": 5}
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    chosen = OptimalTreeClassifierCV("accuracy", 2, cv=folds, **options).fit(X, y, weights)
    for i, (train, test) in enumerate(folds.split(X, y)):
        alone = OptimalTreeClassifier("accuracy", 2, **options).fit(
            X[train], y[train], weights[train]
        )
        sums = np.bincount(y[train], weights[train])
        factors = sums.sum() / 2 / sums if class_weight == "balanced" else np.array([1, 5])
        counted = factors[y[test]] * weights[test]
        expected = counted[alone.predict(X[test]) == y[test]].sum() / counted.sum()
        assert chosen.cv_results_[f"split{i}_test_score"][2] == pytest.approx(expected)


def test_results_are_as_scikit_learn_has_them(cancer) -> None:
    X, y = cancer
    chosen = OptimalTreeClassifierCV("accuracy", [1, 2], min_samples_leaf=[1, 20], cv=3).fit(X, y)
    results = chosen.cv_results_
    n = 2 * (2 + 4)
    assert {len(column) for column in results.values()} == {n}
    assert results["params"][chosen.best_index_] == chosen.best_params_
    assert set(chosen.best_params_) == {"max_splits", "max_depth", "min_samples_leaf", "binarizer"}
    assert results["rank_test_score"][chosen.best_index_] == 1
    scores = np.array([results[f"split{i}_test_score"] for i in range(3)])
    assert np.allclose(results["mean_test_score"], scores.mean(axis=0))
    assert np.allclose(results["se_test_score"], scores.std(axis=0, ddof=1) / np.sqrt(3))
    assert (results["n_proven"] == 3).all()
    assert (results["mean_fit_time"] > 0).all()
    assert len(pd.DataFrame(results)) == n
    assert chosen.get_depth() <= chosen.best_params_["max_depth"]
    assert chosen.tree_.splits <= chosen.best_splits_


def test_noise_gets_no_tree() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 8)), rng.random(200) < 0.3
    chosen = OptimalTreeClassifierCV("accuracy", max_depth=3, binarizer="quantiles").fit(X, y)
    largest = OptimalTreeClassifier("accuracy", max_depth=3, binarizer="quantiles").fit(X, y)
    assert chosen.tree_.splits < largest.tree_.splits
    one_se = clone(chosen).set_params(rule="one_se").fit(X, y)
    assert one_se.best_splits_ <= chosen.best_splits_


@pytest.mark.slow
@pytest.mark.parametrize(
    "scoring", ["roc_auc", lambda classifier, X, y: (classifier.predict(X) == y).mean()]
)
def test_scoring(scoring, cancer) -> None:
    X, y = cancer
    chosen = OptimalTreeClassifierCV(max_depth=2, cv=3, scoring=scoring).fit(X, y)
    assert 0.5 < chosen.best_score_ <= 1
    if callable(scoring):
        same = OptimalTreeClassifierCV("f1", max_depth=2, cv=3, scoring="accuracy").fit(X, y)
        assert same.best_score_ == chosen.best_score_
        with pytest.warns(UserWarning, match="takes no sample_weight"):
            clone(chosen).fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.slow
def test_splitters(cancer) -> None:
    X, y = cancer
    options = {"max_depth": 1, "metric": "accuracy", "min_samples_leaf": 5}
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    assert OptimalTreeClassifierCV(cv=repeated, **options).fit(X, y).n_folds_ == 6
    assert OptimalTreeClassifierCV(cv=None, **options).fit(X, y).n_folds_ == 5
    half = PredefinedSplit(np.where(np.arange(len(y)) < 200, -1, 0))
    one = OptimalTreeClassifierCV(cv=half, **options).fit(X, y)
    assert one.n_folds_ == 1
    assert one.cv_results_["se_test_score"].tolist() == [0, 0]
    groups = np.arange(len(y)) // 30
    for cv in (GroupKFold(4), 4):
        assert OptimalTreeClassifierCV(cv=cv, **options).fit(X, y, groups=groups).n_folds_ == 4
    with pytest.raises(ValueError, match="groups"):
        OptimalTreeClassifierCV(cv=GroupKFold(4), **options).fit(X, y)


def test_rows_of_a_group_stay_together(cancer, monkeypatch) -> None:
    X, y = cancer
    groups = np.random.default_rng(0).integers(0, 20, len(y))
    chosen = OptimalTreeClassifierCV(max_depth=1, cv=3)
    seen = []
    monkeypatch.setattr(
        goct.estimator_cv, "folds_of", lambda *a: seen.append(folds_of(*a)) or seen[-1]
    )
    chosen.fit(X, y, groups=groups)
    for part in seen[0]:
        assert not set(groups[part.train]) & set(groups[part.test])


def test_weights_count_in_scores(cancer) -> None:
    X, y = cancer
    folds = list(StratifiedKFold(2, shuffle=True, random_state=1).split(X, y))
    weights = np.where(np.arange(len(y)) % 3, 1, 0)
    weighted = OptimalTreeClassifierCV("accuracy", 1, cv=folds, min_samples_leaf=1)
    weighted.fit(X, y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    place = np.cumsum(weights) - 1
    smaller = [
        (place[train[weights[train] > 0]], place[test[weights[test] > 0]]) for train, test in folds
    ]
    removed = OptimalTreeClassifierCV("accuracy", 1, cv=smaller, min_samples_leaf=1)
    removed.fit(X.iloc[kept], y[kept])
    assert weighted.best_score_ == removed.best_score_


def test_metadata_routing(cancer) -> None:
    X, y = cancer
    weights = np.linspace(1, 2, len(y))
    with config_context(enable_metadata_routing=True):
        chosen = OptimalTreeClassifierCV(max_depth=1, cv=2)
        chosen.set_fit_request(sample_weight=True, groups=False)
        chosen.set_score_request(sample_weight=True)
        found = cross_validate(chosen, X, y, cv=2, params={"sample_weight": weights})
    assert len(found["test_score"]) == 2


@pytest.mark.slow
def test_threads_and_processes_give_the_same(cancer) -> None:
    X, y = cancer
    one, two = (OptimalTreeClassifierCV(max_depth=2, cv=3, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.tree_ == two.tree_
    assert (one.cv_results_["mean_test_score"] == two.cv_results_["mean_test_score"]).all()


@pytest.mark.slow
def test_folds_on_a_dask_cluster(cancer) -> None:
    distributed = pytest.importorskip("distributed", reason="extra 'bench'")
    X, y = cancer
    here = OptimalTreeClassifierCV("f1", max_depth=2, cv=3).fit(X, y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two,
        distributed.Client(two),
        joblib.parallel_config("dask"),
    ):
        there = OptimalTreeClassifierCV("f1", max_depth=2, cv=3, n_jobs=-1).fit(X, y)
    assert there.score_estimate_ == here.score_estimate_
    assert there.tree_ == here.tree_


def test_several_classes() -> None:
    X, y = load_iris(return_X_y=True)
    chosen = OptimalTreeClassifierCV(max_depth=2).fit(X, y)
    assert chosen.metric_.name == "accuracy"
    assert chosen.best_score_ > 0.9
    against_rest = OptimalTreeClassifierCV("f1", max_depth=2, pos_label=1).fit(X, y)
    assert against_rest.best_score_ > 0.85


@pytest.mark.slow
def test_in_a_pipeline_and_nested(cancer) -> None:
    X, y = cancer
    pipeline = make_pipeline(OptimalTreeClassifierCV("accuracy", max_depth=2, cv=3))
    assert cross_validate(pipeline, X, y, cv=2)["test_score"].min() > 0.8


@pytest.mark.slow
def test_pickles_leave_the_data_out(cancer) -> None:
    X, y = cancer
    chosen = OptimalTreeClassifierCV(max_depth=2, cv=2).fit(X, y)
    copy = pickle.loads(pickle.dumps(chosen))
    assert not hasattr(copy, "path_")
    assert (copy.predict(X) == chosen.predict(X)).all()
    whole = clone(chosen).set_params(keep_data=True).fit(X, y)
    again = pickle.loads(pickle.dumps(whole))
    assert again.path_[1].value == whole.path_[1].value


@pytest.mark.parametrize("backend", ["threading", "multiprocessing", "sequential"])
def test_folds_are_the_same_by_every_backend_of_joblib(cancer, backend) -> None:
    X, y = cancer
    chosen = OptimalTreeClassifierCV("f1", 2, cv=3, n_jobs=2)
    alone = clone(chosen).set_params(n_jobs=None).fit(X, y)
    with joblib.parallel_config(backend):
        chosen.fit(X, y)
    assert chosen.tree_ == alone.tree_
    np.testing.assert_array_equal(
        chosen.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )


def test_ctrl_c_ends_the_searches_of_all_settings_of_a_fold(cancer, monkeypatch) -> None:
    X, y = cancer
    searches: list[Path] = []

    def interrupted(finder, *arguments) -> Path:
        searches.append(replace(find(finder, *arguments), limit=Limit.INTERRUPTED))
        return searches[-1]

    find = PathFinder.find
    monkeypatch.setattr(PathFinder, "find", interrupted)
    with pytest.raises(KeyboardInterrupt):
        OptimalTreeClassifierCV("f1", 2, min_samples_leaf=[5, 10]).fit(X, y)
    assert len(searches) == 1


def test_searches_that_there_is_no_time_for_have_no_scores(cancer, monkeypatch) -> None:
    X, y = cancer
    searches: list[Path] = []

    def find_and_wait(finder, *arguments) -> Path:
        searches.append(find(finder, *arguments))
        monkeypatch.setattr(Clock, "elapsed", 2 * 60.0)
        return searches[-1]

    find = PathFinder.find
    monkeypatch.setattr(PathFinder, "find", find_and_wait)
    chosen = OptimalTreeClassifierCV("f1", 2, min_samples_leaf=[5, 10], time_limit=60)
    with pytest.warns(NotProvenWarning):
        chosen.fit(X, y)
    assert len(searches) == 2  # of one fold, and of all rows
    assert chosen.best_params_["min_samples_leaf"] == 5
    assert np.isnan(chosen.cv_results_["mean_test_score"]).sum() == 4


@pytest.mark.slow
def test_a_time_limit_is_for_all_of_it() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1500, 80)), rng.random(1500) < 0.3
    chosen = OptimalTreeClassifierCV("f1", 6, binarizer="none", cv=3, time_limit=2)
    with pytest.warns(NotProvenWarning, match=r"(\d) of \1 searches for the size stopped at"):
        chosen.fit(X, y)
    assert chosen.path_.stats["time"] < 3
    assert (chosen.cv_results_["n_proven"] == 0).all()
    assert chosen.path_.limit is Limit.TIME


def test_progress(cancer, capsys) -> None:
    X, y = cancer
    OptimalTreeClassifierCV(max_depth=1, min_samples_leaf=5, cv=3, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "3 of 3 folds done, about" in lines[2]


def test_ctrl_c_keeps_the_folds_that_are_done(cancer, monkeypatch) -> None:
    X, y = cancer
    report = OptimalTreeClassifierCV._report

    def interrupt(self, done, total, elapsed) -> None:
        report(self, done, total, elapsed)
        if done == stop_after:
            raise KeyboardInterrupt

    monkeypatch.setattr(OptimalTreeClassifierCV, "_report", interrupt)
    stop_after = 2
    one_setting = {"metric": "accuracy", "min_samples_leaf": 5, "cv": 4}
    with pytest.warns(NotProvenWarning, match="chosen by 2 of 4 folds only"):
        chosen = OptimalTreeClassifierCV(max_depth=2, **one_setting).fit(X, y)
    assert chosen.n_folds_ == 2
    two_settings = OptimalTreeClassifierCV(binarizer=["mdlp", "quantiles"], **one_setting)
    with pytest.warns(NotProvenWarning, match="chosen by 1 of 4 folds only"):
        assert two_settings.fit(X, y).n_folds_ == 1
    stop_after = 1
    with pytest.raises(KeyboardInterrupt):
        clone(two_settings).fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_short_limit_leaves_folds_out(n_jobs) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((8000, 20))
    y = X[:, 0] > 0.5
    impatient = OptimalTreeClassifierCV("f1", time_limit=0.1, n_jobs=n_jobs)
    with pytest.warns(NotProvenWarning):
        impatient.fit(X, y)
    assert impatient.n_folds_ <= n_jobs
    assert impatient.path_[-1].tree is not None


@pytest.mark.slow
def test_ctrl_c_ends_all_folds_at_once() -> None:
    X, y = np.random.default_rng(0).integers(0, 2, (2, 1500, 80))
    threads = threading.active_count()
    interrupt = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        OptimalTreeClassifierCV("f1", max_depth=6, n_jobs=2).fit(X, y[:, 0])
    ended = time.monotonic()
    while threading.active_count() > threads:
        assert time.monotonic() < ended + 60, "searches go on"
        time.sleep(0.05)


def test_constraints(cancer) -> None:
    X, y = cancer
    chosen = OptimalTreeClassifierCV(
        "precision", max_depth=2, pos_label="malignant", constraints=["recall >= 0.9"], cv=3
    ).fit(X, y)
    # Without a split the only such tree is a bad one; with more there are better ones.
    assert chosen.best_splits_ >= 1
    recall = chosen.tree_.confusion(chosen.solution_.problem)
    assert recall.tp >= 0.9 * recall.n_pos
    impossible = ["recall >= 0.999", "precision >= 0.999"]
    with pytest.raises(InfeasibleError, match="this is proven"):
        OptimalTreeClassifierCV(max_depth=1, constraints=impossible, cv=3).fit(X, y)


def test_a_fold_without_a_tree_rules_its_sizes_out() -> None:
    """The first fold needs two splits to meet the constraint, the other one none."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 12)
    y = (X[:, 0] & X[:, 1]).astype(bool)
    chosen = OptimalTreeClassifierCV(
        "f1", 2, constraints=["accuracy >= 0.95"], binarizer="none", cv=2, min_samples_leaf=1
    ).fit(X, y)
    assert chosen.best_splits_ == 2
    assert np.isnan(chosen.cv_results_["mean_test_score"][:2]).all()


@quiet
def test_odd_tables() -> None:
    """Columns that are constant in a fold, levels that only one fold has, classes of few rows."""
    rng = np.random.default_rng(0)
    n = 40
    frame = pd.DataFrame(
        {
            "almost": np.where(np.arange(n) == 3, 1.0, 0.0),
            "level": ["rare" if i == 5 else "usual" for i in range(n)],
            "missing": [None] * n,
            "number": rng.random(n),
        }
    )
    y = np.where(frame.number > 0.5, "b", "a").astype(object)
    y[7] = "c"  # one row
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", goct.exceptions.BinarizationWarning)
        chosen = OptimalTreeClassifierCV("accuracy", max_depth=2).fit(frame, y)
    assert chosen.best_score_ > 0.8
    assert set(chosen.predict(frame)) <= {"a", "b", "c"}
    few = OptimalTreeClassifierCV("accuracy", max_depth=1, min_samples_leaf=1)
    assert few.fit([[0.0], [0.1], [1.0], [1.1], [1.2]], [0, 0, 1, 1, 1]).n_folds_ == 2
    # A fold that learns from one class only has a tree without a split.
    sorted_folds = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    X, target = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    one_class = OptimalTreeClassifierCV("f1", 1, cv=sorted_folds).fit(X, target)
    assert one_class.best_splits_ == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "second"}, "unknown rule 'second'"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"cv": 2.5}, "cv"),
        ({"cv": []}, "cv has no folds"),
        ({"cv": [(np.arange(9), [])]}, "fold 1 has no rows held back"),
        ({"max_depth": []}, "max_depth is an empty list"),
        ({"max_depth": [2, -1]}, "max_depth must be at least 0"),
        ({"max_splits": -1}, "max_splits must be at least 0"),
        ({"min_samples_leaf": [0]}, "min_samples_leaf must be at least 1"),
        ({"binarizer": ["mdlp", "mud"]}, "unknown binarizer 'mud'"),
        ({"scoring": "nonsense"}, "nonsense"),
        ({"time_limit": -1}, "time_limit must be positive"),
        ({"metric": "nonsense"}, "nonsense"),
    ],
)
@quiet
def test_bad_parameters(options, message) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises((TypeError, ValueError), match=message):
        OptimalTreeClassifierCV(**options).fit(X, y)


def test_bad_data() -> None:
    chosen = OptimalTreeClassifierCV()
    with pytest.raises(ValueError, match="every class has only 1 sample"):
        chosen.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="one class"):
        chosen.fit([[0.0], [1.0]], [1, 1])
    assert not hasattr(chosen, "tree_")


@pytest.mark.slow
def test_a_plot(cancer) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    X, y = cancer
    chosen = OptimalTreeClassifierCV("accuracy", max_depth=[1, 2], cv=3).fit(X, y)
    ax = chosen.plot_validation()
    assert ax.get_ylabel() == "accuracy"
    assert len(ax.get_lines()[0].get_xdata()) == 2 ** chosen.best_params_["max_depth"]
    assert clone(chosen).set_params(scoring="accuracy").fit(X, y).plot_validation(ax) is ax


def test_parameters_of_a_binarizer(cancer) -> None:
    X, y = cancer
    chosen = OptimalTreeClassifierCV(
        max_depth=1, cv=2, binarizer=[Binarizer("mdlp"), Binarizer("quantiles", 3)]
    ).fit(X, y)
    assert isinstance(chosen.best_params_["binarizer"], Binarizer)
    assert not hasattr(chosen.best_params_["binarizer"], "conditions_")


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(goct.estimator_cv).failed == 0


def test_folds_that_there_is_no_time_for_are_left_out(cancer, monkeypatch) -> None:
    X, y = cancer
    monkeypatch.setattr(goct.tuning.Clock, "is_over", property(lambda _: True))
    chosen = OptimalTreeClassifierCV("accuracy", max_depth=[1, 2], cv=4)
    with pytest.warns(NotProvenWarning, match="chosen by 1 of 4 folds only"):
        chosen.fit(X, y)
    assert chosen.n_folds_ == 1
    assert chosen.best_splits_ > 0


def test_leaves_larger_than_a_fold_allow_no_split() -> None:
    few = OptimalTreeClassifierCV("accuracy", max_depth=2).fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    assert few.best_splits_ == 0


def test_fewer_groups_than_folds() -> None:
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1, 0, 1], 5)
    chosen = OptimalTreeClassifierCV("accuracy", max_depth=1)
    assert chosen.fit(X, y, groups=np.repeat([0, 1], 10)).n_folds_ == 2
    with pytest.raises(ValueError, match="all rows are in one group"):
        chosen.fit(X, y, groups=np.zeros(20))


def test_scorers_without_weights_and_without_numbers() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    options = {"max_depth": 1, "min_samples_leaf": 5, "cv": 3}

    def score(classifier, X, y) -> float:
        return classifier.score(X, y)

    alike = OptimalTreeClassifierCV("accuracy", scoring=score, **options).fit(X, y)
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        other = OptimalTreeClassifierCV("accuracy", scoring=score, **options).fit(
            X, y, sample_weight=np.ones(len(y))
        )
    assert other.best_score_ == alike.best_score_
    none = OptimalTreeClassifierCV("accuracy", scoring=lambda *_: float("nan"), **options)
    with pytest.raises(NoTreeError, match="scoring gives no number"):
        none.fit(X, y)


def test_groups_that_are_missing() -> None:
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    for none in (None, float("nan")):
        groups = pd.Series(["a", "b", none, *"abcab"], dtype=object)
        with pytest.raises(ValueError, match=r"groups: row 2 \(counted from 0\) has none"):
            OptimalTreeClassifierCV("accuracy").fit(X, y, groups=groups)


_THREE = np.arange(90) % 3


@pytest.mark.parametrize(
    ("labels", "options", "given"),
    [
        (_THREE, {"metric": "accuracy"}, {}),
        (_THREE, {"metric": CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]])}, {}),
        (_THREE, {"metric": InstanceCost()}, {"costs": np.ones((90, 3)) - np.eye(3)[_THREE]}),
        (_THREE > 0, {"metric": "mcc", "class_weight": "balanced"}, {}),
        (_THREE > 0, {"metric": "f1"}, {"sample_weight": 1 + np.arange(90) % 4}),
        (_THREE > 0, {"metric": "f1"}, {"groups": np.arange(90) // 5}),
        (_THREE > 0, {"scoring": "roc_auc", "cv": ShuffleSplit(4, random_state=0)}, {}),
    ],
)
def test_every_metric_has_an_estimate(labels, options, given) -> None:
    noise = np.random.default_rng(0).random((90, 2))
    X = np.column_stack([np.where(noise[:, 0] < 0.2, 1, _THREE), noise[:, 1].round(1)])
    classifier = OptimalTreeClassifierCV(max_depth=2, min_samples_leaf=5, **options)
    classifier.fit(X, labels, **given)
    estimate, error = classifier.score_estimate_
    assert abs(estimate - classifier.best_score_) < 0.2
    assert 0 < error < 0.2


def test_parts_of_folds_whose_rows_do_not_count() -> None:
    X, y = np.arange(40).reshape(-1, 1) % 8, np.arange(40) % 2
    weights = np.zeros(40)
    folds = folds_of(5, y)
    for fold in folds[:3]:
        weights[fold.test[:2]] = 1  # one row of each class, so a jackknife leaves some without
    weights[[*folds[3].test[:1], *folds[4].test[:1]]] = 1
    cv = [(fold.train, fold.test) for fold in folds]
    classifier = OptimalTreeClassifierCV("accuracy", 1, min_samples_leaf=1, cv=cv)
    classifier.fit(X, y, sample_weight=weights)
    assert np.isfinite(classifier.score_estimate_).all()
