"""Metrics of two classes on problems with more: the positive class against the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from goct.problem import Problem
from goct.tree import Leaf, Node, Split, Tree


def against_rest(problem: Problem) -> Problem:
    """Return the problem with its positive class and one class for all others."""
    positive = problem.positive
    assert positive is not None
    found = problem.counts[:, positive]
    rest = problem.counts.sum(axis=1) - found
    return replace(
        problem,
        counts=np.stack([rest, found], axis=1),
        classes=(f"not {problem.classes[positive]}", problem.classes[positive]),
        positive=1,
        costs=None,
    )


def tree_against_rest(tree: Tree, problem: Problem) -> Tree:
    """Return a tree for :func:`against_rest` of the problem from one for the problem."""

    def visit(node: Node) -> Node:
        if isinstance(node, Split):
            return Split(node.feature, visit(node.left), visit(node.right))
        return Leaf(int(node.label == problem.positive))

    return Tree(visit(tree.root), against_rest(problem).classes, tree.feature_names)


def name_the_rest(tree: Tree, problem: Problem) -> Tree:
    """Return a tree for the problem from one for :func:`against_rest` of it.

    Where that predicts the rest, this one predicts the most frequent of the
    other classes among the rows of the leaf, or among all rows if it has none.
    """
    positive = problem.positive
    assert positive is not None

    def most_frequent(rows: NDArray[np.intp]) -> int:
        counts = problem.counts[rows].sum(axis=0)
        counts[positive] = -1
        return int(counts.argmax())

    def visit(node: Node, rows: NDArray[np.intp]) -> Node:
        if isinstance(node, Split):
            goes_right = problem.column(node.feature)[rows] == 1
            left, right = visit(node.left, rows[~goes_right]), visit(node.right, rows[goes_right])
            return Split(node.feature, left, right)
        if node.label == 1:
            return Leaf(positive)
        return Leaf(most_frequent(rows if rows.size else np.arange(problem.n_rows)))

    root = visit(tree.root, np.arange(problem.n_rows))
    return Tree(root, problem.classes, tree.feature_names)
