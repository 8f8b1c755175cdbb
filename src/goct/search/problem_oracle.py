"""The linear oracle on the rows of a problem, whatever its features are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from goct.features import RankedFeatures
from goct.problem import Problem
from goct.search import oracle
from goct.search.cluster import ClusterOracle
from goct.search.oracle import FrontResult, LinearOracle, OracleResult, TreeTuple

_ALONE = (
    "every threshold is searched by this machine alone, with n_jobs threads: workers would take "
    "longer; choose thresholds beforehand to share the work"
)

_Result = TypeVar("_Result", OracleResult, FrontResult)


class ProblemOracle:
    """A :class:`LinearOracle` whose trees are over the original features of a problem.

    Parameters
    ----------
    problem
        The data.
    weights
        What a minimum leaf counts, one integer per row.
    executor
        A Dask client whose workers help; none by default. Columns with many thresholds are left to
        this process.
    **options
        Those of :class:`LinearOracle`.
    """

    def __init__(
        self,
        problem: Problem,
        weights: ArrayLike | None = None,
        *,
        executor: Any = None,
        **options: Any,
    ) -> None:
        self.problem = problem
        self._weights = weights
        self._executor = executor
        self._options = options

    def close(self) -> None:
        """Let the workers of a cluster forget the data."""
        if isinstance(core := self.__dict__.get("_core"), ClusterOracle):
            core.close()

    @property
    def _ranked(self) -> RankedFeatures | None:
        """The features, if they go to the core as ranks."""
        features = self.problem.features
        if not isinstance(features, RankedFeatures):
            return None
        is_narrow = all(len(cuts) <= oracle.NARROW for cuts in features.cuts)
        has_few = is_narrow or features.n_kept <= oracle.FEW
        return None if has_few and self._executor is not None else features

    @property
    def has_wide(self) -> bool:
        """Whether thresholds of columns with many of them are searched."""
        return self._ranked is not None and self._core.has_wide

    def has_features(self, n_classes: int, min_leaf_weight: int) -> bool:
        """Say whether features are searched, see :meth:`LinearOracle.has_features`."""
        return self._ranked is None or self._core.has_features(n_classes, min_leaf_weight)

    @cached_property
    def _core(self) -> LinearOracle | ClusterOracle:
        if (features := self._ranked) is not None:
            if self._executor is not None:
                warnings.warn(_ALONE, stacklevel=2)
            return LinearOracle.from_ranks(
                features.ranks,
                weights=self._weights,
                narrow=oracle.NARROW,
                few=oracle.FEW,
                **self._options,
            )
        if self._executor is None:
            return LinearOracle(self.problem.X, weights=self._weights, **self._options)
        X = self.problem.X
        return ClusterOracle(X, self._weights, executor=self._executor, **self._options)

    def solve(self, costs: ArrayLike, **question: Any) -> OracleResult:
        """Find the cheapest tree, see :meth:`LinearOracle.solve`."""
        return self._translated(self._core.solve(costs, **question))

    def solve_budgets(self, costs: ArrayLike, **question: Any) -> list[OracleResult]:
        """Find the cheapest tree for every split budget, see :meth:`LinearOracle.solve_budgets`."""
        return [self._translated(found) for found in self._core.solve_budgets(costs, **question)]

    @property
    def is_spread(self) -> bool:
        """Whether there are others who can answer questions side by side."""
        return isinstance(self._core, ClusterOracle)

    def answer_all(self, *questions: Any) -> tuple[list[Any], bool]:
        """Have questions answered side by side, see :meth:`Cluster.answer_all`."""
        assert isinstance(self._core, ClusterOracle)
        found, is_interrupted = self._core.cluster.answer_all(*questions)
        return [each and self._translated(each) for each in found], is_interrupted

    def search_front(
        self, positives: ArrayLike, negatives: ArrayLike, **question: Any
    ) -> FrontResult:
        """Look for wanted trees inside the hull, see :meth:`LinearOracle.search_front`."""
        return self._translated(self._core.search_front(positives, negatives, **question))

    def _translated(self, found: _Result) -> _Result:
        if found.tree is None:
            return found
        tree = _over(found.tree, self._original)
        if isinstance(found, OracleResult):
            return replace(found, tree=tree)
        trees = tuple((_over(each, self._original), point) for each, point in found.trees)
        return replace(found, tree=tree, trees=trees)

    def _original(self, feature: int) -> int:
        if self._ranked is not None:
            return self._ranked.original(feature)
        return int(self.problem.kept[feature])


def _over(tree: TreeTuple, original: Callable[[int], int]) -> TreeTuple:
    """Return a tree of the core over the original features."""
    if isinstance(tree, int):
        return tree
    feature, left, right = tree
    return original(feature), _over(left, original), _over(right, original)
