"""Linear metrics: one question to the oracle."""

from __future__ import annotations

import numpy as np

from goct.exact import Exact
from goct.lattice import Lattice
from goct.metrics import LinearMetric
from goct.search.run import LARGEST_COST, Run, TooFineError


def maximise_linear(run: Run, metric: LinearMetric, max_splits: int | None) -> None:
    """Find the best tree for a linear metric with a split penalty.

    The oracle minimises what a tree earns less than the best class in every
    row would, plus the cost of its splits.
    """
    lattice = Lattice(metric.rewards(run.problem), run.split_penalty)
    losses = (lattice.gains.max(axis=1, keepdims=True) - lattice.gains) * lattice.factor

    def to_bound(cost: int) -> Exact:
        return Exact(lattice.objective(lattice.most - cost))

    # A split that costs more than there is to gain is as good as forbidden.
    split_cost = min(lattice.split_cost, lattice.most + 1)
    if lattice.most + 64 * split_cost >= LARGEST_COST:
        raise TooFineError
    result = run.ask(
        losses.astype(np.int64),
        split_cost=split_cost,
        max_splits=max_splits,
        to_bound=to_bound,
        cost_is_objective=True,
    )
    assert result.tree is not None
    run.offer(result.tree)
    run.tighten(to_bound(result.bound))
