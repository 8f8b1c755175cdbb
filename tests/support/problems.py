"""Random and hard problems, and what a solution looks like that a limit stopped."""

from __future__ import annotations

import numpy as np

from goct import Limit, Problem, Solution, Status


def hard_problem() -> Problem:
    """Noise, which takes the MIP engine long at depth 2 or 3."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 25))
    return Problem.from_arrays(X, rng.integers(0, 2, 120))


def check_stopped(solution: Solution, limit: Limit) -> None:
    """Check that a limit left a tree and a bound above its value."""
    assert solution.status is Status.FEASIBLE
    assert solution.limit is limit
    assert solution.tree is not None
    assert solution.gap > 0
    assert solution.value <= solution.bound <= 1


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """Return features, labels, weights or None, and a depth that brute force can bear."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = rng.integers(4, 40), rng.integers(1, 6)
    depth = int(rng.integers(1, 3)) if n_features > 3 else int(rng.integers(1, 4))
    X = rng.integers(0, 2, (n_rows, n_features))
    y = rng.random(n_rows) < rng.choice([0.1, 0.3, 0.5, 0.9])
    y[:2] = [True, False]
    weights = rng.integers(1, 6, n_rows) if rng.random() < 0.5 else None
    return X, y, weights, depth


def large_problem() -> Problem:
    """Noise, which takes the search engine long from depth 5 on."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1500, 80))
    return Problem.from_arrays(X, rng.random(1500) < 0.3)
