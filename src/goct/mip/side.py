"""Side constraints: what they mean for the features, rows and separators of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.constraints import (
    Constraint,
    FeatureBudget,
    ForbidFeatures,
    MaxFeatures,
    MetricConstraint,
    MinLeafWeight,
    RequireFeatures,
)
from goct.metrics import LinearMetric
from goct.mip.cuts import LeafWeightCuts
from goct.mip.numerics import LARGEST_ROW, slack
from goct.mip.program import Term
from goct.mip.tree_program import TreeProgram
from goct.problem import Problem
from goct.tree import Tree


@dataclass(frozen=True, eq=False)
class Requirement:
    """The condition ``Σ_r gains[r, k_r] >= least`` on the class k_r predicted in each row r.

    Attributes
    ----------
    name
        The constraint it comes from.
    gains
        Integers, not negative, of shape (rows, classes), with a zero in each row.
    least
        An integer.
    """

    name: str
    gains: NDArray[Any]
    least: int

    @classmethod
    def of(cls, name: str, matrix: NDArray[Any], least: Fraction) -> Requirement:
        """Shift the numbers of each row so that the least is zero."""
        matrix = matrix.astype(object)
        lowest = matrix.min(axis=1)
        gains, bound = matrix - lowest[:, None], least - int(lowest.sum())
        divisor = gcd(*map(int, gains.ravel())) or 1
        return cls(name, gains // divisor, ceil(bound / divisor))

    @property
    def most(self) -> int:
        """What no tree exceeds."""
        return int(self.gains.max(axis=1).sum())

    @property
    def relaxed_least(self) -> float:
        """A bound for floats, which a tree that meets the condition meets with room to spare."""
        return self.least - slack(self.most)


@dataclass
class SideConstraints:
    """The side constraints of a problem, sorted by what a model does with them.

    Attributes
    ----------
    constraints
        The constraints.
    columns
        The original columns that the model may use. Of columns that are equal
        or complements of each other, only those that can matter are here.
    requirements
        Conditions on predictions.
    required
        Positions in `columns` of features that must be used.
    max_features
        The largest number of features; None if there is no limit.
    budgets
        Pairs of a cost for each of `columns` and the budget.
    min_leaf
        The least weight of a leaf, in counts; None if there is no limit.
    is_impossible
        Whether it is clear already that no tree meets the constraints.
    """

    constraints: tuple[Constraint, ...]
    columns: NDArray[np.intp]
    requirements: list[Requirement] = field(default_factory=list)
    required: list[int] = field(default_factory=list)
    max_features: int | None = None
    budgets: list[tuple[list[Fraction], Fraction]] = field(default_factory=list)
    min_leaf: int | None = None
    is_impossible: bool = False

    @classmethod
    def read(cls, constraints: tuple[Constraint, ...], problem: Problem) -> SideConstraints:
        """Sort the constraints of a problem.

        Raises
        ------
        ValueError
            If a model cannot express a constraint.
        """
        forbidden: set[int] = set()
        required: set[int] = set()
        prices: list[tuple[dict[int, Fraction], Fraction]] = []
        requirements: list[Requirement] = []
        max_features: int | None = None
        min_leaf: int | None = None
        for constraint in constraints:
            match constraint:
                case ForbidFeatures():
                    forbidden |= constraint.indices(problem)
                case RequireFeatures():
                    required |= constraint.indices(problem)
                case MaxFeatures():
                    number = constraint.number
                    max_features = number if max_features is None else min(max_features, number)
                case FeatureBudget():
                    prices.append((constraint.prices(problem), constraint.budget))
                case MinLeafWeight():
                    counts = ceil(constraint.weight / problem.weight_unit)
                    min_leaf = counts if min_leaf is None else max(min_leaf, counts)
                case MetricConstraint():
                    requirements += _requirements(constraint, problem)
                case _:
                    raise ValueError(
                        f"the MIP engine cannot handle the constraint {constraint.name!r}"
                    )
        columns = _choose_columns(problem, forbidden, required, [price for price, _ in prices])
        position = {int(j): k for k, j in enumerate(columns)}
        return cls(
            constraints=constraints,
            columns=columns,
            requirements=requirements,
            required=sorted(position[j] for j in required if j in position),
            max_features=max_features,
            budgets=[
                ([price.get(int(j), Fraction(0)) for j in columns], budget)
                for price, budget in prices
            ],
            min_leaf=min_leaf,
            is_impossible=any(j not in position for j in required)
            or (min_leaf is not None and min_leaf > int(problem.counts.sum())),
        )

    @property
    def needs_lean_trees(self) -> bool:
        """Whether idle splits must be forbidden, since they could feign that a feature is used."""
        return bool(self.required)

    def are_met(self, tree: Tree, problem: Problem) -> bool:
        """Say, exactly, whether a tree meets all constraints."""
        return all(constraint.is_met(tree, problem) for constraint in self.constraints)

    def add_to(self, tree: TreeProgram, problem: Problem, *, lazily: bool) -> None:
        """Add the rows of the constraints to a model.

        Parameters
        ----------
        tree
            The model.
        problem
            The problem.
        lazily
            Whether rows may be found on demand where there would be many.
        """
        for number, requirement in enumerate(self.requirements):
            _add_requirement(tree, requirement, number)
        if self.required:
            features = np.arange(len(self.required))
            terms: list[Term] = [(features, tree.b[:, self.required], 1.0)]
            tree.add_rows("require_features", len(features), terms, lower=1)
        if self.max_features is not None:
            used = tree.mark_used_features()
            terms = [(0, used, 1.0)]
            tree.add_rows("max_features", 1, terms, upper=self.max_features + 0.5)
        for number, (costs, budget) in enumerate(self.budgets):
            _add_budget(tree, costs, budget, number)
        self._add_leaf_weights(tree, problem, lazily)

    def _add_leaf_weights(self, tree: TreeProgram, problem: Problem, lazily: bool) -> None:
        weights: list[tuple[NDArray[np.float64], float]] = []
        if self.min_leaf is not None:
            totals = problem.counts.sum(axis=1).astype(np.float64)
            least = self.min_leaf - slack(totals.sum())
            weights.append((totals, least))
        if self.needs_lean_trees:
            tree.forbid_redundant_splits()
            weights.append((np.ones(problem.n_rows), 0.5))
        for totals, least in weights:
            scale = max(1.0, totals.sum() / LARGEST_ROW)
            if least <= 0:
                continue
            if lazily:
                tree.separators.append(LeafWeightCuts(tree, totals / scale, least / scale))
            else:
                tree.weigh_leaves(totals / scale, least / scale)


def _requirements(constraint: MetricConstraint, problem: Problem) -> list[Requirement]:
    """Write a bound on a metric as conditions on the predictions."""
    metric, threshold, name = constraint.metric, constraint.threshold, constraint.name
    sign = 1 if constraint.sense == ">=" else -1
    if isinstance(metric, LinearMetric):
        rewards = metric.rewards(problem)
        least = sign * (threshold - rewards.offset) / rewards.scale
        return [Requirement.of(name, sign * rewards.matrix.astype(object), least)]
    negatives, positives = _class_sizes(problem)
    line = metric.level_line(threshold, positives, negatives, problem.weight_unit)
    if line is None:
        raise ValueError(
            f"the MIP engine cannot handle the constraint {name!r}: it bounds metrics that are "
            f"linear or fractional, and {metric.name!r} is {metric.shape.value}"
        )
    if sign > 0:
        found = [_error_requirement(name, line.a, line.b, line.most, problem)]
    else:
        found = [_error_requirement(name, -line.a, -line.b, -line.cutoff, problem)]
    if line.pole is not None and sign * threshold > 0:  # the metric is 0 at its pole
        pole = line.pole
        found.append(_error_requirement(name, pole.a, pole.b, pole.cutoff - 1, problem))
    return found


def _class_sizes(problem: Problem) -> tuple[int, int]:
    """Return the counts of the negative and of the positive class."""
    assert problem.positive is not None
    sizes = problem.counts.sum(axis=0)
    positives = int(sizes[problem.positive])
    return int(sizes.sum()) - positives, positives


def _error_requirement(name: str, a: int, b: int, most: int, problem: Problem) -> Requirement:
    """Write ``a · FN + b · FP <= most`` as a condition on the predictions."""
    # a TP + b TN >= a n+ + b n- - most
    is_positive = np.arange(problem.n_classes) == problem.positive
    matrix = problem.counts.astype(object) * np.where(is_positive, a, b).astype(object)
    negatives, positives = _class_sizes(problem)
    return Requirement.of(name, matrix, Fraction(a * positives + b * negatives - most))


def _choose_columns(
    problem: Problem, forbidden: set[int], required: set[int], prices: list[dict[int, Fraction]]
) -> NDArray[np.intp]:
    """Return the original columns that a model needs, at most a few of those that are equal."""
    groups: dict[int, list[int]] = {}
    for j, source in enumerate(problem.source.tolist()):
        if source >= 0 and j not in forbidden:
            groups.setdefault(source, []).append(j)
    chosen: list[int] = []
    for group in groups.values():
        if len(prices) > 1:
            chosen += group  # one may be cheap here, another one there
            continue
        price = prices[0] if prices else {}
        cheapest = min(group, key=lambda j: (price.get(j, Fraction(0)), j not in required, j))
        chosen += [j for j in group if j == cheapest or j in required]
    return np.array(sorted(chosen), dtype=np.intp)


def _add_requirement(tree: TreeProgram, requirement: Requirement, number: int) -> None:
    if requirement.least <= 0:
        return
    scale = max(1.0, requirement.most / LARGEST_ROW)
    amount = tree.instances.share(requirement.gains) / scale
    terms: list[Term] = [(0, tree.g[amount > 0], amount[amount > 0])]
    least = requirement.relaxed_least / scale
    tree.add_rows(f"requirement_{number}", 1, terms, lower=least)


def _add_budget(tree: TreeProgram, costs: list[Fraction], budget: Fraction, number: int) -> None:
    """``Σ_f cost[f] · u[f] <= budget``, in integers, with room for rounding."""
    unit = lcm(budget.denominator, *(cost.denominator for cost in costs))
    integers = [int(cost * unit) for cost in costs]
    scale = max(1.0, sum(integers) / LARGEST_ROW)
    amount = np.array([integer / scale for integer in integers])
    terms: list[Term] = [(0, tree.mark_used_features(), amount)]
    upper = (float(budget * unit) + slack(sum(integers))) / scale
    tree.add_rows(f"feature_budget_{number}", 1, terms, upper=upper)
