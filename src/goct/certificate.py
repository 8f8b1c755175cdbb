"""Certificates: what a solution rests on, written down so that :mod:`goct.verify` can check it.

After the search it is known which linear questions the bound follows from. Each of them is proven
once more, by a plain recursion that writes down its facts (``cpp/proof.cpp``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import floor, gcd
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct.constraints import FeatureSetConstraint, MetricConstraint
from goct.exact import Exact, as_fraction
from goct.files import atomic_write
from goct.metrics import Metric, catalogue
from goct.metrics.metric import Combination
from goct.plane.oracle import Proven
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.problem import Problem
from goct.solution import Certificate, Solution, Status
from goct.task import Task
from goct.tree import Leaf, Node, Tree
from goct.verify import data_of
from goct.verify.checker import (
    ARRAYS,
    Data,
    Number,
    Rewards,
    read_certificate,
    read_task,
    write_certificate,
)

_MOST_INSIDE = 10**10
"""Row sets of depth two, times pairs of features, times rows: what the checker may search."""

Terms = list[tuple[str, str, dict[str, Any]]]


class CertificateError(ValueError):
    """There is no certificate for a result; the message says why."""


def metric_terms(metric: Metric) -> Terms:
    """Return a metric as a weighted sum of named metrics with parameters."""
    if isinstance(metric, Combination):
        return [
            (str(weight * Fraction(inner)), name, options)
            for weight, part in metric.terms
            for inner, name, options in metric_terms(part)
        ]
    options: dict[str, Any] = {}
    name = metric.name
    match metric:
        case catalogue.FBeta():
            name, options = "f_beta", {"beta": str(as_fraction(metric.beta))}
        case catalogue.ClassCost():
            for key in ("false_negative", "false_positive"):
                options[key] = str(as_fraction(getattr(metric, key)))
        case catalogue.CostMatrix():
            options["costs"] = [[str(entry) for entry in row] for row in metric.costs]
        case catalogue.BoundedDOR():
            options["upper"] = str(as_fraction(metric.upper))
        case catalogue.SmoothedDOR():
            options["epsilon"] = str(as_fraction(metric.epsilon))
        case _ if type(metric).__module__ != catalogue.__name__ or isinstance(
            metric, catalogue.CustomMetric
        ):
            name = "own"
    return [("1", name, options)]


def unsupported(task: Task) -> str | None:
    """Say why there is no certificate for a task, whatever the result; None if there is one."""
    if task.problem.n_classes == 1:
        return "all labels are the same, so that there is nothing to prove"
    if task.size.max_depth is None:
        return "there are no certificates without a limit on the depth yet; give max_depth"
    for constraint in task.constraints:
        if isinstance(constraint, FeatureSetConstraint):
            return (
                f"there are no certificates for the constraint {constraint.name!r} yet; remove "
                "columns from the data instead of forbidding them, or solve without certificate"
            )
    return None


def write(
    path: str | os.PathLike[str],
    solution: Solution,
    proven: Sequence[Proven],
    original: Problem | None = None,
) -> Certificate:
    """Write the certificate of a solution of the search engine.

    Parameters
    ----------
    path
        The file, which is written as a whole or not at all.
    solution
        The solution.
    proven
        What the answers to linear questions have proven.
    original
        The problem with all its classes, if the solution is about one against the rest.

    Raises
    ------
    CertificateError
        If the numbers are too large.
    KeyboardInterrupt
        If Ctrl-C was pressed while the proof was made; then there is no file.
    """
    task, problem = solution.task, original or solution.problem
    data = data_of(problem)
    names = {Status.OPTIMAL: "optimal", Status.INFEASIBLE: "infeasible"}
    header = _header(task, problem, data) | {
        "words": solution.describe_status(),
        "status": names.get(solution.status, "bound"),
        "tree": None if solution.tree is None else _nested(solution.tree),
        "bound": _number(solution.bound),
    }
    if solution.stats.get("engine") == "mip":
        header |= {"checkable": False, "reason": MIP_REASON, "questions": []}
        return _save(path, header, [])
    if task.size.too_large_for(problem):  # no tree at all
        return _save(path, {**header, "questions": []}, [])
    prover = _Prover(task, header, data)
    if prover.asked.metric.is_linear and not prover.asked.constraints:
        argument = _linear_argument(prover, solution.bound)
    else:
        argument = _Plane(prover, proven).argument(solution)
    header |= argument.changes
    return _save(path, {**header, "questions": argument.questions}, argument.proofs)


def write_hull(
    path: str | os.PathLike[str], task: Task, trees: Sequence[Tree], original: Problem
) -> Certificate:
    """Write the certificate of the lower-left hull of the points of all trees.

    Parameters
    ----------
    path
        The file.
    task
        Which trees there are; its problem has two classes.
    trees
        One tree for each vertex, by the number of false negatives.
    original
        The problem with all its classes.
    """
    data = data_of(original)
    header = _header(task, original, data) | {
        "words": f"the hull of the trees of depth {task.size.max_depth}",
        "status": "hull",
        "trees": [_nested(tree) for tree in trees],
        "tree": None,
        "bound": None,
    }
    plane = _Plane(_Prover(task, header, data), ())
    points = [plane.plane.of(tree) for tree in trees]
    questions, proofs = [], []
    size = task.size
    budget = None if size.most_splits == 2**size.deepest - 1 else size.most_splits
    for (x, y), (right, low) in pairwise(points):
        a, b = y - low, right - x
        if a > 0 and b > 0:
            divisor = gcd(a, b)
            line = _Line(a // divisor, b // divisor, 0, budget, size.reachable_depth, ())
            questions.append({"a": line.a, "b": line.b, "price": 0, "budget": budget})
            proofs.append(plane.prove(line, {size.most_splits: line.a * x + line.b * y}))
    return _save(path, {**header, "questions": questions}, proofs)


def write_path(
    path: str | os.PathLike[str],
    task: Task,
    trees: Sequence[Tree],
    proven: Sequence[Proven],
    original: Problem,
) -> Certificate:
    """Write the certificate of a size path whose trees are all proven.

    Parameters
    ----------
    path
        The file.
    task
        The task of the largest number of splits; its problem has two classes if
        its metric has.
    trees
        The best trees with at most 0, 1, ... splits.
    proven, original
        As for :func:`write`.

    Raises
    ------
    CertificateError
        If lines are not enough: a best tree is inside the hull.
    """
    data = data_of(original)
    header = _header(task, original, data) | {
        "words": f"the size path of depth {task.size.max_depth}",
        "status": "path",
        "trees": [_nested(tree) for tree in trees],
        "tree": None,
        "bound": None,
    }
    prover = _Prover(task, header, data)
    values = [task.objective(tree) for tree in trees]
    if prover.asked.metric.is_linear and not prover.asked.constraints:
        argument = _linear_argument(prover, *values)
    else:
        argument = _Plane(prover, proven).path_argument(values)
    return _save(path, {**header, "questions": argument.questions}, argument.proofs)


MIP_REASON = (
    "the bound comes from the floats of a mixed-integer solver, which gives no proof; goct rounds "
    "it towards the safe side by the tolerances that the documentation of the MIP engine names, "
    "but that the solver keeps them cannot be checked"
)


def annotate(certificate: Certificate, reading: dict[str, Any]) -> Certificate:
    """Add to a certificate how its table is read, so that ``goct verify`` reads it so, too."""
    header, proofs = read_certificate(Path(certificate.path).read_bytes())
    return _save(certificate.path, {**header, "reading": reading}, proofs)


def _header(task: Task, problem: Problem, data: Data) -> dict[str, Any]:
    size = task.size
    constraints = [
        (metric_terms(c.metric), c.sense, str(c.threshold))
        for c in task.constraints
        if isinstance(c, MetricConstraint)
    ]
    return {
        "checkable": True,
        "program": f"goct {_core.__version__}",
        "task": {
            "metric": metric_terms(task.metric),
            "max_depth": size.deepest,
            "max_splits": size.max_splits,
            "min_leaf_weight": str(size.min_leaf_weight),
            "min_samples_leaf": size.min_samples_leaf,
            "split_penalty": str(task.split_penalty),
            "constraints": constraints,
        },
        "data": {
            "digest": data.digest(),
            "rows": data.columns.shape[1],
            "columns": list(problem.feature_names),
            "classes": [str(label) for label in problem.classes],
            "positive": problem.positive,
            "against_rest": problem is not task.problem,
            "weight_unit": str(problem.weight_unit),
            "cost_unit": str(problem.cost_unit),
            "is_exact": problem.is_exact,
        },
    }


def _nested(tree: Tree) -> Any:
    def visit(node: Node) -> Any:
        if isinstance(node, Leaf):
            return int(node.label)
        return [int(node.feature), visit(node.left), visit(node.right)]

    return visit(tree.root)


def _number(value: Exact) -> list[Any]:
    rational, roots = value.terms
    return [str(rational), [[str(c), m] for c, m in roots]]


def _save(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    proofs: Sequence[dict[str, NDArray[Any]]],
) -> Certificate:
    content = write_certificate(header, proofs)
    with atomic_write(path, binary=True) as file:
        file.write(content)
    proves = "less" if "note" in header else "all" if header["checkable"] else "nothing"
    return Certificate(os.fspath(path), hashlib.sha256(content).hexdigest(), len(content), proves)


@dataclass
class _Argument:
    """Questions with their proofs, and what they change in the header."""

    questions: list[dict[str, Any]]
    proofs: list[dict[str, NDArray[Any]]]
    changes: dict[str, Any]


class _Prover:
    """Proves linear questions about the data of a task.

    Parameters
    ----------
    task
        The task.
    header
        The header of its certificate; `asked` is what the checker reads there.
    data
        The data with all classes.
    """

    def __init__(self, task: Task, header: dict[str, Any], data: Data) -> None:
        self.task = task
        self.asked = asked = read_task(header, lambda *_: Number())
        if header["data"]["against_rest"]:
            self.asked = replace(asked, positive=1)
            data = data.against_rest(asked.positive or 0)
        self.data = data
        self._cells = np.ascontiguousarray(data.columns.T.astype(np.uint8))
        weights, self._min_leaf = asked.leaves(data)
        self._weights = np.ascontiguousarray(weights)

    def prove(
        self,
        costs: NDArray[np.int64],
        cutoffs: list[int],
        *,
        depth: int,
        price: int = 0,
        budget: int | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Return facts that show that no tree costs less than the cutoffs, by split budget."""
        try:
            arrays = _core.prove(
                self._cells,
                self._weights,
                np.ascontiguousarray(costs),
                price,
                depth,
                budget,
                self._min_leaf,
                [max(-(2**60), min(c, 2**60)) for c in cutoffs],
                None,
            )
        except OverflowError:
            raise CertificateError(
                "the weights, costs or penalties are too fine for a certificate; round them"
            ) from None
        if arrays is None:
            raise KeyboardInterrupt
        return dict(zip(ARRAYS, arrays, strict=True))


def _linear_argument(prover: _Prover, *proven: Exact) -> _Argument:
    """Return the one question of a linear metric, given a bound or one per number of splits."""
    size = prover.task.size
    rewards = Rewards.of(prover.asked, prover.data)
    most = rewards.matrix.max(axis=1)
    least = [
        int(most.sum()) - floor((bound.as_fraction() - rewards.offset) / rewards.unit)
        for bound in proven
    ]
    one_is_enough = len(proven) == 1 and size.most_splits == 2**size.deepest - 1
    budget = None if one_is_enough else size.most_splits
    numbers = range(1 if budget is None else budget + 1)
    cutoffs = [least[min(m, len(least) - 1)] - rewards.price * m for m in numbers]
    proof = prover.prove(
        most[:, None] - rewards.matrix,
        cutoffs,
        depth=size.reachable_depth,
        price=rewards.price if budget is None else 0,
        budget=budget,
    )
    return _Argument([{"budget": budget}], [proof], {})


@dataclass(frozen=True)
class _Line:
    """A linear question whose answer is known, and how far it is needed."""

    a: int
    b: int
    price: int
    budget: int | None
    depth: int
    least: tuple[int, ...]

    def at(self, splits: int, max_depth: int) -> int | None:
        """Return the least cost of errors of trees with so many splits; None if not known."""
        if min(max_depth, splits) > self.depth or (self.budget or splits) < splits:
            return None
        return self.least[0] - self.price * splits if len(self.least) == 1 else self.least[splits]


class _Plane:
    """Any other metric, and constraints on metrics: lines in the plane below which no tree is.

    Parameters
    ----------
    prover
        The solution and its data.
    proven
        What the answers to linear questions have proven.
    """

    def __init__(self, prover: _Prover, proven: Sequence[Proven]) -> None:
        self.prover, self.task = prover, prover.task
        task, problem = self.task, self.task.problem
        self.plane = Plane(problem, task.metric)
        constraints = tuple(
            replace(c, metric=c.metric.oriented(problem))
            for c in task.constraints
            if isinstance(c, MetricConstraint)
        )
        self.staircase = Staircase(
            self.plane, self.plane.metric, constraints, most_steps=self.plane.n_pos + 2
        )
        most = task.size.most_splits
        self.splits = list(range(1, most + 1)) if task.split_penalty else [most]
        if most == 0 or problem.X.shape[1] == 0:
            self.splits = []  # only trees without a split, which the checker looks at itself
        self.lines = [line for p in proven if (line := self._read(p)) is not None]

    def _read(self, proven: Proven) -> _Line | None:
        size, full = proven.size, 2**proven.size.deepest - 1
        is_limited = size.most_splits < full
        if proven.a < 0 or proven.b < 0:
            return None
        if is_limited and not proven.by_splits and proven.split_cost:
            return None
        budget = size.most_splits if is_limited or proven.by_splits else None
        least = proven.least
        if budget is not None and not proven.by_splits:
            least = (0,) * budget + least  # what is not asked is not known
        return _Line(proven.a, proven.b, proven.split_cost, budget, size.reachable_depth, least)

    def argument(self, solution: Solution) -> _Argument:
        """Return few lines that leave nothing better, or, if there are none, a larger bound.

        What lines leave inside the hull the checker searches itself, if it is little.
        """
        changes: dict[str, Any] = {}
        bound = None if solution.status is Status.INFEASIBLE else solution.bound
        self.lines += self._level_lines(bound)
        needs, is_enough = self._choose(self._ceilings(bound))
        if not is_enough and self._is_small():
            changes = {"inside": True}
            needs = [(line, dict.fromkeys(need, line.least[0])) for line, need in needs]
        elif not is_enough:
            bound = self._provable_bound(bound)
            changes = {
                "status": "bound",
                "bound": _number(bound),
                "note": "the search engine claims more than this certificate proves: "
                + solution.describe_status(),
            }
            needs, _ = self._choose(self._ceilings(bound))
        return self._proven(needs, changes)

    def path_argument(self, values: Sequence[Exact]) -> _Argument:
        """Return lines that leave nothing better than a value for each number of splits."""
        numbers = list(range(1, len(values)))
        ceilings = []
        for splits in numbers:
            self.splits = [splits]
            self.lines += self._level_lines(values[splits])
            ceilings += self._ceilings(values[splits])
        self.splits = numbers
        needs, is_enough = self._choose(ceilings)
        if not is_enough:
            raise CertificateError("a best tree is inside the hull, where lines prove too little")
        return self._proven(needs, {})

    def _proven(
        self, needs: list[tuple[_Line, dict[int, int]]], changes: dict[str, Any]
    ) -> _Argument:
        questions, proofs = [], []
        for line, need in needs:
            questions.append({"a": line.a, "b": line.b, "price": line.price, "budget": line.budget})
            proofs.append(self.prove(line, need))
        return _Argument(questions, proofs, changes)

    def _level_lines(self, bound: Exact | None) -> list[_Line]:
        """Return the level lines of the bound, below which no tree is, by number of splits."""
        if bound is None or self.staircase.constraints:
            return []  # trees that do not meet the constraints may be below
        lines, plane, size = [], self.plane, self.task.size
        for splits in self.splits:
            value = bound + self.task.split_penalty * splits
            if not value.is_rational or not plane.n_pos or not plane.n_neg:
                continue
            unit = plane.problem.weight_unit
            line = plane.metric.level_line(value.as_fraction(), plane.n_pos, plane.n_neg, unit)
            if line is None or line.a < 0 or line.b < 0:
                continue
            full = splits == 2**size.deepest - 1
            budget = None if full else splits
            least = (line.cutoff,) if full else (0,) * splits + (line.cutoff,)
            lines.append(_Line(line.a, line.b, 0, budget, min(splits, size.deepest), least))
        return lines

    def _ceilings(self, bound: Exact | None) -> list[NDArray[np.int64]]:
        """Return the most false positives of better trees, by false negatives; -1 if none is."""
        return [
            self.staircase.wanted(
                Target(None if bound is None else bound + self.task.split_penalty * splits)
            )
            for splits in self.splits
        ]

    def _choose(
        self, ceilings: list[NDArray[np.int64]]
    ) -> tuple[list[tuple[_Line, dict[int, int]]], bool]:
        """Return lines that exclude better points, and the costs needed by number of splits.

        The line that excludes the most comes first. Says also whether they exclude all.
        """
        fn, max_depth = self.staircase.low, self.task.size.deepest
        open_points = [ceiling >= 0 for ceiling in ceilings]
        excluded: list[list[NDArray[np.bool_]]] = []
        for line in self.lines:
            parts = []
            for splits, ceiling in zip(self.splits, ceilings, strict=True):
                least = line.at(splits, max_depth)
                cost = line.a * fn + line.b * ceiling
                parts.append(np.zeros(len(fn), bool) if least is None else cost < least)
            excluded.append(parts)
        chosen: list[tuple[_Line, dict[int, int]]] = []
        while any(part.any() for part in open_points):
            gains = [
                sum(int((p & o).sum()) for p, o in zip(parts, open_points, strict=True))
                for parts in excluded
            ]
            if max(gains, default=0) == 0:
                return chosen, False
            best = int(np.argmax(gains))
            line, need = self.lines[best], {}
            for i, part in enumerate(excluded[best]):
                new = part & open_points[i]
                if new.any():
                    cost = line.a * fn[new] + line.b * ceilings[i][new]
                    need[self.splits[i]] = int(cost.max()) + 1
                open_points[i] = open_points[i] & ~part
            chosen.append((line, need))
        return chosen, True

    def _is_small(self) -> bool:
        """Say whether the checker can look at all trees inside the hull in seconds."""
        task = self.task
        if task.split_penalty or task.size.most_splits < 2**task.size.deepest - 1:
            return False  # its rule knows no number of splits
        features = task.problem.X.shape[1]
        tables: int = features ** max(task.size.deepest - 2, 0)
        rows = task.problem.n_rows + self.plane.n_pos
        return bool(tables * features**2 * rows <= _MOST_INSIDE)

    def prove(self, line: _Line, need: dict[int, int]) -> dict[str, NDArray[Any]]:
        """Return facts that show that trees cost at least what is needed, by number of splits."""
        data, positive = self.prover.data, self.plane.labels[1]
        costs = np.zeros_like(data.counts)
        costs[:, 1 - positive] = line.a * data.counts[:, positive]
        costs[:, positive] = line.b * data.counts[:, 1 - positive]
        cutoffs = [max(cost + line.price * splits for splits, cost in need.items())]
        if line.budget is not None:
            most = min(line.budget, 2**line.depth - 1)
            cutoffs = [need.get(m, -(2**60)) for m in range(most + 1)]
        return self.prover.prove(
            costs, cutoffs, depth=line.depth, price=line.price, budget=line.budget
        )

    def _provable_bound(self, bound: Exact | None) -> Exact:
        """Return what no tree exceeds by the lines alone."""
        staircase, task = self.staircase, self.task
        best = [] if bound is None else [bound]
        for splits in self.splits:
            floor = np.zeros(len(staircase.low), dtype=np.int64)
            for line in self.lines:
                if (least := line.at(splits, task.size.deepest)) is not None:
                    floor = staircase.raised(floor, line.a, line.b, least)
            among = floor <= staircase.allowed
            value = staircase.largest_value(np.minimum(floor, self.plane.n_neg), among)
            if value is not None:
                best.append(task.penalised(value, splits))
        return max(best)
