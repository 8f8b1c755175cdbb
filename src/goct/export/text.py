"""A tree drawn with letters and lines."""

from __future__ import annotations

from typing import Any

from goct.model import as_model
from goct.solution import Solution
from goct.tree import Tree


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
    return str(as_model(tree))
