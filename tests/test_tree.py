from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct import Problem, Tree
from goct.tree import MAX_DEPTH, Leaf, Node, Split
from tests.support.trees import nodes

CLASSES = ("maybe", "no", "yes")
NAMES = ("old", "rich", "ill", "tall")
trees = nodes(len(NAMES), len(CLASSES), depth=4).map(lambda root: Tree(root, CLASSES, NAMES))
EXAMPLE = Tree(Split(2, Split(0, Leaf(0), Leaf(1)), Leaf(2)), CLASSES, NAMES)
ALL_ROWS = np.array(list(np.ndindex(2, 2, 2, 2)), dtype=np.uint8)


def route(node: Node, x: np.ndarray) -> int:
    while isinstance(node, Split):
        node = node.right if x[node.feature] else node.left
    return node.label


@given(trees)
def test_predict(tree) -> None:
    expected = [CLASSES[route(tree.root, x)] for x in ALL_ROWS]
    assert tree.predict(ALL_ROWS).tolist() == expected
    assert tree.predict(ALL_ROWS.astype(bool)).tolist() == expected


@given(trees)
def test_apply_gives_leaves_in_preorder(tree) -> None:
    preorder = list(tree.nodes())
    leaves = tree.apply(ALL_ROWS)
    assert all(isinstance(preorder[i], Leaf) for i in leaves)
    assert [CLASSES[preorder[i].label] for i in leaves] == tree.predict(ALL_ROWS).tolist()


@given(trees)
def test_size(tree) -> None:
    kinds = [type(node) for node in tree.nodes()]
    assert tree.splits == kinds.count(Split)
    assert tree.n_leaves == kinds.count(Leaf)
    assert tree.depth == max(number.bit_length() - 1 for number in tree.heap())
    assert set(tree.features) == {n.feature for n in tree.nodes() if isinstance(n, Split)}


@given(trees)
def test_parents_and_depths(tree) -> None:
    nodes = list(tree.nodes())
    assert tree.parents[0] is None
    for number, parent in enumerate(tree.parents[1:], start=1):
        above, is_right = parent
        split = nodes[above]
        assert nodes[number] is (split.right if is_right else split.left)
        assert tree.depths[number] == tree.depths[above] + 1
    assert max(tree.depths) == tree.depth


@given(trees)
def test_rows_and_counts_at_the_nodes(tree) -> None:
    y = [CLASSES[i % 3] for i in range(len(ALL_ROWS))]
    problem = Problem.from_arrays(ALL_ROWS, y, feature_names=NAMES)
    reached = [rows for _, rows in tree.reached(problem)]
    assert [node for node, _ in tree.reached(problem)] == list(tree.nodes())
    leaves = tree.apply(problem.X)
    for number, (node, rows) in enumerate(tree.reached(problem)):
        if isinstance(node, Leaf):
            assert rows.tolist() == np.flatnonzero(leaves == number).tolist()
    counts = tree.node_counts(problem)
    assert [sum(entry) for entry in counts] == [len(rows) for rows in reached]
    assert counts[0] == problem.class_weights


@given(trees)
def test_the_same_tree_over_other_columns(tree) -> None:
    moved = tree.over({j: len(NAMES) - 1 - j for j in range(len(NAMES))}, NAMES[::-1])
    assert moved.predict(ALL_ROWS[:, ::-1]).tolist() == tree.predict(ALL_ROWS).tolist()
    assert str(moved) == str(tree)


@given(trees)
def test_pruned_predicts_the_same_and_has_no_twin_leaves(tree) -> None:
    pruned = tree.pruned()
    assert pruned.predict(ALL_ROWS).tolist() == tree.predict(ALL_ROWS).tolist()
    assert pruned.pruned() == pruned
    assert pruned.splits <= tree.splits
    for node in pruned.nodes():
        if isinstance(node, Split) and isinstance(node.left, Leaf):
            assert node.left != node.right


@given(trees)
def test_round_trips(tree) -> None:
    assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree
    heap = tree.heap()
    features = {n: node.feature for n, node in heap.items() if isinstance(node, Split)}
    labels = {n: node.label for n, node in heap.items() if isinstance(node, Leaf)}
    assert Tree.from_heap(features, labels, CLASSES, NAMES) == tree


def test_heap_numbers_are_those_of_the_paper() -> None:
    heap = EXAMPLE.heap()
    assert sorted(heap) == [1, 2, 3, 4, 5]
    assert heap[1] == EXAMPLE.root
    assert heap[3] == Leaf(2)
    assert heap[5] == Leaf(1)


def test_text() -> None:
    assert str(EXAMPLE) == (
        "ill?\n├─ no  old?\n│      ├─ no  → maybe\n│      └─ yes → no\n└─ yes → yes"
    )
    assert str(Tree(Leaf(1), CLASSES, NAMES)) == "→ no"


def test_text_with_counts() -> None:
    problem = Problem.from_arrays(
        ALL_ROWS, [CLASSES[x[2] + 1] for x in ALL_ROWS], feature_names=NAMES
    )
    tree = Tree(Split(2, Split(0, Leaf(0), Leaf(1)), Leaf(1)), ("no", "yes"), NAMES)
    assert tree.to_text(problem).splitlines()[2:] == [
        "│      ├─ no  → no  (4 of 4 right)",
        "│      └─ yes → yes  (0 of 4 right)",
        "└─ yes → yes  (8 of 8 right)",
    ]


def test_equality_and_immutability() -> None:
    same = Tree(Split(2, Split(0, Leaf(0), Leaf(1)), Leaf(2)), CLASSES, NAMES)
    assert same == EXAMPLE
    assert hash(same) == hash(EXAMPLE)
    assert same != Tree(Leaf(0), CLASSES, NAMES)
    with pytest.raises(AttributeError):
        same.root = Leaf(0)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        same.root.feature = 1  # type: ignore[misc, union-attr]


def test_confusion_needs_a_positive_class() -> None:
    problem = Problem.from_arrays(ALL_ROWS, ALL_ROWS[:, 0] + ALL_ROWS[:, 1])
    tree = Tree(Leaf(0), problem.classes, problem.feature_names)
    with pytest.raises(ValueError, match="pos_label"):
        tree.confusion(problem)
    one_against_rest = Problem.from_arrays(ALL_ROWS, ALL_ROWS[:, 0] + ALL_ROWS[:, 1], pos_label=1)
    c = Tree(Split(0, Leaf(0), Leaf(1)), problem.classes, problem.feature_names).confusion(
        one_against_rest
    )
    assert (c.tp, c.fp, c.fn, c.tn) == (4, 4, 4, 4)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[0, 1]], ValueError, "2 columns, but the tree was built on 4"),
        ([[0, 1, 0, 5]], ValueError, "5.* row 0, column 3"),
        ([0, 1, 0, 1], ValueError, "two-dimensional"),
    ],
)
def test_predict_refuses_bad_rows(X, error, message) -> None:
    with pytest.raises(error, match=message):
        EXAMPLE.predict(X)


def test_a_tree_must_fit_its_problem() -> None:
    with pytest.raises(ValueError, match="classes"):
        EXAMPLE.confusion_matrix(Problem.from_arrays(ALL_ROWS, ALL_ROWS[:, 0]))
    with pytest.raises(ValueError, match="columns"):
        EXAMPLE.confusion_matrix(Problem.from_arrays([[0], [1], [1]], list(CLASSES)))


@pytest.mark.parametrize(
    "root", [Leaf(3), Leaf(-1), Split(4, Leaf(0), Leaf(1)), Split(-1, Leaf(0), Leaf(1))]
)
def test_labels_and_features_must_exist(root) -> None:
    with pytest.raises(ValueError, match="but there are"):
        Tree(root, CLASSES, NAMES)


def test_depth_is_limited() -> None:
    node: Node = Leaf(0)
    for _ in range(MAX_DEPTH + 1):
        node = Split(0, node, Leaf(1))
    with pytest.raises(ValueError, match="at most 64"):
        Tree(node, CLASSES, NAMES)


def test_heap_must_be_complete() -> None:
    with pytest.raises(ValueError, match="node 3 has neither"):
        Tree.from_heap({1: 0}, {2: 0}, CLASSES, NAMES)


def altered(**changes: object) -> dict[str, object]:
    return {**EXAMPLE.to_dict(), **changes}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "mapping"),
        ({}, "schema None"),
        (altered(schema="goct.tree/99"), "goct.tree/99"),
        (altered(extra=1), "extra"),
        (altered(nodes="abc"), "nodes must be a list"),
        (altered(nodes=[]), "empty"),
        (altered(nodes=[{"label": 0, "feature": 1}]), "node 0 must have"),
        (altered(nodes=[3]), "node 0 must have"),
        (altered(nodes=[{"label": "0"}]), "integers"),
        (altered(nodes=[{"label": True}]), "integers"),
        (altered(nodes=[{"label": 3}]), "label 3"),
        (altered(nodes=[{"feature": 0, "left": 0, "right": 0}]), "child 0"),
        (altered(nodes=[{"feature": 0, "left": 1, "right": 1}, {"label": 0}]), "same node"),
        (altered(nodes=[{"feature": 0, "left": 1, "right": 9}, {"label": 0}]), "child 9"),
        (altered(nodes=[{"label": 0}, {"label": 0}]), "node 1 is not part"),
        (altered(classes=[]), "classes"),
        (altered(classes=[None]), "classes"),
        (altered(classes=["a", "a", "b"]), "differ"),
        (altered(feature_names=[1, 2, 3, 4]), "strings"),
    ],
)
def test_altered_data_is_refused(data, message) -> None:
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(data)


def test_a_very_deep_file_does_not_exhaust_the_stack() -> None:
    n = 100_000
    chain: list[dict[str, int]] = []
    for i in range(n):
        chain += [{"feature": 0, "left": 2 * i + 1, "right": 2 * i + 2}, {"label": 0}]
    with pytest.raises(ValueError, match="at most 64"):
        Tree.from_dict(altered(nodes=[*chain, {"label": 0}]))


@given(st.data())
def test_confusion_of_two_classes(data) -> None:
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=16, max_size=16)))
    if len(set(y.tolist())) < 2:
        return
    problem = Problem.from_arrays(ALL_ROWS, y, feature_names=NAMES)
    root = data.draw(nodes(4, 2))
    tree = Tree(root, (0, 1), NAMES)
    p = tree.predict(ALL_ROWS)
    c = tree.confusion(problem)
    assert c.tp == ((p == 1) & (y == 1)).sum()
    assert c.fp == ((p == 1) & (y == 0)).sum()
    assert c.fn == ((p == 0) & (y == 1)).sum()
    assert c.tn == ((p == 0) & (y == 0)).sum()
