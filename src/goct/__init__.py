"""Generalized optimal classification trees.

Small decision trees that are provably the best possible for the metric you
care about.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from goct._ctrl_c import leave_while_loading

leave_while_loading()

# ruff: noqa: E402
from goct import constraints, exceptions, metrics
from goct._core import __version__
from goct.exact import Exact
from goct.path import Path, PathProgress, path
from goct.problem import Problem
from goct.search.frontier import Frontier, frontier
from goct.solution import Limit, Progress, Solution, Status
from goct.solve import solve
from goct.tree import Tree
from goct.verify import verify

if TYPE_CHECKING:
    from goct.estimator import OptimalTreeClassifier
    from goct.estimator_cv import OptimalTreeClassifierCV
    from goct.export import export_text
    from goct.model import Model
    from goct.report.plot import plot_tree

__all__ = [
    "Exact", "Frontier", "Limit", "Model", "OptimalTreeClassifier", "OptimalTreeClassifierCV",
    "Path", "PathProgress", "Problem", "Progress", "Solution", "Status", "Tree", "__version__",
    "constraints", "exceptions", "export_text", "frontier", "metrics", "path", "plot_tree", "solve",
    "verify",
]  # fmt: skip

# Loaded when they are asked for: scikit-learn takes a second to import.
_LATER = {
    "Model": "goct.model",
    "OptimalTreeClassifier": "goct.estimator",
    "OptimalTreeClassifierCV": "goct.estimator_cv",
    "export_text": "goct.export",
    "plot_tree": "goct.report.plot",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
