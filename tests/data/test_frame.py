from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from goct import OptimalTreeClassifier, Problem, solve
from goct.data import read_table
from goct.data.csv_file import read_csv

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

LABELS = [0, 1, 1, 0]
NEAR = [2**60, 2**60 + 100, 2**60 + 200, 2**60 + 300]  # floats are 256 apart
MAKERS = {
    "numpy": lambda values: np.array(values)[:, None],
    "objects": lambda values: np.array(values, dtype=object)[:, None],
    "unsigned": lambda values: np.array(values, dtype=np.uint64)[:, None],
    "mapping": lambda values: {"x0": values},
    "pandas": lambda values: pd.DataFrame({"x0": values}),
    "pandas with missing": lambda values: pd.DataFrame({"x0": pd.array(values, dtype="Int64")}),
    "polars": lambda values: pl.DataFrame({"x0": values}),
    "pyarrow": lambda values: pa.table({"x0": values}),
}
if hasattr(pl, "Int128"):  # from polars 1.18 on
    MAKERS["polars wide"] = lambda values: pl.DataFrame({"x0": pl.Series(values, dtype=pl.Int128)})


@pytest.fixture(params=MAKERS)
def make(request) -> Any:
    return MAKERS[request.param]


def test_integers_that_are_the_same_float_are_refused_where_every_threshold_counts(make) -> None:
    with pytest.raises(ValueError, match=r"'x0' holds 115.*76 and 115.*, but thresholds are 64"):
        Problem.from_columns(make([*NEAR, NEAR[0] + 1]), [*LABELS, 1])


def test_integers_beyond_floats_fall_on_their_side_of_a_threshold(make) -> None:
    far = [2**60 + 256 * i for i in range(4)]
    model = OptimalTreeClassifier("accuracy", 1, binarizer="exact").fit(make(far), [0, 0, 1, 1])
    cut = int(model.binarizer_.thresholds_["x0"][1])
    beside = [cut + i for i in (-1, 0, 1, 2)]
    assert model.predict(make(beside)).tolist() == [0, 0, 1, 1]


KINDS: dict[str, list[Any]] = {
    "decimals": [Decimal("0.1"), Decimal("0.1000000000000000000001"), Decimal(3)],
    "fractions": [Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**30), Fraction(2)],
    "long doubles": [np.longdouble(1), np.nextafter(np.longdouble(1), 2), np.longdouble(3)],
    "nanoseconds": [pd.Timestamp(t) for t in (0, 1, 10**9)],
    "moments of numpy": [np.datetime64(t, "ns") for t in (0, 1, 10**9)],
}


@pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)
def test_values_beyond_floats_and_microseconds_are_rounded_up(values: list[Any]) -> None:
    column = read_table(np.array([*values, None], dtype=object)[:, None]).column(0)
    assert column.merged() is None
    assert column.values[0] < column.values[1] < column.values[2]
    assert column.missing.tolist() == [False, False, False, True]


@pytest.mark.parametrize("unit", ["pandas", "polars", "pyarrow"])
def test_nanoseconds_within_a_microsecond(unit: str) -> None:
    moments = np.array([0, 1, 2, 10**9], dtype="datetime64[ns]")
    frame = {
        "pandas": pd.DataFrame({"when": moments}),
        "polars": pl.DataFrame({"when": moments}),
        "pyarrow": pa.table({"when": moments}),
    }[unit]
    assert read_table(frame).column(0).values.astype(int).tolist() == [0, 1, 1, 10**6]
    with pytest.raises(ValueError, match=r"'when' holds 1970.*1 and 1970.*2, but .* microseconds"):
        Problem.from_columns(frame, LABELS)


def test_nanoseconds_with_gaps_in_an_arrow_column_of_pandas() -> None:
    moments = pd.array([pd.Timestamp(1), None, pd.Timestamp(10**9)], dtype="timestamp[ns][pyarrow]")
    column = read_table(pd.DataFrame({"when": moments})).column(0)
    assert column.values.astype(int)[[0, 2]].tolist() == [1, 10**6]
    assert column.missing.tolist() == [False, True, False]


def has_float(low: int, high: int) -> bool:
    """Say whether a float t has ``low <= t < high``."""
    near = float(low)
    return any(low <= int(t) < high for t in (near, np.nextafter(near, np.inf)))


@pytest.mark.parametrize("seed", range(20))
def test_random_integers_are_all_told_apart_or_refused(seed: int, make) -> None:
    rng = np.random.default_rng(seed)
    values = 2 ** int(rng.integers(50, 60)) + rng.integers(0, 1500, 5)
    y = rng.integers(0, 2, 5)
    y[:2] = [0, 1]
    if not all(has_float(*pair) for pair in pairwise(sorted(set(values.tolist())))):
        with pytest.raises(ValueError, match="none tells them apart"):
            Problem.from_columns(make(values.tolist()), y)
        return
    most = sum(max(np.bincount(y[values == v])) for v in np.unique(values))
    problem = Problem.from_columns(make(values.tolist()), y)
    assert solve(problem, "accuracy", 4).value == Fraction(int(most), 5)


def test_decimals_are_the_floats_of_the_same_digits() -> None:
    column = read_table({"a": [Decimal("0.3"), Decimal("0.7"), Decimal("2")]}).column(0)
    assert column.values.tolist() == [0.3, 0.7, 2.0]
    assert column.exact is None or column.merged() is None


def test_categories_that_are_written_alike_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'a'.* has the categories 1 and '1'.*rename one"):
        read_table(pd.DataFrame({"a": pd.Categorical([1, "1", 2])})).column(0)


def test_large_integers_of_a_file(tmp_path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("id\n9007199254740993\n9007199254740994\n1e300\n\n5\n")
    column = read_csv(path).column(0)
    assert column.merged() == (9007199254740993, 9007199254740994)
    assert column.values[2] == 1e300


def test_days_stay_days() -> None:
    column = read_table({"d": [dt.date(2024, 1, 2), None, np.datetime64("2024-01-03")]}).column(0)
    assert column.exact is None
    assert column.values.astype(str).tolist()[::2] == [
        "2024-01-02T00:00:00.000000",
        "2024-01-03T00:00:00.000000",
    ]
