"""Probabilities of classes: shares of the leaves, smoothed or not."""

from __future__ import annotations

import numpy as np
import pytest

from goct.probabilities import Smoothing
from goct.tree import Leaf, Split, Tree

TREE = Tree(Split(0, Leaf(0), Split(1, Leaf(1), Leaf(0))), ("no", "yes"), ("a", "b"))
COUNTS = [[6, 4], [5, 0], [1, 4], [1, 4], [0, 0]]


def test_shares() -> None:
    found = Smoothing("none").probabilities(TREE, COUNTS)
    assert found.tolist() == [[0.6, 0.4], [1, 0], [0.2, 0.8], [0.2, 0.8], [1, 0]]
    for method in ("laplace", "parent"):
        assert np.allclose(Smoothing(method, 0).probabilities(TREE, COUNTS), found)


def test_rows_of_each_class() -> None:
    found = Smoothing("laplace", 2).probabilities(TREE, COUNTS)
    sums = np.array([[7, 5], [6, 1], [2, 5], [2, 5], [1, 1]])
    assert np.allclose(found, sums / sums.sum(axis=1, keepdims=True))
    assert Smoothing() == Smoothing("laplace", 2) == Smoothing.read("laplace")


def test_rows_like_the_parent() -> None:
    found = Smoothing("parent", 3).probabilities(TREE, COUNTS)
    root = np.array([7.5, 5.5]) / 13
    below = (np.array([1, 4]) + 3 * root) / 8
    assert found[0] == pytest.approx(root)
    assert found[1] == pytest.approx((np.array([5, 0]) + 3 * root) / 8)
    assert found[2] == pytest.approx(below)
    assert found[3] == pytest.approx((np.array([1, 4]) + 3 * below) / 8)
    assert found[4] == pytest.approx(below)  # nothing is known but of the parent


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("bayes", "unknown smoothing 'bayes'; allowed: 'none', 'laplace', 'parent'"),
        (("laplace", -1), "the weight of smoothing must not be negative, got -1.0"),
        (("laplace", float("inf")), "must not be negative, got inf"),
    ],
)
def test_errors(value, message) -> None:
    with pytest.raises(ValueError, match=message):
        Smoothing.read(value)
