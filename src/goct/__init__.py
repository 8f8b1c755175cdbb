"""Generalized optimal classification trees.

Small decision trees that are provably the best possible for the metric you
care about.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from goct._core import __version__

if TYPE_CHECKING:
    from goct import constraints, exceptions, metrics
    from goct.estimator import OptimalTreeClassifier
    from goct.estimator_cv import OptimalTreeClassifierCV
    from goct.exact import Exact
    from goct.export import export_text
    from goct.model import Model
    from goct.path import Path, PathProgress, path
    from goct.problem import Problem
    from goct.report.plot import plot_tree
    from goct.search.frontier import Frontier, frontier
    from goct.solution import Limit, Progress, Solution, Status
    from goct.solve import solve
    from goct.tree import Tree
    from goct.verify import verify

__all__ = [
    "Exact", "Frontier", "Limit", "Model", "OptimalTreeClassifier", "OptimalTreeClassifierCV",
    "Path", "PathProgress", "Problem", "Progress", "Solution", "Status", "Tree", "__version__",
    "constraints", "exceptions", "export_text", "frontier", "metrics", "path", "plot_tree", "solve",
    "verify",
]  # fmt: skip

# Everything is loaded when it is asked for: scikit-learn takes two seconds to import.
_SUBMODULES = ("constraints", "exceptions", "metrics")
_PLACES = {
    "estimator": ("OptimalTreeClassifier",),
    "estimator_cv": ("OptimalTreeClassifierCV",),
    "exact": ("Exact",),
    "export": ("export_text",),
    "model": ("Model",),
    "path": ("Path", "PathProgress", "path"),
    "problem": ("Problem",),
    "report.plot": ("plot_tree",),
    "search.frontier": ("Frontier", "frontier"),
    "solution": ("Limit", "Progress", "Solution", "Status"),
    "solve": ("solve",),
    "tree": ("Tree",),
    "verify": ("verify",),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"goct.{name}")
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"goct.{_PLACE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `goct.path`, `goct.solve` and `goct.verify` functions when their modules are loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PLACE_OF and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
