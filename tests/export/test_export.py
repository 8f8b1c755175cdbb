"""Each export predicts what the model predicts."""

from __future__ import annotations

import re
import sqlite3
from datetime import datetime
from typing import Any

import numpy as np
import pytest

import goct
from goct.binarize.conditions import Above, Missing, OneOf
from goct.binarize.table import read_table
from goct.export import FORMATS, export_dot, export_python, export_rules, export_sql, export_text
from goct.export.paths import Clause, in_words, paths
from goct.model import Model
from goct.tree import Leaf, Split, Tree
from tests.models import COLUMNS, HOSTILE, model_of, random_model, random_rows, small_model

SEEDS = range(15)


@pytest.fixture(params=SEEDS)
def case(request: pytest.FixtureRequest) -> tuple[Model, dict[str, list[Any]], list[Any]]:
    rng = np.random.default_rng(request.param)
    classes = [("no", 'it\'s "yes"'), (0, 1, 2), (False, True)][request.param % 3]
    model = random_model(rng, depth=5, classes=classes)
    rows = random_rows(rng, 300)
    return model, rows, model.predict(rows).tolist()


def test_sql(case: tuple[Model, dict[str, list[Any]], list[Any]]) -> None:
    model, rows, expected = case
    database = sqlite3.connect(":memory:")
    kinds = {"number": "REAL", "category": "TEXT", "date": "TEXT", "boolean": "INTEGER"}
    names = {name: '"' + name.replace('"', '""') + '"' for name in rows}
    columns = ", ".join(f"{names[n]} {kinds[COLUMNS[n].kind]}" for n in rows)
    database.execute(f"CREATE TABLE t (place INTEGER, {columns})")
    for i, row in enumerate(zip(*rows.values(), strict=True)):
        values = [str(v) if isinstance(v, datetime) else v for v in row]
        database.execute(
            f"INSERT INTO t VALUES ({','.join('?' * (len(values) + 1))})", [i, *values]
        )
    found = database.execute(f"SELECT {export_sql(model)} FROM t ORDER BY place").fetchall()
    assert [value for (value,) in found] == expected


def test_dates_without_time_in_sql() -> None:
    database = sqlite3.connect(":memory:")
    names = tuple(c.name for c in small_model().conditions)
    sql = export_sql(model_of(Tree(Split(4, Leaf(0), Leaf(1)), ("no", "yes"), names)))
    for text, expected in [("2024-03-01", "no"), ("2024-03-02", "yes"), (None, "no")]:
        row = database.execute(f"SELECT {sql} FROM (SELECT ? AS joined)", [text]).fetchone()
        assert row == (expected,)


def test_python(case: tuple[Model, dict[str, list[Any]], list[Any]]) -> None:
    model, rows, expected = case
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


def test_python_function_names() -> None:
    for name in ("class", "a b", "x); import os"):
        with pytest.raises(ValueError, match="not a name"):
            export_python(small_model(), name)


def test_rules(case: tuple[Model, dict[str, list[Any]], list[Any]]) -> None:
    model, rows, expected = case
    table = read_table(rows)
    values = {
        name: table.column(j, COLUMNS[name].kind).values for j, name in enumerate(table.names or [])
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


def test_dot(case: tuple[Model, dict[str, list[Any]], list[Any]]) -> None:
    model, rows, expected = case
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
