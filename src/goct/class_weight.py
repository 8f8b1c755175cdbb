"""Weights of classes, as factors of the weights of their samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct._validation import check_labels, check_weights, plain
from goct.exact import as_fraction

_LARGEST_SUM = 2**29  # weights whose sum is smaller leave room for exact products of two such sums
_WHOLE = 2**52  # floats hold smaller integers


def weigh_classes(
    class_weight: str | Mapping[Any, Any] | None,
    classes: Sequence[Any],
    labels: NDArray[np.integer[Any]],
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[Any] | None, Fraction, bool]:
    """Return the weights of samples times those of their classes, in multiples of a unit.

    They are integers where that is possible with a small sum; None if all are one. Says also
    whether floats can hold what was given.
    """
    weights = None if sample_weight is None else check_weights(sample_weight, len(labels))
    if class_weight is None:
        return weights, Fraction(1), True
    given = None if weights is None else weights.astype(np.float64)
    sums = np.bincount(labels, weights=given, minlength=len(classes)).astype(np.float64)
    factors = _factors(class_weight, classes, sums)
    denominator = lcm(*(factor.denominator for factor in factors))
    whole = [int(factor * denominator) for factor in factors]
    is_whole = weights is None or weights.dtype.kind in "bui"
    if is_whole and sum(w * float(s) for w, s in zip(whole, sums, strict=True)) < _LARGEST_SUM:
        by_class = np.array(whole, dtype=np.int64)[labels]
        product = by_class if weights is None else by_class * weights
        return check_weights(product, len(labels)), Fraction(1, denominator), True
    product = np.array([float(factor) for factor in factors])[labels]
    numbers: list[Any] = [*factors]
    if weights is not None and given is not None:
        product = product * given
        if weights.dtype.kind != "f":
            numbers += set(weights[given > _WHOLE].tolist() if is_whole else weights.tolist())
    is_kept = all(as_fraction(float(number)) == number for number in numbers)
    return check_weights(product, len(labels)), Fraction(1), is_kept


def class_weight_of(
    class_weight: str | Mapping[Any, Any] | None, y: ArrayLike, sample_weight: ArrayLike | None
) -> Mapping[Any, Any] | None:
    """Return the weights of classes for other samples as well: "balanced" is about these."""
    if not isinstance(class_weight, str):
        return class_weight
    classes, labels = check_labels(y, len(np.asarray(y)))
    weights = None if sample_weight is None else check_weights(sample_weight, len(labels))
    given = None if weights is None else weights.astype(np.float64)
    sums = np.bincount(labels, weights=given, minlength=len(classes)).astype(np.float64)
    return dict(zip(classes, _factors(class_weight, classes, sums), strict=True))


def _factors(
    class_weight: str | Mapping[Any, Any], classes: Sequence[Any], sums: NDArray[np.float64]
) -> list[Fraction]:
    """Return the weight of each class, given the sum of weights that its samples have."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        total, present = Fraction(float(sums.sum())), int((sums > 0).sum())
        return [total / (present * Fraction(s)) if s else Fraction(1) for s in sums.tolist()]
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            'class_weight must be None, "balanced" or a dictionary from labels to numbers; '
            f"got {class_weight!r}"
        )
    given = {plain(label): weight for label, weight in class_weight.items()}
    if strange := [label for label in given if label not in classes]:
        raise ValueError(
            f"class_weight has the label {strange[0]!r}, which does not occur; the labels are "
            f"{list(classes)}"
        )
    factors = [as_fraction(given.get(c, 1), f"class_weight of {c!r}") for c in classes]
    for label, factor in zip(classes, factors, strict=True):
        if factor < 0:
            raise ValueError(f"class_weight of {label!r} is negative: {given[label]}")
    return factors
