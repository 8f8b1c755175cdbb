"""The question, read once: the objective, feasibility, and the same about other data."""

from __future__ import annotations

from fractions import Fraction

import pytest

from goct import Problem, Tree
from goct.constraints import MaxFeatures, MinLeafWeight
from goct.metrics import F1, Recall
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Split

X = [[0, 0], [0, 1], [1, 0], [1, 1]]
PROBLEM = Problem.from_arrays(X, [0, 0, 0, 1])


def tree(root) -> Tree:
    return Tree(root, PROBLEM.classes, PROBLEM.feature_names)


STUMP = tree(Split(0, Leaf(0), Leaf(1)))


def test_the_objective_is_the_metric_less_the_penalty() -> None:
    task = Task.read(PROBLEM, "accuracy", 2, split_penalty=0.1)
    assert task.split_penalty == Fraction(1, 10)
    assert task.objective(STUMP) == Fraction(3, 4) - Fraction(1, 10)
    assert task.penalised(task.metric.evaluate(STUMP, PROBLEM), 1) == task.objective(STUMP)


def test_feasible_trees_meet_all_constraints() -> None:
    task = Task.read(PROBLEM, "f1", 2, constraints=[Recall() >= 1, MaxFeatures(1)])
    assert task.is_feasible(STUMP)
    assert not task.is_feasible(tree(Leaf(0)))
    both = Split(0, Leaf(0), Split(1, Leaf(0), Leaf(1)))
    assert not task.is_feasible(tree(both))


def test_the_larger_leaf_weight_counts() -> None:
    task = Task.read(PROBLEM, "f1", 2, min_leaf_weight=1, constraints=MinLeafWeight(2))
    assert task.size == SizeLimit(2, None, Fraction(2))
    assert task.constraints == (MinLeafWeight(2),)
    assert task.is_feasible(STUMP)
    assert not task.is_feasible(tree(Split(0, Leaf(0), Split(1, Leaf(0), Leaf(1)))))


def test_the_same_question_about_other_data() -> None:
    task = Task.read(PROBLEM, F1(), 2, split_penalty=0.01)
    other = Problem.from_arrays(X, [1, 1, 1, 0])
    assert task.on(other).problem is other
    assert task.on(other).objective(STUMP) != task.objective(STUMP)
    assert task.problem is PROBLEM


def test_the_best_constant_tree() -> None:
    assert Task.read(PROBLEM, "accuracy", 1).best_constant() == tree(Leaf(0))
    assert Task.read(PROBLEM, "recall", 1).best_constant() == tree(Leaf(1))
    task = Task.read(PROBLEM, "accuracy", 1, constraints=[Recall() >= 0.5])
    assert task.best_constant() == tree(Leaf(1))
    task = Task.read(PROBLEM, "accuracy", 1, constraints=[Recall() >= 0.5, Recall() <= 0.6])
    assert task.best_constant() is None


@pytest.mark.parametrize(
    ("size", "depth", "splits"),
    [
        (SizeLimit(3), 3, 7),
        (SizeLimit(3, 2), 2, 2),
        (SizeLimit(2, 9), 2, 3),
        (SizeLimit(4, 0), 0, 0),
    ],
)
def test_sizes(size: SizeLimit, depth: int, splits: int) -> None:
    assert (size.reachable_depth, size.most_splits) == (depth, splits)


def test_leaf_weights_in_counts_are_rounded_up() -> None:
    half = Problem.from_arrays(X, [0, 0, 0, 1], sample_weight=[0.5, 1, 1, 1])
    assert SizeLimit(1, None, Fraction(7, 10)).leaf_measures(half)[0].least == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": 10**9}, "max_depth must be at most"),
        ({"max_depth": 2, "max_splits": -1}, "max_splits"),
        ({"max_depth": 2, "min_leaf_weight": -1}, "min_leaf_weight must not be negative"),
        ({"max_depth": 2, "split_penalty": -1}, "split_penalty must not be negative"),
    ],
)
def test_errors_name_the_argument(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Task.read(PROBLEM, "f1", **arguments)


@pytest.mark.parametrize("penalty", [Fraction(10) ** 400, Fraction(1, 10**400)])
def test_penalties_beyond_floats_are_refused(penalty: Fraction) -> None:
    with pytest.raises(ValueError, match=r"split_penalty is too .* to make sense"):
        Task.read(PROBLEM, "f1", 2, split_penalty=penalty)
