"""Strategies against a runner that is no solver, and the way of a run."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Status
from goct.mip import BACKENDS
from goct.mip.backends.base import BackendError, MipResult
from goct.mip.cuts import BendersCuts
from tests.support.mip import SMALL, solve
from tests.support.problems import hard_problem
from tests.support.processes import interrupt


def answer(monkeypatch, result: MipResult) -> None:
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: result, raising=False)


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
