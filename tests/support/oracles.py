"""An oracle that looks through a list of all trees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from goct import Problem
from goct.plane.oracle import Answer, Incumbent, IncumbentSession
from goct.plane.points import Plane
from goct.solution import Limits
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Split, Tree


def all_trees(problem: Problem, depth: int) -> list[Tree]:
    """Return every tree up to a depth, but those with a split between equal subtrees."""

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

    def within(self, size: SizeLimit) -> list[tuple[tuple[int, int], Tree]]:
        """Return the points and trees of a size."""
        return [
            (point, tree)
            for point, tree in self.trees
            if tree.depth <= size.max_depth and tree.splits <= size.most_splits
        ]

    def cheapest(
        self, a, b, size, *, cutoff, to_bound=None, split_cost=0, any_tree=False
    ) -> Answer:
        """Of any trees below the cutoff, every other time the dearest one, and a poor bound."""
        self.session.calls += 1
        costs = [
            (a * x + b * y + split_cost * tree.splits, k, tree)
            for k, ((x, y), tree) in enumerate(self.within(size))
        ]
        dear = [found for found in costs if found[0] < cutoff]
        if any_tree and dear and self.session.calls % 2:
            tree = max(dear)[2]
            self.session.offer(tree)
            return Answer(tree, min(costs)[0] // 2 - self.slack)
        cost, _, tree = min(costs, default=(10**9, 0, None))
        if tree is None or cost >= cutoff:
            return Answer(None, min(cost, cutoff) - self.slack)
        self.session.offer(tree)
        return Answer(tree, cost - self.slack)

    def guess(self, a, b, size, *, cutoff, split_cost=0) -> Tree | None:
        """Find nothing every other time."""
        if self.session.calls % 2:
            return None
        return self.cheapest(a, b, size, cutoff=cutoff, split_cost=split_cost, any_tree=True).tree

    def fewest_splits(self, a, b, size, *, cost) -> Tree | None:
        found = [tree for (x, y), tree in self.within(size) if a * x + b * y == cost]
        tree = min(found, key=lambda tree: tree.splits, default=None)
        if tree is not None:
            self.session.offer(tree)
        return tree

    def cheapest_by_splits(self, a, b, size, *, cutoffs, learn=None) -> list[Answer]:
        answers = [
            self.cheapest(a, b, SizeLimit(size.max_depth, splits), cutoff=cutoff)
            for splits, cutoff in enumerate(cutoffs)
        ]
        if learn is not None:
            learn(answers)
        return answers

    def search_inside(self, size, *, direction, budget, box, visit, take=None):
        self.session.calls += 1
        (a, b), (width, height) = direction, box
        accepted, visited = [], []
        for (x, y), tree in self.within(size):
            is_inside = a * x + b * y <= budget and x <= width and y <= height
            if not is_inside or any(p <= x and q <= y for p, q in visited):
                continue
            visited.append((x, y))
            if (region := visit(x, y)) is not None:
                budget, width, height = map(min, (budget, width, height), region)
                others = [(p, other) for p, other in accepted if p[0] < x or p[1] < y]
                accepted = [*others, ((x, y), tree)]
        for _, tree in accepted:
            self.session.offer(tree)
            if take is not None:
                take(tree)
        return accepted[-1][1] if accepted else None


@dataclass
class Setting:
    """A small task with all that its strategies need."""

    task: Task
    incumbent: Incumbent
    plane: Plane
    oracle: ListOracle

    @property
    def best(self) -> Any:
        """The largest objective of all feasible trees; None if there are none."""
        trees = (tree for _, tree in self.oracle.trees)
        return max(map(self.task.objective, trees), default=None)


def setting(
    seed: int,
    metric: Any,
    constraints: Any = (),
    *,
    slack: int = 0,
    split_penalty: Fraction = Fraction(0),
    max_splits: int | None = None,
) -> Setting:
    """Return a random task of depth 2 with three features and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (14, 3))
    y = np.append([0, 1], (X[2:, 0] & X[2:, 1]) ^ (rng.random(12) < 0.3))
    problem = Problem.from_arrays(X, y, sample_weight=rng.integers(1, 4, 14))
    task = Task.read(
        problem,
        metric,
        2,
        constraints=constraints,
        split_penalty=split_penalty,
        max_splits=max_splits,
    )
    incumbent = Incumbent(task, task.best_constant())
    plane = Plane(problem, task.metric)
    oracle = ListOracle(IncumbentSession(incumbent, Limits(), None), plane, slack)
    return Setting(task, incumbent, plane, oracle)
