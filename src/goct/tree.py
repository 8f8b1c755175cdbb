"""Decision trees over 0/1 features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct._html import html_card, html_tree
from goct._text import one_line, right_of
from goct._validation import check_binary_matrix, names_of_columns
from goct.metrics.confusion import Confusion

if TYPE_CHECKING:
    from goct.problem import Problem

SCHEMA = "goct.tree/1"
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf that predicts the class with the index `label`."""

    label: int


@dataclass(frozen=True, slots=True)
class Split:
    """A split: rows with ``x[feature] = 0`` go left, those with 1 go right."""

    feature: int
    left: Node
    right: Node


Node: TypeAlias = Leaf | Split
NodeCounts: TypeAlias = tuple[tuple[int | Fraction, ...], ...]
"""For every node in preorder, the weight of each class that reaches it."""


@dataclass(frozen=True, repr=False)
class Tree:
    """An immutable binary decision tree.

    Attributes
    ----------
    root
        The root: a :class:`Leaf`, or a :class:`Split` with two children.
    classes
        The labels; leaves hold indices into them.
    feature_names
        A name for every column of the data, in order. A tuple, or a sequence that
        makes them when they are asked for.
    """

    root: Node
    classes: tuple[Any, ...]
    feature_names: Sequence[str]

    def __post_init__(self) -> None:
        if self.depth > MAX_DEPTH:
            raise ValueError(f"the tree has depth {self.depth}; at most {MAX_DEPTH} is allowed")
        for node in self.nodes():
            if isinstance(node, Leaf) and not 0 <= node.label < len(self.classes):
                raise ValueError(
                    f"a leaf has the label {node.label}, but there are {len(self.classes)} classes"
                )
            if isinstance(node, Split) and not 0 <= node.feature < self.n_features:
                raise ValueError(
                    f"a split uses feature {node.feature}, but there are {self.n_features} features"
                )

    @property
    def n_features(self) -> int:
        """The number of columns the tree expects."""
        return len(self.feature_names)

    @cached_property
    def depth(self) -> int:
        """The number of splits on the longest path."""
        return max(self.depths)

    @cached_property
    def splits(self) -> int:
        """The number of splits."""
        return sum(isinstance(node, Split) for node in self.nodes())

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self.splits + 1

    @property
    def features(self) -> tuple[int, ...]:
        """The columns that the tree uses, in increasing order."""
        return tuple(sorted({n.feature for n in self.nodes() if isinstance(n, Split)}))

    @cached_property
    def _preorder(self) -> tuple[tuple[Node, tuple[int, bool] | None], ...]:
        """The nodes in preorder, each with its parent as in `parents`."""
        found: list[tuple[Node, tuple[int, bool] | None]] = []
        stack: list[tuple[Node, tuple[int, bool] | None]] = [(self.root, None)]
        while stack:
            node, parent = stack.pop()
            number = len(found)
            found.append((node, parent))
            if isinstance(node, Split):
                stack += [(node.right, (number, True)), (node.left, (number, False))]
        return tuple(found)

    def nodes(self) -> Iterator[Node]:
        """Iterate over the nodes in preorder: a node, its left part, its right part."""
        return (node for node, _ in self._preorder)

    @cached_property
    def parents(self) -> tuple[tuple[int, bool] | None, ...]:
        """The parent of every node in preorder, and whether it is its right child; None: the root.

        A parent is named by its own place in preorder.
        """
        return tuple(parent for _, parent in self._preorder)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The number of splits above every node, in preorder."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent is None else depths[parent[0]] + 1)
        return tuple(depths)

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the leaf of each row of a 0/1 matrix, as its place in preorder."""
        names = names_of_columns(X)
        matrix = check_binary_matrix(X, names)
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"X has {matrix.shape[1]} columns, but the tree was built on {self.n_features}"
            )
        table = self._table
        rows = np.arange(len(matrix))
        node = np.zeros(len(matrix), dtype=np.intp)
        for _ in range(self.depth):
            # Leaves point at themselves, on feature 0.
            goes_right = matrix[rows, table.feature[node]]
            node = np.where(goes_right, table.right[node], table.left[node])
        return node

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted label of each row of a 0/1 matrix."""
        labels = np.array(self.classes)
        return labels[self._table.label[self.apply(X)]]

    def predict_rows(self, problem: Problem) -> NDArray[np.intp]:
        """Return the class index that is predicted for each distinct row of a problem."""
        predicted = np.empty(problem.n_rows, dtype=np.intp)
        for node, rows in self.reached(problem):
            if isinstance(node, Leaf):
                predicted[rows] = node.label
        return predicted

    def reached(self, problem: Problem) -> Iterator[tuple[Node, NDArray[np.intp]]]:
        """Iterate over the nodes in preorder, each with the distinct rows that reach it."""
        self._check_fits(problem)
        stack: list[tuple[Node, NDArray[np.intp]]] = [(self.root, np.arange(problem.n_rows))]
        while stack:
            node, rows = stack.pop()
            yield node, rows
            if isinstance(node, Split):
                goes_right = problem.column(node.feature)[rows] == 1
                stack += [(node.right, rows[goes_right]), (node.left, rows[~goes_right])]

    def node_counts(self, problem: Problem) -> NodeCounts:
        """Return, for every node in preorder, the weight of each class that reaches it."""
        totals = (problem.counts[rows].sum(axis=0).tolist() for _, rows in self.reached(problem))
        return tuple(tuple(map(problem.weight, counts)) for counts in totals)

    def confusion(self, problem: Problem) -> Confusion:
        """Return the confusion matrix of a problem with a positive class.

        With more than two classes, the positive class stands against the rest.
        """
        matrix = self.confusion_matrix(problem)
        if problem.positive is not None:
            return Confusion.of_matrix(matrix, problem.positive)
        if problem.n_classes > 1:
            raise ValueError(
                f"the problem has the classes {list(problem.classes)} and no positive one; "
                "name it with pos_label, or use confusion_matrix"
            )
        return Confusion(0, 0, 0, matrix[0][0])

    def confusion_matrix(self, problem: Problem) -> list[list[int | Fraction]]:
        """Return the weight of each pair of true class (outer) and predicted class (inner)."""
        return problem.confusion_matrix(self.predict_rows(problem))

    def pruned(self, problem: Problem | None = None) -> Tree:
        """Return the tree without splits that make no difference.

        Parameters
        ----------
        problem
            If given, splits that all rows of the problem pass on the same side
            go first. Then those go whose two leaves agree, bottom-up.
        """
        if problem is not None:
            self._check_fits(problem)
        rows = np.arange(0 if problem is None else problem.n_rows)
        return Tree(_pruned(self.root, problem, rows), self.classes, self.feature_names)

    def heap(self) -> dict[int, Node]:
        """Return the nodes under the numbers of the paper: root 1, children 2n and 2n + 1."""
        numbers: list[int] = []
        for parent in self.parents:
            numbers.append(1 if parent is None else 2 * numbers[parent[0]] + parent[1])
        return dict(zip(numbers, self.nodes(), strict=True))

    @classmethod
    def from_heap(
        cls,
        features: Mapping[int, int],
        labels: Mapping[int, int],
        classes: Sequence[Any],
        feature_names: Sequence[str],
    ) -> Tree:
        """Build a tree from the split features and leaf labels under heap numbers."""

        def build(number: int) -> Node:
            if number in features:
                return Split(features[number], build(2 * number), build(2 * number + 1))
            if number not in labels:
                raise ValueError(f"node {number} has neither a feature nor a label")
            return Leaf(labels[number])

        names = tuple(feature_names) if isinstance(feature_names, list) else feature_names
        return cls(build(1), tuple(classes), names)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data that JSON can hold."""
        nodes: list[dict[str, int]] = []
        table = self._table
        for i, node in enumerate(self.nodes()):
            if isinstance(node, Leaf):
                nodes.append({"label": node.label})
            else:
                children = {"left": int(table.left[i]), "right": int(table.right[i])}
                nodes.append({"feature": node.feature, **children})
        return {
            "schema": SCHEMA,
            "classes": list(self.classes),
            "feature_names": list(self.feature_names),
            "nodes": nodes,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tree:
        """Rebuild a tree from :meth:`to_dict`, checking every part of it.

        Raises
        ------
        ValueError
            If the data is not a tree of a schema that this version knows.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"a tree must be a mapping, got {type(data).__name__}")
        if data.get("schema") != SCHEMA:
            raise ValueError(f"unknown schema {data.get('schema')!r}; expected {SCHEMA!r}")
        if unknown := sorted(
            map(str, data.keys() - {"schema", "classes", "feature_names", "nodes"})
        ):
            raise ValueError(f"unknown entries in the tree: {', '.join(unknown)}")
        classes, names, nodes = (_get_list(data, k) for k in ("classes", "feature_names", "nodes"))
        if not all(isinstance(name, str) for name in names):
            raise ValueError("feature_names must be strings")
        if not classes or not all(isinstance(c, str | int | float | bool) for c in classes):
            raise ValueError("classes must be a non-empty list of strings, numbers or booleans")
        if len(set(classes)) < len(classes):
            raise ValueError("classes must differ from each other")
        return cls(_nodes_from_list(nodes), tuple(classes), tuple(names))

    def over(self, features: Mapping[int, int], feature_names: Sequence[str]) -> Tree:
        """Return the same tree over other columns.

        Parameters
        ----------
        features
            The new place of every column that the tree uses.
        feature_names
            A name for every new column.
        """

        def moved(node: Node) -> Node:
            if isinstance(node, Leaf):
                return node
            return Split(features[node.feature], moved(node.left), moved(node.right))

        return Tree(moved(self.root), self.classes, tuple(feature_names))

    def to_text(self, problem: Problem | None = None, *, counts: NodeCounts | None = None) -> str:
        """Draw the tree with its conditions and labels, one line per node.

        Parameters
        ----------
        problem
            If given, each leaf also shows how much of the problem's weight
            reaches it, and how much of that it classifies correctly.
        counts
            The same, from what :meth:`node_counts` returned.
        """
        if problem is not None:
            counts = self.node_counts(problem)
        lines: list[str] = []
        leads = [("", "")]  # of the nodes still to draw: before their line, before those below
        for number, node in enumerate(self.nodes()):
            lead, below = leads.pop()
            if isinstance(node, Split):
                lines.append(f"{lead}{one_line(self.feature_names[node.feature])}?")
                leads.append((f"{below}└─ yes ", f"{below}       "))
                leads.append((f"{below}├─ no  ", f"{below}│      "))
                continue
            note = "" if counts is None else f"  ({right_of(counts[number], node.label)})"
            lines.append(f"{lead}→ {one_line(str(self.classes[node.label]))}{note}")
        return "\n".join(lines)

    def to_html(self, counts: NodeCounts | None = None) -> str:
        """Return the tree as a piece of HTML for notebooks, as :meth:`to_text` draws it.

        Parameters
        ----------
        counts
            What :meth:`node_counts` returned, to show how often leaves are right.
        """
        lines: list[tuple[int, str, str, int | None, str]] = []
        for i, (node, parent) in enumerate(self._preorder):
            answer = "" if parent is None else ("yes" if parent[1] else "no")
            if isinstance(node, Split):
                words = one_line(self.feature_names[node.feature])
                lines.append((self.depths[i], answer, words, None, ""))
            else:
                note = "" if counts is None else right_of(counts[i], node.label)
                label = one_line(str(self.classes[node.label]))
                lines.append((self.depths[i], answer, label, node.label, note))
        return html_tree(lines)

    def __repr__(self) -> str:
        leaves = "1 leaf" if self.splits == 0 else f"{self.n_leaves} leaves"
        return f"<Tree of depth {self.depth} with {leaves}>"

    def _repr_html_(self) -> str:
        return html_card(repr(self).strip("<>"), self.to_html())

    def __str__(self) -> str:
        return self.to_text()

    @cached_property
    def _table(self) -> _Table:
        table = _Table(*(np.zeros(len(self._preorder), dtype=np.intp) for _ in range(4)))
        for i, (node, parent) in enumerate(self._preorder):
            if isinstance(node, Leaf):
                table.left[i] = table.right[i] = i
                table.label[i] = node.label
            else:
                table.feature[i] = node.feature
            if parent is not None:
                above, goes_right = parent
                (table.right if goes_right else table.left)[above] = i
        return table

    def _check_fits(self, problem: Problem) -> None:
        if problem.classes != self.classes:
            raise ValueError(
                f"the tree predicts the classes {list(self.classes)}, "
                f"the problem has {list(problem.classes)}"
            )
        if problem.n_features != self.n_features:
            raise ValueError(
                f"the tree was built on {self.n_features} columns, "
                f"the problem has {problem.n_features}"
            )


@dataclass(frozen=True)
class _Table:
    """The nodes in preorder as arrays, for vectorised routing."""

    feature: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    label: NDArray[np.intp]


def _pruned(node: Node, problem: Problem | None, rows: NDArray[np.intp]) -> Node:
    if isinstance(node, Leaf):
        return node
    left_rows = right_rows = rows
    if problem is not None:
        goes_right = problem.column(node.feature)[rows] == 1
        if goes_right.all():
            return _pruned(node.right, problem, rows)
        if not goes_right.any():
            return _pruned(node.left, problem, rows)
        left_rows, right_rows = rows[~goes_right], rows[goes_right]
    left = _pruned(node.left, problem, left_rows)
    right = _pruned(node.right, problem, right_rows)
    if isinstance(left, Leaf) and left == right:
        return left
    return Split(node.feature, left, right)


def _get_list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list):
        raise ValueError(f"{key} must be a list, got {type(value).__name__}")
    return value


def _nodes_from_list(entries: list[Any]) -> Node:
    if not entries:
        raise ValueError("nodes must not be empty")
    built: dict[int, Node] = {}
    # Children come after their parent, so that going backwards finds them built.
    for i in range(len(entries) - 1, -1, -1):
        entry = entries[i]
        keys = set(entry) if isinstance(entry, Mapping) else set()
        if keys not in ({"label"}, {"feature", "left", "right"}):
            raise ValueError(f"node {i} must have either a label, or a feature, left and right")
        if not all(type(value) is int for value in entry.values()):
            raise ValueError(f"node {i} must hold integers only")
        if "label" in keys:
            built[i] = Leaf(entry["label"])
            continue
        left, right = entry["left"], entry["right"]
        for child in (left, right):
            if child <= i or child not in built:
                raise ValueError(f"node {i} has the child {child}, which is no later, unused node")
        if left == right:
            raise ValueError(f"node {i} has the same node twice as a child")
        built[i] = Split(entry["feature"], built.pop(left), built.pop(right))
    if len(built) > 1:
        raise ValueError(f"node {max(built)} is not part of the tree")
    return built[0]
