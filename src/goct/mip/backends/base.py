"""What every backend takes and gives."""

from __future__ import annotations

import importlib.util
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.mip.numerics import FEASIBILITY_TOLERANCE, IMPROVEMENT
from goct.mip.program import MipProgram
from goct.solution import Limit, Limits

SECONDS_BETWEEN_LOOKS = 0.1
_GRACE = 0.1  # seconds


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
    """How a solver runs."""

    limits: Limits = field(default_factory=Limits)  # building its copy of the model counts
    gap: float = 0.0  # between bound and objective, in units of the objective, at which it may stop
    seed: int | None = None
    threads: int = 1
    max_rounds: int = 1  # how often cuts are separated at each node but the root
    heuristic_every: int = 10  # it sees the first k nodes, and every k-th node after those
    log: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)  # by the solver's own names


@dataclass(frozen=True)
class MipProgress:
    """The state of a running solver: its best solution and its bound."""

    x: NDArray[np.float64] | None
    bound: float
    nodes: int


MipCallback: TypeAlias = Callable[[MipProgress], bool]
"""Is told the progress from time to time, in the caller's thread; stops the solver by True."""


@dataclass(frozen=True)
class Ending:
    """What a status of a solver says of its run."""

    limit: Limit = Limit.NONE  # why it stopped before it was done
    is_infeasible: bool = False


@dataclass(frozen=True)
class MipResult:
    """What a solver found.

    In `stats`, "start_accepted" says whether the solver took the start for a solution, where it
    tells.
    """

    x: NDArray[np.float64] | None
    bound: float  # the dual bound, within the solver's tolerances; infinity if none is proven
    limit: Limit  # why it stopped before it was done
    is_infeasible: bool = False  # proven
    stats: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        solver: str,
        status: Any,
        endings: Mapping[Any, Ending],
        *,
        x: NDArray[np.float64] | None,
        bound: float,
        is_valid: bool = True,
        asked: Limit = Limit.NONE,
        stats: dict[str, Any],
    ) -> Self:
        """Read how a solver ended; what it does not say is proven is not.

        Parameters
        ----------
        solver, status, endings
            Its name, its status, and what each status says that it may end with.
        x, bound
            Its best solution and its dual bound.
        is_valid
            Whether it says that this bound is one.
        asked
            Why it was asked to stop, if it was. Any other status than those is an error unless it
            was: then nothing is proven.
        stats
            Counts of the run.
        """
        ending = endings.get(status)
        if ending is None:
            if asked is Limit.NONE:
                raise BackendError(f"{solver} stopped with the status {str(status)!r}")
            ending, is_valid = Ending(asked), False
        limit = asked if ending.limit is Limit.INTERRUPTED and asked is Limit.TIME else ending.limit
        proves = is_valid and not ending.is_infeasible and np.isfinite(bound)
        return cls(x, bound if proves else np.inf, limit, ending.is_infeasible, stats)


class Backend(ABC):
    """Runs a model on a solver."""

    name: str  # of the solver
    module: str  # the Python package that it comes with
    extra: str | None = None  # of goct, which installs it; None if it always is installed
    abilities: frozenset[Ability] = frozenset()
    reserved: tuple[str, ...] = ()  # patterns of parameters that goct sets, or on which proofs rest

    @property
    def is_available(self) -> bool:
        """Whether the solver is installed."""
        return importlib.util.find_spec(self.module) is not None

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Raise an error that names a parameter that the solver does not know, or goct sets."""
        for name, value in parameters.items():
            if any(fnmatchcase(str(name).lower(), pattern.lower()) for pattern in self.reserved):
                raise ValueError(
                    f"the parameter {name!r} of {self.name} is set by goct, or its proofs rest on "
                    "it; see time_limit, node_limit, gap, n_jobs, random_state and log"
                )
            if (why := self.refusal(name, value)) is not None:
                raise ValueError(f"{self.name} refuses the parameter {name!r} = {value!r}: {why}")

    @abstractmethod
    def refusal(self, name: str, value: Any) -> str | None:
        """Say why the solver does not accept a parameter; None if it does."""

    @abstractmethod
    def run(
        self,
        model: MipProgram,
        settings: Settings,
        *,
        start: NDArray[np.float64] | None = None,
        callback: MipCallback | None = None,
    ) -> MipResult:
        """Maximise the model's objective, from a feasible solution if one is given.

        The callback is told the progress, some ten times a second at most. A solver that fails
        raises a :class:`BackendError`.
        """


class SolverThread(threading.Thread):
    """A solver in a thread of its own: Ctrl-C and time limits hold where it does not listen.

    Parameters
    ----------
    solve
        Runs the solver, without Python's lock.
    interrupt
        Asks it to stop, which it may not hear at once.

    Attributes
    ----------
    done, error
        Whether it has ended, and the error that ended it.
    """

    def __init__(self, solve: Callable[[], Any], interrupt: Callable[[], None]) -> None:
        super().__init__(name="goct-solver", daemon=True)
        self.error: BaseException | None = None
        # Thread.join() and is_alive() are wrong after a Ctrl-C in Python 3.11 and 3.12.
        self.done = threading.Event()
        self._solve = solve
        self._interrupt = interrupt

    def run(self) -> None:
        """Run the solver."""
        try:
            self._solve()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def wait(self, seconds: float | None, wants_stop: Callable[[], bool] | None) -> Limit:
        """Run until the solver is done, the time is up, or the user or the callback stops it."""
        # Solvers keep the time themselves, except in LPs; they get a moment more to do so.
        end = np.inf if seconds is None else time.perf_counter() + max(seconds, 0.0) + _GRACE
        self.start()
        try:
            while not self.done.wait(min(SECONDS_BETWEEN_LOOKS, end - time.perf_counter())):
                if time.perf_counter() >= end:
                    return Limit.TIME
                if wants_stop is not None and wants_stop():
                    return Limit.INTERRUPTED
            return Limit.NONE
        except KeyboardInterrupt:
            return Limit.INTERRUPTED
        finally:
            end = time.perf_counter() + _GRACE
            while not self.done.is_set() and time.perf_counter() < end:
                self._interrupt()
                self.done.wait(_GRACE / 10)


class Proposer:
    """Asks the heuristic of a model for solutions that improve on the best one, and counts."""

    def __init__(self, model: MipProgram, every: int) -> None:
        self.model = model
        self.every = every
        self.calls = 0
        self.injected = 0
        self.rejected = 0
        self._nodes = 0

    def is_due(self) -> bool:
        """Say whether the heuristic should see the relaxation of the next node."""
        self._nodes += 1
        return self._nodes <= self.every or self._nodes % self.every == 0

    def propose(
        self, points: list[NDArray[np.float64]], incumbent: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Return the best solution near some points that is better than the incumbent, or None."""
        heuristic, objective = self.model.heuristic, self.model.objective
        if heuristic is None:
            return None
        best, least = None, -np.inf
        if incumbent is not None:
            worth = float(objective @ incumbent)
            least = worth + IMPROVEMENT * max(1.0, abs(worth))
        for point in points:
            self.calls += 1
            x = heuristic.propose(point, incumbent if best is None else best)
            if x is not None and float(objective @ x) > least:
                best, least = x, float(objective @ x)
        return best

    def count(self, *, accepted: bool) -> None:
        """Count a solution that was offered to the solver."""
        self.injected += accepted
        self.rejected += not accepted

    @property
    def stats(self) -> dict[str, int]:
        """The counts."""
        return {
            "heuristic_calls": self.calls,
            "heuristic_injected": self.injected,
            "heuristic_rejected": self.rejected,
        }


def check_start(model: MipProgram, start: NDArray[np.float64]) -> None:
    """Raise a `BackendError` if a start solution is not feasible."""
    if (violation := model.violation(start)) > FEASIBILITY_TOLERANCE:
        raise BackendError(f"the start solution violates the model by {violation:g}")
    for separator in model.separators:
        if separator.is_lazy and not separator.allows(start):
            raise BackendError(f"the start solution violates a {separator.name} cut")


def is_feasible(model: MipProgram, x: NDArray[np.float64]) -> bool:
    """Say whether a point is a solution of the model, rows that are found on demand included."""
    try:
        check_start(model, x)
    except BackendError:
        return False
    return True
