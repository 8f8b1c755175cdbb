"""Certificates: what a solution rests on, written down so that :mod:`goct.verify` can check it.

After the search it is known which linear questions the bound follows from. Each of them is proven
once more, by a plain recursion that writes down its facts (``cpp/proof.cpp`` for 0/1 columns,
``cpp/threshold_proof.cpp`` for thresholds), and its proof goes to the file before the next begins.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from io import BytesIO
from itertools import pairwise
from math import ceil, floor, gcd, inf, lcm
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
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Node, Tree
from goct.verify import RejectedError, checker, data_of, feature_in, values_of
from goct.verify.checker import ANY, Data, Number, Question, read_header

MEMORY_LIMIT = 1 << 30
"""Bytes that the facts of one question may take before they are trimmed."""
_CORE_ANY = 255
"""Any depth, for the core."""

Terms = list[tuple[str, str, dict[str, Any]]]
Targets = list[tuple[int, Exact | None]]
"""Numbers of splits, and what trees with as many must not exceed: nothing, if None."""


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
            name = "class_cost"
            for key in ("false_negative", "false_positive"):
                options[key] = str(as_fraction(getattr(metric, key)))
        case catalogue.CostMatrix():
            options["costs"] = [[str(entry) for entry in row] for row in metric.costs]
        case catalogue.BoundedDOR():
            name, options["upper"] = "dor", str(as_fraction(metric.upper))
        case catalogue.SmoothedDOR():
            name, options["epsilon"] = "dor_smoothed", str(as_fraction(metric.epsilon))
        case catalogue.Share():
            name += "_share"
        case _ if type(metric).__module__ != catalogue.__name__ or isinstance(
            metric, catalogue.CustomMetric
        ):
            name = "own"
    return [("1", name, options)]


def _own_function(claims: Sequence[Claim]) -> Callable[..., Number] | None:
    """Return the function of the user's own that metrics are, as goct.verify is given it."""
    metrics = [c.metric for claim in claims for c in _on_metrics(claim.task)]
    metrics += [claim.task.metric for claim in claims]
    parts = [m.terms if isinstance(m, Combination) else ((1, m),) for m in metrics]
    found = {part for terms in parts for _, part in terms if metric_terms(part)[0][1] == "own"}
    if len(found) > 1:
        raise CertificateError("there are several functions of your own in it")
    return values_of(*found) if found else None


def unsupported(task: Task) -> str | None:
    """Say why there is no certificate for a task, whatever the result; None if there is one."""
    if task.problem.n_classes == 1:
        return "all labels are the same, so that there is nothing to prove"
    return None


# ---------------------------------------------------------------------------------------- the file


class Writer:
    """A certificate that is being written: lines of JSON, packed as gzip does."""

    def __init__(self, file: IO[bytes], header: dict[str, Any]) -> None:
        self._file, self._packer = file, zlib.compressobj(3, zlib.DEFLATED, 31)
        self._digest, self._size, self.header = hashlib.sha256(), 0, header
        self._left = 2**20  # bytes that may be written before the checker calls it a bomb
        self.add_line(header)

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._digest.update(content)
        self._size += len(content)
        self._left += checker.MOST_UNPACKED * len(content)

    def add_line(self, line: Any) -> None:
        """Write what is a line of JSON."""
        self.add(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def add(self, lines: bytes) -> None:
        """Write whole lines."""
        if any(len(line) > checker.LONGEST for line in BytesIO(lines)):
            raise CertificateError("a line of it would be too long for the checker")
        self._left -= len(lines)
        self._write(self._packer.compress(lines))

    def finish(self, path: str | os.PathLike[str], proves: str) -> Certificate:
        """Write what is left, and return what to tell of the file."""
        self._write(self._packer.flush())
        if self._left < 0:
            raise CertificateError("it would repeat itself more than the checker believes")
        return Certificate(os.fspath(path), self._digest.hexdigest(), self._size, proves)


def annotate(certificate: Certificate, reading: dict[str, Any]) -> Certificate:
    """Add to a certificate how its table is read, so that ``goct verify`` reads it so, too."""
    content = Path(certificate.path).read_bytes()
    _, lines = gzip.decompress(content).split(b"\n", 1)
    with atomic_write(certificate.path, binary=True) as file:
        writer = Writer(file, read_header(content) | {"reading": reading})
        writer.add(lines)
        return writer.finish(certificate.path, certificate.proves)


# ---------------------------------------------------------------------------------------- claims

MIP_REASON = (
    "the bound comes from the floats of a mixed-integer solver, which gives no proof; goct rounds "
    "it towards the safe side by the tolerances that the documentation of the MIP engine names, "
    "but that the solver keeps them cannot be checked"
)


@dataclass(frozen=True)
class Claim:
    """What a certificate is to prove: no tree is better than a bound.

    Attributes
    ----------
    task
        The task; its problem has two classes if its metric has.
    tree
        The best tree that is known, if there is one.
    bound
        What no tree exceeds; None if no tree meets the constraints.
    """

    task: Task
    tree: Tree | None
    bound: Exact | None


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
    is_infeasible = solution.status is Status.INFEASIBLE
    claim = Claim(solution.task, solution.tree, None if is_infeasible else solution.bound)
    by_mip = solution.stats.get("engine") == "mip" and solution.stats.get("proof") != "search"
    reason = MIP_REASON if by_mip else None
    words, problem = solution.describe_status(), original or solution.problem
    return write_claims(path, [claim], proven, problem, words, reason, time_limit=time_limit)


def write_claims(
    path: str | os.PathLike[str],
    claims: Sequence[Claim],
    proven: Sequence[Proven | Branch],
    original: Problem,
    words: str,
    reason: str | None = None,
    *,
    time_limit: float | None = None,
    whole: bool = False,
) -> Certificate:
    """Write a certificate of claims about the same data and leaves.

    Parameters
    ----------
    path
        The file.
    claims
        At least one. Those of one metric share their questions.
    proven, original, time_limit
        As for :func:`write`.
    words
        What the certificate is about, for people.
    reason
        Why it cannot be checked, if it cannot.
    whole
        Whether there is to be no file that proves less.
    """
    task, data = claims[0].task, data_of(original)
    header = _header(task, original, data, words, reason)
    with atomic_write(path, binary=True) as file:
        writer = Writer(file, header)
        if reason is not None:
            return writer.finish(path, "nothing")
        try:
            prover = _Prover(original, data, writer, time_limit, _own_function(claims))
            written = _prove(prover, claims, proven)
        except RejectedError as error:
            raise CertificateError(f"goct verify would reject it: {error}") from None
        writer.add_line({"claims": written})
        less = any("note" in claim for claim in written)
        if less and whole:
            raise CertificateError("the time or the memory was not enough, or too much is inside")
        return writer.finish(path, "less" if less else "all")


def hull_claims(task: Task, trees: Sequence[Tree]) -> list[Claim]:
    """Return what makes trees the vertices of the hull: none is cheaper, at the prices of edges.

    Parameters
    ----------
    task
        Which trees there are; its problem has two classes.
    trees
        One tree for each vertex, by the number of false negatives.
    """
    plane = Plane(task.problem, task.metric)
    points = [plane.of(tree) for tree in trees]
    edges = [(y - low, right - x) for (x, y), (right, low) in pairwise(points)]
    edges = [(a // gcd(a, b), b // gcd(a, b)) for a, b in edges] or [(1, 1)]
    claims = []
    for tree, (a, b) in zip(trees, [*edges, edges[-1]] if len(trees) > 1 else edges, strict=True):
        one = replace(task, metric=catalogue.ClassCost(false_negative=a, false_positive=b))
        claims.append(Claim(one, tree, one.objective(tree)))
    return claims


def _prove(
    prover: _Prover, claims: Sequence[Claim], proven: Sequence[Proven | Branch]
) -> list[dict[str, Any]]:
    """Prove claims; return them for the file, once the checker follows them from what is proven."""
    groups: dict[tuple[str, Fraction], list[Claim]] = {}
    for claim in claims:
        prover.check.read_claim(_written(prover, claim, None, claim.bound))  # before any work
        kind = str(metric_terms(claim.task.metric)), claim.task.split_penalty
        groups.setdefault(kind, []).append(claim)
    written = [one for group in groups.values() for one in _prove_group(prover, group, proven)]
    for one in written:
        prover.check.claim(one)
    return written


def _prove_group(
    prover: _Prover, claims: list[Claim], proven: Sequence[Proven | Branch]
) -> list[dict[str, Any]]:
    """Prove claims that differ in their number of splits only; return them for the file."""
    largest = max((claim.task for claim in claims), key=lambda task: task.size.most_splits)
    wanted = [claim.bound for claim in claims]
    if largest.size.too_large_for(prover.problem):
        covers: list[Any] = [[] for _ in claims]
        reached = wanted
    elif len(claims) == 1 or any(isinstance(c, FeatureSetConstraint) for c in largest.constraints):
        covers, reached = [], []
        for claim in claims:
            cover = _Cover(prover, claim, proven)
            covers.append(cover.prove())
            reached.append(cover.reached)
    else:
        lines = [p for p in proven if isinstance(p, Proven)]
        used, reached = prover.prove(claims, lines)
        covers = [used for _ in claims]
    return [
        _written(prover, claim, cover, bound)
        for claim, cover, bound in zip(claims, covers, reached, strict=True)
    ]


def _written(prover: _Prover, claim: Claim, cover: Any, reached: Exact | None) -> dict[str, Any]:
    """Return a claim as the checker reads it, with the bound that was proven."""
    tree, bound = claim.tree, claim.bound
    objective = None if tree is None else claim.task.objective(tree)
    status = "infeasible" if bound is None else "optimal" if bound == objective else "bound"
    line = {
        "task": _task(claim.task, prover.problem),
        "tree": None if tree is None else prover.nested(tree.pruned(claim.task.problem)),
        "status": status,
        "bound": None if reached is None else _squares(reached),
        "cover": cover,
    }
    if reached != bound and reached is not None and (bound is None or reached > bound):
        note = "the search engine claims more than this certificate proves"
        line |= {"status": "bound", "note": note}
    return line


class _Cover:
    """Proves a claim for all sets of columns that a tree may use, as the search has split them.

    Parameters
    ----------
    prover
        The data, and where the proofs go.
    claim
        The claim.
    proven
        What the search has proven.

    Attributes
    ----------
    reached
        The bound that is proven; None if no tree meets the constraints.
    """

    def __init__(self, prover: _Prover, claim: Claim, proven: Sequence[Proven | Branch]) -> None:
        self.prover, self.claim = prover, claim
        self.asked = prover.asked(claim.task)
        self.lines = [p for p in proven if isinstance(p, Proven)]
        self.branches = {(b.committed, b.allowed): b for p in proven if isinstance(b := p, Branch)}
        self.reached = claim.bound

    def prove(self) -> Any:
        """Write the proofs; return the cover as the checker reads it."""
        return self._visit(frozenset(), self.prover.check.columns)

    def _visit(self, committed: frozenset[int], among: frozenset[int]) -> Any:
        asked, wanted = self.asked, self.claim.bound
        if not asked.admits(committed):
            return []
        allowed = committed | {c for c in among if asked.admits(committed | {c})}
        branch = self.branches.get((committed, allowed))
        is_open = branch is not None and (wanted is None or branch.bound > wanted)
        if branch is not None and is_open and branch.column is not None:
            column = branch.column
            return {
                "column": column,
                "without": self._visit(committed, allowed - {column}),
                "with": self._visit(committed | {column}, allowed),
            }
        lines = [p for p in self.lines if p.columns is None or allowed <= p.columns]
        used, (reached,) = self.prover.over(allowed).prove([self.claim], lines)
        if reached is not None and (self.reached is None or reached > self.reached):
            self.reached = reached
        return used


def _header(
    task: Task, problem: Problem, data: Data, words: str, reason: str | None
) -> dict[str, Any]:
    size = task.size
    by, least = "weight", ceil(size.min_leaf_weight / problem.weight_unit)
    if size.min_samples_leaf:
        measure, *others = size.leaf_measures(problem)
        by, least = "samples", measure.least
        if others and reason is None:
            raise CertificateError("leaves are measured by weight and by samples, which differ")
    return {
        "format": "goct certificate",
        "version": checker.VERSION,
        "words": words,
        "program": f"goct {_core.__version__}",
        "checkable": reason is None,
        "reason": reason,
        "data": {
            "digest": data.digest(),
            "rows": data.ranks.shape[1],
            "columns": list(problem.column_names),
            "owners": list(data.owners),
            "classes": list(data.classes),
            "positive": problem.positive,
            "against_rest": problem is not task.problem,
            "units": [str(problem.weight_unit), str(problem.cost_unit)],
            "is_exact": problem.is_exact,
        },
        "leaves": [by, least],
    }


def _on_metrics(task: Task) -> list[MetricConstraint]:
    return [c for c in task.constraints if isinstance(c, MetricConstraint)]


def _task(task: Task, problem: Problem) -> dict[str, Any]:
    """Return what was asked; columns that a tree must use are left out: they exclude trees only."""
    return {
        "metric": metric_terms(task.metric),
        "max_depth": task.size.max_depth,
        "max_splits": task.size.max_splits,
        "split_penalty": str(task.split_penalty),
        "constraints": [
            (metric_terms(c.metric), c.sense, str(c.threshold)) for c in _on_metrics(task)
        ],
        "limits": [limit for c in task.constraints if (limit := _limit(c, problem))],
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


def _squares(value: Exact) -> list[str]:
    """Return a number as the squares of its terms, each with the sign of the term."""
    rational, roots = value.terms
    return [str(rational * abs(rational)), *(str(c * abs(c) * m) for c, m in roots)]


# ------------------------------------------------------------------------------------- the proofs


class _Prover:
    """Proves linear questions about some data, and writes the proofs.

    Parameters
    ----------
    problem, data
        The problem with all its classes, and its data as the checker sees them.
    writer
        Where the proofs go.
    time_limit
        Seconds for all of them; later ones prove what they can at once.
    own
        The function of the user's own that a metric is, as the checker sees it.
    """

    def __init__(
        self,
        problem: Problem,
        data: Data,
        writer: Writer,
        time_limit: float | None,
        own: Callable[..., Number] | None,
    ) -> None:
        self.problem, self.writer = problem, writer
        self.check = checker.Check(writer.header, data, own)
        self.data, self.columns = self.check.data, self.check.columns
        self.end = inf if time_limit is None else time.perf_counter() + time_limit
        self.known: dict[str, tuple[int, list[int]]] = {}

    def over(self, columns: frozenset[int]) -> _Prover:
        """Return the same for trees over some of the user's columns."""
        if columns >= self.check.columns:
            return self
        other = object.__new__(_Prover)
        other.__dict__ |= self.__dict__
        other.data, other.columns = self.data.over(columns), columns
        return other

    def asked(self, task: Task) -> checker.Task:
        """Return a task as the checker sees it."""
        return checker.Task.read(_task(task, self.problem), len(self.data.counts), self.check.own)

    def prove(
        self, claims: Sequence[Claim], lines: Sequence[Proven]
    ) -> tuple[list[int], list[Exact | None]]:
        """Prove that no tree exceeds the bounds of claims, or else larger ones.

        Returns the numbers of the questions, and the bounds that they prove.
        """
        task = max((claim.task for claim in claims), key=lambda task: task.size.most_splits)
        asked = self.asked(task)
        bounds = [claim.bound for claim in claims]
        if self.check.by_points(asked, bounds[0]):
            return _Plane(self, task, asked, lines).prove(claims)
        return _prove_linear(self, task, asked, bounds)

    def nested(self, tree: Tree) -> Any:
        """Return a tree as nested lists of the features of the data."""

        def visit(node: Node) -> Any:
            if isinstance(node, Leaf):
                return int(node.label)
            feature = feature_in(self.check.data, self.problem, node.feature)
            return [feature, visit(node.left), visit(node.right)]

        return visit(tree.root)

    def ask(
        self,
        question: Question,
        cutoffs: list[int],
        budget: int | None = None,
        fronts: dict[int, int] | None = None,
    ) -> tuple[int, Question]:
        """Write facts that show that no tree costs less than cutoffs, by number of splits.

        Parameters
        ----------
        question
            The costs, the price and the depth.
        cutoffs
            What is to be shown; one for each number of splits up to the budget, if there is one.
        budget
            The largest number of splits, if there are bounds by number of splits.
        fronts
            By number of splits, the cost up to which the checker lists points.

        Returns
        -------
        tuple
            The number of the question, and what is proven: less if there is no time left.
        """
        data, check = self.data, self.check
        matrix = data.counts @ np.array(question.table, dtype=np.int64)
        if question.instance:
            matrix = matrix + np.asarray(data.costs) * question.instance
        line = {
            "costs": question.table,
            "instance": question.instance,
            "unit": str(question.unit),
            "price": question.price,
            "budget": budget,
            "without": sorted(check.columns - self.columns),
            "inside": [],
        }
        key = json.dumps([line, question.depth, cutoffs])
        if key in self.known and not fronts:
            number, least = self.known[key]
            return number, replace(question, least=tuple(least))
        left, base = max(self.end - time.perf_counter(), 0.0), int(matrix.min(axis=1).sum())
        try:
            proof = _core.prove(
                np.ascontiguousarray(data.ranks, dtype=np.uint32),
                np.ascontiguousarray(check.weight),
                np.ascontiguousarray(matrix - matrix.min(axis=1, keepdims=True)),
                question.price,
                min(question.depth, _CORE_ANY),
                budget,
                check.min_leaf,
                [max(-(2**60), min(c - base, 2**60)) for c in cutoffs],
                bool(fronts),
                None if left == inf else left,
                MEMORY_LIMIT,
            )
        except OverflowError:
            raise CertificateError(
                "the weights, costs or penalties are too fine for a certificate; round them"
            ) from None
        if proof is None:
            raise KeyboardInterrupt
        facts, values, is_late = proof
        number = len(check.questions)
        if fronts and not is_late:
            line["inside"] = list(fronts.items())
            points = np.zeros((0, 2), dtype=np.int64)
            question = replace(
                question, fronts=tuple((m, limit, points) for m, limit in fronts.items())
            )
        self.writer.add_line(line)
        self.writer.add(facts)
        self.known[key] = number, [base + v for v in values]
        check.questions.append(replace(question, least=tuple(self.known[key][1])))
        return number, check.questions[-1]


def _depth(task: Task) -> int:
    """Return the depth of the trees of a question: any, if only a price limits them."""
    size = task.size
    return ANY if size.max_depth is None and size.max_splits is None else size.reachable_depth


def _is_limited(size: SizeLimit) -> bool:
    """Say whether there are trees that only the number of their splits excludes."""
    return size.max_splits is not None and size.most_splits < 2**size.deepest - 1


def _prove_linear(
    prover: _Prover, task: Task, asked: checker.Task, wanted: Sequence[Exact | None]
) -> tuple[list[int], list[Exact | None]]:
    """Prove the one question of a linear metric, given a bound or one per number of splits."""
    size, check, data = task.size, prover.check, prover.data
    unit = data.weight_unit
    table = checker.rewards(asked.metric, [unit * n for n in check.totals], check.positive)
    paid = sum((f for f, name, _ in asked.metric if name == "instance_cost"), Fraction(0))
    # In integers as small as possible.
    entries = [-unit * reward for row in table for reward in row]
    entries += [paid * data.cost_unit, task.split_penalty]
    scale = lcm(*(entry.denominator for entry in entries))
    integers = [int(entry * scale) for entry in entries]
    divisor = gcd(*integers) or 1
    *costs, instance, price = (integer // divisor for integer in integers)
    step, classes = Fraction(divisor, scale), len(table)
    rows = [costs[i : i + classes] for i in range(0, len(costs), classes)]
    most = sum(max(map(abs, row)) * total for row, total in zip(rows, check.totals, strict=True))
    if data.costs is not None:
        most += abs(instance) * int(np.abs(data.costs).sum())
    if most >= checker.LARGEST // 4:
        raise CertificateError(
            "the weights, costs or penalties are too fine for a certificate; round them"
        )
    price = min(price, 2 * most + 1)  # at which nothing pays, as at any higher one
    budget = None if len(wanted) == 1 and not _is_limited(size) else size.most_splits
    question = Question(
        prover.columns,
        rows,
        instance,
        step,
        price if budget is None else 0,
        by_splits=budget is not None,
        depth=_depth(task),
    )
    bounds = [bound for bound in wanted if bound is not None]
    least = [-floor(bound.as_fraction() / step) for bound in bounds]
    numbers = range(1 if budget is None else budget + 1)
    cutoffs = [least[min(m, len(least) - 1)] - price * m for m in numbers]
    number, question = prover.ask(question, cutoffs, budget)
    ends = [-step * value - task.split_penalty * m for m, value in enumerate(question.least)]
    if len(wanted) == 1:
        ends = [max(ends)]
    best = [Exact(max(ends[: m + 1])) for m in range(len(wanted))]
    return [number], [max(bound, end) for bound, end in zip(bounds, best, strict=True)]


@dataclass
class _Need:
    """What is needed of a question: costs, and costs up to which points are listed, by splits."""

    costs: dict[int, int] = field(default_factory=dict)
    fronts: dict[int, int] = field(default_factory=dict)


class _Plane:
    """Any other metric, and constraints on metrics: lines in the plane below which no tree is.

    Parameters
    ----------
    prover
        The data.
    task, asked
        The task, and as the checker sees it.
    proven
        What the answers to linear questions have proven.
    """

    def __init__(
        self, prover: _Prover, task: Task, asked: checker.Task, proven: Sequence[Proven]
    ) -> None:
        self.prover, self.task, self.asked = prover, task, asked
        self.plane = Plane(task.problem, task.metric)
        known = zip(_on_metrics(task), prover.check.monotone(asked), strict=True)
        constraints = tuple(
            replace(c, metric=c.metric.oriented(task.problem)) for c, helps in known if helps
        )
        self.staircase = Staircase(self.plane, self.plane.metric, constraints)
        self.staircase.low = self.staircase.high = prover.check.steps
        self.lines = [line for p in proven if (line := self._read(p)) is not None]

    def _line(
        self, a: int, b: int, least: tuple[int, ...], depth: int, price: int, by_splits: bool
    ) -> Question:
        p, n = self.plane.labels[1], self.plane.labels[0]
        table = [[0, 0], [0, 0]]
        table[p][n], table[n][p] = a, b
        unit = self.task.problem.weight_unit
        return Question(
            self.prover.columns, table, 0, unit, price, by_splits, depth=depth, least=least
        )

    def _read(self, proven: Proven) -> Question | None:
        size = proven.size
        is_limited = _is_limited(size)
        if proven.a < 0 or proven.b < 0:
            return None
        if is_limited and not proven.by_splits and proven.split_cost:
            return None
        least, by_splits = proven.least, is_limited or proven.by_splits
        if is_limited and not proven.by_splits:
            least = (0,) * size.most_splits + least  # what is not asked is not known
        depth = _depth(replace(self.task, size=size))
        return self._line(proven.a, proven.b, least, depth, proven.split_cost, by_splits)

    def _targets(self, claims: Sequence[Claim]) -> Targets:
        """Return the numbers of splits that the checker looks at, but for 0."""
        task, data = self.task, self.prover.data
        if not data.ranks.any():
            return []
        if not task.split_penalty:
            each = {self.prover.asked(claim.task).most_splits: claim.bound for claim in claims}
            return [(splits, bound) for splits, bound in each.items() if splits]
        (claim,), most = claims, self.asked.most_splits
        perfect = self.plane.metric.value(self.plane.confusion(0, 0))
        targets: Targets = []
        for k in range(1, most + 1):
            if claim.bound is not None and perfect <= claim.bound + task.split_penalty * k:
                break
            targets.append((k, claim.bound))
            if k > checker.MOST_NUMBERS:
                raise CertificateError("the penalty is too small for a certificate")
        return targets

    def prove(self, claims: Sequence[Claim]) -> tuple[list[int], list[Exact | None]]:
        """Prove the bounds of claims by few lines, or else larger ones, which are returned.

        What lines leave inside the hull the checker lists itself, if it is little.
        """
        targets = self._targets(claims)
        self.lines += self._level_lines(targets)
        needs, left = self._choose(targets, {})
        if any(part.any() for part in left):
            fronts = self._fronts(targets, left)
            needs, _ = self._choose(targets, fronts)
        asked = [self._ask(self.lines[i], need) for i, need in needs.items()]
        reached = self._reached(targets, [question for _, question in asked])
        return [number for number, _ in asked], [
            self._of_claim(claim, targets, reached) for claim in claims
        ]

    def _of_claim(
        self, claim: Claim, targets: Targets, reached: list[Exact | None]
    ) -> Exact | None:
        """Return what is proven for a claim."""
        if self.task.split_penalty:
            mine = reached
        else:
            most = self.prover.asked(claim.task).most_splits
            mine = [r for (k, _), r in zip(targets, reached, strict=True) if k == most]
        bounds = [bound for bound in (claim.bound, *mine) if bound is not None]
        return max(bounds, default=None)

    def _level_lines(self, targets: Targets) -> list[Question]:
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
            full = splits >= self.asked.most_splits and self.task.size.max_splits is None
            least = (line.cutoff,) if full else (0,) * splits + (line.cutoff,)
            depth = _depth(self.task) if full else min(splits, size.deepest)
            lines.append(self._line(line.a, line.b, least, depth, 0, not full))
        return lines

    def _ceilings(self, targets: Targets) -> list[NDArray[np.int64]]:
        """Return the most false positives of better trees, by false negatives; -1 if none is."""
        penalty = self.task.split_penalty
        return [
            self.staircase.wanted(Target(None if bound is None else bound + penalty * splits))
            for splits, bound in targets
        ]

    def _choose(
        self, targets: Targets, fronts: dict[tuple[int, int], int]
    ) -> tuple[dict[int, _Need], list[NDArray[np.bool_]]]:
        """Return lines that exclude better points, and what is needed of them.

        Points up to some costs are listed: `fronts` has these by line and number of splits. Of the
        others, the line that excludes the most comes first. Returns also those that are left.
        """
        ceilings, fn = self._ceilings(targets), self.staircase.low
        left = [ceiling >= 0 for ceiling in ceilings]
        needs: dict[int, _Need] = {}
        costs: list[list[NDArray[np.int64]]] = []
        excluded: list[list[NDArray[np.bool_]]] = []
        for i, line in enumerate(self.lines):
            a, b = self.prover.check.direction(line)
            costs.append([a * fn + b * ceiling for ceiling in ceilings])
            excluded.append([])
            for t, (splits, _) in enumerate(targets):
                least = line.at(splits, self.asked.deepest)
                excluded[i].append(costs[i][t] < (-1 if least is None else least))
                if (i, splits) in fronts:
                    needs.setdefault(i, _Need()).fronts[splits] = fronts[i, splits]
                    left[t] = left[t] & (costs[i][t] > fronts[i, splits])
        while any(part.any() for part in left):
            gains = [
                sum(int((p & o).sum()) for p, o in zip(parts, left, strict=True))
                for parts in excluded
            ]
            if max(gains, default=0) == 0:
                break
            best = int(np.argmax(gains))
            need = needs.setdefault(best, _Need())
            for t, part in enumerate(excluded[best]):
                if (new := part & left[t]).any():
                    need.costs[targets[t][0]] = int(costs[best][t][new].max()) + 1
                left[t] = left[t] & ~part
        return needs, left

    def _fronts(
        self, targets: Targets, left: list[NDArray[np.bool_]]
    ) -> dict[tuple[int, int], int]:
        """Return lines above which the checker lists points, up to which costs, if they are few.

        Each point that is left goes to the line that is closest below it. There are none if trees
        at these points may be better, but not meet a constraint.
        """
        if len(self.staircase.constraints) < len(_on_metrics(self.task)):
            return {}
        task, fn, size = self.task, self.staircase.low, self.task.size
        features = task.problem.features.n_kept
        tables = checker.listed(features, min(size.deepest, size.most_splits))
        number = sum(bool(part.any()) for part in left)
        if number * tables * (task.problem.n_rows + len(fn)) > checker.MOST_LISTED:
            return {}
        # Lines without a price or a budget, in the directions that were asked.
        known = {(max(self.plane.n_neg, 1), max(self.plane.n_pos, 1)): 0}
        for line in self.lines:
            a, b = self.prover.check.direction(line)
            if b:
                least = line.at(self.asked.most_splits, self.asked.deepest) or 0
                known[a, b] = max(known.get((a, b), 0), least)
        # What is known of a budget is no bound on trees with more splits, which these are about.
        plain, begin = [], len(self.lines)
        for i, ((a, b), least) in enumerate(known.items(), begin):
            plain.append((i, a, b, least))
            of_all = (0 if _is_limited(size) else least,)
            self.lines.append(self._line(a, b, of_all, _depth(task), 0, by_splits=False))
        floors = np.array([-((a * fn - least) // b) for _, a, b, least in plain])
        nearest, found = floors.argmax(axis=0), {}
        for (splits, _), ceiling, part in zip(targets, self._ceilings(targets), left, strict=True):
            for place, (i, a, b, _) in enumerate(plain):
                if (mine := part & (nearest == place)).any():
                    found[i, splits] = int((a * fn[mine] + b * ceiling[mine]).max())
        return found

    def _reached(self, targets: Targets, questions: Sequence[Question]) -> list[Exact | None]:
        """Return for each target its bound, or what no tree exceeds by questions alone."""
        staircase, reached = self.staircase, []
        for (splits, bound), ceiling in zip(targets, self._ceilings(targets), strict=True):
            low = staircase.lowest
            for question in questions:
                least = question.at(splits, self.asked.deepest)
                for number, limit, _ in question.fronts:
                    least = limit + 1 if number == splits else least
                if least is not None:
                    a, b = self.prover.check.direction(question)
                    low = staircase.raised(low, a, b, least)
            if (low > ceiling).all():
                reached.append(bound)
                continue
            value = staircase.largest_value(
                np.minimum(low, self.plane.n_neg), low <= staircase.allowed
            )
            reached.append(None if value is None else self.task.penalised(value, splits))
        return reached

    def _ask(self, line: Question, need: _Need) -> tuple[int, Question]:
        """Prove that trees cost as much as needed, or what they do."""
        costs = need.costs | {m: limit + 1 for m, limit in need.fronts.items()}
        cutoffs = [max(cost + line.price * splits for splits, cost in costs.items())]
        budget = None
        if line.by_splits:
            budget = len(line.least) - 1
            most = min(budget, 2 ** min(line.depth, 40) - 1)
            cutoffs = [costs.get(m, -(2**60)) for m in range(most + 1)]
        return self.prover.ask(line, cutoffs, budget, need.fronts)
