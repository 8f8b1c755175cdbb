"""The MIP engine: the models of the paper on general-purpose solvers."""

from goct.mip.engine import solve_mip
from goct.mip.export import export_model
from goct.mip.formulations import CUTS, FORMULATIONS
from goct.mip.options import BACKENDS, MipOptions

__all__ = ["BACKENDS", "CUTS", "FORMULATIONS", "MipOptions", "export_model", "solve_mip"]
