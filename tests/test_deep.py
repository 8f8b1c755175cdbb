"""Trees of any depth against brute force, in solve, path and frontier."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .support.deep import Case, check_frontier, check_path, check_solve, draw


@pytest.mark.parametrize("check", [check_solve, check_path, check_frontier])
@pytest.mark.parametrize("seed", range(12))
def test_any_depth(check: Callable[[Case], None], seed: int) -> None:
    check(draw(np.random.default_rng(seed)))


@pytest.mark.slow
def test_many_of_any_depth() -> None:
    for seed in range(100, 200):
        check_solve(draw(np.random.default_rng(seed)))
