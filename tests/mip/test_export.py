"""Models as files: what any solver finds in them is what the engines prove."""

from __future__ import annotations

import re
from pathlib import Path

import pyscipopt
import pytest

from goct import Problem, solve
from goct.mip import export_model
from tests.support.mip import SMALL, rule_arrays, skip_if_missing

QUESTIONS = [
    ("accuracy", {}),
    ("balanced_accuracy", {"split_penalty": 0.01}),
    ("f1", {"max_splits": 2}),
    ("recall", {"constraints": ["precision >= 0.6"], "min_leaf_weight": 3}),
]


def by_scip(path: Path) -> float:
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(str(path))
    scip.optimize()
    return float(scip.getObjVal())


def by_highs(path: Path) -> float:
    skip_if_missing("highs")
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    return float(highs.getInfo().objective_function_value)


@pytest.mark.parametrize("reader", [by_scip, by_highs])
@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize(("metric", "question"), QUESTIONS)
def test_any_solver_finds_the_optimum(metric, question, suffix, reader, tmp_path: Path) -> None:
    X, y = rule_arrays(14)
    problem = Problem.from_arrays(X, y)
    path = tmp_path / f"model{suffix}"
    export_model(path, problem, metric, 2, **question)
    head = path.read_text().splitlines()[1]
    offset, unit = 0.0, 1.0
    if linear := re.search(r"= ([-\d.e]+) \+ ([-\d.e]+) \* v", head):
        offset, unit = float(linear[1]), float(linear[2])
    best = solve(problem, metric, 2, **question).objective
    assert offset + unit * reader(path) == pytest.approx(float(best))


def test_the_comments_say_what_the_file_is(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    export_model(path, SMALL, "mcc", 1, formulation="flow")
    lines = [line for line in path.read_text().splitlines() if line.startswith("\\")]
    assert lines[0] == "\\ mcc of trees of depth 1; formulation flow, by goct"
    assert "roots are stated by planes above them" in lines[1]
    assert f"\\ column 0: {SMALL.feature_names[0]}" in lines
    assert any("trees without a split are no solutions" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("model.txt", {}, ValueError, r"must end in \.lp or \.mps"),
        ("m.lp", {"formulation": "benders"}, ValueError, "on demand.*use 'flow' or 'wflow'"),
        ("m.lp", {"cuts": {"pairs": True}}, ValueError, "rows that are found on demand"),
        ("m.lp", {"backend": "scip"}, TypeError, "unknown option 'backend' of a model file"),
        ("m.lp", {"max_depth": 0}, ValueError, "no tree with a split is possible"),
    ],
)
def test_what_fits_no_file(name, arguments, error, message, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        export_model(tmp_path / name, SMALL, **{"max_depth": 1, **arguments})
    assert not list(tmp_path.iterdir())
