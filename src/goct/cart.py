"""CART and random forests of scikit-learn on the data of a problem."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import floor, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.features import RankedFeatures
from goct.problem import Problem
from goct.tree import Leaf, Node, Split, Tree

_N_TREES = 100
_TREES_AT_ONCE = 10
_MOST_CELLS = 1 << 28  # scikit-learn makes floats of them
_CELLS_PER_SECOND = 2e7


def cart_tree(
    problem: Problem,
    max_depth: int | None,
    max_leaves: int | None = None,
    *,
    gains: NDArray[Any] | None = None,
    columns: NDArray[np.intp] | None = None,
    random_state: int = 0,
) -> Tree:
    """Grow a tree with scikit-learn's CART on the features of a problem.

    Any number of leaves if `max_leaves` is None. `gains` is what each class is worth in each row,
    which CART takes for the weight of samples of that class; the class counts by default. `columns`
    are the original features that may be used; all that matter by default.
    """
    gains = problem.counts if gains is None else gains
    too_small = max_depth == 0 or (max_leaves is not None and max_leaves < 2)
    nothing = problem.features.n_kept == 0 if columns is None else len(columns) == 0
    if too_small or nothing or not (gains > 0).any():
        label = int(gains.sum(axis=0).argmax())
        return Tree(Leaf(label), problem.classes, problem.feature_names)
    from sklearn.tree import DecisionTreeClassifier  # takes a moment to load

    grown = DecisionTreeClassifier(
        max_depth=max_depth, max_leaf_nodes=max_leaves, random_state=random_state
    )
    X, feature_of = _cells(problem, columns)
    rows, labels = np.nonzero(gains > 0)
    grown.fit(X[rows], labels, sample_weight=gains[rows, labels].astype(np.float64))
    nodes = grown.tree_

    def build(i: int) -> Node:
        if nodes.children_left[i] < 0:
            return Leaf(int(grown.classes_[nodes.value[i, 0].argmax()]))
        left, right = int(nodes.children_left[i]), int(nodes.children_right[i])
        feature = feature_of(int(nodes.feature[i]), float(nodes.threshold[i]))
        return Split(feature, build(left), build(right))

    return Tree(build(0), problem.classes, problem.feature_names)


def seconds_for_cart(problem: Problem) -> float:
    """Return about how long CART takes to grow a small tree; infinite if it may not fit."""
    cells = _cells(problem, None)[0].size
    return inf if cells > _MOST_CELLS else cells / _CELLS_PER_SECOND


def rank_features(
    problem: Problem,
    gains: NDArray[Any],
    columns: NDArray[np.intp],
    *,
    random_state: int = 0,
    seconds: float | None = None,
) -> list[int]:
    """Return columns in the order of their importance in a random forest, the largest first.

    `gains` are the weights of samples. Fewer than 100 trees are grown, but at least ten, if they
    would take longer than some seconds.
    """
    from sklearn.ensemble import RandomForestClassifier  # takes a moment to load

    started = time.perf_counter()
    forest = RandomForestClassifier(random_state=random_state, warm_start=True)
    X, _ = _cells(problem, columns)
    rows, labels = np.nonzero(gains > 0)
    if len(labels) == 0:
        return [int(j) for j in columns]
    X, weights = X[rows], gains[rows, labels].astype(np.float64)
    for n_trees in range(_TREES_AT_ONCE, _N_TREES + 1, _TREES_AT_ONCE):
        forest.set_params(n_estimators=n_trees).fit(X, labels, sample_weight=weights)
        if seconds is not None and time.perf_counter() - started > seconds:
            break
    order = np.argsort(-forest.feature_importances_, kind="stable")
    return [int(columns[k]) for k in order]


def _cells(
    problem: Problem, columns: NDArray[np.intp] | None
) -> tuple[NDArray[Any], Callable[[int, float], int]]:
    """Return the values of the distinct rows, and what finds the feature of a column and a cut.

    If `columns` is None, these are all features that matter, those that are thresholds as ranks.
    """
    features = problem.features
    if columns is None and isinstance(features, RankedFeatures):
        ranks, offset = features.ranks, features.kept_offset
        return ranks, lambda k, cut: features.original(int(offset[k]) + floor(cut))
    if columns is None:
        kept = problem.kept
        return problem.X, lambda k, _: int(kept[k])
    X = np.stack([problem.column(int(j)) for j in columns], axis=1)
    return X, lambda k, _: int(columns[k])
