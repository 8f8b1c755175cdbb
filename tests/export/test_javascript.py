"""JavaScript source is run by node, and predicts what the model does."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct.binarize.conditions import AtLeast
from goct.export import export_javascript
from goct.export.javascript import js_value
from goct.model import ColumnInfo, Model, Part, Proof, Quantity, Question, Source
from goct.tree import Leaf, Split, Tree
from tests.export.conftest import Case
from tests.support.models import HOSTILE, hostile_model

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node")
RUN = """
const special = {Infinity, "-Infinity": -Infinity, NaN, undefined};
const rows = JSON.parse(process.argv[2], (key, value) =>
  value && value.special !== undefined ? special[value.special]
    : value && value.date !== undefined ? new Date(value.date) : value);
console.log(JSON.stringify(rows.map((row) => [predict(row), predictProba(row)])));
"""


def as_js(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"special": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    return {"date": f"{value.isoformat()}Z"} if isinstance(value, datetime) else value


def run(source: str, rows: list[dict[str, Any]], folder: Path) -> list[Any]:
    path = folder / "tree.mjs"
    path.write_text(source + RUN, encoding="utf-8")
    made = subprocess.run(
        [str(NODE), path, json.dumps(rows)], check=True, capture_output=True, text=True
    )
    found: list[Any] = json.loads(made.stdout)
    return found


def check(case: Case, folder: Path) -> None:
    source = export_javascript(case.model)
    as_dates = [{name: as_js(value) for name, value in row.items()} for row in case.table]
    found = run(source, as_dates, folder)
    assert [label for label, _ in found] == case.labels
    np.testing.assert_array_equal([shares for _, shares in found], case.probabilities)


@needs_node
def test_what_a_frame_holds(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@needs_node
def test_what_a_file_holds(file_case: Case, tmp_path: Path) -> None:
    check(file_case, tmp_path)
    as_text = [
        {
            name: f" {value.isoformat()}\t" if isinstance(value, datetime) else as_js(value)
            for name, value in row.items()
        }
        for row in file_case.table
    ]
    found = run(export_javascript(file_case.model), as_text, tmp_path)
    assert [label for label, _ in found] == file_case.labels


@needs_node
def test_hostile_names(tmp_path: Path) -> None:
    source = export_javascript(hostile_model())
    assert "<script>" not in source
    ((label, _),) = run(source, [{}], tmp_path)
    assert label in ("no", HOSTILE)


def test_values() -> None:
    assert js_value("</script>\u2028é") == '"\\u003c/script\\u003e\\u2028\\u00e9"'


@needs_node
def test_ordered_categories(tmp_path: Path) -> None:
    condition = AtLeast("size", ("mid", "large"))
    tree = Tree(Split(0, Leaf(0), Leaf(1)), ("no", "yes"), (condition.name,))
    model = Model(
        tree=tree,
        conditions=(condition,),
        columns={"size": ColumnInfo("category", levels=("small", "mid", "large"))},
        positive=1,
        question=Question("accuracy", 1),
        proof=Proof(Quantity(1.0), Quantity(1.0), "optimal"),
        source=Source(),
        train=Part(((1, 1), (1, 0), (0, 1)), Quantity(1.0)),
    )
    sizes = ["small", "mid", "large", None, "huge"]
    found = run(export_javascript(model), [{"size": size} for size in sizes], tmp_path)
    assert [label for label, _ in found] == model.predict({"size": sizes}).tolist()
