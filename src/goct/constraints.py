"""Conditions that a tree must meet, whatever the metric says."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from goct.exact import as_fraction
from goct.metrics.metric import Metric
from goct.metrics.registry import get_metric

if TYPE_CHECKING:
    from goct.problem import Problem
    from goct.tree import Tree


class Constraint(ABC):
    """A condition on trees."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The condition as it is written, such as recall >= 0.9."""

    @abstractmethod
    def is_met(self, tree: Tree, problem: Problem) -> bool:
        """Say, exactly, whether a tree meets the condition on a problem."""

    def describe(self, tree: Tree, problem: Problem) -> str:
        """Say in a line how a tree meets the condition."""
        return self.name

    @abstractmethod
    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if the condition makes no sense for the problem."""

    def __repr__(self) -> str:
        return f"<constraint {self.name}>"


@dataclass(frozen=True, repr=False)
class MetricConstraint(Constraint):
    """A bound on a metric, as made by ``Recall() >= 0.9`` or ``FalsePositives() <= 10``.

    Attributes
    ----------
    metric
        The metric.
    sense
        ">=" or "<=".
    threshold
        The bound, which the metric may attain.
    """

    metric: Metric
    sense: str
    threshold: Fraction

    def __post_init__(self) -> None:
        if self.sense not in (">=", "<="):
            raise ValueError(f"sense must be '>=' or '<=', got {self.sense!r}")

    @property
    def name(self) -> str:
        """The condition as it is written."""
        return f"{self.metric.name} {self.sense} {float(self.threshold):g}"

    @property
    def is_monotone(self) -> bool:
        """Whether a tree that meets the condition still does when its TP or TN rises."""
        return self.metric.is_monotone if self.sense == ">=" else self.metric.is_antitone

    def is_met_by(self, value: Any) -> bool:
        """Say whether a value of the metric meets the condition."""
        return bool(value >= self.threshold if self.sense == ">=" else value <= self.threshold)

    def is_met(self, tree: Tree, problem: Problem) -> bool:
        """Say, exactly, whether a tree meets the condition on a problem."""
        return self.is_met_by(self.metric.evaluate(tree, problem))

    def describe(self, tree: Tree, problem: Problem) -> str:
        """Say in a line how a tree meets the condition."""
        return f"{self.name}  (it is {float(self.metric.evaluate(tree, problem)):.6g})"

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if the metric is not defined for the problem."""
        self.metric.check(problem)

    def __bool__(self) -> bool:
        # Python reads 0.2 <= metric <= 0.5 as two comparisons and asks for the truth of the first.
        raise TypeError(
            f"the constraint {self.name!r} has no truth value; give two bounds as two constraints"
        )


def get_constraint(constraint: Any) -> Constraint:
    """Return a constraint from its text, or as it is.

    Parameters
    ----------
    constraint
        A :class:`Constraint`, or a text such as "recall >= 0.9": the name of a
        metric, ">=" or "<=", and a number.

    Raises
    ------
    ValueError
        If the text cannot be read or names no metric.
    TypeError
        If `constraint` is neither a constraint nor a text.
    """
    if isinstance(constraint, Constraint):
        return constraint
    if not isinstance(constraint, str):
        raise TypeError(
            "a constraint must be made like Recall() >= 0.9, or be a text such as "
            f"'recall >= 0.9'; got {constraint!r}"
        )
    match = re.fullmatch(r"\s*(.+?)\s*(>=|<=)\s*(\S+?)(%?)\s*", constraint)
    if match is None:
        raise ValueError(
            f"cannot read the constraint {constraint!r}; write a metric, >= or <=, and a number, "
            "as in 'recall >= 0.9'"
        )
    metric = get_metric(match[1])
    try:
        threshold = Fraction(match[3])
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"cannot read the number {match[3]!r} in the constraint {constraint!r}"
        ) from None
    return MetricConstraint(metric, match[2], threshold / 100 if match[4] else threshold)


def check_constraints(constraints: Any, problem: Problem) -> tuple[Constraint, ...]:
    """Read one constraint or several, and check that they make sense for a problem."""
    if isinstance(constraints, str | Constraint):
        constraints = (constraints,)
    if not isinstance(constraints, Iterable):
        raise TypeError(f"constraints must be a list of constraints, got {constraints!r}")
    read = tuple(get_constraint(constraint) for constraint in constraints)
    for constraint in read:
        constraint.check(problem)
    return read


def compare(metric: Metric, sense: str, threshold: Any) -> MetricConstraint:
    """Return the constraint that ``metric >= threshold`` or ``metric <= threshold`` stands for."""
    return MetricConstraint(metric, sense, as_fraction(threshold, f"the bound on {metric.name!r}"))
