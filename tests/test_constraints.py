"""Constraints as objects and as text."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from goct import Problem, Status, solve
from goct.constraints import MaxFeatures, MetricConstraint, check_constraints, get_constraint
from goct.metrics import (
    F1,
    METRICS,
    Confusion,
    FalsePositives,
    Precision,
    PredictedPositives,
    Recall,
    Share,
)
from goct.tree import Leaf, Split, Tree

PROBLEM = Problem.from_arrays([[0], [0], [1], [1]], [0, 0, 0, 1])
CASES = json.loads((Path(__file__).parent / "limits.json").read_text(encoding="utf-8"))
TREE = Tree(Split(0, Leaf(0), Leaf(1)), PROBLEM.classes, PROBLEM.feature_names)


def test_comparisons_make_constraints() -> None:
    at_least = Recall() >= 0.9
    assert at_least == MetricConstraint(Recall(), ">=", Fraction(9, 10))
    assert at_least == (Recall() >= 0.9)
    assert at_least.name == "recall >= 0.9"
    assert (FalsePositives() <= 10).name == "false_positives <= 10"
    assert repr(at_least) == "<constraint recall >= 0.9>"


def test_they_are_checked_exactly() -> None:
    assert (Precision() >= 0.5).is_met(TREE, PROBLEM)
    assert not (Precision() >= Fraction(10**15 + 2, 2 * 10**15)).is_met(TREE, PROBLEM)
    assert (FalsePositives() <= 1).is_met(TREE, PROBLEM)
    assert not (FalsePositives() <= 0).is_met(TREE, PROBLEM)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("recall >= 0.9", Recall() >= 0.9),
        ("Sensitivity>=90%", Recall() >= 0.9),
        ("fp<=3", FalsePositives() <= 3),
        ("f1 >= 2/3", F1() >= Fraction(2, 3)),
    ],
)
def test_text_is_read(text, expected) -> None:
    assert get_constraint(text) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text']} {case['cells']}")
def test_the_table_of_conditions(case: Any) -> None:
    # tests/report/test_metrics.py has the page read the same ones
    problem = Problem.from_arrays([[1], [1], [0], [0]], [1, 0, 1, 0], sample_weight=case["cells"])
    tree = Tree(Split(0, Leaf(0), Leaf(1)), problem.classes, problem.feature_names)
    if "error" in case:
        with pytest.raises(ValueError, match=case["error"]):
            check_constraints(case["text"], problem)
        return
    (limit,) = check_constraints(case["text"], problem)
    assert limit.is_met(tree, problem) == case["kept"]


def test_shares_are_of_the_rows_at_hand() -> None:
    few = Problem.from_arrays([[1], [0], [0]], [0, 0, 1])
    alarms = get_constraint("alerts <= 50%")
    assert alarms == (Share(PredictedPositives()) <= 0.5) == get_constraint(alarms.name)
    assert alarms.describe(TREE, few) == "predicted_positives <= 50%  (it is 33.3333%)"
    assert alarms.describe(TREE, PROBLEM) == "predicted_positives <= 50%  (it is 50%)"
    (of_rows,) = (solve(PROBLEM, "recall", 1, constraints=t) for t in ["fp <= 34%"])
    assert of_rows.value == 1
    assert solve(PROBLEM, "recall", 1, constraints="fp <= 33%").value == 0


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ("recall > 0.9", ValueError, "cannot read the constraint 'recall > 0.9'"),
        ("recal >= 0.9", ValueError, "did you mean 'recall'"),
        ("recall >= much", ValueError, "cannot read the number 'much'"),
        ("recall >= 1/0", ValueError, "cannot read the number '1/0'"),
        ("recall >= 1e99999999", ValueError, "cannot read the number '1e99999999'"),
        (0.9, TypeError, "must be a list of constraints"),
        ([0.9], TypeError, "made like Recall"),
    ],
)
def test_errors_say_what_is_wrong(wrong, error, message) -> None:
    with pytest.raises(error, match=message):
        check_constraints(wrong, PROBLEM)


def test_the_engine_follows_from_them() -> None:
    for constraints, engine in [
        (["recall >= 0.5"], "search"),
        (["predicted_positives <= 2"], "mip"),
        ([MaxFeatures(1)], "search"),
    ]:
        solution = solve(PROBLEM, "recall", 1, constraints=constraints)
        assert solution.stats["engine"] == engine
        assert solution.value == 1
    with pytest.raises(ValueError, match="cannot handle the constraint 'predicted_positives <= 2'"):
        solve(PROBLEM, "f1", 1, constraints=["predicted_positives <= 2"], engine="search")


def test_python_cannot_chain_them() -> None:
    with pytest.raises(TypeError, match="two bounds as two constraints"):
        assert 0.2 <= Recall() <= 0.9
    with pytest.raises(TypeError, match=r"write recall >= 0\.5"):
        _ = Recall() > 0.5
    with pytest.raises(TypeError, match="not by another metric"):
        _ = Recall() >= Precision()


def test_constant_trees_must_meet_them_too() -> None:
    solution = solve(PROBLEM, "accuracy", 0, constraints=["recall >= 1"])
    assert solution.status is Status.OPTIMAL
    assert solution.tree.root == Leaf(1)
    nothing = solve(PROBLEM, "accuracy", 0, constraints=["recall >= 1", "fp <= 0"])
    assert nothing.status is Status.INFEASIBLE
    assert nothing.tree is None
    assert nothing.value is nothing.objective is nothing.gap is None
    assert (
        "infeasible: no tree of depth 0 over these features meets the constraints "
        "(recall >= 1, false_positives <= 0)" in nothing.summary()
    )


def test_the_summary_shows_them() -> None:
    solution = solve(PROBLEM, "accuracy", 1, constraints=["recall >= 0.9", "fp <= 1"])
    assert "constraint    recall >= 0.9  (it is 1)\n" in solution.summary()
    assert "constraint    false_positives <= 1  (it is 1)\n" in solution.summary()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("recall >= 99", "recall is at most 1; if 99 % is meant, write 0.99"),
        ("mcc >= 1.5", "mcc is at most 1"),
        ("precision <= -0.1", "precision is at least 0$"),
        ("false_positives <= -1", "false_positives is at least 0$"),
    ],
)
def test_bounds_out_of_range_are_refused(condition: str, message: str) -> None:
    problem = Problem.from_arrays([[0], [1], [1]], [0, 1, 0])
    with pytest.raises(ValueError, match=message):
        solve(problem, "f1", 1, constraints=[condition])


def test_ranges_hold() -> None:
    for make in METRICS.values():
        metric = make()
        low, high = metric.value_range
        if (low, high) == (None, None):
            continue
        for counts in product(range(4), repeat=4):
            value = metric.value(Confusion(*counts))
            assert low is None or value >= low
            assert high is None or value <= high
