"""Ties: fewest splits first, then the smallest depth."""

from __future__ import annotations

import pytest

from goct import Problem
from goct.metrics import get_metric
from goct.plane.oracle import Incumbent
from goct.search.ties import break_ties
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Split, Tree

PROBLEM = Problem.from_arrays([[0], [1]], [0, 1])


def chain(splits: int) -> Tree:
    """A tree that is as deep as it has splits, all of them right."""
    root = Split(0, Leaf(0), Leaf(1))
    for _ in range(splits - 1):
        root = Split(0, Leaf(0), root)
    return Tree(root, PROBLEM.classes, PROBLEM.feature_names)


def flat(splits: int) -> Tree:
    """A tree of the smallest depth for its splits, all of them right."""

    def node(splits: int) -> Split | Leaf:
        if splits == 0:
            return Leaf(1)
        left = (splits - 1) // 2
        return Split(0, node(left), node(splits - 1 - left))

    def fix(node: Split | Leaf, inside: int | None = None) -> Split | Leaf:
        if isinstance(node, Leaf):
            return Leaf(inside or 0)
        left, right = (0, 1) if inside is None else (inside, inside)
        return Split(0, fix(node.left, left), fix(node.right, right))

    return Tree(fix(node(splits)), PROBLEM.classes, PROBLEM.feature_names)


@pytest.mark.parametrize("fewest", range(1, 8))
@pytest.mark.parametrize("start", [7, 10])
def test_every_number_of_splits_is_found(fewest: int, start: int) -> None:
    task = Task(PROBLEM, get_metric("accuracy"), SizeLimit(10))
    incumbent = Incumbent(task, chain(start))
    asked = []

    def find_tie(size: SizeLimit) -> bool:
        asked.append(size)
        if size.most_splits < fewest:
            return False
        tree = chain(fewest) if size.max_depth >= fewest else flat(fewest)
        if tree.depth > size.max_depth:
            return False
        incumbent.offer(tree)
        return True

    break_ties(incumbent, find_tie, splits_are_fewest=False)
    tree = incumbent.known.tree
    assert tree.splits == fewest
    assert tree.depth == flat(fewest).depth
    assert len(asked) == len(set(asked))


def test_what_is_known_is_not_asked() -> None:
    task = Task(PROBLEM, get_metric("accuracy"), SizeLimit(3))

    def never(_size: SizeLimit) -> bool:
        raise AssertionError("nothing can be smaller")

    break_ties(Incumbent(task, chain(1)), never, splits_are_fewest=False)
    break_ties(Incumbent(task, flat(3)), never, splits_are_fewest=True)
