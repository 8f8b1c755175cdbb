"""The data of a learning problem, reduced to what trees can tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct import _core
from goct._deadline import timed
from goct._validation import (
    check_binary_matrix,
    check_labels,
    check_numbers,
    names_of_columns,
    plain,
)
from goct.class_weight import weigh_classes
from goct.exact import scale_to_integers
from goct.features import (
    BinaryFeatures,
    Features,
    RankedFeatures,
    RankNames,
    Ranks,
    group_ranks,
    take_rows,
)
from goct.tree import Leaf, Node, Split, Tree

if TYPE_CHECKING:
    from goct.binarize.plain import PlainBinarizer


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A classification problem over 0/1 features, as engines see it.

    Build one with :meth:`from_arrays`, or with :meth:`from_columns` for trees over
    every threshold of the columns of a table. Rows with equal feature vectors are
    merged, and columns that no tree needs are left out: constant columns,
    copies of an earlier column and complements of one. Trees still name the
    original features, since each one that is kept remembers its place.

    Attributes
    ----------
    features
        What trees can ask: :class:`goct.features.BinaryFeatures` or, over
        thresholds, :class:`goct.features.RankedFeatures`.
    counts
        The weight of each class in each distinct row, in multiples of
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
    costs
        The total cost of predicting each class in each distinct row, weights
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

    features: Features
    counts: NDArray[np.int64]
    samples: NDArray[np.int64]
    classes: tuple[Any, ...]
    positive: int | None
    costs: NDArray[np.int64] | None
    weight_unit: Fraction
    cost_unit: Fraction
    is_exact: bool
    n_samples: int

    def __post_init__(self) -> None:
        for array in (self.counts, self.samples, self.costs):
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
        owner: Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
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
        owner, columns
            If the features are conditions on the columns of a table: the column
            of each, by its number, and the names of the columns. Constraints then
            name these. By default each feature is a column of its own.

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
        _check_n_samples(len(matrix))
        names = _check_names(feature_names, matrix.shape[1])
        samples = _Samples.read(
            y, len(matrix), classes, pos_label, sample_weight, class_weight, costs
        )
        first, group = timed("rows were merged", _core.group_rows, matrix)
        rows, merged = samples.merged(first, group)
        behind = _check_owner(owner, names if columns is None else columns, len(names))
        return cls(BinaryFeatures.reduced(matrix[rows], names, *behind), **merged)

    @classmethod
    def from_ranks(
        cls,
        ranks: ArrayLike,
        y: ArrayLike,
        *,
        sizes: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, Any] | None = None,
        costs: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        owner: Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Problem:
        """Build a problem over all thresholds of columns of ranks.

        Column j has the thresholds ``rank > 0``, ``rank > 1``, ...; they are
        features of the problem, in this order, after those of the columns before.
        Most callers want :meth:`from_columns`.

        Parameters
        ----------
        ranks
            Non-negative integers, shape (samples, columns).
        y, classes, pos_label, sample_weight, class_weight, costs
            As in :meth:`from_arrays`.
        sizes
            How many ranks each column has; by default one more than its largest.
        feature_names
            A name for each threshold. A sequence that makes them when they are
            asked for is kept as it is.
        owner, columns
            The column of a table behind each column of ranks, by its number, and
            the names of these columns. By default each stands for itself.
        """
        matrix, limits = _check_ranks(ranks, sizes)
        _check_n_samples(len(matrix))
        samples = _Samples.read(
            y, len(matrix), classes, pos_label, sample_weight, class_weight, costs
        )
        first, group = group_ranks(matrix, limits)
        rows, merged = samples.merged(first, group)
        names = RankNames(limits) if feature_names is None else feature_names
        if isinstance(names, str) or len(names) != (limits - 1).sum():
            raise ValueError(
                f"feature_names must be {(limits - 1).sum()} names, one per threshold, got "
                + (repr(names) if isinstance(names, str) else str(len(names)))
            )
        if columns is None:
            columns = tuple(f"x{j}" for j in range(len(limits)))
        behind = _check_owner(owner, columns, len(limits))
        return cls(
            RankedFeatures.reduced(take_rows(matrix, rows), limits, names, *behind), **merged
        )

    @classmethod
    def from_columns(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        binarizer: PlainBinarizer | None = None,
        classes: Sequence[Any] | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, Any] | None = None,
        costs: ArrayLike | None = None,
    ) -> Problem:
        """Build a problem from the columns of a table and labels.

        By default trees may cut numbers and dates at every threshold. No matrix
        of conditions is made for that: a column is kept as the ranks of its values.

        Parameters
        ----------
        X
            A data frame of pandas, polars or pyarrow, a :class:`goct.data.Table`,
            a mapping from names to columns, an array, or a list of rows.
        y, classes, pos_label, sample_weight, class_weight, costs
            As in :meth:`from_arrays`.
        binarizer
            A fitted :class:`goct.binarize.Binarizer`, whose conditions are the
            features; its `conditions_` say what they mean. By default one of the
            method "exact" that is fitted on `X`.

        Raises
        ------
        ValueError, TypeError
            If the input is not as described; the message names the place.
        """
        if binarizer is None:
            from goct.binarize.plain import PlainBinarizer

            binarizer = PlainBinarizer("exact").fit(X, y, sample_weight)
        given: dict[str, Any] = {
            "classes": classes,
            "pos_label": pos_label,
            "sample_weight": sample_weight,
            "class_weight": class_weight,
            "costs": costs,
            "feature_names": binarizer.feature_names,
            "owner": binarizer.owner,
            "columns": binarizer.column_names,
        }
        if not binarizer.has_ranks:
            return cls.from_arrays(binarizer.transform(X), y, **given)
        return cls.from_ranks(binarizer.ranks(X), y, sizes=binarizer.rank_sizes, **given)

    @property
    def X(self) -> NDArray[np.uint8]:  # noqa: N802
        """The distinct feature vectors in lexicographic order, only features that are kept.

        0/1 bytes of the shape (rows, kept features). If the features are
        thresholds, the matrix is made when it is asked for, or refused if it
        would be too large.
        """
        return self.features.explicit.X

    @property
    def kept(self) -> NDArray[np.intp]:
        """The original feature behind each column of `X`."""
        return self.features.explicit.kept

    @property
    def source(self) -> NDArray[np.intp]:
        """For every original feature, the column of `X` that tells its value; -1 if constant."""
        return self.features.explicit.source

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """For every original feature, whether it is the complement of that column of `X`.

        For a constant feature: whether its value is 1.
        """
        return self.features.explicit.flipped

    @property
    def feature_names(self) -> Sequence[str]:
        """A name for every original feature. Those of thresholds are made when asked for."""
        return self.features.names

    @property
    def column_names(self) -> Sequence[str]:
        """The names of the columns that the features are conditions on.

        In a problem made by :meth:`from_arrays`, each feature is a column of its own.
        """
        return self.features.columns

    @property
    def has_thresholds(self) -> bool:
        """Whether the features are thresholds of ranked columns."""
        return isinstance(self.features, RankedFeatures)

    def explicit(self) -> Problem:
        """Return the same problem, its features being a 0/1 matrix.

        Features keep their numbers, so that a tree of one problem is one of the
        other.

        Raises
        ------
        ValueError
            If the matrix would be too large.
        """
        return replace(self, features=self.features.explicit) if self.has_thresholds else self

    @property
    def n_rows(self) -> int:
        """The number of distinct feature vectors."""
        return len(self.counts)

    @property
    def n_features(self) -> int:
        """The number of original features."""
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
        """The total weight of all samples, the number of samples in the paper."""
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
        """Return the values of an original feature in the distinct rows."""
        return self.features.column(feature)

    def columns_of(self, features: Iterable[int]) -> frozenset[int]:
        """Return the columns that some features are conditions on, by their numbers."""
        return frozenset(map(self.features.owner_of, features))

    def features_of(self, columns: Iterable[int]) -> NDArray[np.intp]:
        """Return the features that are conditions on some columns, in increasing order."""
        return self.features.features_of(list(columns))

    def restricted(self, features: Iterable[int]) -> Problem:
        """Return the problem as seen by trees that use some of the original features only.

        Rows that agree on these features are merged. The other features count as
        constant, but keep their places and names, so that a tree of the
        restricted problem is one of this problem and has the same confusion
        matrix there.

        Parameters
        ----------
        features
            The original features that trees may use.
        """
        if not isinstance(features, np.ndarray):
            features = np.fromiter(features, dtype=np.intp)
        kept, group = self.features.restricted(np.unique(features))
        return replace(
            self,
            features=kept,
            counts=_sums_by_group(self.counts, group),
            samples=_sum_by_group(group, int(group.max()) + 1, self.samples),
            costs=None if self.costs is None else _sums_by_group(self.costs, group),
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

    def weight(self, count: int | Fraction) -> int | Fraction:
        """Return what a number of counts weighs."""
        unit = self.weight_unit
        return count * unit.numerator if unit.denominator == 1 else count * unit

    def __repr__(self) -> str:
        return (
            f"Problem({self.n_samples} samples, {self.n_rows} distinct rows, "
            f"{self.features.n_kept} of {self.n_features} features, classes {list(self.classes)})"
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


def _check_rounded(
    weights: NDArray[Any],
    rounded: NDArray[Any],
    labels: NDArray[np.intp],
    classes: tuple[Any, ...],
) -> None:
    """Raise an error if rounding changes the weight of a class by more than a thousandth."""
    sums, kept = (
        np.bincount(labels, weights=w.astype(np.float64), minlength=len(classes))
        for w in (weights, rounded)
    )
    if (lost := np.abs(sums - kept) > sums / 1000).any():
        name = classes[int(lost.argmax())]
        raise ValueError(
            f"sample_weight: the weights of class {name!r} are too small beside the others: all "
            "are rounded to multiples of about 2**-28 of their sum; use weights of more similar "
            "size, or integers"
        )


@dataclass(frozen=True, eq=False)
class _Samples:
    """What is known of each sample besides its features."""

    labels: NDArray[np.intp]
    classes: tuple[Any, ...]
    positive: int | None
    weights: NDArray[np.int64] | None
    costs: NDArray[np.int64] | None
    weight_unit: Fraction
    cost_unit: Fraction
    is_exact: bool

    @classmethod
    def read(
        cls,
        y: ArrayLike,
        n_samples: int,
        classes: Sequence[Any] | None,
        pos_label: Any,
        sample_weight: ArrayLike | None,
        class_weight: str | Mapping[Any, Any] | None,
        costs: ArrayLike | None,
    ) -> _Samples:
        """Read what a user gave, see :meth:`Problem.from_arrays`."""
        found, labels = check_labels(y, n_samples)
        if classes is not None:
            found, labels = _check_classes(classes, found, labels)
        found, labels, positive = _find_positive(found, labels, pos_label)
        weights: NDArray[np.int64] | None = None
        weight_unit, weights_exact = Fraction(1), True
        numbers, class_unit, is_kept = weigh_classes(class_weight, found, labels, sample_weight)
        if numbers is not None:
            weights, weight_unit, weights_exact = scale_to_integers(numbers, "sample_weight")
            if not weights_exact:
                _check_rounded(numbers, weights * float(weight_unit), labels, found)
            weight_unit *= class_unit
            weights_exact &= is_kept
        cost_matrix, cost_unit, costs_exact = _check_costs(costs, labels, len(found))
        return cls(
            labels=labels,
            classes=found,
            positive=positive,
            weights=weights,
            costs=cost_matrix,
            weight_unit=weight_unit,
            cost_unit=cost_unit * (1 if costs is None else weight_unit),
            is_exact=weights_exact and costs_exact,
        )

    def merged(
        self, first: NDArray[np.integer], group: NDArray[np.integer]
    ) -> tuple[NDArray[np.integer], dict[str, Any]]:
        """Return the rows to keep, those that have a weight, and what a problem knows of them.

        Samples of the same group have equal features; `first` is one of each.
        """
        n_rows, n_classes = len(first), len(self.classes)
        counts = _sum_by_group(
            group * np.int64(n_classes) + self.labels, n_rows * n_classes, self.weights
        ).reshape(n_rows, n_classes)
        costs = None
        if self.costs is not None:
            costs = _weighted_cost_sums(self.costs, self.weights, group, n_rows)
        samples = counts.sum(axis=1)
        if self.weights is not None:
            counted = counts.any(axis=1)
            samples = _sum_by_group(group, n_rows, (self.weights > 0).astype(np.int64))[counted]
            first, counts = first[counted], counts[counted]
            costs = None if costs is None else costs[counted]
        return first, {
            "counts": counts,
            "samples": samples,
            "classes": self.classes,
            "positive": self.positive,
            "costs": costs,
            "weight_unit": self.weight_unit,
            "cost_unit": self.cost_unit,
            "is_exact": self.is_exact,
            "n_samples": len(self.labels),
        }


def _check_n_samples(n_samples: int) -> None:
    if n_samples == 0:
        raise ValueError("X has no rows; at least one is needed")
    if n_samples > np.iinfo(np.int32).max:
        raise ValueError(f"X has {n_samples} rows; at most {np.iinfo(np.int32).max} are allowed")


def _check_owner(
    owner: Sequence[int] | None, columns: Sequence[str], n_parts: int
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the column behind each part of the features, and the names of the columns."""
    names = tuple(map(str, columns))
    places = np.arange(n_parts) if owner is None else np.array(owner, dtype=np.intp)
    if places.shape != (n_parts,) or (places < 0).any() or (places >= len(names)).any():
        raise ValueError(
            f"owner must have {n_parts} entries, each the number of one of {len(names)} columns"
        )
    return places, names


def _check_ranks(ranks: ArrayLike, sizes: ArrayLike | None) -> tuple[Ranks, NDArray[np.intp]]:
    """Return the ranks column after column, and how many each column has."""
    matrix = np.asarray(ranks)
    if matrix.ndim != 2 or not np.issubdtype(matrix.dtype, np.integer):
        raise ValueError(
            f"ranks must be a matrix of integers, got {matrix.dtype} of shape {matrix.shape}"
        )
    if matrix.size and matrix.min() < 0:
        raise ValueError("ranks must not be negative")
    largest = matrix.max(axis=0, initial=0).astype(np.intp)
    limits = largest + 1 if sizes is None else np.array(sizes, dtype=np.intp)
    if limits.shape != largest.shape or (limits <= largest).any():
        raise ValueError("sizes must be one number per column of ranks, above its largest rank")
    if matrix.dtype not in (np.uint16, np.uint32):
        matrix = matrix.astype(np.uint16 if limits.max(initial=0) <= 2**16 else np.uint32)
    return matrix, limits


def _sums_by_group(numbers: NDArray[np.int64], group: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the sums of rows of a matrix by group."""
    n_groups = int(group.max()) + 1
    return np.stack([_sum_by_group(group, n_groups, column) for column in numbers.T], axis=1)


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
    group: NDArray[np.integer],
    n_rows: int,
) -> NDArray[np.int64]:
    if weights is not None:
        size = (np.abs(costs.astype(np.float64)) * weights[:, None]).sum()
        if size >= 2**62:
            raise ValueError("costs times sample_weight are too large for exact sums below 2**62")
        costs = costs * weights[:, None]
    columns = [_sum_by_group(group, n_rows, column) for column in costs.T]
    return np.stack(columns, axis=1)
