"""Bounds that are honest about the solver's tolerances, control of the search, and interrupts."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status
from goct.metrics import IntegerObjective, Rewards
from goct.mip.backends import gurobi, scip
from goct.mip.backends.base import BackendError, MipResult
from goct.mip.benders import BendersCuts
from goct.mip.engine import BACKENDS
from goct.mip.question import proven_bound
from tests.mip.alone import solve
from tests.mip.test_formulations import skip_if_missing
from tests.support.problems import check_stopped, hard_problem
from tests.support.processes import interrupt


def test_bounds_are_rounded_down_to_possible_values() -> None:
    rewards = Rewards(np.array([[3, 0], [0, 4], [2, 2]]), Fraction(1, 9), Fraction(0))
    lattice = IntegerObjective(rewards, Fraction(0))
    assert proven_bound(lattice, np.inf) == 1  # every row at its best
    assert proven_bound(lattice, 7.2) == Fraction(7, 9)
    assert proven_bound(lattice, 6.999999) == Fraction(7, 9)  # within the tolerance of 7
    assert proven_bound(lattice, 6.99) == Fraction(6, 9)


def test_penalties_make_the_lattice_finer() -> None:
    rewards = Rewards(np.array([[3, 0], [0, 4]]), Fraction(1, 7), Fraction(0))
    lattice = IntegerObjective(rewards, Fraction(1, 10))
    assert (lattice.factor, lattice.split_cost, lattice.unit) == (10, 7, Fraction(1, 70))


def test_negative_rewards_are_shifted() -> None:
    rewards = Rewards(np.array([[-3, 0], [-1, -4]]), Fraction(1), Fraction(5))
    lattice = IntegerObjective(rewards, Fraction(0))
    assert lattice.gains.tolist() == [[0, 3], [3, 0]]
    assert proven_bound(lattice, np.inf) == 5 - 1


def test_values_too_fine_for_floats_are_not_called_proven() -> None:
    """With objective values around 1e9 a float bound cannot tell neighbours apart."""
    rewards = Rewards(np.array([[10**9, 0], [0, 10**9]]), Fraction(1), Fraction(0))
    assert proven_bound(IntegerObjective(rewards, Fraction(0)), 1.5e9) > 1_500_000_000


def answer(monkeypatch, result: MipResult) -> None:
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: result, raising=False)


SMALL = Problem.from_arrays([[0], [1], [1]], [0, 1, 1])


def test_a_solver_that_claims_too_little_does_not_make_a_tree_optimal(monkeypatch) -> None:
    answer(monkeypatch, MipResult(None, np.inf, Limit.TIME))
    solution = solve(SMALL, "accuracy", 1, engine="mip")
    assert solution.status is Status.FEASIBLE
    assert (solution.value, solution.bound) == (Fraction(2, 3), 1)


def test_a_bound_below_a_known_tree_is_an_error(monkeypatch) -> None:
    answer(monkeypatch, MipResult(None, 1.0, Limit.NONE))
    with pytest.raises(BackendError, match="bounded by"):
        solve(SMALL, "accuracy", 1, engine="mip")


def test_errors_in_cuts_reach_the_caller(monkeypatch) -> None:
    def broken(*_, **__):
        raise ZeroDivisionError("from the separator")

    monkeypatch.setattr(BendersCuts, "separate", broken)
    with pytest.raises(ZeroDivisionError, match="from the separator"):
        solve(hard_problem(), "accuracy", 2, engine="mip")


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
    ],
)
def test_wrong_options(options, error, message) -> None:
    skip_if_missing(options.get("backend", "scip"))
    with pytest.raises(error, match=message):
        solve(SMALL, "accuracy", 1, engine="mip", **options)


CONTROLLED = [("benders-pair-cut", "scip"), ("benders-pair-cut", "gurobi"), ("wflow", "highs")]


@pytest.mark.parametrize(("formulation", "backend"), CONTROLLED)
def test_limits_hold_on_every_backend(formulation, backend) -> None:
    skip_if_missing(backend)
    options = {"engine": "mip", "backend": backend, "formulation": formulation}
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.integers(0, 2, (100, 12)), rng.integers(0, 2, 100))
    solution = solve(problem, "accuracy", 3, time_limit=0.5, **options)
    check_stopped(solution, Limit.TIME)
    assert solution.stats["time"] < 20
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 2

    check_stopped(solve(problem, "accuracy", 3, callback=callback, **options), Limit.INTERRUPTED)
    for progress in seen:
        assert progress.objective <= progress.bound

    def broken(_progress):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        solve(problem, "accuracy", 3, callback=broken, **options)


@pytest.mark.parametrize("backend", ["scip", "gurobi"])
def test_node_limit_and_gap(backend) -> None:
    skip_if_missing(backend)
    problem = hard_problem()
    check_stopped(
        solve(problem, "accuracy", 2, engine="mip", node_limit=1, backend=backend), Limit.NODES
    )
    solution = solve(problem, "accuracy", 2, engine="mip", gap=0.9, backend=backend)
    assert solution.status is Status.FEASIBLE
    assert solution.limit is Limit.GAP
    assert "close enough" in solution.summary()
    assert 0 < solution.gap <= Fraction(9, 10)


def test_threads() -> None:
    skip_if_missing("gurobi")
    solution = solve(SMALL, "accuracy", 1, engine="mip", backend="gurobi", threads=2)
    assert solution.status is Status.OPTIMAL


def test_a_model_beyond_the_licence_is_explained(monkeypatch) -> None:
    skip_if_missing("gurobi")
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.integers(0, 2, (400, 90)), rng.integers(0, 2, 400))
    import gurobipy as gp

    def stop(*_, **__):
        raise gp.GurobiError(10010, "Model too large for size-limited license")

    monkeypatch.setattr(gurobi, "_run", stop)
    with pytest.raises(BackendError, match="more than Gurobi solves without a full licence"):
        solve(problem, "accuracy", 5, engine="mip", backend="gurobi", time_limit=0.5)


@pytest.mark.parametrize("backend", list(BACKENDS))
def test_solvers_are_silent_unless_asked(backend, capfd) -> None:
    skip_if_missing(backend)
    for log in (False, True):
        solve(SMALL, "accuracy", 1, engine="mip", backend=backend, formulation="wflow", log=log)
        assert bool(capfd.readouterr().out) == log


def test_scip_has_the_settings_that_lazy_rows_need() -> None:
    assert scip.SAFE_WITH_SEPARATION == {
        "misc/usesymmetry": 0,
        "misc/allowstrongdualreds": False,
        "misc/allowweakdualreds": False,
    }


def test_scip_keeps_away_from_ipopt(monkeypatch: pytest.MonkeyPatch) -> None:
    """It crashed on the products of larger problems."""
    skip_if_missing("scip")
    models = []
    copy = scip._copy

    def spy(model, target, deadline):
        models.append(target)
        return copy(model, target, deadline)

    monkeypatch.setattr(scip, "_copy", spy)
    solve(SMALL, "f1", 1, engine="mip", linearization="none", time_limit=20)
    assert models
    assert all(model.getParam("nlp/disable") for model in models)


SCRIPT = """
import numpy as np, goct
rng = np.random.default_rng(0)
problem = goct.Problem.from_arrays(rng.integers(0, 2, (150, 30)), rng.integers(0, 2, 150))
tell = lambda progress: print("running", flush=True)
solution = goct.solve(problem, "accuracy", 3, engine="mip", injection="none", callback=tell)
print(solution.status.name, solution.limit.name, solution.tree is not None)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_returns_the_best_tree() -> None:
    end = interrupt("-c", SCRIPT)
    assert end.code == 0, end.err
    assert end.lines == ["running\n"]
    assert end.out.splitlines()[-1].startswith("FEASIBLE INTERRUPTED True")
