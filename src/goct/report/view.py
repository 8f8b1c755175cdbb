"""What pictures of a tree need to know, from whatever holds a tree; and where the nodes go."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from goct._text import format_weight, one_line
from goct.model import as_model
from goct.solution import Solution
from goct.tree import Leaf, NodeCounts, Tree


@dataclass(frozen=True)
class NodeView:
    """A node and its place in a drawing that grows from left to right."""

    number: int  # in preorder
    parent: int | None  # None for the root
    answer: bool  # whether it is the yes side of its parent
    depth: int  # the splits above it: the column of the drawing
    row: float  # of the drawing; leaves have whole numbers
    question: str | None  # the condition of a split; None for a leaf
    label: int | None  # the class that a leaf predicts; None for a split
    counts: tuple[int | Fraction, ...]  # the weight of each class that reaches it

    @property
    def total(self) -> int | Fraction:
        """The weight of all rows that reach the node."""
        return sum(self.counts)


@dataclass(frozen=True)
class TreeView:
    """A tree to draw, its nodes in preorder."""

    nodes: tuple[NodeView, ...]
    classes: tuple[str, ...]  # as text
    positive: int | None
    one_vs_rest: bool = False  # positive stands against all others, whose leaves say "not 8"

    def predicts(self, node: NodeView) -> str:
        """Return what a leaf predicts: a class or, of one against the rest, "not 8"."""
        assert node.label is not None
        if self.one_vs_rest and self.positive is not None and node.label != self.positive:
            return f"not {self.classes[self.positive]}"
        return self.classes[node.label]

    def colour(self, node: NodeView) -> int:
        """Return the class whose colour a leaf has: one for all that are "not 8"."""
        assert node.label is not None
        if self.one_vs_rest and self.positive is not None and node.label != self.positive:
            return 0 if self.positive else 1
        return node.label

    def n_right(self, node: NodeView) -> int | Fraction:
        """Return the weight of the rows that a leaf predicts rightly."""
        assert node.label is not None
        if self.one_vs_rest and self.positive is not None and node.label != self.positive:
            return node.total - node.counts[self.positive]
        return node.counts[node.label]

    def right(self, node: NodeView) -> str:
        """Say how much of the weight that reaches a leaf it predicts rightly."""
        return f"{format_weight(self.n_right(node))} of {format_weight(node.total)} right"

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
        tree, positive = source.tree, source.problem.positive
        counts = tree.node_counts(source.problem)
        one_vs_rest = source.metric.is_binary and len(tree.classes) > 2
    else:
        model = as_model(source)
        tree, positive, counts = model.tree, model.positive, model.train.counts
        one_vs_rest = model.is_one_vs_rest
    classes = tuple(one_line(str(k)) for k in tree.classes)
    return TreeView(_place(tree, counts), classes, positive, one_vs_rest)


def _place(tree: Tree, counts: NodeCounts) -> tuple[NodeView, ...]:
    rows = [0.0] * len(counts)
    leaves = 0
    for number, node in enumerate(tree.nodes()):
        if isinstance(node, Leaf):
            rows[number] = leaves
            leaves += 1
    # Children come after their parent, which is half-way between them.
    for number, parent in reversed(list(enumerate(tree.parents))):
        if parent is not None:
            rows[parent[0]] += rows[number] / 2
    nodes = []
    for number, (node, parent) in enumerate(zip(tree.nodes(), tree.parents, strict=True)):
        question = label = None
        if isinstance(node, Leaf):
            label = node.label
        else:
            question = one_line(tree.feature_names[node.feature])
        above, answer = parent or (None, False)
        place = tree.depths[number], rows[number]
        nodes.append(NodeView(number, above, answer, *place, question, label, counts[number]))
    return tuple(nodes)


def wrapped(text: str, width: int, lines: int = 2) -> list[str]:
    """Break a text into a few lines; what does not fit ends in three dots."""
    found = textwrap.wrap(text, width, max_lines=lines, placeholder="…", break_on_hyphens=False)
    return [text[: width - 1] + "…"] if found == ["…"] != [text] else found or [text]
