from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from goct.binarize import Binarizer
from goct.binarize.thresholds import quantile_thresholds, short_decimal

floats = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=floats), st.integers(1, 5))
def test_thresholds_lie_between_values(values, k) -> None:
    thresholds = quantile_thresholds(values, k)
    assert thresholds == sorted(set(thresholds))
    assert len(thresholds) <= k
    assert bool(thresholds) == (len(set(values.tolist())) > 1)
    for threshold in thresholds:
        assert 0 < (values > threshold).sum() < len(values)


@given(floats, floats)
def test_short_decimal(a, b) -> None:
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= short_decimal(low, high) < high


def test_short_decimals_are_short() -> None:
    assert short_decimal(1.23456, 2.98765) == 2.0
    assert short_decimal(0.14071, 0.14239) == 0.142


def test_conditions() -> None:
    X = np.array([[1.0, 10], [2, 10], [3, 20], [4, 20]])
    binarizer = Binarizer(n_thresholds=3).fit(X)
    names = binarizer.get_feature_names_out().tolist()
    assert names == ["x0 > 1.5", "x0 > 2", "x0 > 3.5", "x1 > 15"]
    assert binarizer.get_feature_names_out(["a", "b"]).tolist()[-1] == "b > 15"
    assert binarizer.transform(X).tolist() == [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [1, 1, 0, 1],
        [1, 1, 1, 1],
    ]


@given(hnp.arrays(np.float64, (12, 3), elements=floats))
def test_names_say_what_the_columns_hold(X) -> None:
    binarizer = Binarizer(2).fit(X)
    conditions = binarizer.transform(X)
    for name, column in zip(binarizer.get_feature_names_out(), conditions.T, strict=True):
        source, threshold = name.split(" > ")
        assert ((X[:, int(source[1:])] > float(threshold)) == column).all()


def test_scikit_learn_manners() -> None:
    binarizer = Binarizer(n_thresholds=2)
    assert clone(binarizer).get_params() == {"n_thresholds": 2}
    assert binarizer.fit_transform(np.eye(3)).shape == (3, 3)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[1.0], [np.nan]], ValueError, "nan at row 1, column 0"),
        ([[1.0], [np.inf]], ValueError, "inf at row 1"),
        ([["a"], ["b"]], TypeError, "column 0 of X is not numeric"),
        ([1, 2], ValueError, "two-dimensional"),
        (np.empty((0, 2)), ValueError, "no rows"),
    ],
)
def test_bad_tables(X, error, message) -> None:
    with pytest.raises(error, match=message):
        Binarizer().fit(X)


def test_bad_parameters_and_shapes() -> None:
    with pytest.raises(ValueError, match="n_thresholds"):
        Binarizer(0).fit([[1], [2]])
    binarizer = Binarizer().fit([[1.0, 2], [3, 4]])
    with pytest.raises(ValueError, match="1 columns, expected 2"):
        binarizer.transform([[1.0]])
    with pytest.raises(ValueError, match="2 names"):
        binarizer.get_feature_names_out(["a"])


def test_column_names_of_a_data_frame() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [20, 30, 40], "size": [1.5, 1.6, 1.8]})
    binarizer = Binarizer(1).fit(frame)
    assert binarizer.get_feature_names_out().tolist() == ["age > 35", "size > 1.7"]
    with pytest.raises(ValueError, match="expected"):
        binarizer.transform(frame[["size", "age"]])
