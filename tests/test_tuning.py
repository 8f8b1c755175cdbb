"""Which size is chosen from the scores of folds."""

from __future__ import annotations

import numpy as np
import pytest

from goct import Limit, OptimalTreeClassifier, OptimalTreeClassifierCV
from goct.exceptions import NoTreeError
from goct.tuning import Clock, Tuning, Validation, Validator, folds_of


def tuning(scores: list[list[float]], rule: str = "best") -> Tuning:
    found = [Validation(tuple(row), Limit.NONE, 0.1, is_infeasible=False) for row in scores]
    return Tuning([OptimalTreeClassifier()], found, rule)


def test_rules() -> None:
    scores = [[0.5, 0.78, 0.80], [0.5, 0.80, 0.84], [0.5, 0.82, 0.82]]
    assert tuning(scores).best_splits == 2
    # One standard error of the best is 0.02 / √3 = 0.0115, and 0.80 is 0.02 below 0.82.
    assert tuning(scores, "one_se").best_splits == 2
    scores = [[0.5, 0.78, 0.76], [0.5, 0.80, 0.86], [0.5, 0.82, 0.84]]
    assert tuning(scores, "one_se").best_splits == 1
    assert tuning([[0.5, 0.8, 0.8], [0.5, 0.8, 0.8]]).best_splits == 1
    assert tuning([[float("nan"), 0.8], [0.9, 0.7]]).best_splits == 1
    with pytest.raises(NoTreeError, match="every fold has a tree"):
        tuning([[float("nan"), 0.8], [0.7, float("nan")]])


def test_settings_compete_by_their_means_and_then_by_their_splits() -> None:
    found = [
        Validation(scores, Limit.NONE, 0.1, is_infeasible=False)
        for scores in ((0.5, 0.7), (0.5, 0.6, 0.7), (0.5, 0.8), (0.5, 0.7, 0.8))
    ]
    chosen = Tuning([OptimalTreeClassifier(max_depth=1), OptimalTreeClassifier()], found, "best")
    assert chosen.params(chosen.choice)["max_depth"] == 1
    assert chosen.scores.shape == (2, 5)
    assert chosen.splits.tolist() == [0, 1, 0, 1, 2]


def test_the_estimate_is_by_what_the_other_folds_choose() -> None:
    table = tuning([[0.9, 0.5], [0.5, 0.8], [0.5, 0.8]])
    # Without the first fold the second number is best; without another, the first one, just so.
    mean, error = table.estimate()
    assert mean == pytest.approx((0.5 + 0.5 + 0.5) / 3)
    assert error == pytest.approx(0)
    assert table.scores.mean(axis=0).max() == pytest.approx(0.7)
    assert all(np.isnan(tuning([[0.9, 0.5]]).estimate()))


def test_the_estimate_is_by_what_trees_choose_that_saw_none_of_the_fold() -> None:
    table = tuning([[0.9, 0.5], [0.5, 0.8], [0.5, 0.8]])
    for fold in range(3):
        table.inner_scores[fold] = [np.array([0.4, 0.7]), np.array([0.6, 0.7])]
    assert table.estimate()[0] == pytest.approx((0.5 + 0.8 + 0.8) / 3)


def test_trees_that_choose_without_a_fold_saw_none_of_its_rows(monkeypatch) -> None:
    X, y = np.arange(60).reshape(-1, 1) % 7, np.arange(60) % 2
    folds = folds_of(5, y)
    learned = []
    validate = Validator.__call__

    def watch(self, settings, fold, *rest):
        learned.append(fold)
        return validate(self, settings, fold, *rest)

    monkeypatch.setattr(Validator, "__call__", watch)
    classifier = OptimalTreeClassifierCV(max_depth=1, min_samples_leaf=5).fit(X, y)
    assert len(learned) == 5 + 10
    for fold in learned[5:]:
        (other,) = fold.others
        assert not {*fold.train} & {*fold.test, *other}
        assert {*fold.train, *fold.test, *other} == {*range(60)}
        parts = [tuple(outer.test) for outer in folds]
        assert tuple(fold.test) in parts
        assert tuple(other) in parts
    assert 0 < classifier.score_estimate_[1] < 1


def test_a_jackknife_gives_the_error_of_a_mean() -> None:
    right = np.array([1] * 30 + [0] * 10)
    (fold,) = folds_of([(np.arange(40, 80), np.arange(40))], np.arange(80) % 2)
    assert sorted(row for rows in fold.others for row in set(fold.test) - set(rows)) == [*range(40)]
    others = tuple((float(right[rows].mean()),) for rows in fold.others)
    (deviation,) = Validation((0.75,), Limit.NONE, 0.1, False, others).deviations()
    assert deviation == pytest.approx(np.sqrt(0.75 * 0.25 / 40), rel=0.3)
    groups = np.arange(80) // 4
    (fold,) = folds_of([(np.arange(40, 80), np.arange(40))], np.arange(80) % 2, groups)
    assert all(len(set(groups[rows])) == 9 and len(rows) == 36 for rows in fold.others)


def test_the_error_is_larger_since_folds_share_rows() -> None:
    others = ((0.7,), (0.8,), (0.9,))
    found = [Validation((0.8,), Limit.NONE, 0.1, False, others)] * 5
    deviation = np.std([0.7, 0.8, 0.9]) * np.sqrt(2)
    mean, error = Tuning([OptimalTreeClassifier()], found, "best", held_back=0.25).estimate()
    assert mean == pytest.approx(0.8)
    assert error == pytest.approx(deviation * np.sqrt(1 / 5 + 1 / 4))


def test_time_is_shared() -> None:
    assert Clock(None, 1).limit(3) is None
    clock = Clock(12.0, 2)
    assert clock.limit(5) == pytest.approx(3, abs=0.1)  # three rounds of two, and the last one
    assert clock.limit(0) == pytest.approx(12, abs=0.1)
    assert clock.limit(5, spare=8, least=2) == 2
    assert clock.limit(0, spare=12, least=20) == pytest.approx(12, abs=0.1)  # all that is left
    assert Clock(1e-9, 1).limit(0, least=20) == 1e-3
    assert not clock.is_over
    clock.preparation = 5  # no time for those of another fold, its searches, and a last one
    assert clock.is_over


def test_folds() -> None:
    y = np.array([0] * 10 + [1] * 3)
    folds = folds_of(5, y)
    assert len(folds) == 3
    assert all(len(set(y[fold.test])) == 2 for fold in folds)
    again = folds_of(5, y)
    assert all((a.test == b.test).all() for a, b in zip(folds, again, strict=True))
