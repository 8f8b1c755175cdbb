"""Primal heuristics: trees from the relaxation, by rounding and on few salient features."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_choice, check_count, check_positive
from goct.mip.cuts import Check
from goct.mip.numerics import FEASIBILITY_TOLERANCE
from goct.mip.objective import Model
from goct.mip.program import Heuristic, Point
from goct.mip.tree_program import TreeProgram
from goct.plane.oracle import TooFineError
from goct.search.engine import solve_search
from goct.solution import Limit, Limits
from goct.task import Task
from goct.tree import Tree

NODE_HEURISTICS = ("search", "mip", "rounding", "none")
"""How trees are made at the nodes of the solver."""

_HORIZON = 1.0  # seconds
_USED = 1e-6  # a relaxation that uses a feature less does not use it
_PAYS = 1e-9  # what a split must gain, relative to the leaf in its place

Improve: TypeAlias = Callable[[Task, Tree | None, Limits], Tree | None]
"""Finds a good tree of a task with few features, given one that is known, within limits."""


@dataclass(frozen=True)
class HeuristicOptions:
    """How trees are made at the nodes of the solver.

    Attributes
    ----------
    node_heuristic
        "search" and "mip" solve the problem of few salient features (Algorithm
        2), by the search engine and by a model, as in the paper, and round the
        relaxation as well; "rounding" does only that; "none". Questions that
        the search engine cannot answer are rounded.
    heuristic_features
        How many salient features join those of the incumbent.
    heuristic_every
        The heuristic sees the relaxations of the first k nodes, and then of
        every k-th node.
    heuristic_share
        The share of the solver's time that problems of few features may take.
    """

    node_heuristic: str = "search"
    heuristic_features: int = 3
    heuristic_every: int = 10
    heuristic_share: float = 0.2

    def __post_init__(self) -> None:
        check_choice(self.node_heuristic, "node_heuristic", NODE_HEURISTICS)
        check_count(self.heuristic_features, "heuristic_features", minimum=1)
        check_count(self.heuristic_every, "heuristic_every", minimum=1)
        share = float(check_positive(self.heuristic_share, "heuristic_share", most=1))
        object.__setattr__(self, "heuristic_share", share)


@dataclass(eq=False)
class RoundingHeuristic(Heuristic):
    """Builds a tree from the root down, on features that the relaxation uses.

    A node takes the feature that makes its rows most uniform, those with large
    ``b[n, f]`` being preferred; the last level takes the best feature of all.
    Splits that do not pay for their cost are removed again. Trees are made for
    several ratios, weights of the second class. No tree is proposed twice, and
    none that is not allowed.
    """

    program: TreeProgram
    is_allowed: Check | None = None
    max_splits: int | None = None
    ratios: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        data = self.program.instances
        self._X = data.X.astype(np.float64)
        size = len(data.X) * data.n_classes
        gains = np.bincount(data.row * data.n_classes + data.label, data.weight, minlength=size)
        self._gains = gains.astype(np.float64).reshape(-1, data.n_classes)
        self._seen: set[tuple[frozenset[tuple[int, int]], ...]] = set()

    def propose(self, x: Point, incumbent: Point | None = None) -> Point | None:
        """Return the best of the trees of a point, if there is a new one."""
        found = [self._propose(x, ratio) for ratio in self.ratios]
        return max(
            (solution for solution in found if solution is not None),
            key=lambda solution: float(self.program.objective @ solution),
            default=None,
        )

    def _propose(self, x: Point, ratio: float) -> Point | None:
        classes = np.arange(self._gains.shape[1])
        gains = self._gains * np.where(classes == 1, ratio, 1.0)
        features, labels, _ = self._grow(1, np.arange(len(self._X)), x[self.program.b], gains)
        key = frozenset(features.items()), frozenset(labels.items())
        if key in self._seen:
            return None
        self._seen.add(key)
        if self.max_splits is not None and len(features) > self.max_splits:
            return None
        if self.is_allowed is not None and not self.is_allowed(features, labels):
            return None
        solution = self.program.encode_heap(features, labels)
        is_solution = self.program.violation(solution) <= FEASIBILITY_TOLERANCE
        return solution if is_solution else None

    def _grow(
        self,
        node: int,
        rows: NDArray[np.intp],
        b: NDArray[np.float64],
        worth_of: NDArray[np.float64],
    ) -> tuple[dict[int, int], dict[int, int], float]:
        """Return features, labels and worth of the tree below a node."""
        gains = worth_of[rows]
        total = gains.sum(axis=0)
        as_leaf: tuple[dict[int, int], dict[int, int], float]
        as_leaf = {}, {node: int(total.argmax())}, float(total.max())
        if node not in self.program.topology.branch_nodes or len(rows) < 2:
            return as_leaf
        if np.isclose(gains.max(axis=1).sum(), total.max()):
            return as_leaf
        is_last = 2 * node in self.program.topology.leaf_nodes
        candidates = np.arange(b.shape[1])
        if not is_last:
            candidates = np.flatnonzero(b[node - 1] > _USED)
            if len(candidates) == 0:
                candidates = np.flatnonzero(b.sum(axis=0) > _USED)
            if len(candidates) == 0:
                candidates = np.arange(b.shape[1])
        x = self._X[np.ix_(rows, candidates)]
        ones = x.sum(axis=0)
        splits = (ones > 0) & (ones < len(rows))
        if not splits.any():
            return as_leaf
        right = x.T @ gains
        left = total - right
        if is_last:
            score = left.max(axis=1) + right.max(axis=1)
        else:
            score = (_purity(left) + _purity(right)) / total.sum() + 0.5 * b[node - 1, candidates]
        score[~splits] = -np.inf
        best = int(score.argmax())
        goes_right = x[:, best] == 1
        feature_l, label_l, worth_l = self._grow(2 * node, rows[~goes_right], b, worth_of)
        feature_r, label_r, worth_r = self._grow(2 * node + 1, rows[goes_right], b, worth_of)
        worth = worth_l + worth_r - self.program.split_cost
        if worth <= as_leaf[2] + _PAYS * abs(as_leaf[2]):
            return as_leaf
        features = {node: int(candidates[best]), **feature_l, **feature_r}
        return features, {**label_l, **label_r}, worth


def _purity(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = gains.sum(axis=1)
    squares: NDArray[np.float64] = (gains**2).sum(axis=1)
    return squares / np.where(total > 0, total, 1.0)


@dataclass(eq=False)
class SaliencyHeuristic(Heuristic):
    """Solves the problem of the salient features, and lifts its tree (Algorithm 2 of the paper).

    With the values b* of the relaxation at a node, the saliency of a feature is

    ``score(f) = Σ_n b*[n, f]``

    over all branch nodes n. The features of the incumbent and the few others
    with the largest scores make a small problem, whose best tree is often
    better than the incumbent; it is lifted to a solution of the whole program.
    No set of features is tried twice.
    """

    model: Model
    improve: Improve
    options: HeuristicOptions
    rounding: Heuristic
    deadline: float = np.inf  # of time.perf_counter
    history: set[frozenset[int]] = field(default_factory=set)
    _started: float = field(default_factory=time.perf_counter)
    _spent: float = 0.0

    def propose(self, x: Point, incumbent: Point | None = None) -> Point | None:
        """Return the best tree that rounding, or the problem of salient features, gives."""
        rounded = self.rounding.propose(x, incumbent)
        salient = self._propose(x, incumbent)
        if rounded is None or salient is None:
            return salient if rounded is None else rounded
        objective = self.model.program.objective
        return max(rounded, salient, key=lambda solution: float(objective @ solution))

    def _propose(self, x: Point, incumbent: Point | None) -> Point | None:
        now = time.perf_counter()
        limit = self.options.heuristic_share * (now - self._started)
        if self._spent > limit or now >= self.deadline:
            return None
        known = None if incumbent is None else self.model.tree(incumbent)
        features = self.salient_features(x, known)
        if not features or features in self.history:
            return None
        self.history.add(features)
        task = self.model.objective.task
        small = task.on(task.problem.restricted(features))
        limits = Limits(time=max(1e-3, min(_HORIZON, self.deadline - now)))
        tree = self.improve(small, known, limits)
        self._spent += time.perf_counter() - now
        if tree is None or not task.is_feasible(tree):
            return None
        if known is not None and task.objective(tree) <= task.objective(known):
            return None
        return self.model.point(tree)

    def salient_features(self, x: Point, known: Tree | None) -> frozenset[int]:
        """Return the columns of a tree and those that are most salient at a point.

        Columns that must be used are always among them.
        """
        side = self.model.objective.side
        score = x[self.model.program.b].sum(axis=0)
        chosen = {int(side.columns[k]) for k in side.required}
        chosen |= set() if known is None else set(known.features)
        order = np.argsort(-score, kind="stable")
        others = [int(side.columns[k]) for k in order if score[k] > 0]
        others = [column for column in others if column not in chosen]
        return frozenset(chosen | set(others[: self.options.heuristic_features]))


def or_constant(task: Task, known: Tree | None) -> Tree | None:
    """Return the better one of a tree and the best constant one.

    The search engine takes its start for no worse, and models may not state constant trees.
    """
    trees = [tree for tree in (known, task.best_constant()) if tree is not None]
    return max(trees, key=task.objective, default=None)


def improve_by_search(task: Task, known: Tree | None, limits: Limits) -> Tree | None:
    """Solve a small problem with the search engine."""
    try:
        found = solve_search(
            task,
            limits=limits,
            start=or_constant(task, known),
            random_state=None,
            callback=None,
            fewest_splits=False,
        )
    except TooFineError:
        return None
    if found.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt  # for the solver that called
    return found.tree
