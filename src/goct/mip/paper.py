"""The paper's own linearization of products, as printed but for its errata.

A product of two counts is expanded in the bits of both, ``Σ_r Σ_s 2^(r+s) ·
(u_r ∧ v_s)``, with a binary variable for every pair of bits; times q, each of
these gets a continuous variable more. The bits of a count up to n are
``⌈log2 n⌉ + 1``. Rows are scaled, which the paper does not do.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from goct.metrics.polynomial import Polynomial
from goct.mip.products import Integer, Linear, Products, Range


class PaperExpansion:
    """Expands counts and their products as the paper does.

    Parameters
    ----------
    products
        Adds variables and rows to the model.
    tp, tn
        The counts.
    """

    def __init__(self, products: Products, tp: Integer, tn: Integer) -> None:
        self.products = products
        self._bits: dict[str, Integer] = {}
        x, y = Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1})
        p, n = tp.upper, tn.upper
        self._counts: dict[str, tuple[Polynomial, int]] = {
            "U": (n + x - y, p + n),
            "V": (p + y - x, p + n),
            "TP": (x, p),
            "TN": (y, n),
            "FP": (n - y, n),
            "FN": (p - x, p),
            "A": (n * x + p * y - p * n, p * n),
        }
        self._numbers = (tp, tn)

    def state(
        self,
        name: str,
        polynomial: Polynomial,
        factor: Linear | None = None,
        span: Range = (Fraction(1), Fraction(1)),
    ) -> Linear:
        """Return ``polynomial(TP, TN) · factor``.

        The polynomial has to be a constant plus a multiple of one or two of
        TP, TN, FP, FN, U, V and A = n+ TN + n- TP - n+ n-.
        """
        if polynomial.degree == 0 or (factor is None and polynomial.degree == 1):
            return self.products.polynomial(name, polynomial, self._numbers, factor, span)
        constant, scale, counts = self._factors(polynomial)
        first = self._expanded(counts[0])
        if len(counts) == 1:
            assert factor is not None
            product = self.products.times(name, first, factor, span)
        else:
            second = self._expanded(counts[1])
            assert first.bits is not None
            assert second.bits is not None
            r, s = np.arange(len(first.bits)), np.arange(len(second.bits))
            weights = np.exp2(r[:, None] + s[None, :]).ravel()
            pairs = self.products.both(
                f"{name}_and", first.bits[:, None], second.bits[None, :], binary=True
            ).ravel()
            if factor is None:
                product = Linear.of(pairs, weights)
            else:
                product = self.products.bit_times(f"{name}_theta", pairs, factor, span, weights)
        rest = Linear(constant) if factor is None else factor * constant
        return rest + product * scale

    def _expanded(self, count: str) -> Integer:
        if count not in self._bits:
            polynomial, upper = self._counts[count]
            expression = self.products.polynomial(count, polynomial, self._numbers)
            length = (upper - 1).bit_length() + 1
            self._bits[count] = self.products.expand(
                f"{count}_bits", Integer(expression, upper), length
            )
        return self._bits[count]

    def _factors(self, polynomial: Polynomial) -> tuple[Fraction, Fraction, tuple[str, ...]]:
        """Write a polynomial as ``constant + scale · product`` of one or two counts."""
        choices = [(name,) for name in self._counts]
        if polynomial.degree == 2:
            choices = list(combinations_with_replacement(self._counts, 2))  # type: ignore[arg-type]
        for names in choices:
            product = Polynomial.of(1)
            for count in names:
                product = product * self._counts[count][0]
            lead = max(product.terms)
            scale = polynomial.coefficient(*lead) / product.coefficient(*lead)
            rest = polynomial - product * scale
            if scale and rest.degree == 0 and (scale > 0 or polynomial.degree == 1):
                return rest.coefficient(0, 0), scale, names
        raise ValueError(
            "linearization='paper' states products of two counts only; use 'compact', which "
            "states every polynomial"
        )
