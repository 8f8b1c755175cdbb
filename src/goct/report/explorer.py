"""A page to choose a tree by: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from goct._text import one_line
from goct.export import export_python, export_rules, export_sql
from goct.export.paths import paths
from goct.files import atomic_write
from goct.model import Model
from goct.report.html import (
    class_style,
    facts_of,
    parts_of,
    read_source,
    source_hash,
    template,
    title_of,
)
from goct.report.intervals import wilson
from goct.report.view import view_of
from goct.tree import Leaf, NodeCounts, Tree

MAX_BYTES = 4_800_000
"""The largest page."""

_DOWNLOADS = {"rules": export_rules, "sql": export_sql, "python": export_python}


@dataclass(frozen=True)
class Greedy:
    """CART's tree of a size.

    Attributes
    ----------
    splits
        Its number of splits.
    values
        The metric on the training data and, if there is some, on the test data.
    counts
        The weight of each class at its nodes, for each of these.
    tree
        The tree.
    """

    splits: int
    values: tuple[float | None, ...]
    counts: tuple[NodeCounts, ...]
    tree: Tree


@dataclass(frozen=True)
class Size:
    """The trees with at most so many splits.

    Attributes
    ----------
    splits
        The number of splits.
    best
        The place of the tree that is best for the metric.
    points, hull
        The places of the trees that no other beats in both kinds of error, from the
        largest recall on, and of those on the hull.
    is_proven
        Whether `best` is proven to be the best.
    has_hull, has_front
        Whether the hull is complete, and whether `points` are.
    validation
        The mean and the standard error of the metric over folds, if there are some.
    greedy
        CART's tree of this size.
    """

    splits: int
    best: int
    points: tuple[int, ...]
    hull: tuple[int, ...]
    is_proven: bool
    has_hull: bool
    has_front: bool
    validation: tuple[float, float] | None
    greedy: Greedy


@dataclass(frozen=True)
class Exploration:
    """All trees worth a look.

    Attributes
    ----------
    models
        The trees.
    sizes
        Which of them are best for their size, and at which operating points.
    rows
        Some rows of the data to try the trees on, by column.
    n_folds
        The number of folds of the validation; 0 if there was none.
    n_left_out
        How many trees inside the hull are left out, so that the page stays small.
    """

    models: tuple[Model, ...]
    sizes: tuple[Size, ...]
    rows: tuple[Mapping[str, Any], ...] = ()
    n_folds: int = 0
    n_left_out: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether the best tree of every size is proven, and every hull."""
        return all(s.is_proven and (s.has_hull or not s.points) for s in self.sizes)

    def without_inner_points(self) -> Exploration:
        """Return the trees on the hulls only."""
        sizes = [replace(size, points=size.hull, has_front=False) for size in self.sizes]
        kept = sorted({place for size in sizes for place in (size.best, *size.hull)})
        new = {place: i for i, place in enumerate(kept)}
        return replace(
            self,
            models=tuple(self.models[place] for place in kept),
            sizes=tuple(
                replace(
                    size,
                    best=new[size.best],
                    points=tuple(new[p] for p in size.points),
                    hull=tuple(new[p] for p in size.hull),
                )
                for size in sizes
            ),
            n_left_out=len(self.models) - len(kept),
        )


def write_explorer(exploration: Exploration, path: str | os.PathLike[str]) -> None:
    """Write a page to choose a tree by to an HTML file, whole or not at all.

    Parameters
    ----------
    exploration
        The trees.
    path
        The file.
    """
    text = explorer_html(exploration)
    with atomic_write(path) as file:
        file.write(text)


def explorer_html(exploration: Exploration) -> str:
    """Return a page to choose a tree by as HTML.

    The page loads nothing from elsewhere, and its content security policy would forbid it. If it
    were larger than 5 MB, trees inside the hulls are left out, and the page says so.

    Raises
    ------
    ValueError
        If the page is too large even so.
    """
    text = _page(exploration)
    if len(text.encode()) > MAX_BYTES:
        text = _page(exploration.without_inner_points())
    if len(text.encode()) > MAX_BYTES:
        raise ValueError(
            f"the page would have {len(text.encode()) >> 20} MB; look at fewer splits or rows"
        )
    return text


def _page(exploration: Exploration) -> str:
    model = exploration.models[exploration.sizes[-1].best]
    view = view_of(model)
    style = read_source("report.css") + read_source("explorer.css") + class_style(view)
    script = read_source("tree.js") + read_source("explorer.js")
    data = json.dumps(_data(exploration), separators=(",", ":"), allow_nan=False)
    packed = base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode()
    facts = [entry for entry in facts_of(model) if entry[0] != "Most splits"]
    text: str = template("explorer.html.j2").render(
        model=model,
        view=view,
        title=title_of(model),
        facts=facts,
        exploration=exploration,
        has_points=any(size.points for size in exploration.sizes),
        data=packed,
        style=Markup(style),
        script=Markup(script),
        style_hash=source_hash(style),
        script_hash=source_hash(script),
    )
    return text


def _data(exploration: Exploration) -> dict[str, Any]:
    first = exploration.models[0]
    return {
        "classes": [one_line(str(label)) for label in first.classes],
        "positive": first.positive,
        "metric": one_line(first.question.metric),
        "sizes": [_size_data(size, first.positive) for size in exploration.sizes],
        "trees": [_tree_data(model) for model in exploration.models],
        "rows": [dict(row) for row in exploration.rows],
        "folds": exploration.n_folds,
    }


def _size_data(size: Size, positive: int | None) -> dict[str, Any]:
    greedy = size.greedy
    curves = None
    if positive is not None:
        curves = [
            _curve(greedy.tree, counts, greedy.counts[0], positive) for counts in greedy.counts
        ]
    return {
        "splits": size.splits,
        "best": size.best,
        "points": size.points,
        "hull": size.hull,
        "proven": size.is_proven,
        "hasHull": size.has_hull,
        "hasFront": size.has_front,
        "validation": size.validation,
        "cart": {"splits": greedy.splits, "values": greedy.values, "curves": curves},
    }


def _curve(
    tree: Tree, counts: NodeCounts, learned: NodeCounts, positive: int
) -> list[tuple[float, float]]:
    """Return the ROC curve of a tree: its leaves in the order of the training shares.

    Each point is (false positives, true positives).
    """
    leaves = [i for i, node in enumerate(tree.nodes()) if isinstance(node, Leaf)]

    def share(place: int) -> float:
        total = sum(learned[place])
        return float(learned[place][positive] / total) if total else 0.0

    curve, fp, tp = [(0.0, 0.0)], 0.0, 0.0
    for place in sorted(leaves, key=share, reverse=True):
        tp += float(counts[place][positive])
        fp += float(sum(counts[place]) - counts[place][positive])
        curve.append((fp, tp))
    return curve


def _tree_data(model: Model) -> dict[str, Any]:
    view = view_of(model)
    html: str = template("explorer_tree.html.j2").render(
        model=model, view=view, **parts_of(model, view)
    )
    downloads = {"model": model.to_json()}
    for name, export in _DOWNLOADS.items():
        try:
            downloads[name] = export(model)
        except ValueError as error:  # a name that the language cannot write
            downloads[name] = f"-- not possible: {error}"
    return {
        "html": html,
        "splits": model.tree.splits,
        "depth": model.tree.depth,
        "value": None if model.train.value is None else model.train.value.value,
        "bound": model.proof.bound.value,
        "test": None if model.test is None or model.test.value is None else model.test.value.value,
        "train": _counts(model, None),
        "tested": None if model.test is None else _counts(model, model.test),
        "downloads": downloads,
        **_routing(model),
    }


def _counts(model: Model, part: Any) -> dict[str, Any]:
    """Return the confusion matrix of the positive class, and the share that is right."""
    matrix = model.confusion_matrix(part)
    right = sum(matrix[k][k] for k in range(len(matrix)))
    total = sum(map(sum, matrix))
    confusion = model.confusion(part)
    cells = None
    if confusion is not None:
        cells = [float(c) for c in (confusion.tp, confusion.fp, confusion.fn, confusion.tn)]
    return {"cells": cells, "right": float(right), "total": float(total)}


def _routing(model: Model) -> dict[str, Any]:
    """Return what it takes to send a row through the tree."""
    place = {condition: i for i, condition in enumerate(model.conditions)}
    nodes, leaves = [], {}
    table = model.tree.to_dict()["nodes"]
    for i, (node, path) in enumerate(zip(model.tree.nodes(), paths(model), strict=True)):
        nodes.append(table[i])
        if not isinstance(node, Leaf):
            continue
        counts = model.train.counts[i]
        leaves[i] = {
            "right": float(counts[node.label]),
            "total": float(sum(counts)),
            "interval": wilson(counts[node.label], sum(counts)),
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
    conditions = [{**condition.to_dict()} for condition in model.conditions]
    return {"nodes": nodes, "leaves": leaves, "columns": columns, "conditions": conditions}
