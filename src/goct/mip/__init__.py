"""The MIP engine: the models of the paper on general-purpose solvers."""

from goct.mip.engine import BACKENDS, FORMULATIONS, solve_mip

__all__ = ["BACKENDS", "FORMULATIONS", "solve_mip"]
