"""Units of a search, done by other oracles."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from goct.search import LinearOracle
from goct.search.oracle import Delegate
from goct.solution import Limit


class Spread(LinearOracle):
    """An oracle with helpers in the same process."""

    def __init__(self, X: Any, weights: Any, helpers: int, long_unit: float) -> None:
        super().__init__(X, weights)
        self.units: list[list[int]] = []
        self.fails: Exception | None = None
        self._long_unit = long_unit
        self._free = [LinearOracle(X, weights, n_jobs=1 + i % 2) for i in range(helpers)]
        self._count = helpers
        self._lock = threading.Lock()

    def _delegate(self, costs: Any, split_cost: int, min_leaf_weight: int) -> Delegate:
        notes: list[bytes] = []  # of all of them, which all may read

        def ask(unit: Any, seconds: float | None, _is_over: Any) -> Any:
            with self._lock:
                self.units.append(unit[3])
                if self.fails is not None:
                    raise self.fails
                oracle = self._free.pop()
            try:
                helper = oracle.helper(costs, split_cost, min_leaf_weight, 64)
                answer = helper.solve(unit, list(notes), seconds, None)[0]
                notes.append(answer[-1])
                return answer
            finally:
                with self._lock:
                    self._free.append(oracle)

        return ask, self._count, 0.0, self._long_unit


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    rows, columns = int(rng.integers(6, 40)), int(rng.integers(3, 9))
    X = (rng.random((rows, columns)) < rng.random()).astype(np.uint8)
    question = {
        "max_depth": int(rng.integers(3, 6)),
        "split_cost": int(rng.choice([0, 0, 1, 3])),
        "min_leaf_weight": int(rng.choice([0, 0, 3])),
    }
    costs = rng.integers(0, 6, (rows, int(rng.integers(2, 4))))
    return X, rng.integers(0, 3, rows), costs, question


@pytest.mark.parametrize("seed", range(40))
def test_answers_are_the_same(seed):
    rng = np.random.default_rng(seed)
    X, weights, costs, question = draw(rng)
    alone = LinearOracle(X, weights)
    spread = Spread(X, weights, int(rng.integers(1, 4)), float(rng.choice([1e-9, 1e-3, 100])))
    for _ in range(2):  # again, with what is known by then
        known, found = alone.solve(costs, **question), spread.solve(costs, **question)
        assert (found.cost, found.bound, found.status) == (known.cost, known.cost, known.status)
        assert found.tree == known.tree
        costs = rng.integers(0, 6, costs.shape)
    del question["split_cost"]
    question["max_splits"] = int(rng.integers(0, 9))
    pairs = zip(
        alone.solve_budgets(costs, **question), spread.solve_budgets(costs, **question), strict=True
    )
    for known, found in pairs:
        assert (found.cost, found.bound, found.status) == (known.cost, known.cost, known.status)
        assert found.tree == known.tree


def hard() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (300, 14)).astype(np.uint8)
    return X, rng.integers(0, 5, (300, 2))


@pytest.mark.parametrize("long_unit", [10.0, 1e-6])
def test_long_units_are_divided(long_unit):
    X, costs = hard()
    spread = Spread(X, None, 3, long_unit)
    found = spread.solve(costs, max_depth=4)
    assert found.tree == LinearOracle(X).solve(costs, max_depth=4).tree
    levels = {len(path) for path in spread.units}
    assert levels == ({0} if long_unit > 1 else {0, 1})


def test_an_error_comes_out():
    X, costs = hard()
    spread = Spread(X, None, 2, 1.0)
    spread.fails = RuntimeError("no worker")
    with pytest.raises(RuntimeError, match="no worker"):
        spread.solve(costs, max_depth=4)
    spread.fails = None
    assert spread.solve(costs, max_depth=4).limit is Limit.NONE


def test_thresholds_have_no_units():
    oracle = LinearOracle.from_ranks(np.arange(6).reshape(3, 2) // 2)
    with pytest.raises(ValueError, match="no units"):
        oracle.helper(np.array([[0, 1], [1, 0], [0, 1]]), 0, 0)
