r"""Quotients of linear functions: Dinkelbach's method, in integers.

A tree t is better than the value v exactly if :math:`N(t) - v D(t) > 0`, which
is linear in its false negatives and false positives. The oracle finds the tree
for which it is largest, or proves that there is none. Every step improves the
value, and there are finitely many; two or three are typical.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, gcd, lcm

from goct.exact import Exact
from goct.metrics import FractionalMetric
from goct.search.plane import Lift, Plane
from goct.search.region import Region


def maximise_fractional(
    plane: Plane,
    metric: FractionalMetric,
    above: Exact,
    *,
    max_splits: int | None,
    region: Region,
    lift: Lift,
) -> tuple[Exact, Region]:
    """Find the tree of largest value, if that is larger than a given one.

    Parameters
    ----------
    plane
        Answers linear questions, and keeps the best tree.
    metric
        The metric.
    above
        Only larger values are of interest.
    max_splits, region, lift
        See :meth:`Plane.ask`.

    Returns
    -------
    value, region
        The largest value, or `above` if it is proven that no tree is better;
        and where trees can lie.
    """
    value, unit = above.as_fraction(), plane.problem.weight_unit
    numerator, denominator = metric.fraction(unit * plane.n_pos, unit * plane.n_neg)
    while True:
        # N - v D = perfect - alpha * FN - beta * FP
        alpha = unit * (numerator.tp - value * denominator.tp)
        beta = unit * (numerator.tn - value * denominator.tn)
        perfect = Fraction(
            numerator.constant
            - value * denominator.constant
            + alpha * plane.n_pos
            + beta * plane.n_neg
        )
        scale = Fraction(lcm(alpha.denominator, beta.denominator))
        scale /= gcd(int(alpha * scale), int(beta * scale)) or 1
        cutoff = ceil(perfect * scale)  # integers are below `perfect * scale` if below this
        if cutoff <= 0 and alpha >= 0 and beta >= 0:
            return Exact(value), region
        point, region = plane.ask(
            int(alpha * scale),
            int(beta * scale),
            cutoff=cutoff,
            max_splits=max_splits,
            region=region,
            lift=lift,
        )
        if point is None:
            return Exact(value), region
        value = plane.value(*point).as_fraction()
