"""Trees from the relaxation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from goct.mip.model import Heuristic, Point
from goct.mip.tree_model import TreeModel

Check = Callable[[Mapping[int, int], Mapping[int, int]], bool]
"""Says whether a tree, given by features and labels under heap numbers, is allowed."""


class RoundingHeuristic(Heuristic):
    """Builds a tree from the root down, on features that the relaxation uses.

    A node takes the feature that makes its rows most uniform, those with large
    ``b[n, f]`` being preferred; the last level takes the best feature of all.
    Splits that do not pay for their cost are removed again. No tree is
    proposed twice, and none that is not allowed.

    Parameters
    ----------
    tree
        The model.
    is_allowed
        Says whether a tree meets the side constraints.
    max_splits
        The largest number of splits.
    """

    def __init__(
        self, tree: TreeModel, is_allowed: Check | None = None, max_splits: int | None = None
    ) -> None:
        self.tree = tree
        self.is_allowed = is_allowed
        self.max_splits = max_splits
        data = tree.instances
        self._X = data.X.astype(np.float64)
        size = len(data.X) * data.n_classes
        gains = np.bincount(data.row * data.n_classes + data.label, data.weight, minlength=size)
        self._gains = gains.reshape(-1, data.n_classes)
        self._seen: set[tuple[tuple[int, int], ...]] = set()

    def propose(self, x: Point, incumbent: Point | None = None) -> Point | None:
        """Return the tree of a point, if it is a new one."""
        features, labels, _ = self._grow(1, np.arange(len(self._X)), x[self.tree.b])
        key = self._key(features, labels)
        if key in self._seen:
            return None
        self._seen.add(key)
        if self.max_splits is not None and len(features) > self.max_splits:
            return None
        if self.is_allowed is not None and not self.is_allowed(features, labels):
            return None
        return self.tree.encode_heap(features, labels)

    def _key(
        self, features: Mapping[int, int], labels: Mapping[int, int]
    ) -> tuple[tuple[int, int], ...]:
        """Return what tells trees apart: the labels follow from the features."""
        return tuple(sorted(features.items()))

    def _grow(
        self, node: int, rows: NDArray[np.intp], b: NDArray[np.float64]
    ) -> tuple[dict[int, int], dict[int, int], float]:
        """Return features, labels and worth of the tree below a node."""
        gains = self._gains[rows]
        total = gains.sum(axis=0)
        as_leaf: tuple[dict[int, int], dict[int, int], float]
        as_leaf = {}, {node: int(total.argmax())}, float(total.max())
        if node not in self.tree.topology.branch_nodes or len(rows) < 2:
            return as_leaf
        if np.isclose(gains.max(axis=1).sum(), total.max()):
            return as_leaf
        is_last = 2 * node in self.tree.topology.leaf_nodes
        candidates = np.arange(b.shape[1])
        if not is_last:
            candidates = np.flatnonzero(b[node - 1] > 1e-6)
            if len(candidates) == 0:
                candidates = np.flatnonzero(b.sum(axis=0) > 1e-6)
            if len(candidates) == 0:
                candidates = np.arange(b.shape[1])
        x = self._X[np.ix_(rows, candidates)]
        ones = x.sum(axis=0)
        splits = (ones > 0) & (ones < len(rows))
        if not splits.any():
            return as_leaf
        right = x.T @ gains
        left = total - right
        if is_last:
            score = left.max(axis=1) + right.max(axis=1)
        else:
            score = (_purity(left) + _purity(right)) / total.sum() + 0.5 * b[node - 1, candidates]
        score[~splits] = -np.inf
        best = int(score.argmax())
        goes_right = x[:, best] == 1
        feature_l, label_l, worth_l = self._grow(2 * node, rows[~goes_right], b)
        feature_r, label_r, worth_r = self._grow(2 * node + 1, rows[goes_right], b)
        worth = worth_l + worth_r - self.tree.split_cost
        if worth <= as_leaf[2] + 1e-9 * abs(as_leaf[2]):
            return as_leaf
        features = {node: int(candidates[best]), **feature_l, **feature_r}
        return features, {**label_l, **label_r}, worth


def _purity(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = gains.sum(axis=1)
    squares: NDArray[np.float64] = (gains**2).sum(axis=1)
    return squares / np.where(total > 0, total, 1.0)
