"""Weighted sums of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from goct.exact import Exact, Number, as_fraction
from goct.metrics.confusion import Confusion
from goct.metrics.metric import Counts, Floats, LinearMetric, Metric, Rewards, Shape, reduced

if TYPE_CHECKING:
    from goct.problem import Problem
    from goct.tree import Tree


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
        weight, metric = self.terms[0]
        level = metric.quasiconvex_from
        return None if len(self.terms) > 1 or level is None else level * weight

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
    """Return the weighted sum of metrics, parts of the same metric added up.

    Parameters
    ----------
    terms
        Pairs of a weight and a metric, which may be a combination itself.
    """
    weights: dict[Metric, Fraction] = {}
    for factor, metric in terms:
        weight = as_fraction(factor, "the factor of a metric")
        parts = metric.terms if isinstance(metric, Combination) else ((Fraction(1), metric),)
        for inner, part in parts:
            weights[part] = weights.get(part, Fraction(0)) + weight * inner
    flat = tuple((weight, metric) for metric, weight in weights.items() if weight)
    linear = all(isinstance(metric, LinearMetric) for _, metric in flat)
    return LinearCombination(flat) if linear else Combination(flat)
