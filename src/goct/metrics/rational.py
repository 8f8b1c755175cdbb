"""Metrics that are quotients of polynomials in the four counts, or roots of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from goct.exact import Exact, as_fraction
from goct.metrics.confusion import Confusion
from goct.metrics.metric import Metric, Rational, Shape
from goct.metrics.polynomial import Polynomial
from goct.metrics.quotient import Quotient


class QuotientMetric(Metric):
    """A metric that is a quotient of polynomials, or a root of one.

    The formula, written once in :meth:`ratio`, gives the exact value for
    numbers, and what a model needs for polynomials.
    """

    is_root = False
    """Whether the metric is the square root of the quotient."""
    is_capped = False
    """Whether quotients above the upper bound count as that bound."""

    @abstractmethod
    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return numerator and denominator, by ``+``, ``-``, ``*`` and whole powers.

        The denominator is nowhere negative; where it is 0 the metric is 0 or, if the
        numerator is positive and it is capped, the upper bound.
        """

    def bounds(self, n_pos: Rational, n_neg: Rational) -> tuple[Rational, Rational]:
        """Return numbers between which the quotient lies, given the weights of the classes."""
        return 0, 1

    def sign(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return what has the sign of the root; None if that never is negative."""
        return None

    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""
        c = confusion
        cells = c.tp, c.fp, c.fn, c.tn
        top, bottom = (as_fraction(part) for part in self.ratio(*cells))
        lower, upper = self.bounds(c.n_pos, c.n_neg)
        ratio = top / bottom if bottom else Fraction(upper if top > 0 else 0)
        if self.is_capped:
            ratio = min(ratio, Fraction(upper))
        elif bottom < 0 or (bottom == 0 and top != 0) or not lower <= ratio <= upper:
            raise ValueError(
                f"the metric {self.name!r} is {top} / {bottom} for {confusion}, which does not "
                f"agree with its bounds {lower} and {upper}"
            )
        if not self.is_root:
            return Exact(ratio)
        sign = self.sign(*cells)
        return Exact.signed_sqrt(-ratio if sign is not None and sign < 0 else ratio)

    def quotient(self, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)) -> Quotient:
        """Return the metric as a quotient of polynomials in the counts TP and TN, or its root."""
        tp, tn = Polynomial({(1, 0): unit}), Polynomial({(0, 1): unit})
        cells = tp, unit * n_neg - tn, unit * n_pos - tp, tn
        top, bottom = (Polynomial.of(part) for part in self.ratio(*cells))
        lower, upper = self.bounds(unit * n_pos, unit * n_neg)
        sign = self.sign(*cells)
        return Quotient(
            top,
            bottom,
            Fraction(lower),
            Fraction(upper),
            is_capped=self.is_capped,
            is_root=self.is_root,
            sign=None if sign is None else Polynomial.of(sign),
        )


@dataclass(frozen=True, repr=False)
class RationalMetric(QuotientMetric):
    """A quotient of two polynomials in TP, FP, FN and TN; 0 where the divisor is 0.

    Unlike the function of a :class:`goct.metrics.CustomMetric`, it can be
    written down as a model, so the MIP engine maximises it whatever its shape.

    Parameters
    ----------
    function
        Called as ``function(tp, fp, fn, tn)``; returns numerator and
        denominator, made from its arguments and numbers by ``+``, ``-``, ``*``
        and whole powers. The denominator must not be negative for any
        confusion matrix with the same class sizes, and where it is 0 the
        numerator must be 0, too.
    lower, upper
        Numbers between which all values lie.
    shape
        What you know about the quotient, as for `CustomMetric`.
    label
        A name for reports.

    Examples
    --------
    >>> from goct.metrics import Confusion
    >>> markedness = RationalMetric(
    ...     lambda tp, fp, fn, tn: (tp * tn - fp * fn, (tp + fp) * (tn + fn)), lower=-1
    ... )
    >>> markedness.value(Confusion(tp=3, fp=1, fn=0, tn=2))
    Exact(3/4)
    """

    function: Callable[[Any, Any, Any, Any], tuple[Any, Any]]
    lower: Any = 0
    upper: Any = 1
    shape: Shape = Shape.GENERAL
    label: str = "rational"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")
        if self.shape not in (Shape.GENERAL, Shape.MONOTONE, Shape.QUASICONVEX):
            raise ValueError(f"shape must be GENERAL, MONOTONE or QUASICONVEX, got {self.shape!r}")
        if as_fraction(self.lower, "lower") >= as_fraction(self.upper, "upper"):
            raise ValueError(f"lower must be less than upper, got {self.lower} and {self.upper}")

    @property
    def name(self) -> str:
        """The label."""
        return self.label

    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return what the function says."""
        return self.function(tp, fp, fn, tn)

    def bounds(self, n_pos: Rational, n_neg: Rational) -> tuple[Rational, Rational]:
        """Return `lower` and `upper`."""
        return as_fraction(self.lower), as_fraction(self.upper)
