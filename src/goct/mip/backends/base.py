"""What every backend takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.mip.model import MipModel
from goct.solution import Limit, Limits


class BackendError(RuntimeError):
    """A solver failed; its result must not be used."""


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


class Backend(Protocol):
    """Runs a model on a solver."""

    def __call__(
        self,
        model: MipModel,
        *,
        limits: Limits,
        start: NDArray[np.float64] | None = None,
        seed: int | None = None,
        log: bool = False,
        callback: MipCallback | None = None,
    ) -> MipResult:
        """Maximise the model's objective."""
