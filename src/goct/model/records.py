"""What a model keeps beside its tree: columns, what was asked, what is proven, and on what data.

Each record checks itself, and is read from a file by the types of its fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from typing import Annotated, Any, TypeAlias

from goct._text import format_number
from goct.data.table import KINDS
from goct.exact import Exact
from goct.metrics import Metric
from goct.problem import Problem
from goct.solution import Limit, Status
from goct.tree import MAX_DEPTH, NodeCounts, Tree

Weight: TypeAlias = int | Fraction
Level: TypeAlias = str | int | float | bool
Matrix: TypeAlias = tuple[tuple[Weight, ...], ...]

_FRACTION = re.compile(r"-?\d{1,60}(/[1-9]\d{0,60})?", re.ASCII)
TOLERANCE = 1e-6  # of floats that stand for exact numbers


def read_fraction(text: str) -> Fraction:
    """Read a fraction such as 1/3; ``Fraction`` itself would also take 1e999999999."""
    if not _FRACTION.fullmatch(text):
        raise ValueError(f"must be a fraction such as 1/3, got {text[:60]!r}")
    return Fraction(text)


@dataclass(frozen=True)
class ColumnInfo:
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

    kind: Annotated[str, *KINDS, "unknown"]
    has_missing: bool = False
    levels: tuple[Level, ...] | None = None


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

    def __post_init__(self) -> None:
        if self.exact is not None:
            try:
                difference = abs(float(read_fraction(self.exact)) - self.value)
            except ValueError as error:
                raise ValueError(f"exact {error}") from None
            if difference > TOLERANCE * max(1, abs(self.value)):
                raise ValueError(f"exact is {self.exact}, which is not {self.value}")

    @classmethod
    def of(cls, number: Exact | Fraction | int) -> Quantity:
        """Return an exact number as a quantity."""
        exact = number if isinstance(number, Exact) else Exact(number)
        text = str(exact.as_fraction()) if exact.is_rational else ""
        return cls(float(exact), text if 0 < len(text) <= 40 else None)

    @classmethod
    def of_metric(cls, metric: Metric, tree: Tree, problem: Problem) -> Quantity | None:
        """Return the metric of a tree on a problem, or None where it is not defined."""
        try:
            return cls.of(metric.evaluate(tree, problem))
        except (ValueError, ZeroDivisionError):  # a class does not occur there
            return None

    def __str__(self) -> str:
        return format_number(self.value, self.exact)


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
    max_depth: int | None
    max_splits: int | None = None
    split_penalty: float = 0.0
    constraints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_depth is not None and self.max_depth > MAX_DEPTH:
            raise ValueError(f"max_depth must be at most {MAX_DEPTH}, got {self.max_depth}")


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
    status: Annotated[str, Status.OPTIMAL.value, Status.FEASIBLE.value]
    limit: Annotated[str, *(limit.value for limit in Limit)] = "none"
    is_exact: bool = True
    seconds: float | None = None

    def __post_init__(self) -> None:
        objective, bound = self.objective.value, self.bound.value
        margin = TOLERANCE * max(1, abs(objective), abs(bound))
        if objective > bound + margin:
            raise ValueError(f"objective is {objective:g}, which is above proof.bound, {bound:g}")
        if self.status == "optimal" and objective < bound - margin:
            raise ValueError(
                f"status is optimal, but proof.objective is {objective:g} and proof.bound {bound:g}"
            )


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

    counts: NodeCounts
    value: Quantity | None

    @classmethod
    def of(cls, tree: Tree, problem: Problem, metric: Metric | None) -> Part:
        """Return how the data of a problem falls through a tree; without a value if no metric."""
        value = None if metric is None else Quantity.of_metric(metric, tree, problem)
        return cls(tree.node_counts(problem), value)

    @property
    def total(self) -> Weight:
        """The weight of all rows."""
        return sum(self.counts[0])

    @property
    def number(self) -> float | None:
        """The metric as a float, where it is defined."""
        return None if self.value is None else self.value.value


@dataclass(frozen=True)
class Validation:
    """What trees of each size achieve on rows that were held back.

    Attributes
    ----------
    score
        What is measured: the name of the metric, or of another score.
    n_folds
        How often some rows were held back.
    splits
        The number of splits that the tree may have.
    means, errors
        The mean score of the folds and its standard error, at the place of the number
        of splits; None where there is no tree.
    estimate, estimate_error
        If the folds have chosen the size: what to expect of new rows, and its standard
        error. Each fold counts with what would be chosen without its rows.
    """

    score: str
    n_folds: int
    splits: int
    means: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    estimate: float | None = None
    estimate_error: float | None = None

    def __post_init__(self) -> None:
        if len(self.means) != len(self.errors):
            raise ValueError(f"errors has {len(self.errors)} entries for {len(self.means)} means")
        if not self.splits < len(self.means):
            raise ValueError(f"splits is {self.splits}, but there are {len(self.means)} means")

    @classmethod
    def of_results(
        cls,
        score: str,
        n_folds: int,
        results: Mapping[str, Any],
        chosen: int,
        estimate: tuple[float, float],
    ) -> Validation:
        """Return what a search over sizes tells, from the columns of its results.

        These are as of :class:`goct.OptimalTreeClassifierCV`, with the place of the choice.
        """
        same = results["setting"] == results["setting"][chosen]
        means, errors = (
            tuple(None if isnan(number) else float(number) for number in results[name][same])
            for name in ("mean_test_score", "se_test_score")
        )
        expected = (None, None) if isnan(estimate[0]) else estimate
        return cls(
            score, n_folds, int(results["param_max_splits"][chosen]), means, errors, *expected
        )

    @property
    def mean(self) -> float | None:
        """The mean score of the folds for the size of the tree."""
        return self.means[self.splits]

    @property
    def error(self) -> float | None:
        """Its standard error."""
        return self.errors[self.splits]


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
    train: Matrix
    train_value: Quantity | None
    test: Matrix | None = None
    test_value: Quantity | None = None
    broken: tuple[str, ...] = ()
