from __future__ import annotations

import numpy as np
import pytest

from goct import Problem
from goct.cart import cart_tree, rank_features


def problem(n_features: int = 6) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, n_features))
    y = X[:, 2] & (X[:, 4] | (rng.random(80) < 0.1))
    return Problem.from_arrays(X, y)


def test_cart_uses_the_columns_it_may() -> None:
    data = problem()
    assert {2, 4} <= set(cart_tree(data, 2).features)
    tree = cart_tree(data, 3, columns=np.array([0, 1, 4]))
    assert set(tree.features) <= {0, 1, 4}
    assert tree.depth <= 3
    assert cart_tree(data, 3, 2).splits == 1


@pytest.mark.parametrize(
    ("depth", "leaves", "columns"), [(0, None, [0]), (2, 1, [0]), (2, None, [])]
)
def test_cart_without_room_for_a_split_is_a_leaf(depth, leaves, columns) -> None:
    assert cart_tree(problem(), depth, leaves, columns=np.array(columns, dtype=int)).splits == 0


def test_gains_decide_what_a_leaf_predicts() -> None:
    data = Problem.from_arrays([[0], [0], [0], [1]], [0, 0, 1, 1])
    assert cart_tree(data, 0).predict([[0]]).tolist() == [0]
    gains = data.counts * np.array([1, 5])
    tree = cart_tree(data, 1, gains=gains)
    assert tree.predict([[0], [1]]).tolist() == [1, 1]
    assert cart_tree(data, 1, gains=np.zeros((2, 2))).splits == 0


def test_the_forest_ranks_columns_and_depends_on_the_seed_only() -> None:
    data = problem()
    columns = np.array([0, 2, 3, 4, 5])
    ranking = rank_features(data, data.counts, columns, random_state=1)
    assert sorted(ranking) == columns.tolist()
    assert set(ranking[:2]) == {2, 4}
    assert rank_features(data, data.counts, columns, random_state=1) == ranking
    assert rank_features(data, data.counts, columns, seconds=0)[:1] == [2]
    assert rank_features(data, data.counts * 0, columns) == columns.tolist()
