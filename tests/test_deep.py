"""Trees of any depth against brute force, in solve, path and frontier."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from goct import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    Problem,
    Status,
    frontier,
    path,
    solve,
)
from goct.constraints import RequireFeatures
from goct.solution import Limit
from goct.solve import _warn_of_large_trees
from goct.task import Task

from .support.deep import Case, check_frontier, check_path, check_solve, draw


@pytest.mark.parametrize("check", [check_solve, check_path, check_frontier])
@pytest.mark.parametrize("seed", range(12))
def test_any_depth(check: Callable[[Case], None], seed: int) -> None:
    check(draw(np.random.default_rng(seed)))


@pytest.mark.slow
def test_many_of_any_depth() -> None:
    for seed in range(100, 200):
        check_solve(draw(np.random.default_rng(seed)))


def problem(rows: int = 60) -> Problem:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (rows, 14))
    return Problem.from_arrays(X, X[:, 0] ^ (rng.random(rows) < 0.3))


@pytest.mark.parametrize("options", [{}, {"split_penalty": 0}], ids=str)
def test_something_must_limit_the_tree(options: dict[str, Any]) -> None:
    ask: list[Callable[[], object]] = [
        lambda: solve(problem(), "f1", None, **options),
        lambda: path(problem(), "f1", None),
        lambda: frontier(problem(), None),
        lambda: OptimalTreeClassifier(max_depth=None, **options).fit([[0], [1]], [0, 1]),
        lambda: OptimalTreeClassifierCV(max_depth=None).fit([[0], [1]] * 10, [0, 1] * 10),
    ]
    for question in ask:
        with pytest.raises(ValueError, match="max_depth=None needs something else that limits"):
            question()


def test_tiny_penalties() -> None:
    # Thousands of splits may pay: a limit gives the best tree so far, and a true bound.
    large = problem(3000)
    solution = solve(large, "f1", None, split_penalty=1e-9, time_limit=0.5)
    assert solution.limit is Limit.TIME
    assert solution.tree is not None
    assert solution.objective < solution.bound
    with pytest.warns(
        UserWarning, match=r"trees of up to [\d,]+ splits may pay; give a time_limit"
    ):
        _warn_of_large_trees(Task.read(large, "f1", None, split_penalty=Fraction(1, 10**9)))
    small = solve(problem(20), "accuracy", None, split_penalty=1e-9)  # few rows: no warning
    assert small.status is Status.OPTIMAL


def test_constraints_that_need_a_depth() -> None:
    asked = {"split_penalty": 0.01, "constraints": [RequireFeatures([3])]}
    with pytest.raises(ValueError, match=r"asked because of .*needs a limit on the depth"):
        solve(problem(), "accuracy", None, **asked)


def test_a_tuned_size_without_a_limit_on_depth() -> None:
    X = np.random.default_rng(0).integers(0, 2, (60, 4))
    tuned = OptimalTreeClassifierCV("accuracy", max_depth=None, max_splits=3).fit(
        X, X[:, 0] ^ X[:, 1]
    )
    assert tuned.score(X, X[:, 0] ^ X[:, 1]) == 1
    assert set(tuned.cv_results_["param_max_depth"]) == {None}
