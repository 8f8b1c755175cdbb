"""Programs against the trees they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct import Problem, Tree
from goct.metrics import (
    Accuracy,
)
from goct.mip.formulations import BendersOCT, WFlowOCT
from goct.mip.tree_program import Topology
from goct.tree import Leaf, Split
from tests.support.mip import model_of, problem_of, random_instances, random_tree_point
from tests.support.trees import nodes


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [WFlowOCT, BendersOCT])
@given(st.integers(0, 20), st.booleans(), st.data())
def test_every_tree_is_a_feasible_point_with_its_own_objective(
    formulation, seed, copies, data
) -> None:
    problem, instances = random_instances(seed, 3, copies)
    names = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    root = data.draw(nodes(len(names), 3, depth=3))
    tree = Tree(root, problem.classes, names)
    model = formulation(instances, 3, split_cost=2.0)
    model.count_features()
    model.mark_used(np.arange(model.b.shape[1]) % 2)
    model.forbid_conflicts()
    weights = problem.counts.sum(axis=1).astype(float)
    model.weigh_leaves(weights, 0.0)

    x = model.encode(tree)
    assert model.violation(x) < 1e-12
    assert all(separator.allows(x) for separator in model.separators)
    right = tree.predict(problem.X)[instances.row] == np.array(problem.classes)[instances.label]
    assert x[model.g].tolist() == right.tolist()
    expected = instances.weight[right].sum() - 2 * tree.splits
    assert model.objective @ x == pytest.approx(expected)
    features, labels = model.decode(x)
    assert Tree.from_heap(features, labels, problem.classes, names) == tree


def test_flow_cannot_pass_where_the_tree_does_not_lead() -> None:
    problem, instances = random_instances(0, 2)
    names = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    flow = WFlowOCT(instances, 1)
    x = flow.encode(Tree.from_heap({}, {1: 0}, problem.classes, names))
    wrong = int(np.flatnonzero(instances.label == 1)[0])
    x[flow.z_in[0, wrong]] = x[flow.z_out[0, wrong]] = 1
    assert flow.violation(x) == 1


def test_copies_share_what_their_pair_earns() -> None:
    problem, merged = random_instances(1, 2)
    _, single = random_instances(1, 2, copies=True)
    assert len(single) == problem.n_samples
    assert len(merged) == np.count_nonzero(problem.counts)
    assert single.weight.tolist() == [1.0] * len(single)
    assert merged.weight.sum() == single.weight.sum()
    assert single.share(problem.counts).tolist() == [1.0] * len(single)


def test_topology() -> None:
    topology = Topology(2)
    assert list(topology.branch_nodes) == [1, 2, 3]
    assert list(topology.leaf_nodes) == [4, 5, 6, 7]
    assert list(topology.nodes) == [1, 2, 3, 4, 5, 6, 7]
    assert topology.ancestors(1) == []
    assert topology.ancestors(6) == [1, 3]


@pytest.mark.parametrize("seed", range(5))
def test_redundancy_rows_hold_for_pruned_trees(seed) -> None:
    rng = np.random.default_rng(seed)
    problem, instances = random_instances(seed, 2)
    model = BendersOCT(instances, 3)
    lean = BendersOCT(instances, 3)
    lean.forbid_redundant_splits()
    for _ in range(50):
        features, labels = model.decode(random_tree_point(model, rng))
        original = {n: int(problem.kept[f]) for n, f in features.items()}
        tree = Tree.from_heap(original, labels, problem.classes, problem.feature_names)
        assert lean.violation(lean.encode(problem.reduce(tree.pruned(problem)))) == 0


def test_what_does_not_fit_is_named() -> None:
    problem = problem_of(1)
    model = model_of(problem, Accuracy(), 1)
    deep = Tree(
        Split(0, Split(1, Leaf(0), Leaf(1)), Leaf(0)), problem.classes, problem.feature_names
    )
    with pytest.raises(ValueError, match="a tree of depth 2 is no solution of a model of depth 1"):
        model.program.encode(deep, model.objective.side.columns)
    with pytest.raises(ValueError, match=r"no features for the columns \[0\]"):
        model.program.encode(Tree(Split(0, Leaf(0), Leaf(1)), *deep_names(problem)), np.array([1]))
    assert model.point(deep) is None


def deep_names(problem: Problem) -> tuple:
    return problem.classes, problem.feature_names
