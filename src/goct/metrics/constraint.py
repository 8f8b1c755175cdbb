"""Conditions on trees, and the one that bounds a metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from goct.exact import Exact, check_magnitude

if TYPE_CHECKING:
    from goct.metrics.metric import Metric
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

    def check(self, problem: Problem) -> None:  # noqa: B027
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
        check_magnitude(self.threshold, f"the bound on {self.metric.name!r}")

    @property
    def name(self) -> str:
        """The condition as it is written."""
        return f"{self.metric.name} {self.sense} {self.written(self.threshold)}"

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
        return f"{self.name}  (it is {self.written(self.metric.evaluate(tree, problem))})"

    def written(self, value: Fraction | Exact) -> str:
        """Return a value of the metric as the bound on it is written."""
        number = float(value)
        return f"{100 * number:.6g}%" if self.metric.measures == "share" else f"{number:.6g}"

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if the metric is not defined for the problem, or never so good."""
        self.metric.check(problem)
        weights_are_whole = problem.weight_unit.denominator == 1
        if self.metric.measures == "count" and 0 < self.threshold < 1 and weights_are_whole:
            start, number = f"{self.metric.name} {self.sense}", float(self.threshold)
            raise ValueError(
                f"{self.name!r} is about a part of one row: if a share is meant, write "
                f"'{start} {100 * number:g}%'; if a number of rows, a whole number"
            )
        least, most = self.metric.value_range
        extreme, words = (most, "most") if self.sense == ">=" else (least, "least")
        if extreme is None or self.is_met_by(extreme):
            return
        hint = ""
        if extreme == 1 and self.threshold <= 100:
            percent = float(self.threshold)
            hint = f"; if {percent:g} % is meant, write {percent / 100:g}"
        raise ValueError(
            f"no classifier meets {self.name!r} on any data: {self.metric.name} is at {words} "
            f"{extreme}{hint}"
        )

    def __bool__(self) -> bool:
        # Python reads 0.2 <= metric <= 0.5 as two comparisons and asks for the truth of the first.
        raise TypeError(
            f"the constraint {self.name!r} has no truth value; give two bounds as two constraints"
        )
