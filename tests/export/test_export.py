"""Each export predicts what the model predicts."""

from __future__ import annotations

import csv
import re
import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import goct
from goct.binarize.conditions import Above, After, IsTrue, Missing, OneOf
from goct.data import read_csv, read_table
from goct.data.dialect import MISSING
from goct.export import FORMATS, export_dot, export_python, export_rules, export_sql, export_text
from goct.export.paths import Clause, in_words, paths
from goct.model import ColumnInfo, Model, Part, Proof, Quantity, Question, Source
from goct.tree import Leaf, Split, Tree
from tests.export.conftest import Case
from tests.support.models import COLUMNS, HOSTILE, model_of, random_model, small_model


def test_dates_without_time_in_sql() -> None:
    database = sqlite3.connect(":memory:")
    names = tuple(c.name for c in small_model().conditions)
    sql = export_sql(model_of(Tree(Split(4, Leaf(0), Leaf(1)), ("no", "yes"), names)))
    for text, expected in [("2024-03-01", "no"), ("2024-03-02", "yes"), (None, "no")]:
        row = database.execute(f"SELECT {sql} FROM (SELECT ? AS joined)", [text]).fetchone()
        assert row == (expected,)
    database.close()


def test_python(case: Case) -> None:
    model, rows, expected = case.model, case.rows, case.labels
    names: dict[str, Any] = {}
    exec(export_python(model, "classify"), names)
    table = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    assert [names["classify"](row) for row in table] == expected
    with_nan = [
        {k: float("nan") if v is None and k == "age" else v for k, v in row.items()}
        for row in table
    ]
    assert [names["classify"](row) for row in with_nan] == expected
    as_text = [
        {k: v.isoformat() if isinstance(v, datetime) else v for k, v in row.items()}
        for row in table
    ]
    assert [names["classify"](row) for row in as_text] == expected
    shares = [tuple(names["classify_proba"](row).values()) for row in table]
    np.testing.assert_array_equal(shares, case.probabilities)


RAW = {
    "age": ["", " ? ", "NA", "nan", "20", " 20.5 ", "50.5", "51", "8e1", "-3"],
    "job": ["", "?", " N/A", "null ", ' a "cook" ', 'a "cook"', " driver's mate", "nurse", "na"],
    "joined": ["", "NULL", "2024-03-01", " 2024-03-02 ", "2024-03-01 12:30:01", "2024-02-29"],
    "mem ber": ["", "?", "true", " TRUE ", "False", "false ", "1", " 0", "1.0"],
    'in"come': ["", "NaN", "-1", " -1e-7 ", "0", "3.5"],
}


@pytest.mark.parametrize("seed", range(15))
def test_the_text_of_cells_means_the_same_everywhere(seed: int, tmp_path: Path) -> None:
    """A file, a table of its text, the Python function, and SQL on text columns agree."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, depth=6, classes=("no", "yes"))
    model = replace(model, missing_words=tuple(sorted(MISSING)))
    texts = {
        name: [cells[i] for i in rng.integers(len(cells), size=200)] for name, cells in RAW.items()
    }
    rows = [dict(zip(texts, cells, strict=True)) for cells in zip(*texts.values(), strict=True)]
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(texts))
        writer.writeheader()
        writer.writerows(rows)
    table = read_csv(path, kinds={name: column.kind for name, column in COLUMNS.items()})
    expected = model.predict(table).tolist()

    assert model.predict(texts).tolist() == expected
    assert model.predict(pd.DataFrame(texts)).tolist() == expected
    names: dict[str, Any] = {}
    exec(export_python(model), names)
    with path.open(newline="") as file:
        assert [names["predict"](row) for row in csv.DictReader(file)] == expected

    database = sqlite3.connect(":memory:")
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in texts)
    database.execute(f"CREATE TABLE t ({quoted})")
    plain = {
        name: cells if name == "job" else [_plain(v) for v in table.columns[name].tolist()]
        for name, cells in texts.items()
    }
    database.executemany("INSERT INTO t VALUES (?,?,?,?,?)", zip(*plain.values(), strict=True))
    found = database.execute(f"SELECT {export_sql(model)} FROM t ORDER BY rowid").fetchall()
    database.close()
    assert [value for (value,) in found] == expected


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, datetime) else value


def test_text_is_taken_as_it_is_if_no_file_was_read() -> None:
    model = small_model()
    rows = {name: [None] * 3 for name in COLUMNS} | {
        "job": ["driver's mate", " driver's mate", "?"]
    }
    names: dict[str, Any] = {}
    exec(export_python(model), names)
    table = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    expected = ["yes", "no", "no"]
    assert model.predict(rows).tolist() == expected
    assert [names["predict"](row) for row in table] == expected
    assert "TRIM" not in export_sql(model)


class _OneQuestion:
    """A model that asks one question of the column x, and its exported function."""

    def __init__(self, condition: Any, column: ColumnInfo) -> None:
        self.model = Model(
            tree=Tree(Split(0, Leaf(0), Leaf(1)), (False, True), (condition.name,)),
            conditions=(condition,),
            columns={"x": column},
            positive=1,
            question=Question("accuracy", 1),
            proof=Proof(Quantity(1.0), Quantity(1.0), "optimal"),
            source=Source(),
            train=Part(((1, 1), (1, 0), (0, 1)), Quantity(1.0)),
        )
        self.names: dict[str, Any] = {}
        exec(export_python(self.model), self.names)

    def agree(self, *values: Any) -> list[bool]:
        """Return what the model says to each value, which the function must say, too."""
        expected = [bool(self.model.predict({"x": [value]})[0]) for value in values]
        assert [self.names["predict"]({"x": value}) for value in values] == expected
        return expected


def test_python_takes_numbers_as_the_model_does() -> None:
    huge = 2**53
    asked = _OneQuestion(Above("x", float(huge)), ColumnInfo("number"))
    assert asked.agree(huge, huge + 1, huge + 2, Decimal(huge + 2), Fraction(2 * huge + 3, 2)) == [
        *(False, True, True, True, True)
    ]
    asked = _OneQuestion(Above("x", 0.1), ColumnInfo("number"))
    assert asked.agree(0.1, np.float32(0.1), Decimal("0.1"), Decimal("0.10000000000000000001")) == [
        *(False, True, False, True)
    ]
    nothing = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, Decimal("nan")]
    assert asked.agree(True, np.bool_(True), np.int64(1), *nothing) == [True] * 3 + [False] * 6
    assert asked.agree(float("inf"), float("-inf")) == [True, False]
    for text in ("inf", "-inf", "1e999", "1_000", "one"):
        with pytest.raises(ValueError, match=r"not a finite number|could not convert"):
            asked.names["predict"]({"x": text})


def test_python_takes_dates_as_the_model_does() -> None:
    asked = _OneQuestion(After("x", "2024-03-01T12:30:00"), ColumnInfo("date"))
    zone = timezone(timedelta(hours=2))
    later = [
        datetime(2024, 3, 1, 12, 30, 1),
        datetime(2024, 3, 1, 12, 30, 1, tzinfo=UTC),
        date(2024, 3, 2),
        np.datetime64("2024-03-02"),
        np.datetime64("2024-03-01T12:30:00.000000001", "ns"),
        pd.Timestamp("2024-03-01 12:30:00.000000001"),
        pd.Timestamp("2024-03-01 12:31"),
        pd.Timestamp("2024-03-01 12:31", tz="UTC"),
    ]
    earlier = [
        *(None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT", "s")),
        datetime(2024, 3, 1, 12, 30),
        datetime(2024, 3, 1, 14, 30, tzinfo=zone),
        date(2024, 3, 1),
        np.datetime64("2024-03"),
        pd.Timestamp("2024-03-01 12:31", tz="Europe/Berlin"),
    ]
    assert asked.agree(*later, *earlier) == [True] * len(later) + [False] * len(earlier)


def test_truth_values_and_missing_ones_in_python() -> None:
    values = [True, np.bool_(True), 1, 1.0, False, 0, None, pd.NA, float("nan")]
    assert (
        _OneQuestion(IsTrue("x"), ColumnInfo("boolean")).agree(*values) == [True] * 4 + [False] * 5
    )
    asked = _OneQuestion(Missing("x"), ColumnInfo("number"))
    assert asked.agree(None, pd.NA, pd.NaT, float("nan"), 0, 1.5) == [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    ("levels", "same", "other"),
    [
        ((1, 2), [1, 1.0, np.int8(1), np.float32(1), Decimal("1.00"), "1"], [2, 10, 1.5, "cook"]),
        ((0.5, 2), [0.5, Decimal("0.5"), np.float64(0.5)], [2.0, 5]),
        ((False, True), [True, np.bool_(True), "True"], [False, "true"]),
    ],
)
def test_categories_that_are_numbers(levels: Any, same: list[Any], other: list[Any]) -> None:
    wanted = levels[-1] if isinstance(levels[0], bool) else levels[0]
    asked = _OneQuestion(OneOf("x", (str(wanted),)), ColumnInfo("category", levels=levels))
    assert asked.agree(*same, *other) == [True] * len(same) + [False] * len(other)
    database = sqlite3.connect(":memory:")
    for kind in ("INTEGER", "REAL", "TEXT") if levels == (1, 2) else ("NUMERIC",):
        database.execute(f"CREATE TABLE {kind.lower()}_t (x {kind})")
        database.executemany(f"INSERT INTO {kind.lower()}_t VALUES (?)", [(wanted,), (None,), (7,)])
        sql = f"SELECT {export_sql(asked.model)} FROM {kind.lower()}_t ORDER BY rowid"
        assert database.execute(sql).fetchall() == [(1,), (0,), (0,)]
    database.close()


def test_rules_name_all_levels() -> None:
    levels = tuple(f"level {i}" for i in range(40))
    model = _OneQuestion(OneOf("x", levels), ColumnInfo("category", levels=levels)).model
    first, second = export_rules(model).splitlines()
    for level in levels:
        assert f"{level}," in first or f"{level}}}" in first
        assert f"{level}," in second or f"{level}}}" in second
    assert "and 32 others" in export_text(model)  # a drawing may be short


def test_python_function_names() -> None:
    for name in ("class", "a b", "x); import os"):
        with pytest.raises(ValueError, match="not a name"):
            export_python(small_model(), name)


def test_rules(case: Case) -> None:
    model, rows, expected = case.model, case.rows, case.labels
    table = read_table(rows)
    values = {
        name: table.column(j, COLUMNS[name].kind, is_finite=False).values
        for j, name in enumerate(table.names or [])
    }
    predicted = np.full(table.n_rows, -1)
    for node, path in zip(model.tree.nodes(), paths(model), strict=True):
        if isinstance(node, Leaf):
            applies = np.ones(table.n_rows, dtype=bool)
            for clause in path:
                applies &= clause.holds(values[clause.column])
            assert (predicted[applies] == -1).all()  # exactly one rule applies
            predicted[applies] = node.label
            if in_words(path) == "never":
                assert not applies.any()
            for clause in path:  # the words say about missing values what the clause does
                words = "missing" in clause.words and "not missing" not in clause.words
                if COLUMNS[clause.column].has_missing and clause.words != "never":
                    assert words == clause.allows_missing
    assert [model.classes[k] for k in predicted] == expected
    assert len(export_rules(model).splitlines()) == model.tree.n_leaves


def test_words_of_clauses() -> None:
    def words(*met: Any, unmet: tuple[Any, ...] = (), has_missing: bool = False) -> str:
        return Clause("x", met, unmet, has_missing).words

    assert words(Above("x", 1.0), Above("x", 2.5)) == "x > 2.5"
    assert words(Above("x", 1.0), unmet=(Above("x", 3.0), Above("x", 4.0))) == "1 < x ≤ 3"
    assert words(unmet=(Above("x", 3.0),), has_missing=True) == "x ≤ 3 or missing"
    assert words(unmet=(Above("x", 3.0), Missing("x")), has_missing=True) == "x ≤ 3"
    assert words(Above("x", 3.0), unmet=(Above("x", 3.0),)) == "never"
    assert words(Missing("x"), unmet=(Above("x", 3.0),)) == "x is missing"
    assert words(unmet=(Missing("x"),)) == "x is not missing"
    assert words(OneOf("x", ("a", "b", "c")), unmet=(OneOf("x", ("b",)),)) == "x in {a, c}"
    assert words(unmet=(OneOf("x", ("b",)), OneOf("x", ("c",)))) == "x not in {b, c}"
    assert words(unmet=(OneOf("x", ("b",)),)) == "x ≠ b"
    assert words(OneOf("x", ("a, b", "c", " d", ""))) == 'x in {"a, b", c, " d", ""}'
    assert words(OneOf("x", ("it's {",))) == 'x = "it\'s {"'


def test_dot(case: Case) -> None:
    model, rows, expected = case.model, case.rows, case.labels
    text = export_dot(model)
    nodes = dict(re.findall(r'^  (n\d+) \[label="((?:[^"\\]|\\.)*)"', text, re.MULTILINE))
    edges = {
        (a, answer): b
        for a, b, answer in re.findall(r'^  (n\d+) -> (n\d+) \[label="(yes|no)"\];', text, re.M)
    }
    matrix = model.matrix(rows)
    questions = {
        c.name.replace("\\", "\\\\").replace('"', '\\"') + "?": j
        for j, c in enumerate(model.conditions)
    }
    found = []
    for row in matrix:
        at = "n0"
        while (at, "yes") in edges:
            at = edges[at, "yes" if row[questions[nodes[at]]] else "no"]
        found.append(nodes[at].split("\\n")[0].replace('\\"', '"'))
    assert found == [str(label) for label in expected]


@pytest.mark.parametrize("format", FORMATS)
def test_hostile_names_stay_inside_their_quotes(format: str) -> None:
    model = small_model(("no", HOSTILE + "\n"))
    text = FORMATS[format](model)
    assert HOSTILE + "\n" not in text or format == "sql"
    assert "<script>" not in text or format not in ("pmml", "javascript")
    if format == "python":
        exec(text, {})


def test_text_of_everything_with_a_tree() -> None:
    model = small_model()
    assert str(model) == export_text(model)
    assert export_text(model).startswith("age > 50.5?\n├─ no  ")
    problem = goct.Problem.from_arrays([[0], [1]], ["a", "b"])
    solution = goct.solve(problem, "accuracy", 1)
    assert export_text(solution) == "x0?\n├─ no  → a  (1 of 1 right)\n└─ yes → b  (1 of 1 right)"
    assert export_text(solution.tree) == "x0?\n├─ no  → a\n└─ yes → b"
    classifier = goct.OptimalTreeClassifier("accuracy", max_depth=1, binarizer="none")
    classifier.fit(np.array([[0], [1]]), ["a", "b"])
    assert export_text(classifier) == export_text(solution)
    fitted = Model.from_estimator(classifier)
    for name, export in FORMATS.items():
        if name != "python":  # it writes when the model was made
            assert export(classifier) == export(fitted)
    assert "def predict(row):" in export_python(classifier)
