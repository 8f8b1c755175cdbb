"""Metrics as sums of quotients of polynomials, which models can state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from goct.exact import as_fraction
from goct.metrics import (
    MCC,
    BoundedDOR,
    Combination,
    FowlkesMallows,
    FractionalMetric,
    GMean,
    LinearMetric,
    Metric,
    NegativePredictiveValue,
    Precision,
    RationalMetric,
    SmoothedDOR,
)
from goct.metrics.combination import LinearCombination, combine
from goct.metrics.polynomial import Floats, Polynomial


@dataclass(frozen=True)
class Quotient:
    """The function ``N / D`` of the counts TP (x) and TN (y), or the root of it.

    It is 0 where D is, and cut off at `upper`.

    Attributes
    ----------
    numerator, denominator
        Polynomials; the denominator is nowhere negative.
    lower, upper
        Bounds of the quotient. Beyond `upper`, it counts as `upper`.
    is_root
        Whether the metric is the square root of the quotient.
    sign
        For roots: a polynomial whose sign the root has; None if it never is
        negative.
    """

    numerator: Polynomial
    denominator: Polynomial
    lower: Fraction
    upper: Fraction
    is_root: bool = False
    sign: Polynomial | None = None

    def most(self, tp: Floats, tn: Floats) -> Floats:
        """Return the quotient, or hardly more, for many pairs; 0 where its root is negative."""
        top, over = self.numerator.values(tp, tn)
        bottom, under = self.denominator.values(tp, tn)
        highest = float(self.upper)
        least = np.maximum(bottom - under, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(top >= 0, (top + over) / least, (top + over) / (bottom + under))
        values = np.minimum(np.where(np.isnan(ratio), 0.0, ratio), highest)
        if self.sign is None:
            return values
        sign, error = self.sign.values(tp, tn)
        return np.where(sign + error < 0, 0.0, values)

    def __neg__(self) -> Quotient:
        return replace(self, numerator=-self.numerator, lower=-self.upper, upper=-self.lower)


@dataclass(frozen=True)
class Parts:
    """A metric as a sum: a linear metric, and quotients with positive weights.

    Attributes
    ----------
    linear
        The linear part; None if there is none.
    quotients
        Pairs of a positive weight and a quotient.
    is_monotone
        Whether no quotient falls when TP or TN rises.
    """

    linear: LinearMetric | None
    quotients: tuple[tuple[Fraction, Quotient], ...]
    is_monotone: bool


def parts_of(metric: Metric, n_pos: int, n_neg: int, unit: Fraction) -> Parts:
    """Write a metric as linear part and quotients of the counts.

    Parameters
    ----------
    metric
        The metric.
    n_pos, n_neg
        The counts of the two classes; not zero.
    unit
        The weight of one count.

    Raises
    ------
    ValueError
        If the metric is not made of quotients of polynomials.
    """
    terms = metric.terms if isinstance(metric, Combination) else ((Fraction(1), metric),)
    linear = combine((w, m) for w, m in terms if isinstance(m, LinearMetric))
    assert isinstance(linear, LinearCombination)
    quotients: list[tuple[Fraction, Quotient]] = []
    is_monotone = True
    for weight, part in terms:
        if isinstance(part, LinearMetric):
            continue
        quotient = _quotient(part, n_pos, n_neg, unit)
        if weight < 0:
            if quotient.is_root or isinstance(part, BoundedDOR):
                raise ValueError(
                    f"the MIP engine cannot maximise {metric.name!r}: {part.name!r} may not count "
                    "negatively"
                )
            quotient = -quotient
        is_monotone &= part.is_monotone if weight > 0 else part.is_antitone
        quotients.append((abs(weight), quotient))
    return Parts(linear if linear.terms else None, tuple(quotients), is_monotone)


def refusal(metric: Metric) -> str | None:
    """Say why no model can state a metric; None if one can."""
    try:
        parts_of(metric, 1, 1, Fraction(1))
    except ValueError as error:
        return str(error)
    return None


def _quotient(metric: Metric, n_pos: int, n_neg: int, unit: Fraction) -> Quotient:
    tp, tn = Polynomial({(1, 0): unit}), Polynomial({(0, 1): unit})
    P, N = unit * n_pos, unit * n_neg
    fn, fp = P - tp, N - tn
    U, V = tp + fp, tn + fn
    zero, one = Fraction(0), Fraction(1)
    A = tp * tn - fp * fn
    match metric:
        case FractionalMetric():
            top, bottom = (
                Polynomial.of(f.constant) + tp * f.tp + tn * f.tn for f in metric.fraction(P, N)
            )
            return Quotient(top, bottom, *_range_of(metric, top, bottom, n_pos, n_neg))
        case MCC():
            return Quotient(A * A, U * V * (P * N), zero, one, is_root=True, sign=A)
        case FowlkesMallows():
            return Quotient(tp * tp, U * P, zero, one, is_root=True)
        case GMean():
            return Quotient(tp * tn, Polynomial.of(P * N), zero, one, is_root=True)
        case BoundedDOR():
            return Quotient(tp * tn, fp * fn, zero, as_fraction(metric.upper))
        case SmoothedDOR():
            epsilon = as_fraction(metric.epsilon)
            return Quotient(tp * tn, fp * fn + epsilon, zero, P * N / epsilon)
        case RationalMetric():
            top, bottom = metric.polynomials(tp, fp, fn, tn)
            return Quotient(top, bottom, as_fraction(metric.lower), as_fraction(metric.upper))
    raise ValueError(
        f"the MIP engine cannot maximise {metric.name!r}, a function that it does not know; write "
        "it as a RationalMetric, or as a sum of metrics of the catalogue"
    )


def _range_of(
    metric: Metric, top: Polynomial, bottom: Polynomial, n_pos: int, n_neg: int
) -> tuple[Fraction, Fraction]:
    """Return bounds of a fractional metric, which has its largest and least values at corners."""
    if isinstance(metric, Precision | NegativePredictiveValue):
        return Fraction(0), Fraction(1)
    corners = [(x, y) for x in (0, n_pos) for y in (0, n_neg)]
    if any(bottom(*corner) == 0 for corner in corners):
        raise ValueError(
            f"the MIP engine cannot maximise {metric.name!r}, whose denominator is 0 for some "
            "predictions; write it as a RationalMetric with bounds"
        )
    values = [top(*corner) / bottom(*corner) for corner in corners]
    return min(*values, Fraction(0)), max(*values, Fraction(0))
