"""Trees as complete solutions of models: of deeper topologies, and over more features.

A model of depth D has a node for every place of a complete binary tree, and
lets paths end at any of them (``p[n] = 1``). So a tree of smaller depth is a
solution as it is: its splits set b, its leaves set p and c, wherever they are,
and everything below stays 0. A tree over some of the features is a solution of
the model over all of them, once its features have found their columns. The
remaining variables follow from the tree: g or z from the rows that it
classifies correctly, bits and products from TP and TN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goct.mip.model import Point
from goct.mip.tree_model import TreeModel
from goct.tree import Leaf, Split, Tree

if TYPE_CHECKING:
    from goct.mip.question import Question


def embed(tree: Tree, model: TreeModel, columns: NDArray[np.intp]) -> Point:
    """Return the complete solution of a model that stands for a tree.

    Parameters
    ----------
    tree
        A tree over the original columns, of the depth of the model at most. It
        should have no splits that make no difference, which some models forbid.
    model
        The model, whatever its formulation and metric.
    columns
        The original column behind each feature of the model.

    Raises
    ------
    ValueError
        If the tree is too deep, or uses a column that the model does not have.
    """
    if tree.depth > (depth := model.topology.depth):
        raise ValueError(f"a tree of depth {tree.depth} is no solution of a model of depth {depth}")
    position = {int(j): k for k, j in enumerate(columns)}
    if missing := [j for j in tree.features if j not in position]:
        raise ValueError(f"the model has no features for the columns {missing}")
    heap = tree.heap()
    features = {n: position[node.feature] for n, node in heap.items() if isinstance(node, Split)}
    labels = {n: node.label for n, node in heap.items() if isinstance(node, Leaf)}
    return model.encode_heap(features, labels)


def lift(x: Point, source: Question, target: Question) -> Point | None:
    """Return the solution of one model that is the tree of a solution of another one.

    The source may be a model over some of the features
    (:meth:`goct.Problem.restricted`), of a smaller depth, or of another
    formulation.

    Parameters
    ----------
    x
        A solution of the source.
    source, target
        The questions that the models ask.

    Returns
    -------
    Point or None
        None if the tree is no solution of the target: too deep, not allowed,
        or constant where the model leaves out constant trees.
    """
    tree = source.tree(x)
    return target.point(tree) if target.side.are_met(tree, target.problem) else None
