"""BendersOCT: the model without flows, and the cuts that stand for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goct.mip.instances import Instances, gather
from goct.mip.model import Point, Rows, Separator, Term
from goct.mip.tree_model import TreeModel

INTEGER_TOLERANCE = 1e-6
# How far capacities move towards the core point. It only decides between cuts that are about equal.
_PERTURBATION = 1e-4


class BendersOCT(TreeModel):
    """The master problem (eq. ``bendersOCT_master_2`` in the paper).

    ``g[i]`` is 1 if instance i is classified correctly. That it is not larger
    than the maximum flow of i through the tree is left to
    :class:`BendersCuts`. On the unique dataset this is BendersOCT-weighted, on
    one with copies BendersOCT. Given b, p and c, the best g is integral, so it
    is continuous unless `integer_flow` is set, as in the paper.

    Parameters
    ----------
    instances, depth, split_cost, max_splits
        As for :class:`goct.mip.tree_model.TreeModel`.
    integer_flow
        Whether g is binary.
    at_fractional, min_violation, max_cuts
        As for :class:`BendersCuts`.
    """

    def __init__(
        self,
        instances: Instances,
        depth: int,
        *,
        split_cost: float = 0.0,
        max_splits: int | None = None,
        integer_flow: bool = False,
        at_fractional: bool = False,
        min_violation: float = 0.01,
        max_cuts: int = 200,
    ) -> None:
        super().__init__(instances, depth, split_cost=split_cost, max_splits=max_splits)
        self.g = self.model.add_variables("g", (len(instances),), integer=integer_flow)
        self.model.objective[self.g] = instances.weight
        self.model.separators.append(
            BendersCuts(
                self, at_fractional=at_fractional, min_violation=min_violation, max_cuts=max_cuts
            )
        )


class BendersCuts(Separator):
    """The cuts ``g[i] <= capacity of a cut between source and sink``, for every instance i.

    In the network of instance i, the arc from n to its left child has the
    capacity ``Σ_f b[n, f]`` over the features that are 0 in i, that to its
    right child the same over those that are 1, and the arc to the sink
    ``c[n, y_i]``. A set S of nodes that holds the root gives the cut

    ``g[i] <= Σ_{n in S} (c[n, y_i] + Σ capacities of arcs from n to children outside S)``.

    At integral points, S is the path of i, as in the separation procedure of
    the paper. At others, the least capacity below each node follows from

    ``cut(n) = c[n, y_i] + min(capL(n), cut(2n)) + min(capR(n), cut(2n+1))``

    and a cut is violated exactly if ``g[i] > cut(1)``. Among cuts of nearly
    the same capacity, the one that is least at a point in the interior wins,
    since it tends to be the stronger one.

    Parameters
    ----------
    tree
        The model.
    at_fractional
        Whether to look for cuts at points that are not integral.
    min_violation
        Cuts at such points must be violated by more than this.
    max_cuts
        At most so many cuts are returned, those of the largest violation times
        weight.
    """

    name = "benders"
    is_lazy = True

    def __init__(
        self,
        tree: TreeModel,
        *,
        at_fractional: bool = True,
        min_violation: float = 0.01,
        max_cuts: int = 200,
    ) -> None:
        self.tree = tree
        self.at_fractional = at_fractional
        self.min_violation = min_violation
        self.max_cuts = max_cuts
        self._XT = np.ascontiguousarray(tree.instances.X.T, dtype=np.float64)
        nodes = tree.topology.nodes
        paths = [tree.path(n) for n in nodes]
        start = np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.intp)
        self._paths = start, np.concatenate(paths).astype(np.intp)

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return violated cuts, at most one for each instance."""
        if is_integral:
            violated, amount = self._wrong_at(x)
        elif self.at_fractional:
            amount = x[self.tree.g] - np.minimum(1.0, self._least_cuts(x)[0])
            violated = np.flatnonzero(amount > self.min_violation)
            amount = amount[violated]
        else:
            return None
        if len(violated) == 0:
            return None
        if len(violated) > self.max_cuts:
            weighted = amount * (self.tree.instances.weight[violated] + 1e-9)
            violated = violated[np.argpartition(-weighted, self.max_cuts)[: self.max_cuts]]
        sets = self._paths_of(x, violated) if is_integral else self._source_sets(x, violated)
        return self.rows(violated, sets)

    def allows(self, x: Point) -> bool:
        """Say whether every instance with positive g is classified correctly."""
        return len(self._wrong_at(x)[0]) == 0

    def rows(self, instances: NDArray[np.intp], sets: NDArray[np.bool_]) -> Rows:
        """Return one cut for each of some instances.

        Parameters
        ----------
        instances
            The instances.
        sets
            For each node and instance, whether the node is in S.
        """
        tree, data = self.tree, self.tree.instances
        n_branch = len(tree.b)
        i = np.arange(len(instances))
        node, j = np.nonzero(sets)
        terms: list[Term] = [
            (i, tree.g[instances], 1.0),
            (j, tree.c[node, data.label[instances[j]]], -1.0),
        ]
        upper = np.zeros(len(instances))
        j, node = j[node < n_branch], node[node < n_branch]
        to_left, to_right = ~sets[2 * node + 1, j], ~sets[2 * node + 2, j]
        row = data.row[instances[j]]

        def all_features(k: NDArray[np.intp]) -> None:
            """Σ_f b[n, f] = 1 - Σ p over the path to n, which is shorter."""
            position, entry = gather(self._paths, node[k])
            terms.append((j[k][position], tree.p[entry], 1.0))
            np.add.at(upper, j[k], 1.0)

        def some_features(
            k: NDArray[np.intp], side: tuple[NDArray[np.intp], NDArray[np.intp]], sign: float
        ) -> None:
            position, feature = gather(side, row[k])
            terms.append((j[k][position], tree.b[node[k][position], feature], sign))

        all_features(np.flatnonzero(to_left & to_right))
        ones = (data.ones[0][1:] - data.ones[0][:-1])[row]
        zeros = data.X.shape[1] - ones
        for crosses, mine, other, own_side, other_side in (
            (to_left & ~to_right, zeros, ones, data.zeros, data.ones),
            (to_right & ~to_left, ones, zeros, data.ones, data.zeros),
        ):
            is_short = mine <= other + tree.topology.depth
            some_features(np.flatnonzero(crosses & is_short), own_side, -1.0)
            long = np.flatnonzero(crosses & ~is_short)
            all_features(long)
            some_features(long, other_side, 1.0)
        return Rows.of_terms(self.name, len(instances), terms, upper=upper)

    def _route(self, x: Point) -> NDArray[np.intp]:
        """Return the index of the leaf of every row in the tree of an integral point."""
        b = x[self.tree.b]
        feature = np.where(b.max(axis=1, initial=0.0) > 0.5, b.argmax(axis=1), -1)
        feature = np.append(feature, np.full(len(self.tree.p) - len(feature), -1))
        X = self.tree.instances.X
        rows, node = np.arange(len(X)), np.zeros(len(X), dtype=np.intp)
        for _ in range(self.tree.topology.depth):
            split = feature[node]
            node = np.where(split >= 0, 2 * node + 1 + X[rows, split], node)
        return node

    def _wrong_at(self, x: Point) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the instances that an integral point misclassifies although g says otherwise."""
        data = self.tree.instances
        label = x[self.tree.c].argmax(axis=1)[self._route(x)]
        g = x[self.tree.g]
        wrong = np.flatnonzero((g > INTEGER_TOLERANCE) & (label[data.row] != data.label))
        return wrong, g[wrong]

    def _paths_of(self, x: Point, instances: NDArray[np.intp]) -> NDArray[np.bool_]:
        leaf = self._route(x)[self.tree.instances.row[instances]]
        sets = np.zeros((len(self.tree.p), len(instances)), dtype=bool)
        position, node = gather(self._paths, leaf)
        sets[node, position] = True
        return sets

    def _capacities(
        self, x: Point, rows: NDArray[np.intp] | slice
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        b = x[self.tree.b]
        right = b @ self._XT[:, rows]
        return b.sum(axis=1)[:, None] - right, right

    def _below(
        self, left: NDArray[np.float64], right: NDArray[np.float64], cut: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Turn the capacities to the sink into the least cuts below each node."""
        for n in range(len(left) - 1, -1, -1):
            cut[n] += np.minimum(left[n], cut[2 * n + 1])
            cut[n] += np.minimum(right[n], cut[2 * n + 2])
        return cut

    def _least_cuts(self, x: Point) -> NDArray[np.float64]:
        """Return the least capacity below each node (first index) for each instance."""
        data = self.tree.instances
        left, right = self._capacities(x, slice(None))
        return self._below(left[:, data.row], right[:, data.row], x[self.tree.c][:, data.label])

    def _source_sets(self, x: Point, instances: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the nodes on the source side of nearly least cuts."""
        data, e = self.tree.instances, _PERTURBATION
        row, label = data.row[instances], data.label[instances]
        n_branch, n_features = self.tree.b.shape
        left, right = self._capacities(x, row)
        # The core point: a node that is reached splits in three of four cases, on any feature.
        share = 0.75 ** np.array([len(self.tree.path(n)) for n in self.tree.topology.nodes])
        ones = self._XT[:, row].sum(axis=0) / n_features
        right = (1 - e) * right + e * share[:n_branch, None] * ones
        left = (1 - e) * left + e * share[:n_branch, None] * (1 - ones)
        sink = (1 - e) * x[self.tree.c][:, label] + e * share[:, None] / (3 * data.n_classes)
        cut = self._below(left, right, sink)
        sets = np.zeros(cut.shape, dtype=bool)
        sets[0] = True
        for n in range(n_branch):
            sets[2 * n + 1] = sets[n] & (cut[2 * n + 1] < left[n])
            sets[2 * n + 2] = sets[n] & (cut[2 * n + 2] < right[n])
        return sets
