"""Conditions that are made on demand: all thresholds of a column at once."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from goct import Problem
from goct.binarize import Above, After, Binarizer, IsTrue, Missing, OneOf
from goct.binarize.condition_list import ConditionList, Cuts
from tests.support.tables import random_table

FRAME = pd.DataFrame(
    {
        "age": [30, 41, 41, 25, np.nan],
        "job": ["cook", "nurse", "cook", "cook", None],
        "joined": pd.to_datetime(
            ["2024-01-01", "2024-01-03", "2024-01-01", None, "2024-01-03 12:30"], format="ISO8601"
        ),
        "member": [True, False, True, True, False],
        "one": [1, 1, 1, 1, 1],
    }
)
NAMES = [
    "age > 27.5",
    "age > 35.5",
    "age is missing",
    "job = cook",
    "job = nurse",
    "job is missing",
    "joined > 2024-01-02",
    "joined > 2024-01-03",
    "joined is missing",
    "member",
]


def test_all_kinds_of_columns() -> None:
    binarizer = Binarizer("exact").fit(FRAME)
    conditions = binarizer.conditions_
    assert list(binarizer.feature_names) == binarizer.get_feature_names_out().tolist() == NAMES
    assert [c.name for c in conditions] == NAMES
    assert conditions[1] == Above("age", 35.5)
    assert conditions[-1] == IsTrue("member")
    assert conditions[3:7] == [
        OneOf("job", ("cook",)),
        OneOf("job", ("nurse",)),
        Missing("job"),
        After("joined", "2024-01-02"),
    ]
    assert binarizer.rank_sizes.tolist() == [3, 2, 2, 2, 2, 3, 2, 2]
    assert binarizer.owner == [0, 0, 1, 1, 1, 2, 2, 3]
    assert binarizer.ranks(FRAME).T.tolist() == [
        [1, 2, 2, 0, 0],
        [0, 0, 0, 0, 1],
        [1, 0, 1, 1, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1],
        [0, 1, 0, 0, 2],
        [0, 0, 0, 1, 0],
        [1, 0, 1, 1, 0],
    ]
    assert binarizer.thresholds_["age"].tolist() == [27.5, 35.5]


def test_the_matrix_is_that_of_the_conditions() -> None:
    binarizer = Binarizer("exact").fit(FRAME)
    plain = Binarizer.from_dict(binarizer.to_dict())
    assert not plain.has_ranks
    assert np.array_equal(binarizer.transform(FRAME), plain.transform(FRAME))
    assert np.array_equal(binarizer.evaluate(FRAME, [8, 0]), plain.transform(FRAME)[:, [8, 0]])


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame])
def test_frames_of_every_make(make) -> None:
    expected = Binarizer("exact").fit(FRAME).ranks(FRAME)
    frame = make(FRAME)
    assert np.array_equal(Binarizer("exact").fit(frame).ranks(frame), expected)
    problem = Problem.from_columns(frame, [0, 1, 0, 1, 1])
    assert list(problem.feature_names) == NAMES
    assert list(problem.column_names) == list(FRAME.columns)


@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_ranks_count_the_thresholds_below() -> None:
    for seed in range(40):
        X, _, _ = random_table(seed)
        binarizer = Binarizer("exact").fit(X)
        matrix = binarizer.transform(X)
        place = 0
        for ranks, size in zip(binarizer.ranks(X).T, binarizer.rank_sizes, strict=True):
            part = matrix[:, place : place + size - 1]
            assert np.array_equal(part.sum(axis=1), ranks)
            place += size - 1
        assert place == matrix.shape[1] == len(binarizer.conditions_)
        # Every two values that differ are told apart, and nothing else is.
        for j, values in enumerate(X.T):
            mine = [k for k, c in enumerate(binarizer.conditions_) if c.column == f"x{j}"]
            kinds = len({v if v == v else None for v in values.tolist()})
            told = np.unique(matrix[:, mine], axis=0)
            assert len(told) == (1 if np.isnan(values).all() else kinds)


SIZES = ["small", "mid", "large", "huge"]


def ordered(kind: str) -> object:
    values = ["mid", "small", None, "huge", "mid"]
    if kind == "pandas":
        return pd.DataFrame({"size": pd.Categorical(values, SIZES, ordered=True)})
    if kind == "polars":
        return pl.DataFrame({"size": pl.Series(values, dtype=pl.Enum(SIZES))})
    codes = pa.array([None if v is None else SIZES.index(v) for v in values], pa.int8())
    return pa.table({"size": pa.DictionaryArray.from_arrays(codes, pa.array(SIZES), ordered=True)})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_ordered_categories_are_cut_anywhere(kind) -> None:
    frame = ordered(kind)
    binarizer = Binarizer("exact").fit(frame)
    names = ["size ≥ mid", "size ≥ huge", "size is missing"]
    assert list(binarizer.feature_names) == names
    assert [binarizer.feature_names.index(name) for name in names] == [0, 1, 2]
    assert binarizer.ranks(frame).T.tolist() == [[1, 0, 0, 2, 1], [0, 0, 1, 0, 0]]
    assert binarizer.ranks({"size": ["large", "huge"]}).tolist() == [[0, 0], [2, 0]]
    assert np.array_equal(
        binarizer.transform(frame), Binarizer.from_dict(binarizer.to_dict()).transform(frame)
    )
    assert np.array_equal(binarizer.evaluate(frame, [1]), binarizer.transform(frame)[:, [1]])
    unordered = pd.DataFrame({"size": pd.Categorical(["mid", "small", "huge"])})
    assert Binarizer("exact").fit(unordered).feature_names[0] == "size = huge"


def test_other_methods_cut_ordered_categories_like_numbers() -> None:
    values = ["small", "mid", "large", "huge"] * 6 + [None]
    frame = pd.DataFrame({"size": pd.Categorical(values, SIZES, ordered=True)})
    y = [v in ("large", "huge") for v in values]
    for method in ("mdlp", "midpoints"):
        binarizer = Binarizer(method).fit(frame, y)
        assert binarizer.feature_names == ("size ≥ large", "size is missing")
    binarizer = Binarizer("quantiles").fit(frame)
    assert binarizer.feature_names == (
        "size ≥ mid",
        "size ≥ large",
        "size ≥ huge",
        "size is missing",
    )
    assert binarizer.levels_ == {"size": sorted(SIZES)}


def test_categories_in_order_that_are_numbers() -> None:
    frame = pd.DataFrame({"grade": pd.Categorical([3, 1, 2], [1, 2, 3], ordered=True)})
    binarizer = Binarizer("exact").fit(frame)
    assert list(binarizer.feature_names) == ["grade ≥ 2", "grade ≥ 3"]
    assert binarizer.ranks({"grade": [1, 2, 3, 4]}).ravel().tolist() == [0, 1, 2, 0]


def test_names_are_found_without_making_all() -> None:
    rng = np.random.default_rng(0)
    binarizer = Binarizer("exact").fit({"a": rng.normal(size=300_000), "b": [0, 1] * 150_000})
    names = binarizer.feature_names
    assert len(names) == 300_000
    for place in (0, 17, 299_998, 299_999):
        assert names.index(names[place]) == place
    assert "a > 1e9" not in names
    assert "a" not in names
    assert "b > 0.5" in names
    with pytest.raises(ValueError, match="'a > x' is not a condition"):
        names.index("a > x")
    assert names == pickle.loads(pickle.dumps(names))
    assert hash(names) == hash(pickle.loads(pickle.dumps(names)))


def test_conditions_that_are_called_the_same() -> None:
    table = {"a": [0.0, 1.0, 2.0], "a > 1.5": [True, False, True]}
    with pytest.raises(ValueError, match=r"both give a condition 'a > 1\.5'; rename one"):
        Binarizer("exact").fit(table)


def test_equal_lists() -> None:
    lists = [ConditionList([Cuts("a", np.array([1.0, t])), Missing("a")]) for t in (2.0, 2.0, 3.0)]
    assert lists[0] == lists[1] != lists[2]
    assert lists[0].names == lists[1].names != lists[2].names
    assert len(ConditionList([])) == 0
    with pytest.raises(IndexError):
        lists[0][3]


def test_infinite_numbers() -> None:
    X = np.array([[1.0], [2.0], [np.inf]])
    with pytest.raises(ValueError, match=r"the value inf at row 2, column 0"):
        Binarizer("exact").fit(X)
    binarizer = Binarizer("exact").fit(X[:2])
    assert binarizer.ranks([[np.inf], [-np.inf], [np.nan]]).tolist() == [[1], [0], [0]]


def test_every_threshold_leaves_nothing_to_choose() -> None:
    with pytest.raises(ValueError, match="'exact' takes every threshold; leave out n_thresholds"):
        Binarizer("exact", n_thresholds=3).fit([[1], [2]])
    given = Binarizer("exact", thresholds={"x0": [5]}).fit([[1, 2], [9, 3]])
    assert list(given.feature_names) == ["x0 > 5", "x1 > 2.5"]
    with pytest.raises(ValueError, match="with the method 'exact' only, not 'quantiles'"):
        Binarizer("quantiles").fit([[1], [2]]).ranks([[1]])


def test_rows_of_weight_zero_have_no_thresholds() -> None:
    binarizer = Binarizer("exact").fit([[1], [2], [9]], None, [1, 1, 0])
    assert list(binarizer.feature_names) == ["x0 > 1.5"]
