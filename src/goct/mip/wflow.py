"""WFlowOCT: the compact weighted flow model of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goct.mip.model import MipModel, Term
from goct.mip.topology import Topology
from goct.tree import Leaf, Split, Tree


@dataclass(frozen=True, eq=False)
class Instances:
    """The unique dataset of the paper, with a reward for each instance.

    Attributes
    ----------
    X
        The distinct feature vectors, shape (rows, features).
    row, label
        The row and the class index of each instance.
    weight
        The reward if the label is predicted in the row; positive.
    n_classes
        The number of classes.
    """

    X: NDArray[np.uint8]
    row: NDArray[np.intp]
    label: NDArray[np.intp]
    weight: NDArray[np.float64]
    n_classes: int


class WFlowOCT:
    """The model (eq. ``flow_reg`` in the paper) of depth-D trees as flows.

    Every instance i sends one unit from the source s through the tree to the
    sink t, if it is classified correctly:

    - ``b[n, f]``: branch node n splits on feature f;
    - ``p[n]``: the path ends in node n;
    - ``c[n, k]``: node n predicts class k;
    - ``z_in[n, i]``: instance i enters node n;
    - ``z_out[n, i]``: instance i leaves node n for the sink.

    The objective is ``Σ w[i] · z_out[n, i] - s · Σ b[n, f]`` with the split
    cost s. Given b, p and c, the flows have integral optima, so z is
    continuous unless `integer_flow` is set, as it is in the paper.

    Parameters
    ----------
    instances
        The weighted unique dataset.
    depth
        The depth of the tree, at least 1.
    split_cost
        The cost of each split, in the unit of the weights.
    max_splits
        At most this many splits; no limit if None.
    integer_flow
        Whether z is binary.
    """

    def __init__(
        self,
        instances: Instances,
        depth: int,
        *,
        split_cost: float = 0.0,
        max_splits: int | None = None,
        integer_flow: bool = False,
    ) -> None:
        self.instances = instances
        self.topology = Topology(depth)
        self.model = MipModel()
        n_branch, n_nodes = len(self.topology.branch_nodes), len(self.topology.nodes)
        n_features, n_instances = instances.X.shape[1], len(instances.row)

        # Node n has the index n - 1.
        add = self.model.add_variables
        self.b = add("b", (n_branch, n_features), integer=True)
        self.p = add("p", (n_nodes,), integer=True)
        self.c = add("c", (n_nodes, instances.n_classes), integer=True)
        self.z_in = add("z_in", (n_nodes, n_instances), integer=integer_flow)
        self.z_out = add("z_out", (n_nodes, n_instances), integer=integer_flow)

        self._branch_or_predict()
        self._predict_one_class()
        self._conserve_flow()
        self._follow_branches()
        self._leave_where_correct()
        if max_splits is not None:
            self.model.add_rows("max_splits", 1, [(0, self.b.ravel(), 1)], upper=max_splits)
        self.model.objective[self.z_out] = instances.weight
        self.model.objective[self.b] = -split_cost

    def _branch_or_predict(self) -> None:
        """A node branches, or it or one of its ancestors ends the path."""
        for n in self.topology.nodes:
            path = [m - 1 for m in (*self.topology.ancestors(n), n)]
            terms: list[Term] = [(0, self.p[path], 1)]
            if n in self.topology.branch_nodes:
                terms.append((0, self.b[n - 1], 1))
            self.model.add_rows(f"branch_or_predict_{n}", 1, terms, lower=1, upper=1)

    def _predict_one_class(self) -> None:
        """A node predicts a class exactly if paths end there."""
        nodes = np.arange(len(self.p))
        terms: list[Term] = [(nodes[:, None], self.c, 1.0), (nodes, self.p, -1.0)]
        self.model.add_rows("predict_one_class", len(nodes), terms, lower=0, upper=0)

    def _conserve_flow(self) -> None:
        """What enters a node leaves it, to a child or to the sink."""
        i = np.arange(len(self.instances.row))
        for n in self.topology.nodes:
            terms: list[Term] = [(i, self.z_in[n - 1], 1.0), (i, self.z_out[n - 1], -1.0)]
            if n in self.topology.branch_nodes:
                terms += [(i, self.z_in[2 * n - 1], -1.0), (i, self.z_in[2 * n], -1.0)]
            self.model.add_rows(f"conserve_flow_{n}", len(i), terms, lower=0, upper=0)

    def _follow_branches(self) -> None:
        """An instance goes left only on a feature that is 0, right only on one that is 1."""
        x = self.instances.X[self.instances.row]
        i = np.arange(len(x))
        for value, side in ((0, "left"), (1, "right")):
            instance, feature = np.nonzero(x == value)
            for n in self.topology.branch_nodes:
                child = self.z_in[2 * n + value - 1]
                terms: list[Term] = [(i, child, 1.0), (instance, self.b[n - 1, feature], -1.0)]
                self.model.add_rows(f"go_{side}_{n}", len(i), terms, upper=0)

    def _leave_where_correct(self) -> None:
        """An instance reaches the sink only from a node that predicts its label."""
        i = np.arange(len(self.instances.row))
        for n in self.topology.nodes:
            label = self.c[n - 1, self.instances.label]
            terms: list[Term] = [(i, self.z_out[n - 1], 1.0), (i, label, -1.0)]
            self.model.add_rows(f"leave_{n}", len(i), terms, upper=0)

    def decode(self, x: NDArray[np.float64]) -> tuple[dict[int, int], dict[int, int]]:
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

    def encode(self, tree: Tree) -> NDArray[np.float64]:
        """Return the solution that stands for a tree over the features of the instances."""
        x = np.zeros(self.model.n_variables)
        row, label = self.instances.row, self.instances.label
        reached = {1: np.ones(len(row), dtype=bool)}
        heap = tree.heap()
        for n in sorted(heap):
            node = heap[n]
            if isinstance(node, Split):
                x[self.b[n - 1, node.feature]] = 1
                goes_right = self.instances.X[row, node.feature] == 1
                reached[2 * n] = reached[n] & ~goes_right
                reached[2 * n + 1] = reached[n] & goes_right
                continue
            assert isinstance(node, Leaf)
            x[self.p[n - 1]] = x[self.c[n - 1, node.label]] = 1
            correct = reached[n] & (label == node.label)
            x[self.z_out[n - 1, correct]] = 1
            for m in (*self.topology.ancestors(n), n):
                x[self.z_in[m - 1, correct]] = 1
        return x
