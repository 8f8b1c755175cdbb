"""A tree in the language of Graphviz."""

from __future__ import annotations

from typing import Any

from goct._text import one_line, right_of
from goct.export.colours import class_colours
from goct.model import as_model
from goct.tree import Leaf


def export_dot(model: Any) -> str:
    """Write a tree as a graph for Graphviz: ``dot -Tsvg tree.dot > tree.svg``.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    """
    model = as_model(model)
    colours = class_colours(len(model.classes), model.positive)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for number, (node, counts) in enumerate(
        zip(model.tree.nodes(), model.train.counts, strict=True)
    ):
        if isinstance(node, Leaf):
            label = quoted(str(model.classes[node.label]))
            note, colour = right_of(counts, node.label), colours[node.label].light
            lines.append(f'  n{number} [label="{label}\\n{note}", fillcolor="{colour}"];')
        else:
            question = quoted(model.conditions[node.feature].name)
            lines.append(f'  n{number} [label="{question}?"];')
    for number, parent in enumerate(model.tree.parents):
        if parent is not None:
            above, answer = parent
            lines.append(f'  n{above} -> n{number} [label="{"yes" if answer else "no"}"];')
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """Return a text as it is written inside double quotes in DOT."""
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
