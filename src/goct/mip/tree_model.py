"""What all models of the paper share: the tree itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from goct.mip.instances import Instances
from goct.mip.model import MipModel, Point, Term
from goct.mip.topology import Topology
from goct.tree import Leaf, Split, Tree


class TreeModel:
    """The variables and rows that describe a tree of depth D.

    - ``b[n, f]``: branch node n splits on feature f;
    - ``p[n]``: the path ends in node n;
    - ``c[n, k]``: node n predicts class k.

    A formulation adds, for every instance i, a variable that is at most 1 if
    the tree predicts the label of i in its row, and at most 0 otherwise: `g`.
    The objective is ``Σ w[i] · g[i] - s · Σ b[n, f]`` with the split cost s.
    Every use of g, in the objective and in the rows, is such that a larger
    value is better, so the upper bound is all that g needs.

    Attributes
    ----------
    b, p, c, g
        The columns of the variables; node n has the index n - 1.
    model
        The mixed-integer program.
    completions
        Set further variables of a solution, those of the tree being known.

    Parameters
    ----------
    instances
        The weighted dataset.
    depth
        The depth of the tree, at least 1.
    split_cost
        The cost of each split, in the unit of the weights.
    max_splits
        At most this many splits; no limit if None.
    """

    g: NDArray[np.intp]

    def __init__(
        self,
        instances: Instances,
        depth: int,
        *,
        split_cost: float = 0.0,
        max_splits: int | None = None,
    ) -> None:
        self.instances = instances
        self.topology = Topology(depth)
        self.split_cost = split_cost
        self.model = MipModel()
        self.completions: list[Callable[[Point], None]] = []
        n_branch, n_nodes = len(self.topology.branch_nodes), len(self.topology.nodes)
        self.b = self.model.add_variables("b", (n_branch, instances.X.shape[1]), integer=True)
        self.p = self.model.add_variables("p", (n_nodes,), integer=True)
        self.c = self.model.add_variables("c", (n_nodes, instances.n_classes), integer=True)
        self.model.objective[self.b] = -split_cost
        self._a: NDArray[np.intp] | None = None
        self._used: NDArray[np.intp] | None = None
        self._reach: dict[int, NDArray[np.intp]] = {}
        self._branch_or_predict()
        self._predict_one_class()
        if max_splits is not None:
            self.model.add_rows("max_splits", 1, [(0, self.b.ravel(), 1)], upper=max_splits)

    def _branch_or_predict(self) -> None:
        """A node branches, or it or one of its ancestors ends the path."""
        for n in self.topology.nodes:
            terms: list[Term] = [(0, self.p[self.path(n)], 1)]
            if n in self.topology.branch_nodes:
                terms.append((0, self.b[n - 1], 1))
            self.model.add_rows(f"branch_or_predict_{n}", 1, terms, lower=1, upper=1)

    def _predict_one_class(self) -> None:
        """A node predicts a class exactly if paths end there."""
        nodes = np.arange(len(self.p))
        terms: list[Term] = [(nodes[:, None], self.c, 1.0), (nodes, self.p, -1.0)]
        self.model.add_rows("predict_one_class", len(nodes), terms, lower=0, upper=0)

    def path(self, node: int) -> list[int]:
        """Return the indices of a node and its ancestors."""
        return [m - 1 for m in (*self.topology.ancestors(node), node)]

    # ---------------------------------------------------------- more rows and variables

    def forbid_redundant_splits(self) -> None:
        """No feature occurs twice on a path, and sibling leaves predict different classes.

        ``Σ_m b[m, f] <= 1`` over the path to each lowest branch node, and
        ``c[2n, k] + c[2n+1, k] <= Σ_f b[n, f]``. Trees that violate this have
        a split that can be removed without changing a prediction.
        """
        n_features, n_classes = self.b.shape[1], self.c.shape[1]
        features, classes = np.arange(n_features), np.arange(n_classes)
        for n in self.topology.branch_nodes:
            if 2 * n in self.topology.leaf_nodes and n > 1:
                terms: list[Term] = [(features, self.b[self.path(n)], 1.0)]
                self.model.add_rows(f"feature_once_{n}", n_features, terms, upper=1)
            left, right = self.c[2 * n - 1], self.c[2 * n]
            terms = [(classes, left, 1.0), (classes, right, 1.0)]
            terms.append((classes[:, None], self.b[n - 1], -1.0))
            self.model.add_rows(f"siblings_differ_{n}", n_classes, terms, upper=0)

    def forbid_conflicts(self) -> None:
        """At most one label is right in a row: ``Σ_k g[r, k] <= 1``, copies counting as one.

        The static conflict cuts of the paper; with several copies of an
        instance, they hold for their mean.
        """
        row, label = self.instances.row, self.instances.label
        key, group = np.unique(row, return_inverse=True)
        is_first = np.zeros(len(row), dtype=bool)
        pair = np.unique(row * self.instances.n_classes + label, return_index=True)[1]
        is_first[pair] = True
        mixed = np.bincount(group[is_first], minlength=len(key)) > 1
        kept = np.flatnonzero(mixed[group])
        if len(kept) == 0:
            return
        share = self.instances.share(np.ones((len(self.instances.X), self.instances.n_classes)))
        number = np.cumsum(mixed)[group[kept]] - 1
        terms: list[Term] = [(number, self.g[kept], share[kept])]
        self.model.add_rows("static_conflict", int(mixed.sum()), terms, upper=1)

    def count_features(self) -> NDArray[np.intp]:
        """Return the columns of ``a[f] = Σ_n b[n, f]``, how often each feature is used.

        They make rows on the features of the whole tree short.
        """
        if self._a is None:
            n_branch, n_features = self.b.shape
            self._a = self.model.add_variables("a", (n_features,), upper=n_branch, integer=False)
            features = np.arange(n_features)
            terms: list[Term] = [(features, self._a, 1.0), (features, self.b, -1.0)]
            self.model.add_rows("count_features", n_features, terms, lower=0, upper=0)
        return self._a

    def mark_used_features(self) -> NDArray[np.intp]:
        """Return the columns of ``u[f] >= b[n, f]``: 1 if the tree uses a feature."""
        if self._used is None:
            n_branch, n_features = self.b.shape
            self._used = self.model.add_variables("u", (n_features,), integer=False)
            place = np.arange(n_branch * n_features).reshape(self.b.shape)
            terms: list[Term] = [(place, self.b, 1.0), (place, self._used, -1.0)]
            self.model.add_rows("mark_used", place.size, terms, upper=0)
        return self._used

    def weigh_leaves(self, weights: NDArray[np.float64], least: float) -> None:
        """Every leaf receives rows of at least some weight.

        ``Σ_r weights[r] · r[n, r] >= least · p[n]``, where ``r[n, r]`` is at
        most 1 if row r reaches node n and at most 0 otherwise: it follows the
        branches like a flow.

        Parameters
        ----------
        weights
            The weight of each row.
        least
            The least weight of a leaf.
        """
        X = self.instances.X
        rows = np.arange(len(X))
        if not self._reach:
            for n in self.topology.nodes[1:]:
                side = n % 2
                reach = self.model.add_variables(f"r_{n}", (len(X),), integer=False)
                row, feature = np.nonzero(np.equal(X, side))
                terms: list[Term] = [(rows, reach, 1.0), (row, self.b[n // 2 - 1, feature], -1.0)]
                self.model.add_rows(f"reach_by_branch_{n}", len(X), terms, upper=0)
                if n > 3:
                    terms = [(rows, reach, 1.0), (rows, self._reach[n // 2], -1.0)]
                    self.model.add_rows(f"reach_by_parent_{n}", len(X), terms, upper=0)
                self._reach[n] = reach
        # The root has all rows.
        for n in self.topology.nodes[1:]:
            terms = [(0, self._reach[n], weights), (0, self.p[n - 1], -least)]
            self.model.add_rows(f"leaf_weight_{n}", 1, terms, lower=0)

    # ------------------------------------------------------------------ trees and points

    def decode(self, x: Point) -> tuple[dict[int, int], dict[int, int]]:
        """Read the features and labels of the tree, under heap numbers, from a solution."""
        features = {
            n: int(x[self.b[n - 1]].argmax())
            for n in self.topology.branch_nodes
            if x[self.b[n - 1]].max(initial=0.0) > 0.5
        }
        labels = {
            n: int(x[self.c[n - 1]].argmax()) for n in self.topology.nodes if x[self.p[n - 1]] > 0.5
        }
        return features, labels

    def encode(self, tree: Tree) -> Point:
        """Return the solution that stands for a tree over the features of the instances."""
        heap = tree.heap()
        features = {n: node.feature for n, node in heap.items() if isinstance(node, Split)}
        labels = {n: node.label for n, node in heap.items() if isinstance(node, Leaf)}
        return self.encode_heap(features, labels)

    def encode_heap(self, features: Mapping[int, int], labels: Mapping[int, int]) -> Point:
        """Return the solution for split features and leaf labels under heap numbers."""
        x = np.zeros(self.model.n_variables)
        X = self.instances.X
        reached = {1: np.ones(len(X), dtype=bool)}
        for n, feature in sorted(features.items()):
            x[self.b[n - 1, feature]] = 1
            goes_right = X[:, feature] == 1
            reached[2 * n] = reached[n] & ~goes_right
            reached[2 * n + 1] = reached[n] & goes_right
        for n, label in labels.items():
            x[self.p[n - 1]] = x[self.c[n - 1, label]] = 1
            right = reached[n][self.instances.row] & (self.instances.label == label)
            self._encode_right(x, n, np.flatnonzero(right))
        if self._a is not None:
            x[self._a] = x[self.b].sum(axis=0)
        if self._used is not None:
            x[self._used] = x[self.b].max(axis=0)
        for n in self._reach.keys() & reached.keys():
            x[self._reach[n]] = reached[n]
        for complete in self.completions:
            complete(x)
        return x

    def _encode_right(self, x: Point, leaf: int, instances: NDArray[np.intp]) -> None:
        """Set the variables of instances that a leaf classifies correctly."""
        x[self.g[instances]] = 1
