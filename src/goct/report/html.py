"""A report on a model: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from goct._text import format_weight, one_line
from goct.export.colours import class_colours
from goct.export.paths import in_words, paths
from goct.files import atomic_write
from goct.metrics import Confusion, Metric, get_metric
from goct.model import Model, Part, Quantity
from goct.model.records import Matrix, Weight
from goct.report.caveats import warnings_of
from goct.report.intervals import interval_words
from goct.report.view import NodeView, TreeView, view_of, wrapped

# Pixels: the pitch of columns, the size of boxes, and the space around the tree.
_COLUMN, _WIDTH, _HEIGHT, _MARGIN = 236, 178, 50, 14
_LETTERS = 22
_WIDEST_LINE = 15
_METRICS = {
    "recall": "Recall",
    "specificity": "Specificity",
    "precision": "Precision",
    "f1": "F1 score",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
}
_FILES = Path(__file__).parent


def write_report(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a report on a model to an HTML file, whole or not at all.

    Parameters
    ----------
    model
        The model.
    path
        The file.
    """
    text = report_html(model)
    with atomic_write(path) as file:
        file.write(text)


def report_html(model: Model) -> str:
    """Return a report on a model as HTML.

    The page holds the tree to click on, what is proven, the confusion matrices
    and the comparison with other classifiers. It loads nothing from elsewhere,
    and its content security policy would forbid it.
    """
    view = view_of(model)
    parts = parts_of(model, view)
    style = read_source("report.css") + class_style(view)
    # On a narrow screen a deep tree is scrolled, so that it stays readable.
    style += f"\n#tree{{min-width:{11 * (view.depth + 1)}rem}}@media print{{#tree{{min-width:0}}}}"
    script = read_source("tree.js") + read_source("report.js")
    text: str = template("report.html.j2").render(
        model=model,
        view=view,
        title=title_of(model),
        **parts,
        warnings=warnings_of(model),
        facts=facts_of(model),
        verdict=_verdict(model),
        scores=_scores(model),
        rivals=_rival_words(model),
        style=Markup(style),
        script=Markup(script),
        style_hash=source_hash(style),
        script_hash=source_hash(script),
    )
    return text


def parts_of(model: Model, view: TreeView) -> dict[str, Any]:
    """Return what the parts of a page on a tree show: the drawing, its nodes, rules, matrices."""
    rules = [one_line(in_words(path)) for path in paths(model)]
    return {
        "tree": _drawing(view),
        "details": [_detail(model, view, node, rules[node.number]) for node in view.nodes],
        "rules": [(node, rules[node.number]) for node in view.nodes if node.label is not None],
        "matrices": _matrices(model),
    }


def class_style(view: TreeView) -> str:
    """Return the style that gives every class its colour."""
    colours = class_colours(len(view.classes), view.positive)
    return "\n".join(f".k{k}{{--class:{colour.strong}}}" for k, colour in enumerate(colours))


def read_source(name: str) -> str:
    """Return a style or a script of this package."""
    return (_FILES / name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Any:
    """Return a template of this package; what it shows is escaped."""
    environment = Environment(
        loader=PackageLoader("goct", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["weight"] = format_weight
    environment.filters["percent"] = _percent
    environment.filters["interval"] = interval_words
    return environment.get_template(name)


def source_hash(text: str) -> str:
    """Return the hash of a style or a script, as a content security policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _percent(part: Weight, total: Weight) -> str:
    return f"{100 * float(part / total):.3g} %" if total else "–"


def title_of(model: Model) -> str:
    """Return the question that the tree answers."""
    target = model.source.target
    if model.positive is not None:
        label = one_line(str(model.classes[model.positive]))
        return f"When is {one_line(target)} = {label}?" if target else f"When is it {label}?"
    return f"What is {one_line(target)}?" if target else "A decision tree"


@dataclass(frozen=True)
class _Box:
    """A node of the drawing."""

    node: NodeView
    x: float
    y: float
    height: float
    lines: list[str]
    note: str
    bars: list[tuple[int, float, float]]
    about: str


@dataclass(frozen=True)
class _Line:
    """The line from a node's parent to the node."""

    number: int
    curve: str
    width: float
    x: float
    y: float
    word: str


@dataclass(frozen=True)
class _Drawing:
    """The tree in pixels."""

    width: float
    height: float
    box_width: float
    boxes: list[_Box]
    lines: list[_Line]


def _drawing(view: TreeView) -> _Drawing:
    pitch = 74 if view.n_leaves <= 10 else 62
    place = {
        node.number: (
            _MARGIN + _COLUMN * node.depth,
            _MARGIN + _HEIGHT / 2 + pitch * node.row,
        )
        for node in view.nodes
    }
    whole = view.nodes[0].total
    boxes, lines = [], []
    for node in view.nodes:
        x, y = place[node.number]
        bars, at = [], 0.0
        for k, count in enumerate(node.counts):
            part = (_WIDTH - 20) * float(count / node.total) if node.total else 0.0
            bars.append((k, round(x + 10 + at, 2), round(part, 2)))
            at += part
        if node.label is None:
            text = wrapped(f"{node.question}?", _LETTERS)
            note = ""
            about = f"{node.question}? Asked of {format_weight(node.total)} rows."
        else:
            text = wrapped(view.predicts(node), _LETTERS - 3, lines=1)
            note = view.right(node)
            about = f"Predict {view.predicts(node)}: {note}."
        boxes.append(_Box(node, x, y, _HEIGHT, text, note, bars, about))
        if node.parent is not None:
            x0, y0 = place[node.parent]
            start, middle = x0 + _WIDTH, (x0 + _WIDTH + x) / 2
            share = float(node.total / whole) if whole else 0.0
            lines.append(
                _Line(
                    node.number,
                    f"M{start:g} {y0:g}C{middle:g} {y0:g} {middle:g} {y:g} {x:g} {y:g}",
                    round(1.5 + (_WIDEST_LINE - 1.5) * share, 1),
                    x - 8,
                    y + (19 if node.answer else -11),
                    "yes" if node.answer else "no",
                )
            )
    height = 2 * _MARGIN + _HEIGHT + pitch * (view.n_leaves - 1)
    width = 2 * _MARGIN + _WIDTH + _COLUMN * view.depth
    return _Drawing(width, height, _WIDTH, boxes, lines)


def _detail(model: Model, view: TreeView, node: NodeView, rule: str) -> dict[str, Any]:
    """Return what is shown of a node when it is chosen."""
    parts = [("training", model.train)] + ([("test", model.test)] if model.test else [])
    columns = []
    for name, part in parts:
        counts = part.counts[node.number]
        columns.append({"name": name, "counts": counts, "total": sum(counts), "whole": part.total})
    return {
        "node": node,
        "rule": rule,
        "columns": columns,
        "path": " ".join(map(str, view.path(node.number))),
    }


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


def _matrices(model: Model) -> list[dict[str, Any]]:
    parts: list[tuple[str, Part]] = [("Training data", model.train)]
    if model.test is not None:
        parts.append(("Test data", model.test))
    found = []
    for name, part in parts:
        matrix = model.confusion_matrix(part)
        rows = []
        for i, row in enumerate(matrix):
            total = sum(row)
            shades = [round(10 * float(entry / total)) if total else 0 for entry in row]
            rows.append([(entry, i == j, shades[j], total) for j, entry in enumerate(row)])
        found.append({"name": name, "rows": rows, "total": part.total})
    return found


def _verdict(model: Model) -> dict[str, Any]:
    """Return what is proven, in numbers and in words."""
    question, proof = model.question, model.proof
    any_depth = question.max_depth is None
    trees = "tree of any depth" if any_depth else f"tree of depth {question.max_depth} or less"
    if question.max_splits is not None:
        trees += f" with at most {question.max_splits} splits"
    if model.source.conditions is not None:
        trees += f" over these {model.source.conditions} conditions"
    if question.constraints:
        trees += f" that keeps {' and '.join(question.constraints)}"
    aim = question.metric if not question.split_penalty else "objective (metric minus penalty)"
    optimal = proof.status == "optimal"
    gap = proof.bound.value - proof.objective.value
    if optimal:
        words = (
            f"No {trees} has a higher {aim} on the training data. That is not an estimate: the "
            "search has ruled out every other tree, in exact arithmetic."
        )
        if not proof.is_exact:
            words += " Weights were rounded, and the proof holds for the rounded ones."
    elif proof.limit == "none":
        words = (
            f"This tree was chosen for its trade between the two kinds of error, not for "
            f"{question.metric} alone. It reaches {_short(proof.objective)}, and it is proven that "
            f"no {trees} reaches more than {_short(proof.bound)}."
        )
    else:
        why = {
            "time": "the time limit was reached",
            "memory": "the memory limit was reached",
            "interrupted": "it was interrupted",
            "nodes": "the node limit was reached",
            "gap": "the tree is as close to the best as was asked for",
        }.get(proof.limit, "its precision ended")
        words = (
            f"The search stopped before the end because {why}. This tree reaches "
            f"{_short(proof.objective)}; it is proven that no {trees} reaches more than "
            f"{_short(proof.bound)}. A better tree may exist, but it gains {gap:.3g} at most."
        )
    low, high = sorted((proof.objective.value, proof.bound.value))
    inside = low >= 0 and high <= 1
    return {
        "optimal": optimal,
        "words": words,
        "metric": question.metric,
        "about": _about_metric(question.metric),
        "value": _short(model.train.value or proof.objective),
        "exact": None if model.train.value is None else model.train.value.exact,
        "bound": _short(proof.bound),
        "gap": f"{gap:.3g}",
        "objective": _short(proof.objective) if question.split_penalty else None,
        "test": None if model.test is None or model.test.value is None else model.test.value,
        "scale": (100 * low, 100 * (high - low)) if inside else None,
    }


def _short(quantity: Quantity) -> str:
    return f"{quantity.value:.4f}" if abs(quantity.value) < 100 else f"{quantity.value:.6g}"


def _about_metric(name: str) -> str:
    try:
        return (type(get_metric(name)).__doc__ or "").strip().splitlines()[0]
    except (ValueError, IndexError):
        return ""


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
        rows.append(_score_row(asked, values, goal=True))
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
    match metric:
        case "recall":
            return c.tp, c.n_pos
        case "specificity":
            return c.tn, c.n_neg
        case "precision":
            return c.tp, c.tp + c.fp
        case "accuracy":
            return c.tp + c.tn, c.n_pos + c.n_neg
    return 0, 0


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
                words = f"both have the same {model.question.metric}"
            else:
                how = "more" if difference > 0 else "less"
                words = f"this tree has {abs(difference):.4f} {how}"
            sentences.append(f"on the {part} data {words}")
        if rival.broken:
            sentences.append(f"but {rival.name} does not keep {' and '.join(rival.broken)}")
        text = "; ".join(sentences)
        found.append({"rival": rival, "words": text[:1].upper() + text[1:]})
    return found
