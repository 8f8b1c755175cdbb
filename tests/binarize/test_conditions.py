from __future__ import annotations

import json

import numpy as np
import pytest

from goct.binarize.conditions import (
    Above,
    After,
    IsTrue,
    Missing,
    OneOf,
    condition_from_dict,
    plain_number,
)

CONDITIONS = [
    (Above("age", 50.0), "age > 50", [49.0, 50.5, np.nan], [0, 1, 0]),
    (
        After("joined", "2024-03-01"),
        "joined > 2024-03-01",
        np.array(["2024-03-01", "2024-03-01T01", "NaT"], dtype="datetime64[us]"),
        [0, 1, 0],
    ),
    (OneOf("job", ("cook",)), "job = cook", np.array(["cook", "x", None], dtype=object), [1, 0, 0]),
    (
        OneOf("job", ("cook", "nurse")),
        "job in {cook, nurse}",
        np.array(["nurse", "x", None], dtype=object),
        [1, 0, 0],
    ),
    (IsTrue("smoker"), "smoker", [0.0, 1.0, np.nan], [0, 1, 0]),
    (Missing("age"), "age is missing", [0.0, 1.0, np.nan], [0, 0, 1]),
    (
        Missing("joined"),
        "joined is missing",
        np.array(["2024-03-01", "NaT"], dtype="datetime64[us]"),
        [0, 1],
    ),
    (Missing("job"), "job is missing", np.array(["cook", None], dtype=object), [0, 1]),
]


@pytest.mark.parametrize(("condition", "name", "values", "expected"), CONDITIONS)
def test_conditions(condition, name, values, expected) -> None:
    assert condition.name == name
    assert condition.holds(np.asarray(values)).tolist() == [bool(e) for e in expected]
    assert condition_from_dict(json.loads(json.dumps(condition.to_dict()))) == condition


def test_many_levels_have_a_short_name() -> None:
    condition = OneOf("id", tuple(f"l{i}" for i in range(30)))
    assert condition.name == "id in {l0, l1, l2, l3, l4, l5, l6, l7 and 22 others}"


def test_plain_numbers() -> None:
    assert [plain_number(x) for x in (3.0, 0.1, -2.5, 1e300)] == ["3", "0.1", "-2.5", "1e+300"]


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"kind": ["above"], "column": "a", "threshold": 1},
        {"kind": "below", "column": "a", "threshold": 1},
        {"kind": "above", "column": "a"},
        {"kind": "above", "column": 3, "threshold": 1},
        {"kind": "above", "column": "a", "threshold": 1, "more": 2},
        {"kind": "above", "column": "a", "threshold": "1"},
        {"kind": "above", "column": "a", "threshold": True},
        {"kind": "above", "column": "a", "threshold": float("nan")},
        {"kind": "after", "column": "a", "moment": "today"},
        {"kind": "after", "column": "a", "moment": "2024-13-01"},
        {"kind": "after", "column": "a", "moment": 3},
        {"kind": "one_of", "column": "a", "levels": []},
        {"kind": "one_of", "column": "a", "levels": "ab"},
        {"kind": "one_of", "column": "a", "levels": ["a", 1]},
        {"kind": "one_of", "column": "a", "levels": ["a", "a"]},
        {"kind": "is_true", "column": "a", "threshold": 1},
    ],
)
def test_altered_data(data) -> None:
    with pytest.raises(ValueError, match=r"condition|ISO 8601"):
        condition_from_dict(data)
