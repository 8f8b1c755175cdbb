"""A learned tree with all it takes to use it elsewhere, and where it comes from."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct._core import __version__
from goct._html import html_card, html_facts
from goct._text import one_line
from goct.binarize.condition_list import ConditionList, ConditionNames
from goct.binarize.conditions import Condition, Missing, evaluate
from goct.data.cells import read_cells
from goct.data.table import Column, Table, as_table
from goct.metrics import Confusion, get_metric
from goct.model import file
from goct.model.records import (
    TOLERANCE,
    ColumnInfo,
    Matrix,
    Part,
    Proof,
    Quantity,
    Question,
    Rival,
    Source,
    Validation,
    Weight,
)
from goct.probabilities import Smoothing
from goct.problem import Problem
from goct.solution import Solution
from goct.tree import Leaf, NodeCounts, Split, Tree

if TYPE_CHECKING:
    from goct.binarize.plain import PlainBinarizer


@dataclass(frozen=True, repr=False)
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
    validation
        What trees of each size achieve on rows that were held back, if that was tried.
    missing_words
        If the tree was learned from a CSV file, the words that stand for missing
        values there. Text is then read as the cells of that file were, wherever
        it comes from: blanks around it do not count, and these words are missing
        values. None if text is taken as it is.
    notes
        What a reader should know of the data, such as columns that were left out.
    certificate
        The name and the digest of the file with the proof, if there is one.
    smoothing
        How the shares of classes in leaves become probabilities.
    created, version
        When the tree was learned (UTC, ISO 8601), and by which version of goct.
    """

    tree: Tree
    conditions: tuple[Condition, ...]
    columns: Mapping[str, ColumnInfo]
    positive: int | None
    question: Question
    proof: Proof
    source: Source
    train: Part
    test: Part | None = None
    rivals: tuple[Rival, ...] = ()
    validation: Validation | None = None
    missing_words: tuple[str, ...] | None = None
    certificate: str | None = None
    notes: tuple[str, ...] = ()
    smoothing: Smoothing = field(default_factory=Smoothing)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    version: str = __version__

    def __post_init__(self) -> None:
        if len(self.conditions) != self.tree.n_features:
            raise ValueError(
                f"the tree has {self.tree.n_features} features, but there are "
                f"{len(self.conditions)} conditions"
            )
        for condition in self.conditions:
            column = self.columns.get(condition.column)
            if column is None:
                raise ValueError(
                    f"{condition.name!r} is on the column {condition.column!r}, "
                    "which is not described"
                )
            if condition.column_kind not in (None, column.kind):
                raise ValueError(
                    f"{condition.name!r} is a condition on a {condition.column_kind}, but the "
                    f"column {condition.column!r} holds a {column.kind}"
                )
        if self.positive is not None and not 0 <= self.positive < len(self.classes):
            raise ValueError(f"the positive class {self.positive} is not one of the classes")
        if self.train.value is not None:
            gained = self.train.value.value - self.question.split_penalty * self.tree.splits
            if gained > self.proof.bound.value + TOLERANCE * max(1, abs(gained)):
                raise ValueError(
                    f"train.value is {self.train.value.value:g}, which is above the proven bound "
                    f"{self.proof.bound.value:g}"
                )
        for name, part in (("train", self.train), ("test", self.test)):
            if part is not None:
                _check_counts(self.tree, part.counts, name)
        for i, rival in enumerate(self.rivals):
            for name, matrix in (("train", rival.train), ("test", rival.test)):
                if matrix is not None and {len(matrix), *map(len, matrix)} != {len(self.classes)}:
                    n = len(self.classes)
                    raise ValueError(f"rivals[{i}].{name} must have {n} rows and columns")

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels."""
        return self.tree.classes

    @property
    def is_one_vs_rest(self) -> bool:
        """Whether the metric is about the positive one of several classes."""
        if self.positive is None or len(self.classes) <= 2:
            return False
        try:
            return get_metric(self.question.metric).is_binary
        except (ValueError, TypeError):  # a metric of the user's own
            return False

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        conditions: Sequence[Condition] | None = None,
        *,
        source: Source | None = None,
        columns: Mapping[str, ColumnInfo] | None = None,
        missing_words: Iterable[str] | None = None,
    ) -> Model:
        """Return the model of a solution.

        Parameters
        ----------
        solution
            A solution with a tree.
        conditions
            What the features of the problem stand for, in order. A problem over every
            threshold, of :meth:`goct.Problem.from_columns`, knows them itself.
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
        if conditions is None:
            if not isinstance(problem.feature_names, ConditionNames):
                raise TypeError(
                    "a solution does not say what the columns of its 0/1 matrix stand for; use "
                    "Model.from_solution(solution, conditions), such as binarizer.conditions_"
                )
            conditions = problem.feature_names.conditions
            source = source or Source(columns=len(problem.column_names))
        if len(conditions) != tree.n_features:
            raise ValueError(
                f"there are {len(conditions)} conditions for {tree.n_features} features"
            )
        places = {feature: i for i, feature in enumerate(tree.features)}
        used = tuple(conditions[feature] for feature in tree.features)
        seconds = solution.stats.get("time")
        return cls(
            tree=tree.over(places, [condition.name for condition in used]),
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
            train=Part(tree.node_counts(problem), Quantity.of(solution.value)),
            missing_words=None if missing_words is None else tuple(sorted(missing_words)),
            certificate=_certificate(solution),
        )

    @classmethod
    def from_estimator(cls, classifier: Any) -> Model:
        """Return the model of a fitted :class:`goct.OptimalTreeClassifier`."""
        # By what it has, not by its type: estimators are above models, and not known here.
        if not hasattr(classifier, "solution_"):
            if hasattr(classifier, "binarizer"):
                raise ValueError(f"the {type(classifier).__name__} is not fitted; call fit first")
            hint = ""
            if hasattr(classifier, "steps"):
                hint = "; pass its last step, pipeline[-1]"
            elif hasattr(classifier, "best_estimator_"):
                hint = "; pass its best_estimator_"
            raise TypeError(
                "there must be a Model, a Solution or a fitted OptimalTreeClassifier, "
                f"got {type(classifier).__name__}{hint}"
            )
        binarizer = classifier.binarizer_
        model = cls.from_solution(
            classifier.solution_,
            binarizer.conditions_,
            source=Source(columns=binarizer.n_features_in_),
            columns=columns_of(binarizer),
        )
        smoothing = Smoothing.read(getattr(classifier, "smoothing", Smoothing()))
        return replace(model, smoothing=smoothing, validation=_validation(classifier))

    def matrix(self, table: Any) -> NDArray[np.uint8]:
        """Return which row of a table meets which condition, as a 0/1 matrix.

        Parameters
        ----------
        table
            A data frame of pandas, polars or pyarrow, a :class:`goct.data.Table`, or
            a mapping from column names to values. Other columns than the tree needs do not
            matter. If the tree was learned from an array, whose columns are called x0, x1,
            ..., also such an array.

        Raises
        ------
        ValueError, TypeError
            If a column is not there, or does not hold what the tree needs.
        """
        read = as_table(table)
        return evaluate(self.conditions, read.n_rows, self._reader(read))

    def _reader(self, table: Table) -> Callable[[str, Collection[str]], Column]:
        """Return what reads a column that the tree needs, given its name and further levels."""
        names = list(table.names or self._names_of_array(table.n_columns))
        if absent := [name for name in self.columns if name not in names]:
            raise ValueError(
                f"the table has no column {', '.join(map(repr, absent))}; the tree needs "
                + ", ".join(map(repr, self.columns))
            )

        def read(name: str, levels: Collection[str]) -> Column:
            info = self.columns[name]
            kind = None if info.kind == "unknown" else info.kind
            levels = {*levels, *map(str, info.levels or ())}
            source, words = table, self.missing_words
            if words is not None and table.path is None:
                source = table.map(lambda column: read_cells(column, name, kind, words))
            return source.column(names.index(name), kind, levels, is_finite=False)

        return read

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

    def predict_proba(self, table: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each row of a table, see :meth:`matrix`.

        The shares of the classes in the leaf of the row, in the order of `classes`,
        smoothed as `smoothing` says.
        """
        return self.node_probabilities[self.tree.apply(self.matrix(table))]

    @property
    def node_probabilities(self) -> NDArray[np.float64]:
        """The probability of each class at every node of the tree, in preorder."""
        return self.smoothing.probabilities(self.tree, self.train.counts)

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
        read = self._reader(as_table(table))
        for name, column in self.columns.items():
            if column.kind == "category" and column.levels is not None:
                known = set(map(str, column.levels))
                counts = Counter(read(name, known).values.tolist())
                if strange := {t: n for t, n in counts.items() if t not in {None, *known}}:
                    found[name] = strange
        return found

    def problem(self, table: Any, labels: ArrayLike) -> Problem:
        """Return rows with known labels as a problem over the conditions of the tree."""
        return Problem.from_arrays(
            self.matrix(table),
            labels,
            classes=self.classes,
            pos_label=None if self.positive is None else self.classes[self.positive],
            feature_names=self.tree.feature_names,
        )

    def part(self, table: Any, labels: ArrayLike) -> Part:
        """Return how rows with known labels fall through the tree.

        The metric is given if its name tells what it is and it is defined there.
        """
        metric = None
        with contextlib.suppress(ValueError, TypeError):  # a metric of the user's own
            metric = get_metric(self.question.metric)
        return Part.of(self.tree, self.problem(table, labels), metric)

    def confusion_matrix(self, part: Part | None = None) -> Matrix:
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
        if self.positive is None:
            return None
        return Confusion.of_matrix(self.confusion_matrix(part), self.positive)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, for JSON."""
        tree = self.tree.to_dict()
        data = {"schema": file.SCHEMA, "classes": tree["classes"], "nodes": tree["nodes"]}
        for entry in fields(self):
            if entry.name not in ("tree", "conditions"):
                data[entry.name] = file.to_plain(getattr(self, entry.name))
        data["conditions"] = [file.to_plain(c.to_dict()) for c in self.conditions]
        return data

    @classmethod
    def from_dict(cls, data: Any) -> Model:
        """Rebuild a model from :meth:`to_dict`, checking every part of it.

        Raises
        ------
        goct.model.ModelFileError
            If it is not a model; the message names the entry.
        """
        try:
            return cls(**file.read_fields(data))
        except (ValueError, TypeError, OverflowError) as error:
            raise file.ModelFileError(str(error)) from None

    def to_json(self) -> str:
        """Return the text of the file that :meth:`save` writes."""
        return file.file_text(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all."""
        file.write_file(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model from a JSON file.

        Nothing in the file is executed, and everything in it is checked, so that
        a file from a stranger can do no harm.

        Raises
        ------
        goct.model.ModelFileError
            If the file is not a model; the message says what is wrong where.
        """
        return file.read_file(path, cls.from_dict)

    def __str__(self) -> str:
        return self.tree.to_text(counts=self.train.counts)

    def __repr__(self) -> str:
        value = "" if self.train.value is None else f" {self.train.value.value:.6g}"
        splits = "1 split" if self.tree.splits == 1 else f"{self.tree.splits} splits"
        metric = one_line(self.question.metric)[:60]
        return f"<Model: {metric}{value}, {self.proof.status}, {splits}>"

    def _repr_html_(self) -> str:
        parts = {"training": self.train, "test": self.test}
        facts = [
            (f"{one_line(self.question.metric)}, {name} data", str(part.value))
            for name, part in parts.items()
            if part is not None and part.value is not None
        ]
        facts.append(("proven bound", f"{self.proof.bound} ({self.proof.status})"))
        return html_card("Model", self.tree.to_html(self.train.counts), html_facts(facts))


def as_model(source: Any) -> Model:
    """Return a model as it is, and the model of a solution or of a fitted classifier."""
    if isinstance(source, Solution):
        return Model.from_solution(source)
    return source if isinstance(source, Model) else Model.from_estimator(source)


def columns_of(binarizer: PlainBinarizer) -> dict[str, ColumnInfo]:
    """Return what a fitted binarizer knows of the columns."""
    asked = _asked_missing(binarizer.conditions_)
    columns = {}
    for name, kind in zip(binarizer.column_names, binarizer.kinds_, strict=True):
        levels = binarizer.levels_.get(name)
        columns[name] = ColumnInfo(
            "unknown" if kind == "empty" else kind,
            name in asked,
            None if levels is None else tuple(levels),
        )
    return columns


def _validation(classifier: Any) -> Validation | None:
    """Return how a classifier has chosen its size, if by cross-validation."""
    if not hasattr(classifier, "cv_results_"):
        return None
    scoring = classifier.scoring
    if scoring is not None:
        scoring = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return Validation.of_results(
        scoring or classifier.metric_.name,
        classifier.n_folds_,
        classifier.cv_results_,
        classifier.best_index_,
        classifier.score_estimate_,
    )


def _asked_missing(conditions: Sequence[Condition]) -> set[str]:
    """Return the columns with a condition that asks whether a value is missing."""
    if isinstance(conditions, ConditionList):
        return conditions.missing_columns
    return {c.column for c in conditions if isinstance(c, Missing)}


def _certificate(solution: Solution) -> str | None:
    """Return the name and the digest of a certificate that proves the solution."""
    found = solution.certificate
    if found is None or found.proves != "all":
        return None
    return f"{Path(found.path).name} sha256:{found.digest}"


def _describe_columns(
    used: Iterable[Condition], conditions: Sequence[Condition], known: Mapping[str, ColumnInfo]
) -> dict[str, ColumnInfo]:
    """Return the columns that are asked, with what the conditions on them tell."""
    missing = _asked_missing(conditions)
    columns: dict[str, ColumnInfo] = {}
    for condition in used:
        name = condition.column
        column = columns.get(name, known.get(name, ColumnInfo("unknown", name in missing)))
        if column.kind == "unknown":
            column = replace(column, kind=condition.column_kind or "unknown")
        columns[name] = column
    return columns


def _check_counts(tree: Tree, counts: NodeCounts, name: str) -> None:
    if len(counts) != len(tree.parents):
        raise ValueError(f"{name}.counts has {len(counts)} entries for {len(tree.parents)} nodes")
    sums: list[list[Weight]] = [[0] * len(tree.classes) for _ in counts]
    for i, (entry, parent) in enumerate(zip(counts, tree.parents, strict=True)):
        if len(entry) != len(tree.classes) or any(weight < 0 for weight in entry):
            raise ValueError(f"{name}.counts[{i}] must be one weight per class, none negative")
        if parent is not None:
            above = sums[parent[0]]
            above[:] = [a + b for a, b in zip(above, entry, strict=True)]
    for i, node in enumerate(tree.nodes()):
        if isinstance(node, Split) and sums[i] != list(counts[i]):
            raise ValueError(f"{name}.counts[{i}] is not the sum of its two children")
