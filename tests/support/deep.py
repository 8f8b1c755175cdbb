"""An attack on deep trees: random small problems without a depth limit, or with a large one.

``python -m tests.support.deep 5000`` compares that many answers of `solve`, and some of `path` and
`frontier`, with brute force: all that trees on each part of the rows achieve, by number of splits.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from goct import Problem, Solution, Status, frontier, path, solve
from goct.exact import Exact
from goct.metrics import Confusion, Metric, get_metric
from goct.search import TECHNIQUES

METRICS = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f2",
    "jaccard",
    "precision",
    "npv",
    "recall",
    "kappa",
    "mcc",
    "fowlkes_mallows",
    "gmean",
    "dor_smoothed",
]
PENALTIES = [Fraction(1, k) for k in (4, 10, 23, 50, 97, 200, 1000)]
DEEP = 20
"""More than any tree here can have."""


@dataclass
class Case:
    """A question about few features."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    metric: str
    max_depth: int | None
    penalty: Fraction
    max_splits: int | None
    min_leaf: int
    options: dict[str, Any] = field(default_factory=dict)

    def problem(self) -> Problem:
        """Return the data as goct has it."""
        return Problem.from_arrays(self.X, self.y, sample_weight=self.weights, classes=[0, 1])

    def solve(self, **options: Any) -> Solution:
        """Ask goct."""
        size: dict[str, Any] = {"max_splits": self.max_splits}
        if self.min_leaf:
            size["min_leaf_weight"] = self.min_leaf
        return solve(
            self.problem(), self.metric, self.max_depth, split_penalty=self.penalty,
            engine="search", **size, **self.options, **options,
        )  # fmt: skip

    def points(self) -> dict[tuple[int, int], int]:
        """Return the undominated (TP, TN) of all trees allowed, with their fewest splits."""
        X, positive, w = self.X.astype(bool), self.y == 1, self.weights

        @cache
        def visit(part: tuple[int, ...], depth: int) -> frozenset[tuple[int, int, int]]:
            # `part`: of each feature 0, 1, or 2 if it was not asked for.
            rows = np.all([(p == 2) | (X[:, f] == p) for f, p in enumerate(part)], axis=0)
            found = set()
            if w[rows].sum() >= self.min_leaf or min(part) == 2:
                found = {
                    (0, int(w[rows & positive].sum()), 0),
                    (0, 0, int(w[rows & ~positive].sum())),
                }
            for f in range(len(part) if depth > 0 else 0):
                if part[f] != 2:
                    continue
                sides = [visit((*part[:f], v, *part[f + 1 :]), depth - 1) for v in (0, 1)]
                found |= {(a + d + 1, b + e, c + g) for a, b, c in sides[0] for d, e, g in sides[1]}
            return frozenset(_undominated(found))

        depth = DEEP if self.max_depth is None else self.max_depth
        fewest: dict[tuple[int, int], int] = {}
        for splits, tp, tn in sorted(visit((2,) * X.shape[1], depth)):
            if self.max_splits is None or splits <= self.max_splits:
                fewest.setdefault((tp, tn), splits)
        return fewest

    def best(self) -> Exact:
        """Return the largest objective of all trees, by brute force."""
        metric = get_metric(self.metric)
        return max(
            _value(metric, self, point) - splits * self.penalty
            for point, splits in self.points().items()
        )


def _undominated(points: set[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    kept: list[tuple[int, int, int]] = []
    for point in sorted(points, key=lambda p: (p[0], -p[1], -p[2])):
        if not any(s <= point[0] and a >= point[1] and b >= point[2] for s, a, b in kept):
            kept.append(point)
    return kept


def _value(metric: Metric, case: Case, point: tuple[int, int]) -> Exact:
    positives = int(case.weights[case.y == 1].sum())
    negatives = int(case.weights.sum()) - positives
    tp, tn = point
    return metric.value(Confusion(tp, negatives - tn, positives - tp, tn))


def draw(rng: np.random.Generator) -> Case:
    """Return a random question."""
    features, rows = int(rng.integers(2, 6)), int(rng.integers(4, 40))
    X = (rng.random((rows, features)) < rng.uniform(0.2, 0.8, features)).astype(np.uint8)
    rule = X[:, 0] ^ (X[:, 1] & X[:, -1])
    y = np.where(rng.random(rows) < rng.uniform(0, 0.5), rng.integers(0, 2, rows), rule)
    y[:2] = 0, 1
    weights = rng.integers(1, 4, rows) if rng.random() < 0.4 else np.ones(rows, dtype=int)
    penalty = Fraction(0)
    max_splits = int(rng.integers(0, 12)) if rng.random() < 0.4 else None
    if max_splits is None or rng.random() < 0.5:
        penalty = PENALTIES[rng.integers(len(PENALTIES))]
    options: dict[str, Any] = {"techniques": {t: False for t in TECHNIQUES if rng.random() < 0.15}}
    if rng.random() < 0.15:
        options["n_jobs"] = 2
    return Case(
        X, y, weights,
        metric=METRICS[rng.integers(len(METRICS))],
        max_depth=None if rng.random() < 0.75 else int(rng.integers(4, 8)),
        penalty=penalty,
        max_splits=max_splits,
        min_leaf=int(rng.integers(1, 5)) if rng.random() < 0.25 else 0,
        options=options,
    )  # fmt: skip


def check_solve(case: Case) -> None:
    """Compare the optimum, then a search that is stopped somewhere, with brute force."""
    best = case.best()
    solution = case.solve()
    assert solution.status is Status.OPTIMAL
    assert solution.objective == solution.bound == best, (float(solution.objective), float(best))
    stopped = case.solve(callback=lambda _: True)
    assert stopped.bound >= best
    assert stopped.objective is None or stopped.objective <= best


def check_path(case: Case) -> None:
    """Compare the best value for every number of splits."""
    most = 6 if case.max_splits is None else case.max_splits
    metric = get_metric(case.metric)
    found = path(case.problem(), case.metric, None, max_splits=most)
    points = Case(case.X, case.y, case.weights, case.metric, None, Fraction(0), most, 0).points()
    for budget, solution in enumerate(found):
        best = max(_value(metric, case, p) for p, splits in points.items() if splits <= budget)
        assert solution.value == solution.bound == best, (budget, float(best))


def check_frontier(case: Case) -> None:
    """Compare the undominated points of all trees within a split budget."""
    most = 4 if case.max_splits is None else case.max_splits
    found = frontier(case.problem(), None, max_splits=most, pareto=True)
    points = Case(case.X, case.y, case.weights, "accuracy", None, Fraction(0), most, 0).points()
    right = {p for p in points if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in points)}
    assert {(v.confusion.tp, v.confusion.tn) for v in found.pareto} == right


def main() -> None:
    """Attack, and say how it went."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tally: Counter[str] = Counter()
    start = time.perf_counter()
    for number in range(count):
        case = draw(np.random.default_rng([seed, number]))
        checks = {"solve": check_solve}
        if number % 5 == 0:
            checks |= {"path": check_path, "frontier": check_frontier}
        for name, check in checks.items():
            tally[name] += 1
            try:
                check(case)
            except AssertionError as error:
                tally["wrong"] += 1
                print(f"{name} of {seed}, {number}: {error}\n  {case}", flush=True)
    print(f"{dict(tally)} in {time.perf_counter() - start:.0f} s, {tally['wrong']} wrong")
    sys.exit(tally["wrong"] > 0)


if __name__ == "__main__":
    main()
