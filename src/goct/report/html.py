"""The page on a tree, or on all trees worth a look: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from goct._text import format_weight, one_line
from goct.constraints import MetricConstraint, get_constraint
from goct.export import export_python, export_rules, export_sql
from goct.export.colours import class_colours
from goct.export.paths import paths
from goct.files import atomic_write
from goct.metrics import Confusion, Shape, get_metric
from goct.model import Model, Part
from goct.model.records import Weight
from goct.report.charts import points_chart, size_chart
from goct.report.exploration import KNOWN_METRICS, Exploration, Size
from goct.report.intervals import interval_words, wilson
from goct.report.per_row import per_row, rival_per_row
from goct.report.sections import facts_of, sections_of, title_of
from goct.report.view import TreeView, view_of

MAX_BYTES = 4_800_000  # the largest page

_SHOWN_CLASSES = 24
_FILES = Path(__file__).parent
_SCRIPTS = ("tree.js", "metrics.js", "choice.js", "what_if.js", "page.js")
_DOWNLOADS = {"rules": export_rules, "sql": export_sql, "python": export_python}


def write_report(source: Model | Exploration, path: str | os.PathLike[str]) -> None:
    """Write a report to an HTML file, whole or not at all.

    Parameters
    ----------
    source
        A model, or what :func:`goct.explore.explore` returns: then the page has all of these
        trees, and shows one of them.
    path
        The file.
    """
    text = report_html(source)
    with atomic_write(path) as file:
        file.write(text)


def report_html(source: Model | Exploration) -> str:
    """Return a report as HTML.

    The page holds the tree to click on, what is proven, the confusion matrices and the
    comparison with other classifiers; a form to send a row through the tree, and downloads.
    It loads nothing from elsewhere, and its content security policy would forbid it. If it were
    larger than 5 MB, trees are left out, and the page says so.

    Raises
    ------
    ValueError
        If the page of one tree is too large even so.
    """
    whole = source if isinstance(source, Exploration) else Exploration.of(source)
    made: dict[int, dict[str, Any]] = {}
    for exploration in whole.reduced():
        text = _page(exploration, made)
        if (size := len(text.encode())) <= MAX_BYTES:
            return text
    raise ValueError(f"the report would have {size >> 20} MB; use shorter names")


def _page(exploration: Exploration, made: dict[int, dict[str, Any]]) -> str:
    """Return a page, given what is known of some of its trees, by their ids."""
    for model in exploration.models:
        if id(model) not in made:
            made[id(model)] = _tree_data(model)
    model = exploration.models[exploration.shown]
    view = view_of(model)
    style = _read("report.css") + _style_of(view)
    script = '"use strict";\n{\n' + "\n".join(map(_read, _SCRIPTS)) + "}\n"  # names of their own
    trees = [made[id(tree)] for tree in exploration.models]
    data = json.dumps(_data(exploration, trees), separators=(",", ":"), allow_nan=False)
    sizes, first = exploration.sizes, exploration.sizes[exploration.start]
    chart = size_chart(exploration)
    has_points = any(size.points for size in sizes)
    text: str = _template("page.html.j2").render(
        model=model,
        view=view,
        classes=view.classes[:_SHOWN_CLASSES],
        title=title_of(model),
        shown={name: Markup(html) for name, html in made[id(model)]["html"].items()},
        exploration=exploration,
        sizes_svg=None if chart is None else _chart(chart),
        points_svg=_chart(points_chart(exploration, first, is_roc=True)) if has_points else None,
        data=base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode(),
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    return text


def _style_of(view: TreeView) -> str:
    """Return the style of what is numbered: classes, shades of cells, and depths of trees."""
    colours = class_colours(len(view.classes), view.positive)
    rules = [f".k{k}{{--class:{colour.strong}}}" for k, colour in enumerate(colours)]
    rules += [f".matrix .s{k}{{--shade:{4 * k}%}}" for k in range(1, 11)]
    # On a narrow screen a deep tree is scrolled, so that it stays readable.
    rules += [f"#tree.d{depth}{{min-width:{11 * (depth + 1)}rem}}" for depth in range(11)]
    return "\n".join(rules)


@cache
def _read(name: str) -> str:
    """Return a style or a script of this package."""
    return (_FILES / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
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


def _hash(text: str) -> str:
    """Return the hash of a style or a script, as a content security policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _percent(part: Weight, total: Weight) -> str:
    return f"{100 * float(part / total):.3g} %" if total else "–"


def _chart(chart: Any) -> Markup:
    return Markup(_template("parts.html.j2").module.chart_part(chart))


def _data(exploration: Exploration, trees: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the scripts of the page need to know."""
    model = exploration.models[exploration.shown]
    validation = model.validation
    return {
        "classes": [one_line(str(label)) for label in model.classes],
        "positive": model.positive,
        "metric": one_line(per_row(model).question.metric),
        "onHull": _shape_of(model) in (Shape.LINEAR, Shape.FRACTIONAL, Shape.QUASICONVEX),
        "onFront": _shape_of(model) is not Shape.GENERAL,
        "keep": ", ".join(_limits(model)),
        "start": exploration.start,
        "sizes": [_size_data(exploration, size) for size in exploration.sizes],
        "trees": trees,
        "rows": [dict(row) for row in exploration.rows],
        "folds": None
        if validation is None
        else {"means": validation.means, "errors": validation.errors, "n": validation.n_folds},
    }


def _shape_of(model: Model) -> Shape:
    """Return what is known of the metric: whether a best tree is on the hull, or on the front."""
    try:
        metric = get_metric(model.question.metric)
    except ValueError:  # of the user's own
        return Shape.GENERAL
    return metric.shape if metric.is_monotone else Shape.GENERAL


def _limits(model: Model) -> list[str]:
    """Return the constraints that the model had to keep, as far as the page can tell of others."""
    found = []
    for text in model.question.constraints:
        try:
            constraint = get_constraint(text)
        except ValueError:  # of another kind
            continue
        if isinstance(constraint, MetricConstraint) and constraint.metric.name in KNOWN_METRICS:
            found.append(one_line(text))
    return found


def _size_data(exploration: Exploration, size: Size) -> dict[str, Any]:
    rival, charts = size.rival, None
    if size.points:
        charts = {
            name: _chart(points_chart(exploration, size, is_roc=name == "roc"))
            for name in ("roc", "pr")
        }
    cart = None
    if rival is not None and rival.train_value is not None:
        cells = None
        if (positive := exploration.models[0].positive) is not None:
            cells = _cells(Confusion.of_matrix(rival.train, positive))
        rival = rival_per_row(rival, exploration.models[0].question.metric)
        assert rival.train_value is not None
        cart = {"splits": rival.splits, "value": rival.train_value.value, "cells": cells}
    return {
        "splits": size.splits,
        "best": size.best,
        "points": size.points,
        "hull": size.hull,
        "proven": size.is_proven,
        "hasHull": size.has_hull,
        "hasFront": size.has_front,
        "cart": cart,
        "charts": charts,
    }


def _tree_data(model: Model) -> dict[str, Any]:
    """Return the parts of the page on a tree, and what it takes to choose and to use it."""
    downloads = {"model": model.to_json()}
    for name, export in _DOWNLOADS.items():
        try:
            downloads[name] = export(model)
        except ValueError as error:  # a name that the language cannot write
            downloads[name] = f"-- not possible: {error}"
    parts, shown = _template("parts.html.j2").module, per_row(model)
    sections = sections_of(shown, view_of(model))
    return {
        "html": {
            "verdict": parts.verdict_part(sections),
            "shown": parts.shown_part(sections),
            "facts": parts.facts_part(facts_of(model)),
        },
        "splits": model.tree.splits,
        "depth": model.tree.depth,
        "value": shown.train.number,
        "train": _errors(model, model.train),
        "tested": _errors(model, model.test),
        "downloads": downloads,
        **_routing(model),
    }


def _errors(model: Model, part: Part | None) -> list[float] | None:
    """Return tp, fp, fn, tn of the positive class."""
    found = None if part is None else model.confusion(part)
    return None if found is None else _cells(found)


def _cells(confusion: Confusion) -> list[float]:
    return [float(c) for c in (confusion.tp, confusion.fp, confusion.fn, confusion.tn)]


def _routing(model: Model) -> dict[str, Any]:
    """Return what it takes to send a row through the tree."""
    view = view_of(model)
    place = {condition: i for i, condition in enumerate(model.conditions)}
    leaves = {}
    for node, path in zip(view.nodes, paths(model), strict=True):
        if node.label is None:
            continue
        right = view.n_right(node)
        leaves[node.number] = {
            "predicts": view.predicts(node),
            "right": float(right),
            "total": float(node.total),
            "interval": wilson(right, node.total),
            "clauses": [
                {
                    "column": clause.column,
                    "words": one_line(clause.words),
                    "met": [place[c] for c in clause.met],
                    "unmet": [place[c] for c in clause.unmet],
                }
                for clause in path
            ],
        }
    columns = {
        name: {
            "kind": column.kind,
            "levels": None if column.levels is None else [str(level) for level in column.levels],
        }
        for name, column in model.columns.items()
    }
    return {
        "nodes": model.tree.to_dict()["nodes"],
        "leaves": leaves,
        "columns": columns,
        "conditions": [condition.to_dict() for condition in model.conditions],
    }
