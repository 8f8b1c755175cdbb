"""Cuts from instances that a tree cannot tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct.mip.instances import Instances
from goct.mip.model import Point, Rows, Separator, Term
from goct.mip.tree_model import TreeModel

_UNUSED = 1e-6
_BLOCK = 1 << 22


class ConflictCuts(Separator):
    """Feature-activated conflict cuts (eq. ``Fs`` in the paper).

    Let F' be the features that a point does not use, and G a set of instances
    that agree on all others. Without a split on F', they all get one label:

    ``Σ_{i in G} v[i] g[i] <= max_k V_k + (V - max_k V_k) · Σ_n Σ_{f in F'} b[n, f]``

    where V is the sum of v over G and V_k that over the instances of class k.
    The paper has v = 1 (count form); the weighted form has ``v = w``.

    Parameters
    ----------
    tree
        The model.
    weighted
        Which form.
    min_violation
        Cuts must be violated by more than this, relative to ``V - max_k V_k``.
    max_cuts
        At most so many are returned, the most violated ones.
    """

    is_lazy = False

    def __init__(
        self,
        tree: TreeModel,
        *,
        weighted: bool = False,
        min_violation: float = 0.01,
        max_cuts: int = 200,
    ) -> None:
        self.tree = tree
        self.name = "weighted_conflict" if weighted else "count_conflict"
        self.min_violation = min_violation
        self.max_cuts = max_cuts
        self._a = tree.count_features()
        data = tree.instances
        self._v = data.weight if weighted else np.ones(len(data))

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return violated cuts for the features that the point does not use."""
        data, v = self.tree.instances, self._v
        if len(data) == 0:
            return None
        a = x[self._a]
        unused = np.flatnonzero(a <= _UNUSED)
        used = np.ascontiguousarray(data.X[:, a > _UNUSED])
        group = np.asarray(_core.group_rows(used)[1], dtype=np.intp)[data.row]
        n_groups = int(group.max()) + 1
        by_class = np.bincount(
            group * data.n_classes + data.label, weights=v, minlength=n_groups * data.n_classes
        ).reshape(n_groups, data.n_classes)
        most = by_class.max(axis=1)
        rest = by_class.sum(axis=1) - most
        activity = np.bincount(group, weights=v * x[self.tree.g], minlength=n_groups)
        violation = activity - most - rest * a[unused].sum()
        chosen = np.flatnonzero(violation > self.min_violation * np.maximum(rest, 1e-9))
        if len(chosen) == 0:
            return None
        chosen = chosen[np.argsort(-violation[chosen], kind="stable")[: self.max_cuts]]
        number = np.full(n_groups, -1)
        number[chosen] = np.arange(len(chosen))
        inside = np.flatnonzero(number[group] >= 0)
        # Divided by the largest coefficient, so that rows are of one size.
        size = np.maximum(rest[chosen], 1e-9)
        row = number[group[inside]]
        terms: list[Term] = [
            (row, self.tree.g[inside], v[inside] / size[row]),
            (np.arange(len(chosen))[:, None], self._a[unused], -1.0),
        ]
        return Rows.of_terms(self.name, len(chosen), terms, upper=most[chosen] / size)


class PairCuts(Separator):
    """Cuts for two instances of different labels.

    ``g[i] + g[j] <= 1 + Σ_n Σ_{f in diff(i, j)} b[n, f]``

    where diff are the features in which they differ: unless one of them is
    used somewhere, both get the same label. Only pairs of near neighbours are
    considered, whose cuts are the strongest.

    Parameters
    ----------
    tree
        The model.
    neighbours
        How many nearest instances of another label each instance is paired with.
    min_violation
        Cuts must be violated by more than this.
    max_cuts
        At most so many are returned, those of the largest violation times weight.
    """

    name = "pair"
    is_lazy = False

    def __init__(
        self,
        tree: TreeModel,
        *,
        neighbours: int = 8,
        min_violation: float = 0.01,
        max_cuts: int = 200,
    ) -> None:
        self.tree = tree
        self.min_violation = min_violation
        self.max_cuts = max_cuts
        self._a = tree.count_features()
        self.first, self.second = near_pairs(tree.instances, neighbours)
        weight = tree.instances.weight
        self._weight = np.minimum(weight[self.first], weight[self.second]) + 1e-9

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return violated cuts among the pairs."""
        data = self.tree.instances
        g, a = x[self.tree.g], x[self._a]
        excess = g[self.first] + g[self.second] - 1
        likely = np.flatnonzero(excess > self.min_violation)
        i, j = data.row[self.first[likely]], data.row[self.second[likely]]
        used = np.flatnonzero(a > _UNUSED)
        differ = data.X[np.ix_(i, used)] != data.X[np.ix_(j, used)]
        violation = excess[likely] - differ @ a[used]
        chosen = np.flatnonzero(violation > self.min_violation)
        if len(chosen) == 0:
            return None
        score = violation[chosen] * self._weight[likely[chosen]]
        chosen = chosen[np.argsort(-score, kind="stable")[: self.max_cuts]]
        number, feature = np.nonzero(data.X[i[chosen]] != data.X[j[chosen]])
        rows, pair = np.arange(len(chosen)), likely[chosen]
        terms: list[Term] = [
            (rows, self.tree.g[self.first[pair]], 1.0),
            (rows, self.tree.g[self.second[pair]], 1.0),
            (number, self._a[feature], -1.0),
        ]
        return Rows.of_terms(self.name, len(chosen), terms, upper=1.0)


def near_pairs(instances: Instances, neighbours: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs of near instances with different labels and different rows, each pair once."""
    n = len(instances)
    Z = instances.X[instances.row].astype(np.float32)
    ones = Z.sum(axis=1)
    first: list[NDArray[np.intp]] = []
    second: list[NDArray[np.intp]] = []
    k, step = min(neighbours, n - 1), max(1, _BLOCK // max(n, 1))
    for begin in range(0, n if k > 0 else 0, step):
        block = slice(begin, begin + step)
        distance = ones[block, None] + ones - 2 * (Z[block] @ Z.T)
        distance[instances.label[block, None] == instances.label] = np.inf
        distance[distance == 0] = np.inf
        near = np.argpartition(distance, k - 1, axis=1)[:, :k]
        mine = np.repeat(np.arange(begin, begin + len(near)), k)
        other = near.ravel()
        is_pair = np.isfinite(distance[mine - begin, other])
        first.append(np.minimum(mine, other)[is_pair])
        second.append(np.maximum(mine, other)[is_pair])
    if not first:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    pairs = np.unique(np.concatenate(first) * n + np.concatenate(second))
    return pairs // n, pairs % n
