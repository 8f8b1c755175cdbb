"""Tasks with certificates, one per family, and certificates with errors put into them."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import goct
from goct.binarize import Binarizer
from goct.constraints import FeatureBudget, ForbidFeatures, MaxFeatures
from goct.metrics import METRICS, Metric
from goct.metrics.catalogue import BoundedDOR, ClassCost, CostMatrix, FBeta, SmoothedDOR
from goct.verify import Verdict
from goct.verify.checker import read_lines

FAMILIES: dict[str, dict[str, Any]] = {
    "accuracy": {"metric": "accuracy"},
    "penalised accuracy": {"metric": "accuracy", "split_penalty": 0.02},
    "budgeted accuracy": {"metric": "accuracy", "max_splits": 4, "split_penalty": 0.001},
    "class costs": {"metric": "class_cost"},
    "several classes": {"metric": "balanced_accuracy", "classes": 3},
    "cost matrix": {"metric": CostMatrix([[0, 1, 4], [2, 0, 1], [1, 3, 0]]), "classes": 3},
    "instance costs": {"metric": "instance_cost", "costs": True},
    "one against the rest": {"metric": "f1", "classes": 3},
    "f1": {"metric": "f1"},
    "f2, weights": {"metric": "f2", "weights": True},
    "kappa": {"metric": "kappa"},
    "mcc": {"metric": "mcc"},
    "fowlkes_mallows": {"metric": "fowlkes_mallows"},
    "penalised f1": {"metric": "f1", "split_penalty": 0.02},
    "penalised mcc": {"metric": "mcc", "split_penalty": 0.03},
    "budgeted f1": {"metric": "f1", "max_splits": 4},
    "heavy leaves": {"metric": "accuracy", "min_leaf_weight": 14},
    "leaves of samples": {"metric": "kappa", "min_samples_leaf": 9, "weights": True},
    "heavy leaves, f1": {"metric": "f1", "min_leaf_weight": 6},
    "constraint": {"metric": "precision", "constraints": ["recall >= 0.6"]},
    "infeasible": {
        "metric": "accuracy",
        "constraints": ["recall >= 0.98", "specificity >= 0.98"],
    },
    "gmean": {"metric": "gmean"},
    "dor": {"metric": "dor_smoothed"},
    "forbidden column": {"metric": "f1", "constraints": [ForbidFeatures(0)]},
    "few columns": {"metric": "accuracy", "constraints": [MaxFeatures(2)]},
    "columns for a price": {"metric": "mcc", "constraints": [FeatureBudget({0: 2, 1: 1}, 2)]},
    "any depth": {"metric": "accuracy", "max_depth": None, "split_penalty": 0.03},
    "any depth, f1": {"metric": "f1", "max_depth": None, "split_penalty": 0.03},
    "any depth, budget": {"metric": "mcc", "max_depth": None, "max_splits": 3},
    "thresholds": {"metric": "accuracy", "thresholds": True},
    "thresholds, mcc": {"metric": "mcc", "thresholds": True},
    "thresholds, gmean": {"metric": "gmean", "thresholds": True},
    "thresholds, penalty": {"metric": "f1", "thresholds": True, "split_penalty": 0.02},
    "thresholds, budget": {"metric": "kappa", "thresholds": True, "max_splits": 4},
    "thresholds, heavy leaves": {"metric": "accuracy", "thresholds": True, "min_leaf_weight": 9},
    "thresholds, classes": {"metric": "accuracy", "thresholds": True, "classes": 3},
    "thresholds, few columns": {
        "metric": "accuracy",
        "thresholds": True,
        "constraints": [MaxFeatures(1)],
    },
    "constant trees": {"metric": "f1", "max_depth": 0},
    "stumps": {"metric": "mcc", "max_depth": 1},
}

MUTATED = (
    "penalised accuracy",
    "budgeted accuracy",
    "several classes",
    "instance costs",
    "one against the rest",
    "f1",
    "mcc",
    "penalised f1",
    "heavy leaves",
    "infeasible",
    "gmean",
    "columns for a price",
    "any depth",
    "thresholds",
    "thresholds, heavy leaves",
    "thresholds, penalty",
)
"""Those whose certificates are changed."""


def read_certificate(content: bytes) -> list[Any]:
    """Return the lines of a certificate: a header, questions and their facts, the claims."""
    return list(read_lines(content))


def write_certificate(lines: Sequence[Any]) -> bytes:
    """Return the content of a certificate."""
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines), 1, mtime=0)


def problem_of(options: dict[str, Any], seed: int = 0, pos_label: int = 1) -> goct.Problem:
    """Return a noisy problem for a family of tasks."""
    rng = np.random.default_rng(seed)
    n, n_classes = 90, options.get("classes", 2)
    X = rng.integers(0, 2, (n, 8))
    if options.get("thresholds"):
        X = rng.integers(0, 12, (n, 3))
        y = ((X[:, 0] > 4) ^ (X[:, 1] > 7)) + (rng.random(n) < 0.2)
        binarizer = Binarizer("exact").fit(X, y % n_classes)
        return goct.Problem.from_columns(X, y % n_classes, binarizer=binarizer, pos_label=pos_label)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n) < 0.3)) % n_classes
    return goct.Problem.from_arrays(
        X,
        y,
        pos_label=pos_label,
        sample_weight=rng.integers(1, 4, n) if options.get("weights") else None,
        costs=rng.integers(0, 9, (n, n_classes)) if options.get("costs") else None,
    )


def certified(
    options: dict[str, Any], path: Path, **more: Any
) -> tuple[goct.Problem, goct.Solution]:
    """Solve the task of a family, with a certificate."""
    problem = problem_of(options)
    ours = {"classes", "weights", "costs", "thresholds"}
    asked = {key: value for key, value in options.items() if key not in ours}
    asked = {"max_depth": 3, "engine": "search", "certificate": path, **asked, **more}
    return problem, goct.solve(problem, **asked)


NAMED = {
    "f_beta": FBeta,
    "class_cost": ClassCost,
    "cost_matrix": CostMatrix,
    "dor": BoundedDOR,
    "dor_smoothed": SmoothedDOR,
}


def _metric(terms: Any) -> Metric:
    metric = None
    for weight, name, options in terms:
        given = {k: v if k == "costs" else Fraction(v) for k, v in options.items()}
        if "costs" in given:
            given["costs"] = [[Fraction(cost) for cost in row] for row in given["costs"]]
        term = Fraction(weight) * NAMED.get(name, METRICS.get(name))(**given)
        metric = term if metric is None else metric + term
    return metric


def is_true(content: bytes, verdict: Verdict, options: dict[str, Any]) -> bool:
    """Say whether what a certificate claims about the problem of a family is so.

    The search engine answers what is claimed now, whatever that is.
    """
    header, *_, last = read_certificate(content)
    label = header["data"]["positive"]
    problem = problem_of(options, pos_label=1 if label is None else label)
    by, least = header["leaves"]
    (claim,) = last["claims"]
    task = claim["task"]
    constraints: list[Any] = [
        goct.constraints.MetricConstraint(_metric(terms), sense, Fraction(bound))
        for terms, sense, bound in task["constraints"]
    ]
    for prices, budget in task["limits"]:
        given = {c: Fraction(price) for c, price in prices}
        constraints.append(FeatureBudget(given, Fraction(budget)))
    solution = goct.solve(
        problem,
        _metric(task["metric"]),
        task["max_depth"],
        max_splits=task["max_splits"],
        split_penalty=Fraction(task["split_penalty"]),
        min_leaf_weight=least * problem.weight_unit if by == "weight" else 0,
        min_samples_leaf=least if by == "samples" else 0,
        constraints=constraints,
        engine="search",
    )
    assert solution.status in (goct.Status.OPTIMAL, goct.Status.INFEASIBLE)
    if solution.tree is None or verdict.bound is None:
        return solution.tree is None
    return float(solution.objective) <= verdict.bound + 1e-12


PARTS = ("rule", "path", "depth", "heavy", "values", "basis")
"""The entries of a fact."""


def changed(value: Any, rng: np.random.Generator) -> Any:
    """Return something else of the same kind: another number, a longer list, another word."""
    if isinstance(value, bool) or value is None:
        return [0, 1, [], None][rng.integers(4)]
    if isinstance(value, int):
        flipped = value ^ (1 << int(rng.integers(12)))
        return [value + 1, value - 1, flipped, -value, None][rng.integers(5)]
    if isinstance(value, str):
        if value.lstrip("-").replace("/", "").isdigit():
            other = Fraction(value) + Fraction(int(rng.integers(-2, 3)), int(rng.integers(1, 4)))
            return [str(other), str(-Fraction(value)), "1/0", ""][rng.integers(4)]
        return ["table", "split", "recall", "mcc", "", value[::-1]][rng.integers(6)]
    if isinstance(value, dict):
        value, keys = dict(value), sorted(value)
        if keys:
            key = keys[rng.integers(len(keys))]
            value[key] = changed(value[key], rng)
            if rng.random() < 0.1:
                del value[key]
        return value
    value = list(value)
    if not value:
        return [0]
    place = int(rng.integers(len(value)))
    match rng.integers(6):
        case 0:
            del value[place]
        case 1:
            value.insert(place, copy.deepcopy(value[rng.integers(len(value))]))
        case 2:
            value[place] = copy.deepcopy(value[rng.integers(len(value))])
        case _:
            value[place] = changed(value[place], rng)
    return value


def mutants(content: bytes, rng: np.random.Generator, number: int) -> Iterator[tuple[str, bytes]]:
    """Yield certificates with an error in some place of some line, and the name of the place.

    Half of the errors are in facts, the others in what is said of data, questions and claims.
    """
    lines = read_certificate(content)
    facts = [i for i, line in enumerate(lines) if isinstance(line, list)]
    others = [i for i, line in enumerate(lines) if isinstance(line, dict)]
    for _ in range(number):
        mutant = list(lines)
        if facts and rng.random() < 0.5:
            i, place = facts[rng.integers(len(facts))], int(rng.integers(len(PARTS)))
            name, fact = f"fact, {PARTS[place]}", list(mutant[i])
            fact[place], mutant[i] = changed(fact[place], rng), fact
        else:
            i = others[rng.integers(len(others))]
            line = {k: v for k, v in mutant[i].items() if k not in WORDS}
            kind = "header" if i == 0 else "claims" if "claims" in line else "question"
            key = sorted(line)[rng.integers(len(line))]
            name, mutant[i] = kind, mutant[i] | {key: changed(line[key], rng)}
            if kind == "claims":
                name += f", {_where(lines[i]['claims'][0], mutant[i]['claims'])}"
        if rng.random() < 0.05:
            name, mutant = "a line less", mutant[:i] + mutant[i + 1 :]
        if mutant != lines:
            yield name, write_certificate(mutant)


WORDS = ("words", "program", "reason", "format")
"""What is for people."""


def _where(claim: dict[str, Any], others: Any) -> str:
    """Return the entry of a claim that was changed."""
    if not isinstance(others, list) or len(others) != 1 or not isinstance(others[0], dict):
        return "number"
    return next((k for k in claim if others[0].get(k) != claim[k]), "number")


def header_mutants(lines: Sequence[Any]) -> dict[str, list[Any]]:
    """Return certificates that claim more than was proven, by what was changed."""
    header, *proofs, last = lines
    (claim,), data = last["claims"], header["data"]
    task = claim["task"]

    def of_claim(**changes: Any) -> list[Any]:
        return [header, *proofs, {"claims": [{**claim, **changes}]}]

    def of_task(**changes: Any) -> list[Any]:
        return of_claim(task={**task, **changes})

    def of_header(**changes: Any) -> list[Any]:
        return [{**header, **changes}, *proofs, last]

    def of_data(**changes: Any) -> list[Any]:
        return of_header(data={**data, **changes})

    mutants = {
        "another metric": of_task(metric=[["1", "specificity", {}]]),
        "an unknown metric": of_task(metric=[["1", "goodness", {}]]),
        "minus the metric": of_task(metric=[["-1", *task["metric"][0][1:]]]),
        "other data": of_data(digest="0" * 64),
        "other units": of_data(units=["1/7", "1"]),
        "other names of classes": of_data(classes=data["classes"][::-1]),
        "no questions": [header, last],
        "no covered questions": of_claim(cover=[]),
        "another status": of_claim(status="proven"),
        "infeasible": of_claim(status="infeasible", tree=None),
        "a bound below the tree": of_claim(status="bound", bound=["-1000000"]),
        "a leaf": of_claim(tree=0 if claim["tree"] != 0 else 1),
        "no tree": of_claim(tree=None),
        "no class": of_claim(tree=7),
        "no column": of_claim(tree=[99, 0, 1]),
        "a chain of splits": of_claim(tree=[0, 0, [1, 0, [2, 0, [3, 0, [4, 0, 1]]]]]),
        "not checkable": of_header(checkable=False),
        "another version": of_header(version=4),
        "nothing": [header, *proofs, {"claims": []}],
    }
    if claim["status"] == "infeasible":
        about_value = "minus the metric", "another metric", "a bound below the tree"
        for name in ("infeasible", "no tree", *about_value):
            del mutants[name]
        mutants["looser"] = of_task(
            constraints=[
                [t, s, str(Fraction(b) - Fraction(1, 5))] for t, s, b in task["constraints"]
            ]
        )
    if task["max_depth"] is not None:
        mutants["deeper"] = of_task(max_depth=task["max_depth"] + 1)
        mutants["of any depth"] = of_task(max_depth=None)
    if task["limits"]:
        mutants["without a limit"] = of_task(limits=[])
        mutants["cheaper columns"] = of_task(limits=[[[], "0"]])
    if task["max_splits"] is not None:
        mutants["more splits"] = of_task(max_splits=None)
    elif task["split_penalty"] != "0":
        mutants["cheaper splits"] = of_task(split_penalty=str(Fraction(task["split_penalty"]) / 3))
    if header["leaves"][1]:
        mutants["lighter leaves"] = of_header(leaves=[header["leaves"][0], 1])
    if task["metric"][0][1] == "f_beta":  # others do not change with the classes
        mutants["another positive class"] = of_data(positive=(data["positive"] + 1) % 2)
    for change in (1, -1, -(10**6)):
        for i, line in enumerate(proofs):
            if isinstance(line, dict):
                costs = [[c + change * (c > 0) for c in row] for row in line["costs"]]
                changes = {**line, "costs": costs}
                name = f"question {i} {change:+d}"
                mutants[name] = [header, *proofs[:i], changes, *proofs[i + 1 :], last]
    return mutants
