"""Bounds that are honest about the solver's tolerances, and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status, solve
from goct.lattice import Lattice
from goct.metrics.metric import Rewards
from goct.mip.backends.base import MipResult
from goct.mip.engine import BACKENDS, proven_bound


def test_bounds_are_rounded_down_to_possible_values() -> None:
    rewards = Rewards(np.array([[3, 0], [0, 4], [2, 2]]), Fraction(1, 9), Fraction(0))
    lattice = Lattice(rewards, Fraction(0))
    assert proven_bound(lattice, np.inf) == 1  # every row at its best
    assert proven_bound(lattice, 7.2) == Fraction(7, 9)
    assert proven_bound(lattice, 6.999999) == Fraction(7, 9)  # within the tolerance of 7
    assert proven_bound(lattice, 6.99) == Fraction(6, 9)


def test_penalties_make_the_lattice_finer() -> None:
    rewards = Rewards(np.array([[3, 0], [0, 4]]), Fraction(1, 7), Fraction(0))
    lattice = Lattice(rewards, Fraction(1, 10))
    assert (lattice.factor, lattice.split_cost, lattice.unit) == (10, 7, Fraction(1, 70))


def test_negative_rewards_are_shifted() -> None:
    rewards = Rewards(np.array([[-3, 0], [-1, -4]]), Fraction(1), Fraction(5))
    lattice = Lattice(rewards, Fraction(0))
    assert lattice.gains.tolist() == [[0, 3], [3, 0]]
    assert proven_bound(lattice, np.inf) == 5 - 1


def test_values_too_fine_for_floats_are_not_called_proven() -> None:
    """With objective values around 1e9 a float bound cannot tell neighbours apart."""
    rewards = Rewards(np.array([[10**9, 0], [0, 10**9]]), Fraction(1), Fraction(0))
    assert proven_bound(Lattice(rewards, Fraction(0)), 1.5e9) > 1_500_000_000


def test_a_solver_that_claims_too_little_does_not_make_a_tree_optimal(monkeypatch) -> None:
    def stopped(_model, **_):
        return MipResult(None, np.inf, Limit.TIME)

    monkeypatch.setitem(BACKENDS, "scip", stopped)
    solution = solve(Problem.from_arrays([[0], [1], [1]], [0, 1, 1]), "accuracy", 1, engine="mip")
    assert solution.status is Status.FEASIBLE
    assert (solution.value, solution.bound) == (Fraction(2, 3), 1)


SCRIPT = """
import signal, numpy as np, goct
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in background jobs
rng = np.random.default_rng(0)
problem = goct.Problem.from_arrays(rng.integers(0, 2, (150, 30)), rng.integers(0, 2, 150))
tell = lambda progress: print("running", flush=True)
solution = goct.solve(problem, "accuracy", 3, engine="mip", callback=tell)
print(solution.status.name, solution.limit.name, solution.tree is not None)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_returns_the_best_tree() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1].startswith("FEASIBLE INTERRUPTED True")
