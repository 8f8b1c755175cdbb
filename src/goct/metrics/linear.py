"""Linear metrics: rewards by class, and the integers in which engines maximise them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact, common_integers
from goct.metrics.arrays import Counts, Floats, as_float, exact_sum, first
from goct.metrics.confusion import Confusion
from goct.metrics.metric import LinearMetric, Rational, Rewards, reduced

if TYPE_CHECKING:
    from goct.problem import Problem


ClassTable: TypeAlias = tuple[list[list[Fraction]], Fraction]
"""The reward per unit of weight, ``[k][j]`` for predicting class j where k is true; an offset."""


class ClassRewardMetric(LinearMetric):
    """A linear metric in which a sample's reward depends on its true and predicted class."""

    @abstractmethod
    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return the rewards, and the offset.

        Parameters
        ----------
        class_weights
            The total weight of each class.
        positive
            The index of the positive class.
        """

    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""
        c = confusion
        rewards, offset = self.class_rewards([c.n_neg, c.n_pos], 1)
        matrix = ((c.tn, c.fp), (c.fn, c.tp))
        total = sum(rewards[k][j] * matrix[k][j] for k in range(2) for j in range(2))
        return Exact(offset + total)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices, rounded once."""
        if not np.broadcast(tp, fp, fn, tn).size:
            return np.zeros(np.broadcast(tp, fp, fn, tn).shape)
        n_pos, n_neg = first(tp) + first(fn), first(tn) + first(fp)
        rewards, offset = self.class_rewards([unit * n_neg, unit * n_pos], 1)
        entries = [unit * rewards[k][j] for k, j in ((1, 1), (0, 1), (1, 0), (0, 0))]
        scale, (constant, *factors) = common_integers([offset, *entries])
        return exact_sum(constant, factors, (tp, fp, fn, tn)) / as_float(scale)

    def rewards(self, problem: Problem) -> Rewards:
        """Return the metric as integer rewards for the rows of a problem."""
        table, offset = self.class_rewards(problem.class_weights, problem.positive)
        unit = lcm(*(entry.denominator for row in table for entry in row))
        integers = [[int(entry * unit) for entry in row] for row in table]
        largest = max(abs(entry) for row in integers for entry in row)
        total = int(problem.counts.sum())
        fits = largest * total < 2**62
        dtype: type = np.int64 if fits else object
        matrix: NDArray[Any] = problem.counts.astype(dtype) @ np.array(integers, dtype=dtype)
        return reduced(matrix, problem.weight_unit / unit, offset)


class IntegerObjective:
    """The objective of a linear metric with a split penalty, in integers.

    A tree that predicts class k_r in row r and has s splits is worth

        offset + unit · (factor · Σ_r gains[r, k_r] − split_cost · s).

    Attributes
    ----------
    gains
        Non-negative integers of shape (rows, classes): what predicting a class
        earns, compared with the least a row can earn. Python integers, unless
        all sums of them, times `factor`, fit into 62 bits.
    factor, split_cost
        Non-negative integers.
    unit, offset
        What one unit stands for, and what is earned in any case.
    """

    def __init__(self, rewards: Rewards, split_penalty: Fraction) -> None:
        least = np.minimum(rewards.matrix.min(axis=1), 0)
        denominator = lcm(rewards.scale.denominator, split_penalty.denominator)
        factor, cost = int(rewards.scale * denominator), int(split_penalty * denominator)
        common = gcd(factor, cost)
        self.factor, self.split_cost = factor // common, cost // common
        self.unit = Fraction(common, denominator)
        self.offset = rewards.offset + rewards.scale * int(least.sum())
        self.gains: NDArray[Any] = rewards.matrix - least[:, None]
        if self.most >= 2**62:  # only Python integers are large enough
            self.gains = self.gains.astype(object)

    @cached_property
    def most(self) -> int:
        """What no tree exceeds, in units: the best class in every row."""
        return int(self.gains.max(axis=1).sum()) * self.factor

    def objective(self, units: int | Fraction) -> Fraction:
        """Return the objective of a number of units."""
        return self.offset + self.unit * units

    def units(self, objective: Fraction) -> int:
        """Return the number of units of an objective that a tree may have."""
        return int((objective - self.offset) / self.unit)
