"""The data of a learning problem, reduced to what trees can tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct import _core
from goct._validation import (
    check_binary_matrix,
    check_labels,
    check_numbers,
    names_of_columns,
    plain,
)
from goct.class_weight import weigh_classes
from goct.exact import scale_to_integers
from goct.tree import Leaf, Node, Split, Tree


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A classification problem over 0/1 features, as engines see it.

    Build one with :meth:`from_arrays`. Rows with equal feature vectors are
    merged, and columns that no tree needs are left out: constant columns,
    copies of an earlier column and complements of one. Trees still name the
    original columns, since each column that is kept remembers its place.

    Attributes
    ----------
    X
        The distinct feature vectors in lexicographic order, restricted to the
        columns that are kept; shape (rows, kept columns), 0/1 bytes.
    counts
        The weight of each class in each row of `X`, in multiples of
        `weight_unit`; shape (rows, classes).
    samples
        The number of samples in each row of `X`, whatever their weight; those
        of weight 0 do not count.
    classes
        The labels, in sorted order unless another was given.
    positive
        The index in `classes` of the positive class. None if there are more
        than two classes and none was named, or if the only label is a
        negative one (0, -1 or False).
    feature_names
        A name for every original column.
    kept
        The original column behind each column of `X`.
    source, flipped
        For every original column, the column of `X` that tells its value (-1
        for constant columns) and whether it is the complement of it (for a
        constant column: whether its value is 1).
    costs
        The total cost of predicting each class in each row of `X`, weights
        included, in multiples of `cost_unit`; None if there are no costs.
    weight_unit, cost_unit
        What one count, and one unit of cost, stands for.
    is_exact
        False if weights or costs were too irregular to be written as integer
        multiples of a unit and were rounded (relative to their sum, by about
        2**-28). Proofs then hold for the rounded numbers.
    n_samples
        The number of rows the problem was built from.
    """

    X: NDArray[np.uint8]
    counts: NDArray[np.int64]
    samples: NDArray[np.int64]
    classes: tuple[Any, ...]
    positive: int | None
    feature_names: tuple[str, ...]
    kept: NDArray[np.intp]
    source: NDArray[np.intp]
    flipped: NDArray[np.bool_]
    costs: NDArray[np.int64] | None
    weight_unit: Fraction
    cost_unit: Fraction
    is_exact: bool
    n_samples: int

    def __post_init__(self) -> None:
        arrays = self.X, self.counts, self.samples, self.kept, self.source, self.flipped, self.costs
        for array in arrays:
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        classes: Sequence[Any] | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, Any] | None = None,
        costs: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Problem:
        """Build a problem from a 0/1 matrix and labels.

        Parameters
        ----------
        X
            Features, shape (samples, features): 0/1 numbers or booleans.
        y
            Labels of any type that can be sorted.
        classes
            All classes, in order, if they are known beforehand: each label must
            be one of them, and some may not occur. By default the labels that
            occur, in sorted order.
        pos_label
            The positive class of the metrics for two classes. By default the
            last of two classes in order: 1 of {0, 1}, True, "yes" of
            {"no", "yes"}.
        sample_weight
            Non-negative weights of the samples; 1 if not given. Integers and
            fractions such as 0.1 or 1/3 are exact.
        class_weight
            What the weights of the samples of a class are multiplied by: a
            dictionary from labels to numbers, 1 for labels that it does not
            have; or "balanced", which gives all classes the same weight in total.
        costs
            The cost of predicting each class for each sample, shape (samples,
            classes) with classes in order; or, of shape (samples,), the
            cost of predicting anything but the right class. Costs are
            multiplied by the weights. Needed by
            :class:`goct.metrics.InstanceCost`.
        feature_names
            Names for the columns of `X`; taken from a data frame by default,
            else x0, x1, ...

        Returns
        -------
        Problem

        Raises
        ------
        ValueError, TypeError
            If the input is not as described; the message names the place.
        """
        if feature_names is None:
            feature_names = names_of_columns(X)
        matrix = check_binary_matrix(X, feature_names)
        n_samples, n_features = matrix.shape
        if n_samples == 0:
            raise ValueError("X has no rows; at least one is needed")
        if n_samples > np.iinfo(np.int32).max:
            raise ValueError(
                f"X has {n_samples} rows; at most {np.iinfo(np.int32).max} are allowed"
            )
        names = _check_names(feature_names, n_features)
        found, labels = check_labels(y, n_samples)
        if classes is not None:
            found, labels = _check_classes(classes, found, labels)
        found, labels, positive = _find_positive(found, labels, pos_label)
        weights: NDArray[np.int64] | None = None
        weight_unit, weights_exact = Fraction(1), True
        numbers, class_unit = weigh_classes(class_weight, found, labels, sample_weight)
        if numbers is not None:
            weights, weight_unit, weights_exact = scale_to_integers(numbers, "sample_weight")
            weight_unit *= class_unit
        cost_matrix, cost_unit, costs_exact = _check_costs(costs, labels, len(found))
        merged = _merge(matrix, labels, len(found), weights, cost_matrix)
        rows, kept, source, flipped = _reduce_columns(merged.rows)
        return cls(
            X=rows,
            counts=merged.counts,
            samples=merged.samples,
            classes=found,
            positive=positive,
            feature_names=names,
            kept=kept,
            source=source,
            flipped=flipped,
            costs=merged.costs,
            weight_unit=weight_unit,
            cost_unit=cost_unit * (1 if costs is None else weight_unit),
            is_exact=weights_exact and costs_exact,
            n_samples=n_samples,
        )

    @property
    def n_rows(self) -> int:
        """The number of distinct feature vectors."""
        return len(self.X)

    @property
    def n_features(self) -> int:
        """The number of original columns."""
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def class_weights(self) -> tuple[int | Fraction, ...]:
        """The total weight of each class."""
        return tuple(self.weight(total) for total in self.counts.sum(axis=0).tolist())

    @property
    def total_weight(self) -> int | Fraction:
        """The total weight of all samples, |I| in the paper."""
        return sum(self.class_weights)

    @property
    def n_pos(self) -> int | Fraction:
        """The total weight of the positive class, n+ in the paper."""
        return 0 if self.positive is None else self.class_weights[self.positive]

    @property
    def n_neg(self) -> int | Fraction:
        """The total weight of the other classes, n- in the paper."""
        return self.total_weight - self.n_pos

    def instances(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
        """Return the unique dataset of the paper (Definition 1).

        Returns
        -------
        rows, labels, weights
            For every distinct pair of a feature vector and a label: the row of
            `X`, the index of the class and the weight in `weight_unit`.
        """
        rows, labels = np.nonzero(self.counts)
        return rows, labels, self.counts[rows, labels]

    def conflicts(self) -> NDArray[np.intp]:
        """Return the rows of `X` that occur with more than one label.

        Each of them is a conflict subset of the paper (Definition 2): no tree
        classifies all of its instances correctly.
        """
        return np.flatnonzero((self.counts > 0).sum(axis=1) > 1)

    def column(self, feature: int) -> NDArray[np.uint8]:
        """Return the values of an original column in the distinct rows."""
        if self.source[feature] < 0:
            return np.full(self.n_rows, self.flipped[feature], dtype=np.uint8)
        return self.X[:, self.source[feature]] ^ np.uint8(self.flipped[feature])

    def restricted(self, features: Iterable[int]) -> Problem:
        """Return the problem as seen by trees that use some of the original columns only.

        Rows that agree on these columns are merged. The other columns count as
        constant, but keep their places and names, so that a tree of the
        restricted problem is one of this problem and has the same confusion
        matrix there.

        Parameters
        ----------
        features
            The original columns that trees may use.
        """
        chosen = np.array(sorted(set(features)), dtype=np.intp)
        values = np.zeros((self.n_rows, len(chosen)), dtype=np.uint8)
        for k, feature in enumerate(chosen.tolist()):
            values[:, k] = self.column(feature)
        first, group = _core.group_rows(values)
        counts = np.zeros((len(first), self.n_classes), dtype=np.int64)
        np.add.at(counts, group, self.counts)
        samples = _sum_by_group(group, len(first), self.samples)
        costs = None
        if self.costs is not None:
            costs = np.zeros((len(first), self.n_classes), dtype=np.int64)
            np.add.at(costs, group, self.costs)
        rows = np.zeros((len(first), self.n_features), dtype=np.uint8)
        rows[:, chosen] = values[first]
        rows, kept, source, flipped = _reduce_columns(rows)
        return replace(
            self,
            X=rows,
            counts=counts,
            samples=samples,
            kept=kept,
            source=source,
            flipped=flipped,
            costs=costs,
        )

    def reduce(self, tree: Tree) -> Tree:
        """Return a tree over the columns of `X` that predicts like one over the original columns.

        Splits on constant columns disappear; those on complements swap sides.
        """

        def visit(node: Node) -> Node:
            if isinstance(node, Leaf):
                return node
            source, flipped = int(self.source[node.feature]), bool(self.flipped[node.feature])
            if source < 0:
                return visit(node.right if flipped else node.left)
            left, right = visit(node.left), visit(node.right)
            return Split(source, right, left) if flipped else Split(source, left, right)

        names = tuple(self.feature_names[j] for j in self.kept)
        return Tree(visit(tree.root), tree.classes, names)

    def confusion_matrix(self, predicted: NDArray[np.intp]) -> list[list[int | Fraction]]:
        """Return the weight of each pair of true and predicted class.

        Parameters
        ----------
        predicted
            The index of the predicted class for each row of `X`.
        """
        matrix = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        for k in range(self.n_classes):
            matrix[:, k] = self.counts[predicted == k].sum(axis=0)
        return [[self.weight(entry) for entry in row] for row in matrix.tolist()]

    def weight(self, count: int) -> int | Fraction:
        """Return what a number of counts weighs."""
        return count if self.weight_unit == 1 else self.weight_unit * count

    def __repr__(self) -> str:
        return (
            f"Problem({self.n_samples} samples, {self.n_rows} distinct rows, "
            f"{self.X.shape[1]} of {self.n_features} features, classes {list(self.classes)})"
        )


def _check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(n_features))
    if isinstance(names, str) or len(names) != n_features:
        raise ValueError(
            f"feature_names must be a list of {n_features} names, one per column of X; got "
            + (repr(names) if isinstance(names, str) else str(len(names)))
        )
    names = tuple(str(name) for name in names)
    if len(set(names)) < n_features:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"feature_names holds {twice!r} twice; names must differ")
    return names


def _check_classes(
    classes: Sequence[Any], found: tuple[Any, ...], labels: NDArray[np.intp]
) -> tuple[tuple[Any, ...], NDArray[np.intp]]:
    """Return the given classes and, for each row, the index of its label among them."""
    known = tuple(plain(label) for label in classes)
    place = {label: k for k, label in enumerate(known)}
    if isinstance(classes, str) or len(place) < len(known):
        raise ValueError(f"classes must be labels that differ from each other, got {classes!r}")
    for k, label in enumerate(found):
        if label not in place:
            row = int(np.argmax(labels == k))
            raise ValueError(
                f"y has the label {label!r} at row {row}, which is not one of the classes "
                f"{list(known)}"
            )
    return known, np.array([place[label] for label in found], dtype=np.intp)[labels]


def _find_positive(
    classes: tuple[Any, ...], labels: NDArray[np.intp], pos_label: Any
) -> tuple[tuple[Any, ...], NDArray[np.intp], int | None]:
    if pos_label is None:
        if len(classes) == 1:
            return classes, labels, None if classes[0] in (0, -1) else 0
        return classes, labels, 1 if len(classes) == 2 else None
    pos_label = plain(pos_label)
    if pos_label in classes:
        return classes, labels, classes.index(pos_label)
    if len(classes) == 1 and isinstance(pos_label, str) == isinstance(classes[0], str):
        # The positive class does not occur, which is possible in a small sample.
        extended = tuple(sorted([classes[0], pos_label]))
        return extended, labels + extended.index(classes[0]), extended.index(pos_label)
    raise ValueError(f"pos_label {pos_label!r} is not a label; the labels are {list(classes)}")


def _check_costs(
    costs: ArrayLike | None, labels: NDArray[np.intp], n_classes: int
) -> tuple[NDArray[np.int64] | None, Fraction, bool]:
    if costs is None:
        return None, Fraction(1), True
    n_samples = len(labels)
    one_cost_per_row = np.ndim(costs) == 1
    numbers = check_numbers(costs, "costs", n_samples, negative=not one_cost_per_row)
    if one_cost_per_row:
        wrong = np.arange(n_classes) != labels[:, None]
        numbers = np.where(wrong, numbers[:, None], np.zeros((), dtype=numbers.dtype))
    if numbers.shape != (n_samples, n_classes):
        raise ValueError(
            f"costs must have the shape ({n_samples},) or ({n_samples}, {n_classes}), one column "
            f"per class; got {numbers.shape}"
        )
    return scale_to_integers(numbers, "costs")


class _Merged(NamedTuple):
    """Distinct rows with what there is of each."""

    rows: NDArray[np.uint8]
    counts: NDArray[np.int64]
    samples: NDArray[np.int64]
    costs: NDArray[np.int64] | None


def _merge(
    matrix: NDArray[np.uint8],
    labels: NDArray[np.intp],
    n_classes: int,
    weights: NDArray[np.int64] | None,
    costs: NDArray[np.int64] | None,
) -> _Merged:
    """Return the distinct rows that have a weight."""
    first, group = _core.group_rows(matrix)
    n_rows = len(first)
    counts = _sum_by_group(group * np.int64(n_classes) + labels, n_rows * n_classes, weights)
    counts = counts.reshape(n_rows, n_classes)
    sums = None if costs is None else _weighted_cost_sums(costs, weights, group, n_rows)
    if weights is None:
        return _Merged(matrix[first], counts, counts.sum(axis=1), sums)
    samples = _sum_by_group(group, n_rows, (weights > 0).astype(np.int64))
    counted = counts.any(axis=1)
    return _Merged(
        matrix[first][counted],
        counts[counted],
        samples[counted],
        None if sums is None else sums[counted],
    )


def _sum_by_group(
    group: NDArray[np.integer[Any]], n_groups: int, weights: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    if weights is None:
        return np.bincount(group, minlength=n_groups).astype(np.int64)
    sums = np.zeros(n_groups, dtype=np.int64)
    np.add.at(sums, group, weights)
    return sums


def _weighted_cost_sums(
    costs: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
    group: NDArray[np.int32],
    n_rows: int,
) -> NDArray[np.int64]:
    if weights is not None:
        size = (np.abs(costs.astype(np.float64)) * weights[:, None]).sum()
        if size >= 2**62:
            raise ValueError("costs times sample_weight are too large for exact sums below 2**62")
        costs = costs * weights[:, None]
    columns = [_sum_by_group(group, n_rows, column) for column in costs.T]
    return np.stack(columns, axis=1)


def _reduce_columns(
    rows: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Return the rows with the columns to keep only, which ones, and how the others follow."""
    first = _core.match_columns(np.ascontiguousarray(rows))
    kept = np.flatnonzero(first == np.arange(len(first)))
    position = np.full(len(first) + 1, -1, dtype=np.intp)  # the last one is for constant columns
    position[kept] = np.arange(len(kept))
    source = position[first]
    flipped = rows[0].astype(bool)
    flipped[source >= 0] ^= flipped[kept[source[source >= 0]]]
    return rows if len(kept) == len(first) else np.take(rows, kept, axis=1), kept, source, flipped
