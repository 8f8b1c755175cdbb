"""A tree drawn with matplotlib."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goct._plot import axes_or_new, new_figure
from goct.export.colours import class_colours
from goct.files import atomic_write
from goct.report.intervals import interval_words
from goct.report.view import NodeView, TreeView, view_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goct.path import Path as SizePath
    from goct.search.frontier import Frontier

_INK, _LINE, _PAPER = "#22262b", "#9aa3ad", "#ffffff"
# In inches: the pitch of columns and rows, and the size of boxes.
_COLUMN, _ROW, _WIDTH, _HEIGHT = 2.35, 0.62, 1.75, 0.46
_LETTERS = 22
_FONTSIZE = 8.5


def plot_tree(source: Any, ax: Axes | None = None, *, fontsize: float | None = None) -> Axes:
    """Draw a tree from left to right.

    Splits show their condition; leaves show the class they predict, how often it is
    right, and Wilson's interval of 95 % for that. The bar in a box is as long as the
    share of rows that reach it, and its colours are their classes; lines are as wide
    as the share of rows that follow them.

    Parameters
    ----------
    source
        A :class:`goct.Model`, a :class:`goct.Solution` with a tree, or a fitted
        :class:`goct.OptimalTreeClassifier`.
    ax
        Where to draw; by default a new figure that is as large as the tree needs.
    fontsize
        The size of the text in points; by default 8.5, or less if the boxes are smaller.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed: ``pip install goct[plot]``.
    """
    view = view_of(source)
    size = max(_COLUMN * view.depth + _WIDTH + 0.4, 2.4), max(_ROW * view.n_leaves + 0.5, 1.2)
    is_new, ax = ax is None, axes_or_new(ax, *size)
    ax.set_axis_off()
    ax.set_xlim(-_WIDTH / 2 - 0.15, _COLUMN * view.depth + _WIDTH / 2 + 0.15)
    ax.set_ylim(-_ROW * (view.n_leaves - 0.5), _ROW / 2)
    if fontsize is None:
        fontsize = _FONTSIZE * (1.0 if is_new else min(1.0, *_scale(ax)))
    for node in view.nodes:
        if node.parent is not None:
            _draw_line(ax, view, node, fontsize)
    for node in view.nodes:
        _draw_node(ax, view, node, fontsize)
    return ax


def _scale(ax: Axes) -> tuple[float, float]:
    """Return how long an inch of the drawing is on paper, across and up."""
    whole = ax.figure.canvas.figure  # of a figure in a figure, too
    box, (left, right), (bottom, top) = ax.get_window_extent(), ax.get_xlim(), ax.get_ylim()
    return box.width / whole.dpi / (right - left), box.height / whole.dpi / (top - bottom)


def _place(node: NodeView) -> tuple[float, float]:
    return _COLUMN * node.depth, -_ROW * node.row


def _draw_line(ax: Axes, view: TreeView, node: NodeView, fontsize: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    assert node.parent is not None
    (x0, y0), (x1, y1) = _place(view.nodes[node.parent]), _place(node)
    start, end = x0 + _WIDTH / 2, x1 - _WIDTH / 2
    middle = (start + end) / 2
    curve = Path(
        [(start, y0), (middle, y0), (middle, y1), (end, y1)],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    share = float(node.total / view.nodes[0].total) if view.nodes[0].total else 0.0
    width = 0.8 + 9 * share
    ax.add_patch(PathPatch(curve, fill=False, edgecolor="#9aa3ad", alpha=0.45, lw=width, zorder=1))
    word, at, side = ("yes", y1 - 0.05, "top") if node.answer else ("no", y1 + 0.03, "bottom")
    ax.text(end - 0.05, at, word, fontsize=fontsize * 0.85, color="#7f8a96", ha="right", va=side,
            zorder=4)  # fmt: skip


def _draw_node(ax: Axes, view: TreeView, node: NodeView, fontsize: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    colours = class_colours(len(view.classes), view.positive)
    x, y = _place(node)
    left, bottom = x - _WIDTH / 2, y - _HEIGHT / 2
    face, edge = _PAPER, _LINE
    if node.label is not None:
        face, edge = colours[view.colour(node)].light, colours[view.colour(node)].strong
    inner = (left + 0.06, bottom + 0.06), _WIDTH - 0.12, _HEIGHT - 0.12
    ax.add_patch(FancyBboxPatch(*inner, boxstyle="round,pad=0.06", facecolor=face, edgecolor=edge,
                                linewidth=1, zorder=2))  # fmt: skip
    _draw_bar(ax, view, node, left, bottom)
    if node.label is None:
        assert node.question is not None
        text = "\n".join(wrapped(f"{node.question}?", _LETTERS))
        ax.text(x, y + 0.04, text, fontsize=fontsize, color=_INK, ha="center", va="center",
                linespacing=1.05, zorder=4, parse_math=False)  # fmt: skip
        return
    label = wrapped(view.predicts(node), _LETTERS, lines=1)[0]
    right = view.right(node)
    if node.total:
        right += f", {interval_words(view.n_right(node), node.total)}"
    ax.text(x, y + 0.105, label, fontsize=fontsize, color=_INK, ha="center", va="center",
            weight="bold", zorder=4, parse_math=False)  # fmt: skip
    ax.text(x, y - 0.05, right, fontsize=fontsize * 0.78, color="#4a525b", ha="center", va="center",
            zorder=4)  # fmt: skip


def _draw_bar(ax: Axes, view: TreeView, node: NodeView, left: float, bottom: float) -> None:
    """Draw a bar whose area is the rows that reach a node, in the colours of their classes."""
    from matplotlib.patches import Rectangle

    whole, at = view.nodes[0].total, left + 0.08
    for count, colour in zip(
        node.counts, class_colours(len(view.classes), view.positive), strict=True
    ):
        part = (_WIDTH - 0.16) * float(count / whole) if whole else 0.0
        bar = Rectangle((at, bottom + 0.035), part, 0.05, color=colour.strong, lw=0, zorder=3)
        ax.add_patch(bar)
        at += part


def save_plot(
    source: Frontier | SizePath, file: str | os.PathLike[str], *, width: float, height: float
) -> None:
    """Draw a frontier or a size path, in inches, into a PNG, SVG or PDF file as a whole."""
    figure, target, buffer = new_figure(width, height), Path(file), io.BytesIO()
    source.plot(figure.subplots())
    figure.savefig(buffer, format=target.suffix[1:].lower(), dpi=150)
    with atomic_write(target, binary=True) as opened:
        opened.write(buffer.getvalue())
