"""Linear metrics: one question to the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goct.exact import Exact
from goct.metrics import IntegerObjective, LinearMetric
from goct.plane.oracle import Answer, Incumbent, TooFineError
from goct.plane.path import OFF, Budgets
from goct.search.questions import LARGEST_COST, CostOracle
from goct.task import SizeLimit


class LinearMaximiser:
    """Finds the best tree for a linear metric with a split penalty.

    The oracle minimises what a tree earns less than the best class in every
    row would, plus the cost of its splits.

    Parameters
    ----------
    oracle, incumbent
        Whom to ask, and what is known so far.
    metric
        The metric of the task.
    coarse
        Whether costs that are too fine for the oracle are rounded down. What is
        proven then falls short of the best tree by the rounding.

    Attributes
    ----------
    is_exact
        Whether nothing was rounded.
    """

    def __init__(
        self,
        oracle: CostOracle,
        incumbent: Incumbent,
        metric: LinearMetric,
        *,
        coarse: bool = False,
    ) -> None:
        self.oracle = oracle
        self.incumbent = incumbent
        task = incumbent.task
        rewards = metric.rewards(task.problem)
        self._integers = integers = IntegerObjective(rewards, task.split_penalty)
        losses = (integers.gains.max(axis=1, keepdims=True) - integers.gains) * integers.factor
        # A split that costs more than there is to gain is as good as forbidden.
        split_cost = min(integers.split_cost, integers.most + 1)
        largest = integers.most + 64 * split_cost
        self.is_exact = largest < LARGEST_COST
        if not self.is_exact and not coarse:
            raise TooFineError
        # A tree costs no less than its rounded cost, times the divisor.
        self._divisor = 1 if self.is_exact else largest // (LARGEST_COST // 2)
        self._split_cost = split_cost // self._divisor
        self._losses = (losses // self._divisor).astype(np.int64)
        self._factor = self._factor_for_splits(largest)

    def _factor_for_splits(self, largest: int) -> int:
        """Return what costs are multiplied by so that splits decide between equal ones.

        1 if splits do not count. Over columns with many thresholds they may well: that takes no
        longer, and nothing is left to ask for after the proof.
        """
        task = self.incumbent.task
        factor: int = 2**task.size.deepest
        is_possible = self.oracle.core.has_wide and task.size.max_splits is None
        fits = self.is_exact and factor * (largest + 1) < LARGEST_COST
        return factor if is_possible and fits else 1

    @property
    def splits_are_fewest(self) -> bool:
        """Whether the best tree is known to have the fewest splits of all optimal ones."""
        return self._factor > 1

    def maximise(self) -> None:
        """Find the best tree, and prove it."""
        factor, size = self._factor, self.incumbent.task.size

        def to_bound(cost: int) -> Exact:
            # The cost is factor · (cost of the tree) + splits, of which there are few.
            most = size.most_splits if factor > 1 else 0
            return self._to_bound(-((most - cost) // factor))

        answer = self.oracle.solve(
            factor * self._losses,
            size,
            split_cost=factor * self._split_cost + (factor > 1),
            cutoff=self._cutoff(),
            to_bound=to_bound,
            is_objective=self.is_exact,
        )
        self.incumbent.tighten(to_bound(answer.bound))

    def _cutoff(self) -> int | None:
        """Return what the best tree so far costs, if the oracle is to look below that."""
        best = self.incumbent.best
        if self._factor == 1 or best is None or not best.tree.splits:
            return None
        units = self._integers.units(best.objective.as_fraction())
        return self._factor * (self._integers.most - units) + best.tree.splits

    def maximise_budgets(self, budgets: Budgets) -> None:
        """Find the best tree for every split budget, and prove it; there is no split penalty."""
        size, most = self.incumbent.task.size, self._integers.most

        def cutoff(known: Incumbent) -> int:
            if known.objective is None:
                return -OFF
            is_proven = known.objective == known.bound
            return OFF if is_proven else most - self._integers.units(known.objective.as_fraction())

        def learn(answers: Sequence[Answer]) -> None:
            for splits, answer in enumerate(answers):
                budgets.tighten(splits, self._to_bound(answer.bound))

        cutoffs = [cutoff(known) for known in budgets.incumbents]
        if any(cutoff > OFF for cutoff in cutoffs):
            cutoffs += [OFF] * (size.most_splits + 1 - len(cutoffs))
            self.oracle.solve_by_splits(self._losses, size, cutoffs=cutoffs, learn=learn)

    def find_tie(self, size: SizeLimit) -> bool:
        """Find a tree of a given size that is as good as the best, if there is one."""
        least = self._integers.most - self._integers.units(self.incumbent.bound.as_fraction())
        costs, split_cost = self._losses, self._split_cost
        try:
            tree = self.oracle.solve_fewest(costs, size, cost=least, split_cost=split_cost)
        except TooFineError:
            answer = self.oracle.solve(costs, size, split_cost=split_cost, cutoff=least + 1)
            tree = answer.tree
        return tree is not None

    def _to_bound(self, cost: int) -> Exact:
        return Exact(self._integers.objective(self._integers.most - cost * self._divisor))
