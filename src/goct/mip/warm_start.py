"""Warm starts, which the paper calls injection: feasible trees that a solver starts from.

Three ways lead to such a tree. CART grows it greedily. The paper's Algorithm 1
solves models of growing depth d = 2, …, D, first over the features that CART
uses and the next k ones in the ranking of a random forest, then over all of
them, each from the tree before it. The search engine, where it can answer the
question, finds the best tree in a short time, and often proves that it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_choice, check_count, check_flag, check_positive
from goct.cart import cart_tree, rank_features
from goct.exact import Exact
from goct.metrics import IntegerObjective, LinearMetric, Metric
from goct.mip.objective import Answer
from goct.mip.side import SideConstraints
from goct.mip.tree_program import heap_of
from goct.plane.oracle import TooFineError
from goct.problem import Problem
from goct.search.engine import relaxation, solve_search, unsupported
from goct.solution import Callback, Limit, Limits, Progress
from goct.task import Task
from goct.tree import Tree

INJECTIONS = ("auto", "search", "paper", "cart", "none")
"""Where the tree comes from that a solver starts from."""

SHARES = {"search": 0.1, "paper": 0.4}
"""The share of the time limit that a warm start may take by default."""

LONGEST = {"search": 10.0, "paper": 60.0}
"""The seconds that a warm start may take if there is no time limit."""


@dataclass(frozen=True)
class WarmStartOptions:
    """Where the tree comes from that the solver starts from.

    Attributes
    ----------
    injection
        "search", the search engine; "paper", models of growing depth over
        growing sets of features (Algorithm 1); "cart", CART; "none", the best
        constant tree. "auto" is "search" if the search engine can answer the
        question, else "cart".
    injection_share
        The share of the time limit that "search" and "paper" may take; 0.1
        and 0.4 if None. Without a time limit, they take 10 and 60 seconds at
        most.
    feature_step
        How many features "paper" adds at each depth, k in the paper.
    search_bound
        Whether a bound that the search engine proves on the way counts. If it
        meets the tree, no model is built. If False, the tree of the search
        engine is a start like any other, and the solver proves it.
    """

    injection: str = "auto"
    injection_share: float | None = None
    feature_step: int = 3
    search_bound: bool = True

    def __post_init__(self) -> None:
        check_choice(self.injection, "injection", INJECTIONS)
        if self.injection_share is not None:
            share = float(check_positive(self.injection_share, "injection_share", most=1))
            object.__setattr__(self, "injection_share", share)
        check_count(self.feature_step, "feature_step", minimum=1)
        check_flag(self.search_bound, "search_bound")


class Solver(Protocol):
    """Maximises the objective of a task by models."""

    def __call__(
        self, task: Task, start: Tree | None, *, limits: Limits, callback: Callback | None
    ) -> Answer:
        """Return the answer for a task, which may be one of few features."""


@dataclass(eq=False)
class WarmStart:
    """Finds a tree to start from, in stages, and keeps the time."""

    task: Task
    best: Tree | None  # the incumbent: the best feasible tree so far
    options: WarmStartOptions
    _: KW_ONLY
    highest: Exact  # what no tree exceeds, as far as is known
    limits: Limits  # of the whole run
    callback: Callback | None = None
    random_state: int | None = None
    injected: Exact | None = None  # the objective of the injected tree
    bound: Exact | None = None  # what the search engine has proven
    is_infeasible: bool = False  # the search engine has proven that no tree is feasible
    limit: Limit = Limit.NONE  # INTERRUPTED if the user wants no further stage
    times: dict[str, float] = field(default_factory=dict)  # the seconds of each stage

    def __post_init__(self) -> None:
        self._started = time.perf_counter()
        self.side = SideConstraints.read(self.task.constraints, self.task.problem)
        self.seed = 0 if self.random_state is None else self.random_state % 2**32
        self._trees = [] if self.best is None else [self.best]
        why = unsupported(self.task)
        self.relaxed = self.task if why is None else relaxation(self.task)
        self.kind = self.options.injection  # one of INJECTIONS, but for "auto"
        if self.kind == "search" and why is not None:
            raise ValueError(f"injection='search' is not possible: {why}")
        if self.kind == "auto":
            self.kind = "cart" if self.relaxed is None else "search"

    def run(self, solve: Solver) -> None:
        """Find a tree to start from; `solve` solves the models of "paper"."""
        if not len(self.side.columns) or self.side.is_impossible:
            return
        try:
            match self.kind:
                case "search":
                    self._search()
                case "cart":
                    self._cart()
                case "paper":
                    self._paper(solve)
        except KeyboardInterrupt:
            self.limit = Limit.INTERRUPTED

    @property
    def is_proven(self) -> bool:
        """Whether the search engine has proven the incumbent, or that there is no tree."""
        if self.best is None:
            return self.is_infeasible
        return self.bound == self.task.objective(self.best)

    # ---------------------------------------------------------------- time and progress

    @property
    def elapsed(self) -> float:
        """The seconds since the start."""
        return time.perf_counter() - self._started

    @property
    def left(self) -> Limits:
        """What is left of the limits of the whole run."""
        return self.limits.after(self.elapsed)

    @property
    def is_over(self) -> bool:
        """Whether the time of the whole run is up."""
        return self.limits.time is not None and self.elapsed >= self.limits.time

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the time of a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.times[name] = self.times.get(name, 0.0) + time.perf_counter() - started

    def _end(self, kind: str) -> float:
        """Return when, in seconds after the start, a warm start should be done."""
        if self.limits.time is None or self.limits.time == np.inf:
            return LONGEST[kind]
        return (self.options.injection_share or SHARES[kind]) * self.limits.time

    def _tell(self, progress: Progress, *, is_whole: bool) -> bool:
        """Tell the callback; the bounds of parts of the problem are not told."""
        if self.callback is None:
            return False
        found, bound = progress.objective, self.highest
        if self.best is not None:
            objective = self.task.objective(self.best)
            found = objective if found is None else max(found, objective)
        if is_whole:
            bound = min(bound, progress.bound)
        if found is not None:
            bound = max(bound, found)
        if self.callback(Progress(self.elapsed, found, bound, progress.nodes)):
            self.limit = Limit.INTERRUPTED
        return self.limit is Limit.INTERRUPTED

    # --------------------------------------------------------------------- stages

    def offer(self, tree: Tree | None) -> None:
        """Take a tree as the one to start from, if it is allowed and none is better."""
        if tree is None:
            return
        tree = tree.pruned(self.task.problem)
        if self.task.refusal(tree) is not None:
            return
        self._trees.append(tree)
        objective = self.task.objective(tree)
        if self.best is None or objective >= self.task.objective(self.best):
            self.best, self.injected = tree, objective

    def _search(self) -> None:
        """Take the tree of the search engine, and the bound that it proves.

        Constraints that it cannot handle are left out. If its tree meets them all
        the same, it is proven; if not, CART gives the tree to start from.
        """
        relaxed = self.relaxed
        assert relaxed is not None
        is_whole = relaxed is self.task

        def tell(progress: Progress) -> bool:
            # A tree of the relaxation need not be feasible.
            known = progress if is_whole else replace(progress, objective=None)
            return self._tell(known, is_whole=True)

        try:
            with self.stage("search"):
                found = solve_search(
                    relaxed,
                    limits=Limits(time=max(self._end("search") - self.elapsed, 1e-3)),
                    start=self.best,
                    random_state=None,
                    callback=None if self.callback is None else tell,
                )
        except TooFineError:
            if self.options.injection == "search":
                raise
            self.kind = "cart"
            self._cart()
            return
        self.offer(found.tree)
        self.bound = found.bound
        self.is_infeasible = found.tree is None and found.limit is Limit.NONE
        if found.limit is Limit.INTERRUPTED:
            self.limit = Limit.INTERRUPTED
        elif not is_whole and not self.is_proven:
            self._cart()

    def _cart(self) -> Tree:
        """Take CART's tree, pruned so that its splits pay for themselves."""
        task = self.task
        with self.stage("cart"):
            gains = gains_of(task.problem, task.metric)
            grown = cart_tree(
                task.problem,
                task.size.max_depth,
                None if task.size.max_splits is None else task.size.max_splits + 1,
                gains=gains,
                columns=self.side.columns,
                random_state=self.seed,
            )
            self.offer(grown)
            self.offer(pruned_to_pay(grown, task.problem, gains, task.objective))
        return grown

    def _paper(self, solve: Solver) -> None:
        """Solve models of growing depth over growing sets of features (Algorithm 1)."""
        problem, end = self.task.problem, self._end("paper")
        grown = self._cart()
        with self.stage("forest"):
            ranking = rank_features(
                problem,
                gains_of(problem, self.task.metric),
                self.side.columns,
                random_state=self.seed,
                seconds=max(end - self.elapsed, 0.0) / 8,
            )
        features = {int(self.side.columns[k]) for k in self.side.required} | set(grown.features)
        last = self.task.size.reachable_depth
        for depth in range(min(2, last), last + 1):
            features |= set([j for j in ranking if j not in features][: self.options.feature_step])
            parts = [("restricted", problem.restricted(features))]
            if depth < last:
                parts.append(("full", problem))
            if len(features) == len(ranking):  # both are the same
                parts = parts[:1]
            for name, part in parts:
                if self.elapsed >= end or self.limit is not Limit.NONE:
                    return
                seconds = (end - self.elapsed) * _share_of_stage(depth, last, name)
                with self.stage(f"depth {depth} {name}"):
                    found = self._stage_of_paper(solve, part, depth, seconds)
                self.offer(found)
                features |= set() if found is None else set(found.features)

    def _stage_of_paper(
        self, solve: Solver, problem: Problem, depth: int, seconds: float
    ) -> Tree | None:
        """Return the tree of a model of a depth, from the best known tree of that depth."""
        trees = [tree for tree in self._trees if tree.depth <= depth]
        patience = _Patience(seconds / 3, self._tell)
        answer = solve(
            replace(self.task.on(problem), size=replace(self.task.size, max_depth=depth)),
            max(trees, key=self.task.objective, default=None),
            limits=Limits(min(seconds, self.left.time or seconds), self.limits.nodes),
            callback=patience,
        )
        if answer.limit is Limit.INTERRUPTED and not patience.is_over:
            self.limit = Limit.INTERRUPTED
        return answer.best


class _Patience:
    """Ends a stage that has found no better tree for some seconds: its proof is not needed."""

    def __init__(self, seconds: float, tell: Callable[..., bool]) -> None:
        self.seconds = seconds
        self.tell = tell
        self.is_over = False
        self._best: Exact | None = None
        self._since = time.perf_counter()

    def __call__(self, progress: Progress) -> bool:
        wants_stop = self.tell(progress, is_whole=False)
        found = progress.objective
        if found is not None and (self._best is None or found > self._best):
            self._best, self._since = found, time.perf_counter()
        if not wants_stop and time.perf_counter() - self._since > self.seconds:
            self.is_over = True
        return wants_stop or self.is_over


def _share_of_stage(depth: int, last: int, name: str) -> float:
    """Return a stage's share of the time that is left for it and those after it.

    Stages are as long as the tree has nodes; models over all features, which
    serve the next depth only, get half of that.
    """
    stages = [(d, part) for d in range(depth, last + 1) for part in ("restricted", "full")][:-1]
    if name == "full":
        del stages[0]
    lengths = [2.0**d / (1 + (part == "full")) for d, part in stages]
    return lengths[0] / sum(lengths)


def gains_of(problem: Problem, metric: Metric) -> NDArray[np.float64]:
    """Return what each class is worth in each row, as the weights of samples.

    For linear metrics these are their rewards; for others, both classes weigh
    the same, as in balanced accuracy.
    """
    if isinstance(metric, LinearMetric):
        return IntegerObjective(metric.rewards(problem), Fraction(0)).gains.astype(np.float64)
    totals = np.maximum(problem.counts.sum(axis=0), 1)
    return np.asarray(problem.counts / (problem.n_classes * totals), dtype=np.float64)


def pruned_to_pay(
    tree: Tree, problem: Problem, gains: NDArray[np.float64], objective: Callable[[Tree], Exact]
) -> Tree:
    """Return the tree after replacing splits by leaves, bottom-up, where that is no worse.

    A leaf takes the class of the largest sum of gains in its rows.
    """
    features, labels = heap_of(tree)
    reached = {1: np.arange(problem.n_rows)}
    for n in sorted(features):
        is_right = problem.column(features[n])[reached[n]] == 1
        reached[2 * n], reached[2 * n + 1] = reached[n][~is_right], reached[n][is_right]
    best, value = tree, objective(tree)
    for n in sorted(features, reverse=True):
        below = _below(n, features)
        rest = {m: f for m, f in features.items() if m not in below}
        leaves = {m: k for m, k in labels.items() if m // 2 not in below}
        leaves[n] = int(gains[reached[n]].sum(axis=0).argmax())
        smaller = Tree.from_heap(rest, leaves, tree.classes, tree.feature_names)
        worth = objective(smaller)
        if worth >= value:
            best, value, features, labels = smaller, worth, rest, leaves
    return best


def _below(node: int, features: dict[int, int]) -> set[int]:
    """Return the splits from a node downwards."""
    found, level = set(), [node]
    while level:
        n = level.pop()
        if n in features:
            found.add(n)
            level += [2 * n, 2 * n + 1]
    return found
