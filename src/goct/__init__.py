"""Generalized optimal classification trees.

Small decision trees that are provably the best possible for the metric you
care about.
"""

from typing import TYPE_CHECKING, Any

from goct import constraints, exceptions, metrics
from goct._core import __version__
from goct.exact import Exact
from goct.problem import Problem
from goct.search.frontier import Frontier, frontier
from goct.solution import Limit, Progress, Solution, Status
from goct.solve import solve
from goct.tree import Tree

if TYPE_CHECKING:
    from goct.estimator import OptimalTreeClassifier

__all__ = [
    "Exact",
    "Frontier",
    "Limit",
    "OptimalTreeClassifier",
    "Problem",
    "Progress",
    "Solution",
    "Status",
    "Tree",
    "__version__",
    "constraints",
    "exceptions",
    "frontier",
    "metrics",
    "solve",
]


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: scikit-learn takes a second to import.
    if name == "OptimalTreeClassifier":
        from goct.estimator import OptimalTreeClassifier

        return OptimalTreeClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
