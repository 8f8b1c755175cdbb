"""PMML is read by an engine that is not ours, and predicts what the model does."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from goct.export import export_pmml
from tests.export.conftest import Case, microseconds
from tests.support.models import HOSTILE, hostile_model, small_model


def check(case: Case) -> None:
    pypmml = pytest.importorskip("pypmml")
    try:
        model = pypmml.Model.fromString(export_pmml(case.model))
    except Exception as error:  # of Java, which may not be there
        pytest.skip(f"pypmml does not run: {error}")
    found = []
    for row in case.table:
        dated = {k: microseconds(v) if isinstance(v, datetime) else v for k, v in row.items()}
        found.append(model.predict({k: v for k, v in dated.items() if v is not None and v == v}))
    assert [row["prediction"] for row in found] == list(map(str, case.labels))
    shares = [[row[f"probability_{k}"] for k in range(len(case.model.classes))] for row in found]
    np.testing.assert_array_equal(shares, case.probabilities)


@pytest.mark.slow
def test_what_a_frame_holds(case: Case) -> None:
    check(case)


@pytest.mark.slow
def test_what_a_file_holds(file_case: Case) -> None:
    check(file_case)


def test_hostile_names() -> None:
    root = ET.fromstring(export_pmml(hostile_model()))
    scores = {node.get("score") for node in root.iter() if node.get("score") is not None}
    assert scores <= {"no", HOSTILE}
    with pytest.raises(ValueError, match="no way to write"):
        export_pmml(small_model(("no", "y\0")))
