"""Questions at random, their certificates, and brute force on whether what these claim is so.

``python -m tests.support.claims 2000`` asks that many; each certificate that is said to prove
something must be accepted, and whatever is accepted, be it a certificate or one with an error in
it, must be so.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import goct
from goct.constraints import FeatureBudget, ForbidFeatures, MaxFeatures, MetricConstraint
from goct.exceptions import CertificateWarning
from goct.metrics import METRICS, CustomMetric, Metric, Shape, get_metric
from goct.metrics.catalogue import CostMatrix
from goct.verify import RejectedError, checker, data_of, values_of
from goct.verify.checker import Data, Number, groups

from .certificates import header_mutants, mutants, read_certificate, write_certificate
from .reference import Outcome, outcomes

ALL_CLASSES = ("accuracy", "balanced_accuracy", "f1", "mcc", "recall")
OWN = CustomMetric(lambda tp, _fp, _fn, tn: 2 * tp + tn, Shape.MONOTONE, "own")


OWN_VALUES = values_of(OWN)
"""The same for the checker."""


# ---- questions


def random_problem(rng: np.random.Generator, *, costs: bool) -> goct.Problem:
    """Return a small problem of two or three classes, maybe with weights, costs and thresholds."""
    n, n_classes = int(rng.integers(4, 13)), int(rng.choice([2, 2, 2, 3]))
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    weights = [
        None,
        rng.integers(1, 5, n),
        rng.integers(0, 3, n) + (np.arange(n) < n_classes),
        rng.integers(1, 4, n) * np.array([10**7, 3 * 10**6, 7])[y],
        np.pi + rng.random(n),
    ][rng.choice(5, p=[0.4, 0.2, 0.2, 0.15, 0.05])]
    given: dict[str, Any] = {"sample_weight": weights, "classes": list(range(n_classes))}
    given |= {"pos_label": int(rng.integers(n_classes))} if rng.random() < 0.5 else {}
    if rng.random() < 0.2:
        return goct.Problem.from_ranks(rng.integers(0, 3, (n, 2)), y, **given)
    X = rng.integers(0, 2, (n, int(rng.integers(1, 5))))
    paid = rng.integers(0, 9, (n, n_classes)) if costs else None
    return goct.Problem.from_arrays(X, y, costs=paid, **given)


def random_metric(rng: np.random.Generator, n_classes: int) -> Metric:
    """Return a metric, a sum or a difference of some, costs of any sign, or one of one's own."""
    kind, names = rng.random(), sorted(METRICS if n_classes == 2 else ALL_CLASSES)
    if kind < 0.1:
        return CostMatrix(rng.integers(-1, 4, (n_classes, n_classes)).tolist())
    if kind < 0.15:
        return OWN
    first, second = (get_metric(str(name)) for name in rng.choice(names, 2))
    return first + Fraction(int(rng.integers(-3, 4)), 2) * second if kind < 0.3 else first


def random_question(rng: np.random.Generator) -> tuple[goct.Problem, dict[str, Any]]:
    """Return a problem, and what to ask about it."""
    problem = random_problem(rng, costs=rng.random() < 0.3)
    asked: dict[str, Any] = {"metric": random_metric(rng, problem.n_classes)}
    few = problem.features.n_kept <= 3
    asked["max_depth"] = int(rng.integers(0, 4 if few else 3))
    if rng.random() < 0.3:
        asked["max_splits"] = int(rng.integers(0, 4))
    if rng.random() < 0.4:
        asked["split_penalty"] = Fraction(1, int(rng.integers(3, 200)))
    if rng.random() < 0.25:
        leaf = str(rng.choice(["min_leaf_weight", "min_samples_leaf"]))
        asked[leaf] = int(rng.integers(1, 6))
    constraints: list[Any] = []
    while rng.random() < 0.35:  # those that only a model can answer take long
        metric, sense = random_metric(rng, problem.n_classes), str(rng.choice([">=", "<="]))
        threshold = Fraction(int(rng.integers(0, 11)), int(rng.choice([1, 10, 10])))
        constraints.append(MetricConstraint(metric, sense, threshold))
    if rng.random() < 0.2:
        constraints.append(
            [ForbidFeatures(0), MaxFeatures(1), FeatureBudget({0: 2}, 1)][rng.integers(3)]
        )
    return problem, asked | {"constraints": constraints}


def ask(problem: goct.Problem, asked: dict[str, Any], path: Path, kind: str) -> Any:
    """Solve a question with a certificate, or its path, or the frontier of its trees."""
    asked = dict(asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)
        if kind == "path":
            asked.pop("split_penalty", None)
            return goct.path(problem, certificate=path, **{"max_splits": 3} | asked)
        if kind == "frontier":
            asked = {k: v for k, v in asked.items() if k.startswith("max")}
            return goct.frontier(problem, certificate=path, **asked)
        return goct.solve(problem, certificate=path, **asked)


# ---- brute force


def is_true(content: bytes, data: Data) -> bool:
    """Say whether all claims of a certificate are so."""
    header, *_, last = read_certificate(content)
    positive, (by, least) = header["data"]["positive"], header["leaves"]
    if header["data"]["against_rest"] is True:
        data, positive = data.against_rest(positive), 1
    weight = data.counts.sum(axis=1) if by == "weight" else data.samples
    judge = _Judge(data, positive, weight, least)
    return all(judge.is_true(claim) for claim in last["claims"])


class _Judge:
    """Knows all trees on some data."""

    def __init__(self, data: Data, positive: int, weight: np.ndarray, least: int) -> None:
        self.data, self.positive, self.weight, self.least = data, positive, weight, least
        self.features = np.array([data.side(2 * f + 1) for f in range(int(data.begin[-1]))])
        self.features = self.features.reshape(-1, len(weight))
        self.owners = [data.owners[data.column(f)] for f in range(len(self.features))]
        self.trees = cache(self._trees)

    def leaves(self, mask: np.ndarray) -> Iterator[tuple[int, ...]]:
        """Yield counts by true and predicted class, row by row, and the costs to pay."""
        data, classes = self.data, self.data.counts.shape[1]
        if self.weight[mask].sum() < self.least:
            return
        for j in range(classes):
            cells = np.zeros((classes, classes), dtype=np.int64)
            cells[:, j] = data.counts[mask].sum(axis=0)
            paid = 0 if data.costs is None else int(data.costs[mask, j].sum())
            yield (*cells.ravel().tolist(), paid)

    def _trees(self, columns: frozenset[int], depth: int) -> set[Outcome]:
        chosen = self.features[[owner in columns for owner in self.owners]]
        return outcomes(chosen.T, self.leaves, depth)

    def value(self, metric: checker.Metric, outcome: tuple[int, ...]) -> Number:
        """Return a metric of a tree."""
        *counts, paid = outcome
        classes, unit = self.data.counts.shape[1], self.data.weight_unit
        cells = [[unit * n for n in row] for row in groups(counts, classes)]
        return checker.evaluate(metric, cells, self.positive, paid * self.data.cost_unit)

    def outcome_of(self, node: Any, mask: np.ndarray) -> tuple[tuple[int, ...], int]:
        """Return what a tree achieves, and its number of splits."""
        if isinstance(node, int):
            return list(self.leaves(mask))[node], 0
        right = self.features[node[0]]
        sides = [self.outcome_of(node[1], mask & ~right), self.outcome_of(node[2], mask & right)]
        (a, s), (b, t) = sides
        return tuple(x + y for x, y in zip(a, b, strict=True)), s + t + 1

    def is_true(self, claim: dict[str, Any]) -> bool:
        """Say whether no tree is better."""
        task = checker.Task.read(claim["task"], 2**20, OWN_VALUES)
        penalty = task.penalty

        def objective(outcome: tuple[int, ...], splits: int) -> Number:
            return self.value(task.metric, outcome) + Number.of(-penalty * splits)

        columns = sorted({*self.owners})
        sets = [frozenset(c) for n in range(len(columns) + 1) for c in combinations(columns, n)]
        sets = [c for c in sets if task.admits(c)]
        sets = [c for c in sets if not any(c < other for other in sets)]
        depth = min(4 if task.max_depth is None else task.max_depth, len(self.features), 4)
        found = {
            (outcome, splits)
            for c in sets
            for outcome, splits in self.trees(c, depth)
            if task.max_splits is None or splits <= task.max_splits
        }
        allowed = [
            (outcome, splits)
            for outcome, splits in found
            if all(
                Number.of(bound) <= self.value(metric, outcome)
                if sense == ">="
                else self.value(metric, outcome) <= Number.of(bound)
                for metric, sense, bound in task.constraints
            )
        ]
        if claim["tree"] is not None:
            mine = self.outcome_of(claim["tree"], np.ones(len(self.weight), dtype=bool))
            if mine not in allowed:
                return False
        if claim["status"] == "infeasible":
            return not allowed
        bound = objective(*mine) if claim["status"] == "optimal" else None
        if bound is None:
            bound = Number(tuple(map(Fraction, claim["bound"])))
        return all(objective(*one) <= bound for one in allowed)


# ---- both


def attempt(seed: int, path: Path, *, n_mutants: int = 0) -> tuple[str, str]:
    """Ask a question at random; return what became of it, and what is wrong, if anything is."""
    rng = np.random.default_rng(seed)
    problem, asked = random_question(rng)
    kind = str(rng.choice(["solve", "solve", "solve", "path", "frontier"]))
    try:
        found = ask(problem, asked, path, kind)
    except (ValueError, TypeError) as error:
        return f"refused: {error}"[:20], "crashed" if isinstance(error, RejectedError) else ""
    if found.certificate is None:
        return f"{kind} without a certificate", ""
    proves, content, data = found.certificate.proves, path.read_bytes(), data_of(problem)
    try:
        verdict = checker.check_certificate(content, data, OWN_VALUES)
    except RejectedError as error:
        return f"{kind} proves {proves}", "" if proves == "nothing" else f"rejected: {error}"
    if proves == "nothing":
        return "nothing", "accepted, although it proves nothing"
    if not is_true(content, data):
        return "false", "what the certificate says is false"
    if kind == "solve" and (verdict.bound is None) != (found.tree is None) and proves == "all":
        return "other", "it proves something else"
    lines, accepted = read_certificate(content), 0
    forged = [*mutants(content, rng, n_mutants)]
    claims = lines[-1]["claims"]
    if n_mutants and len(claims) == 1 and claims[0]["task"]["metric"]:
        forged += [(k, write_certificate(v)) for k, v in header_mutants(lines).items()]
    for what, mutant in forged:
        try:
            checker.check_certificate(mutant, data, OWN_VALUES)
        except RejectedError:
            continue
        accepted += 1
        if not is_true(mutant, data):
            return "forged", f"a mutant is accepted ({what}): {read_certificate(mutant)}"
    return f"{kind} proves {proves}", ""


def main() -> int:
    """Run the attack, and print what became of the questions."""
    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    n_mutants = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    path, seen = Path(tempfile.mkdtemp()) / "proof.gct", Counter[str]()
    warnings.simplefilter("ignore")
    for done, one in enumerate(range(seed, seed + number)):
        if done % 500 == 499:
            print(f"{done + 1} questions, {seen['WRONG']} wrong", flush=True)
        what, wrong = attempt(one, path, n_mutants=n_mutants)
        seen[what] += 1
        if wrong:
            seen["WRONG"] += 1
            print(one, wrong[:2000], flush=True)
    for what, count in sorted(seen.items()):
        print(f"{count:8} {what}")
    return int(seen["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main())
