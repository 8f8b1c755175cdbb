"""Weights of classes: exact where they can be, and with errors that name the label."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem
from goct.class_weight import weigh_classes

LABELS = np.array([0, 0, 0, 1, 1, 2])
CLASSES = ("a", "b", "c")


def weights(class_weight, sample_weight=None):
    numbers, unit, _ = weigh_classes(class_weight, CLASSES, LABELS, sample_weight)
    return [Fraction(number) * unit for number in numbers.tolist()]


def test_nothing_is_done_without_weights_of_classes() -> None:
    assert weigh_classes(None, CLASSES, LABELS, None) == (None, 1, True)
    given, unit, _ = weigh_classes(None, CLASSES, LABELS, [1, 2, 3, 4, 5, 6])
    assert given.tolist() == [1, 2, 3, 4, 5, 6]
    assert unit == 1


def test_a_dictionary() -> None:
    assert weights({"a": 2, "c": 0.1}) == [2, 2, 2, 1, 1, Fraction(1, 10)]
    assert weights({"b": 3}, [1, 1, 2, 2, 1, 5]) == [1, 1, 2, 6, 3, 5]


@pytest.mark.parametrize("sample_weight", [None, [3, 1, 1, 7, 2, 4]])
def test_balanced_classes_weigh_the_same(sample_weight) -> None:
    found = np.array(weights("balanced", sample_weight), dtype=object)
    total = 6 if sample_weight is None else sum(sample_weight)
    assert [found[k == LABELS].sum() for k in range(3)] == [Fraction(total, 3)] * 3


def test_weights_that_are_too_fine_are_rounded() -> None:
    numbers, unit, _ = weigh_classes("balanced", CLASSES, LABELS, [0.3, 0.1, 0.7, 0.2, 0.2, 0.9])
    assert unit == 1
    assert numbers.dtype == np.float64
    assert np.bincount(LABELS, weights=numbers) == pytest.approx([0.8, 0.8, 0.8])


@pytest.mark.parametrize(
    ("class_weight", "sample_weight"),
    [({0: 2**53, 1: 2**53 + 1}, None), ({0: 1, 1: 1}, [2**53, 2**53 + 1, 2**53])],
)
def test_weights_that_floats_cannot_hold_are_marked_as_rounded(class_weight, sample_weight) -> None:
    problem = Problem.from_arrays(
        [[0], [0], [1]], [0, 1, 1], sample_weight=sample_weight, class_weight=class_weight
    )
    assert not problem.is_exact


def test_in_a_problem() -> None:
    X, y = [[0], [0], [0], [1], [1], [1]], list("aaabbc")
    problem = Problem.from_arrays(X, y, class_weight="balanced")
    assert problem.class_weights == (2, 2, 2)
    assert problem.is_exact
    assert problem.samples.tolist() == [3, 3]
    without = Problem.from_arrays(X, y, class_weight={"b": 0}, classes=CLASSES)
    assert without.class_weights == (3, 0, 1)
    assert without.samples.tolist() == [3, 1]  # samples of weight 0 do not count
    assert without.restricted([]).samples.tolist() == [4]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("balance", "class_weight must be None, \"balanced\" or a dictionary .* got 'balance'"),
        ({"d": 1}, r"class_weight has the label 'd', which does not occur; .* \['a', 'b', 'c'\]"),
        ({"a": -1}, "class_weight of 'a' is negative: -1"),
        ({"a": 0, "b": 0, "c": 0}, "zero everywhere"),
    ],
)
def test_errors(class_weight, message) -> None:
    with pytest.raises(ValueError, match=message):
        weigh_classes(class_weight, CLASSES, LABELS, None)
