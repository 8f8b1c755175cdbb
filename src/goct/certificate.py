"""Certificates: what a solution rests on, written down so that :mod:`goct.verify` can check it.

After the search it is known which linear questions the bound follows from. Each of them is proven
once more, by a plain recursion that writes down its facts (``cpp/proof.cpp`` for 0/1 columns,
``cpp/threshold_proof.cpp`` for thresholds), and its proof goes to the file before the next begins.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import floor, gcd, inf
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct.constraints import (
    Constraint,
    FeatureBudget,
    FeatureSetConstraint,
    ForbidFeatures,
    MaxFeatures,
    MetricConstraint,
    RequireFeatures,
)
from goct.exact import Exact, as_fraction
from goct.files import atomic_write
from goct.metrics import Metric, catalogue
from goct.metrics.metric import Combination
from goct.plane.oracle import Branch, Proven
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.problem import Problem
from goct.solution import Certificate, Solution, Status
from goct.task import Task
from goct.tree import Leaf, Node, Tree
from goct.verify import checker, data_of, feature_in
from goct.verify.checker import ARRAYS, MAGIC, Data, Line, Number, Rewards, read_header

MEMORY_LIMIT = 1 << 30
"""Bytes that the facts of one question may take before they are trimmed."""
_MOST_INSIDE = 10**12
"""Sets of rows of depth two, times pairs of features, times rows: what the checker may list."""
_ANY_DEPTH = 255

Terms = list[tuple[str, str, dict[str, Any]]]
Arrays = dict[str, NDArray[Any]]


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
    return None


# ---------------------------------------------------------------------------------------- the file


class Writer:
    """A certificate that is being written: proofs one after the other, and the header at last."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._packer = file, zlib.compressobj(3)
        self._digest, self._size = hashlib.sha256(), 0
        self._write(MAGIC)

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._digest.update(content)
        self._size += len(content)

    def add(self, arrays: Arrays) -> None:
        """Write a proof."""
        self._write(self._packer.compress(b"\1"))
        for name, dtype in ARRAYS.items():
            array = arrays[name]
            self._write(self._packer.compress(len(array).to_bytes(8, "little")))
            self._write(self._packer.compress(array.astype(dtype).tobytes()))

    def finish(self, header: dict[str, Any]) -> None:
        """Write what was asked, and what is proven."""
        self._write(self._packer.compress(b"\0") + self._packer.flush())
        self._write(packed_header(header))

    def describe(self, path: str | os.PathLike[str], header: dict[str, Any]) -> Certificate:
        """Return what to tell of the file."""
        proves = "less" if "note" in header else "all" if header["checkable"] else "nothing"
        return Certificate(os.fspath(path), self._digest.hexdigest(), self._size, proves)


def packed_header(header: dict[str, Any]) -> bytes:
    """Return the end of a file: the header, and its length."""
    packed = zlib.compress(json.dumps(header, ensure_ascii=False).encode(), 6)
    return packed + len(packed).to_bytes(8, "little")


@contextmanager
def _writer(path: str | os.PathLike[str]) -> Iterator[Writer]:
    """Write a file as a whole, or not at all."""
    with atomic_write(path, binary=True) as file:
        yield Writer(file)


def annotate(certificate: Certificate, reading: dict[str, Any]) -> Certificate:
    """Add to a certificate how its table is read, so that ``goct verify`` reads it so, too."""
    content = Path(certificate.path).read_bytes()
    header = {**read_header(content), "reading": reading}
    end = int.from_bytes(content[-8:], "little") + 8
    content = content[:-end] + packed_header(header)
    with atomic_write(certificate.path, binary=True) as file:
        file.write(content)
    digest = hashlib.sha256(content).hexdigest()
    return replace(certificate, digest=digest, size=len(content))


# --------------------------------------------------------------------------------------- solutions

MIP_REASON = (
    "the bound comes from the floats of a mixed-integer solver, which gives no proof; goct rounds "
    "it towards the safe side by the tolerances that the documentation of the MIP engine names, "
    "but that the solver keeps them cannot be checked"
)


def write(
    path: str | os.PathLike[str],
    solution: Solution,
    proven: Sequence[Proven | Branch],
    original: Problem | None = None,
    *,
    time_limit: float | None = None,
) -> Certificate:
    """Write the certificate of a solution of the search engine.

    Parameters
    ----------
    path
        The file, which is written as a whole or not at all.
    solution
        The solution.
    proven
        What the answers to linear questions have proven, and how the columns were searched.
    original
        The problem with all its classes, if the solution is about one against the rest.
    time_limit
        Seconds after which the certificate proves the bound that it can by then.

    Raises
    ------
    CertificateError
        If the numbers are too large.
    KeyboardInterrupt
        If Ctrl-C was pressed while the proof was made; then there is no file.
    """
    task, problem = solution.task, original or solution.problem
    names = {Status.OPTIMAL: "optimal", Status.INFEASIBLE: "infeasible"}
    with _writer(path) as writer:
        prover = _Prover(task, problem, writer, time_limit)
        tree = solution.tree
        header = prover.header | {
            "words": solution.describe_status(),
            "status": names.get(solution.status, "bound"),
            "tree": None if tree is None else prover.nested(tree.pruned(task.problem)),
            "bound": _number(solution.bound),
            "questions": [],
        }
        if solution.stats.get("engine") == "mip" and solution.stats.get("proof") != "search":
            header |= {"checkable": False, "reason": MIP_REASON}
        elif not task.size.too_large_for(problem):
            header |= _bounded(prover, solution, proven)
        writer.finish(header)
    return writer.describe(path, header)


def _bounded(
    prover: _Prover, solution: Solution, proven: Sequence[Proven | Branch]
) -> dict[str, Any]:
    """Write the proof of a solution's bound; return what the header says of it."""
    wanted = None if solution.status is Status.INFEASIBLE else solution.bound
    cover = _Cover(prover, proven, wanted)
    header = {"cover": cover.prove(), "questions": prover.questions}
    if cover.reached is not None and (wanted is None or cover.reached > wanted):
        header |= {
            "status": "bound",
            "bound": _number(cover.reached),
            "note": "the search engine claims more than this certificate proves: "
            + solution.describe_status(),
        }
    return header


class _Cover:
    """Proves a bound for all sets of columns that a tree may use, as the search has split them.

    Parameters
    ----------
    prover
        The task, and where the proofs go.
    proven
        What the search has proven.
    wanted
        The bound; None if no tree meets the constraints.

    Attributes
    ----------
    reached
        The bound that is proven; None if no tree meets the constraints.
    """

    def __init__(
        self, prover: _Prover, proven: Sequence[Proven | Branch], wanted: Exact | None
    ) -> None:
        self.prover, self.wanted = prover, wanted
        self.lines = [p for p in proven if isinstance(p, Proven)]
        self.branches = {(b.committed, b.allowed): b for p in proven if isinstance(b := p, Branch)}
        self.reached = wanted

    def prove(self) -> Any:
        """Write the proofs; return the cover as the checker reads it."""
        columns = frozenset(self.prover.data.owner.tolist())
        return self._visit(frozenset(), columns)

    def _visit(self, committed: frozenset[int], among: frozenset[int]) -> Any:
        asked = self.prover.asked
        if not asked.admits(committed):
            return 0
        allowed = committed | {c for c in among if asked.admits(committed | {c})}
        branch = self.branches.get((committed, allowed))
        is_open = branch is not None and (self.wanted is None or branch.bound > self.wanted)
        if branch is not None and is_open and branch.column is not None:
            column = branch.column
            without = self._visit(committed, allowed - {column})
            return [column, without, self._visit(committed | {column}, allowed)]
        before = len(self.prover.questions)
        lines = [p for p in self.lines if p.columns is None or allowed <= p.columns]
        reached = self.prover.over(allowed).prove_bound(self.wanted, lines)
        if reached is not None and (self.reached is None or reached > self.reached):
            self.reached = reached
        return len(self.prover.questions) - before


# -------------------------------------------------------------------------------- hulls and paths


def write_hull(
    path: str | os.PathLike[str],
    task: Task,
    trees: Sequence[Tree],
    original: Problem,
    *,
    time_limit: float | None = None,
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
    time_limit
        Seconds after which there is none.
    """
    with _writer(path) as writer:
        prover = _Prover(task, original, writer, time_limit)
        plane, size = _Plane(prover, ()), task.size
        budget = None if size.most_splits == 2**size.deepest - 1 else size.most_splits
        for (x, y), (right, low) in pairwise(plane.plane.of(tree) for tree in trees):
            a, b = y - low, right - x
            if a > 0 and b > 0:
                divisor = gcd(a, b)
                line = Line(a // divisor, b // divisor, 0, (), budget, size.reachable_depth)
                plane.prove(line, {size.most_splits: line.a * x + line.b * y})
        prover.check_time()
        header = prover.listed("hull", trees)
        writer.finish(header)
    return writer.describe(path, header)


def write_path(
    path: str | os.PathLike[str],
    task: Task,
    trees: Sequence[Tree],
    proven: Sequence[Proven],
    original: Problem,
    *,
    time_limit: float | None = None,
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
    time_limit
        Seconds after which there is none.

    Raises
    ------
    CertificateError
        If lines are not enough: a best tree is inside the hull.
    """
    if any(isinstance(c, FeatureSetConstraint) for c in task.constraints):
        raise CertificateError("there is none for a path of trees over a limited set of columns")
    with _writer(path) as writer:
        prover = _Prover(task, original, writer, time_limit)
        values = [task.objective(tree) for tree in trees]
        if prover.is_linear:
            prover.prove_linear(values)
        else:
            _Plane(prover, proven).prove_path(values)
        prover.check_time()
        header = prover.listed("path", trees)
        writer.finish(header)
    return writer.describe(path, header)


# ------------------------------------------------------------------------------------- the header


def _header(task: Task, problem: Problem, data: Data) -> dict[str, Any]:
    size = task.size
    constraints = [
        (metric_terms(c.metric), c.sense, str(c.threshold))
        for c in task.constraints
        if isinstance(c, MetricConstraint)
    ]
    required = [
        sorted(c.indices(problem)) for c in task.constraints if isinstance(c, RequireFeatures)
    ]
    return {
        "checkable": True,
        "program": f"goct {_core.__version__}",
        "task": {
            "metric": metric_terms(task.metric),
            "max_depth": size.max_depth,
            "max_splits": size.max_splits,
            "min_leaf_weight": str(size.min_leaf_weight),
            "min_samples_leaf": size.min_samples_leaf,
            "split_penalty": str(task.split_penalty),
            "constraints": constraints,
            "limits": [limit for c in task.constraints if (limit := _limit(c, problem))],
            "required": sorted(frozenset().union(*required)),
        },
        "data": {
            "digest": data.digest(),
            "rows": data.ranks.shape[1],
            "columns": list(problem.column_names),
            "owner": None if data.owners is None else list(data.owners),
            "classes": [str(label) for label in problem.classes],
            "positive": problem.positive,
            "against_rest": problem is not task.problem,
            "weight_unit": str(problem.weight_unit),
            "cost_unit": str(problem.cost_unit),
            "is_exact": problem.is_exact,
        },
    }


def _limit(constraint: Constraint, problem: Problem) -> tuple[Any, str] | None:
    """Return a constraint on the set of columns as prices and a budget."""
    match constraint:
        case ForbidFeatures():
            return [(c, "1") for c in sorted(constraint.indices(problem))], "0"
        case MaxFeatures():
            return [(c, "1") for c in range(len(problem.column_names))], str(constraint.number)
        case FeatureBudget():
            prices = constraint.prices(problem).items()
            return [(c, str(price)) for c, price in prices], str(constraint.budget)
    return None


def _number(value: Exact) -> list[Any]:
    rational, roots = value.terms
    return [str(rational), [[str(c), m] for c, m in roots]]


# ------------------------------------------------------------------------------------- the proofs


class _Prover:
    """Proves linear questions about the data of a task, and writes the proofs.

    Parameters
    ----------
    task
        The task.
    problem
        The problem with all its classes.
    writer
        Where the proofs go.
    time_limit
        Seconds for all of them; later ones prove what they can at once.
    """

    def __init__(
        self, task: Task, problem: Problem, writer: Writer, time_limit: float | None
    ) -> None:
        data = data_of(problem)
        self.task, self.problem, self.writer = task, problem, writer
        self.header = _header(task, problem, data)
        self.asked = checker.Task.read(self.header, lambda *_: Number())
        if self.header["data"]["against_rest"]:
            data = data.against_rest(self.asked.positive or 0)
            self.asked = replace(self.asked, positive=1)
        self.data = data
        self.end = inf if time_limit is None else time.perf_counter() + time_limit
        self.is_late = False
        self.questions: list[dict[str, Any]] = []
        self.is_linear = self.asked.metric.is_linear and not self.asked.constraints

    def over(self, columns: frozenset[int]) -> _Prover:
        """Return the same for trees over some of the user's columns."""
        owners = self.data.owner
        if columns.issuperset(owners.tolist()):
            return self
        other = object.__new__(_Prover)
        other.__dict__ |= self.__dict__
        other.data = self.data.without(~np.isin(owners, list(columns)))
        return other

    def prove_bound(self, bound: Exact | None, proven: Sequence[Proven]) -> Exact | None:
        """Prove that no tree exceeds a bound, or else a larger one, which is returned."""
        if self.is_linear:
            assert bound is not None
            return max(self.prove_linear([bound]))
        return _Plane(self, proven).prove_bound(bound)

    def check_time(self) -> None:
        """Raise an error if a proof was cut short."""
        if self.is_late:
            raise CertificateError("the time or the memory was not enough to prove it again")

    def listed(self, status: str, trees: Sequence[Tree]) -> dict[str, Any]:
        """Return the header of a certificate about several trees."""
        return self.header | {
            "words": f"the {status} of {self.task.size.describe()}",
            "status": status,
            "trees": [self.nested(tree.pruned(self.task.problem)) for tree in trees],
            "tree": None,
            "bound": None,
            "questions": self.questions,
        }

    def nested(self, tree: Tree) -> Any:
        """Return a tree as nested lists of the features of the data."""

        def visit(node: Node) -> Any:
            if isinstance(node, Leaf):
                return int(node.label)
            return [
                feature_in(self.data, self.problem, node.feature),
                visit(node.left),
                visit(node.right),
            ]

        return visit(tree.root)

    def prove_linear(self, wanted: Sequence[Exact]) -> list[Exact]:
        """Prove the one question of a linear metric, given a bound or one per number of splits.

        Returns what is proven.
        """
        size = self.task.size
        rewards = Rewards.of(self.asked, self.data)
        most = rewards.matrix.max(axis=1)
        top = int(most.sum())
        least = [
            top - floor((bound.as_fraction() - rewards.offset) / rewards.unit) for bound in wanted
        ]
        is_full = size.max_splits is None or size.max_splits >= 2**size.deepest - 1
        budget = None if is_full and len(wanted) == 1 else size.most_splits
        numbers = range(1 if budget is None else budget + 1)
        values = self.prove(
            {"budget": budget},
            most[:, None] - rewards.matrix,
            [least[min(m, len(least) - 1)] - rewards.price * m for m in numbers],
            depth=_depth(self.task),
            price=rewards.price if budget is None else 0,
            budget=budget,
        )
        ends = [top - value - rewards.price * m for m, value in enumerate(values)]
        if len(wanted) == 1:
            ends = [max(ends)]
        best = [
            Exact(rewards.offset + max(ends[: m + 1]) * rewards.unit) for m in range(len(wanted))
        ]
        return [max(bound, end) for bound, end in zip(wanted, best, strict=True)]

    def prove(
        self,
        question: dict[str, Any],
        costs: NDArray[np.int64],
        cutoffs: list[int],
        *,
        depth: int,
        price: int = 0,
        budget: int | None = None,
    ) -> list[int]:
        """Write facts that show that no tree costs less than cutoffs, by split budget.

        Returns what they show, which is less if there is no time left.
        """
        ranks, data = self.data.ranks, self.data
        weights, least = self.asked.leaves(data)
        left = max(self.end - time.perf_counter(), 0.0)
        try:
            arrays = _core.prove(
                np.ascontiguousarray(ranks, dtype=np.uint32),
                np.ascontiguousarray(weights),
                np.ascontiguousarray(costs),
                price,
                depth,
                budget,
                least,
                [max(-(2**60), min(c, 2**60)) for c in cutoffs],
                "inside" in question,
                None if left == inf else left,
                MEMORY_LIMIT,
            )
        except OverflowError:
            raise CertificateError(
                "the weights, costs or penalties are too fine for a certificate; round them"
            ) from None
        if arrays is None:
            raise KeyboardInterrupt
        self.is_late |= bool(arrays[-1])
        proof = dict(zip(ARRAYS, arrays[:-1], strict=True))
        self.writer.add(proof)
        self.questions.append(question)
        values = proof["value"][int(proof["value_begin"][-2]) :]
        base = int(costs.min(axis=1).sum())
        return [base + v for v in values.tolist()]


def _depth(task: Task) -> int:
    """Return the depth of the trees of a question: any, if only a price limits them."""
    size = task.size
    return (
        _ANY_DEPTH if size.max_depth is None and size.max_splits is None else size.reachable_depth
    )


_Need = tuple[Line, dict[int, int], int | None]
"""A line, what trees must cost at least by number of splits, and up to what they are listed."""


class _Plane:
    """Any other metric, and constraints on metrics: lines in the plane below which no tree is.

    Parameters
    ----------
    prover
        The task and its data.
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
            if isinstance(c, MetricConstraint) and c.is_monotone
        )
        self.staircase = Staircase(
            self.plane, self.plane.metric, constraints, most_steps=self.plane.n_pos + 2
        )
        self.lines = [line for p in proven if (line := self._read(p)) is not None]

    def _read(self, proven: Proven) -> Line | None:
        size, is_any = proven.size, proven.size.max_depth is None and proven.size.max_splits is None
        is_limited = size.max_splits is not None and size.most_splits < 2**size.deepest - 1
        if proven.a < 0 or proven.b < 0:
            return None
        if is_limited and not proven.by_splits and proven.split_cost:
            return None
        budget = size.most_splits if is_limited or proven.by_splits else None
        least = proven.least
        if budget is not None and not proven.by_splits:
            least = (0,) * budget + least  # what is not asked is not known
        depth = _ANY_DEPTH if is_any else size.reachable_depth
        return Line(proven.a, proven.b, proven.split_cost, least, budget, depth)

    def _numbers(self, bound: Exact | None) -> list[int]:
        """Return the numbers of splits that the checker looks at, but for 0."""
        task, data = self.task, self.prover.data
        most = task.size.most_splits
        if most == 0 or not (len(data.narrow) or data.wide):
            return []
        if not task.split_penalty:
            return [most]
        perfect = self.plane.metric.value(self.plane.confusion(0, 0))
        numbers, k = [], 1
        while k <= most and (bound is None or perfect > bound + task.split_penalty * k):
            numbers.append(k)
            k += 1
            if k > 10**4:
                raise CertificateError("the penalty is too small for a certificate")
        return numbers

    def prove_bound(self, bound: Exact | None) -> Exact | None:
        """Prove a bound by few lines, or else a larger one, which is returned.

        What lines leave inside the hull the checker lists itself, if it is little.
        """
        targets = [(k, bound) for k in self._numbers(bound)]
        self.lines += self._level_lines(targets)
        chosen, is_enough = self._choose(targets)
        needs: list[_Need] = [(line, need, None) for line, need in chosen]
        if not is_enough and self._is_small():
            needs = self._with_inside(targets, chosen)
            is_enough = bool(needs)
        if not is_enough:
            raised = self._provable(targets, self.lines)
            targets = [(k, raised) for k, _ in targets]
            needs = [(line, need, None) for line, need in self._choose(targets)[0]]
        reached = [self.prove(*need) for need in needs]
        deepest = self.task.size.deepest
        holds = all(
            (line.at(splits, deepest) or 0) >= cost
            for line, (_, need, _) in zip(reached, needs, strict=True)
            for splits, cost in need.items()
        )
        return bound if is_enough and holds else self._provable(targets, reached)

    def prove_path(self, values: Sequence[Exact]) -> None:
        """Prove a value for each number of splits."""
        targets: list[tuple[int, Exact | None]] = [(k, v) for k, v in enumerate(values) if k]
        self.lines += self._level_lines(targets)
        needs, is_enough = self._choose(targets)
        if not is_enough:
            raise CertificateError("a best tree is inside the hull, where lines prove too little")
        for need in needs:
            self.prove(*need)

    def _level_lines(self, targets: list[tuple[int, Exact | None]]) -> list[Line]:
        """Return the level lines of bounds, below which no tree is."""
        if self.staircase.constraints:
            return []  # trees that do not meet the constraints may be below
        lines, plane, size = [], self.plane, self.task.size
        for splits, bound in targets:
            if bound is None:
                continue
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
            depth = min(splits, size.deepest)
            lines.append(Line(line.a, line.b, 0, least, budget, depth))
        return lines

    def _ceilings(self, targets: list[tuple[int, Exact | None]]) -> list[NDArray[np.int64]]:
        """Return the most false positives of better trees, by false negatives; -1 if none is."""
        penalty = self.task.split_penalty
        return [
            self.staircase.wanted(Target(None if bound is None else bound + penalty * splits))
            for splits, bound in targets
        ]

    def _choose(
        self, targets: list[tuple[int, Exact | None]]
    ) -> tuple[list[tuple[Line, dict[int, int]]], bool]:
        """Return lines that exclude better points, and the costs needed by number of splits.

        The line that excludes the most comes first. Says also whether they exclude all.
        """
        ceilings = self._ceilings(targets)
        fn, max_depth = self.staircase.low, self.task.size.deepest
        open_points = [ceiling >= 0 for ceiling in ceilings]
        excluded: list[list[NDArray[np.bool_]]] = []
        for line in self.lines:
            parts = []
            for (splits, _), ceiling in zip(targets, ceilings, strict=True):
                least = line.at(splits, max_depth)
                cost = line.a * fn + line.b * ceiling
                parts.append(np.zeros(len(fn), bool) if least is None else cost < least)
            excluded.append(parts)
        chosen: list[tuple[Line, dict[int, int]]] = []
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
                    need[targets[i][0]] = int(cost.max()) + 1
                open_points[i] = open_points[i] & ~part
            chosen.append((line, need))
        return chosen, True

    def _floor(self, splits: int, lines: Sequence[Line]) -> NDArray[np.int64]:
        """Return the least false positives that lines allow, by false negatives."""
        floor = self.staircase.lowest
        for line in lines:
            if (least := line.at(splits, self.task.size.deepest)) is not None:
                floor = self.staircase.raised(floor, line.a, line.b, least)
        return floor

    def _provable(self, targets: list[tuple[int, Exact | None]], lines: Sequence[Line]) -> Exact:
        """Return what no tree exceeds by lines alone, at least the bound."""
        staircase, task = self.staircase, self.task
        best = [bound for _, bound in targets if bound is not None]
        constant = task.best_constant()
        if constant is not None:
            best.append(task.objective(constant))
        for splits, _ in targets:
            floor = self._floor(splits, lines)
            among = floor <= staircase.allowed
            value = staircase.largest_value(np.minimum(floor, self.plane.n_neg), among)
            if value is not None:
                best.append(task.penalised(value, splits))
        return max(best)

    def _is_small(self) -> bool:
        """Say whether the checker can look at all trees inside the hull in seconds."""
        task = self.task
        if task.split_penalty or task.size.most_splits < 2**task.size.deepest - 1:
            return False  # its rule knows no number of splits
        features = task.problem.features.n_kept
        tables: int = features ** max(task.size.deepest - 2, 0)
        rows = task.problem.n_rows + self.plane.n_pos
        return bool(tables * features**2 * rows <= _MOST_INSIDE)

    def _with_inside(
        self, targets: list[tuple[int, Exact | None]], needs: list[tuple[Line, dict[int, int]]]
    ) -> list[_Need]:
        """Return lines that exclude all better points but those that the checker lists.

        Each open point goes to the line that is closest below it.
        """
        ((splits, _),), (ceiling,) = targets, self._ceilings(targets)
        deepest, fn = self.task.size.deepest, self.staircase.low
        lines = [
            line
            for line in self.lines
            if line.b
            and line.budget is None
            and not line.price
            and line.at(splits, deepest) is not None
        ]
        if not lines:
            return []
        floors = np.array([-((line.a * fn - line.least[0]) // line.b) for line in lines])
        costs = [line.a * fn + line.b * ceiling for line, _ in needs]
        done = np.zeros(len(fn), dtype=bool)
        for (_, need), cost in zip(needs, costs, strict=True):
            done |= cost < need[splits]
        left, nearest = (ceiling >= 0) & ~done, floors.argmax(axis=0)
        kept: list[_Need] = []
        for i, line in enumerate(lines):
            mine = left & (nearest == i)
            if mine.any():
                most = int((line.a * fn[mine] + line.b * ceiling[mine]).max())
                kept.append((line, {splits: most + 1}, most))
                done &= line.a * fn + line.b * ceiling > most
        for (line, need), cost in zip(needs, costs, strict=True):
            mine = (ceiling >= 0) & done & (cost < need[splits])
            if mine.any():
                kept.append((line, {splits: int(cost[mine].max()) + 1}, None))
                done &= ~mine
        return kept

    def prove(self, line: Line, need: dict[int, int], inside: int | None = None) -> Line:
        """Prove that trees cost at least what is needed, by number of splits, or what they do."""
        data, positive = self.prover.data, self.plane.labels[1]
        costs = np.zeros_like(data.counts)
        costs[:, 1 - positive] = line.a * data.counts[:, positive]
        costs[:, positive] = line.b * data.counts[:, 1 - positive]
        cutoffs = [max(cost + line.price * splits for splits, cost in need.items())]
        if line.budget is not None:
            most = min(line.budget, 2 ** min(line.depth, 40) - 1)
            cutoffs = [need.get(m, -(2**60)) for m in range(most + 1)]
        question = {"a": line.a, "b": line.b, "price": line.price, "budget": line.budget}
        if inside is not None:
            question["inside"] = inside
        values = self.prover.prove(
            question, costs, cutoffs, depth=line.depth, price=line.price, budget=line.budget
        )
        if inside is not None and self.prover.is_late:
            del question["inside"]
        elif inside is not None:
            values = [inside + 1]
        return replace(line, least=tuple(values))
