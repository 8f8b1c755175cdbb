"""SCIP, through PySCIPOpt."""

from __future__ import annotations

import time
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
_SECONDS_BETWEEN_EVENTS = 0.1


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
        Is told about new solutions, and the bound ten times a second.

    Raises
    ------
    BackendError
        If SCIP fails.
    """
    started = time.perf_counter()
    scip = pyscipopt.Model()
    if not log:
        scip.hideOutput()
    variables = _copy(model, scip)
    scip.setParam("limits/gap", 0.0)
    scip.setParam("limits/absgap", 0.0)
    if seed is not None:
        scip.setParam("randomization/randomseedshift", seed)
    if limits.nodes is not None:
        scip.setParam("limits/totalnodes", limits.nodes)
    if start is not None:
        _add_start(scip, variables, start)
    watcher = None
    if callback is not None:
        watcher = _Watcher(variables, callback)
        scip.includeEventhdlr(
            watcher, "goct_watcher", "tells the progress and asks whether to stop"
        )
    build_time = time.perf_counter() - started
    if limits.time is not None:
        scip.setParam("limits/time", max(limits.time - build_time, 1e-3))

    try:
        scip.optimize()
    except Exception as error:
        if watcher is not None and watcher.error is not None:
            raise watcher.error from None
        raise BackendError(f"SCIP failed: {error}") from error
    if watcher is not None and watcher.error is not None:
        raise watcher.error

    status = scip.getStatus()
    if status not in ("optimal", "infeasible", *_LIMITS):
        raise BackendError(f"SCIP stopped with the status {status!r}")
    return MipResult(
        x=_values(scip, variables) if scip.getNSols() else None,
        bound=_bound(scip),
        limit=_LIMITS.get(status, Limit.NONE),
        is_infeasible=status == "infeasible",
        stats={
            "nodes": scip.getNTotalNodes(),
            "lp_iterations": scip.getNLPIterations(),
            "build_time": build_time,
            "solve_time": scip.getSolvingTime(),
        },
    )


def _copy(model: MipModel, scip: pyscipopt.Model) -> list[Any]:
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
    variables = [
        scip.addVar(name, kind, lb=lb, ub=ub, obj=obj) for name, kind, lb, ub, obj in columns
    ]
    scip.setMaximize()
    for rows in model.rows:
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
    if not scip.addSol(solution):
        raise BackendError("SCIP rejected the start solution")


def _values(scip: pyscipopt.Model, variables: list[Any]) -> NDArray[np.float64]:
    best = scip.getBestSol()
    return np.array([scip.getSolVal(best, variable) for variable in variables])


def _bound(scip: pyscipopt.Model) -> float:
    bound = float(scip.getDualbound())
    return np.inf if scip.isInfinity(abs(bound)) else bound


class _Watcher(pyscipopt.Eventhdlr):
    """Passes progress on to a callback and its wish to stop to SCIP."""

    def __init__(self, variables: list[Any], callback: MipCallback) -> None:
        self.variables = variables
        self.callback = callback
        self.error: BaseException | None = None
        self.last = 0.0
        self.x: NDArray[np.float64] | None = None

    def eventinit(self) -> None:
        self.model.catchEvent(EVENT.BESTSOLFOUND, self)
        self.model.catchEvent(EVENT.NODESOLVED, self)
        self.model.catchEvent(EVENT.LPSOLVED, self)

    def eventexit(self) -> None:
        self.model.dropEvent(EVENT.BESTSOLFOUND, self)
        self.model.dropEvent(EVENT.NODESOLVED, self)
        self.model.dropEvent(EVENT.LPSOLVED, self)

    def eventexec(self, event: Any) -> None:
        # SCIP swallows exceptions of plugins, so they are kept and raised afterwards.
        try:
            is_new = event.getType() == EVENT.BESTSOLFOUND
            if is_new:
                self.x = _values(self.model, self.variables)
            elif time.perf_counter() - self.last < _SECONDS_BETWEEN_EVENTS:
                return
            self.last = time.perf_counter()
            progress = MipProgress(self.x, _bound(self.model), self.model.getNTotalNodes())
            if self.error is None and self.callback(progress):
                self.model.interruptSolve()
        except BaseException as error:
            self.error = self.error or error
            self.model.interruptSolve()
