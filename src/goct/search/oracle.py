"""The linear oracle: the only door to the compiled search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct import _core
from goct._validation import check_count
from goct.solution import Limit
from goct.tree import Leaf, Node, Split

TECHNIQUES = (
    "reduce",
    "order",
    "similarity",
    "inheritance",
    "cache",
    "transfer",
    "cutoffs",
    "first_pass",
)
"""What can be switched off, to measure what it gains; none of it changes the result."""

OracleCallback: TypeAlias = Callable[[int, int], bool]
"""Is told the proven lower bound and the number of nodes; the search stops if it returns True."""


@dataclass(frozen=True)
class OracleResult:
    """The answer of the oracle.

    Attributes
    ----------
    tree
        The cheapest tree below the cutoff; None if there is none, or if none
        was found before the oracle was stopped.
    cost
        Its cost; None without a tree.
    bound
        A proven bound: no tree costs less. If the oracle was not stopped, it is
        the cost of the tree or, without one, at least the cutoff.
    limit
        Why the oracle stopped before it was done, if it did.
    stats
        Counts of the search.
    """

    tree: Node | None
    cost: int | None
    bound: int
    limit: Limit
    stats: dict[str, Any] = field(default_factory=dict)


class LinearOracle:
    """Finds trees of least cost, where every row has a cost for each class.

    It keeps its cache between calls: what is proven under some costs bounds
    what is possible under others.

    Parameters
    ----------
    X
        Distinct 0/1 rows, shape (rows, features), C-contiguous bytes.
    n_jobs
        The number of threads. The result does not depend on it.
    memory_limit
        How many bytes the cache and the tables of counts may take.
    techniques
        Switches techniques off, by name; see :data:`TECHNIQUES`.
    """

    def __init__(
        self,
        X: NDArray[np.uint8],
        *,
        n_jobs: int = 1,
        memory_limit: int = 1 << 30,
        techniques: Mapping[str, bool] | None = None,
    ) -> None:
        n_jobs = check_count(n_jobs, "n_jobs", minimum=1)
        memory_limit = check_count(memory_limit, "memory_limit", minimum=1 << 20)
        switches = dict(techniques or {})
        for name in switches:
            if name not in TECHNIQUES:
                raise ValueError(f"unknown technique {name!r}; there are {', '.join(TECHNIQUES)}")
        self._core = _core.Oracle(X, None, memory_limit, n_jobs, switches)
        self._n_rows = len(X)

    def solve(
        self,
        costs: NDArray[np.int64],
        max_depth: int,
        *,
        split_cost: int = 0,
        max_splits: int | None = None,
        cutoff: int | None = None,
        time_limit: float | None = None,
        callback: OracleCallback | None = None,
    ) -> OracleResult:
        """Find the cheapest tree, or prove that none is below a cutoff.

        Parameters
        ----------
        costs
            The cost of predicting each class in each row, shape (rows,
            classes), of either sign.
        max_depth
            The largest depth.
        split_cost
            The cost of every split; not negative.
        max_splits
            The largest number of splits; no limit if None.
        cutoff
            Only trees that cost less are of interest.
        time_limit
            Seconds after which the search stops.
        callback
            Called about twenty times a second.

        Raises
        ------
        OverflowError
            If sums of costs could leave 60 bits.
        """
        if costs.ndim != 2 or len(costs) != self._n_rows or costs.shape[1] == 0:
            raise ValueError(f"costs must have {self._n_rows} rows, got shape {costs.shape}")

        if max_splits is not None:
            raise NotImplementedError("the oracle does not limit the number of splits yet")

        def watch(_elapsed: float, _best: int | None, bound: int, nodes: int, *_: int) -> bool:
            assert callback is not None
            return callback(bound, nodes)

        tree, cost, bound, is_proven, reason, stats = self._core.solve(
            np.ascontiguousarray(costs, dtype=np.int64),
            split_cost,
            max_depth,
            0,
            cutoff,
            time_limit,
            None if callback is None else watch,
        )
        return OracleResult(
            tree=None if tree is None else _node(tree),
            cost=None if tree is None else cost,
            bound=bound,
            limit=Limit.NONE if is_proven else Limit(reason),
            stats=stats,
        )


def _node(tree: Any) -> Node:
    """Build a node from a label, or from a feature and two trees."""
    if isinstance(tree, int):
        return Leaf(tree)
    feature, left, right = tree
    return Split(feature, _node(left), _node(right))
