"""Generalized optimal classification trees.

Small decision trees that are provably the best possible for the metric you
care about.
"""

from goct import constraints, metrics
from goct._core import __version__
from goct.exact import Exact
from goct.problem import Problem
from goct.search.frontier import Frontier, frontier
from goct.solution import Limit, Progress, Solution, Status
from goct.solve import solve
from goct.tree import Tree

__all__ = [
    "Exact",
    "Frontier",
    "Limit",
    "Problem",
    "Progress",
    "Solution",
    "Status",
    "Tree",
    "__version__",
    "constraints",
    "frontier",
    "metrics",
    "solve",
]
