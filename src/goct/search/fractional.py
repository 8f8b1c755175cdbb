r"""Quotients of linear functions: Dinkelbach's method, in integers.

A tree t is better than the value v exactly if :math:`N(t) - v D(t) > 0`, which
is linear in its false negatives and false positives. The oracle finds the tree
for which it is largest, or proves that there is none. Every step improves the
value, and there are finitely many; two or three are typical.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, gcd, lcm

from goct.exact import Exact
from goct.metrics import FractionalMetric
from goct.search.plane import Goal, Lift, Plane
from goct.search.quasiconvex import maximise_quasiconvex
from goct.search.run import Size


def maximise_fractional(
    plane: Plane, metric: FractionalMetric, goal: Goal, size: Size, lift: Lift
) -> Exact | None:
    """Find the tree of largest value, if that is of interest.

    Parameters
    ----------
    plane
        Answers linear questions, and keeps the best tree.
    metric
        The metric.
    goal
        Which values are of interest; bounded below.
    size
        How large the tree may be.
    lift
        Turns a bound on the value of such trees into one on the objective.

    Returns
    -------
    Exact or None
        The largest value; None if it is proven that none is of interest.
    """
    assert goal.above is not None
    value, attain = goal.above.as_fraction(), goal.attain
    region, unit, found = plane.region, plane.problem.weight_unit, False
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
        # Costs are integers: those below (up to) `perfect * scale` are those below the cutoff.
        cutoff = floor(perfect * scale) + 1 if attain else ceil(perfect * scale)
        point = None
        if cutoff > 0 or alpha < 0 or beta < 0:
            point, region = plane.ask(
                int(alpha * scale),
                int(beta * scale),
                size,
                cutoff=cutoff,
                region=region,
                lift=lift,
            )
        if point is not None:
            reached = plane.value(*point)
            if not goal.admits(reached):
                # It is 0 / 0, which the equation does not see, and hides what else there is.
                return maximise_quasiconvex(plane, goal, size, lift)
        if point is None:
            plane.keep(region, size)
            return Exact(value) if found else None
        value, attain, found = reached.as_fraction(), False, True
        if reached == plane.top:
            return reached
