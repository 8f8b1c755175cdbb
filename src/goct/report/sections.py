"""What a page says about one tree: what is proven, how good it is, its nodes, its origin."""

from __future__ import annotations

import shlex
from typing import Any

from goct._text import format_weight, one_line, short_fraction
from goct.export.paths import in_words, paths
from goct.metrics import Confusion, Metric, get_metric, is_total
from goct.model import Model, Part, Quantity, Validation
from goct.model.records import Matrix, Weight
from goct.report.caveats import warnings_of
from goct.report.drawing import drawing
from goct.report.intervals import interval_words
from goct.report.view import NodeView, TreeView

MANY_CLASSES = 12  # the largest number of classes whose confusion matrix is shown

_SHOWN_CLASSES = 40
_CLASSES_OF_A_NODE = 10
_METRICS = {
    "recall": "Recall", "specificity": "Specificity", "precision": "Precision",
    "npv": "Negative predictive value", "f1": "F1 score", "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy", "mcc": "MCC",
}  # fmt: skip
_LIMITS = {
    "time": "the time limit was reached",
    "memory": "the memory limit was reached",
    "interrupted": "it was interrupted",
    "nodes": "the node limit was reached",
    "gap": "the tree is as close to the best as was asked for",
}


def sections_of(model: Model, view: TreeView) -> dict[str, Any]:
    """Return what the parts of a page on a tree show."""
    rules = [one_line(in_words(path)) for path in paths(model)]
    return {
        "model": model,
        "view": view,
        "verdict": _verdict(model),
        "warnings": warnings_of(model),
        "tree": drawing(view),
        "details": [_detail(model, view, node, rules[node.number]) for node in view.nodes],
        "rules": [(node, rules[node.number]) for node in view.nodes if node.label is not None],
        "matrices": _matrices(model, view),
        "scores": _scores(model),
        "rivals": _rival_words(model),
    }


def title_of(model: Model) -> str:
    """Return the question that the tree answers."""
    target = model.source.target
    if model.positive is not None:
        label = one_line(str(model.classes[model.positive]))
        return f"When is {one_line(target)} = {label}?" if target else f"When is it {label}?"
    return f"What is {one_line(target)}?" if target else "A decision tree"


def facts_of(model: Model) -> list[tuple[str, str]]:
    """Return where the model comes from, as pairs of a name and a value."""
    source, question, proof = model.source, model.question, model.proof
    rows = f"{format_weight(model.train.total)} for training"
    if model.test is not None:
        rows += f", {format_weight(model.test.total)} held back for the test"
    facts: list[tuple[str, str]] = [
        ("Data", source.file or ""),
        ("Rows", rows),
        ("Columns", "" if source.columns is None else str(source.columns)),
        ("Conditions on them", "" if source.conditions is None else str(source.conditions)),
        ("Goal", f"maximise {question.metric}"),
        ("Largest depth", "any" if question.max_depth is None else str(question.max_depth)),
        ("Most splits", "" if question.max_splits is None else str(question.max_splits)),
        ("Penalty per split", f"{question.split_penalty:g}" if question.split_penalty else ""),
        ("Constraints", ", ".join(question.constraints)),
        ("Certificate", _certificate(model)),
        ("Time", "" if proof.seconds is None else f"{proof.seconds:.2f} s"),
        ("Made", f"{model.created} by goct {model.version}"),
    ]
    return [(name, one_line(value)) for name, value in facts if value]


def _certificate(model: Model) -> str:
    """Return the digest of the proof, and how to check it."""
    if model.certificate is None:
        return "none (goct fit --certificate writes one)"
    name, digest = model.certificate.rsplit(" ", 1)
    command = f"goct verify {shlex.quote(name)} {shlex.quote(model.source.file or 'data.csv')}"
    return f"{digest}, checked by: {command}"


def metric_words(name: str) -> str:
    """Return what people call a metric."""
    known = {**_METRICS, "gmean": "G-mean", "kappa": "Cohen's kappa", "youden": "Youden's J"}
    if is_total(name):
        return "Minus the cost per row" if name.endswith(" per row") else "Minus the cost"
    return known.get(name, name)


def _verdict(model: Model) -> dict[str, Any]:
    """Return what is proven, in numbers and in words."""
    question, proof = model.question, model.proof
    low, high = sorted((proof.objective.value, proof.bound.value))
    return {
        "optimal": proof.status == "optimal",
        "badge": _badge(model),
        "words": _proof_words(model),
        "metric": metric_words(question.metric),
        "about": _about_metric(question.metric),
        "value": _short(model.train.value or proof.objective),
        "exact": short_fraction(model.train.value.exact if model.train.value else None),
        "bound": _short(proof.bound),
        "gap": f"{proof.bound.value - proof.objective.value:.3g}",
        "objective": _short(proof.objective) if question.split_penalty else None,
        "test": None if model.test is None else model.test.value,
        "folds": None if model.validation is None else _fold_words(model.validation),
        "scale": (100 * low, 100 * (high - low)) if low >= 0 and high <= 1 else None,
    }


def _badge(model: Model) -> tuple[str, str]:
    """Return the verdict in two words, and how it looks."""
    if model.proof.status == "optimal":
        return "Proven optimal", "good"
    if model.proof.limit == "none":
        return "A trade between errors", "plain"
    return "Not proven optimal", "open"


def _proof_words(model: Model) -> str:
    """Say in how far no other tree is better."""
    question, proof = model.question, model.proof
    trees = _trees_in_words(model)
    if proof.status == "optimal":
        aim = f"has a higher {metric_words(question.metric)}"
        if is_total(question.metric):
            aim = "costs less"
        if question.split_penalty:
            aim = "has a higher objective (metric minus penalty)"
        words = (
            f"No {trees} {aim} on the training data. That is not an estimate: the "
            "search has ruled out every other tree, in exact arithmetic."
        )
        rounded = " Weights were rounded, and the proof holds for the rounded ones."
        return words if proof.is_exact else words + rounded
    if proof.limit == "none":
        return (
            f"This tree was chosen for its trade between the two kinds of error, not for "
            f"{question.metric} alone. It reaches {_short(proof.objective)}, and it is proven that "
            f"no {trees} reaches more than {_short(proof.bound)}."
        )
    return (
        "The search stopped before the end because "
        f"{_LIMITS.get(proof.limit, 'its precision ended')}. This tree reaches "
        f"{_short(proof.objective)}; it is proven that no {trees} reaches more than "
        f"{_short(proof.bound)}. A better tree may exist, but it gains "
        f"{proof.bound.value - proof.objective.value:.3g} at most."
    )


def _trees_in_words(model: Model) -> str:
    """Return which trees were asked for."""
    question = model.question
    any_depth = question.max_depth is None
    trees = "tree of any depth" if any_depth else f"tree of depth {question.max_depth} or less"
    if question.max_splits is not None:
        splits = "1 split" if question.max_splits == 1 else f"{question.max_splits} splits"
        trees += f" with at most {splits}"
    leaves = [text for text in question.constraints if text.startswith("leaves of ")]
    others = [text for text in question.constraints if text not in leaves]
    if leaves:
        joint = " and " if question.max_splits is not None else " with "
        trees += joint + " and ".join(leaves)
    if model.source.conditions is not None:
        trees += f" over these {model.source.conditions} conditions"
    return trees + (f" that keeps {' and '.join(others)}" if others else "")


def _fold_words(validation: Validation) -> dict[str, str] | None:
    """Return what to expect of new rows, or what trees of this size reach on rows held back."""
    folds = f"{validation.n_folds} folds" if validation.n_folds > 1 else "1 fold"
    score = metric_words(validation.score)
    name, number, error = f"{score} to expect", validation.estimate, None
    words = f"on new rows, by {folds}"
    if number is not None:
        error = validation.estimate_error
    else:
        number, error = validation.mean, validation.error
        name, words = f"{score}, rows held back", f"of trees of this size, by {folds}"
    if number is None:
        return None
    spread = f"±\u00a0{error:.4f} " if error is not None and validation.n_folds > 1 else ""
    return {"name": name, "value": f"{number:.4f}", "words": spread + words}


def _short(quantity: Quantity) -> str:
    return f"{quantity.value:.4f}" if abs(quantity.value) < 100 else f"{quantity.value:.6g}"


def _about_metric(name: str) -> str:
    try:
        return (type(get_metric(name)).__doc__ or "").strip().splitlines()[0]
    except (ValueError, IndexError):
        return ""


def _detail(model: Model, view: TreeView, node: NodeView, rule: str) -> dict[str, Any]:
    """Return what is shown of a node when it is chosen; of many classes the most frequent."""
    parts = [("training", model.train)] + ([("test", model.test)] if model.test else [])
    columns = []
    for name, part in parts:
        counts = part.counts[node.number]
        order = list(range(len(counts)))
        if len(order) > MANY_CLASSES:
            order = sorted(order, key=lambda k: -counts[k])[:_CLASSES_OF_A_NODE]
        columns.append(
            {
                "name": name,
                "counts": [(k, counts[k]) for k in order],
                "n_others": len(counts) - len(order),
                "others": sum(counts) - sum(counts[k] for k in order),
                "total": sum(counts),
                "whole": part.total,
            }
        )
    return {
        "node": node,
        "rule": rule,
        "columns": columns,
        "path": " ".join(map(str, view.path(node.number))),
    }


def _matrices(model: Model, view: TreeView) -> list[dict[str, Any]]:
    """Return the confusion matrix of each part of the data; of many classes, how each one fares."""
    parts: list[tuple[str, Part]] = [("Training data", model.train)]
    if model.test is not None:
        parts.append(("Test data", model.test))
    found = []
    for name, part in parts:
        matrix, labels = model.confusion_matrix(part), list(enumerate(view.classes))
        confusion = model.confusion(part)
        if view.one_vs_rest and confusion is not None and view.positive is not None:
            c, k = confusion, view.positive
            other = 0 if k else 1
            matrix = ((c.tn, c.fp), (c.fn, c.tp))
            labels = [(other, f"not {view.classes[k]}"), (k, view.classes[k])]
        few = len(labels) <= MANY_CLASSES
        found.append(
            {
                "name": name,
                "total": part.total,
                "labels": labels,
                "rows": _cells(matrix) if few else None,
                "by_class": None if few else _by_class(matrix, view.classes),
                "left_out": 0 if few else max(len(labels) - _SHOWN_CLASSES, 0),
            }
        )
    return found


def _cells(matrix: Matrix) -> list[list[tuple[Weight, bool, int, Weight]]]:
    """Return each entry, whether it is right, its shade, and the sum of its row."""
    rows = []
    for i, row in enumerate(matrix):
        total = sum(row)
        shades = [round(10 * float(entry / total)) if total else 0 for entry in row]
        rows.append([(entry, i == j, shades[j], total) for j, entry in enumerate(row)])
    return rows


def _by_class(matrix: Matrix, classes: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return how the rows of each class fare, most rows first."""
    rows: list[dict[str, Any]] = []
    for k, row in enumerate(matrix):
        wrong = [entry if j != k else 0 for j, entry in enumerate(row)]
        worst = max(range(len(row)), key=lambda j: wrong[j])
        rows.append(
            {
                "place": k,
                "total": sum(row),
                "right": row[k],
                "predicted": sum(other[k] for other in matrix),
                "taken_for": (classes[worst], wrong[worst]) if wrong[worst] else None,
            }
        )
    return sorted(rows, key=lambda entry: -entry["total"])[:_SHOWN_CLASSES]


def _scores(model: Model) -> dict[str, Any]:
    """Return a table of metrics: rows are metrics, columns are trees and parts of the data."""
    columns: list[tuple[str, str, Matrix, Quantity | None]] = [
        ("This tree", "train", model.confusion_matrix(), model.train.value)
    ]
    if model.test is not None:
        columns.append(("This tree", "test", model.confusion_matrix(model.test), model.test.value))
    for rival in model.rivals:
        columns.append((rival.name, "train", rival.train, rival.train_value))
        if rival.test is not None:
            columns.append((rival.name, "test", rival.test, rival.test_value))
    rows: list[dict[str, Any]] = []
    asked = model.question.metric
    if model.positive is None or asked not in _METRICS:
        values = [None if c[3] is None else c[3].value for c in columns]
        rows.append(_score_row(metric_words(asked), values, goal=True))
    if model.positive is not None:
        confusions = [Confusion.of_matrix(matrix, model.positive) for _, _, matrix, _ in columns]
        for name, words in _METRICS.items():
            values = [_value(get_metric(name), confusion) for confusion in confusions]
            ranges = [
                interval_words(*_counted(name, confusion)) if part == "test" else ""
                for (_, part, _, _), confusion in zip(columns, confusions, strict=True)
            ]
            rows.append(_score_row(words, values, ranges, goal=name == asked))
    elif asked != "accuracy":
        rows.append(_score_row("Accuracy", [_accuracy(c[2]) for c in columns], goal=False))
    rows.sort(key=lambda row: not row["goal"])
    return {"columns": [(name, part) for name, part, _, _ in columns], "rows": rows}


def _score_row(
    name: str, values: list[float | None], ranges: list[str] | None = None, *, goal: bool
) -> dict[str, Any]:
    cells = [
        (None, None, "")
        if value is None
        else (f"{value:.4f}", round(100 * value, 1) if 0 <= value <= 1 else None, interval)
        for value, interval in zip(values, ranges or [""] * len(values), strict=True)
    ]
    return {"name": name, "cells": cells, "goal": goal}


def _counted(metric: str, confusion: Confusion) -> tuple[Weight, Weight]:
    """Return the rows that a metric counts, and out of how many; nothing if it is no share."""
    c = confusion
    counted: dict[str, tuple[Weight, Weight]] = {
        "recall": (c.tp, c.n_pos),
        "specificity": (c.tn, c.n_neg),
        "precision": (c.tp, c.tp + c.fp),
        "npv": (c.tn, c.tn + c.fn),
        "accuracy": (c.tp + c.tn, c.n_pos + c.n_neg),
    }
    return counted.get(metric, (0, 0))


def _value(metric: Metric, confusion: Confusion) -> float | None:
    is_defined = bool(confusion.n_pos) and bool(confusion.n_neg)
    return float(metric.value(confusion)) if is_defined else None


def _accuracy(matrix: Matrix) -> float | None:
    total = sum(map(sum, matrix))
    return float(sum(matrix[k][k] for k in range(len(matrix))) / total) if total else None


def _rival_words(model: Model) -> list[dict[str, Any]]:
    """Return what there is to say about each rival."""
    found = []
    for rival in model.rivals:
        sentences = []
        for part, ours, theirs in (
            ("training", model.train.value, rival.train_value),
            ("test", model.test.value if model.test else None, rival.test_value),
        ):
            if ours is None or theirs is None:
                continue
            difference = ours.value - theirs.value
            if abs(difference) < 5e-5:
                words = f"both have the same {metric_words(model.question.metric)}"
            else:
                how = "more" if difference > 0 else "less"
                words = f"this tree has {abs(difference):.4f} {how}"
            sentences.append(f"on the {part} data {words}")
        if rival.broken:
            sentences.append(f"but {rival.name} does not keep {' and '.join(rival.broken)}")
        text = "; ".join(sentences)
        found.append({"rival": rival, "words": text[:1].upper() + text[1:]})
    return found
