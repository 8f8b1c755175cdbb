"""All separators of tree programs: Benders, conflict, pair, leaf weight and no-good cuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct._validation import check_count, check_positive
from goct.mip.numerics import INTEGER_TOLERANCE
from goct.mip.program import Point, Rows, Separator, Term
from goct.mip.tree_program import Instances, TreeProgram, gather

Check: TypeAlias = Callable[[Mapping[int, int], Mapping[int, int]], bool]
"""Says whether a tree, given by features and labels under heap numbers, is allowed."""

# How far capacities move towards the core point. It only decides between cuts that are about equal.
_PERTURBATION = 1e-4
_UNUSED = 1e-6  # a feature with less than this in a relaxation counts as unused
_TINY = 1e-9  # keeps weights and sizes of cuts, by which they are ranked and scaled, off zero
_BLOCK = 1 << 22  # entries of a block of distances


@dataclass(frozen=True)
class Separation:
    """How cuts are separated.

    Attributes
    ----------
    max_rounds
        How often cuts are separated at each node but the root.
    min_violation
        The least violation of a cut at a fractional point.
    max_cuts
        The largest number of cuts of each family in a round.
    neighbours
        How many neighbours of another label each instance is paired with.
    """

    max_rounds: int = 1
    min_violation: float = 0.01
    max_cuts: int = 200
    neighbours: int = 8

    def __post_init__(self) -> None:
        check_count(self.max_rounds, "max_rounds")
        violation = float(check_positive(self.min_violation, "min_violation"))
        object.__setattr__(self, "min_violation", violation)
        check_count(self.max_cuts, "max_cuts", minimum=1)
        check_count(self.neighbours, "neighbours", minimum=1)


DEFAULT = Separation()  # how cuts are separated unless options say otherwise


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
    """

    name = "benders"
    is_lazy = True

    def __init__(
        self, tree: TreeProgram, separation: Separation = DEFAULT, *, at_fractional: bool = True
    ) -> None:
        self.tree = tree
        self.separation = separation
        self.at_fractional = at_fractional
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
            violated = np.flatnonzero(amount > self.separation.min_violation)
            amount = amount[violated]
        else:
            return None
        if len(violated) == 0:
            return None
        if len(violated) > self.separation.max_cuts:
            weighted = amount * (self.tree.instances.weight[violated] + _TINY)
            violated = violated[
                np.argpartition(-weighted, self.separation.max_cuts)[: self.separation.max_cuts]
            ]
        sets = self._paths_of(x, violated) if is_integral else self._source_sets(x, violated)
        return self.rows(violated, sets)

    def allows(self, x: Point) -> bool:
        """Say whether every instance with positive g is classified correctly."""
        return len(self._wrong_at(x)[0]) == 0

    def rows(self, instances: NDArray[np.intp], sets: NDArray[np.bool_]) -> Rows:
        """Return one cut for each of some instances; `sets` says which nodes are in its S."""
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


class ConflictCuts(Separator):
    """Feature-activated conflict cuts (eq. ``Fs`` in the paper).

    Let F' be the features that a point does not use, and G a set of instances
    that agree on all others. Without a split on F', they all get one label:

    ``Σ_{i in G} v[i] g[i] <= max_k V_k + (V - max_k V_k) · Σ_n Σ_{f in F'} b[n, f]``

    where V is the sum of v over G and V_k that over the instances of class k.
    The paper has v = 1 (count form); the weighted form has ``v = w``.
    Violations are relative to ``V - max_k V_k``.
    """

    is_lazy = False

    def __init__(
        self, tree: TreeProgram, separation: Separation = DEFAULT, *, weighted: bool = False
    ) -> None:
        self.tree = tree
        self.separation = separation
        self.name = "weighted_conflict" if weighted else "count_conflict"
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
        chosen = np.flatnonzero(violation > self.separation.min_violation * np.maximum(rest, _TINY))
        if len(chosen) == 0:
            return None
        chosen = chosen[np.argsort(-violation[chosen], kind="stable")[: self.separation.max_cuts]]
        number = np.full(n_groups, -1)
        number[chosen] = np.arange(len(chosen))
        inside = np.flatnonzero(number[group] >= 0)
        # Divided by the largest coefficient, so that rows are of one size.
        size = np.maximum(rest[chosen], _TINY)
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
    """

    name = "pair"
    is_lazy = False

    def __init__(self, tree: TreeProgram, separation: Separation = DEFAULT) -> None:
        self.tree = tree
        self.separation = separation
        self._a = tree.count_features()
        self.first, self.second = near_pairs(tree.instances, separation.neighbours)
        weight = tree.instances.weight
        self._weight = np.minimum(weight[self.first], weight[self.second]) + _TINY

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return violated cuts among the pairs."""
        data = self.tree.instances
        g, a = x[self.tree.g], x[self._a]
        excess = g[self.first] + g[self.second] - 1
        likely = np.flatnonzero(excess > self.separation.min_violation)
        i, j = data.row[self.first[likely]], data.row[self.second[likely]]
        used = np.flatnonzero(a > _UNUSED)
        differ = data.X[np.ix_(i, used)] != data.X[np.ix_(j, used)]
        violation = excess[likely] - differ @ a[used]
        chosen = np.flatnonzero(violation > self.separation.min_violation)
        if len(chosen) == 0:
            return None
        score = violation[chosen] * self._weight[likely[chosen]]
        chosen = chosen[np.argsort(-score, kind="stable")[: self.separation.max_cuts]]
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


@dataclass(eq=False)
class LeafWeightCuts(Separator):
    """Cuts that keep leaves from being too light.

    Row r reaches node n only if each ancestor m of n has a split that leads it
    there. For any choice of one ancestor m(r) per row,

    ``least · p[n] <= Σ_r weight[r] · Σ_f b[m(r), f]``

    over the features f on which r goes from m(r) towards n. The choice with
    the least right-hand side is the most violated one; its coefficients are
    then lowered to `least`, which is enough for integral b. Violations are
    relative to `least`.
    """

    name = "leaf_weight"
    is_lazy = True

    tree: TreeProgram
    weights: NDArray[np.float64]
    least: float
    min_violation: float = 0.01

    def __post_init__(self) -> None:
        ones = self.tree.instances.X.astype(np.float64)
        self._sides = (1 - ones, ones)

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return the violated cuts, at most one for each node."""
        b, p = x[self.tree.b], x[self.tree.p]
        if is_integral:
            b, p = np.rint(b), np.rint(p)
        n_rows = len(self.weights)
        reach = {1: np.ones(n_rows)}
        where = {1: np.zeros(n_rows, dtype=np.intp)}  # the child of m(r) on the way to n
        terms: list[Term] = []
        n_cuts = 0
        for n in self.tree.topology.nodes[1:]:
            arc = np.minimum(self._sides[n % 2] @ b[n // 2 - 1], 1.0)
            is_less = arc <= reach[n // 2]
            reach[n] = np.where(is_less, arc, reach[n // 2])
            where[n] = np.where(is_less, n, where[n // 2])
            lacks = self.least * p[n - 1] - self.weights @ reach[n]
            if lacks <= self.min_violation * self.least:
                continue
            terms.append((n_cuts, self.tree.p[n - 1], self.least))
            for m in np.unique(where[n]).tolist():
                amount = self._sides[m % 2].T @ np.where(where[n] == m, self.weights, 0.0)
                used = np.flatnonzero(amount)
                amount = np.minimum(amount[used], self.least)
                terms.append((n_cuts, self.tree.b[m // 2 - 1, used], -amount))
            n_cuts += 1
        return Rows.of_terms(self.name, n_cuts, terms, upper=0.0) if n_cuts else None


@dataclass(eq=False)
class NoGoodCuts(Separator):
    """Cuts off single trees that meet the rows within the solver's tolerance, but not exactly.

    ``Σ b[n, f] + Σ c[n, k] <= number of terms - 1`` over the splits and
    leaves of the tree.
    """

    name = "forbidden_tree"
    is_lazy = True

    tree: TreeProgram
    is_allowed: Check

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return the cut against the tree of an integral point, if it is not allowed."""
        if not is_integral:
            return None
        features, labels = self.tree.decode(x)
        if not _is_tree(features, labels) or self.is_allowed(features, labels):
            return None
        columns = [self.tree.b[n - 1, f] for n, f in features.items()]
        columns += [self.tree.c[n - 1, k] for n, k in labels.items()]
        terms: list[Term] = [(0, np.array(columns), 1.0)]
        return Rows.of_terms(self.name, 1, terms, upper=len(columns) - 1.0)

    def allows(self, x: Point) -> bool:
        """Say whether a point is an allowed tree."""
        features, labels = self.tree.decode(x)
        return _is_tree(features, labels) and self.is_allowed(features, labels)


def _is_tree(features: Mapping[int, int], labels: Mapping[int, int]) -> bool:
    """Say whether the nodes are those of one tree."""
    children = {2 * n + side for n in features for side in (0, 1)}
    return children | {1} == features.keys() | labels.keys() and features.keys().isdisjoint(labels)
