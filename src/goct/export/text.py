"""A tree drawn with letters and lines."""

from __future__ import annotations

from typing import Any

from goct.model import Model
from goct.report.text import format_weight, one_line
from goct.solution import Solution
from goct.tree import Leaf, Node, Tree


def export_text(tree: Any) -> str:
    """Draw a tree, one line per node.

    Parameters
    ----------
    tree
        A :class:`goct.Model`, a :class:`goct.Solution`, a fitted
        :class:`goct.OptimalTreeClassifier` or a :class:`goct.Tree`. All but the
        last also show how many rows reach each leaf, and how many of them are
        classified correctly.
    """
    if isinstance(tree, Tree):
        return tree.to_text()
    if isinstance(tree, Solution):
        if tree.tree is None:
            raise ValueError(f"the solution has no tree, its status is {tree.status.name}")
        return tree.tree.to_text(tree.problem)
    model = tree if isinstance(tree, Model) else Model.from_estimator(tree)
    lines: list[str] = []
    counts = iter(model.train.counts)

    def draw(node: Node, lead: str, below: str) -> None:
        reached = next(counts)
        if isinstance(node, Leaf):
            right, total = format_weight(reached[node.label]), format_weight(sum(reached))
            label = one_line(str(model.classes[node.label]))
            lines.append(f"{lead}→ {label}  ({right} of {total} right)")
            return
        lines.append(f"{lead}{one_line(model.conditions[node.feature].name)}?")
        draw(node.left, f"{below}├─ no  ", f"{below}│      ")
        draw(node.right, f"{below}└─ yes ", f"{below}       ")

    draw(model.tree.root, "", "")
    return "\n".join(lines)
