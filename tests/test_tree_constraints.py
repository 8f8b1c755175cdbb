"""Conditions on features and leaves: exact, and with errors that name the feature."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, Tree
from goct.constraints import (
    FeatureBudget,
    ForbidFeatures,
    MaxFeatures,
    MinLeafWeight,
    MinSamplesLeaf,
    RequireFeatures,
    check_constraints,
)

X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [1, 1, 1]])
PROBLEM = Problem.from_arrays(X, [0, 1, 1, 0, 1], feature_names=["age", "sex", "copy"])


def tree(features: dict[int, int], labels: dict[int, int]) -> Tree:
    return Tree.from_heap(features, labels, PROBLEM.classes, PROBLEM.feature_names)


CONSTANT = tree({}, {1: 0})
BY_AGE = tree({1: 0}, {2: 0, 3: 1})
BY_COPY = tree({1: 2}, {2: 0, 3: 1})
BOTH = tree({1: 0, 2: 1}, {4: 0, 5: 1, 3: 0})
IDLE = tree({1: 0, 2: 2}, {4: 0, 5: 1, 3: 1})  # no row has age = 0 and copy = 1


@pytest.mark.parametrize(
    ("constraint", "met"),
    [
        (ForbidFeatures("age"), [True, False, True, False, False]),
        (ForbidFeatures(["age", 2]), [True, False, False, False, False]),
        (ForbidFeatures(), [True] * 5),
        (RequireFeatures("age"), [False, True, False, True, True]),
        (RequireFeatures("copy"), [False, False, True, False, False]),
        (RequireFeatures("age", "sex"), [False, False, False, True, False]),
        (MaxFeatures(1), [True, True, True, False, False]),
        (MaxFeatures(0), [True, False, False, False, False]),
        (FeatureBudget({"age": 0.1, "sex": 0.2}, 0.3), [True] * 5),
        (FeatureBudget({"age": 0.1, 1: 0.2}, 0.29), [True, True, True, False, True]),
        (FeatureBudget({}, -1), [False] * 5),
        (MinLeafWeight(1), [True, True, True, True, False]),
        (MinLeafWeight(2), [True, True, True, False, False]),
        (MinLeafWeight(2.5), [True, False, False, False, False]),
        (MinSamplesLeaf(1), [True, True, True, True, False]),
        (MinSamplesLeaf(3), [True, False, False, False, False]),
    ],
    ids=repr,
)
def test_conditions(constraint, met) -> None:
    constraint.check(PROBLEM)
    trees = [CONSTANT, BY_AGE, BY_COPY, BOTH, IDLE]
    assert [constraint.is_met(tree, PROBLEM) for tree in trees] == met


def test_leaf_weights_are_exact() -> None:
    weighted = Problem.from_arrays(
        X, [0, 1, 1, 0, 1], sample_weight=[0.1, 0.2, 0.1, 0.1, 0.1],
        feature_names=["age", "sex", "copy"],
    )  # fmt: skip
    assert MinLeafWeight(0.3).is_met(BY_AGE, weighted)
    assert not MinLeafWeight(Fraction(3, 10) + Fraction(1, 10**15)).is_met(BY_AGE, weighted)


def test_names() -> None:
    assert repr(ForbidFeatures("age", 2)) == "<constraint no split on age, 2>"
    assert RequireFeatures("age").name == "a split on age"
    assert MaxFeatures(3).name == "at most 3 different features"
    assert FeatureBudget({"age": 1}, 2.5).name == "features for at most 2.5"
    assert MinLeafWeight(5).name == "leaves of weight 5 at least"
    assert MinSamplesLeaf(5).name == "leaves of 5 samples at least"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: ForbidFeatures("nothing"),
            ValueError,
            "unknown feature 'nothing'; there are 'age'",
        ),
        (lambda: ForbidFeatures("ago"), ValueError, r"unknown feature 'ago'; did you mean 'age'\?"),
        (lambda: RequireFeatures(3), ValueError, "unknown feature 3; there are 3 columns"),
        (lambda: RequireFeatures(-1), ValueError, "unknown feature -1"),
        (lambda: ForbidFeatures(1.5), TypeError, "a name or a number, got 1.5"),
        (lambda: ForbidFeatures(True), TypeError, "a name or a number"),
        (lambda: MaxFeatures(-1), ValueError, "the number of features must be at least 0"),
        (lambda: FeatureBudget({"ago": 1}, 1), ValueError, "unknown feature 'ago'"),
        (lambda: FeatureBudget({"age": -1}, 1), ValueError, "the cost of 'age' is negative"),
        (lambda: FeatureBudget({"age": 1, 0: 2}, 1), ValueError, "'age' has two costs"),
        (lambda: FeatureBudget([1, 2], 1), TypeError, "costs must map features"),
        (lambda: MinLeafWeight("much"), TypeError, "the weight of a leaf"),
    ],
)
def test_errors(make, error, message) -> None:
    with pytest.raises(error, match=message):
        check_constraints(make(), PROBLEM)


def test_constraints_can_be_compared_and_hashed() -> None:
    assert ForbidFeatures("age") == ForbidFeatures(["age"])
    assert len({FeatureBudget({"age": 1}, 2), FeatureBudget({"age": 1}, 2), MaxFeatures(1)}) == 2
    assert hash(RequireFeatures("age")) == hash(RequireFeatures(("age",)))
