"""The options of the MIP engine, in groups, each checked once when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from goct._validation import check_choice, check_flag, check_jobs
from goct.exact import as_fraction
from goct.metrics import FractionalMetric, LinearMetric, Metric, Shape
from goct.mip.backends.base import Ability, Backend
from goct.mip.backends.gurobi import Gurobi
from goct.mip.backends.highs import Highs
from goct.mip.backends.scip import Scip
from goct.mip.cuts import Separation
from goct.mip.formulations import FORMULATIONS, IN_THE_MODEL, Formulation
from goct.mip.heuristics import HeuristicOptions
from goct.mip.nonlinear.linearize import LINEARIZATIONS
from goct.mip.warm_start import WarmStartOptions

BACKENDS: dict[str, Backend] = {"scip": Scip(), "gurobi": Gurobi(), "highs": Highs()}
METHODS = ("auto", "direct", "parametric")


@dataclass(frozen=True)
class ModelOptions:
    """What is solved.

    Attributes
    ----------
    formulation
        The model, see :data:`goct.mip.formulations.FORMULATIONS`: "flow",
        "wflow", "benders", "benders-weighted", "benders-weighted-cut" of the
        paper, or "benders-pair-cut".
    method
        How nonlinear metrics are maximised: "direct", by one model that states
        the metric (:mod:`goct.mip.nonlinear`), or "parametric", by linear
        models (:mod:`goct.mip.parametric`), for metrics that are fractional or
        quasiconvex. "auto" is "parametric" for these, unless `linearization` or
        `gap` is given, and "direct" for all others.
    linearization
        How that one model states products
        (:mod:`goct.mip.nonlinear.linearize`): "compact", in bits, which is what
        None means; "paper", in bits as the paper does; or "none", as they are,
        which makes it a MIQCP; HiGHS does not solve these.
    cuts
        Switches families of cuts on or off, see
        :data:`goct.mip.formulations.CUTS`.
    integer_flow
        Whether the flow variables, z or g, are binary, as in the paper. They
        need not be.
    """

    formulation: str = "benders-pair-cut"
    method: str = "auto"
    linearization: str | None = None
    cuts: Mapping[str, bool] | None = None
    integer_flow: bool = False

    def __post_init__(self) -> None:
        check_choice(self.formulation, "formulation", tuple(FORMULATIONS))
        check_choice(self.method, "method", METHODS)
        if self.linearization is not None:
            check_choice(self.linearization, "linearization", tuple(LINEARIZATIONS))
        self.form.choose_cuts(self.cuts)
        check_flag(self.integer_flow, "integer_flow")

    @property
    def form(self) -> Formulation:
        """The formulation."""
        return FORMULATIONS[self.formulation]

    @property
    def families(self) -> frozenset[str]:
        """The families of cuts that are on."""
        return self.form.choose_cuts(self.cuts)

    @property
    def needs_separation(self) -> bool:
        """Whether rows have to be found on demand."""
        return not self.form.is_compact or bool(self.families - IN_THE_MODEL)


@dataclass(frozen=True)
class SolverOptions:
    """Who solves it, and when that is good enough.

    Attributes
    ----------
    backend
        The solver: "scip", "gurobi" or "highs".
    gap
        The solver may stop when it has proven the tree to be this close to the
        best one, in the metric's own unit.
    n_jobs
        The number of threads of the solver; -1 for all processors.
    log
        Whether the solver prints its log.
    solver_parameters
        Further parameters of the solver, by its own names, such as
        ``{"branching/random/priority": 100000}`` for SCIP. Those that goct sets
        itself, and those on which proofs rest, such as tolerances, are refused.
    """

    backend: str = "scip"
    gap: Fraction = Fraction(0)
    n_jobs: int = 1
    log: bool = False
    solver_parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice(self.backend, "backend", tuple(BACKENDS))
        object.__setattr__(self, "gap", as_fraction(self.gap, "gap"))
        if self.gap < 0:
            raise ValueError(f"gap must not be negative, got {self.gap}")
        object.__setattr__(self, "n_jobs", check_jobs(self.n_jobs))
        check_flag(self.log, "log")
        if not self.solver.is_available:
            raise ImportError(
                f"the backend {self.backend!r} needs {self.solver.module}: "
                f"pip install 'goct[{self.solver.extra}]'"
            )
        if not isinstance(self.solver_parameters, Mapping):
            raise TypeError(
                f"solver_parameters must map names to values, got {self.solver_parameters!r}"
            )
        self.solver.check_parameters(self.solver_parameters)

    @property
    def solver(self) -> Backend:
        """The backend."""
        return BACKENDS[self.backend]


@dataclass(frozen=True)
class MipOptions:
    """All options of the MIP engine.

    Attributes
    ----------
    model, separation, warm_start, heuristic, solver
        The groups. As keywords of :func:`goct.solve`, their options stand side
        by side.
    """

    model: ModelOptions = field(default_factory=ModelOptions)
    separation: Separation = field(default_factory=Separation)
    warm_start: WarmStartOptions = field(default_factory=WarmStartOptions)
    heuristic: HeuristicOptions = field(default_factory=HeuristicOptions)
    solver: SolverOptions = field(default_factory=SolverOptions)

    def __post_init__(self) -> None:
        if self.model.needs_separation:
            name = self.model.formulation
            self._require(Ability.SEPARATION, f"the formulation {name!r} and its cuts need")
        if self.solver.n_jobs > 1:
            self._require(Ability.THREADS, f"n_jobs={self.solver.n_jobs} needs")

    @classmethod
    def read(cls, **options: Any) -> MipOptions:
        """Return the options that keywords, those of :data:`KEYWORDS`, stand for."""
        if "threads" in options:
            options = {"n_jobs": options["threads"], **options}
        return cls(
            **{
                group: kind(**{f.name: options[f.name] for f in fields(kind) if f.name in options})
                for group, kind in _GROUPS.items()
            }
        )

    def method_for(self, metric: Metric) -> str:
        """Return how a metric is maximised, "direct" or "parametric"; check that it can be."""
        method = self.model.method
        if isinstance(metric, LinearMetric):
            return "direct"
        why = not_parametric(metric)
        if method == "parametric" and why is not None:
            raise ValueError(why)
        if method == "auto":
            is_free = self.model.linearization is None and not self.solver.gap
            method = "parametric" if is_free and why is None else "direct"
        if method == "direct" and self.model.linearization == "none":
            self._require(Ability.PRODUCTS, "linearization='none' needs")
        return method

    def rounding_only(self) -> MipOptions:
        """Return the same options, trees being made by rounding."""
        return replace(self, heuristic=replace(self.heuristic, node_heuristic="rounding"))

    def _require(self, ability: Ability, reason: str) -> None:
        if ability not in self.solver.solver.abilities:
            able = [repr(key) for key, other in BACKENDS.items() if ability in other.abilities]
            raise ValueError(
                f"{reason} {ability.value}, which the backend {self.solver.backend!r} cannot do; "
                f"{' and '.join(able)} can"
            )


_GROUPS: dict[str, Any] = {group.name: group.default_factory for group in fields(MipOptions)}
KEYWORDS = (*(f.name for group in _GROUPS.values() for f in fields(group)), "threads")
"""The options as keywords of :func:`goct.solve`; `threads` is an old name of `n_jobs`."""


def not_parametric(metric: Metric) -> str | None:
    """Say why linear models are not enough for a metric; None if they are."""
    if isinstance(metric, FractionalMetric) or metric.shape is Shape.QUASICONVEX:
        return None
    return (
        f"method='parametric' maximises fractional and quasiconvex metrics, and {metric.name!r} is "
        f"{metric.shape.value}: its best tree may lie inside the hull"
    )
