"""Tasks with certificates, one per family, and certificates with errors put into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import goct
from goct.binarize import Binarizer
from goct.certificate import Writer
from goct.constraints import FeatureBudget, ForbidFeatures, MaxFeatures
from goct.metrics import CostMatrix
from goct.verify.checker import ARRAYS, read_header, read_proofs

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


Arrays = dict[str, Any]


def read_certificate(content: bytes) -> tuple[dict[str, Any], list[Arrays]]:
    """Return the header and the proofs of a certificate."""
    return read_header(content), list(read_proofs(content))


def write_certificate(header: dict[str, Any], proofs: Sequence[Arrays]) -> bytes:
    """Return the content of a certificate."""
    file = BytesIO()
    writer = Writer(file)
    for proof in proofs:
        writer.add(proof)
    writer.finish(header)
    return file.getvalue()


def problem_of(options: dict[str, Any], seed: int = 0) -> goct.Problem:
    """Return a noisy problem for a family of tasks."""
    rng = np.random.default_rng(seed)
    n, n_classes = 90, options.get("classes", 2)
    X = rng.integers(0, 2, (n, 8))
    if options.get("thresholds"):
        X = rng.integers(0, 12, (n, 3))
        y = ((X[:, 0] > 4) ^ (X[:, 1] > 7)) + (rng.random(n) < 0.2)
        binarizer = Binarizer("exact").fit(X, y % n_classes)
        return goct.Problem.from_columns(X, y % n_classes, binarizer=binarizer, pos_label=1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n) < 0.3)) % n_classes
    return goct.Problem.from_arrays(
        X,
        y,
        pos_label=1,
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


def array_mutants(
    content: bytes, rng: np.random.Generator, number: int
) -> Iterator[tuple[str, bytes]]:
    """Yield certificates with an error in some array of some proof, and the array's name."""
    header, proofs = read_certificate(content)
    for _ in range(number):
        changed = [dict(proof) for proof in proofs]
        proof = changed[rng.integers(len(changed))]
        names = [name for name in ARRAYS if len(proof[name])]
        name = names[rng.integers(len(names))]
        array = proof[name].copy()
        place = int(rng.integers(len(array)))
        match rng.integers(5):
            case 0:
                array[place] += 1
            case 1:
                array[place] -= 1 if name != "depth" or array[place] else -1
            case 2:
                array[place] = array[rng.integers(len(array))]
            case 3:
                array = np.delete(array, place)
            case _:
                array[place] ^= 1 << int(rng.integers(7))
        is_byte = name in ("depth", "relaxed")
        if np.array_equal(array, proof[name]) or (is_byte and not (array >= 0).all()):
            continue
        proof[name] = array
        yield name, write_certificate(header, changed)


def header_mutants(header: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return headers that claim more than was proven, by what was changed."""
    task, data = header["task"], header["data"]

    def of_task(**changes: Any) -> dict[str, Any]:
        return {**header, "task": {**task, **changes}}

    def of_data(**changes: Any) -> dict[str, Any]:
        return {**header, "data": {**data, **changes}}

    mutants = {
        "another metric": of_task(metric=[["1", "specificity", {}]]),
        "an unknown metric": of_task(metric=[["1", "goodness", {}]]),
        "minus the metric": of_task(metric=[["-1", *task["metric"][0][1:]]]),
        "other data": of_data(digest="0" * 64),
        "other units": of_data(weight_unit="1/7"),
        "other names of classes": of_data(classes=data["classes"][::-1]),
        "no questions": {**header, "questions": []},
        "another status": {**header, "status": "proven"},
        "infeasible": {**header, "status": "infeasible", "tree": None},
        "a bound below the tree": {**header, "status": "bound", "bound": ["-1000", []]},
        "a leaf": {**header, "tree": 0 if header["tree"] != 0 else 1},
        "no tree": {**header, "tree": None},
        "no class": {**header, "tree": 7},
        "no column": {**header, "tree": [99, 0, 1]},
        "a chain of splits": {**header, "tree": [0, 0, [1, 0, [2, 0, [3, 0, [4, 0, 1]]]]]},
        "not checkable": {**header, "checkable": False},
    }
    if header["status"] == "infeasible":
        for name in ("infeasible", "a bound below the tree", "no tree", "another metric"):
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
        mutants["another cover"] = {**header, "cover": 0}
    if task["max_splits"] is not None:
        mutants["more splits"] = of_task(max_splits=None)
    elif task["split_penalty"] != "0":
        mutants["cheaper splits"] = of_task(split_penalty=str(Fraction(task["split_penalty"]) / 3))
    if task["min_leaf_weight"] != "0":
        mutants["lighter leaves"] = of_task(min_leaf_weight="1")
    if header["questions"] and "a" in header["questions"][0]:
        for key, change in (("a", 1), ("b", 1), ("a", -(10**6))):
            first, *others = header["questions"]
            steeper = {**first, key: first[key] + change}
            mutants[f"question {key} {change:+d}"] = {**header, "questions": [steeper, *others]}
        if header["status"] != "infeasible":  # whose constraints are the same for both classes
            mutants["another positive class"] = of_data(positive=(data["positive"] + 1) % 2)
    return mutants
