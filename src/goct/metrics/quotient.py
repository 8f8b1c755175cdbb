"""Metrics as sums of quotients of polynomials, which models can state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from goct.metrics.arrays import Floats
from goct.metrics.polynomial import Polynomial

if TYPE_CHECKING:
    from goct.metrics.metric import LinearMetric


@dataclass(frozen=True)
class Quotient:
    """The function ``N / D`` of the counts TP (x) and TN (y), or the root of it.

    Where D is 0, it is `upper` if N is positive, and 0 otherwise.

    Attributes
    ----------
    numerator, denominator
        Polynomials; the denominator is nowhere negative.
    lower, upper
        Bounds of the quotient.
    is_capped
        Whether N / D may exceed `upper`, as which it counts then.
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
    is_capped: bool = False
    is_root: bool = False
    sign: Polynomial | None = None

    def upper_bounds(self, tp: Floats, tn: Floats) -> Floats:
        """Return rigorous upper bounds, float errors included; 0 where the root is negative."""
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

    @property
    def can_be_negated(self) -> bool:
        """Whether minus the metric is a quotient, too."""
        return not self.is_root and not self.is_capped

    def __neg__(self) -> Quotient:
        return replace(self, numerator=-self.numerator, lower=-self.upper, upper=-self.lower)


@dataclass(frozen=True)
class QuotientSum:
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
