"""What every backend takes and gives."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.mip.model import MipModel
from goct.solution import Limit, Limits


class BackendError(RuntimeError):
    """A solver failed; its result must not be used."""


class Ability(Enum):
    """What a solver may be able to do beyond running a model that is written down."""

    SEPARATION = "cuts that are found on demand"
    INJECTION = "solutions that are found on the way"
    THREADS = "several threads"
    PRODUCTS = "products of variables"


@dataclass(frozen=True)
class Settings:
    """How a solver runs.

    Attributes
    ----------
    limits
        What it may spend; building its copy of the model counts.
    gap
        It may stop when bound and objective differ by no more, in units of the
        model's objective.
    seed
        Shifts its random seeds.
    threads
        The number of threads.
    max_rounds
        How often cuts are separated at each node but the root.
    log
        Whether it prints its log.
    """

    limits: Limits = field(default_factory=Limits)
    gap: float = 0.0
    seed: int | None = None
    threads: int = 1
    max_rounds: int = 1
    log: bool = False


@dataclass(frozen=True)
class MipProgress:
    """The state of a running solver: its best solution and its bound."""

    x: NDArray[np.float64] | None
    bound: float
    nodes: int


MipCallback: TypeAlias = Callable[[MipProgress], bool]
"""Is told the progress from time to time, in the caller's thread; stops the solver by True."""


@dataclass(frozen=True)
class MipResult:
    """What a solver found.

    Attributes
    ----------
    x
        The best solution; None if there is none.
    bound
        The solver's upper bound on the objective, within its tolerances; may
        be infinite.
    limit
        Why it stopped before it was done.
    is_infeasible
        Whether it proved that there is no solution.
    stats
        Counts and times of the solver.
    """

    x: NDArray[np.float64] | None
    bound: float
    limit: Limit
    is_infeasible: bool = False
    stats: dict[str, Any] = field(default_factory=dict)


class Backend(ABC):
    """Runs a model on a solver.

    Attributes
    ----------
    name
        The solver.
    module
        The Python package that it comes with.
    extra
        The extra of goct that installs it; None if it always is installed.
    abilities
        What it can do.
    """

    name: str
    module: str
    extra: str | None = None
    abilities: frozenset[Ability] = frozenset()

    @property
    def is_available(self) -> bool:
        """Whether the solver is installed."""
        return importlib.util.find_spec(self.module) is not None

    @abstractmethod
    def run(
        self,
        model: MipModel,
        settings: Settings,
        *,
        start: NDArray[np.float64] | None = None,
        callback: MipCallback | None = None,
    ) -> MipResult:
        """Maximise the model's objective.

        Parameters
        ----------
        model
            The model.
        settings
            How to run.
        start
            A feasible solution to start from.
        callback
            Is told the progress, some ten times a second at most.

        Raises
        ------
        BackendError
            If the solver fails.
        """


FEASIBILITY_TOLERANCE = 1e-6


def check_start(model: MipModel, start: NDArray[np.float64]) -> None:
    """Raise a `BackendError` if a start solution is not feasible."""
    if (violation := model.violation(start)) > FEASIBILITY_TOLERANCE:
        raise BackendError(f"the start solution violates the model by {violation:g}")
    for separator in model.separators:
        if separator.is_lazy and not separator.allows(start):
            raise BackendError(f"the start solution violates a {separator.name} cut")
