"""ONNX is run by onnxruntime, and predicts what the model does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from goct.export import export_onnx
from goct.model import Model
from tests.export.conftest import COLUMNS, Case, as_number, microseconds
from tests.support.models import HOSTILE, hostile_model

pytest.importorskip("onnx")
runtime: Any = pytest.importorskip("onnxruntime")


def session(model: Model) -> Any:
    return runtime.InferenceSession(export_onnx(model), providers=["CPUExecutionProvider"])


def check(case: Case) -> None:
    given = {}
    for name in case.model.columns:
        values, kind = case.rows[name], COLUMNS[name].kind
        if kind == "category":
            array = np.array(["" if value is None else value for value in values], dtype=object)
        elif kind == "date":
            array = np.array(list(map(microseconds, values)))
        else:
            array = np.array(list(map(as_number, values)))
        given[name] = array.reshape(-1, 1)
    labels, shares = session(case.model).run(["label", "probabilities"], given)
    wanted = case.labels if type(case.labels[0]) is int else list(map(str, case.labels))
    assert labels.tolist() == wanted
    np.testing.assert_array_equal(shares, case.probabilities)


def test_what_a_frame_holds(case: Case) -> None:
    rows = {**case.rows, "job": [job or None for job in case.rows["job"]]}  # "" is missing
    check(Case.of(case.model, rows))


def test_what_a_file_holds(file_case: Case) -> None:
    check(file_case)


def test_hostile_names() -> None:
    model = hostile_model()
    made = session(model)
    given = {}
    for entry in made.get_inputs():
        kind = {"tensor(string)": object, "tensor(double)": float, "tensor(int64)": int}[entry.type]
        given[entry.name] = np.array([["" if kind is object else 0]], dtype=kind)
    (label,) = made.run(["label"], given)
    assert label[0] in ("no", HOSTILE)
