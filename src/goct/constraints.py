"""Conditions that a tree must meet, whatever the metric says."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from goct._validation import check_count, plain, suggest
from goct.exact import as_fraction
from goct.metrics import Share, get_metric
from goct.metrics.catalogue import Count
from goct.metrics.constraint import Constraint, MetricConstraint

if TYPE_CHECKING:
    from goct.problem import Problem
    from goct.tree import Tree


__all__ = [
    "Constraint", "Feature", "FeatureBudget", "ForbidFeatures", "MaxFeatures", "MetricConstraint",
    "MinLeafWeight", "MinSamplesLeaf", "RequireFeatures", "check_constraints", "get_constraint",
]  # fmt: skip

Feature: TypeAlias = str | int
"""A column of the data, by name or by number: see :attr:`goct.Problem.column_names`."""


@dataclass(frozen=True, repr=False)
class _FeatureConstraint(Constraint):
    """A condition that names features."""

    features: tuple[Feature, ...]

    def __init__(self, *features: Feature | Iterable[Feature]) -> None:
        object.__setattr__(self, "features", _read_features(features))

    def indices(self, problem: Problem) -> frozenset[int]:
        """Return the numbers of the columns."""
        return frozenset(_index(feature, problem) for feature in self.features)

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if a feature is unknown."""
        self.indices(problem)


class FeatureSetConstraint(Constraint):
    """A condition on the set of features that a tree uses; subsets of an admitted set are, too."""

    @abstractmethod
    def admits(self, problem: Problem) -> Callable[[Set[int]], bool]:
        """Return a function that says whether a tree may use a set of columns."""

    def is_met(self, tree: Tree, problem: Problem) -> bool:
        """Say, exactly, whether the features of a tree are admitted."""
        return self.admits(problem)(problem.columns_of(tree.features))


class ForbidFeatures(_FeatureConstraint, FeatureSetConstraint):
    """The tree must not use some features. A copy of a forbidden column is another column.

    Parameters
    ----------
    features
        The names or numbers of columns.
    """

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"no split on {_listed(self.features)}"

    def admits(self, problem: Problem) -> Callable[[Set[int]], bool]:
        """Return a function that says whether none of the features is in a set of columns."""
        return self.indices(problem).isdisjoint


class RequireFeatures(_FeatureConstraint):
    """The tree must use some features, each in a split that makes a difference.

    Splits that all rows pass on the same side, and those between equal leaves,
    do not count, see :meth:`goct.Tree.pruned`.

    Parameters
    ----------
    features
        The names or numbers of columns.
    """

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"a split on {_listed(self.features)}"

    def is_met(self, tree: Tree, problem: Problem) -> bool:
        """Say whether a tree, without idle splits, splits on all these features."""
        return self.indices(problem) <= problem.columns_of(tree.pruned(problem).features)


@dataclass(frozen=True, repr=False)
class MaxFeatures(FeatureSetConstraint):
    """The tree uses at most so many different features.

    Parameters
    ----------
    number
        The largest number.
    """

    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", check_count(self.number, "the number of features"))

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"at most {self.number} different features"

    def admits(self, problem: Problem) -> Callable[[Set[int]], bool]:
        """Return a function that says whether a set of columns is so small."""
        return lambda features: len(features) <= self.number


@dataclass(frozen=True, repr=False)
class FeatureBudget(FeatureSetConstraint):
    """The features that a tree uses cost no more than a budget, each paid for once.

    Parameters
    ----------
    costs
        The cost of each feature, not negative, under names or numbers of
        columns. Those that are not named cost nothing.
    budget
        What the features of a tree may cost together.
    """

    costs: Mapping[Feature, Any]
    budget: Any

    def __post_init__(self) -> None:
        if not isinstance(self.costs, Mapping):
            raise TypeError(f"costs must map features to numbers, got {self.costs!r}")
        costs = {
            _read_feature(feature): as_fraction(cost, f"the cost of {feature!r}")
            for feature, cost in self.costs.items()
        }
        for feature, cost in costs.items():
            if cost < 0:
                raise ValueError(f"the cost of {feature!r} is negative: {cost}")
        object.__setattr__(self, "costs", costs)
        object.__setattr__(self, "budget", as_fraction(self.budget, "the budget"))

    def __hash__(self) -> int:
        return hash((frozenset(self.costs.items()), self.budget))

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"features for at most {float(self.budget):g}"

    def prices(self, problem: Problem) -> dict[int, Fraction]:
        """Return the cost of each column that has one."""
        prices: dict[int, Fraction] = {}
        for feature, cost in self.costs.items():
            index = _index(feature, problem)
            if index in prices:
                raise ValueError(f"the feature {problem.column_names[index]!r} has two costs")
            prices[index] = cost
        return prices

    def admits(self, problem: Problem) -> Callable[[Set[int]], bool]:
        """Return a function that says, exactly, whether a set of columns fits the budget."""
        prices = self.prices(problem)
        return lambda features: sum(prices.get(f, 0) for f in features) <= self.budget

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if a feature is unknown or named twice."""
        self.prices(problem)


@dataclass(frozen=True, repr=False)
class MinLeafWeight(Constraint):
    """Every leaf receives samples of at least some weight.

    Parameters
    ----------
    weight
        The least weight; without sample weights, the number of samples.
    """

    weight: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", as_fraction(self.weight, "the weight of a leaf"))

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"leaves of weight {float(self.weight):g} at least"

    def is_met(self, tree: Tree, problem: Problem) -> bool:
        """Say, exactly, whether every leaf of a tree is so heavy."""
        totals = problem.counts.sum(axis=1)
        return all(
            problem.weight(int(totals[rows].sum())) >= self.weight
            for _, rows in tree.reached(problem)  # a split is as heavy as its leaves together
        )


@dataclass(frozen=True, repr=False)
class MinSamplesLeaf(Constraint):
    """Every leaf receives at least some number of samples, whatever they weigh.

    Parameters
    ----------
    number
        The least number. Samples of weight 0 do not count.
    """

    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", check_count(self.number, "the samples of a leaf"))

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"leaves of {self.number} {'sample' if self.number == 1 else 'samples'} at least"

    def is_met(self, tree: Tree, problem: Problem) -> bool:
        """Say whether every leaf of a tree receives as many."""
        return all(
            int(problem.samples[rows].sum()) >= self.number for _, rows in tree.reached(problem)
        )


def _read_feature(feature: Any) -> Feature:
    feature = plain(feature)
    if not isinstance(feature, str | int) or isinstance(feature, bool):
        raise TypeError(f"a feature must be a name or a number, got {feature!r}")
    return feature


def _read_features(features: tuple[Any, ...]) -> tuple[Feature, ...]:
    flat: list[Any] = []
    for item in features:
        flat += [item] if isinstance(item, str) or not isinstance(item, Iterable) else [*item]
    return tuple(_read_feature(feature) for feature in flat)


def _index(feature: Feature, problem: Problem) -> int:
    """Return the number of a column, or raise an error that names it."""
    names = problem.column_names
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"unknown feature {feature!r}{suggest(feature, names)}")
        return names.index(feature)
    if not 0 <= feature < len(names):
        raise ValueError(f"unknown feature {feature}; there are {len(names)} columns")
    return feature


def _listed(features: tuple[Feature, ...]) -> str:
    return ", ".join(map(str, features)) or "nothing"


# A power of ten with millions of digits would take forever.
_DECIMAL = r"([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?"
_NUMBER = rf"[+-]?([0-9]{{1,40}}/0*[1-9][0-9]{{0,39}}|{_DECIMAL})"


def get_constraint(constraint: Any) -> Constraint:
    """Return a constraint from its text, or as it is.

    Parameters
    ----------
    constraint
        A :class:`Constraint`, or a text such as "recall >= 0.9": the name of a
        metric, ">=" or "<=", and a number, which may end in "%". After a count that is a
        share, see :class:`goct.metrics.Share`.

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
    match = re.fullmatch(r"\s*(.+?)\s*(>=|<=|≥|≤)\s*([^\s%]+)\s*(%?)\s*", constraint)
    if match is None:
        raise ValueError(
            f"cannot read the constraint {constraint!r}; write a metric, >= or <=, and a number, "
            "as in 'recall >= 0.9'"
        )
    metric, sense = get_metric(match[1]), {"≥": ">=", "≤": "<="}.get(match[2], match[2])
    if not re.fullmatch(_NUMBER, match[3]):
        raise ValueError(f"cannot read the number {match[3]!r} in the constraint {constraint!r}")
    threshold = Fraction(match[3])
    if match[4] and isinstance(metric, Count):
        metric = Share(metric)
    return MetricConstraint(metric, sense, threshold / 100 if match[4] else threshold)


def check_constraints(constraints: Any, problem: Problem) -> tuple[Constraint, ...]:
    """Read one constraint or several, and check that they make sense for a problem."""
    if constraints is None:
        return ()
    if isinstance(constraints, str | Constraint):
        constraints = (constraints,)
    if not isinstance(constraints, Iterable):
        raise TypeError(f"constraints must be a list of constraints, got {constraints!r}")
    read = tuple(get_constraint(constraint) for constraint in constraints)
    for constraint in read:
        constraint.check(problem)
    return read
