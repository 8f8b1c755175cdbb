"""What pictures of a tree need to know, from whatever holds a tree; and where the nodes go."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from goct.model import Model, Weight, node_counts
from goct.report.text import one_line
from goct.solution import Solution
from goct.tree import Leaf, Node, Tree


@dataclass(frozen=True)
class NodeView:
    """A node and its place in a drawing that grows from left to right.

    Attributes
    ----------
    number
        Its place in preorder.
    parent
        The number of its parent; None for the root.
    answer
        Whether it is the yes side of its parent.
    depth
        The number of splits above it: the column of the drawing.
    row
        The row of the drawing; leaves have whole numbers.
    question
        The condition of a split; None for a leaf.
    label
        The index of the class that a leaf predicts; None for a split.
    counts
        The weight of each class that reaches the node.
    """

    number: int
    parent: int | None
    answer: bool
    depth: int
    row: float
    question: str | None
    label: int | None
    counts: tuple[Weight, ...]

    @property
    def total(self) -> Weight:
        """The weight of all rows that reach the node."""
        return sum(self.counts)


@dataclass(frozen=True)
class TreeView:
    """A tree to draw.

    Attributes
    ----------
    nodes
        The nodes in preorder.
    classes
        The labels as text.
    positive
        The index of the positive class, if there is one.
    """

    nodes: tuple[NodeView, ...]
    classes: tuple[str, ...]
    positive: int | None

    @property
    def depth(self) -> int:
        """The number of splits on the longest path."""
        return max(node.depth for node in self.nodes)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return sum(node.label is not None for node in self.nodes)

    def path(self, number: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path: list[int] = []
        at: int | None = number
        while at is not None:
            path.append(at)
            at = self.nodes[at].parent
        return path[::-1]


def view_of(source: Any) -> TreeView:
    """Return the tree of a model, a solution or a fitted classifier as something to draw."""
    if isinstance(source, Solution):
        if source.tree is None:
            raise ValueError(f"the solution has no tree, its status is {source.status.name}")
        counts = node_counts(source.tree, source.problem)
        return _view(source.tree, counts, source.tree.feature_names, source.problem.positive)
    model = source if isinstance(source, Model) else Model.from_estimator(source)
    names = tuple(condition.name for condition in model.conditions)
    return _view(model.tree, model.train.counts, names, model.positive)


def _view(
    tree: Tree,
    counts: tuple[tuple[Weight, ...], ...],
    questions: tuple[str, ...],
    positive: int | None,
) -> TreeView:
    nodes: list[NodeView | None] = [None] * len(counts)
    numbers = iter(range(len(counts)))
    rows = iter(range(len(counts)))

    def place(node: Node, parent: int | None, answer: bool, depth: int) -> float:
        number = next(numbers)
        if isinstance(node, Leaf):
            row: float = next(rows)
            question, label = None, node.label
        else:
            above = place(node.left, number, False, depth + 1)
            row = (above + place(node.right, number, True, depth + 1)) / 2
            question, label = one_line(questions[node.feature]), None
        nodes[number] = NodeView(
            number, parent, answer, depth, row, question, label, counts[number]
        )
        return row

    place(tree.root, None, False, 0)
    classes = tuple(one_line(str(label)) for label in tree.classes)
    return TreeView(tuple(node for node in nodes if node is not None), classes, positive)


def wrapped(text: str, width: int, lines: int = 2) -> list[str]:
    """Break a text into a few lines; what does not fit ends in three dots."""
    return textwrap.wrap(text, width, max_lines=lines, placeholder="…", break_on_hyphens=False) or [
        text
    ]
