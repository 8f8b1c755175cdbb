"""Solvers: the engines of goct and its peers, each behind the same door."""

from __future__ import annotations

from importlib import import_module

from goct.bench.peers.base import Answer, Question, Solver, Unsupported

__all__ = ["SOLVERS", "Answer", "Question", "Solver", "Unsupported", "get_solver"]

SOLVERS: dict[str, str] = {
    "search": "goct.bench.peers.own:Search",
    "mip": "goct.bench.peers.own:Mip",
    "thresholds": "goct.bench.peers.own:Thresholds",
    "describe": "goct.bench.peers.own:Describe",
    "frontier": "goct.bench.peers.own:FrontierOfTrees",
    "certified": "goct.bench.peers.own:Certified",
    "cart": "goct.bench.peers.others:Cart",
    "streed": "goct.bench.peers.others:Streed",
    "dl85": "goct.bench.peers.others:Dl85",
    "odtlearn": "goct.bench.peers.others:Odtlearn",
    "gosdt": "goct.bench.peers.others:Gosdt",
    "contree": "goct.bench.peers.others:Contree",
    "fast-small-tree": "goct.bench.peers.others:FastSmallTree",
    "licketysplit": "goct.bench.peers.others:LicketySplit",
    "praxis": "goct.bench.peers.others:Praxis",
    "pytrees-lds": "goct.bench.peers.others:PytreesLds",
    "paced": "goct.bench.peers.own:Paced",
    "goct-cv": "goct.bench.peers.tuned:TunedGoct",
    "goct-1se": "goct.bench.peers.tuned:OneStandardError",
    "goct-mdlp": "goct.bench.peers.tuned:Mdlp",
    "goct-8": "goct.bench.peers.tuned:EightQuantiles",
    "goct-32": "goct.bench.peers.tuned:ManyQuantiles",
    "goct-exact": "goct.bench.peers.tuned:EveryThreshold",
    "cart-cv": "goct.bench.peers.tuned:TunedCart",
    "cart-balanced": "goct.bench.peers.tuned:TunedBalancedCart",
    "cart-threshold": "goct.bench.peers.tuned:TunedThresholdCart",
    "figs": "goct.bench.peers.tuned:Figs",
    "shrunken": "goct.bench.peers.tuned:Shrunken",
    "boosting": "goct.bench.peers.tuned:Boosting",
}
"""Solvers by name, each with the class behind it, which is loaded when it is needed."""


def get_solver(name: str) -> Solver:
    """Return a solver by its name, or by ``module:class`` for one of your own."""
    place = SOLVERS.get(name, name)
    module, _, attribute = place.partition(":")
    if not attribute:
        raise ValueError(f"unknown solver {name!r}; known are {', '.join(SOLVERS)}")
    solver = getattr(import_module(module), attribute)()
    if not isinstance(solver, Solver):
        raise TypeError(f"{place} is no goct.bench.peers.Solver")
    return solver
