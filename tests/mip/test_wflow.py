"""The flow model against the trees it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct import Problem, Tree
from goct.mip.backends import scip
from goct.mip.backends.base import BackendError
from goct.mip.model import MipModel
from goct.mip.topology import Topology
from goct.mip.wflow import Instances, WFlowOCT
from goct.solution import Limit, Limits
from tests.test_problem import nodes


def random_instances(seed: int, n_classes: int) -> tuple[Problem, Instances]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (30, 5))
    problem = Problem.from_arrays(X, rng.integers(0, n_classes, 30))
    row, label, weight = problem.instances()
    return problem, Instances(problem.X, row, label, weight.astype(float), n_classes)


@given(st.integers(0, 20), st.data())
def test_every_tree_is_a_feasible_point_with_its_own_objective(seed, data) -> None:
    problem, instances = random_instances(seed, 3)
    names = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    root = data.draw(nodes(len(names), 3, depth=3))
    tree = Tree(root, problem.classes, names)
    flow = WFlowOCT(instances, 3, split_cost=2.0)

    x = flow.encode(tree)
    assert flow.model.violation(x) == 0
    correct = tree.predict(problem.X)[instances.row] == np.array(problem.classes)[instances.label]
    expected = instances.weight[correct].sum() - 2 * tree.splits
    assert flow.model.objective @ x == expected
    features, labels = flow.decode(x)
    assert Tree.from_heap(features, labels, problem.classes, names) == tree


def test_flow_cannot_pass_where_the_tree_does_not_lead() -> None:
    problem, instances = random_instances(0, 2)
    names = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    flow = WFlowOCT(instances, 1)
    x = flow.encode(Tree.from_heap({}, {1: 0}, problem.classes, names))
    wrong = int(np.flatnonzero(instances.label == 1)[0])
    x[flow.z_in[0, wrong]] = x[flow.z_out[0, wrong]] = 1
    assert flow.model.violation(x) == 1


def test_topology() -> None:
    topology = Topology(2)
    assert list(topology.branch_nodes) == [1, 2, 3]
    assert list(topology.leaf_nodes) == [4, 5, 6, 7]
    assert list(topology.nodes) == [1, 2, 3, 4, 5, 6, 7]
    assert topology.ancestors(1) == []
    assert topology.ancestors(6) == [1, 3]


def knapsack() -> MipModel:
    model = MipModel()
    x = model.add_variables("x", (3,), integer=True)
    y = model.add_variables("y", (1,), upper=2.5, integer=False)
    model.add_rows("weight", 1, [(0, x, 1.0), (0, y, 1.0)], lower=0, upper=3)
    model.objective[x] = [5, 4, 3]
    model.objective[y] = 1
    return model


def test_scip_runs_a_model() -> None:
    result = scip.run(knapsack(), limits=Limits())
    assert result.x == pytest.approx([1, 1, 1, 0])
    assert result.bound == pytest.approx(12)
    assert result.limit is Limit.NONE


def test_scip_starts_from_a_solution_and_refuses_a_wrong_one() -> None:
    model = knapsack()
    result = scip.run(model, limits=Limits(), start=np.array([1.0, 0, 0, 2]))
    assert result.bound == pytest.approx(12)
    with pytest.raises(BackendError, match="start solution violates"):
        scip.run(model, limits=Limits(), start=np.array([1.0, 1, 1, 2]))


def test_scip_says_when_a_model_is_infeasible() -> None:
    model = knapsack()
    model.add_rows("impossible", 1, [(0, model.families["x"], 1.0)], lower=4)
    result = scip.run(model, limits=Limits())
    assert result.is_infeasible
    assert result.x is None


def test_scip_does_not_hide_an_unbounded_model() -> None:
    model = MipModel()
    x = model.add_variables("x", (1,), upper=np.inf, integer=False)
    model.objective[x] = 1
    with pytest.raises(BackendError, match="SCIP stopped with the status"):
        scip.run(model, limits=Limits())


def test_families_have_one_name() -> None:
    model = knapsack()
    assert (model.n_variables, model.n_rows) == (4, 1)
    with pytest.raises(ValueError, match="'x' already"):
        model.add_variables("x", (1,), integer=True)
