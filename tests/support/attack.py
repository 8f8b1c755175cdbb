"""An attack on `solve`: random small problems with minimum leaves and constraints on columns.

``python -m tests.support.attack 20000`` compares that many answers with brute force;
``python -m tests.support.attack 20000 0 ranks`` does so over thresholds of ranked columns,
of which few are features and the others searched as such, by up to eight threads. With ``switches``
the search has little memory or only some of its techniques, and up to three threads. With
``extremes`` weights are huge, and prices are huge or tiny: such questions may be refused, and need
not be proven, but nothing false may be said. With ``mip`` models answer; with ``require`` trees
have to use columns. Problems as small as these are over before a thread begins, unless the core was
built with ``-Ccmake.build-type=Debug``: then threads share everything at once.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from goct import Problem, Solution, solve
from goct.constraints import (
    FeatureBudget,
    ForbidFeatures,
    MaxFeatures,
    MinLeafWeight,
    MinSamplesLeaf,
    RequireFeatures,
)
from goct.exact import Exact
from goct.metrics import Confusion, get_metric
from goct.search import TECHNIQUES, oracle

from .ranks import draw_ranks, explicit
from .reference import Known, all_trees

METRICS = ("accuracy", "balanced_accuracy", "f1", "mcc", "gmean", "precision", "kappa", "dor")


@dataclass
class Case:
    """A question, and what brute force has to check of a tree."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    metric: str
    max_depth: int
    penalty: Fraction
    options: dict[str, Any] = field(default_factory=dict)
    constraints: list[Any] = field(default_factory=list)
    owner: list[int] | None = None
    """The column that each feature is about; None if each is its own."""
    tests: list[Callable[[Known], bool]] = field(default_factory=list)
    ranks: np.ndarray | None = None
    """Columns whose thresholds are the features, if they are."""

    def _problem(self) -> Problem:
        given: dict[str, Any] = {"sample_weight": self.weights, "classes": [0, 1]}
        if self.ranks is not None:
            return Problem.from_ranks(self.ranks, self.y, **given)
        columns = None if self.owner is None else [f"c{j}" for j in range(max(self.owner) + 1)]
        return Problem.from_arrays(self.X, self.y, owner=self.owner, columns=columns, **given)

    def solve(self, **options: Any) -> Solution:
        """Ask goct."""
        return solve(
            self._problem(),
            self.metric,
            self.max_depth,
            split_penalty=self.penalty,
            constraints=self.constraints,
            **self.options,
            **options,
        )

    def expected(self) -> tuple[Exact, int] | None:
        """Return the best objective and the fewest splits of trees that have it, or None."""
        n_pos = int(self.weights[self.y == 1].sum())
        n_neg = int(self.weights[self.y == 0].sum())
        metric = get_metric(self.metric)
        values: dict[tuple[int, int], Exact] = {}
        best: tuple[Exact, int] | None = None
        for tree in all_trees(self.X, self.y == 1, self.max_depth, self.weights):
            if not all(test(tree) for test in self.tests):
                continue
            point = (tree.tp, tree.tn)
            if point not in values:
                tp, tn = point
                values[point] = metric.value(Confusion(tp=tp, fp=n_neg - tn, fn=n_pos - tp, tn=tn))
            found = values[point] - self.penalty * tree.splits
            if best is None or found > best[0] or (found == best[0] and tree.splits < best[1]):
                best = (found, tree.splits)
        return best


def random_case(
    rng: np.random.Generator,
    *,
    require: bool = False,
    ranked: bool = False,
    extreme: bool = False,
) -> Case:
    """Return a question at random.

    Those that only a model can answer are to `require` columns; `ranked` ones are
    about thresholds of columns of ranks; `extreme` ones have weights and prices that strain
    integers and floats.
    """
    ranks = None
    if ranked:
        ranks = draw_ranks(rng, 14, 4, 8)
        while len(ranks) < 4 or not ranks.any():
            ranks = draw_ranks(rng, 14, 4, 8)
        X = explicit(ranks).astype(int)
        n_rows, n_features = X.shape
    else:
        n_rows, n_features = int(rng.integers(4, 16)), int(rng.integers(2, 6))
        X = rng.integers(0, 2, (n_rows, n_features))
        if rng.random() < 0.3:  # a copy or a complement of another column
            a, b = rng.choice(n_features, 2, replace=False)
            X[:, a] = X[:, b] ^ rng.integers(0, 2)
    y = (rng.random(n_rows) < rng.choice([0.2, 0.5, 0.8])).astype(int)
    y[:2] = [0, 1]
    weights = rng.integers(0, 4, n_rows) if rng.random() < 0.6 else np.ones(n_rows, dtype=int)
    weights[:2] = np.maximum(weights[:2], 1)
    case = Case(
        X,
        y,
        weights,
        str(rng.choice(METRICS)),
        int(rng.integers(1, 4)) if n_features < 4 else int(rng.integers(1, 3)),
        Fraction(int(rng.integers(0, 3)), 40),
        ranks=ranks,
    )
    if extreme:
        _strain(case, rng)
    _add_limits(case, rng)
    if ranks is not None:
        case.owner = np.repeat(np.arange(ranks.shape[1]), ranks.max(axis=0)).tolist()
    elif rng.random() < 0.7:
        n_columns = int(rng.integers(1, n_features + 1))
        case.owner = np.unique(rng.integers(0, n_columns, n_features), return_inverse=True)[
            1
        ].tolist()
    _add_columns(case, rng, require=require)
    return case


def _add_threads(case: Case, rng: np.random.Generator) -> Case:
    case.options["n_jobs"] = int(rng.integers(1, 9))
    return case


def _add_switches(case: Case, rng: np.random.Generator) -> Case:
    """Add options that change the speed of a search, not what it finds."""
    off = rng.choice([*TECHNIQUES], rng.integers(0, len(TECHNIQUES)), replace=False)
    case.options |= {
        "engine": "search",
        "n_jobs": int(rng.integers(1, 4)),
        "memory_limit": int(rng.choice([1 << 14, 1 << 17, 1 << 30])),
        "techniques": {str(name): False for name in off},
    }
    return case


def _strain(case: Case, rng: np.random.Generator) -> None:
    """Replace weights and prices by ones that strain integers and floats."""
    weights = case.weights.astype(object)
    kind = rng.choice(["scaled", "near", "any"])
    if kind == "scaled":
        weights = weights * 10 ** int(rng.integers(0, 17))
    elif kind == "near":
        weights = weights * 10 ** int(rng.integers(6, 15)) + rng.integers(0, 3, len(weights))
    else:
        weights = np.array([int(10 ** rng.uniform(0, 16)) for _ in weights], dtype=object)
    case.weights = weights.astype(np.int64)
    if rng.random() < 0.5:
        case.penalty = Fraction(10) ** int(rng.choice([-300, -30, -12, -6, -1, 0, 6, 12, 30, 300]))


def add_models(case: Case, rng: np.random.Generator) -> Case:
    """Add options of the MIP engine that get in each other's way the least."""
    case.options |= {
        "engine": "mip",
        "injection": str(rng.choice(["none", "cart"])),
        "node_heuristic": str(rng.choice(["none", "rounding", "mip", "search"])),
        "search_bound": False,
        "time_limit": 20,
    }
    if case.metric not in ("accuracy", "balanced_accuracy", "gmean", "dor"):
        case.options["method"] = str(rng.choice(["direct", "parametric"]))
    return case


def _with_narrow_columns(cases: Iterator[Case], rng: np.random.Generator) -> Iterator[Case]:
    """Have columns of none, one or two thresholds searched as features, from case to case."""
    oracle.FEW = 0
    for case in cases:
        oracle.NARROW = int(rng.integers(0, 3))
        yield case


def _add_limits(case: Case, rng: np.random.Generator) -> None:
    if rng.random() < 0.3:
        most = int(rng.integers(0, 5))
        case.options["max_splits"] = most
        case.tests.append(lambda tree: tree.splits <= most)
    total, number = int(case.weights.sum()), int((case.weights > 0).sum())
    kind = rng.choice(["none", "weight", "samples"], p=[0.3, 0.35, 0.35])
    if kind == "weight":
        least = Fraction(int(rng.integers(1, total + 2)), int(rng.integers(1, 5)))
        case.tests.append(lambda tree: tree.least_weight >= least)
        if rng.random() < 0.5:
            case.options["min_leaf_weight"] = least
        else:
            case.constraints.append(MinLeafWeight(least))
    elif kind == "samples":
        samples = int(rng.integers(1, max(2, number // 2 + 1)))
        case.tests.append(lambda tree: tree.fewest_rows >= samples)
        if rng.random() < 0.5:
            case.options["min_samples_leaf"] = samples
        else:
            case.constraints.append(MinSamplesLeaf(samples))
    if rng.random() < 0.2:
        n_pos = int(case.weights[case.y == 1].sum())
        threshold = Fraction(int(rng.integers(0, 11)), 10)
        case.constraints.append(get_metric("recall") >= threshold)
        case.tests.append(lambda tree: Fraction(tree.tp, n_pos) >= threshold)


def _add_columns(case: Case, rng: np.random.Generator, *, require: bool) -> None:
    n_features = case.X.shape[1]
    of = list(range(n_features)) if case.owner is None else case.owner
    names = max(of) + 1

    def used(tree: Known) -> set[int]:
        return {of[f] for f in tree.features}

    if require:
        wanted = {int(j) for j in rng.choice(names, rng.integers(1, 3))}
        case.constraints.append(RequireFeatures(*wanted))
        case.tests.append(lambda tree: wanted <= used(tree))
    if rng.random() < 0.4:
        banned = {int(j) for j in rng.choice(names, rng.integers(1, names + 1))}
        case.constraints.append(ForbidFeatures(*banned))
        case.tests.append(lambda tree: not banned & used(tree))
    if rng.random() < 0.4:
        most = int(rng.integers(0, names + 1))
        case.constraints.append(MaxFeatures(most))
        case.tests.append(lambda tree: len(used(tree)) <= most)
    if rng.random() < 0.4:
        costs = {j: Fraction(int(rng.integers(0, 6)), 2) for j in range(names)}
        budget = Fraction(int(rng.integers(0, 12)), 2)
        case.constraints.append(FeatureBudget(costs, budget))
        case.tests.append(lambda tree: sum(costs[c] for c in used(tree)) <= budget)


def failures(
    cases: Iterator[Case], *, may_give_up: bool = False, **options: Any
) -> Iterator[tuple[Case, Solution | None, str]]:
    """Yield the cases that goct gets wrong, with what is wrong; others with an empty text.

    If it may give up, a question may be refused because of its numbers, and a proof may be missing.
    """
    for case in cases:
        try:
            found = case.solve(**options)
        except ValueError as error:
            if not may_give_up or "too " not in str(error):
                raise
            yield case, None, ""
            continue
        yield case, found, _wrong(found, case.expected(), may_give_up=may_give_up)


def _wrong(found: Solution, expected: tuple[Exact, int] | None, *, may_give_up: bool) -> str:
    """Say what is wrong about a solution."""
    if found.status.name == "INFEASIBLE" or expected is None:
        is_open = may_give_up and found.status.name == "NO_SOLUTION"
        agree = found.status.name == "INFEASIBLE" and expected is None
        return "" if agree or is_open else f"{found.status.name}, but the best is {expected}"
    if may_give_up and found.status.name != "OPTIMAL":
        is_true = found.bound >= expected[0]
        if found.objective is not None:
            is_true = is_true and found.objective <= expected[0]
        return "" if is_true else f"{found.objective} to {found.bound}, but {expected[0]} is best"
    if found.status.name != "OPTIMAL":
        return f"{found.status.name}, but {expected[0]} is reached"
    if found.objective != expected[0]:
        return f"{found.objective}, but {expected[0]} is best"
    if found.stats.get("fewest_splits") and found.tree.splits != expected[1]:
        return f"{found.tree.splits} splits, but {expected[1]} are enough"
    return ""


def main() -> int:
    """Run the attack, and print what was compared."""
    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    ranked = "ranks" in sys.argv
    rng = np.random.default_rng(seed)
    kinds = {"ranked": ranked, "extreme": "extremes" in sys.argv, "require": "require" in sys.argv}
    cases = (random_case(rng, **kinds) for _ in range(number))
    if ranked:
        threads = np.random.default_rng([seed, 2])
        cases = _with_narrow_columns((_add_threads(case, threads) for case in cases), threads)
    if "switches" in sys.argv:
        switches = np.random.default_rng([seed, 1])
        cases = (_add_switches(case, switches) for case in cases)
    more = np.random.default_rng([seed, 3])
    if "mip" in sys.argv:
        cases = (add_models(case, more) for case in cases)
    may_give_up = bool({"extremes", "mip"} & set(sys.argv))
    seen: Counter[str] = Counter()
    started = time.perf_counter()
    for done, (case, found, wrong) in enumerate(failures(cases, may_give_up=may_give_up), 1):
        if found is None:
            seen["refused"] += 1
            continue
        seen["wrong"] += bool(wrong)
        seen[found.status.name] += 1
        seen[f"engine {found.stats['engine']}"] += 1
        seen[f"metric {case.metric}"] += 1
        seen["searched inside the hull"] += found.stats.get("phase_two", 0) > 0
        for constraint in found.constraints:
            seen[type(constraint).__name__] += 1
        seen["columns of several features"] += case.owner is not None
        seen["weighted"] += bool((case.weights != 1).any())
        seen["fewest splits certain"] += bool(found.stats.get("fewest_splits"))
        if wrong:
            print(wrong, case, flush=True)
        if done % 1000 == 0:
            print(f"{done} problems, {seen['wrong']} wrong", flush=True)
    print(f"{number} problems, seed {seed}, {time.perf_counter() - started:.0f} s")
    for name, count in sorted(seen.items()):
        print(f"{count:8} {name}")
    return int(seen["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
