"""A tree drawn with letters and lines, and as rules, one line per leaf."""

from __future__ import annotations

from typing import Any

from goct._text import one_line, right_of
from goct.export.paths import in_words, paths
from goct.model import as_model
from goct.solution import Solution
from goct.tree import Leaf, Tree


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


def export_rules(model: Any) -> str:
    """Write one line per leaf: when it applies, what it predicts, how often it is right.

    Exactly one rule applies to every row. Conditions on the same column are
    drawn together, as in ``20 < age ≤ 50``. "Or missing" is written for columns
    in which values were missing when the tree was learned; in any case, a
    missing value meets no condition.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    """
    model = as_model(model)
    lines = []
    for node, path, counts in zip(
        model.tree.nodes(), paths(model), model.train.counts, strict=True
    ):
        if isinstance(node, Leaf):
            label = one_line(str(model.classes[node.label]))
            note = right_of(counts, node.label)
            lines.append(f"if {one_line(in_words(path))} then {label}  ({note})")
    return "\n".join(lines)
