"""What is asked: the tree of a limited size that maximises ``metric - split_penalty * splits``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_count
from goct.constraints import (
    Constraint,
    MetricConstraint,
    MinLeafWeight,
    MinSamplesLeaf,
    check_constraints,
)
from goct.exact import Exact, as_fraction, check_magnitude
from goct.metrics import Metric, get_metric
from goct.metrics.declaration import check_declaration
from goct.problem import Problem
from goct.tree import MAX_DEPTH, Leaf, Tree


class LeafMeasure(NamedTuple):
    """How leaves are measured: integers of the rows of a problem, and the least sum of a leaf."""

    weights: NDArray[np.int64]
    least: int


@dataclass(frozen=True)
class SizeLimit:
    """How large a tree may be, and how small its leaves.

    Attributes
    ----------
    max_depth
        The largest number of splits between root and leaf; None if only the
        number of splits or their price limits it, and the depth that any tree
        can have, :data:`~goct.tree.MAX_DEPTH`.
    max_splits
        The largest number of splits (the split budget); no limit if None.
    min_leaf_weight
        The least weight of the samples in a leaf; without sample weights,
        their number.
    min_samples_leaf
        The least number of samples in a leaf, whatever they weigh.
    """

    max_depth: int | None
    max_splits: int | None = None
    min_leaf_weight: Fraction = Fraction(0)
    min_samples_leaf: int = 0

    @classmethod
    def read(
        cls,
        max_depth: Any,
        max_splits: Any = None,
        min_leaf_weight: Any = 0,
        min_samples_leaf: Any = 0,
    ) -> SizeLimit:
        """Return the limit that a user's numbers stand for, or raise an error that names one."""
        depth = None if max_depth is None else check_count(max_depth, "max_depth")
        if depth is not None and depth > MAX_DEPTH:
            raise ValueError(f"max_depth must be at most {MAX_DEPTH}, got {depth}")
        splits = None if max_splits is None else check_count(max_splits, "max_splits")
        leaf = as_fraction(min_leaf_weight, "min_leaf_weight")
        if leaf < 0:
            raise ValueError(f"min_leaf_weight must not be negative, got {min_leaf_weight}")
        return cls(depth, splits, leaf, check_count(min_samples_leaf, "min_samples_leaf"))

    @property
    def deepest(self) -> int:
        """The largest depth, whether or not one was asked for."""
        return MAX_DEPTH if self.max_depth is None else self.max_depth

    @property
    def reachable_depth(self) -> int:
        """The depth that a tree of this size can have."""
        depth = self.deepest
        return depth if self.max_splits is None else min(depth, self.max_splits)

    @property
    def most_splits(self) -> int:
        """The largest number of splits of a tree of this size."""
        full: int = 2**self.deepest - 1
        return full if self.max_splits is None else min(self.max_splits, full)

    def check_limited(self, split_penalty: Fraction = Fraction(0)) -> None:
        """Raise a `ValueError` if nothing limits the trees."""
        if self.max_depth is None and self.max_splits is None and not split_penalty:
            raise ValueError(
                "max_depth=None needs something else that limits the tree: max_splits "
                "(--max-splits) or, where it can be given, a split_penalty (--split-penalty) "
                "above 0; trees are then as deep as the price allows"
            )

    def describe(self) -> str:
        """Say which trees there are, as in "tree of depth 3"."""
        depth = "any depth" if self.max_depth is None else f"depth {self.max_depth}"
        budget = "" if self.max_splits is None else f" with at most {self.max_splits} splits"
        return f"tree of {depth}{budget}"

    def leaf_measures(self, problem: Problem) -> list[LeafMeasure]:
        """Return what leaves must have enough of: a measure, or two if none implies the other.

        Where all samples weigh the same, their number and their weight are one.
        """
        totals, samples = problem.counts.sum(axis=1), problem.samples
        weight = LeafMeasure(totals, ceil(self.min_leaf_weight / problem.weight_unit))
        number = LeafMeasure(samples, self.min_samples_leaf)
        if not number.least:
            return [weight]
        if not weight.least:
            return [number]
        each = int(totals[0] // samples[0])
        if np.array_equal(totals, each * samples):
            return [LeafMeasure(samples, max(number.least, ceil(Fraction(weight.least, each))))]
        return [number, weight]

    def too_large_for(self, problem: Problem) -> bool:
        """Say whether even a single leaf with all samples would be too small."""
        return any(m.least > int(m.weights.sum()) for m in self.leaf_measures(problem))


@dataclass(frozen=True, eq=False)
class Task:
    """A question: maximise ``metric - split_penalty * splits`` over all trees that qualify.

    Attributes
    ----------
    problem
        The data.
    metric
        What to maximise.
    size
        The size limit.
    split_penalty
        λ, the price of a split in the metric's own unit (cf. ``ccp_alpha``).
    constraints
        What a tree must meet besides. The least leaf of `size` is among them, as
        :class:`~goct.constraints.MinLeafWeight` and
        :class:`~goct.constraints.MinSamplesLeaf`.
    """

    problem: Problem = field(repr=False)
    metric: Metric
    size: SizeLimit
    split_penalty: Fraction = Fraction(0)
    constraints: tuple[Constraint, ...] = ()

    @classmethod
    def read(
        cls,
        problem: Problem,
        metric: str | Metric,
        max_depth: Any,
        *,
        split_penalty: Any = 0,
        max_splits: Any = None,
        min_leaf_weight: Any = 0,
        min_samples_leaf: Any = 0,
        constraints: Any = (),
    ) -> Task:
        """Return the task that a user's arguments stand for, as :func:`goct.solve` takes them."""
        if not isinstance(problem, Problem):
            raise TypeError(
                "problem must be a Problem, as made by Problem.from_arrays(X, y); "
                f"got {type(problem).__name__}"
            )
        metric = get_metric(metric)
        metric.check(problem)
        size = SizeLimit.read(max_depth, max_splits, min_leaf_weight, min_samples_leaf)
        penalty = read_penalty(split_penalty)
        size.check_limited(penalty)
        others, leaf, samples = [], size.min_leaf_weight, size.min_samples_leaf
        for constraint in check_constraints(constraints, problem):
            if isinstance(constraint, MinLeafWeight):
                leaf = max(leaf, constraint.weight)
            elif isinstance(constraint, MinSamplesLeaf):
                samples = max(samples, constraint.number)
            else:
                others.append(constraint)
        bounded = (c.metric for c in others if isinstance(c, MetricConstraint))
        for declared in (metric, *bounded):
            _check_declaration(declared, problem)
        if leaf > 0:
            others.append(MinLeafWeight(leaf))
        if samples > 0:
            others.append(MinSamplesLeaf(samples))
        size = replace(size, min_leaf_weight=leaf, min_samples_leaf=samples)
        return cls(problem, metric, size, penalty, tuple(others))

    def objective(self, tree: Tree) -> Exact:
        """Return ``metric - split_penalty * splits`` of a tree, exactly."""
        return self.penalised(self.metric.evaluate(tree, self.problem), tree.splits)

    def penalised(self, value: Exact, splits: int) -> Exact:
        """Return the objective of a value of the metric that is reached with so many splits."""
        return value - self.split_penalty * splits if self.split_penalty else value

    def is_feasible(self, tree: Tree) -> bool:
        """Say, exactly, whether a tree meets the constraints."""
        return all(constraint.is_met(tree, self.problem) for constraint in self.constraints)

    def refusal(self, tree: Tree) -> str | None:
        """Say why a tree is not one of those that are asked for; None if it is."""
        size = self.size
        if size.max_depth is not None and tree.depth > size.max_depth:
            return f"its depth is {tree.depth}, and max_depth is {size.max_depth}"
        if tree.splits > size.most_splits:
            return f"it has {tree.splits} splits, and {size.most_splits} are allowed"
        broken = (c.name for c in self.constraints if not c.is_met(tree, self.problem))
        return next((f"it does not meet {name!r}" for name in broken), None)

    def on(self, problem: Problem) -> Task:
        """Return the same question about other data."""
        return replace(self, problem=problem)

    @property
    def has_only_constants(self) -> bool:
        """Whether no tree with a split can be better than a constant one, or is allowed."""
        problem, size = self.problem, self.size
        no_features = problem.features.n_kept == 0
        no_splits = no_features or size.most_splits == 0 or problem.n_classes == 1
        return no_splits or size.too_large_for(problem)

    def best_constant(self) -> Tree | None:
        """Return the best feasible tree without a split, or None. The first class wins ties."""
        return self._best_constant

    @cached_property
    def _best_constant(self) -> Tree | None:
        problem = self.problem
        constants = [
            Tree(Leaf(k), problem.classes, problem.feature_names) for k in range(problem.n_classes)
        ]
        return max(filter(self.is_feasible, constants), key=self.objective, default=None)


def _check_declaration(metric: Metric, problem: Problem) -> None:
    """Raise a `ValueError` if a metric is not as monotone or quasiconvex as it says."""
    positive = problem.positive
    if positive is None or (problem.n_classes > 2 and not metric.is_binary):
        return
    sizes = problem.counts.sum(axis=0).tolist()
    n_pos = sizes[positive]
    check_declaration(metric.oriented(problem), n_pos, sum(sizes) - n_pos, problem.weight_unit)


def read_penalty(value: Any) -> Fraction:
    """Read a penalty; a float with many digits is replaced by a simpler number next to it.

    Its digits multiply with those of the metric, whose integers have to fit the
    search engine; none of them means anything after the first few.
    """
    penalty = as_fraction(value, "split_penalty")
    if penalty < 0:
        raise ValueError(f"split_penalty must not be negative, got {value}")
    check_magnitude(penalty, "split_penalty", 305)
    if isinstance(value, float | np.floating) and penalty.denominator > 10**12:
        return penalty.limit_denominator(10**6 * ceil(1 / min(penalty, Fraction(1))))
    return penalty
