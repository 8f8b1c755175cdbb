"""The algorithms of the plane with oracles that look through a list of all trees."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from goct import Limit, Problem
from goct.metrics import FractionalMetric, Recall, get_metric
from goct.plane.dinkelbach import Dinkelbach, Maximum
from goct.plane.frontier import FrontierWalk
from goct.plane.hull import lower_hull
from goct.plane.oracle import Answer, Incumbent, IncumbentSession, StopError
from goct.plane.outer import OuterApproximation
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.solution import Limits
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Split, Tree

METRICS = ["f1", "jaccard", "kappa", "mcc", "fowlkes_mallows"]


def all_trees(problem: Problem, depth: int) -> list[Tree]:
    def nodes(depth: int) -> list:
        leaves = [Leaf(0), Leaf(1)]
        if depth == 0:
            return leaves
        below = nodes(depth - 1)
        splits = product(range(problem.n_features), below, below)
        return leaves + [Split(f, left, right) for f, left, right in splits if left != right]

    return [Tree(root, problem.classes, problem.feature_names) for root in nodes(depth)]


class ListOracle:
    """Answers by looking at every feasible tree; `slack` is its tolerance."""

    def __init__(self, session: IncumbentSession, plane: Plane, slack: int = 0) -> None:
        self.session = session
        task = session.incumbent.task
        trees = all_trees(task.problem, task.size.max_depth)
        self.trees = [(plane.of(tree), tree) for tree in trees if task.is_feasible(tree)]
        self.slack = slack

    def cheapest(self, a, b, size, *, cutoff, to_bound=None, split_cost=0) -> Answer:
        self.session.calls += 1
        costs = [
            (a * x + b * y + split_cost * tree.splits, k)
            for k, ((x, y), tree) in enumerate(self.trees)
            if tree.depth <= size.max_depth and tree.splits <= size.most_splits
        ]
        cost, k = min(costs, default=(10**9, None))
        if k is None or cost >= cutoff:
            return Answer(None, min(cost, cutoff) - self.slack)
        self.session.offer(self.trees[k][1])
        return Answer(self.trees[k][1], cost - self.slack)


def make(seed: int, metric: str, constraints=(), slack: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (14, 3))
    y = np.append([0, 1], (X[2:, 0] & X[2:, 1]) ^ (rng.random(12) < 0.3))
    problem = Problem.from_arrays(X, y, sample_weight=rng.integers(1, 4, 14))
    task = Task.read(problem, metric, 2, constraints=constraints)
    incumbent = Incumbent(task, task.best_constant())
    plane = Plane(problem, task.metric)
    oracle = ListOracle(IncumbentSession(incumbent, Limits(), None), plane, slack)
    return task, incumbent, plane, oracle


def maximise(task, incumbent, plane, oracle, *, ask_for_ends: bool = False) -> Maximum:
    staircase = Staircase(plane, plane.metric, ())
    target = Target(incumbent.objective)
    if isinstance(task.metric, FractionalMetric) and target.above is not None:
        dinkelbach = Dinkelbach(oracle, incumbent, plane, staircase, task.metric)
        return dinkelbach.maximise(target, task.size, lambda v: v)
    ends = None if ask_for_ends else [(0, plane.n_neg), (plane.n_pos, 0)]
    outer = OuterApproximation(oracle, incumbent, plane, staircase, inside=None, ends=ends)
    return outer.maximise(target, task.size, lambda v: v)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_an_exact_oracle_gives_the_optimum(seed, metric) -> None:
    task, incumbent, plane, oracle = make(seed, metric)
    best = max(task.objective(tree) for _, tree in oracle.trees)
    found = maximise(task, incumbent, plane, oracle)
    assert incumbent.objective == found.bound == best
    assert found.reached in (None, best)  # None if the constant tree is optimal
    assert oracle.session.calls < 12


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("slack", [1, 3, 1000])
def test_bounds_of_a_tolerant_oracle_hold(seed, metric, slack) -> None:
    """Only what the answers' bounds prove is proven, whatever trees were found."""
    task, incumbent, plane, oracle = make(seed, metric, slack=slack)
    best = max(task.objective(tree) for _, tree in oracle.trees)
    found = maximise(task, incumbent, plane, oracle)
    assert incumbent.objective <= best <= found.bound
    assert incumbent.bound >= best


@pytest.mark.parametrize("metric", ["mcc", "fowlkes_mallows"])
@pytest.mark.parametrize("seed", range(6))
def test_constraints_of_the_oracle_itself(seed, metric) -> None:
    """Constant trees need not be feasible then, so the ends of the hull are asked for."""
    constraints = [Recall() >= 0.3, Recall() <= 0.8]
    task, incumbent, plane, oracle = make(seed, metric, constraints)
    best = max((task.objective(tree) for _, tree in oracle.trees), default=None)
    found = maximise(task, incumbent, plane, oracle, ask_for_ends=True)
    assert incumbent.objective == best
    level = task.metric.quasiconvex_from
    if best is not None and (level is None or best >= level):
        assert found.bound == best


@pytest.mark.parametrize("seed", range(4))
def test_the_frontier_walk_finds_the_hull(seed) -> None:
    task, _, plane, oracle = make(seed, "f1")
    walk = FrontierWalk(oracle, plane, task.size)
    walk.follow_hull()
    assert walk.hull == lower_hull([point for point, _ in oracle.trees])
    assert all(plane.of(walk.trees[point]) == point for point in walk.hull)
    assert not walk.open_edges()


def test_a_stop_keeps_what_is_known() -> None:
    task, incumbent, plane, oracle = make(0, "mcc")
    ask, asked = oracle.cheapest, []

    def stop(*arguments, **options):
        asked.append(arguments)
        if len(asked) > 1:
            incumbent.tighten(options["to_bound"](0))
            oracle.session.stop(Limit.TIME)
        return ask(*arguments, **options)

    oracle.cheapest = stop
    best = max(task.objective(tree) for _, tree in oracle.trees)
    with pytest.raises(StopError):
        maximise(task, incumbent, plane, oracle)
    assert oracle.session.limit is Limit.TIME
    assert incumbent.objective <= best <= incumbent.bound


def test_incumbents_prefer_small_trees() -> None:
    problem = Problem.from_arrays([[0, 0], [1, 1]], [0, 1])
    task = Task(problem, get_metric("accuracy"), SizeLimit(2))
    names = problem.classes, problem.feature_names
    stump = Tree(Split(0, Leaf(0), Leaf(1)), *names)
    deep = Tree(Split(0, Leaf(0), Split(1, Leaf(0), Leaf(1))), *names)
    incumbent = Incumbent(task, None)
    with pytest.raises(LookupError):
        _ = incumbent.known
    for tree in (Tree(Leaf(0), *names), deep, stump, deep):
        incumbent.offer(tree)
    assert incumbent.known.tree is stump
    incumbent.tighten(incumbent.known.objective - 1)
    assert incumbent.bound == incumbent.objective == 1
    small = replace(task, constraints=(Recall() >= 2,))
    blocked = Incumbent(small, None)
    blocked.offer(stump)
    assert blocked.best is None
