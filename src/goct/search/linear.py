"""Linear metrics: one question to the oracle."""

from __future__ import annotations

import numpy as np

from goct.exact import Exact
from goct.metrics import IntegerObjective, LinearMetric
from goct.search.run import LARGEST_COST, Run, TooFineError
from goct.task import SizeLimit


class LinearMaximiser:
    """Finds the best tree for a linear metric with a split penalty.

    The oracle minimises what a tree earns less than the best class in every
    row would, plus the cost of its splits.
    """

    splits_are_fewest = False
    """Whether the best tree is known to have the fewest splits of all optimal ones."""

    def __init__(self, run: Run, metric: LinearMetric) -> None:
        self.run = run
        self._lattice = lattice = IntegerObjective(metric.rewards(run.problem), run.split_penalty)
        losses = (lattice.gains.max(axis=1, keepdims=True) - lattice.gains) * lattice.factor
        # A split that costs more than there is to gain is as good as forbidden.
        self._split_cost = min(lattice.split_cost, lattice.most + 1)
        if lattice.most + 64 * self._split_cost >= LARGEST_COST:
            raise TooFineError
        self._losses = losses.astype(np.int64)

    def maximise(self) -> None:
        """Find the best tree, and prove it."""
        result = self.run.ask(
            self._losses,
            self.run.size,
            split_cost=self._split_cost,
            to_bound=self._to_bound,
            cost_is_objective=True,
        )
        assert result.tree is not None
        self.run.offer(result.tree)
        self.run.tighten(self._to_bound(result.bound))
        self._least = result.bound

    def attain(self, size: SizeLimit) -> bool:
        """Find a tree of a given size that is as good as the best, if there is one."""
        run = self.run
        try:
            tree = run.ask_fewest(self._losses, size, cost=self._least, split_cost=self._split_cost)
        except TooFineError:
            result = run.ask(
                self._losses,
                size,
                split_cost=self._split_cost,
                cutoff=self._least + 1,
                to_bound=lambda _: run.bound,
            )
            tree = result.tree
        if tree is not None:
            run.offer(tree)
        return tree is not None

    def _to_bound(self, cost: int) -> Exact:
        return Exact(self._lattice.objective(self._lattice.most - cost))
