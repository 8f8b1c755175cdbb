"""The tree as a program: topology, instances, the variables that all formulations share.

A program of depth D has a node for every place of a complete binary tree, and
lets paths end at any of them (``p[n] = 1``). So a tree of smaller depth is a
solution as it is: its splits set b, its leaves set p and c, wherever they are,
and everything below stays 0. A tree over some of the features is a solution of
the program over all of them, once its features have found their columns
(:func:`embed`). The remaining variables follow from the tree: g or z from the
rows that it classifies correctly, bits and products from TP and TN.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.mip.program import MipProgram, Point, Term
from goct.tree import Leaf, Split, Tree


@dataclass(frozen=True)
class Topology:
    """A complete binary tree of a given depth, in the heap numbering of the paper.

    The root is 1, the children of n are 2n (left, feature = 0) and 2n + 1
    (right, feature = 1).
    """

    depth: int

    @property
    def branch_nodes(self) -> range:
        """The nodes that may split, B in the paper."""
        return range(1, 2**self.depth)

    @property
    def leaf_nodes(self) -> range:
        """The nodes of the last level, L in the paper."""
        return range(2**self.depth, 2 ** (self.depth + 1))

    @property
    def nodes(self) -> range:
        """All nodes."""
        return range(1, 2 ** (self.depth + 1))

    def ancestors(self, node: int) -> list[int]:
        """Return the strict ancestors of a node, P(n) in the paper."""
        return [node >> k for k in range(node.bit_length() - 1, 0, -1)]


@dataclass(frozen=True, eq=False)
class Instances:
    """Pairs of a feature vector, given by its row in X, and a label, with a reward for each."""

    X: NDArray[np.uint8]  # the distinct feature vectors, shape (rows, features)
    row: NDArray[np.intp]
    label: NDArray[np.intp]
    weight: NDArray[np.float64]  # the reward if the label is predicted in the row; not negative
    n_classes: int
    copies: NDArray[np.int64] | None = None  # instances that share the reward of their pair

    @classmethod
    def of_gains(
        cls,
        X: NDArray[np.uint8],
        gains: NDArray[np.float64],
        needed: NDArray[np.bool_],
        copies: NDArray[np.int64] | None = None,
    ) -> Instances:
        """Make an instance of every pair of row and class that is `needed`, or so many copies.

        `gains` are the rewards of all pairs, of shape (rows, classes), as are the others.
        """
        row, label = np.nonzero(needed)
        number = np.ones(len(row), dtype=np.int64) if copies is None else copies[row, label]
        row, label, number = (np.repeat(a, number) for a in (row, label, number))
        return cls(X, row, label, gains[row, label] / number, gains.shape[1], number)

    def __len__(self) -> int:
        return len(self.row)

    def share(self, amounts: NDArray[Any]) -> NDArray[np.float64]:
        """Spread amounts per row and class evenly over the instances."""
        of_pair = amounts[self.row, self.label].astype(np.float64)
        return of_pair if self.copies is None else of_pair / self.copies

    @cached_property
    def ones(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The features that are 1: where each row starts, and their indices."""
        return _compressed(self.X == 1)

    @cached_property
    def zeros(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The features that are 0: where each row starts, and their indices."""
        return _compressed(self.X == 0)


def _compressed(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    start = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.intp)
    return start, np.nonzero(mask)[1]


def gather(
    compressed: tuple[NDArray[np.intp], NDArray[np.intp]], rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the entries of some rows of a compressed matrix: the position in `rows`, the entry."""
    start, entries = compressed
    length = start[rows + 1] - start[rows]
    position = np.repeat(np.arange(len(rows)), length)
    first = np.concatenate([[0], np.cumsum(length)[:-1]]) if len(rows) else np.empty(0, np.intp)
    offset = np.arange(len(position)) - np.repeat(first, length)
    return position, entries[np.repeat(start[rows], length) + offset]


class TreeProgram(MipProgram):
    """The variables and rows that describe a tree of depth D.

    - ``b[n, f]``: branch node n splits on feature f;
    - ``p[n]``: the path ends in node n;
    - ``c[n, k]``: node n predicts class k.

    A formulation adds, for every instance i, a variable that is at most 1 if
    the tree predicts the label of i in its row, and at most 0 otherwise: `g`.
    The objective is ``Σ w[i] · g[i] - s · Σ b[n, f]`` with the split cost s.
    Every use of g, in the objective and in the rows, is such that a larger
    value is better, so the upper bound is all that g needs. Node n has the
    index n - 1 in b, p and c.
    """

    g: NDArray[np.intp]

    def __init__(
        self,
        instances: Instances,
        depth: int,
        *,
        split_cost: float = 0.0,
        max_splits: int | None = None,
        integer_flow: bool = False,
    ) -> None:
        super().__init__()
        self.instances = instances
        self.topology = Topology(depth)
        self.split_cost = split_cost
        n_branch, n_nodes = len(self.topology.branch_nodes), len(self.topology.nodes)
        self.b = self.add_variables("b", (n_branch, instances.X.shape[1]), integer=True)
        self.p = self.add_variables("p", (n_nodes,), integer=True)
        self.c = self.add_variables("c", (n_nodes, instances.n_classes), integer=True)
        self.objective[self.b] = -split_cost
        self._branch_or_predict()
        self._predict_one_class()
        if max_splits is not None:
            self.add_rows("max_splits", 1, [(0, self.b.ravel(), 1)], upper=max_splits)
        self._reward(integer_flow)

    @abstractmethod
    def _reward(self, is_integer: bool) -> None:
        """Add g, its rows and its part of the objective."""

    def _branch_or_predict(self) -> None:
        """A node branches, or it or one of its ancestors ends the path."""
        for n in self.topology.nodes:
            terms: list[Term] = [(0, self.p[self.path(n)], 1)]
            if n in self.topology.branch_nodes:
                terms.append((0, self.b[n - 1], 1))
            self.add_rows(f"branch_or_predict_{n}", 1, terms, lower=1, upper=1)

    def _predict_one_class(self) -> None:
        """A node predicts a class exactly if paths end there."""
        nodes = np.arange(len(self.p))
        terms: list[Term] = [(nodes[:, None], self.c, 1.0), (nodes, self.p, -1.0)]
        self.add_rows("predict_one_class", len(nodes), terms, lower=0, upper=0)

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
                self.add_rows(f"feature_once_{n}", n_features, terms, upper=1)
            left, right = self.c[2 * n - 1], self.c[2 * n]
            terms = [(classes, left, 1.0), (classes, right, 1.0)]
            terms.append((classes[:, None], self.b[n - 1], -1.0))
            self.add_rows(f"siblings_differ_{n}", n_classes, terms, upper=0)

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
        self.add_rows("static_conflict", int(mixed.sum()), terms, upper=1)

    def count_features(self) -> NDArray[np.intp]:
        """Return the columns of ``a[f] = Σ_n b[n, f]``, how often each feature is used.

        They make rows on the features of the whole tree short.
        """
        if "a" not in self.families:
            n_branch, n_features = self.b.shape
            a = self.add_variables(
                "a",
                (n_features,),
                upper=n_branch,
                integer=False,
                value=lambda x: x[self.b].sum(axis=0),
            )
            features = np.arange(n_features)
            terms: list[Term] = [(features, a, 1.0), (features, self.b, -1.0)]
            self.add_rows("count_features", n_features, terms, lower=0, upper=0)
        return self.families["a"]

    def mark_used(self, group: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of ``u[g] >= Σ_{f in g} b[n, f]``: 1 if the tree uses a group."""
        if "u" not in self.families:
            n_branch, n_groups = len(self.b), int(group.max(initial=-1)) + 1

            def value(x: NDArray[np.float64]) -> NDArray[np.float64]:
                used = np.zeros(n_groups)
                np.maximum.at(used, group, x[self.b].max(axis=0))
                return used

            used = self.add_variables("u", (n_groups,), integer=False, value=value)
            place = np.arange(n_branch * n_groups).reshape(n_branch, n_groups)
            terms: list[Term] = [(place[:, group], self.b, 1.0), (place, used, -1.0)]
            self.add_rows("mark_used", place.size, terms, upper=0)
        return self.families["u"]

    def weigh_leaves(self, weights: NDArray[np.float64], least: float) -> None:
        """Every leaf receives rows of at least some weight.

        ``Σ_r weights[r] · r[n, r] >= least · p[n]``, where ``r[n, r]`` is at
        most 1 if row r reaches node n and at most 0 otherwise: it follows the
        branches like a flow.
        """
        for n in self.topology.nodes[1:]:  # the root has all rows
            terms: list[Term] = [(0, self._reach(n), weights), (0, self.p[n - 1], -least)]
            self.add_rows(f"leaf_weight_{n}", 1, terms, lower=0)

    def _reach(self, node: int) -> NDArray[np.intp]:
        """Return the columns of ``r[n, r]``, at most 1 if row r reaches node n, else at most 0."""
        name = f"r_{node}"
        if name not in self.families:
            leads = np.equal(self.instances.X, node % 2)
            parent, branch = node // 2, self.b[node // 2 - 1]
            above = self._reach(parent) if parent > 1 else None

            def value(x: Point) -> Point:
                by_branch: Point = leads @ x[branch]
                return by_branch if above is None else np.minimum(by_branch, x[above])

            rows = np.arange(len(leads))
            reach = self.add_variables(name, rows.shape, integer=False, value=value)
            row, feature = np.nonzero(leads)
            terms: list[Term] = [(rows, reach, 1.0), (row, branch[feature], -1.0)]
            self.add_rows(f"reach_by_branch_{node}", len(rows), terms, upper=0)
            if above is not None:
                terms = [(rows, reach, 1.0), (rows, above, -1.0)]
                self.add_rows(f"reach_by_parent_{node}", len(rows), terms, upper=0)
        return self.families[name]

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

    def encode(self, tree: Tree, columns: NDArray[np.intp] | None = None) -> Point:
        """Return the complete solution that stands for a tree, or raise a `ValueError`.

        It should have no splits that make no difference, which some programs forbid. `columns` are
        the original columns behind the features of the program; None if they are the same.
        """
        if tree.depth > (depth := self.topology.depth):
            raise ValueError(
                f"a tree of depth {tree.depth} is no solution of a model of depth {depth}"
            )
        known = np.arange(self.b.shape[1]) if columns is None else columns
        position = {int(j): k for k, j in enumerate(known)}
        if missing := [j for j in tree.features if j not in position]:
            raise ValueError(f"the model has no features for the columns {missing}")
        features, labels = heap_of(tree)
        return self.encode_heap({n: position[j] for n, j in features.items()}, labels)

    def encode_heap(self, features: Mapping[int, int], labels: Mapping[int, int]) -> Point:
        """Return the solution for split features and leaf labels under heap numbers."""
        x = np.zeros(self.n_variables)
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
        self.complete(x)
        return x

    def _encode_right(self, x: Point, leaf: int, instances: NDArray[np.intp]) -> None:
        """Set the variables of instances that a leaf classifies correctly."""
        x[self.g[instances]] = 1


def heap_of(tree: Tree) -> tuple[dict[int, int], dict[int, int]]:
    """Return the split features and the leaf labels of a tree under heap numbers."""
    heap = tree.heap()
    features = {n: node.feature for n, node in heap.items() if isinstance(node, Split)}
    return features, {n: node.label for n, node in heap.items() if isinstance(node, Leaf)}
