"""The MIP engine: the models of the paper on general-purpose solvers."""

from goct.mip.engine import BACKENDS, solve_mip
from goct.mip.formulations import CUTS, FORMULATIONS

__all__ = ["BACKENDS", "CUTS", "FORMULATIONS", "solve_mip"]
