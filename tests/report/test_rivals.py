"""Other classifiers on the same data."""

from __future__ import annotations

import numpy as np

from goct import Problem
from goct.metrics import get_metric
from goct.report.rivals import grow_cart, rival_of


def test_cart_competes_on_the_same_question() -> None:
    """One class against the rest, not all of them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 3))
    y = np.where(X[:, 0] & X[:, 1], 8, rng.integers(0, 8, 300))
    problem = Problem.from_arrays(X, y, pos_label=8)
    f1 = get_metric("f1")
    rival = rival_of(grow_cart(problem, f1, 2, 3), problem, None, f1)
    assert rival.train_value.value == 1
