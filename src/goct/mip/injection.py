"""Feasible-solution injection: trees that a solver starts from.

Three ways lead to such a tree. CART grows it greedily. The paper's Algorithm 1
solves models of growing depth d = 2, …, D, first over the features that CART
uses and the next k ones in the ranking of a random forest, then over all of
them, each from the tree before it. The search engine, where it can answer the
question, finds the best tree in a short time, and often proves that it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from goct.cart import cart_tree, rank_features
from goct.exact import Exact
from goct.metrics import IntegerObjective, LinearMetric, Metric
from goct.mip.side import SideConstraints
from goct.plane.oracle import TooFineError
from goct.problem import Problem
from goct.search.engine import solve_search, unsupported
from goct.solution import Callback, Limit, Limits, Progress
from goct.task import Task
from goct.tree import Leaf, Split, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

INJECTIONS = ("auto", "search", "paper", "cart", "none")
"""Where the tree comes from that a solver starts from."""

SHARES = {"search": 0.1, "paper": 0.4}
"""The share of the time limit that an injection may take by default."""

LONGEST = {"search": 10.0, "paper": 60.0}
"""The seconds that an injection may take if there is no time limit."""


@dataclass(frozen=True)
class Answer:
    """What a model said: the best tree, the bound, why the solver stopped, and counts."""

    best: Tree | None
    bound: Exact
    limit: Limit
    stats: dict[str, Any] = field(default_factory=dict)


class Solver(Protocol):
    """Maximises the metric over the trees of a depth by a mixed-integer program."""

    def __call__(
        self,
        problem: Problem,
        depth: int,
        start: Tree | None,
        *,
        limits: Limits,
        callback: Callback | None,
    ) -> Answer:
        """Return the answer for a problem, which may be a restricted one."""


class Injection:
    """Finds a tree to start from, in stages, and keeps the time.

    Parameters
    ----------
    problem, metric, max_depth, split_penalty, max_splits
        As in :func:`goct.solve`.
    side
        The side constraints.
    start
        A tree that is known; None if there is none.
    highest
        What the objective of no tree exceeds, as far as is known.
    limits
        What the whole run may spend.
    callback
        Is told the progress.
    random_state
        The seed of CART and of the forest.
    share
        The share of the time limit that the stages may take; None for
        :data:`SHARES`.
    step
        How many features are added at each depth, k in the paper.

    Attributes
    ----------
    kind
        Where the tree comes from, once that is decided; see :data:`INJECTIONS`.
    best
        The best tree so far that meets the constraints; None if there is none.
    injected
        The objective of the injected tree; None if there is none.
    bound
        What the search engine has proven; None if that is nothing.
    is_infeasible
        Whether the search engine has proven that no tree meets the constraints.
    limit
        INTERRUPTED if the user wants no further stage.
    times
        The seconds that each stage took.
    """

    def __init__(
        self,
        problem: Problem,
        metric: Metric,
        max_depth: int,
        *,
        split_penalty: Fraction,
        max_splits: int | None,
        side: SideConstraints,
        start: Tree | None,
        highest: Exact,
        limits: Limits,
        callback: Callback | None = None,
        random_state: int | None = None,
        share: float | None = None,
        step: int = 3,
    ) -> None:
        self.problem = problem
        self.metric = metric
        self.max_depth = max_depth
        self.split_penalty = split_penalty
        self.max_splits = max_splits
        self.side = side
        self.limits = limits
        self.callback = callback
        self.seed = 0 if random_state is None else random_state % 2**32
        self.share = share
        self.step = step
        self.kind = "none"
        self.best = start
        self.injected: Exact | None = None
        self.bound: Exact | None = None
        self.is_infeasible = False
        self.limit = Limit.NONE
        self.times: dict[str, float] = {}
        self._started = time.perf_counter()
        self._highest = highest
        self._trees = [] if start is None else [start]

    @property
    def task(self) -> Task:
        """The question."""
        return Task.read(
            self.problem,
            self.metric,
            self.max_depth,
            split_penalty=self.split_penalty,
            max_splits=self.max_splits,
            constraints=self.side.constraints,
        )

    def run(self, kind: str, solve: Solver) -> None:
        """Find a tree to start from; "auto" is "search" where possible, else "cart".

        Parameters
        ----------
        kind
            One of :data:`INJECTIONS`.
        solve
            Solves models, for "paper".

        Raises
        ------
        ValueError
            If the search engine cannot answer the question and `kind` is
            "search".
        """
        why = unsupported(self.task)
        if kind == "search" and why is not None:
            raise ValueError(f"injection='search' is not possible: {why}")
        is_free = kind == "auto"
        if is_free:
            kind = "search" if why is None else "cart"
        self.kind = kind
        if kind == "none" or not len(self.side.columns) or self.side.is_impossible:
            return
        try:
            if kind == "search":
                try:
                    self._search()
                except TooFineError:
                    if not is_free:
                        raise
                    self.kind = "cart"
                    self._cart()
            elif kind == "cart":
                self._cart()
            else:
                self._paper(solve)
        except KeyboardInterrupt:
            self.limit = Limit.INTERRUPTED

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
        """Return when, in seconds after the start, an injection should be done."""
        if self.limits.time is None or self.limits.time == np.inf:
            return LONGEST[kind]
        share = SHARES[kind] if self.share is None else self.share
        return share * self.limits.time

    def _tell(self, progress: Progress, *, is_whole: bool) -> bool:
        """Tell the callback; the bounds of parts of the problem are not told."""
        if self.callback is None:
            return False
        found, bound = progress.objective, self._highest
        if self.best is not None:
            objective = self.objective(self.best)
            found = objective if found is None else max(found, objective)
        if is_whole:
            bound = min(bound, progress.bound)
        if found is not None:
            bound = max(bound, found)
        if self.callback(Progress(self.elapsed, found, bound, progress.nodes)):
            self.limit = Limit.INTERRUPTED
        return self.limit is Limit.INTERRUPTED

    # ------------------------------------------------------------------------ trees

    def objective(self, tree: Tree) -> Exact:
        """Return the exact objective of a tree."""
        return self.metric.evaluate(tree, self.problem) - self.split_penalty * tree.splits

    def is_allowed(self, tree: Tree) -> bool:
        """Say whether a tree meets the constraints and the limits on its size."""
        return (
            tree.depth <= self.max_depth
            and (self.max_splits is None or tree.splits <= self.max_splits)
            and self.side.are_met(tree, self.problem)
        )

    def offer(self, tree: Tree | None) -> None:
        """Take a tree as the one to start from, if it is allowed and none is better."""
        if tree is None:
            return
        tree = tree.pruned(self.problem)
        if not self.is_allowed(tree):
            return
        self._trees.append(tree)
        objective = self.objective(tree)
        if self.best is None or objective >= self.objective(self.best):
            self.best, self.injected = tree, objective

    # ----------------------------------------------------------------------- stages

    def _search(self) -> None:
        """Take the tree of the search engine, and the bound that it proves."""
        with self.stage("search"):
            found = solve_search(
                self.task,
                limits=Limits(time=max(self._end("search") - self.elapsed, 1e-3)),
                start=self.best,
                random_state=None,
                callback=None if self.callback is None else partial(self._tell, is_whole=True),
            )
        self.offer(found.tree)
        self.bound = found.bound
        self.is_infeasible = found.tree is None and found.limit is Limit.NONE
        if found.limit is Limit.INTERRUPTED:
            self.limit = Limit.INTERRUPTED

    def _cart(self) -> Tree:
        """Take CART's tree, pruned so that its splits pay for themselves."""
        with self.stage("cart"):
            gains = gains_of(self.problem, self.metric)
            grown = cart_tree(
                self.problem,
                self.max_depth,
                None if self.max_splits is None else self.max_splits + 1,
                gains=gains,
                columns=self.side.columns,
                random_state=self.seed,
            )
            self.offer(grown)
            self.offer(pruned_to_pay(grown, self.problem, gains, self.objective))
        return grown

    def _paper(self, solve: Solver) -> None:
        """Solve models of growing depth over growing sets of features (Algorithm 1)."""
        end = self._end("paper")
        grown = self._cart()
        with self.stage("forest"):
            ranking = rank_features(
                self.problem,
                gains_of(self.problem, self.metric),
                self.side.columns,
                random_state=self.seed,
                seconds=max(end - self.elapsed, 0.0) / 8,
            )
        features = {int(self.side.columns[k]) for k in self.side.required} | set(grown.features)
        last = self.max_depth
        for depth in range(min(2, last), last + 1):
            features |= set([j for j in ranking if j not in features][: self.step])
            parts = [("restricted", self.problem.restricted(features))]
            if depth < last:
                parts.append(("full", self.problem))
            if len(features) == len(ranking):  # both are the same
                parts = parts[:1]
            for name, problem in parts:
                if self.elapsed >= end or self.limit is not Limit.NONE:
                    return
                seconds = (end - self.elapsed) * _share_of_stage(depth, last, name)
                patience = _Patience(seconds / 3, self._tell)
                with self.stage(f"depth {depth} {name}"):
                    answer = solve(
                        problem,
                        depth,
                        self._start_of(depth),
                        limits=Limits(min(seconds, self.left.time or seconds), self.limits.nodes),
                        callback=patience,
                    )
                self.offer(answer.best)
                if answer.best is not None:
                    features |= set(answer.best.features)
                if answer.limit is Limit.INTERRUPTED and not patience.is_over:
                    self.limit = Limit.INTERRUPTED

    def _start_of(self, depth: int) -> Tree | None:
        """Return the best known tree of a depth."""
        trees = [tree for tree in self._trees if tree.depth <= depth]
        return max(trees, key=self.objective, default=None)


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
    tree: Tree,
    problem: Problem,
    gains: NDArray[np.float64],
    objective: Callable[[Tree], Exact],
) -> Tree:
    """Return the tree after replacing splits by leaves, bottom-up, where that is no worse.

    Parameters
    ----------
    tree
        The tree.
    problem
        The data.
    gains
        What each class is worth in each row; a leaf takes the class of the
        largest sum.
    objective
        What the tree should be good at.
    """
    heap = tree.heap()
    features = {n: node.feature for n, node in heap.items() if isinstance(node, Split)}
    labels = {n: node.label for n, node in heap.items() if isinstance(node, Leaf)}
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
