"""A tree as boxes and lines of an SVG picture."""

from __future__ import annotations

from dataclasses import dataclass

from goct._text import format_weight
from goct.report.view import NodeView, TreeView, wrapped

# Pixels: the pitch of columns, the size of boxes, and the space around the tree.
_COLUMN, _WIDTH, _HEIGHT, _MARGIN = 236, 178, 50, 14
_LETTERS = 22
_WIDEST_LINE = 15


@dataclass(frozen=True)
class Box:
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
class Line:
    """The line from a node's parent to the node."""

    number: int
    curve: str
    width: float
    x: float
    y: float
    word: str


@dataclass(frozen=True)
class Drawing:
    """The tree in pixels."""

    width: float
    height: float
    box_width: float
    boxes: list[Box]
    lines: list[Line]


def drawing(view: TreeView) -> Drawing:
    """Return the tree in pixels, from left to right."""
    pitch = 74 if view.n_leaves <= 10 else 62
    place = {
        node.number: (_MARGIN + _COLUMN * node.depth, _MARGIN + _HEIGHT / 2 + pitch * node.row)
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
        boxes.append(Box(node, x, y, _HEIGHT, text, note, bars, about))
        if node.parent is not None:
            x0, y0 = place[node.parent]
            start, middle = x0 + _WIDTH, (x0 + _WIDTH + x) / 2
            share = float(node.total / whole) if whole else 0.0
            lines.append(
                Line(
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
    return Drawing(width, height, _WIDTH, boxes, lines)
