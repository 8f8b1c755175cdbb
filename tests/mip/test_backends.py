"""Solvers on programs: settings that keep proofs, limits, interrupts, silence."""

from __future__ import annotations

import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status
from goct.metrics import get_metric
from goct.mip import BACKENDS
from goct.mip.backends import gurobi, scip
from goct.mip.backends.base import BackendError, Ending, MipResult, Settings, SolverThread
from goct.mip.program import MipProgram
from tests.support.mip import (
    SMALL,
    check_costs,
    knapsack,
    random_linear_question,
    skip_if_missing,
    solve,
)
from tests.support.problems import check_stopped, hard_problem
from tests.support.processes import PATIENCE


@pytest.fixture(params=list(BACKENDS))
def backend(request):
    solver = BACKENDS[request.param]
    if not solver.is_available:
        pytest.skip(f"{solver.module} is not installed: pip install 'goct[{solver.extra}]'")
    return solver


def test_backends_run_a_model(backend) -> None:
    result = backend.run(knapsack(), Settings(seed=3))
    assert result.x == pytest.approx([1, 1, 1, 0])
    assert result.bound == pytest.approx(12)
    assert result.limit is Limit.NONE
    assert not result.is_infeasible


def test_families_of_rows_may_be_empty(backend) -> None:
    model = knapsack()
    model.add_rows("nothing", 0, [(np.arange(0), model.families["x"][:0], 1.0)], lower=1)
    assert backend.run(model, Settings()).bound == pytest.approx(12)


def test_backends_start_from_a_solution_and_refuse_a_wrong_one(backend) -> None:
    model = knapsack()
    result = backend.run(model, Settings(), start=np.array([1.0, 0, 0, 2]))
    assert result.bound == pytest.approx(12)
    with pytest.raises(BackendError, match="start solution violates"):
        backend.run(model, Settings(), start=np.array([1.0, 1, 1, 2]))


def test_backends_say_when_a_model_is_infeasible(backend) -> None:
    model = knapsack()
    model.add_rows("impossible", 1, [(0, model.families["x"], 1.0)], lower=4)
    result = backend.run(model, Settings())
    assert result.is_infeasible
    assert result.x is None


def test_backends_do_not_hide_an_unbounded_model(backend) -> None:
    model = MipProgram()
    x = model.add_variables("x", (1,), upper=np.inf, integer=False)
    model.add_rows("nothing", 1, [(0, x, 1.0)], lower=0)
    model.objective[x] = 1
    with pytest.raises(BackendError, match="stopped with the status"):
        backend.run(model, Settings())


CONTROLLED = [("benders-pair-cut", "scip"), ("benders-pair-cut", "gurobi"), ("wflow", "highs")]


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_the_number_of_threads_may_change(backend) -> None:
    for threads in (1, 2, 1, 3):
        result = backend.run(knapsack(), Settings(threads=threads))
        assert result.x is not None


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
    copy = scip.copy_program

    def spy(model, target, deadline):
        models.append(target)
        return copy(model, target, deadline)

    monkeypatch.setattr(scip, "copy_program", spy)
    solve(SMALL, "f1", 1, engine="mip", linearization="none", time_limit=20)
    assert models
    assert all(model.getParam("nlp/disable") for model in models)


def lazy_without_locks(monkeypatch) -> None:
    monkeypatch.setattr(scip._Separation, "conslock", lambda *_, **__: {})
    monkeypatch.setattr(scip, "SAFE_WITH_SEPARATION", {})


@pytest.mark.slow
def test_unsafe_settings_would_be_caught(monkeypatch) -> None:
    """Without locks, SCIP removes optimal trees; the answers then differ or contradict."""

    def is_right(seed: int) -> bool:
        problem, X, metric, losses, perfect = random_linear_question(seed)
        try:
            solution = solve(problem, metric, 2, engine="mip", formulation="benders-weighted")
            check_costs(solution, X, losses, perfect, 2)
        except (AssertionError, BackendError):
            return False
        return True

    seeds = [1, 4, 7, 10]
    assert all(is_right(seed) for seed in seeds)
    lazy_without_locks(monkeypatch)
    assert not all(is_right(seed) for seed in seeds)


FREE = {"SCIP": "display/freq", "Gurobi": "MIPFocus", "HiGHS": "mip_min_logging_interval"}
RESERVED = {
    "SCIP": ["limits/gap", "numerics/feastol", "misc/usesymmetry"],
    "Gurobi": ["MIPGap", "mipgapabs", "FeasibilityTol", "TimeLimit", "Cutoff"],
    "HiGHS": ["mip_rel_gap", "mip_feasibility_tolerance", "time_limit", "objective_bound"],
}


def test_parameters_of_the_solver(backend) -> None:
    backend.check_parameters({FREE[backend.name]: 2})
    result = backend.run(knapsack(), Settings(parameters={FREE[backend.name]: 2}))
    assert result.bound == pytest.approx(12)
    for name in RESERVED[backend.name]:
        with pytest.raises(ValueError, match=f"{name!r} of {backend.name} is set by goct, or"):
            backend.check_parameters({name: 1})
    with pytest.raises(ValueError, match=f"{backend.name} refuses the parameter 'no such' = 1"):
        backend.check_parameters({"no such": 1})


def test_parameters_come_after_what_goct_sets(monkeypatch) -> None:
    seen = []

    class Spy(scip.pyscipopt.Model):
        def setParam(self, name, value) -> None:  # noqa: N802
            seen.append((name, value))
            super().setParam(name, value)

    monkeypatch.setattr(scip.pyscipopt, "Model", Spy)
    parameters = {"branching/random/priority": 100_000, "heuristics/rins/freq": 5}
    own = {"engine": "mip", "injection": "none", "solver_parameters": parameters}
    solution = solve(SMALL, "accuracy", 1, **own)
    assert solution.status is Status.OPTIMAL
    assert seen[-2:] == list(parameters.items())


ENDINGS = {
    "done": Ending(),
    "none": Ending(is_infeasible=True),
    "time": Ending(Limit.TIME),
    "user": Ending(Limit.INTERRUPTED),
}


@pytest.mark.parametrize("asked", [Limit.NONE, Limit.TIME, Limit.INTERRUPTED])
@pytest.mark.parametrize("is_valid", [False, True])
@pytest.mark.parametrize("status", [*ENDINGS, "not set"])
def test_what_a_solver_does_not_say_is_proven_is_not(status, is_valid, asked) -> None:
    given = {"x": None, "is_valid": is_valid, "asked": asked, "stats": {}}
    if status == "not set" and asked is Limit.NONE:
        with pytest.raises(BackendError, match="Fake stopped with the status 'not set'"):
            MipResult.read("Fake", status, ENDINGS, bound=0.0, **given)
        return
    result = MipResult.read("Fake", status, ENDINGS, bound=0.0, **given)
    assert result.bound == (0.0 if is_valid and status in ("done", "time", "user") else np.inf)
    assert result.is_infeasible == (status == "none")
    # A solver that is stopped for the time says that it was interrupted.
    limits = {"time": Limit.TIME, "not set": asked}
    limits["user"] = Limit.TIME if asked is Limit.TIME else Limit.INTERRUPTED
    assert result.limit is limits.get(status, Limit.NONE)
    for bound in (np.inf, -np.inf, np.nan):
        assert MipResult.read("Fake", status, ENDINGS, bound=bound, **given).bound == np.inf


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
@pytest.mark.parametrize("asked", [Limit.TIME, Limit.INTERRUPTED])
@pytest.mark.parametrize("status", ["user", "not set"])
def test_a_bound_that_nobody_proved_bounds_nothing(monkeypatch, metric, asked, status) -> None:
    class Fake(type(BACKENDS["scip"])):
        def run(self, *_: object, **__: object) -> MipResult:
            given = {"x": None, "is_valid": False, "asked": asked, "stats": {}}
            return MipResult.read("Fake", status, ENDINGS, bound=0.0, **given)

    monkeypatch.setitem(BACKENDS, "scip", Fake())
    for method in ("direct",) if metric == "accuracy" else ("direct", "parametric"):
        solution = solve(SMALL, metric, 2, engine="mip", method=method)
        check_stopped(solution, asked)
        assert solution.bound == get_metric(metric).best_value(SMALL)


@pytest.mark.parametrize("backend", list(BACKENDS))
def test_interrupts_at_any_moment_prove_nothing_false(backend) -> None:
    """More of them: ``python -m tests.support.interrupts highs 200``."""
    skip_if_missing(backend)
    command = [sys.executable, "-m", "tests.support.interrupts", backend, "6", "4"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "6 interrupts, 0 wrong" in found.stdout


@pytest.mark.parametrize("refusals", [0, 3])
def test_scip_is_asked_to_stop_until_it_listens(refusals) -> None:
    asked = []
    heard = threading.Event()

    class Deaf:
        """Refuses, as SCIP does between presolving and the root node; forgets the first time."""

        def getStage(self):  # noqa: N802
            asked.append("stage")
            return scip.STAGE.INITSOLVE if len(asked) <= refusals else scip.STAGE.SOLVING

        def interruptSolve(self) -> None:  # noqa: N802
            asked.append("stop")
            if asked.count("stop") == 1:
                raise RuntimeError("method cannot be called at this time in solution process!")
            if asked.count("stop") == 3:
                heard.set()

        def optimizeNogil(self) -> None:  # noqa: N802
            heard.wait(10)

    deaf = Deaf()
    run = SolverThread(deaf.optimizeNogil, lambda: scip._interrupt(deaf))
    assert run.wait(None, lambda: True) is Limit.INTERRUPTED
    assert run.done.is_set()
    assert run.error is None
    assert asked.count("stop") == 3
    assert asked.count("stage") == 3 + refusals
