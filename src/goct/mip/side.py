"""Side constraints: what they mean for the features, rows and separators of a model.

:func:`state` has one short function for each kind of constraint.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import singledispatch
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
    MinSamplesLeaf,
    RequireFeatures,
)
from goct.metrics import LinearMetric
from goct.mip.cuts import LeafWeightCuts
from goct.mip.numerics import LARGEST_ROW, slack
from goct.mip.program import Term
from goct.mip.tree_program import TreeProgram
from goct.one_vs_rest import against_rest
from goct.problem import Problem


@dataclass(frozen=True, eq=False)
class Requirement:
    """The condition ``Σ_r gains[r, k_r] >= least`` on the class k_r predicted in each row r.

    The gains are integers, not negative, of shape (rows, classes), with a zero in each row.
    """

    name: str  # of the constraint it comes from
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


@dataclass(frozen=True, eq=False)
class SideConstraints:
    """The side constraints of a problem, and what a model must know before it is built.

    Of features that are equal or complements of each other, only those that can matter are columns.
    """

    constraints: tuple[Constraint, ...]  # `state` writes the rows of each
    columns: NDArray[np.intp]  # the original features that the model may use
    requirements: list[Requirement] = field(default_factory=list)
    required: list[int] = field(default_factory=list)  # positions in `columns`
    is_impossible: bool = False  # it is clear already that no tree meets them

    @classmethod
    def read(cls, constraints: tuple[Constraint, ...], problem: Problem) -> SideConstraints:
        """Read the constraints of a problem, or raise a `ValueError` if no model expresses one."""
        forbidden: set[int] = set()
        required: set[int] = set()
        prices: list[dict[int, Fraction]] = []
        requirements: list[Requirement] = []
        too_heavy = False
        for constraint in constraints:
            if state.dispatch(type(constraint)) is state.dispatch(Constraint):
                raise ValueError(f"the MIP engine cannot handle the constraint {constraint.name!r}")
            if isinstance(constraint, ForbidFeatures):
                forbidden |= constraint.indices(problem)
            elif isinstance(constraint, RequireFeatures):
                required |= constraint.indices(problem)
            elif isinstance(constraint, FeatureBudget):
                prices.append(constraint.prices(problem))
            elif isinstance(constraint, MetricConstraint):
                requirements += _requirements(constraint, problem)
            elif isinstance(constraint, MinLeafWeight):
                too_heavy |= _least_count(constraint, problem) > int(problem.counts.sum())
            elif isinstance(constraint, MinSamplesLeaf):
                too_heavy |= constraint.number > int(problem.samples.sum())
        counts_columns = any(isinstance(c, MaxFeatures | FeatureBudget) for c in constraints)
        columns = _choose_columns(problem, forbidden, required, prices, counts_columns)
        owner = _owner(problem, columns)
        return cls(
            constraints=constraints,
            columns=columns,
            requirements=requirements,
            required=np.flatnonzero(np.isin(owner, sorted(required))).tolist(),
            is_impossible=too_heavy or not required <= set(owner.tolist()),
        )

    def add_to(self, tree: TreeProgram, problem: Problem, *, lazily: bool) -> None:
        """Add the rows of the constraints to a model, many of them `lazily`, found on demand."""
        for constraint in self.constraints:
            state(constraint, Context(tree, problem, self.columns, lazily))
        if self.required:
            # Idle splits could feign that a feature is used.
            tree.forbid_redundant_splits()
            _weigh_leaves(tree, np.ones(problem.n_rows), 0.5, lazily)


@dataclass(frozen=True)
class Context:
    """What the rows of a constraint are written for."""

    tree: TreeProgram
    problem: Problem
    columns: NDArray[np.intp]  # the original feature of each feature of the model
    lazily: bool  # whether rows may be found on demand where there would be many


@singledispatch
def state(constraint: Constraint, context: Context) -> None:
    """Add the rows of a constraint to a model, relaxed by :func:`goct.mip.numerics.slack`.

    Every tree that meets the constraint must meet them. Trees that meet them
    and not the constraint are cut off by its exact check.
    """
    raise NotImplementedError(constraint.name)


@state.register
def _(constraint: ForbidFeatures, context: Context) -> None:
    """Nothing to do: the model has only the columns that are allowed."""


@state.register
def _(constraint: RequireFeatures, context: Context) -> None:
    needed = sorted(constraint.indices(context.problem))
    owner = _owner(context.problem, context.columns)
    features = np.flatnonzero(np.isin(owner, needed))
    rows = np.searchsorted(needed, owner[features])
    terms: list[Term] = [(rows, context.tree.b[:, features], 1.0)]
    context.tree.add_rows("require_features", len(needed), terms, lower=1)


@state.register
def _(constraint: MaxFeatures, context: Context) -> None:
    _, group = np.unique(_owner(context.problem, context.columns), return_inverse=True)
    terms: list[Term] = [(0, context.tree.mark_used(group), 1.0)]
    context.tree.add_rows("max_features", 1, terms, upper=constraint.number + 0.5)


@state.register
def _(constraint: FeatureBudget, context: Context) -> None:
    """``Σ_f cost[f] · u[f] <= budget``, in integers."""
    tree, budget = context.tree, Fraction(constraint.budget)
    prices = constraint.prices(context.problem)
    used, group = np.unique(_owner(context.problem, context.columns), return_inverse=True)
    costs = [prices.get(int(j), Fraction(0)) for j in used]
    unit = lcm(budget.denominator, *(cost.denominator for cost in costs))
    integers = [int(cost * unit) for cost in costs]
    scale = max(1.0, sum(integers) / LARGEST_ROW)
    amount = np.array([integer / scale for integer in integers])
    terms: list[Term] = [(0, tree.mark_used(group), amount)]
    upper = (float(budget * unit) + slack(sum(integers))) / scale
    tree.add_rows(f"feature_budget_{len(tree.rows)}", 1, terms, upper=upper)


@state.register
def _(constraint: MinLeafWeight, context: Context) -> None:
    totals = context.problem.counts.sum(axis=1).astype(np.float64)
    least = _least_count(constraint, context.problem) - slack(totals.sum())
    _weigh_leaves(context.tree, totals, least, context.lazily)


@state.register
def _(constraint: MinSamplesLeaf, context: Context) -> None:
    samples = context.problem.samples.astype(np.float64)
    _weigh_leaves(context.tree, samples, constraint.number - 0.5, context.lazily)


@state.register
def _(constraint: MetricConstraint, context: Context) -> None:
    tree = context.tree
    for requirement in _requirements(constraint, context.problem):
        if requirement.least <= 0:
            continue
        scale = max(1.0, requirement.most / LARGEST_ROW)
        amount = tree.instances.share(requirement.gains) / scale
        terms: list[Term] = [(0, tree.g[amount > 0], amount[amount > 0])]
        tree.add_rows(
            f"requirement_{len(tree.rows)}", 1, terms, lower=requirement.relaxed_least / scale
        )


def _least_count(constraint: MinLeafWeight, problem: Problem) -> int:
    """Return the least weight of a leaf in counts."""
    return ceil(Fraction(constraint.weight) / problem.weight_unit)


def _weigh_leaves(
    tree: TreeProgram, weights: NDArray[np.float64], least: float, lazily: bool
) -> None:
    """Require rows of at least some weight in every leaf."""
    if least <= 0:
        return
    scale = max(1.0, weights.sum() / LARGEST_ROW)
    if lazily:
        tree.separators.append(LeafWeightCuts(tree, weights / scale, least / scale))
    else:
        tree.weigh_leaves(weights / scale, least / scale)


def _requirements(constraint: MetricConstraint, problem: Problem) -> list[Requirement]:
    """Write a bound on a metric as conditions on the predictions."""
    metric, threshold, name = constraint.metric, constraint.threshold, constraint.name
    if metric.is_binary and problem.n_classes > 2:
        # All predictions but the positive class are alike.
        side = (np.arange(problem.n_classes) == problem.positive).astype(np.intp)
        found = _requirements(constraint, against_rest(problem))
        return [replace(each, gains=each.gains[:, side]) for each in found]
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
    is_positive = np.arange(2) == problem.positive
    matrix = problem.counts.astype(object) * np.where(is_positive, a, b).astype(object)
    negatives, positives = _class_sizes(problem)
    return Requirement.of(name, matrix, Fraction(a * positives + b * negatives - most))


def _choose_columns(
    problem: Problem,
    forbidden: set[int],
    required: set[int],
    prices: list[dict[int, Fraction]],
    counts_columns: bool,
) -> NDArray[np.intp]:
    """Return the original features that a model needs, at most a few of those that are equal.

    Forbidden and required are columns, prices their costs in each budget; `counts_columns` says
    whether it matters how many columns are used, or which.
    """
    owner = problem.features.explicit.owner
    groups: dict[int, list[int]] = {}
    for j, source in enumerate(problem.source.tolist()):
        if source >= 0 and owner[j] not in forbidden:
            groups.setdefault(source, []).append(j)
    keeps_equal = counts_columns and len(np.unique(owner)) < len(owner)
    chosen: list[int] = []
    for group in groups.values():
        if len(prices) > 1 or keeps_equal:
            chosen += group  # one may be cheap here, another one there
            continue
        price = prices[0] if prices else {}

        def rank(j: int, price: dict[int, Fraction] = price) -> tuple[Fraction, bool, int]:
            return price.get(int(owner[j]), Fraction(0)), owner[j] not in required, j

        cheapest = min(group, key=rank)
        chosen += [j for j in group if j == cheapest or owner[j] in required]
    return np.array(sorted(chosen), dtype=np.intp)


def _owner(problem: Problem, features: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the columns that features are conditions on."""
    return problem.features.explicit.owner[features]
