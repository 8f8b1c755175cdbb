r"""Quotients of linear functions: Dinkelbach's method, in integers.

A tree t is better than the value v exactly if :math:`N(t) - v D(t) > 0`, which
is linear in its false negatives and false positives. The oracle finds the tree
for which it is largest, or proves that there is none. Every step improves the
value, and there are finitely many; two or three are typical.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import FractionalMetric, LevelLine
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
        self.metric = metric
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
        value, found, floor = above, None, self._floor
        while found is None or found != plane.top:
            line = self._line(value)
            alpha, beta, cutoff = line.a, line.b, line.cutoff
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
            value = found = plane.value(x, y)
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
        line = self._line(value)
        tree = run.ask_fewest(plane.costs(line.a, line.b), size, cost=line.most)
        if tree is None:
            return False
        return True if plane.value(*plane.of(run.offer(tree))) == value else None

    def _line(self, value: Exact) -> LevelLine:
        plane = self.plane
        unit = plane.problem.weight_unit
        return self.metric.level_line(value.as_fraction(), plane.n_pos, plane.n_neg, unit)

    def _bound(self, floor: NDArray[np.int64]) -> Exact:
        possible = floor <= self.plane.n_neg
        largest = self.steps.largest_value(np.where(possible, floor, 0), possible)
        return self.plane.run.bound if largest is None else largest
