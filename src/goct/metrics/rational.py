"""Metrics of your own that are quotients of polynomials, as models need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from goct.exact import Exact, as_fraction
from goct.metrics.confusion import Confusion
from goct.metrics.metric import Metric, Shape
from goct.metrics.polynomial import Polynomial


@dataclass(frozen=True, repr=False)
class RationalMetric(Metric):
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

    def value(self, confusion: Confusion) -> Exact:
        """Return the exact value for a confusion matrix of two classes."""
        c = confusion
        top, bottom = (as_fraction(part) for part in self.function(c.tp, c.fp, c.fn, c.tn))
        value = top / bottom if bottom else Fraction(0)
        is_defined = bottom > 0 or (bottom == 0 and top == 0)
        if not is_defined or not as_fraction(self.lower) <= value <= as_fraction(self.upper):
            raise ValueError(
                f"the metric {self.name!r} is {top} / {bottom} for {confusion}, which does not "
                f"agree with its bounds {self.lower} and {self.upper}"
            )
        return Exact(value)

    def polynomials(
        self, tp: Polynomial, fp: Polynomial, fn: Polynomial, tn: Polynomial
    ) -> tuple[Polynomial, Polynomial]:
        """Return numerator and denominator as polynomials."""
        top, bottom = self.function(tp, fp, fn, tn)
        return Polynomial.of(top), Polynomial.of(bottom)
