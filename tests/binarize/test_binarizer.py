from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from goct.binarize import Above, After, Binarizer, IsTrue, Missing, OneOf
from goct.data import read_table
from goct.exceptions import BinarizationWarning

pd = pytest.importorskip("pandas")

floats = st.floats(-1e6, 1e6, allow_subnormal=False)
quiet = pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")

PEOPLE = {
    "age": [23, 35, 41, 60, 52, 30],
    "income": [1.5, None, 2.5, 9.0, None, 3.0],
    "job": ["cook", "nurse", "cook", None, "clown", "nurse"],
    "smoker": [True, False, None, True, False, False],
    "joined": [dt.date(2024, 1, d) for d in (1, 5, 9, 13, 17, 21)],
}
LABELS = ["no", "no", "no", "yes", "yes", "no"]


def names(binarizer: Binarizer) -> list[str]:
    return [condition.name for condition in binarizer.conditions_]


@pytest.mark.slow
@quiet
@parametrize_with_checks([Binarizer(), Binarizer("quantiles", 2), Binarizer("midpoints", 3)])
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


# ---------------------------------------------------------------- methods


def test_quantiles() -> None:
    X = np.array([[1.0, 10], [2, 10], [3, 20], [4, 20]])
    binarizer = Binarizer(n_thresholds=3).fit(X)
    assert names(binarizer) == ["x0 > 1.5", "x0 > 2", "x0 > 3.5", "x1 > 15"]
    assert binarizer.get_feature_names_out().tolist() == names(binarizer)
    assert binarizer.get_feature_names_out(["a", "b"]).tolist()[-1] == "b > 15"
    assert binarizer.thresholds_ == {"x0": [1.5, 2, 3.5], "x1": [15]}
    assert binarizer.transform(X).tolist() == [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [1, 1, 0, 1],
        [1, 1, 1, 1],
    ]


def test_mdlp_on_iris() -> None:
    iris = load_iris(as_frame=True)
    binarizer = Binarizer("mdlp").fit(iris.data, iris.target_names[iris.target])
    assert list(binarizer.thresholds_.values()) == [
        [5.55, 6.15],
        [2.95, 3.35],
        [2.45, 4.75],
        [0.8, 1.75],
    ]
    assert names(binarizer)[0] == "sepal length (cm) > 5.55"
    one = Binarizer("mdlp", n_thresholds=1).fit(iris.data, iris.target)
    assert one.thresholds_["petal width (cm)"] == [0.8]


def test_midpoints() -> None:
    X = np.arange(6.0)[:, None]
    y = [0, 0, 1, 1, 0, 1]
    assert Binarizer("midpoints").fit(X, y).thresholds_ == {"x0": [1.5, 3.5, 4.5]}
    assert Binarizer("midpoints", 1).fit(X, y).thresholds_ == {"x0": [1.5]}


def test_given_thresholds() -> None:
    frame = pd.DataFrame(PEOPLE)
    given = {"age": [50, 30, 30], "joined": ["2024-01-10", dt.date(2024, 1, 3)]}
    binarizer = Binarizer("quantiles", 1, thresholds=given).fit(frame)
    assert binarizer.thresholds_ == {
        "age": [30, 50],
        "income": [2.8],
        "joined": ["2024-01-03", "2024-01-10"],
    }
    again = Binarizer(thresholds=binarizer.thresholds_).fit(frame, LABELS)
    assert again.thresholds_ == binarizer.thresholds_
    assert Binarizer(thresholds={1: [5], "x0": [2]}).fit([[1, 5], [3, 9]]).thresholds_ == {
        "x0": [2],
        "x1": [5],
    }


def test_zero_one_columns_are_conditions_already() -> None:
    X = np.array([[0, 1], [1, 1], [1, 0]])
    binarizer = Binarizer("none").fit(X)
    assert binarizer.conditions_ == [IsTrue("x0"), IsTrue("x1")]
    assert binarizer.transform(X).tolist() == X.tolist()
    with pytest.raises(ValueError, match="value 2 at row 1, column 1; it must be 0 or 1"):
        Binarizer("none").fit([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match=r"value 0.5 at row 0, column 0; it must be 0 or 1"):
        binarizer.transform([[0.5, 1]])
    with pytest.raises(TypeError, match="column 0 of X must hold truth values, got text"):
        Binarizer("none").fit([["a"], ["b"]])


def test_columns_that_mdlp_does_not_cut() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.random(200), y + rng.random(200) / 2, rng.integers(0, 2, 200)])
    # The last column has two values: there is nothing to choose.
    assert {c.column for c in Binarizer("mdlp").fit(X, y).conditions_} == {"x1", "x2"}
    kept = Binarizer("mdlp", no_cut="quantiles").fit(X, y)
    assert len(kept.thresholds_["x0"]) == 3
    with pytest.warns(BinarizationWarning, match="quantiles instead"):
        noise = Binarizer("mdlp").fit(X[:, :1], y)
    assert noise.conditions_ == Binarizer("quantiles").fit(X[:, :1]).conditions_


def test_nothing_to_tell_apart() -> None:
    with pytest.warns(BinarizationWarning, match="no column has two different values"):
        binarizer = Binarizer().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert binarizer.transform(np.ones((3, 2))).shape == (3, 0)


def test_weights() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=80).round(1), rng.integers(0, 9, 80)])
    y = (X[:, 0] + rng.normal(size=80) / 2 > 0).astype(int)
    weight = rng.integers(0, 4, 80)
    for method in ("mdlp", "quantiles", "midpoints"):
        weighted = Binarizer(method).fit(X, y, sample_weight=weight)
        repeated = Binarizer(method).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert weighted.conditions_ == repeated.conditions_
    plain = Binarizer("mdlp").fit(X, y)
    assert plain.conditions_
    assert Binarizer("mdlp").fit(X, y, np.full(80, 1 / 80)).conditions_ == plain.conditions_


# ------------------------------------------------------------ column kinds


def test_a_table_of_all_kinds() -> None:
    binarizer = Binarizer("quantiles", 1).fit(pd.DataFrame(PEOPLE))
    assert binarizer.kinds_ == ["number", "number", "category", "boolean", "date"]
    assert binarizer.conditions_ == [
        Above("age", 40),
        Above("income", 2.8),
        Missing("income"),
        OneOf("job", ("clown",)),
        OneOf("job", ("cook",)),
        OneOf("job", ("nurse",)),
        Missing("job"),
        IsTrue("smoker"),
        Missing("smoker"),
        After("joined", "2024-01-11"),
    ]
    assert binarizer.transform(pd.DataFrame(PEOPLE))[3].tolist() == [1, 1, 0, 0, 0, 0, 1, 1, 0, 1]


def test_rare_levels_share_a_condition() -> None:
    column = [["a"]] * 50 + [["b"]] * 30 + [["c"]] * 10 + [["d"]] * 8 + [["e"]] * 2
    assert names(Binarizer(min_frequency=0.1).fit(column))[-1] == "x0 in {d, e}"
    assert names(Binarizer(min_frequency=9).fit(column))[-1] == "x0 in {d, e}"
    assert names(Binarizer(max_levels=3).fit(column)) == ["x0 = a", "x0 = b", "x0 in {c, d, e}"]
    assert names(Binarizer(max_levels=5).fit(column))[-1] == "x0 = e"
    weights = np.repeat([1, 1, 1, 10, 1], [50, 30, 10, 8, 2])
    assert names(Binarizer(max_levels=2).fit(column, sample_weight=weights))[0] == "x0 = d"
    ids = [[f"id{i}"] for i in range(200)] + [[None]]
    assert names(Binarizer().fit(ids)) == ["x0 is missing"]
    assert len(Binarizer(min_frequency=None, max_levels=None).fit(ids).conditions_) == 201


def test_levels_that_were_not_there() -> None:
    binarizer = Binarizer().fit([["a"], ["b"], ["b"]])
    assert binarizer.transform([["z"], [None], ["a"]]).tolist() == [[0, 0], [0, 0], [1, 0]]


def test_categories_of_pandas_are_levels() -> None:
    frame = pd.DataFrame({"size": pd.Categorical([1, 2, None, 2])})
    assert names(Binarizer().fit(frame)) == ["size = 1", "size = 2", "size is missing"]


def test_equal_numbers_are_the_same_level() -> None:
    wanted = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    columns = [
        pd.Categorical([1, 2, None, 2]),
        pd.Categorical([1.0, 2.0, np.nan, 2.0]),
        pd.Categorical(pd.array([1, 2, None, 2], dtype="Int64")),
        pd.Series([1, 2, None, 2]),  # floats, because of the missing one
        pd.Series([1, 2, None, 2], dtype="Int64"),
        pd.Series(["1", "2", None, "2"]),
    ]
    for fitted in columns[:3]:
        binarizer = Binarizer().fit(pd.DataFrame({"size": fitted}))
        assert binarizer.levels_ == {"size": [1, 2]}
        assert names(binarizer) == ["size = 1", "size = 2", "size is missing"]
        for column in columns:
            assert binarizer.transform(pd.DataFrame({"size": column})).tolist() == wanted
    halves = Binarizer().fit(pd.DataFrame({"x": pd.Categorical([0.5, 1.5, np.inf, 0.5])}))
    assert names(halves) == ["x = 0.5", "x = 1.5", "x = inf"]


def test_truth_values_as_levels() -> None:
    frame = pd.DataFrame({"x": pd.Categorical([True, False, None])})
    binarizer = Binarizer().fit(frame)
    assert binarizer.levels_ == {"x": [False, True]}
    for column in ([True, False, None], pd.array([True, False, None], dtype="boolean")):
        assert (
            binarizer.transform(pd.DataFrame({"x": column})) == binarizer.transform(frame)
        ).all()
    with pytest.raises(TypeError, match="must hold text, got numbers"):
        binarizer.transform(pd.DataFrame({"x": [1.0, 0.0]}))


def test_missing_where_nothing_was_missing() -> None:
    binarizer = Binarizer("quantiles", 1).fit([[1.0, "a"], [2.0, "b"]])
    assert names(binarizer) == ["x0 > 1.5", "x1 = a", "x1 = b"]
    assert binarizer.transform([[None, None]]).tolist() == [[0, 0, 0]]
    whole = pd.DataFrame({"a": [1.0, 2], "b": ["u", "v"]})
    binarizer = Binarizer("quantiles", 1).fit(whole)
    nothing = pd.DataFrame({"a": [np.nan], "b": [np.nan]})
    assert binarizer.transform(nothing).tolist() == [[0, 0, 0]]


def test_an_empty_column() -> None:
    frame = pd.DataFrame({"a": [1.0, 2], "void": [np.nan, np.nan]})
    with pytest.warns(BinarizationWarning, match="'void' has no value"):
        binarizer = Binarizer("quantiles").fit(frame)
    assert binarizer.kinds_ == ["number", "empty"]
    assert binarizer.transform(frame.assign(void="text")).tolist() == [[0], [1]]


def test_dates_in_many_forms() -> None:
    days = ["2024-01-01", "2024-01-05", "2024-01-09"]
    stamps = pd.to_datetime(days)
    wanted = [After("when", "2024-01-07")]
    for column in (
        stamps,
        stamps.tz_localize("UTC"),
        stamps.astype("datetime64[ns]"),
        [dt.date.fromisoformat(day) for day in days],
        [dt.datetime.fromisoformat(day) for day in days],
        [dt.datetime.fromisoformat(f"{day}T00:00+00:00") for day in days],
        [np.datetime64(day) for day in days],
    ):
        frame = pd.DataFrame({"when": column})
        assert Binarizer(n_thresholds=1).fit(frame).conditions_ == wanted
    array = np.array(days, dtype="datetime64[D]")[:, None]
    assert names(Binarizer(n_thresholds=1).fit(array)) == ["x0 > 2024-01-07"]


def test_numbers_in_many_forms() -> None:
    wanted = [Above("x0", 1.5)]
    for column in (
        [[1], [2]],
        [[Decimal(1)], [Decimal(2)]],
        np.array([[1], [2]], dtype=object),
        np.array([[True], [2]], dtype=object),
        np.array([[1], [2]], dtype=np.float32),
        np.array([[1], [2]], dtype=np.int8),
    ):
        assert Binarizer(n_thresholds=1).fit(column).conditions_ == wanted


def test_types_of_other_frames() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    texts = ["a", "b", None]
    levels = ["x = a", "x = b", "x is missing"]
    enum = pl.DataFrame({"x": pl.Series(texts, dtype=pl.Enum(["a", "b"]))})  # has an order
    assert names(Binarizer().fit(enum)) == ["x ≥ b", "x is missing"]
    for frame in (
        pl.DataFrame({"x": pl.Series(texts, dtype=pl.Categorical)}),
        pa.table({"x": pa.array(texts).dictionary_encode()}),
        pd.DataFrame({"x": pd.array(texts, dtype="string[pyarrow]")}),
    ):
        assert names(Binarizer().fit(frame)) == levels
    numbers = [1, 2, None]
    for frame in (
        pl.DataFrame({"x": numbers}).cast(pl.Decimal(10, 2)),
        pa.table({"x": pa.array(numbers, pa.uint8())}),
        pd.DataFrame({"x": pd.array(numbers, dtype="int64[pyarrow]")}),
    ):
        assert names(Binarizer(n_thresholds=1).fit(frame)) == ["x > 1.5", "x is missing"]
    with pytest.raises(TypeError, match=r"\('x'\) of X holds values of the type List"):
        Binarizer().fit(pl.DataFrame({"x": [[1], [2]]}))


# --------------------------------------------------- any kind of data frame


def tables(data: dict[str, list]) -> dict[str, object]:
    """Return the same table as every kind of frame, and as rows."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    return {
        "pandas": pd.DataFrame(data),
        "pandas nullable": pd.DataFrame(data).convert_dtypes(),
        "polars": pl.DataFrame(data, strict=False),
        "pyarrow": pa.table(data),
    }


@st.composite
def mixed_tables(draw) -> dict[str, list]:
    n = draw(st.integers(2, 12))
    kinds = {
        "number": st.floats(-100, 100, allow_subnormal=False) | st.integers(-5, 5).map(float),
        "count": st.integers(-3, 3),
        "level": st.sampled_from(["a", "b", "long level", ""]),
        "flag": st.booleans(),
        "day": st.dates(dt.date(1950, 1, 1), dt.date(2090, 1, 1)),
    }
    data = {}
    for name, values in kinds.items():
        column = draw(st.lists(st.none() | values, min_size=n, max_size=n))
        column[0] = draw(values)  # not all missing: such a column has no type
        data[name] = column
    return data


@pytest.mark.slow
@quiet
@settings(max_examples=40)
@given(mixed_tables(), st.data())
def test_all_frames_give_the_same(data, more) -> None:
    n = len(data["number"])
    y = more.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    method = more.draw(st.sampled_from(["mdlp", "quantiles", "midpoints"]))
    frames = tables(data)
    rows = [list(row) for row in zip(*data.values(), strict=True)]
    reference = Binarizer(method).fit(frames["pandas"], y)
    matrix = reference.transform(frames["pandas"])
    for kind, frame in frames.items():
        binarizer = Binarizer(method).fit(frame, y)
        assert binarizer.conditions_ == reference.conditions_, kind
        assert (binarizer.transform(frame) == matrix).all(), kind
        assert (reference.transform(frame) == matrix).all(), kind
    nameless = Binarizer(method).fit(rows, y)
    assert (nameless.transform(rows) == matrix).all()
    assert nameless.get_feature_names_out(list(data)).tolist() == names(reference)

    # Each output column says what its condition says, value by value.
    table = read_table(frames["polars"])
    for condition, column in zip(reference.conditions_, matrix.T, strict=True):
        j = list(data).index(condition.column)
        values = table.column(j, reference.kinds_[j]).values
        assert (condition.holds(values) == column).all()

    # And so it does after a journey through JSON.
    loaded = Binarizer.from_dict(json.loads(json.dumps(reference.to_dict())))
    assert loaded.conditions_ == reference.conditions_
    assert loaded.thresholds_ == reference.thresholds_
    assert (loaded.transform(frames["pyarrow"]) == matrix).all()


@quiet
@given(hnp.arrays(np.float64, (12, 3), elements=floats), st.sampled_from(["quantiles", "mdlp"]))
def test_names_say_what_the_columns_hold(X, method) -> None:
    binarizer = Binarizer(method, 2)
    conditions = binarizer.fit_transform(X, X[:, 0] > 0)
    for name, column in zip(binarizer.get_feature_names_out(), conditions.T, strict=True):
        source, threshold = name.split(" > ")
        assert ((X[:, int(source[1:])] > float(threshold)) == column).all()


def test_columns_are_found_by_name() -> None:
    frame = pd.DataFrame({"age": [20, 30, 40], "size": [1.5, 1.6, 1.8]})
    binarizer = Binarizer(n_thresholds=1).fit(frame)
    assert binarizer.get_feature_names_out().tolist() == ["age > 35", "size > 1.7"]
    shuffled = frame.assign(more="text")[["more", "size", "age"]]
    assert (binarizer.transform(shuffled) == binarizer.transform(frame)).all()
    with pytest.raises(ValueError, match=r"X lacks the column 'size'.*it has 'age'"):
        binarizer.transform(frame[["age"]])
    with pytest.warns(UserWarning, match="have no names"):
        binarizer.transform(frame.to_numpy())
    nameless = Binarizer().fit(frame.to_numpy())
    with pytest.warns(UserWarning, match="have names"):
        nameless.transform(frame)


# ------------------------------------------------------ scikit-learn manners


def test_scikit_learn_manners() -> None:
    binarizer = Binarizer(n_thresholds=2)
    assert clone(binarizer).n_thresholds == 2
    assert binarizer.fit_transform(np.eye(3)).shape == (3, 3)
    frame = pd.DataFrame(PEOPLE)
    out = Binarizer().set_output(transform="pandas").fit_transform(frame)
    assert "job = cook" in out.columns
    assert out.index.equals(frame.index)
    polars = pytest.importorskip("polars")
    out = Binarizer().set_output(transform="polars").fit_transform(polars.DataFrame(PEOPLE))
    assert isinstance(out, polars.DataFrame)
    steps = make_pipeline(Binarizer("mdlp").set_output(transform="pandas"), Binarizer("none"))
    steps.fit(frame, LABELS)
    assert steps.get_feature_names_out()[0] == "age > 46.5"
    again = pickle.loads(pickle.dumps(steps))
    assert (again.transform(frame) == steps.transform(frame)).all()


def test_refitting_forgets() -> None:
    binarizer = Binarizer().fit(pd.DataFrame({"a": [1, 2]}))
    binarizer.fit([[1, 2], [3, 4]])
    assert not hasattr(binarizer, "feature_names_in_")


@pytest.mark.slow
def test_a_hundred_thousand_rows_of_fifty_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 50))
    y = X[:, 7] + rng.normal(size=100_000) > 0.3
    binarizer = Binarizer("mdlp").fit(X, y)
    assert {c.column for c in binarizer.conditions_} == {"x7"}
    assert len(binarizer.conditions_) > 5


@pytest.mark.slow
def test_ten_thousand_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((20, 10_000)).round(2)
    binarizer = Binarizer("quantiles", 1).fit(X)
    assert binarizer.transform(X).shape == (20, 10_000)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[1.0], [np.inf]], ValueError, "inf at row 1, column 0"),
        (pd.DataFrame({"a": [1.0, -np.inf]}), ValueError, r"-inf at row 1, column 0 \('a'\)"),
        ([[1, 2], [3, "a"]], TypeError, r"column 1 of X mixes numbers \(2 at row 0\) and text"),
        (
            pd.DataFrame({"a": ["x", None, dt.date(2024, 1, 1)]}),
            TypeError,
            r"\('a'\) of X mixes text \('x' at row 0\) and dates",
        ),
        ([[10**400], [2]], ValueError, "column 0 of X holds a number that is too large"),
        ([[{"a": 1}], [2]], TypeError, "type dict at row 0, column 0"),
        (pd.DataFrame({"t": pd.to_timedelta([1, 2])}), TypeError, r"\('t'\) of X holds.*Duration"),
        (np.array([[b"a"], [b"b"]]), TypeError, "column 0 of X holds values of the type"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        ([1, 2], ValueError, "two-dimensional"),
        ([[1, 2], [3]], ValueError, "equally long"),
        (np.empty((0, 2)), ValueError, "no rows"),
        (pd.DataFrame({"a": []}), ValueError, "no rows"),
        (pd.DataFrame(index=range(3)), ValueError, "0 feature"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "same name.*'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), ValueError, "same name, '1'"),
    ],
)
def test_bad_tables(X, error, message) -> None:
    with pytest.raises(error, match=f"(?s){message}"):
        Binarizer().fit(X)


def test_tables_of_other_kinds() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="sparse"):
        Binarizer().fit(sparse.csr_matrix(np.eye(2)))
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        Binarizer().fit(polars.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"method": "mdpl"}, ValueError, "unknown method 'mdpl'"),
        ({"method": "mdlp"}, ValueError, "requires y"),
        ({"method": "midpoints"}, ValueError, "requires y"),
        ({"n_thresholds": 0}, ValueError, "n_thresholds"),
        ({"n_thresholds": 1.5}, TypeError, "n_thresholds"),
        ({"no_cut": "keep"}, ValueError, "no_cut"),
        ({"min_frequency": -0.1}, ValueError, "min_frequency"),
        ({"min_frequency": "1%"}, TypeError, "min_frequency"),
        ({"max_levels": 1}, ValueError, "max_levels"),
        ({"thresholds": [1]}, TypeError, "must map columns"),
        ({"thresholds": {"age": 3}}, TypeError, "'age' must be a list"),
        ({"thresholds": {"agee": [3]}}, ValueError, "'agee', which X does not have"),
        ({"thresholds": {"age": ["a"]}}, TypeError, "thresholds of 'age' must be numbers"),
        ({"thresholds": {"age": [np.nan]}}, ValueError, "thresholds of 'age'"),
        ({"thresholds": {"job": [3]}}, ValueError, "'job', which is neither"),
        ({"thresholds": {"joined": ["soon"]}}, ValueError, "'joined' must be dates"),
    ],
)
def test_bad_parameters(parameters, error, message) -> None:
    with pytest.raises(error, match=message):
        Binarizer(**parameters).fit(pd.DataFrame(PEOPLE))


def test_bad_labels_and_weights() -> None:
    X = [[1], [2], [3]]
    with pytest.raises(ValueError, match="3 rows but y has 2"):
        Binarizer().fit(X, [0, 1])
    with pytest.raises(ValueError, match="missing label at row 1"):
        Binarizer().fit(X, ["a", None, "b"])
    with pytest.raises(ValueError, match="-1 at row 2"):
        Binarizer().fit(X, sample_weight=[1, 1, -1])
    with pytest.raises(ValueError, match="zero everywhere"):
        Binarizer().fit(X, sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="one-dimensional"):
        Binarizer().fit(X, sample_weight=np.ones((3, 1)))


def test_auto_adds_quantiles_to_the_cuts_of_mdlp() -> None:
    iris = load_iris(as_frame=True)
    cuts = {name: set(t) for name, t in Binarizer("mdlp").fit(*iris_of(iris)).thresholds_.items()}
    both = Binarizer().fit(*iris_of(iris)).thresholds_
    for name, thresholds in both.items():
        assert cuts[name] <= set(thresholds)
        assert len(cuts[name]) < len(thresholds) <= len(cuts[name]) + 32
        assert thresholds == sorted(thresholds)
    few = Binarizer(n_thresholds=3).fit(*iris_of(iris)).thresholds_
    assert all(len(thresholds) <= 3 for thresholds in few.values())
    # Without labels there are quantiles only; in a wide table there are none.
    assert Binarizer().fit(iris.data).thresholds_ == (
        Binarizer("quantiles").fit(iris.data).thresholds_
    )
    wide = np.random.default_rng(0).normal(size=(60, 129))
    y = wide[:, 0] > 0
    assert Binarizer().fit(wide, y).thresholds_ == Binarizer("mdlp").fit(wide, y).thresholds_


def iris_of(bunch: Any) -> tuple[Any, Any]:
    return bunch.data, bunch.target


def test_other_types_at_transform() -> None:
    frame = pd.DataFrame(PEOPLE)
    binarizer = Binarizer("quantiles").fit(frame)
    for column, wrong, error, message in [
        ("age", "old", TypeError, r"column 0 \('age'\) of X must hold numbers, got text \('old'"),
        ("job", 3, TypeError, r"\('job'\) of X must hold text, got numbers \(3.0 at row 0"),
        ("smoker", 7, ValueError, r"value 7 at row 0, column 3 \('smoker'\); it must be 0 or 1"),
        ("joined", "x", TypeError, r"\('joined'\) of X must hold dates, got text"),
    ]:
        with pytest.raises(error, match=message):
            binarizer.transform(frame.assign(**{column: wrong}))
    assert binarizer.transform(frame.assign(smoker=1.0)).shape == (6, len(binarizer.conditions_))
    assert binarizer.transform(frame.assign(age=True)).shape == (6, len(binarizer.conditions_))
    # A column without a condition is not looked at.
    assert Binarizer("mdlp").fit(frame, LABELS).transform(frame.assign(joined="x")).shape[0] == 6


def test_shapes() -> None:
    binarizer = Binarizer().fit([[1.0, 2], [3, 4]])
    with pytest.raises(ValueError, match="1 features, but Binarizer is expecting 2"):
        binarizer.transform([[1.0]])
    with pytest.raises(ValueError, match="got 1 names"):
        binarizer.get_feature_names_out(["a"])
    named = Binarizer().fit(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(["b"])


def test_conditions_of_the_same_name() -> None:
    frame = pd.DataFrame({"a": [1, 2], "a > 1.5": [True, False]})
    with pytest.raises(ValueError, match=r"both give a condition 'a > 1.5'; rename"):
        Binarizer().fit(frame)


# -------------------------------------------------------------- saved models


def test_saved_data() -> None:
    binarizer = Binarizer("quantiles", 1).fit(pd.DataFrame(PEOPLE))
    data = binarizer.to_dict()
    assert data["columns"][2] == {"name": "job", "kind": "category"}
    assert data["conditions"][0] == {"kind": "above", "column": "age", "threshold": 40.0}
    nameless = Binarizer.from_dict(Binarizer().fit([[1.0], [2.0]]).to_dict())
    assert nameless.transform([[1.7]]).tolist() == [[1]]
    assert nameless.n_features_in_ == 1


def _alter(change):
    data = copy.deepcopy(Binarizer("quantiles", 1).fit(pd.DataFrame(PEOPLE)).to_dict())
    change(data)
    return data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema="goct.binarizer/2"), "unknown schema"),
        (lambda d: d.pop("columns"), "must have the entries"),
        (lambda d: d.update(more=1), "must have the entries"),
        (lambda d: d.update(has_names="yes"), "has_names"),
        (lambda d: d.update(has_names=False), "must be called x0"),
        (lambda d: d.update(columns=[]), "at least one column"),
        (lambda d: d["columns"].append(3), "a name and a kind"),
        (lambda d: d["columns"][0].update(kind="text"), "one of the kinds"),
        (lambda d: d["columns"][0].update(name=4), "text as its name"),
        (lambda d: d["columns"][1].update(name="age"), "same name"),
        (lambda d: d["columns"][0].update(kind="category"), "does not go with"),
        (lambda d: d["columns"][0].update(name="other"), "not there"),
        (lambda d: d.update(conditions={}), "must be a list"),
        (lambda d: d["conditions"].append(d["conditions"][0]), "the same"),
        (lambda d: d["conditions"][0].update(threshold="40"), "finite number"),
        (lambda d: d["conditions"][0].update(kind="beyond"), "one of the kinds"),
    ],
)
def test_altered_data(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        Binarizer.from_dict(_alter(change))


def test_altered_beyond_recognition() -> None:
    with pytest.raises(ValueError, match="must be a mapping"):
        Binarizer.from_dict([])


def test_columns_without_conditions() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": np.arange(60),
            "name": [f"n{i}" for i in range(60)],
            "noise": rng.random(60),
            "same": 1,
            "good": np.repeat([1.5, 2.5, 3.5], 20),
        }
    )
    y = np.repeat([0, 1, 0], 20)
    usual = Binarizer("mdlp").fit(table, y)
    assert usual.id_columns_ == ["id", "name"]
    assert usual.dropped_columns_ == {
        "name": "every row has a value of its own",
        "noise": "no cut is worth it",
        "same": "it has the same value everywhere",
    }
    assert "id" in Binarizer("mdlp", drop_ids=True).fit(table, y).dropped_columns_
    kept = Binarizer("mdlp", drop_ids=False, min_frequency=None, max_levels=None).fit(table, y)
    assert "name" not in kept.dropped_columns_
    with pytest.raises(ValueError, match="unknown drop_ids 'all'; allowed: 'text'"):
        Binarizer(drop_ids="all").fit(table, y)


def test_ordered_categories_are_at_least_a_level() -> None:
    sizes = pd.Categorical(["low", "mid", "high"] * 20, ["low", "mid", "high"], ordered=True)
    y = np.where(sizes == "low", 0, 1)
    for method in ("mdlp", "quantiles", "exact"):
        fitted = Binarizer(method).fit(pd.DataFrame({"size": sizes}), y)
        assert "size ≥ mid" in fitted.get_feature_names_out()
        place = fitted.get_feature_names_out().tolist().index("size ≥ mid")
        assert (fitted.transform(pd.DataFrame({"size": sizes}))[:, place] == y).all()
        again = Binarizer.from_dict(fitted.to_dict())
        assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


def test_two_values_are_cut_without_a_criterion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goct.binarize.chooser.mdlp_gaps", None)
    X, y = np.array([[0.0, 3.0], [1.0, 4.0]] * 5), [0, 1] * 5
    assert Binarizer().fit(X, y).get_feature_names_out().tolist() == ["x0 > 0.5", "x1 > 3.5"]


def test_output_as_a_data_frame() -> None:
    X = pd.DataFrame({"a": [0, 1] * 5})
    frame = Binarizer("quantiles").set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == ["a > 0.5"]
