"""A learned tree with all it takes to use it elsewhere, and where it comes from."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct._core import __version__
from goct.binarize.conditions import Above, After, Condition, IsTrue, Missing, OneOf
from goct.binarize.table import read_table
from goct.exact import Exact
from goct.metrics import Confusion, Metric, get_metric
from goct.problem import Problem
from goct.solution import Solution
from goct.table import Table, with_cells_read
from goct.tree import Leaf, Node, Split, Tree

if TYPE_CHECKING:
    from goct.binarize import Binarizer

Weight: TypeAlias = int | Fraction
Counts: TypeAlias = tuple[tuple[Weight, ...], ...]

COLUMN_KINDS = ("number", "date", "category", "boolean", "unknown")
_TOLERANCE = 1e-6  # of floats that stand for exact numbers
_KIND_OF_CONDITION = {Above: "number", After: "date", OneOf: "category", IsTrue: "boolean"}


@dataclass(frozen=True)
class Column:
    """A column that the tree looks at.

    Attributes
    ----------
    kind
        "number", "date", "category" or "boolean"; "unknown" if the tree only
        asks whether a value is missing.
    has_missing
        Whether values were missing when the tree was learned.
    levels
        The categories that occurred: texts, or the numbers and truth values that
        the column held; None if that is not known, or for other kinds.
    """

    kind: str
    has_missing: bool = False
    levels: tuple[str | int | float | bool, ...] | None = None


@dataclass(frozen=True)
class Quantity:
    """A number as a float and, where it is rational and short, exactly.

    Attributes
    ----------
    value
        The nearest float.
    exact
        A fraction such as "200/207", or None.
    """

    value: float
    exact: str | None = None

    @classmethod
    def of(cls, number: Exact | Fraction | int) -> Quantity:
        """Return an exact number as a quantity."""
        exact = number if isinstance(number, Exact) else Exact(number)
        text = str(exact.as_fraction()) if exact.is_rational else ""
        return cls(float(exact), text if 0 < len(text) <= 40 else None)

    def __str__(self) -> str:
        short = self.exact is not None and len(self.exact) <= 24
        if short and self.exact is not None and "/" not in self.exact:
            return self.exact
        return f"{self.value:.6f}" + (f"  (= {self.exact})" if short else "")


@dataclass(frozen=True)
class Question:
    """What the tree was asked to do.

    Attributes
    ----------
    metric
        The name of the metric.
    max_depth, max_splits, split_penalty, constraints
        The limits, as given to :func:`goct.solve`; constraints as text.
    """

    metric: str
    max_depth: int
    max_splits: int | None = None
    split_penalty: float = 0.0
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """What is proven about the tree on the data it was learned from.

    Attributes
    ----------
    objective, bound
        The metric minus the penalty for splits, and what no tree exceeds.
    status, limit
        The names of a :class:`goct.Status` and a :class:`goct.Limit`, in lower case.
    is_exact
        False if weights or costs were rounded.
    seconds
        How long it took.
    """

    objective: Quantity
    bound: Quantity
    status: str
    limit: str = "none"
    is_exact: bool = True
    seconds: float | None = None


@dataclass(frozen=True)
class Source:
    """The data that the tree was learned from.

    Attributes
    ----------
    file
        The name of the file, without its folder.
    target
        The column that is predicted.
    columns, conditions
        How many columns there were, and how many conditions on them.
    """

    file: str | None = None
    target: str | None = None
    columns: int | None = None
    conditions: int | None = None


@dataclass(frozen=True)
class Part:
    """How a part of the data, such as the training part, falls through the tree.

    Attributes
    ----------
    counts
        For every node in preorder, the weight of each class that reaches it.
    value
        The metric on this part; None where it is not defined.
    """

    counts: Counts
    value: Quantity | None

    @property
    def total(self) -> Weight:
        """The weight of all rows."""
        return sum(self.counts[0])


@dataclass(frozen=True)
class Rival:
    """Another classifier on the same data.

    Attributes
    ----------
    name
        What it is called.
    about
        What it is, in a sentence.
    splits, depth
        Its size.
    train, test
        Its confusion matrices, true classes outside.
    train_value, test_value
        The metric, where it is defined.
    broken
        The constraints that it does not keep on the training data.
    """

    name: str
    about: str
    splits: int
    depth: int
    train: Counts
    train_value: Quantity | None
    test: Counts | None = None
    test_value: Quantity | None = None
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Model:
    """A tree over conditions on the columns of a table, and where it comes from.

    Attributes
    ----------
    tree
        The tree; its features are the conditions.
    conditions
        The conditions that the tree asks, each once.
    columns
        What it knows of the columns that the conditions are on, by name.
    positive
        The index of the positive class; None if there is none.
    question, proof, source
        What was asked, what is proven, and on which data.
    train, test
        How the data falls through the tree: the part it was learned from, and
        the part that was held back, if any.
    rivals
        Other classifiers on the same data, to compare with.
    missing_words
        If the tree was learned from a CSV file, the words that stand for missing
        values there. Text is then read as the cells of that file were, wherever
        it comes from: blanks around it do not count, and these words are missing
        values. None if text is taken as it is.
    created, version
        When the tree was learned (UTC, ISO 8601), and by which version of goct.
    """

    tree: Tree
    conditions: tuple[Condition, ...]
    columns: Mapping[str, Column]
    positive: int | None
    question: Question
    proof: Proof
    source: Source
    train: Part
    test: Part | None = None
    rivals: tuple[Rival, ...] = ()
    missing_words: tuple[str, ...] | None = None
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    version: str = __version__

    def __post_init__(self) -> None:
        if len(self.conditions) != self.tree.n_features:
            raise ValueError(
                f"the tree has {self.tree.n_features} features, but there are "
                f"{len(self.conditions)} conditions"
            )
        for condition in self.conditions:
            kind = _KIND_OF_CONDITION.get(type(condition))
            column = self.columns.get(condition.column)
            if column is None:
                raise ValueError(
                    f"{condition.name!r} is on the column {condition.column!r}, "
                    "which is not described"
                )
            if kind is not None and kind != column.kind:
                raise ValueError(
                    f"{condition.name!r} is a condition on a {kind}, but the column "
                    f"{condition.column!r} holds a {column.kind}"
                )
        if self.positive is not None and not 0 <= self.positive < len(self.classes):
            raise ValueError(f"the positive class {self.positive} is not one of the classes")
        _check_proof(self.proof)
        if self.train.value is not None:
            gained = self.train.value.value - self.question.split_penalty * self.tree.splits
            if gained > self.proof.bound.value + _TOLERANCE * max(1, abs(gained)):
                raise ValueError(
                    f"train.value is {self.train.value.value:g}, which is above the proven bound "
                    f"{self.proof.bound.value:g}"
                )
        for name, part in (("train", self.train), ("test", self.test)):
            if part is not None:
                _check_counts(self.tree, part.counts, name)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels."""
        return self.tree.classes

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        conditions: Sequence[Condition],
        *,
        source: Source | None = None,
        columns: Mapping[str, Column] | None = None,
        missing_words: Iterable[str] | None = None,
    ) -> Model:
        """Return the model of a solution.

        Parameters
        ----------
        solution
            A solution with a tree.
        conditions
            What the features of the problem stand for, in order.
        source
            Where the data is from.
        columns
            What is known of the columns, as by :func:`columns_of`; by default what the
            conditions tell.
        missing_words
            If the data is from a CSV file, the words for missing values there.
        """
        tree, problem = solution.tree, solution.problem
        if tree is None or solution.objective is None or solution.value is None:
            raise ValueError(f"the solution has no tree, its status is {solution.status.name}")
        if len(conditions) != tree.n_features:
            raise ValueError(
                f"there are {len(conditions)} conditions for {tree.n_features} features"
            )
        place = {feature: i for i, feature in enumerate(tree.features)}
        used = tuple(conditions[feature] for feature in tree.features)
        seconds = solution.stats.get("time")
        return cls(
            tree=Tree(_renumbered(tree.root, place), tree.classes, tuple(c.name for c in used)),
            conditions=used,
            columns=_describe_columns(used, conditions, columns or {}),
            positive=problem.positive,
            question=Question(
                metric=solution.metric.name,
                max_depth=solution.max_depth,
                max_splits=solution.max_splits,
                split_penalty=float(solution.split_penalty),
                constraints=tuple(constraint.name for constraint in solution.constraints),
            ),
            proof=Proof(
                objective=Quantity.of(solution.objective),
                bound=Quantity.of(solution.bound),
                status=solution.status.value,
                limit=solution.limit.value,
                is_exact=problem.is_exact,
                seconds=None if seconds is None else round(float(seconds), 3),
            ),
            source=replace(source or Source(), conditions=len(conditions)),
            train=Part(node_counts(tree, problem), Quantity.of(solution.value)),
            missing_words=None if missing_words is None else tuple(sorted(missing_words)),
        )

    @classmethod
    def from_estimator(cls, classifier: Any) -> Model:
        """Return the model of a fitted :class:`goct.OptimalTreeClassifier`."""
        from goct.estimator import OptimalTreeClassifier

        if not isinstance(classifier, OptimalTreeClassifier):
            hint = ""
            if hasattr(classifier, "steps"):
                hint = "; pass its last step, pipeline[-1]"
            elif hasattr(classifier, "best_estimator_"):
                hint = "; pass its best_estimator_"
            raise TypeError(
                "there must be a Model, a Solution or a fitted OptimalTreeClassifier, "
                f"got {type(classifier).__name__}{hint}"
            )
        if not hasattr(classifier, "solution_"):
            raise ValueError("the OptimalTreeClassifier is not fitted; call fit first")
        binarizer = classifier.binarizer_
        return cls.from_solution(
            classifier.solution_,
            binarizer.conditions_,
            source=Source(columns=binarizer.n_features_in_),
            columns=columns_of(binarizer),
        )

    def matrix(self, table: Any) -> NDArray[np.uint8]:
        """Return which row of a table meets which condition, as a 0/1 matrix.

        Parameters
        ----------
        table
            A data frame of pandas, polars or pyarrow, a :class:`goct.table.Table`, or
            a mapping from column names to values. Other columns than the tree needs do not
            matter. If the tree was learned from an array, whose columns are called x0, x1,
            ..., also such an array.

        Raises
        ------
        ValueError, TypeError
            If a column is not there, or does not hold what the tree needs.
        """
        n_rows, values = self._read(table)
        matrix = np.zeros((n_rows, len(self.conditions)), dtype=np.uint8)
        for j, condition in enumerate(self.conditions):
            matrix[:, j] = condition.holds(values[condition.column])
        return matrix

    def _read(self, table: Any) -> tuple[int, dict[str, NDArray[Any]]]:
        """Return the number of rows of a table, and the columns that the tree needs."""
        from_file = isinstance(table, Table)
        read = read_table(table.columns_only() if from_file else table)
        names = read.names or self._names_of_array(read.n_columns)
        if absent := [name for name in self.columns if name not in names]:
            raise ValueError(
                f"the table has no column {', '.join(map(repr, absent))}; the tree needs "
                + ", ".join(map(repr, self.columns))
            )
        known: dict[str, set[str]] = {name: set() for name in self.columns}
        for condition in self.conditions:
            if isinstance(condition, OneOf):
                known[condition.column] |= set(condition.levels)
        values = {}
        for name, column in self.columns.items():
            kind = None if column.kind == "unknown" else column.kind
            source = read
            if self.missing_words is not None and not from_file:
                source = with_cells_read(read, name, kind, self.missing_words)
            values[name] = source.column(names.index(name), kind, known[name]).values
        return read.n_rows, values

    def _names_of_array(self, n_columns: int) -> list[str]:
        """Return the names of the columns of an array, if the tree was learned from one."""
        names = [f"x{j}" for j in range(self.source.columns or 0)]
        if not set(self.columns) <= set(names):
            raise TypeError(
                "the columns of the tree have names, so the table must be a data frame or a "
                f"mapping from column names to values: it needs {', '.join(self.columns)}"
            )
        if n_columns != len(names):
            raise ValueError(f"the array has {n_columns} columns, and the tree needs {len(names)}")
        return names

    def predict(self, table: Any) -> NDArray[Any]:
        """Return the predicted label of each row of a table, see :meth:`matrix`."""
        return self.tree.predict(self.matrix(table))

    def unknown_levels(self, table: Any) -> dict[str, dict[str, int]]:
        """Return the categories of a table that were not there when the tree was learned.

        Parameters
        ----------
        table
            As in :meth:`matrix`.

        Returns
        -------
        dict
            For each column with such categories, how often each of them occurs.
        """
        found: dict[str, dict[str, int]] = {}
        _, values = self._read(table)
        for name, column in self.columns.items():
            if column.kind != "category" or column.levels is None:
                continue
            known = {None, *map(str, column.levels)}
            counts = Counter(values[name].tolist())
            if strange := {text: n for text, n in counts.items() if text not in known}:
                found[name] = strange
        return found

    def problem(self, table: Any, labels: ArrayLike) -> Problem:
        """Return rows with known labels as a problem over the conditions of the tree."""
        names = self.tree.feature_names
        return known_classes(self.matrix(table), labels, names, self.classes, self.positive)

    def part(self, table: Any, labels: ArrayLike) -> Part:
        """Return how rows with known labels fall through the tree.

        The metric is given if its name tells what it is and it is defined there.
        """
        problem = self.problem(table, labels)
        value = None
        with contextlib.suppress(ValueError, TypeError):  # a metric of the user's own
            value = metric_on(get_metric(self.question.metric), self.tree, problem)
        return Part(node_counts(self.tree, problem), value)

    def confusion_matrix(self, part: Part | None = None) -> Counts:
        """Return the weights of true (outside) and predicted classes; of the training part."""
        counts = (part or self.train).counts
        cells: list[list[Weight]] = [[0] * len(self.classes) for _ in self.classes]
        for node, reached in zip(self.tree.nodes(), counts, strict=True):
            if isinstance(node, Leaf):
                for k, weight in enumerate(reached):
                    cells[k][node.label] += weight
        return tuple(map(tuple, cells))

    def confusion(self, part: Part | None = None) -> Confusion | None:
        """Return the confusion matrix of the positive class against the rest, if there is one."""
        return confusion_of(self.confusion_matrix(part), self.positive)

    @cached_property
    def parents(self) -> tuple[tuple[int, bool] | None, ...]:
        """The parent of every node in preorder, and whether it is its yes side; None: the root."""
        found: list[tuple[int, bool] | None] = []
        stack: list[tuple[Node, tuple[int, bool] | None]] = [(self.tree.root, None)]
        while stack:
            node, parent = stack.pop()
            number = len(found)
            found.append(parent)
            if isinstance(node, Split):
                stack += [(node.right, (number, True)), (node.left, (number, False))]
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, for JSON."""
        from goct.model_file import model_to_dict

        return model_to_dict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Model:
        """Rebuild a model from :meth:`to_dict`, checking every part of it."""
        from goct.model_file import model_from_dict

        return model_from_dict(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all."""
        from goct.model_file import save_model

        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model from a JSON file.

        Nothing in the file is executed, and everything in it is checked, so that
        a file from a stranger can do no harm.

        Raises
        ------
        goct.model_file.ModelFileError
            If the file is not a model; the message says what is wrong where.
        """
        from goct.model_file import load_model

        return load_model(path)

    def __str__(self) -> str:
        from goct.export import export_text

        return export_text(self)


def node_counts(tree: Tree, problem: Problem) -> Counts:
    """Return, for every node of a tree in preorder, the weight of each class that reaches it."""
    counts: list[tuple[Weight, ...]] = []
    stack: list[tuple[Node, NDArray[np.intp]]] = [(tree.root, np.arange(problem.n_rows))]
    while stack:
        node, rows = stack.pop()
        totals = problem.counts[rows].sum(axis=0).tolist()
        counts.append(tuple(problem.weight(total) for total in totals))
        if isinstance(node, Split):
            right = problem.column(node.feature)[rows] == 1
            stack += [(node.right, rows[right]), (node.left, rows[~right])]
    return tuple(counts)


def known_classes(
    X: NDArray[np.uint8],
    labels: ArrayLike,
    names: Sequence[str],
    classes: tuple[Any, ...],
    positive: int | None,
) -> Problem:
    """Return data as a problem with given classes, of which some may not occur in it.

    Raises
    ------
    ValueError
        If other classes occur.
    """
    problem = Problem.from_arrays(X, labels, feature_names=names)
    if unknown := [label for label in problem.classes if label not in classes]:
        raise ValueError(
            f"the labels {', '.join(map(repr, unknown[:5]))} are not among the classes "
            f"{list(classes)} of the tree"
        )
    counts = np.zeros((problem.n_rows, len(classes)), dtype=np.int64)
    counts[:, [classes.index(label) for label in problem.classes]] = problem.counts
    return replace(problem, counts=counts, classes=classes, positive=positive)


def metric_on(metric: Metric, tree: Tree, problem: Problem) -> Quantity | None:
    """Return the metric of a tree on a problem, or None where it is not defined."""
    try:
        return Quantity.of(metric.evaluate(tree, problem))
    except (ValueError, ZeroDivisionError):  # a class does not occur there
        return None


def confusion_of(matrix: Sequence[Sequence[Weight]], positive: int | None) -> Confusion | None:
    """Return a confusion matrix as that of the positive class against the rest."""
    if positive is None:
        return None
    tp = matrix[positive][positive]
    fn = sum(matrix[positive]) - tp
    fp = sum(row[positive] for row in matrix) - tp
    return Confusion(tp, fp, fn, sum(map(sum, matrix)) - tp - fn - fp)


def columns_of(binarizer: Binarizer) -> dict[str, Column]:
    """Return what a fitted binarizer knows of the columns."""
    asked = {c.column for c in binarizer.conditions_ if isinstance(c, Missing)}
    columns = {}
    for name, kind in zip(binarizer._column_names(), binarizer.kinds_, strict=True):
        levels = binarizer.levels_.get(name)
        columns[name] = Column(
            "unknown" if kind == "empty" else kind,
            name in asked,
            None if levels is None else tuple(levels),
        )
    return columns


def _describe_columns(
    used: Iterable[Condition], conditions: Iterable[Condition], known: Mapping[str, Column]
) -> dict[str, Column]:
    """Return the columns that are asked, with what the conditions on them tell."""
    missing = {c.column for c in conditions if isinstance(c, Missing)}
    columns: dict[str, Column] = {}
    for condition in used:
        name = condition.column
        column = columns.get(name, known.get(name, Column("unknown", name in missing)))
        if column.kind == "unknown":
            column = replace(column, kind=_KIND_OF_CONDITION.get(type(condition), "unknown"))
        columns[name] = column
    return columns


def _renumbered(node: Node, place: Mapping[int, int]) -> Node:
    if isinstance(node, Leaf):
        return node
    left, right = _renumbered(node.left, place), _renumbered(node.right, place)
    return Split(place[node.feature], left, right)


def _check_proof(proof: Proof) -> None:
    objective, bound = proof.objective.value, proof.bound.value
    margin = _TOLERANCE * max(1, abs(objective), abs(bound))
    if objective > bound + margin:
        raise ValueError(f"proof.objective is {objective:g}, which is above proof.bound, {bound:g}")
    if proof.status == "optimal" and objective < bound - margin:
        raise ValueError(
            f"proof.status is optimal, but proof.objective is {objective:g} and proof.bound "
            f"{bound:g}"
        )


def _check_counts(tree: Tree, counts: Counts, name: str) -> None:
    n_nodes = tree.splits + tree.n_leaves
    if len(counts) != n_nodes:
        raise ValueError(f"{name}.counts has {len(counts)} entries for {n_nodes} nodes")
    for i, entry in enumerate(counts):
        if len(entry) != len(tree.classes) or any(weight < 0 for weight in entry):
            raise ValueError(f"{name}.counts[{i}] must be one weight per class, none negative")
    nodes = iter(range(n_nodes))

    def check(node: Node) -> int:
        i = next(nodes)
        if isinstance(node, Split):
            left, right = check(node.left), check(node.right)
            sums = [a + b for a, b in zip(counts[left], counts[right], strict=True)]
            if sums != list(counts[i]):
                raise ValueError(f"{name}.counts[{i}] is not the sum of its two children")
        return i

    check(tree.root)
