"""What a solver may spend, what it says on the way, and what it proved in the end."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from math import ceil, inf
from typing import TYPE_CHECKING, Any, TypeAlias

from goct._html import html_card, html_facts
from goct._plot import axes_or_new, finish
from goct._text import confusion_table, format_exact, one_line
from goct._validation import check_count
from goct.constraints import Constraint
from goct.exact import Exact, as_fraction
from goct.metrics import Metric
from goct.one_vs_rest import against_rest, tree_against_rest
from goct.problem import Problem
from goct.task import Task
from goct.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Status(Enum):
    """What is known about the tree of a solution."""

    OPTIMAL = "optimal"
    """It is proven that no tree is better."""
    FEASIBLE = "feasible"
    """A tree, and a proven bound above it."""
    NO_SOLUTION = "no solution"
    """No tree was found, and it is not proven that there is none."""
    INFEASIBLE = "infeasible"
    """It is proven that no tree meets the constraints."""


class Limit(Enum):
    """Why a solver stopped before it was done."""

    NONE = "none"
    """It was done."""
    TIME = "time"
    """The time limit was reached."""
    NODES = "nodes"
    """The limit on the number of nodes was reached."""
    MEMORY = "memory"
    """The memory limit was reached."""
    GAP = "gap"
    """The tree is as close to the best one as was asked for."""
    INTERRUPTED = "interrupted"
    """The user pressed Ctrl-C, or the callback asked to stop."""


@dataclass(frozen=True)
class Limits:
    """What a solver may spend; no limit if None."""

    time: float | None = None  # seconds of wall-clock time; may be infinite
    nodes: int | None = None  # of the search

    def __post_init__(self) -> None:
        if self.time is not None and self.time != inf and as_fraction(self.time, "time_limit") <= 0:
            raise ValueError(f"time_limit must be positive or None, got {self.time}")
        if self.nodes is not None:
            check_count(self.nodes, "node_limit", minimum=1)

    def after(self, seconds: float) -> Limits:
        """Return what is left when some time has passed; never less than a millisecond."""
        return self if self.time is None else replace(self, time=max(self.time - seconds, 1e-3))


@dataclass(frozen=True)
class Progress:
    """The state of a running solver.

    Attributes
    ----------
    elapsed
        Seconds since the start.
    objective
        The objective of the best tree so far; None if there is none yet.
    bound
        The proven bound so far.
    nodes
        The number of search nodes so far.
    breaks_ties
        Whether the tree is proven, and what is left is to find one with fewer
        splits that is as good.
    """

    elapsed: float
    objective: Exact | None
    bound: Exact
    nodes: int
    breaks_ties: bool = False

    def describe(self) -> str:
        """Return the state as a line of text."""
        best, gap = "none yet", ""
        if self.objective is not None:
            best = f"{float(self.objective):.6f}"
            gap = f"  gap {float(self.bound - self.objective):.6f}"
        if self.breaks_ties:
            return f"{self.elapsed:8.1f} s  best {best}  proven; looking for fewer splits"
        return f"{self.elapsed:8.1f} s  best {best}  bound {float(self.bound):.6f}{gap}"


Callback: TypeAlias = Callable[[Progress], Any]
"""Is told the progress from time to time; the solver stops if it returns something true."""


@dataclass(frozen=True)
class Certificate:
    """A file with the proof of a solution, which :func:`goct.verify` checks.

    Attributes
    ----------
    path
        Where it was written.
    digest
        Its SHA-256 digest.
    size
        Its size in bytes.
    proves
        "all" that the solution claims; "less", a larger bound; or "nothing",
        because the engine has no proof that can be checked.
    """

    path: str
    digest: str
    size: int
    proves: str

    @property
    def command(self) -> str:
        """What checks it, in a shell or in Python."""
        path = self.path
        return f"goct verify {shlex.quote(path)} TABLE, or goct.verify({path!r}, problem)"

    def describe(self) -> str:
        """Return a line of text."""
        note = {"all": "", "less": ", proves a larger bound", "nothing": ", cannot be checked"}
        return f"{self.path} (sha256 {self.digest[:16]}…{note[self.proves]})"


@dataclass(frozen=True, eq=False)
class Solution:
    """The best tree that was found, and what is proven about it.

    Attributes
    ----------
    tree
        The tree; None if none was found.
    value
        The metric of the tree, computed from the tree and the data.
    objective
        ``value - split_penalty * splits``.
    bound
        No tree has a larger objective; this is proven.
    status
        What is known about the tree.
    limit
        Why the solver stopped before it was done, if it did.
    task
        The question. Its parts are also here: `metric`, `split_penalty`,
        `max_depth`, `max_splits`, `problem` and `constraints`.
    stats
        Times and counts of the engine.
    certificate
        The certificate, if one was asked for.
    """

    tree: Tree | None
    value: Exact | None
    objective: Exact | None
    bound: Exact
    status: Status
    limit: Limit
    task: Task
    stats: dict[str, Any] = field(default_factory=dict, repr=False)
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        if (self.tree is None) != (self.status in (Status.NO_SOLUTION, Status.INFEASIBLE)):
            raise AssertionError(f"status {self.status} does not go with tree {self.tree}")
        if self.tree is None or self.objective is None:
            return
        if not self.task.is_feasible(self.tree):
            raise AssertionError("the tree does not meet the constraints")
        if self.objective > self.bound:
            raise AssertionError(f"objective {self.objective!r} is above its bound {self.bound!r}")
        if (self.status is Status.OPTIMAL) != (self.objective == self.bound):
            raise AssertionError(f"status {self.status} does not go with a gap of {self.gap}")

    @classmethod
    def of_tree(
        cls,
        task: Task,
        tree: Tree | None,
        bound: Exact,
        *,
        limit: Limit = Limit.NONE,
        stats: dict[str, Any] | None = None,
    ) -> Solution:
        """Return the solution for a tree and a proven bound on the objective.

        The metric is computed from the tree, and the status follows: OPTIMAL
        exactly if the bound is met. Without a tree, the status is INFEASIBLE,
        unless a limit was reached.
        """
        value = objective = None
        status = Status.INFEASIBLE if limit is Limit.NONE else Status.NO_SOLUTION
        if tree is not None:
            value = task.metric.evaluate(tree, task.problem)
            objective = task.penalised(value, tree.splits)
            status = Status.OPTIMAL if objective == bound else Status.FEASIBLE
        return cls(
            tree=tree,
            value=value,
            objective=objective,
            bound=bound,
            status=status,
            limit=Limit.NONE if status is Status.OPTIMAL else limit,
            task=task,
            stats=stats or {},
        )

    @property
    def problem(self) -> Problem:
        """The data."""
        return self.task.problem

    @property
    def metric(self) -> Metric:
        """What was maximised."""
        return self.task.metric

    @property
    def split_penalty(self) -> Fraction:
        """The price of a split, in the metric's own unit."""
        return self.task.split_penalty

    @property
    def max_depth(self) -> int | None:
        """The largest depth that was allowed; None without a limit."""
        return self.task.size.max_depth

    @property
    def max_splits(self) -> int | None:
        """The largest number of splits that was allowed; None without a limit."""
        return self.task.size.max_splits

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What the tree has to meet."""
        return self.task.constraints

    @property
    def gap(self) -> Exact | None:
        """``bound - objective``, in the metric's own unit; None without a tree."""
        return None if self.objective is None else self.bound - self.objective

    def __repr__(self) -> str:
        tree = "no tree" if self.tree is None else f"{self.tree.splits} splits"
        value = "" if self.value is None else f" {float(self.value):.6g}"
        return (
            f"<Solution {self.status.name}: {self.metric.name}{value}, "
            f"bound {float(self.bound):.6g}, {tree}>"
        )

    def _repr_html_(self) -> str:
        facts = [("status", self.describe_status())]
        drawn = ""
        if self.tree is not None and self.value is not None:
            drawn = self.tree.to_html(self.tree.node_counts(self.problem))
            facts.insert(0, (self.metric.name, format_exact(self.value)))
        if self.status is not Status.INFEASIBLE:
            facts.insert(-1, ("proven bound", format_exact(self.bound)))
        title = f"Solution: {self.status.name.lower().replace('_', ' ')}"
        lines = html_facts((name, one_line(fact)) for name, fact in facts)
        return html_card(title, drawn, lines)

    def plot_progress(self, ax: Axes | None = None) -> Axes:
        """Draw the best objective and the proven bound over time.

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
        told: list[Progress] = self.stats.get("progress", [])
        last = Progress(float(self.stats.get("time", 0.0)), self.objective, self.bound, 0)
        events = [event for event in told if event.elapsed <= last.elapsed] + [last]
        times = [event.elapsed for event in events]
        nan = float("nan")
        best = [nan if e.objective is None else float(e.objective) for e in events]
        ax.step(times, [float(e.bound) for e in events], where="post", color="#d9622b",
                marker=".", label="proven bound")  # fmt: skip
        ax.step(times, best, where="post", color="#3a78b5", marker=".", label="best tree")
        penalty = " − penalty" if self.split_penalty else ""
        return finish(ax, "seconds", self.metric.name + penalty, "best")

    def improved(self, tree: Tree | None = None, bound: Exact | None = None) -> Solution:
        """Return what is known if a tree from elsewhere is better, or a proven bound smaller.

        A tree that the question does not allow is none, and a certificate stays with its tree.
        """
        is_settled = self.status in (Status.OPTIMAL, Status.INFEASIBLE)
        if is_settled or self.certificate is not None:
            return self
        best, least = self.tree, self.bound if bound is None else min(self.bound, bound)
        if tree is not None and self.task.refusal(tree) is None:
            reached = self.task.objective(tree)
            best = tree if self.objective is None or reached > self.objective else best
        if best is self.tree and least == self.bound:
            return self
        return Solution.of_tree(self.task, best, least, limit=self.limit, stats=self.stats)

    @property
    def fewest_splits(self) -> bool:
        """Whether it is certain that no tree that is as good has fewer splits."""
        if self.status is not Status.OPTIMAL or self.tree is None:
            return False
        return self.tree.splits == 0 or bool(self.stats.get("fewest_splits", False))

    def _positive(self) -> Any:
        """Return the label that the metric is about; None if it is about all alike."""
        problem, metric = self.problem, self.metric
        if problem.positive is None or not metric.is_binary:
            return None
        return problem.classes[problem.positive]

    def condensed(self) -> Solution:
        """Return the solution with no more of the data than the tree tells apart.

        Its problem has only the columns that the tree uses, and rows that agree
        on these are merged: what the tree does with the data, and all that is
        said of it, stays the same, but nobody can learn another tree from it.
        """
        if self.tree is None:
            return self
        return replace(self, task=self.task.on(self.problem.restricted(self.tree.features)))

    def summary(self) -> str:
        """Return a readable account: the tree, its confusion matrix and what is proven."""
        lines: list[str] = []
        facts: list[tuple[str, str]] = []
        if self.tree is not None and self.value is not None and self.objective is not None:
            tree, problem = self.tree, self.problem
            shown, data = tree, problem
            if self.metric.is_binary and problem.n_classes > 2:
                data = against_rest(problem)
                shown = tree_against_rest(tree, problem)
            lines += [shown.to_text(data), ""]
            lines += [confusion_table(shown.confusion_matrix(data), data.classes), ""]
            about = f"of {self._positive()!r}, " if self._positive() is not None else ""
            note = f"  {about}on the training data"
            facts.append((self.metric.name, format_exact(self.value) + note))
            if self.split_penalty:
                splits = "1 split" if tree.splits == 1 else f"each of {tree.splits} splits"
                note = f"  (minus {float(self.split_penalty):g} for {splits})"
                facts.append(("objective", format_exact(self.objective) + note))
            for constraint in self.constraints:
                facts.append(("constraint", constraint.describe(tree, problem)))
        if self.status is not Status.INFEASIBLE:
            facts.append(("proven bound", format_exact(self.bound)))
        facts.append(("status", self.describe_status()))
        if self.status is Status.OPTIMAL and not self.fewest_splits:
            facts.append(("splits", "a tree with fewer splits may be as good"))
        if (prover := self._prover()) is not None:
            facts.append(("proven by", prover))
        if self.certificate is not None:
            facts.append(("certificate", self.certificate.describe()))
            facts.append(("to check it", self.certificate.command))
        if (seconds := self.stats.get("time")) is not None:
            total = self.stats.get("total_time")
            facts.append(
                (
                    "time",
                    f"{seconds:.2f} s"
                    if total is None
                    else f"{total:.2f} s in all, {seconds:.2f} s of it for the last search",
                )
            )
        width = max(len(name) for name, _ in facts) + 2
        lines += [f"{one_line(name):<{width}}{one_line(fact)}" for name, fact in facts]
        return "\n".join(lines)

    def _prover(self) -> str | None:
        """Say who proved what the MIP engine was asked; None if that is clear, or nobody did."""
        is_proven = self.status in (Status.OPTIMAL, Status.INFEASIBLE)
        if self.stats.get("engine") != "mip" or not is_proven:
            return None
        if self.stats["proof"] == "mip":
            return f"a model, {self.stats['formulation']}, and the solver {self.stats['backend']}"
        return "the search engine" + ("" if self.stats["models"] else "; no model was built")

    def describe_status(self) -> str:
        """Say in words what is proven."""
        trees = self.task.size.describe()
        features = "these features"
        if self.problem.has_thresholds:
            features = "all thresholds of these columns"
        over = f"over {features}" + (" that meets the constraints" if self.constraints else "")
        match self.status:
            case Status.OPTIMAL:
                note = "" if self.problem.is_exact else " (weights or costs were rounded)"
                return f"optimal: no {trees} {over} is better{note}"
            case Status.FEASIBLE:
                gap = float(self.gap or 0)
                size = f"{gap:.6f}" if gap >= 1e-6 else f"{gap:.1e}"
                why = _WHY_STOPPED[self.limit]
                if self.limit is Limit.MEMORY and (needed := self.stats.get("memory_needed")):
                    why += f": this search needs memory_limit={ceil(needed / 1e8) / 10:g}e9 or more"
                return f"not proven optimal ({why}): at most {size} from the best"
            case Status.INFEASIBLE:
                names = ", ".join(constraint.name for constraint in self.constraints)
                which = f" ({names})" if names else ""
                return f"infeasible: no {trees} over {features} meets the constraints{which}"
            case Status.NO_SOLUTION:
                return "no tree found"


_WHY_STOPPED = {
    Limit.NONE: "the solver's precision ended",
    Limit.TIME: "time limit",
    Limit.NODES: "node limit",
    Limit.MEMORY: "memory limit",
    Limit.GAP: "close enough",
    Limit.INTERRUPTED: "interrupted",
}
