"""The size path: the best tree for every number of splits."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goct._ctrl_c import keeping_the_best
from goct._html import html_card, html_table
from goct._plot import axes_or_new, finish
from goct._validation import check_jobs
from goct.certificate import CertificateError, Claim, write_claims
from goct.certificate import unsupported as no_certificate
from goct.constraints import FeatureSetConstraint
from goct.exact import Exact
from goct.exceptions import CertificateWarning
from goct.metrics import Metric
from goct.one_vs_rest import name_the_rest
from goct.plane.oracle import Incumbent
from goct.plane.path import Budgets, BudgetsSession
from goct.problem import Problem
from goct.search.engine import core_of
from goct.search.oracle import MEMORY_LIMIT
from goct.search.path import can_share, search_path
from goct.search.problem_oracle import ProblemOracle
from goct.solution import Certificate, Limit, Limits, Progress, Solution, Status
from goct.solve import one_against_the_rest, solve
from goct.task import Task, read_penalty

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SPLITS = 31
"""The largest number of splits, if none is given."""


@dataclass(frozen=True)
class PathProgress:
    """The state of a running search for a size path.

    Attributes
    ----------
    elapsed
        Seconds since the start.
    objective, bound
        The value of the best tree so far with the largest number of splits, None if
        there is none yet, and the proven bound.
    proven
        For how many numbers of splits the best tree is proven so far.
    total
        Of how many.
    nodes
        The number of search nodes so far.
    """

    elapsed: float
    objective: Exact | None
    bound: Exact
    proven: int
    total: int
    nodes: int

    def describe(self) -> str:
        """Return the state as a line of text."""
        largest = Progress(self.elapsed, self.objective, self.bound, self.nodes).describe()
        if self.objective == self.bound:
            largest = f"{self.elapsed:8.1f} s  best {float(self.bound):.6f}"
        return f"{largest}  {self.proven} of {self.total} numbers of splits proven"


@dataclass(frozen=True, eq=False)
class Path:
    """The best tree with at most k splits, for k = 0, 1, ...

    ``path[k]`` is the :class:`~goct.Solution` for k splits, ``len(path)`` their
    number, and iteration goes from the smallest on.

    Attributes
    ----------
    solutions
        The solution with at most k splits, at place k: a tree, its exact value,
        a proven bound and the status. Of equally good trees it has one with the
        fewest splits.
    limit
        Why the search stopped before it was done, if it did.
    task
        The question, for the largest number of splits.
    stats
        Times and counts.
    certificate
        The certificate, if one was asked for and written.
    """

    solutions: tuple[Solution, ...]
    limit: Limit
    task: Task
    stats: dict[str, Any] = field(default_factory=dict, repr=False)
    certificate: Certificate | None = None

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, splits: int) -> Solution:
        return self.solutions[splits]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @property
    def is_proven(self) -> bool:
        """Whether every solution is proven to be optimal, or that there is none."""
        return all(s.status in (Status.OPTIMAL, Status.INFEASIBLE) for s in self.solutions)

    @cached_property
    def envelope(self) -> tuple[int, ...]:
        """The numbers of splits that are best for some price per split.

        They are the vertices of the upper concave envelope of the values, from
        the smallest on. If not all of the path is proven, these are the best of
        the trees that were found.
        """
        vertices: list[tuple[int, Exact]] = []
        for solution in self.solutions:
            if solution.tree is None or solution.value is None:
                continue
            point = solution.tree.splits, solution.value
            if vertices and point[1] <= vertices[-1][1]:
                continue
            while len(vertices) > 1 and _slope(vertices[-1], point) >= _slope(*vertices[-2:]):
                vertices.pop()
            vertices.append(point)
        return tuple(splits for splits, _ in vertices)

    @cached_property
    def breakpoints(self) -> tuple[Exact, ...]:
        """The prices per split at which the best number of splits changes, exactly.

        Above the first one, the first number of :attr:`envelope` is best;
        between two of them, the number at the place of the smaller one; below the
        last one, the last number. At a breakpoint two numbers are equally good.
        """
        values = [(splits, self._value(splits)) for splits in self.envelope]
        return tuple(_slope(p, q) for p, q in pairwise(values))

    def best(self, split_penalty: Any = 0) -> Solution:
        """Return the tree of largest ``metric - split_penalty * splits``.

        Parameters
        ----------
        split_penalty
            λ, the price of a split, as in :func:`goct.solve`.

        Returns
        -------
        Solution
            Of equally good trees one with the fewest splits. It is proven if all
            of the path is, and mostly otherwise if what can still win is.
        """
        task = replace(self.task, split_penalty=read_penalty(split_penalty))
        found = [s for s in self.solutions if s.tree is not None]
        if not found:
            return replace(self.solutions[-1], task=task)

        def objective(solution: Solution) -> Exact:
            assert solution.tree is not None
            assert solution.value is not None
            return task.penalised(solution.value, solution.tree.splits)

        winner = max(found, key=objective)  # the first of equals, which has the fewest splits
        bounds = [
            task.penalised(s.bound, splits)
            for splits, s in enumerate(self.solutions)
            if s.status is not Status.INFEASIBLE
        ]
        most = max(objective(winner), *bounds)
        value, reached = winner.value, objective(winner)
        is_proven = most == reached
        return Solution(
            tree=winner.tree,
            value=value,
            objective=reached,
            bound=most,
            status=Status.OPTIMAL if is_proven else Status.FEASIBLE,
            limit=Limit.NONE if is_proven else self.limit,
            task=task,
            stats=self.stats,
        )

    def smallest(self, splits: int) -> Solution:
        """Return the solution with at most so many splits, or else with the fewest there are.

        Constraints may need more splits; what was asked for is returned if no
        larger tree meets them, either.
        """
        larger = (s for s in self.solutions[splits:] if s.tree is not None)
        return next(larger, self.solutions[splits])

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the path as columns: a list per column, an entry per number of splits.

        The columns are splits (at most so many), value, bound, gap, status, the
        splits, depth and leaves of the tree, and the largest price per split for
        which it is best; NaN where it is best for none, or where there is no tree.
        """
        prices = [float("inf"), *map(float, self.breakpoints)]
        highest = dict(zip(self.envelope, prices, strict=False))
        columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        for splits, solution in enumerate(self.solutions):
            tree, nan = solution.tree, float("nan")
            price = nan
            if tree is not None and tree.splits == splits:
                price = highest.get(splits, nan)
            entries = (
                splits,
                nan if solution.value is None else float(solution.value),
                float(solution.bound),
                nan if solution.gap is None else float(solution.gap),
                solution.status.value,
                -1 if tree is None else tree.splits,
                -1 if tree is None else tree.depth,
                -1 if tree is None else tree.splits + 1,
                price,
            )
            for name, entry in zip(_COLUMNS, entries, strict=True):
                columns[name].append(entry)
        return columns

    def to_frame(self) -> Any:
        """Return the path as a data frame of pandas; see :meth:`to_dict` for its columns."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas: pip install pandas; to_dict() does without"
            ) from None
        return pd.DataFrame(self.to_dict())

    def to_text(self) -> str:
        """Return a table: for each number of splits the value, and what is proven."""
        rows = [("splits", self.task.metric.name, "bound", "status", "best if a split costs")]
        table = self.to_dict()
        prices = [p for p in table["up_to_price"] if p == p]
        for k, solution in enumerate(self.solutions):
            price = table["up_to_price"][k]
            value = "" if solution.value is None else f"{float(solution.value):.6f}"
            bound = "" if solution.status is Status.INFEASIBLE else f"{float(solution.bound):.6f}"
            status = solution.status.value
            tree = solution.tree
            if tree is not None and tree.splits < k:
                status += f" (with {tree.splits})"
            note = "" if price != price else _price_range(price, [*prices, 0.0])
            rows.append((str(k), value, bound, status, note))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        align = (str.rjust, str.rjust, str.rjust, str.ljust, str.ljust)
        return "\n".join(
            "  ".join(f(c, w) for f, c, w in zip(align, row, widths, strict=True)).rstrip()
            for row in rows
        )

    def __str__(self) -> str:
        proven = sum(s.status in (Status.OPTIMAL, Status.INFEASIBLE) for s in self.solutions)
        depth = self.task.size.max_depth
        at = "any depth" if depth is None else f"depth {depth}"
        return (
            f"Path of {self.task.metric.name} at {at}: "
            f"0 to {len(self) - 1} splits, {proven} of {len(self)} proven"
        )

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        head = ("splits", self.task.metric.name, "proven bound", "status")
        rows = [
            (
                k,
                "" if s.value is None else f"{float(s.value):.6f}",
                "" if s.status is Status.INFEASIBLE else f"{float(s.bound):.6f}",
                s.status.name.lower().replace("_", " "),
            )
            for k, s in enumerate(self.solutions)
        ]
        return html_card(str(self), html_table(head, rows))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the value against the number of splits, with its concave envelope.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install goct[plot]``.
        """
        ax = axes_or_new(ax, 6, 3.8)
        table = self.to_dict()
        splits, values, bounds = (table[name] for name in ("splits", "value", "bound"))
        if not self.is_proven:
            ax.fill_between(
                splits, values, bounds, step="post", color="#d9622b", alpha=0.15, lw=0,
                label="not proven",
            )  # fmt: skip
        ax.plot(splits, values, "o", color="#3a78b5", markersize=4, label="best tree")
        hull = [float(self._value(k)) for k in self.envelope]
        ax.plot(self.envelope, hull, "-", color="#9aa3ad", linewidth=1, zorder=1,
                label="best for some price per split")  # fmt: skip
        return finish(ax, "splits, at most", self.task.metric.name)

    def _value(self, splits: int) -> Exact:
        value = self.solutions[splits].value
        assert value is not None
        return value


_COLUMNS = (
    "splits",
    "value",
    "bound",
    "gap",
    "status",
    "tree_splits",
    "depth",
    "leaves",
    "up_to_price",
)


def _slope(left: tuple[int, Exact], right: tuple[int, Exact]) -> Exact:
    return (right[1] - left[1]) / (right[0] - left[0])


def _price_range(up_to: float, prices: Sequence[float]) -> str:
    """Say for which prices a number of splits is best, given the largest price of each."""
    least = prices[prices.index(up_to) + 1]
    return f"more than {least:.4g}" if up_to == float("inf") else f"{least:.4g} to {up_to:.4g}"


def path(
    problem: Problem,
    metric: str | Metric = "accuracy",
    max_depth: int | None = 3,
    *,
    max_splits: int | None = None,
    min_leaf_weight: Any = 0,
    min_samples_leaf: int = 0,
    constraints: Any = (),
    time_limit: float | None = None,
    n_jobs: int = 1,
    memory_limit: int = MEMORY_LIMIT,
    techniques: Mapping[str, bool] | None = None,
    callback: Callable[[PathProgress], Any] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    executor: Any = None,
) -> Path:
    """Find the best tree for every number of splits at once, and prove it.

    This takes little more than the search for one of them: the questions to the
    search core are about all numbers of splits together. From the path follows
    the best tree for *every* price per split.

    Parameters
    ----------
    problem, metric, max_depth, min_leaf_weight, min_samples_leaf, constraints
        As in :func:`goct.solve`.
    max_splits
        The largest number of splits; by default as many as the depth allows,
        but at most 31.
    time_limit
        Seconds after which the best trees so far are returned, with the bounds
        that are proven by then.
    n_jobs, memory_limit, techniques
        See :class:`goct.search.LinearOracle`.
    callback
        Called with a :class:`PathProgress` from time to time; the search stops
        if it returns True.
    certificate
        A file for the proof, as in :func:`goct.solve`. There is a warning and no
        file if not all trees are proven, or if too much is inside the hull for the
        checker to list; under constraints on columns there is an error.
    executor
        A `distributed.Client` whose workers share the work.

    Returns
    -------
    Path

    Examples
    --------
    >>> import goct
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> problem = goct.Problem.from_arrays(X, ["no", "no", "no", "yes"])
    >>> path = goct.path(problem, "accuracy", max_depth=2)
    >>> [str(solution.value) for solution in path]
    ['0.75', '0.75', '1', '1']
    >>> path.envelope, path.breakpoints
    ((0, 2), (Exact(1/8),))
    """
    task = read_path_task(
        problem,
        metric,
        max_depth,
        max_splits=max_splits,
        min_leaf_weight=min_leaf_weight,
        min_samples_leaf=min_samples_leaf,
        constraints=constraints,
    )
    limits = Limits(None if time_limit == float("inf") else time_limit)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")
    if certificate is not None:
        why = no_certificate(one_against_the_rest(task))
        if any(isinstance(c, FeatureSetConstraint) for c in task.constraints):
            why = "there is no certificate for a path of trees over a limited set of columns"
        if why is not None:
            raise ValueError(why)
    search = PathSearch(
        n_jobs=check_jobs(n_jobs),
        memory_limit=memory_limit,
        techniques=techniques,
        executor=executor,
    )
    with keeping_the_best(), closing(search):
        found = search.find(task, limits, callback)
    if certificate is None:
        return found
    assert search.session is not None
    return replace(found, certificate=_write(certificate, search.session, problem, limits))


class PathSearch:
    """Finds the paths of questions that differ in their least leaf alone.

    What is proven of trees holds for those with larger leaves, and some of them have
    these: so the smallest leaves come first, and the others take less time.

    Parameters
    ----------
    **options
        Those of :class:`goct.search.LinearOracle`, and `executor`, as in :func:`path`.

    Attributes
    ----------
    session
        The last search.
    """

    def __init__(self, **options: Any) -> None:
        self.session: BudgetsSession | None = None
        self._options = options
        self._core: ProblemOracle | None = None
        self._measure: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def close(self) -> None:
        """Let the workers of a cluster forget the data."""
        if self._core is not None:
            self._core.close()

    def find(
        self, task: Task, limits: Limits, callback: Callable[[PathProgress], Any] | None = None
    ) -> Path:
        """Find a path; see :func:`path`.

        Parameters
        ----------
        task
            One of :func:`read_path_task`; its leaves are as large as those of the last
            one, or larger, and all else is the same.
        limits, callback
            As in :func:`path`.
        """
        binary, relaxed = one_against_the_rest(task), self.session
        # Every leaf has rows: a split that leaves a side empty is useless.
        total = task.size.most_splits + 1
        useful = min(total, max(task.problem.n_rows, 1))
        budgets = Budgets(binary, useful)
        if relaxed is not None:
            assert relaxed.budgets.task.size.min_samples_leaf <= task.size.min_samples_leaf
            budgets.learn_from(relaxed.budgets)

        def report(elapsed: float, nodes: int) -> bool:
            if callback is None:
                return False
            largest, proven = budgets.incumbents[-1], budgets.n_proven + total - useful
            state = PathProgress(elapsed, largest.objective, largest.bound, proven, total, nodes)
            return bool(callback(state))

        self.session = session = BudgetsSession(budgets, limits, report)
        if binary.has_only_constants:
            if (constant := binary.best_constant()) is not None:
                budgets.tighten(useful - 1, binary.objective(constant))
        elif can_share(binary):
            search_path(session, self._core_of(binary))
        else:
            _search_one_by_one(session)
        stats = {
            "engine": "search",
            "oracle_calls": session.calls,
            "nodes": session.nodes,
            "memory_needed": session.memory_needed,
            "time": session.elapsed,
        }
        known = [budgets.incumbents[min(k, useful - 1)] for k in range(total)]
        found = [_solution(incumbent, k, task, session.limit) for k, incumbent in enumerate(known)]
        solutions = tuple(
            replace(s, stats=stats | {"fewest_splits": _is_smallest(s, found)}) for s in found
        )
        limit = Limit.NONE if all(s.limit is Limit.NONE for s in solutions) else session.limit
        return Path(solutions, limit, task, stats)

    def _core_of(self, task: Task) -> ProblemOracle:
        """Return the search core; the last one, if it measures leaves alike."""
        (measure,) = task.size.leaf_measures(task.problem)
        if self._core is None or not np.array_equal(self._measure, measure.weights):
            self.close()
            self._core, self._measure = core_of(task, **self._options), measure.weights
        return self._core


def _write(
    file: str | os.PathLike[str], session: BudgetsSession, problem: Problem, limits: Limits
) -> Certificate | None:
    """Write a certificate, or say in a warning why there is none."""
    incumbents = session.budgets.incumbents
    trees = [incumbent.tree for incumbent in incumbents if incumbent.tree is not None]
    why = "not all trees are proven"
    if len(trees) == len(incumbents) and session.budgets.n_proven == len(incumbents):
        try:
            task = session.budgets.task
            claims = []
            for splits, tree in enumerate(trees):
                one = replace(task, size=replace(task.size, max_splits=splits))
                claims.append(Claim(one, tree, one.objective(tree)))
            words = f"the path of {task.size.describe()}"
            return write_claims(
                file, claims, session.proven, problem, words, time_limit=limits.time, whole=True
            )
        except (CertificateError, KeyboardInterrupt) as error:
            why = str(error) or "interrupted"
    warnings.warn(f"no certificate was written: {why}", CertificateWarning, stacklevel=3)
    return None


def _is_smallest(solution: Solution, found: Sequence[Solution]) -> bool:
    """Say whether it is proven that no tree with fewer splits is as good."""
    tree, value = solution.tree, solution.value
    if tree is None or value is None or solution.status is not Status.OPTIMAL:
        return False
    return tree.splits == 0 or _is_worse(found[tree.splits - 1], value)


def _is_worse(solution: Solution, value: Exact) -> bool:
    return solution.status is Status.INFEASIBLE or solution.bound < value


def read_path_task(
    problem: Problem, metric: str | Metric, max_depth: Any, *, max_splits: Any, **options: Any
) -> Task:
    """Return the question for the largest number of splits; that is None if it limits nothing."""
    task = Task.read(problem, metric, max_depth, max_splits=max_splits, **options)
    full = replace(task.size, max_splits=None)
    most = min(task.size.most_splits, MOST_SPLITS if max_splits is None else full.most_splits)
    size = full if most == full.most_splits else replace(full, max_splits=most)
    return replace(task, size=size)


def _search_one_by_one(session: BudgetsSession) -> None:
    """Settle the budgets by a task each, where their questions cannot be shared."""
    budgets = session.budgets
    task = budgets.task

    def tell(progress: Progress) -> bool:
        return session.tell(progress.nodes)

    for splits in reversed(range(len(budgets))):
        if budgets.is_proven(splits):
            continue
        found = solve(
            task.problem,
            task.metric,
            task.size.max_depth,
            max_splits=splits,
            constraints=task.constraints,
            time_limit=session.left.time,
            callback=tell,
        )
        session.calls += found.stats.get("oracle_calls", 0)
        session.nodes += found.stats.get("nodes", 0)
        if found.tree is not None:
            budgets.offer(found.tree)
        if found.status is not Status.INFEASIBLE:
            budgets.tighten(splits, found.bound)
        if found.limit is not Limit.NONE:
            session.limit = found.limit
            return
        if found.status is Status.INFEASIBLE:
            return  # no tree with fewer splits meets the constraints, either


def _solution(incumbent: Incumbent, splits: int, task: Task, limit: Limit) -> Solution:
    """Return what is known about trees with at most so many splits."""
    if splits == 0:
        limit = Limit.NONE  # all trees without a split are known
    binary, size = incumbent.task, replace(task.size, max_splits=splits)
    solution = Solution.of_tree(
        replace(binary, size=size), incumbent.tree, incumbent.bound, limit=limit
    )
    if binary.problem is task.problem:
        return solution
    tree = None if solution.tree is None else name_the_rest(solution.tree, task.problem)
    return replace(solution, tree=tree, task=replace(task, size=size))
