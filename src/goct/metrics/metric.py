"""What a metric is, and the shapes that decide how it can be maximised."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact, Number, as_fraction, common_integers
from goct.metrics.confusion import Confusion

if TYPE_CHECKING:
    from goct.constraints import MetricConstraint
    from goct.metrics.combination import Combination
    from goct.problem import Problem
    from goct.tree import Tree

Rational: TypeAlias = int | Fraction
Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]


class Shape(Enum):
    """How a metric depends on (TP, TN), the sizes of both classes being fixed.

    The shape decides which methods may claim a proof.
    """

    LINEAR = "linear"
    """A linear function."""
    FRACTIONAL = "fractional"
    """A quotient of two linear functions: level sets are lines."""
    QUASICONVEX = "quasiconvex"
    """Its maximum over any set of points lies at a vertex of their upper-right hull."""
    MONOTONE = "monotone"
    """It never falls when TP or TN rises."""
    GENERAL = "general"
    """Nothing is known."""


@dataclass(frozen=True)
class Affine:
    """The function ``constant + tp · TP + tn · TN``."""

    constant: Rational
    tp: Rational
    tn: Rational

    def __call__(self, tp: Rational, tn: Rational) -> Fraction:
        """Return the value at a point."""
        return Fraction(self.constant + self.tp * tp + self.tn * tn)


@dataclass(frozen=True, eq=False)
class Rewards:
    """A linear metric on one problem, in integers.

    A tree that predicts class k[r] in row r is worth
    ``offset + scale · Σ_r matrix[r, k[r]]``.

    Attributes
    ----------
    matrix
        Integers of shape (rows, classes); Python integers if 64 bits are not
        enough for every sum.
    scale
        A positive number.
    offset
        The value of a tree without any reward.
    """

    matrix: NDArray[Any]
    scale: Fraction
    offset: Fraction

    def value(self, predicted: NDArray[np.intp]) -> Fraction:
        """Return the metric of the class predicted in each row."""
        return self.offset + self.scale * int(
            self.matrix[np.arange(len(predicted)), predicted].sum()
        )


class Metric(ABC):
    """A measure of how good a classifier is; more is better.

    Metrics can be added and multiplied by numbers:
    ``0.5 * F1() + 0.5 * Accuracy()`` is a metric. Compared with a number they
    make a constraint: ``Recall() >= 0.9``.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name, as :func:`goct.metrics.get_metric` knows it."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """How the metric depends on (TP, TN)."""

    @property
    def is_monotone(self) -> bool:
        """Whether the metric never falls when TP or TN rises and the class sizes stay."""
        return self.shape is not Shape.GENERAL

    @property
    def is_antitone(self) -> bool:
        """Whether the metric never rises when TP or TN rises: a count of errors."""
        return False

    @property
    def quasiconvex_from(self) -> Fraction | None:
        """The value from which a QUASICONVEX metric is that; None if it is so everywhere.

        Among points that are all worth less, the best need not be a vertex of
        their hull.
        """
        return None

    @property
    def is_binary(self) -> bool:
        """Whether only the positive class and the rest matter, however many classes there are."""
        return True

    @abstractmethod
    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""

    def oriented(self, problem: Problem) -> Metric:
        """Return the metric whose :meth:`value` is right for confusion matrices of a problem.

        It differs only for metrics that know classes by their order.
        """
        return self

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices at once, up to rounding errors.

        Proofs use it only to tell apart what is far apart: the error must be
        tiny compared with the largest absolute value of the metric, or of a part
        of it. This version is slow; metrics with a formula override it.

        Parameters
        ----------
        tp, fp, fn, tn
            Integer counts. All matrices have the same class sizes.
        unit
            The weight of a count.
        """
        cells = np.broadcast_arrays(tp, fp, fn, tn)
        values = [
            float(self.value(Confusion(*(unit * entry for entry in entries))))
            for entries in zip(*(cell.ravel().tolist() for cell in cells), strict=True)
        ]
        return np.array(values).reshape(cells[0].shape)

    @property
    def has_formula(self) -> bool:
        """Whether :meth:`approximate` is fast."""
        return type(self).approximate is not Metric.approximate

    def evaluate(self, tree: Tree, problem: Problem) -> Exact:
        """Return the exact value of a tree on a problem."""
        self.check(problem)
        return self.value(tree.confusion(problem))

    def best_value(self, problem: Problem) -> Exact:
        """Return what no classifier exceeds if the metric is monotone: a perfect one's value."""
        return self.value(Confusion(problem.n_pos, 0, 0, problem.n_neg))

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if the metric is not defined for the problem."""
        if problem.n_classes > 2 and problem.positive is None:
            raise ValueError(
                f"the metric {self.name!r} is for two classes, but the labels are "
                f"{list(problem.classes)}; name the positive one with pos_label, and it stands "
                "against the rest (averages over more than two classes are not supported)"
            )

    def __add__(self, other: Metric) -> Combination:
        return _combine((1, self), (1, other)) if isinstance(other, Metric) else NotImplemented

    def __sub__(self, other: Metric) -> Combination:
        return _combine((1, self), (-1, other)) if isinstance(other, Metric) else NotImplemented

    def __neg__(self) -> Combination:
        return _combine((-1, self))

    def __radd__(self, other: int) -> Metric:
        return self if other == 0 else NotImplemented  # sum() starts from 0

    def __mul__(self, factor: Number) -> Combination:
        return _combine((factor, self))

    def __truediv__(self, divisor: Number) -> Combination:
        number = as_fraction(divisor, "the divisor of a metric")
        if number == 0:
            raise ZeroDivisionError("a metric cannot be divided by zero")
        return _combine((1 / number, self))

    __rmul__ = __mul__

    def __ge__(self, threshold: Number) -> MetricConstraint:
        return _compare(self, ">=", threshold)

    def __le__(self, threshold: Number) -> MetricConstraint:
        return _compare(self, "<=", threshold)

    def __gt__(self, threshold: Number) -> MetricConstraint:
        raise TypeError(f"bounds may be attained: write {self.name} >= {threshold}")

    def __lt__(self, threshold: Number) -> MetricConstraint:
        raise TypeError(f"bounds may be attained: write {self.name} <= {threshold}")

    def __repr__(self) -> str:
        return f"<metric {self.name}>"


def _combine(*terms: tuple[Number, Metric]) -> Combination:
    from goct.metrics.combination import combine  # it derives from Metric

    return combine(terms)


def _compare(metric: Metric, sense: str, threshold: object) -> MetricConstraint:
    from goct.constraints import compare  # it knows metrics by name, and so all of them

    if isinstance(threshold, Metric):
        raise TypeError("a metric can be bounded by a number, not by another metric")
    return compare(metric, sense, threshold)


class LinearMetric(Metric):
    """A metric that adds up a reward for every sample."""

    @property
    def shape(self) -> Shape:
        """LINEAR."""
        return Shape.LINEAR

    @abstractmethod
    def rewards(self, problem: Problem) -> Rewards:
        """Return the metric as integer rewards for the rows of a problem."""

    def best_value(self, problem: Problem) -> Exact:
        """Return the value of the classifier that predicts the best class in every row."""
        rewards = self.rewards(problem)
        return Exact(rewards.value(np.asarray(rewards.matrix.argmax(axis=1))))

    def evaluate(self, tree: Tree, problem: Problem) -> Exact:
        """Return the exact value of a tree on a problem."""
        self.check(problem)
        if self.is_binary and problem.n_classes > 2:
            return self.value(tree.confusion(problem))
        return Exact(self.rewards(problem).value(tree.predict_rows(problem)))


class ClassRewardMetric(LinearMetric):
    """A linear metric in which a sample's reward depends on its true and predicted class."""

    @abstractmethod
    def class_rewards(
        self, class_weights: Sequence[Rational], positive: int | None
    ) -> tuple[list[list[Fraction]], Fraction]:
        """Return the reward per unit of weight, and the offset.

        Parameters
        ----------
        class_weights
            The total weight of each class.
        positive
            The index of the positive class.

        Returns
        -------
        rewards, offset
            ``rewards[k][j]`` is for predicting class j where k is true.
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


def reduced(matrix: NDArray[Any], scale: Fraction, offset: Fraction) -> Rewards:
    """Return rewards divided by their greatest common divisor."""
    divisor = int(np.gcd.reduce(matrix, axis=None)) or 1
    return Rewards(matrix // divisor, scale * divisor, offset)


class FractionalMetric(Metric):
    """A quotient of two linear functions of (TP, TN); 0 where the divisor is 0."""

    @property
    def shape(self) -> Shape:
        """FRACTIONAL."""
        return Shape.FRACTIONAL

    @abstractmethod
    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return numerator and denominator; the latter is nowhere negative."""

    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""
        numerator, denominator = self.fraction(confusion.n_pos, confusion.n_neg)
        divisor = denominator(confusion.tp, confusion.tn)
        return Exact(numerator(confusion.tp, confusion.tn) / divisor if divisor else 0)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices; only the quotient is rounded."""
        if not np.broadcast(tp, fp, fn, tn).size:
            return np.zeros(np.broadcast(tp, fp, fn, tn).shape)
        n_pos, n_neg = first(tp) + first(fn), first(tn) + first(fp)
        top, bottom = self.fraction(unit * n_pos, unit * n_neg)
        forms = [(f.constant, unit * f.tp, unit * f.tn) for f in (top, bottom)]
        _, factors = common_integers([Fraction(entry) for form in forms for entry in form])
        divisor = math.gcd(*factors) or 1
        factors = [factor // divisor for factor in factors]
        numerator, denominator = (
            exact_sum(constant, rest, (tp, tn)) for constant, *rest in (factors[:3], factors[3:])
        )
        return quotient(numerator, denominator)


def first(counts: Counts) -> int:
    """Return the first of some counts."""
    return int(np.asarray(counts).flat[0])


def exact_sum(constant: int, factors: Sequence[int], counts: Sequence[Counts]) -> Floats:
    """Return ``constant + Σ factor · count`` for arrays of counts, computed in integers."""
    largest = abs(constant) + sum(
        abs(factor) * int(np.max(count)) for factor, count in zip(factors, counts, strict=True)
    )
    dtype: type = np.int64 if largest < 2**62 else object
    total: NDArray[Any] = sum(
        (
            np.asarray(count).astype(dtype) * factor
            for factor, count in zip(factors, counts, strict=True)
            if factor
        ),
        np.zeros(np.broadcast(*counts).shape, dtype=dtype) + constant,
    )
    return np.asarray(total).astype(np.float64)


def as_float(number: Fraction | int) -> float:
    """Return a number as a float; the largest one if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of floats, 0 where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    values = np.zeros(numerator.shape)
    return np.divide(numerator, denominator, out=values, where=denominator != 0)
