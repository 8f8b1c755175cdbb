"""SCIP, through PySCIPOpt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyscipopt
from numpy.typing import NDArray
from pyscipopt import quicksum
from pyscipopt.scip import PY_SCIP_EVENTTYPE as EVENT

from goct.mip.backends.base import BackendError, MipCallback, MipProgress, MipResult
from goct.mip.model import MipModel
from goct.solution import Limit, Limits

_LIMITS = {
    "timelimit": Limit.TIME,
    "nodelimit": Limit.NODES,
    "totalnodelimit": Limit.NODES,
    "stallnodelimit": Limit.NODES,
    "memlimit": Limit.MEMORY,
    "userinterrupt": Limit.INTERRUPTED,
    "terminate": Limit.INTERRUPTED,
}
_SECONDS_BETWEEN_LOOKS = 0.1
_FEASIBILITY_TOLERANCE = 1e-6
_GRACE = 0.1  # seconds
_BETWEEN_LOOKS = 4096  # variables
_EVENTS = (EVENT.BESTSOLFOUND, EVENT.NODESOLVED, EVENT.LPSOLVED)


def run(
    model: MipModel,
    *,
    limits: Limits,
    start: NDArray[np.float64] | None = None,
    seed: int | None = None,
    log: bool = False,
    callback: MipCallback | None = None,
) -> MipResult:
    """Maximise the model's objective with SCIP.

    Parameters
    ----------
    model
        The model.
    limits
        What SCIP may spend; building its copy of the model counts.
    start
        A feasible solution to start from.
    seed
        Shifts SCIP's random seeds.
    log
        Whether SCIP prints its log.
    callback
        Is told the progress ten times a second.

    Raises
    ------
    BackendError
        If SCIP fails.
    """
    started = time.perf_counter()
    scip = pyscipopt.Model()
    if not log:
        scip.hideOutput()
    deadline = np.inf if limits.time is None else started + limits.time
    variables = _copy(model, scip, deadline)
    if variables is None:
        return MipResult(None, np.inf, Limit.TIME)
    scip.setParam("limits/gap", 0.0)
    scip.setParam("limits/absgap", 0.0)
    if seed is not None:
        scip.setParam("randomization/randomseedshift", seed)
    if limits.nodes is not None:
        scip.setParam("limits/totalnodes", min(limits.nodes, 2**62))
    if start is not None:
        if (violation := model.violation(start)) > _FEASIBILITY_TOLERANCE:
            raise BackendError(f"the start solution violates the model by {violation:g}")
        _add_start(scip, variables, start)
    watcher = _Watcher(variables)
    scip.includeEventhdlr(watcher, "goct_watcher", "remembers solution and bound")
    scip.setParam("misc/catchctrlc", False)  # Python does, below
    build_time = time.perf_counter() - started
    if limits.time is not None:
        scip.setParam("limits/time", max(limits.time - build_time, 1e-3))

    run = _Run(scip)
    limit = run.wait(
        None if limits.time is None else limits.time - build_time,
        None if callback is None else lambda: callback(watcher.seen),
    )
    stats = {"build_time": build_time, "solve_time": time.perf_counter() - started - build_time}
    if not run.done.is_set():
        # SCIP is inside an LP, which it does not interrupt: it ends in the background.
        seen = watcher.seen
        return MipResult(seen.x, seen.bound, limit, stats={"nodes": seen.nodes, **stats})
    if run.error is not None:
        raise BackendError(f"SCIP failed: {run.error}") from run.error

    status = scip.getStatus()
    if status not in ("optimal", "infeasible", *_LIMITS):
        raise BackendError(f"SCIP stopped with the status {status!r}")
    return MipResult(
        x=_values(scip, variables) if scip.getNSols() else None,
        bound=_bound(scip),
        limit=_LIMITS.get(status, Limit.NONE),
        is_infeasible=status == "infeasible",
        stats={"nodes": scip.getNTotalNodes(), "lp_iterations": scip.getNLPIterations(), **stats},
    )


class _Run(threading.Thread):
    """SCIP in a thread of its own, so that Ctrl-C and time limits hold during long LPs."""

    def __init__(self, scip: pyscipopt.Model) -> None:
        super().__init__(name="goct-scip", daemon=True)
        self.scip = scip
        self.error: BaseException | None = None
        # Thread.join() and is_alive() are wrong after a Ctrl-C in Python 3.11 and 3.12.
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.scip.optimizeNogil()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def wait(self, seconds: float | None, wants_stop: Callable[[], bool] | None) -> Limit:
        """Run until SCIP is done, the time is up, or the user or the callback stops it."""
        # SCIP keeps the time itself, except in LPs; it gets a moment more to do so.
        end = np.inf if seconds is None else time.perf_counter() + max(seconds, 0.0) + _GRACE
        self.start()
        try:
            while not self.done.wait(min(_SECONDS_BETWEEN_LOOKS, end - time.perf_counter())):
                if time.perf_counter() >= end:
                    return Limit.TIME
                if wants_stop is not None and wants_stop():
                    return Limit.INTERRUPTED
            return Limit.NONE
        except KeyboardInterrupt:
            return Limit.INTERRUPTED
        finally:
            if not self.done.is_set():
                self.scip.interruptSolve()
                self.done.wait(_GRACE)


def _copy(model: MipModel, scip: pyscipopt.Model, deadline: float) -> list[Any] | None:
    """Give the model to SCIP; returns the variables, or None if the time ran out."""
    names = [f"{name}_{i}" for name, family in model.families.items() for i in range(len(family))]
    kinds = np.where(model.is_integer, "I", "C").tolist()
    columns = zip(
        names,
        kinds,
        model.lower.tolist(),
        model.upper.tolist(),
        model.objective.tolist(),
        strict=True,
    )
    variables: list[Any] = []
    for name, kind, lower, upper, objective in columns:
        if len(variables) % _BETWEEN_LOOKS == 0 and time.perf_counter() > deadline:
            return None
        variables.append(scip.addVar(name, kind, lb=lower, ub=upper, obj=objective))
    scip.setMaximize()
    for rows in model.rows:
        if time.perf_counter() > deadline:
            return None
        order = np.argsort(rows.row, kind="stable")
        ends = np.cumsum(np.bincount(rows.row, minlength=len(rows.lower))).tolist()
        column = rows.column[order].tolist()
        coefficient = rows.coefficient[order].tolist()
        begin = 0
        for i, end in enumerate(ends):
            terms = zip(column[begin:end], coefficient[begin:end], strict=True)
            expression = quicksum(a * variables[j] for j, a in terms)
            lower, upper = float(rows.lower[i]), float(rows.upper[i])
            if lower == upper:
                row = expression == upper
            elif np.isinf(lower):
                row = expression <= upper
            elif np.isinf(upper):
                row = expression >= lower
            else:
                row = lower <= (expression <= upper)
            scip.addCons(row, f"{rows.name}_{i}")
            begin = end
    return variables


def _add_start(scip: pyscipopt.Model, variables: list[Any], start: NDArray[np.float64]) -> None:
    solution = scip.createOrigSol()
    for variable, value in zip(variables, start.tolist(), strict=True):
        if value:
            scip.setSolVal(solution, variable, value)
    scip.addSol(solution)


def _values(scip: pyscipopt.Model, variables: list[Any]) -> NDArray[np.float64]:
    best = scip.getBestSol()
    return np.array([scip.getSolVal(best, variable) for variable in variables])


def _bound(scip: pyscipopt.Model) -> float:
    bound = float(scip.getDualbound())
    return np.inf if scip.isInfinity(abs(bound)) else bound


class _Watcher(pyscipopt.Eventhdlr):
    """Remembers the best solution and the bound, for those who cannot wait for SCIP."""

    def __init__(self, variables: list[Any]) -> None:
        self.variables = variables
        self.seen = MipProgress(None, np.inf, 0)

    def eventinit(self) -> None:
        for event in _EVENTS:
            self.model.catchEvent(event, self)

    def eventexit(self) -> None:
        for event in _EVENTS:
            self.model.dropEvent(event, self)

    def eventexec(self, event: Any) -> None:
        x = self.seen.x
        if event.getType() == EVENT.BESTSOLFOUND:
            x = _values(self.model, self.variables)
        self.seen = MipProgress(x, _bound(self.model), self.model.getNTotalNodes())
