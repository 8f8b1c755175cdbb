"""Trees at the nodes of the solver, on few features that the relaxation finds salient.

Algorithm 2 of the paper. With the values b* of the relaxation at a node, the
saliency of a feature is

``score(f) = Σ_n b*[n, f]``

over all branch nodes n. The features of the incumbent and the few others with
the largest scores make a small problem, whose best tree is often better than
the incumbent; it is lifted to a solution of the whole model. No set of
features is tried twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from goct.mip.model import Heuristic, Point
from goct.mip.question import Question
from goct.plane.oracle import TooFineError
from goct.problem import Problem
from goct.search.engine import solve_search, unsupported
from goct.solution import Limit, Limits
from goct.task import Task
from goct.tree import Tree

NODE_HEURISTICS = ("search", "mip", "rounding", "none")
"""How trees are made at the nodes of the solver."""

_HORIZON = 1.0  # seconds

Improve: TypeAlias = Callable[[Problem, Tree | None, Limits], Tree | None]
"""Finds a good tree of a problem with few features, given one that is known, within limits."""


@dataclass(frozen=True)
class NodeHeuristic:
    """How trees are made at the nodes of the solver.

    Attributes
    ----------
    kind
        "search": the problem of few features is solved by the search engine,
        where that can answer the question; "mip": by a solver, as in the
        paper; "rounding": trees are made by rounding only; "none": not at all.
        The first two round as well.
    features
        How many features join those of the incumbent.
    every
        See :attr:`goct.mip.backends.base.Settings.heuristic_every`.
    share
        The share of the time that problems of few features may take.
    """

    kind: str = "search"
    features: int = 3
    every: int = 10
    share: float = 0.2


def can_search(question: Question) -> bool:
    """Say whether the search engine can answer a question."""
    task = Task.read(question.problem, question.metric, 1, constraints=question.side.constraints)
    return unsupported(task) is None


def search_improver(question: Question, depth: int, max_splits: int | None) -> Improve:
    """Return a function that solves small problems with the search engine."""

    def improve(problem: Problem, start: Tree | None, limits: Limits) -> Tree | None:
        try:
            found = solve_search(
                Task.read(
                    problem,
                    question.metric,
                    depth,
                    split_penalty=question.split_penalty,
                    max_splits=max_splits,
                    constraints=question.side.constraints,
                ),
                limits=limits,
                start=start,
                random_state=None,
                callback=None,
                fewest_splits=False,
            )
        except TooFineError:
            return None
        if found.limit is Limit.INTERRUPTED:
            raise KeyboardInterrupt  # for the solver that called
        return found.tree

    return improve


class SaliencyHeuristic(Heuristic):
    """Solves the problem of the salient features, and lifts its tree.

    Parameters
    ----------
    question
        The question, whose model is there.
    improve
        Solves small problems.
    settings
        How many features, and how much time.
    rounding
        Makes trees by rounding, which is tried as well.
    deadline
        The time, of :func:`time.perf_counter`, when it should come to an end.
    """

    def __init__(
        self,
        question: Question,
        improve: Improve,
        settings: NodeHeuristic,
        rounding: Heuristic,
        deadline: float = np.inf,
    ) -> None:
        self.question = question
        self.improve = improve
        self.settings = settings
        self.rounding = rounding
        self.deadline = deadline
        self.history: set[frozenset[int]] = set()
        self._started = time.perf_counter()
        self._spent = 0.0

    def propose(self, x: Point, incumbent: Point | None = None) -> Point | None:
        """Return the best tree that rounding, or the problem of salient features, gives."""
        rounded = self.rounding.propose(x, incumbent)
        salient = self._propose(x, incumbent)
        if rounded is None or salient is None:
            return salient if rounded is None else rounded
        assert self.question.model is not None
        objective = self.question.model.model.objective
        return max(rounded, salient, key=lambda solution: float(objective @ solution))

    def _propose(self, x: Point, incumbent: Point | None) -> Point | None:
        now = time.perf_counter()
        if self._spent > self.settings.share * (now - self._started) or now >= self.deadline:
            return None
        question = self.question
        known = None if incumbent is None else question.tree(incumbent)
        features = self.salient_features(x, known)
        if not features or features in self.history:
            return None
        self.history.add(features)
        limits = Limits(time=max(1e-3, min(_HORIZON, self.deadline - now)))
        tree = self.improve(question.problem.restricted(features), known, limits)
        self._spent += time.perf_counter() - now
        if tree is None or not question.side.are_met(tree, question.problem):
            return None
        if known is not None and question.objective(tree) <= question.objective(known):
            return None
        return question.point(tree)

    def salient_features(self, x: Point, known: Tree | None) -> frozenset[int]:
        """Return the columns of a tree and those that are most salient at a point.

        Columns that must be used are always among them.
        """
        question = self.question
        assert question.model is not None
        columns = question.side.columns
        score = x[question.model.b].sum(axis=0)
        chosen = {int(columns[k]) for k in question.side.required}
        chosen |= set() if known is None else set(known.features)
        order = np.argsort(-score, kind="stable")
        others = [int(columns[k]) for k in order if score[k] > 0 and columns[k] not in chosen]
        return frozenset(chosen | set(others[: self.settings.features]))
