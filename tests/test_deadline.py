"""Time limits hold before a search begins, too."""

from __future__ import annotations

import time

import numpy as np
import pytest

from goct import OptimalTreeClassifier, Problem, _core
from goct._deadline import check_deadline, deadline, seconds_left, timed
from goct.binarize import Binarizer
from goct.cart import seconds_for_cart
from goct.exceptions import NoTreeError


def test_what_is_left() -> None:
    assert seconds_left() is None
    assert seconds_left(3.0) == 3.0
    with deadline(100):
        assert 99 < seconds_left() <= 100
        check_deadline("work was done")
        with deadline(None):
            assert seconds_left() is None
    with deadline(1e-9):
        assert seconds_left() == 1e-3
        with pytest.raises(NoTreeError, match=r"limit of 1e-09 s was reached while work was done"):
            check_deadline("work was done")
    assert seconds_left() is None


def test_the_core_stops_in_time() -> None:
    X = np.random.default_rng(0).integers(0, 2, (3000, 3000), dtype=np.uint8)
    for work in (_core.group_rows, _core.match_columns):
        with pytest.raises(TimeoutError):
            work(X, 0.0)
        with deadline(1e-9), pytest.raises(NoTreeError, match="while rows were merged"):
            timed("rows were merged", work, X)
        assert len(work(X, 1e9)) == len(work(X))


def test_preparing_counts() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((4000, 3)), rng.integers(0, 2, 4000)
    started = time.process_time()
    with pytest.raises(NoTreeError, match=r"the time limit of 0\.01 s was reached while "):
        OptimalTreeClassifier(binarizer="midpoints", time_limit=0.01).fit(X, y)
    assert time.process_time() - started < 2  # all of it takes longer


def test_conditions_are_the_same_in_blocks() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    binarizer = Binarizer("midpoints").fit(X, rng.integers(0, 2, 5000))
    matrix = binarizer.transform(X)
    for j in rng.integers(0, matrix.shape[1], 50).tolist():
        condition = binarizer.conditions_[j]
        values = X[:, int(condition.column[1:])]
        assert (matrix[:, j] == condition.holds(values)).all()
    assert sum("missing" in condition.name for condition in binarizer.conditions_) == 2


def test_cart_is_left_out_where_it_would_take_long() -> None:
    problem = Problem.from_arrays(np.eye(8, dtype=np.uint8), [0, 1] * 4)
    assert seconds_for_cart(problem) < 1e-3
