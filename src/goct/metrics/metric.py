"""What a metric is, the shapes that decide how it can be maximised, and weighted sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact, Number, as_fraction
from goct.metrics.arrays import Counts, Floats
from goct.metrics.confusion import Confusion
from goct.metrics.constraint import MetricConstraint
from goct.metrics.level_line import LevelLine
from goct.metrics.quotient import Quotient, QuotientSum

if TYPE_CHECKING:
    from goct.problem import Problem
    from goct.tree import Tree

Rational: TypeAlias = int | Fraction


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


def reduced(matrix: NDArray[Any], scale: Fraction, offset: Fraction) -> Rewards:
    """Return rewards divided by their greatest common divisor."""
    divisor = int(np.gcd.reduce(matrix, axis=None)) or 1
    return Rewards(matrix // divisor, scale * divisor, offset)


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

    value_range: ClassVar[tuple[int | None, int | None]] = None, None
    """Numbers between which all values lie, whatever the data; None if that depends on them."""

    measures: ClassVar[Literal["value", "count", "share"]] = "value"
    """How bounds on it are written: as numbers, as numbers of samples, or with a % sign."""

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

    @property
    def is_function_of_confusion(self) -> bool:
        """Whether the confusion matrix alone decides the value."""
        return True

    @abstractmethod
    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""

    def level_line(
        self, value: Fraction, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)
    ) -> LevelLine | None:
        """Return the line below which the metric is larger than a value.

        Parameters
        ----------
        value
            The value.
        n_pos, n_neg
            The counts of the two classes.
        unit
            The weight of a count.

        Returns
        -------
        LevelLine or None
            None if the level sets of the metric are not known to be lines.
        """
        return None

    def quotient(self, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> Quotient:
        """Return the metric as a quotient of polynomials in the counts TP and TN, or its root.

        Parameters
        ----------
        n_pos, n_neg
            The counts of the two classes; not zero.
        unit
            The weight of a count.

        Raises
        ------
        ValueError
            If the metric is not known to be one.
        """
        raise ValueError(
            f"{self.name!r} is a function that it does not know; write it as a RationalMetric, or "
            "as a sum of metrics of the catalogue"
        )

    def quotients(self, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> QuotientSum:
        """Return the metric as a sum of a linear metric and quotients of polynomials.

        Parameters and errors are those of :meth:`quotient`.
        """
        single = (Fraction(1), self.quotient(n_pos, n_neg, unit))
        return QuotientSum(None, (single,), self.is_monotone)

    def magnitude(self, n_pos: Rational, n_neg: Rational) -> float:
        """Return the largest absolute value of a monotone metric: of a sum, that of its parts."""
        best, worst = Confusion(n_pos, 0, 0, n_neg), Confusion(0, n_neg, n_pos, 0)
        return max(abs(float(self.value(confusion))) for confusion in (best, worst))

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
        """Return what no classifier exceeds: of a monotone metric, a perfect one's value.

        A `ValueError` if nothing is known of the metric.
        """
        if self.is_monotone:
            return self.value(Confusion(problem.n_pos, 0, 0, problem.n_neg))
        sizes = problem.counts.sum(axis=0).tolist()
        n_pos = sizes[problem.positive or 0]
        parts = self.quotients(n_pos, sum(sizes) - n_pos, problem.weight_unit)
        total = Exact(sum((weight * q.upper for weight, q in parts.quotients), Fraction(0)))
        return total if parts.linear is None else total + parts.linear.best_value(problem)

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if the metric is not defined for the problem."""
        if self.is_binary and problem.n_classes > 2 and problem.positive is None:
            raise ValueError(
                f"the metric {self.name!r} is for two classes, but the labels are "
                f"{list(problem.classes)}; name the positive one with pos_label, and it stands "
                "against the rest (averages over more than two classes are not supported)"
            )

    def __add__(self, other: Metric) -> Combination:
        return combine(((1, self), (1, other))) if isinstance(other, Metric) else NotImplemented

    def __sub__(self, other: Metric) -> Combination:
        return combine(((1, self), (-1, other))) if isinstance(other, Metric) else NotImplemented

    def __neg__(self) -> Combination:
        return combine(((-1, self),))

    def __radd__(self, other: int) -> Metric:
        return self if other == 0 else NotImplemented  # sum() starts from 0

    def __mul__(self, factor: Number) -> Combination:
        return combine(((factor, self),))

    def __truediv__(self, divisor: Number) -> Combination:
        number = as_fraction(divisor, "the divisor of a metric")
        if number == 0:
            raise ZeroDivisionError("a metric cannot be divided by zero")
        return combine(((1 / number, self),))

    __rmul__ = __mul__

    def __ge__(self, threshold: Number) -> MetricConstraint:
        return self._bounded(">=", threshold)

    def __le__(self, threshold: Number) -> MetricConstraint:
        return self._bounded("<=", threshold)

    def __gt__(self, threshold: Number) -> MetricConstraint:
        raise TypeError(f"bounds may be attained: write {self.name} >= {threshold}")

    def __lt__(self, threshold: Number) -> MetricConstraint:
        raise TypeError(f"bounds may be attained: write {self.name} <= {threshold}")

    def _bounded(self, sense: str, threshold: object) -> MetricConstraint:
        if isinstance(threshold, Metric):
            raise TypeError("a metric can be bounded by a number, not by another metric")
        bound = as_fraction(threshold, f"the bound on {self.name!r}")
        return MetricConstraint(self, sense, bound)

    def __repr__(self) -> str:
        return f"<metric {self.name}>"


class LinearMetric(Metric):
    """A metric that adds up a reward for every sample."""

    @property
    def shape(self) -> Shape:
        """LINEAR."""
        return Shape.LINEAR

    def level_line(
        self, value: Fraction, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)
    ) -> LevelLine | None:
        """Return the line below which the metric is larger than a value."""
        if not self.is_function_of_confusion:
            return None

        def at(fn: int, fp: int) -> Fraction:
            counts = n_pos - fn, fp, fn, n_neg - fp
            return self.value(Confusion(*(unit * count for count in counts))).as_fraction()

        corner = at(0, 0)
        slopes = (at(n_pos, 0) - corner) / (n_pos or 1), (at(0, n_neg) - corner) / (n_neg or 1)
        return LevelLine.where_positive((corner - value, *slopes))

    def quotients(self, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> QuotientSum:
        """Return the metric itself as the linear part."""
        return QuotientSum(self, (), self.is_monotone)

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


class Combination(Metric):
    """A weighted sum of metrics, as made by ``0.5 * F1() + 0.5 * Accuracy()``.

    Attributes
    ----------
    terms
        Pairs of a weight, which is not zero, and a metric; no metric twice.
    """

    def __init__(self, terms: tuple[tuple[Fraction, Metric], ...]) -> None:
        self.terms = terms

    @property
    def name(self) -> str:
        """The sum as it is written, such as 0.5*f1 + 0.5*accuracy."""
        text = ""
        for weight, metric in self.terms:
            factor = "" if abs(weight) == 1 else f"{abs(float(weight)):g}*"
            text += f"{' - ' if weight < 0 else ' + '}{factor}{metric.name}"
        return text.removeprefix(" + ").strip() or "0"

    @cached_property
    def shape(self) -> Shape:
        """MONOTONE or GENERAL; a single metric keeps being QUASICONVEX."""
        if not self.is_monotone:
            return Shape.GENERAL
        if len(self.terms) == 1 and self.terms[0][1].shape is not Shape.MONOTONE:
            return Shape.QUASICONVEX
        return Shape.MONOTONE

    @property
    def quasiconvex_from(self) -> Fraction | None:
        """The level of a single metric, times its weight."""
        if len(self.terms) != 1:
            return None
        weight, metric = self.terms[0]
        level = metric.quasiconvex_from
        return None if level is None else level * weight

    @property
    def is_monotone(self) -> bool:
        """Whether no part falls when TP or TN rises: metrics count up, errors count down."""
        return all(m.is_monotone if weight > 0 else m.is_antitone for weight, m in self.terms)

    @property
    def is_binary(self) -> bool:
        """Whether one of the metrics is; then all of them are taken so."""
        return any(metric.is_binary for _, metric in self.terms)

    @property
    def is_antitone(self) -> bool:
        """Whether no part rises when TP or TN rises."""
        return all(m.is_antitone if weight > 0 else m.is_monotone for weight, m in self.terms)

    @property
    def is_function_of_confusion(self) -> bool:
        """Whether all metrics are."""
        return all(metric.is_function_of_confusion for _, metric in self.terms)

    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""
        return sum((metric.value(confusion) * w for w, metric in self.terms), Exact(0))

    def oriented(self, problem: Problem) -> Metric:
        """Return the sum of the oriented metrics."""
        return combine((weight, metric.oriented(problem)) for weight, metric in self.terms)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices."""
        start = np.zeros(np.broadcast(tp, fp, fn, tn).shape)
        parts = (float(w) * m.approximate(tp, fp, fn, tn, unit) for w, m in self.terms)
        return sum(parts, start)

    @property
    def has_formula(self) -> bool:
        """Whether all metrics have one."""
        return all(metric.has_formula for _, metric in self.terms)

    def quotients(self, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> QuotientSum:
        """Return the sum of the linear parts, and the quotients with positive weights."""
        linear = [(w, m) for w, m in self.terms if isinstance(m, LinearMetric)]
        quotients = []
        rest = combine((w, m) for w, m in self.terms if not isinstance(m, LinearMetric))
        for weight, metric in rest.terms:
            quotient = metric.quotient(n_pos, n_neg, unit)
            if weight < 0 and not quotient.can_be_negated:
                raise ValueError(f"{metric.name!r} may not count negatively")
            quotients.append((abs(weight), quotient if weight > 0 else -quotient))
        return QuotientSum(
            LinearCombination(tuple(linear)) if linear else None, tuple(quotients), rest.is_monotone
        )

    def magnitude(self, n_pos: Rational, n_neg: Rational) -> float:
        """Return the sum of the largest absolute values of the parts."""
        return sum(abs(float(w)) * metric.magnitude(n_pos, n_neg) for w, metric in self.terms)

    def evaluate(self, tree: Tree, problem: Problem) -> Exact:
        """Return the exact value of a tree on a problem."""
        if self.is_binary and problem.n_classes > 2:
            self.check(problem)
            return self.value(tree.confusion(problem))
        return sum((metric.evaluate(tree, problem) * w for w, metric in self.terms), Exact(0))

    def check(self, problem: Problem) -> None:
        """Raise a `ValueError` if one of the metrics is not defined for the problem."""
        for _, metric in self.terms:
            metric.check(problem)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Combination):
            return NotImplemented
        return {m: w for w, m in self.terms} == {m: w for w, m in other.terms}

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))


class LinearCombination(Combination, LinearMetric):
    """A weighted sum of linear metrics, which is linear itself."""

    shape = Shape.LINEAR

    def rewards(self, problem: Problem) -> Rewards:
        """Return the weighted sum of the metrics' rewards, in integers."""
        parts = []
        for weight, metric in self.terms:
            assert isinstance(metric, LinearMetric)
            parts.append((weight, metric.rewards(problem)))
        unit = lcm(*((weight * part.scale).denominator for weight, part in parts))
        # Python integers, which cannot overflow, until it is clear that 64 bits do.
        matrix = np.zeros((problem.n_rows, problem.n_classes), dtype=object)
        for weight, part in parts:
            matrix = matrix + part.matrix.astype(object) * int(weight * part.scale * unit)
        offset = sum((weight * part.offset for weight, part in parts), Fraction(0))
        if np.abs(matrix).sum() < 2**62:
            matrix = matrix.astype(np.int64)
        return reduced(matrix, Fraction(1, unit), offset)


def combine(terms: Iterable[tuple[Number, Metric]]) -> Combination:
    """Return the weighted sum of metrics, parts of the same metric added up."""
    weights: dict[Metric, Fraction] = {}
    for factor, metric in terms:
        weight = as_fraction(factor, "the factor of a metric")
        parts = metric.terms if isinstance(metric, Combination) else ((Fraction(1), metric),)
        for inner, part in parts:
            weights[part] = weights.get(part, Fraction(0)) + weight * inner
    flat = tuple((weight, metric) for metric, weight in weights.items() if weight)
    linear = all(isinstance(metric, LinearMetric) for _, metric in flat)
    return LinearCombination(flat) if linear else Combination(flat)
