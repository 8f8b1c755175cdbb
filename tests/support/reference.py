"""Brute force: every tree of a small problem, the yardstick for all engines.

Nothing here is shared with the package but the data: trees are enumerated as
nested choices of features, and each is recorded by what it achieves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Outcome = tuple[Any, int]
"""What a tree achieves, and its number of splits."""


def outcomes(
    X: np.ndarray, leaf_outcomes: Callable[[np.ndarray], Iterable[Any]], max_depth: int
) -> set[Outcome]:
    """Return what all trees up to a depth achieve, with all numbers of splits.

    Parameters
    ----------
    X
        0/1 features, shape (rows, features).
    leaf_outcomes
        Says what the possible leaves on a set of rows (a boolean mask)
        achieve; outcomes are tuples that add up over leaves.
    max_depth
        At most 2, or 3 on few features.
    """
    memo: dict[tuple[bytes, int], set[Outcome]] = {}

    def visit(mask: np.ndarray, depth: int) -> set[Outcome]:
        key = (mask.tobytes(), depth)
        if key not in memo:
            found = {(outcome, 0) for outcome in leaf_outcomes(mask)}
            if depth > 0:
                for feature in X.T.astype(bool):
                    left = visit(mask & ~feature, depth - 1)
                    right = visit(mask & feature, depth - 1)
                    found |= {
                        (tuple(a + b for a, b in zip(x, y, strict=True)), s + t + 1)
                        for (x, s), (y, t) in product(left, right)
                    }
            memo[key] = found
        return memo[key]

    return visit(np.ones(len(X), dtype=bool), max_depth)


def achievable(
    X: np.ndarray,
    positive: np.ndarray,
    max_depth: int,
    weights: np.ndarray | None = None,
    min_leaf: int = 0,
    min_samples: int = 0,
) -> set[tuple[Any, Any, int]]:
    """Return all achievable (TP, TN), each with the fewest splits.

    `positive` says of each row whether it is of the positive class, `min_leaf` is
    the least weight of a leaf, `min_samples` its least number of rows with a weight.
    """
    w = np.ones(len(X), dtype=int) if weights is None else weights
    pos, neg = np.where(positive, w, 0), np.where(positive, 0, w)

    def leaves(mask: np.ndarray) -> list[tuple[Any, Any]]:
        if w[mask].sum() < min_leaf or (w[mask] > 0).sum() < min_samples:
            return []
        return [(pos[mask].sum().item(), 0), (0, neg[mask].sum().item())]

    fewest: dict[tuple[Any, Any], int] = {}
    for point, splits in outcomes(X, leaves, max_depth):
        fewest[point] = min(splits, fewest.get(point, splits))
    return {(tp, tn, splits) for (tp, tn), splits in fewest.items()}


def achievable_costs(X: np.ndarray, costs: np.ndarray, max_depth: int) -> set[tuple[Any, int]]:
    """Return all achievable (total cost, splits), `costs` being of shape (rows, classes)."""

    def leaves(mask: np.ndarray) -> list[tuple[Any]]:
        return [(cost,) for cost in costs[mask].sum(axis=0).tolist()]

    return {(cost, splits) for (cost,), splits in outcomes(X, leaves, max_depth)}


def best(
    points: Iterable[tuple[Any, Any, int]],
    value: Callable[[Any, Any], Any],
    *,
    split_penalty: Fraction | int = 0,
    max_splits: int | None = None,
    constraint: Callable[[Any, Any], bool] = lambda _tp, _tn: True,
) -> Any:
    """Return the largest ``value(tp, tn) - split_penalty * splits``; None if nothing is allowed."""
    return max(
        (
            value(tp, tn) - split_penalty * splits
            for tp, tn, splits in points
            if (max_splits is None or splits <= max_splits) and constraint(tp, tn)
        ),
        default=None,
    )


class Known(NamedTuple):
    """A tree as brute force knows it: what it gets right, and what constraints ask about."""

    tp: int
    tn: int
    splits: int
    features: frozenset[int]
    fewest_rows: int
    least_weight: int
    label: int | None
    """The prediction of a tree that is a leaf."""


def all_trees(
    X: np.ndarray, positive: np.ndarray, max_depth: int, weights: np.ndarray
) -> set[Known]:
    """Return all trees in which every split makes a difference.

    Both sides of a split have rows, and it is not between two leaves that
    predict the same; rows without a weight are none.
    """
    rows = weights > 0
    X, positive, w = X[rows].astype(bool), positive[rows], weights[rows]
    pos, neg = np.where(positive, w, 0), np.where(positive, 0, w)
    memo: dict[tuple[bytes, int], set[Known]] = {}

    def visit(mask: np.ndarray, depth: int) -> set[Known]:
        key = (mask.tobytes(), depth)
        if key not in memo:
            size, weight = int(mask.sum()), int(w[mask].sum())
            found = {
                Known(int(pos[mask].sum()), 0, 0, frozenset(), size, weight, 1),
                Known(0, int(neg[mask].sum()), 0, frozenset(), size, weight, 0),
            }
            for f in range(X.shape[1]) if depth else ():
                left, right = mask & ~X[:, f], mask & X[:, f]
                if left.any() and right.any():
                    pairs = product(visit(left, depth - 1), visit(right, depth - 1))
                    found |= {_joined(a, b, f) for a, b in pairs if not _is_idle(a, b)}
            memo[key] = found
        return memo[key]

    return visit(np.ones(len(X), dtype=bool), max_depth)


def _is_idle(a: Known, b: Known) -> bool:
    return a.label is not None and a.label == b.label


def _joined(a: Known, b: Known, feature: int) -> Known:
    return Known(
        a.tp + b.tp,
        a.tn + b.tn,
        a.splits + b.splits + 1,
        a.features | b.features | {feature},
        min(a.fewest_rows, b.fewest_rows),
        min(a.least_weight, b.least_weight),
        None,
    )
