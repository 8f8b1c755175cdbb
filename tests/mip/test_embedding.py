"""Trees become complete, feasible solutions of every model, with the objective of the tree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goct import Problem, Tree
from goct.constraints import MaxFeatures, MinLeafWeight
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    BoundedDOR,
    ClassCost,
    FowlkesMallows,
    GMean,
    Jaccard,
    LinearMetric,
    Metric,
    SmoothedDOR,
    Specificity,
)
from goct.mip import BACKENDS, FORMULATIONS
from goct.mip.backends.base import is_feasible
from goct.mip.embedding import embed, lift
from goct.mip.formulations import Separation
from goct.mip.nonlinear import NonlinearQuestion
from goct.mip.question import LinearQuestion, Question
from goct.mip.side import SideConstraints
from goct.tree import Leaf, Node, Split

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


def problem_of(seed: int, n_features: int = 4) -> Problem:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 40))
    X = rng.integers(0, 2, (n, n_features))
    y = (rng.random(n) < (0.2 if seed % 2 else 0.5)).astype(int)
    y[:2] = [0, 1]
    weights = rng.integers(1, 4, n) if seed % 3 == 0 else None
    return Problem.from_arrays(X, y, sample_weight=weights)


def random_tree(problem: Problem, depth: int, seed: int, features: list[int] | None = None) -> Tree:
    """A random tree without useless splits."""
    rng = np.random.default_rng(seed)
    choices = list(range(problem.n_features)) if features is None else features

    def grow(left: int) -> Node:
        if left == 0 or rng.random() < 0.2:
            return Leaf(int(rng.integers(problem.n_classes)))
        return Split(choices[rng.integers(len(choices))], grow(left - 1), grow(left - 1))

    return Tree(grow(depth), problem.classes, problem.feature_names).pruned(problem)


def ask(
    problem: Problem,
    metric: Metric,
    depth: int,
    *,
    formulation: str = "benders-pair-cut",
    linearization: str = "compact",
    penalty: Fraction = Fraction(0),
    constraints: tuple = (),
) -> Question:
    """A question with its model, which no constant tree is known for."""
    side = SideConstraints.read(constraints, problem)
    question: Question
    if isinstance(metric, LinearMetric):
        question = LinearQuestion(problem, metric, penalty, None, side)
    else:
        most = 2**depth - 1
        question = NonlinearQuestion(problem, metric, penalty, None, side, most, linearization)
    form = FORMULATIONS[formulation]
    tree = form.build(
        question.instances(is_merged=form.is_merged),
        depth,
        split_cost=question.split_cost,
        max_splits=None,
        integer_flow=False,
        cuts=form.cuts,
        separation=Separation(),
    )
    question.attach(tree, BACKENDS["scip"], is_compact=form.is_compact)
    return question


def check(question: Question, tree: Tree) -> None:
    """The tree is a feasible solution that reads back as itself, and claims what it is worth."""
    x = question.point(tree)
    if x is None:
        assert tree.splits == 0
        assert not isinstance(question, LinearQuestion)
        return
    assert question.model is not None
    assert question.tree(x) == tree
    if not is_feasible(question.model.model, x):
        # Both classes must be predicted, or there is nothing that the quotient can say.
        predicted = tree.predict_rows(question.problem)
        assert len(set(predicted.tolist())) == 1
        return
    claimed = float(question.model.model.objective @ x)
    exact = float(question.objective(tree))
    if isinstance(question, NonlinearQuestion):
        # A root whose square is claimed has no sign.
        assert question.claimed(x) == pytest.approx(exact, abs=1e-6)
    else:
        assert isinstance(question, LinearQuestion)
        units = claimed * question.scale * float(question.lattice.unit)
        assert units + float(question.lattice.offset) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("formulation", list(FORMULATIONS))
@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_every_formulation_and_metric(metric, formulation) -> None:
    for seed in range(4):
        problem = problem_of(seed)
        penalty = Fraction(seed % 2, 50)
        question = ask(problem, metric, 3, formulation=formulation, penalty=penalty)
        for depth in (1, 2, 3):
            check(question, random_tree(problem, depth, 10 * seed + depth))


@pytest.mark.parametrize("linearization", ["paper", "none"])
@pytest.mark.parametrize("metric", METRICS[2:9], ids=lambda m: m.name)
def test_every_linearization(metric, linearization) -> None:
    if linearization == "paper" and (metric.name == "mcc" or "smoothed" in metric.name):
        pytest.skip("stated only where a constant tree is known, or not at all")
    for seed in range(4):
        problem = problem_of(seed)
        question = ask(problem, metric, 2, linearization=linearization)
        for depth in (1, 2):
            check(question, random_tree(problem, depth, 10 * seed + depth))


@given(
    st.integers(0, 10**6), st.sampled_from(list(FORMULATIONS)), st.integers(1, 3), st.integers(0, 2)
)
@settings(max_examples=60)
def test_a_shallow_tree_is_a_solution_of_every_deeper_model(seed, formulation, depth, more) -> None:
    problem = problem_of(seed)
    tree = random_tree(problem, depth, seed)
    question = ask(problem, Accuracy(), depth + more, formulation=formulation)
    x = embed(tree, question.model, question.side.columns)
    check(question, tree)
    assert x[question.model.b].sum() == tree.splits
    assert x[question.model.p].sum() == tree.n_leaves


@given(st.integers(0, 10**6), st.sampled_from(["wflow", "benders-pair-cut"]))
@settings(max_examples=40)
def test_solutions_are_lifted_from_few_features_to_all(seed, formulation) -> None:
    rng = np.random.default_rng(seed)
    problem = problem_of(seed, n_features=6)
    features = sorted(rng.choice(6, 3, replace=False).tolist())
    small = problem.restricted(features)
    tree = random_tree(problem, 2, seed, [j for j in features if small.source[j] >= 0])
    source = ask(small, Accuracy(), 2)
    target = ask(problem, Accuracy(), 3, formulation=formulation)
    x = lift(source.point(tree), source, target)
    assert target.tree(x) == tree
    assert is_feasible(target.model.model, x)
    assert source.objective(tree) == target.objective(tree)


def test_side_constraints_decide_what_is_lifted() -> None:
    problem = problem_of(1)
    tree = Tree(
        Split(0, Split(1, Leaf(0), Leaf(1)), Split(2, Leaf(1), Leaf(0))),
        problem.classes,
        problem.feature_names,
    )
    source = ask(problem, Accuracy(), 2)
    x = source.point(tree)
    for formulation in ("wflow", "benders-pair-cut"):
        for constraint in (MinLeafWeight(1), MaxFeatures(3)):
            target = ask(problem, Accuracy(), 2, formulation=formulation, constraints=(constraint,))
            assert is_feasible(target.model.model, lift(x, source, target))
    for constraint in (MinLeafWeight(1000), MaxFeatures(2)):
        assert lift(x, source, ask(problem, Accuracy(), 2, constraints=(constraint,))) is None


def test_what_does_not_fit_is_named() -> None:
    problem = problem_of(1)
    question = ask(problem, Accuracy(), 1)
    deep = Tree(
        Split(0, Split(1, Leaf(0), Leaf(1)), Leaf(0)), problem.classes, problem.feature_names
    )
    with pytest.raises(ValueError, match="a tree of depth 2 is no solution of a model of depth 1"):
        embed(deep, question.model, question.side.columns)
    with pytest.raises(ValueError, match=r"no features for the columns \[0\]"):
        embed(Tree(Split(0, Leaf(0), Leaf(1)), *deep_names(problem)), question.model, np.array([1]))
    assert question.point(deep) is None


def deep_names(problem: Problem) -> tuple:
    return problem.classes, problem.feature_names
