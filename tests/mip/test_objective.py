"""Objectives in exact numbers: what bounds prove, and trees as solutions of every model."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goct import Tree
from goct.constraints import MaxFeatures, MinLeafWeight
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    BoundedDOR,
    ClassCost,
    FowlkesMallows,
    GMean,
    IntegerObjective,
    Jaccard,
    Rewards,
    SmoothedDOR,
    Specificity,
)
from goct.mip import FORMULATIONS
from goct.mip.backends.base import is_feasible
from goct.mip.objective import LinearObjective, Model, proven_bound
from goct.mip.program import Point
from goct.tree import Leaf, Split
from tests.support.mip import model_of, problem_of, random_tree

METRICS = [
    Accuracy(),
    ClassCost(3, 2),
    F1(),
    Jaccard(),
    MCC(),
    GMean(),
    FowlkesMallows(),
    BoundedDOR(20),
    SmoothedDOR(0.5),
    0.5 * F1() + 0.5 * Accuracy(),
    0.4 * MCC() + 0.3 * F1() + 0.3 * Specificity(),
]


def check(model: Model, tree: Tree) -> None:
    """The tree is a feasible solution that reads back as itself, and claims what it is worth."""
    objective = model.objective
    x = model.point(tree)
    if x is None:
        assert tree.splits == 0
        assert not isinstance(objective, LinearObjective)
        return
    assert model.tree(x) == tree
    if not is_feasible(model.program, x):
        # Both classes must be predicted, or there is nothing that the quotient can say.
        predicted = tree.predict_rows(objective.task.problem)
        assert len(set(predicted.tolist())) == 1
        return
    claimed = float(model.program.objective @ x)
    exact = float(objective.task.objective(tree))
    if isinstance(objective, LinearObjective):
        units = claimed * objective.scale * float(objective.integers.unit)
        assert units + float(objective.integers.offset) == pytest.approx(exact, abs=1e-9)
    else:
        # A root whose square is claimed has no sign.
        assert objective.stats_of(claimed)["claimed"] == pytest.approx(exact, abs=1e-6)


def lift(x: Point, source: Model, target: Model) -> Point | None:
    """The solution of one model that is the tree of a solution of another one."""
    tree = source.tree(x)
    return target.point(tree) if target.objective.task.is_feasible(tree) else None


@pytest.mark.slow
@pytest.mark.parametrize("formulation", list(FORMULATIONS))
@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_every_formulation_and_metric(metric, formulation) -> None:
    for seed in range(4):
        problem = problem_of(seed)
        penalty = Fraction(seed % 2, 50)
        model = model_of(problem, metric, 3, formulation=formulation, penalty=penalty)
        for depth in (1, 2, 3):
            check(model, random_tree(problem, depth, 10 * seed + depth))


@pytest.mark.slow
@pytest.mark.parametrize("linearization", ["paper", "none"])
@pytest.mark.parametrize("metric", METRICS[2:9], ids=lambda m: m.name)
def test_every_linearization(metric, linearization) -> None:
    if linearization == "paper" and (metric.name == "mcc" or "smoothed" in metric.name):
        pytest.skip("stated only where a constant tree is known, or not at all")
    for seed in range(4):
        problem = problem_of(seed)
        model = model_of(problem, metric, 2, linearization=linearization)
        for depth in (1, 2):
            check(model, random_tree(problem, depth, 10 * seed + depth))


@given(
    st.integers(0, 10**6), st.sampled_from(list(FORMULATIONS)), st.integers(1, 3), st.integers(0, 2)
)
@settings(max_examples=60)
def test_a_shallow_tree_is_a_solution_of_every_deeper_model(seed, formulation, depth, more) -> None:
    problem = problem_of(seed)
    tree = random_tree(problem, depth, seed)
    model = model_of(problem, Accuracy(), depth + more, formulation=formulation)
    x = model.program.encode(tree, model.objective.side.columns)
    check(model, tree)
    assert x[model.program.b].sum() == tree.splits
    assert x[model.program.p].sum() == tree.n_leaves


@given(st.integers(0, 10**6), st.sampled_from(["wflow", "benders-pair-cut"]))
@settings(max_examples=40)
def test_solutions_are_lifted_from_few_features_to_all(seed, formulation) -> None:
    rng = np.random.default_rng(seed)
    problem = problem_of(seed, n_features=6)
    features = sorted(rng.choice(6, 3, replace=False).tolist())
    small = problem.restricted(features)
    tree = random_tree(problem, 2, seed, [j for j in features if small.source[j] >= 0])
    source = model_of(small, Accuracy(), 2)
    target = model_of(problem, Accuracy(), 3, formulation=formulation)
    x = lift(source.point(tree), source, target)
    assert target.tree(x) == tree
    assert is_feasible(target.program, x)
    assert source.objective.task.objective(tree) == target.objective.task.objective(tree)


def test_side_constraints_decide_what_is_lifted() -> None:
    problem = problem_of(1)
    tree = Tree(
        Split(0, Split(1, Leaf(0), Leaf(1)), Split(2, Leaf(1), Leaf(0))),
        problem.classes,
        problem.feature_names,
    )
    source = model_of(problem, Accuracy(), 2)
    x = source.point(tree)
    for formulation in ("wflow", "benders-pair-cut"):
        for constraint in (MinLeafWeight(1), MaxFeatures(3)):
            target = model_of(
                problem, Accuracy(), 2, formulation=formulation, constraints=(constraint,)
            )
            assert is_feasible(target.program, lift(x, source, target))
    for constraint in (MinLeafWeight(1000), MaxFeatures(2)):
        assert lift(x, source, model_of(problem, Accuracy(), 2, constraints=(constraint,))) is None


def test_bounds_are_rounded_down_to_possible_values() -> None:
    rewards = Rewards(np.array([[3, 0], [0, 4], [2, 2]]), Fraction(1, 9), Fraction(0))
    integers = IntegerObjective(rewards, Fraction(0))
    assert proven_bound(integers, np.inf) == 1  # every row at its best
    assert proven_bound(integers, 7.2) == Fraction(7, 9)
    assert proven_bound(integers, 6.999999) == Fraction(7, 9)  # within the tolerance of 7
    assert proven_bound(integers, 6.99) == Fraction(6, 9)


def test_penalties_make_the_units_finer() -> None:
    rewards = Rewards(np.array([[3, 0], [0, 4]]), Fraction(1, 7), Fraction(0))
    integers = IntegerObjective(rewards, Fraction(1, 10))
    assert (integers.factor, integers.split_cost, integers.unit) == (10, 7, Fraction(1, 70))


def test_negative_rewards_are_shifted() -> None:
    rewards = Rewards(np.array([[-3, 0], [-1, -4]]), Fraction(1), Fraction(5))
    integers = IntegerObjective(rewards, Fraction(0))
    assert integers.gains.tolist() == [[0, 3], [3, 0]]
    assert proven_bound(integers, np.inf) == 5 - 1


def test_values_too_fine_for_floats_are_not_called_proven() -> None:
    """With objective values around 1e9 a float bound cannot tell neighbours apart."""
    rewards = Rewards(np.array([[10**9, 0], [0, 10**9]]), Fraction(1), Fraction(0))
    assert proven_bound(IntegerObjective(rewards, Fraction(0)), 1.5e9) > 1_500_000_000
