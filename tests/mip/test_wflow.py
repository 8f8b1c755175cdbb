"""Models against the trees they stand for, and solvers on models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct import Problem, Tree
from goct.mip import BACKENDS
from goct.mip.backends.base import BackendError, Settings
from goct.mip.benders import BendersOCT
from goct.mip.instances import Instances
from goct.mip.model import MipModel
from goct.mip.topology import Topology
from goct.mip.wflow import WFlowOCT
from goct.solution import Limit
from tests.support.trees import nodes


def random_instances(
    seed: int, n_classes: int, copies: bool = False, n_features: int = 5
) -> tuple[Problem, Instances]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (30, n_features))
    problem = Problem.from_arrays(X, rng.integers(0, n_classes, 30))
    counts = problem.counts
    instances = Instances.of_gains(
        problem.X, counts.astype(float), counts > 0, counts if copies else None
    )
    return problem, instances


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
    model.mark_used_features()
    model.forbid_conflicts()
    weights = problem.counts.sum(axis=1).astype(float)
    model.weigh_leaves(weights, 0.0)

    x = model.encode(tree)
    assert model.model.violation(x) < 1e-12
    assert all(separator.allows(x) for separator in model.model.separators)
    right = tree.predict(problem.X)[instances.row] == np.array(problem.classes)[instances.label]
    assert x[model.g].tolist() == right.tolist()
    expected = instances.weight[right].sum() - 2 * tree.splits
    assert model.model.objective @ x == pytest.approx(expected)
    features, labels = model.decode(x)
    assert Tree.from_heap(features, labels, problem.classes, names) == tree


def test_flow_cannot_pass_where_the_tree_does_not_lead() -> None:
    problem, instances = random_instances(0, 2)
    names = tuple(f"x{j}" for j in range(problem.X.shape[1]))
    flow = WFlowOCT(instances, 1)
    x = flow.encode(Tree.from_heap({}, {1: 0}, problem.classes, names))
    wrong = int(np.flatnonzero(instances.label == 1)[0])
    x[flow.z_in[0, wrong]] = x[flow.z_out[0, wrong]] = 1
    assert flow.model.violation(x) == 1


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


def knapsack() -> MipModel:
    model = MipModel()
    x = model.add_variables("x", (3,), integer=True)
    y = model.add_variables("y", (1,), upper=2.5, integer=False)
    model.add_rows("weight", 1, [(0, x, 1.0), (0, y, 1.0)], lower=0, upper=3)
    model.objective[x] = [5, 4, 3]
    model.objective[y] = 1
    return model


@pytest.fixture(params=list(BACKENDS))
def backend(request):
    solver = BACKENDS[request.param]
    if not solver.is_available:
        pytest.skip(f"{solver.module} is not installed: pip install 'goct[{solver.extra}]'")
    return solver


def test_backends_run_a_model(backend) -> None:
    result = backend.run(knapsack(), Settings(seed=3))
    assert result.x == pytest.approx([1, 1, 1, 0])
    assert result.bound == pytest.approx(12)
    assert result.limit is Limit.NONE
    assert not result.is_infeasible


def test_backends_start_from_a_solution_and_refuse_a_wrong_one(backend) -> None:
    model = knapsack()
    result = backend.run(model, Settings(), start=np.array([1.0, 0, 0, 2]))
    assert result.bound == pytest.approx(12)
    with pytest.raises(BackendError, match="start solution violates"):
        backend.run(model, Settings(), start=np.array([1.0, 1, 1, 2]))


def test_backends_say_when_a_model_is_infeasible(backend) -> None:
    model = knapsack()
    model.add_rows("impossible", 1, [(0, model.families["x"], 1.0)], lower=4)
    result = backend.run(model, Settings())
    assert result.is_infeasible
    assert result.x is None


def test_backends_do_not_hide_an_unbounded_model(backend) -> None:
    model = MipModel()
    x = model.add_variables("x", (1,), upper=np.inf, integer=False)
    model.add_rows("nothing", 1, [(0, x, 1.0)], lower=0)
    model.objective[x] = 1
    with pytest.raises(BackendError, match="stopped with the status"):
        backend.run(model, Settings())


def test_families_have_one_name() -> None:
    model = knapsack()
    assert (model.n_variables, model.n_rows) == (4, 1)
    with pytest.raises(ValueError, match="'x' already"):
        model.add_variables("x", (1,), integer=True)


def test_rows_by_rows_add_up_equal_places() -> None:
    model = knapsack()
    model.add_rows("twice", 2, [([1, 1, 0], [2, 2, 1], [1.0, 2.0, 5.0]), (0, 1, -5.0)], upper=1)
    start, column, coefficient = model.rows[-1].compressed()
    assert (start.tolist(), column.tolist(), coefficient.tolist()) == ([0, 0, 1], [2], [3.0])
