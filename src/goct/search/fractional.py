r"""Quotients of linear functions: Dinkelbach's method, in integers.

A tree t is better than the value v exactly if :math:`N(t) - v D(t) > 0`, which
is linear in its false negatives and false positives. The oracle finds the tree
for which it is largest, or proves that there is none. Every step improves the
value, and there are finitely many; two or three are typical.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, gcd, lcm

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import FractionalMetric
from goct.search.plane import Lift, Plane
from goct.search.staircase import Steps
from goct.task import SizeLimit


class FractionalMaximiser:
    """Finds the tree of largest value for a quotient of linear functions.

    Parameters
    ----------
    plane
        Answers linear questions, and keeps the best tree.
    steps
        Turns proven half-planes into bounds.
    metric
        The metric.
    """

    def __init__(self, plane: Plane, steps: Steps, metric: FractionalMetric) -> None:
        self.plane = plane
        self.steps = steps
        self._unit = plane.problem.weight_unit
        sizes = self._unit * plane.n_pos, self._unit * plane.n_neg
        self._numerator, self._denominator = metric.fraction(*sizes)
        self._floor = np.zeros(len(steps.low), dtype=np.int64)

    def maximise(self, above: Exact, size: SizeLimit, lift: Lift) -> Exact | None:
        """Find the tree of largest value, if that is larger than a given one.

        Parameters
        ----------
        above
            Only larger values are of interest.
        size
            How large the tree may be.
        lift
            Turns a bound on the value of such trees into one on the objective.

        Returns
        -------
        Exact or None
            The largest value; None if it is proven that none is of interest.
        """
        plane, run, steps = self.plane, self.plane.run, self.steps
        value, found, floor = above.as_fraction(), None, self._floor
        while found is None or found != plane.top:
            alpha, beta, perfect = self._line(value)
            cutoff = ceil(perfect)  # costs are integers: below `perfect` is below this
            if cutoff <= 0 and alpha >= 0 and beta >= 0:
                break
            result = run.ask(
                plane.costs(alpha, beta),
                size,
                cutoff=cutoff,
                to_bound=lambda least, a=alpha, b=beta, f=floor: lift(  # type: ignore[misc]
                    self._bound(steps.raised(f, a, b, least))
                ),
            )
            if result.tree is None:
                floor = steps.raised(floor, alpha, beta, cutoff)
                break
            x, y = plane.of(run.offer(result.tree))
            floor = steps.raised(floor, alpha, beta, alpha * x + beta * y)
            found = plane.value(x, y)
            value = found.as_fraction()
        if size == run.size:
            self._floor = floor
        return found

    def attain(self, value: Exact, size: SizeLimit) -> bool | None:
        """Find a tree of a given size and the largest value, if there is one.

        All such trees have the same, least cost in the direction of the value,
        so that their splits decide. None if this cannot be told, because trees
        whose quotient is 0 / 0 have it, too.
        """
        plane, run = self.plane, self.plane.run
        alpha, beta, perfect = self._line(value.as_fraction())
        tree = run.ask_fewest(plane.costs(alpha, beta), size, cost=int(perfect))
        if tree is None:
            return False
        return True if plane.value(*plane.of(run.offer(tree))) == value else None

    def _line(self, value: Fraction) -> tuple[int, int, Fraction]:
        """Return alpha, beta and c: a tree is better exactly if alpha FN + beta FP < c."""
        numerator, denominator, unit = self._numerator, self._denominator, self._unit
        # N - v D = perfect - alpha * FN - beta * FP
        alpha = unit * (numerator.tp - value * denominator.tp)
        beta = unit * (numerator.tn - value * denominator.tn)
        perfect = (
            numerator.constant
            - value * denominator.constant
            + alpha * self.plane.n_pos
            + beta * self.plane.n_neg
        )
        scale = Fraction(lcm(alpha.denominator, beta.denominator))
        scale /= gcd(int(alpha * scale), int(beta * scale)) or 1
        return int(alpha * scale), int(beta * scale), Fraction(perfect * scale)

    def _bound(self, floor: NDArray[np.int64]) -> Exact:
        possible = floor <= self.plane.n_neg
        largest = self.steps.largest_value(np.where(possible, floor, 0), possible)
        return self.plane.run.bound if largest is None else largest
