"""Options are read once, and wrong ones are named."""

from __future__ import annotations

import pytest

from goct import Problem, solve
from goct.metrics import (
    CustomMetric,
)
from goct.mip import BACKENDS
from tests.support.mip import (
    MARKEDNESS,
    SMALL,
    check_optimum,
    noisy_arrays,
    skip_if_missing,
)


def test_missing_backends_are_named_with_their_extra(monkeypatch) -> None:
    monkeypatch.setattr(BACKENDS["gurobi"], "module", "no_such_solver", raising=False)
    with pytest.raises(ImportError, match=r"needs no_such_solver: pip install 'goct\[gurobi\]'"):
        solve(SMALL, "accuracy", 1, engine="mip", backend="gurobi")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"backend": "highs"}, ValueError, "'scip' and 'gurobi' can"),
        ({"backend": "highs", "formulation": "wflow", "cuts": {"pairs": True}}, ValueError, "can"),
        ({"threads": 2}, ValueError, "'gurobi' and 'highs' can"),
        ({"cuts": {"magic": True}}, ValueError, "unknown family of cuts 'magic'"),
        ({"cuts": ["pairs"]}, TypeError, "cuts must map"),
        ({"cuts": {"pairs": "no"}}, TypeError, r"cuts\['pairs'\] must be True or False, got 'no'"),
        ({"integer_flow": "yes"}, TypeError, "integer_flow must be True or False"),
        ({"heuristic_share": True}, TypeError, "heuristic_share must be a number"),
        ({"log": 1}, TypeError, "log must be True or False"),
        ({"gap": -1}, ValueError, "gap must not be negative"),
        ({"max_rounds": -1}, ValueError, "max_rounds must be at least 0"),
        ({"max_cuts": 0}, ValueError, "max_cuts must be at least 1"),
        ({"min_violation": 0}, ValueError, "min_violation must be positive"),
        ({"solver_parameters": 3}, TypeError, "solver_parameters must map names to values"),
    ],
)
def test_wrong_options(options, error, message) -> None:
    skip_if_missing(options.get("backend", "scip"))
    with pytest.raises(error, match=message):
        solve(SMALL, "accuracy", 1, engine="mip", **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"injection": "magic"}, ValueError, "unknown injection 'magic'"),
        ({"node_heuristic": "magic"}, ValueError, "unknown node_heuristic 'magic'"),
        ({"injection_share": 0}, ValueError, "injection_share must be above 0"),
        ({"heuristic_share": 2}, ValueError, "heuristic_share must be above 0 and at most 1"),
        ({"feature_step": 0}, ValueError, "feature_step must be at least 1"),
        ({"heuristic_features": 0}, ValueError, "heuristic_features must be at least 1"),
        ({"heuristic_every": 0}, ValueError, "heuristic_every must be at least 1"),
    ],
)
def test_wrong_options_of_warm_starts_and_heuristics(options, error, message) -> None:
    X, y = noisy_arrays(0)
    with pytest.raises(error, match=message):
        solve(Problem.from_arrays(X, y), "accuracy", 1, engine="mip", **options)


def test_miqp_needs_a_solver_for_products() -> None:
    skip_if_missing("highs")
    options = {"backend": "highs", "formulation": "wflow", "linearization": "none"}
    with pytest.raises(ValueError, match="needs products of variables, which the backend 'highs'"):
        solve(Problem.from_arrays(*noisy_arrays(0)), "f1", 1, engine="mip", **options)


def test_parametric_refuses_what_may_lie_inside_the_hull() -> None:
    X, y = noisy_arrays(0)
    with pytest.raises(ValueError, match="'gmean' is monotone: its best tree may lie inside"):
        solve(Problem.from_arrays(X, y), "gmean", 2, engine="mip", method="parametric")


def test_auto_takes_the_engine_that_can() -> None:
    X, y = noisy_arrays(6)
    solution = solve(Problem.from_arrays(X, y), MARKEDNESS, 2)
    assert solution.stats["engine"] == "mip"
    check_optimum(solution, X, y, 2)
    with pytest.raises(ValueError, match="search engine cannot maximise"):
        solve(Problem.from_arrays(X, y), CustomMetric(lambda tp, _fp, _fn, _tn: tp), 2)
