"""SCIP, through PySCIPOpt."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pyscipopt
from numpy.typing import NDArray
from pyscipopt import quicksum
from pyscipopt.scip import PY_SCIP_EVENTTYPE as EVENT
from pyscipopt.scip import PY_SCIP_HEURTIMING as SCIP_HEURTIMING
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT
from pyscipopt.scip import PY_SCIP_STAGE as STAGE

from goct.mip.backends.base import (
    Ability,
    Backend,
    BackendError,
    Ending,
    MipCallback,
    MipProgress,
    MipResult,
    Proposer,
    Settings,
    SolverThread,
    check_start,
)
from goct.mip.numerics import FIXED_TOLERANCE
from goct.mip.program import MipProgram, Rows, Separator
from goct.solution import Limit

_ENDINGS = {
    "optimal": Ending(),
    "gaplimit": Ending(),
    "infeasible": Ending(is_infeasible=True),
    "timelimit": Ending(Limit.TIME),
    "nodelimit": Ending(Limit.NODES),
    "totalnodelimit": Ending(Limit.NODES),
    "stallnodelimit": Ending(Limit.NODES),
    "memlimit": Ending(Limit.MEMORY),
    "userinterrupt": Ending(Limit.INTERRUPTED),
    "terminate": Ending(Limit.INTERRUPTED),
}
_BETWEEN_LOOKS = 4096  # variables
_EVENTS = (EVENT.BESTSOLFOUND, EVENT.NODESOLVED, EVENT.LPSOLVED)
_MOST_CANDIDATES = 10

# SCIP assumes that it sees all rows. Where some come later, each of these lets it remove solutions
# that are optimal, without a warning.
SAFE_WITH_SEPARATION = {
    "misc/usesymmetry": 0,
    "misc/allowstrongdualreds": False,
    "misc/allowweakdualreds": False,
}


# What general cuts and sub-MIPs gain here does not pay for their time: neither knows the rows that
# are found on demand. Without them, depth 2 is proven about twice as fast.
_IDLE_WITH_SEPARATION = (
    *(f"separating/{name}/freq" for name in ("aggregation", "clique", "gomory", "zerohalf")),
    *(f"separating/{name}/freq" for name in ("impliedbounds", "mcf", "rlt", "disjunctive")),
    *(f"heuristics/{name}/freq" for name in ("alns", "crossover", "rens", "rins", "feaspump")),
    *(f"heuristics/{name}/freq" for name in ("clique", "locks")),
)


class Scip(Backend):
    """SCIP, through PySCIPOpt: the default.

    Rows that are found on demand are a constraint handler, which locks all
    variables in both directions, so that presolving does not take the model
    without them for the whole.
    """

    name = "SCIP"
    module = "pyscipopt"
    abilities = frozenset({Ability.SEPARATION, Ability.INJECTION, Ability.PRODUCTS})
    reserved = (
        *("limits/*", "numerics/*", "misc/*", "randomization/*", "parallel/*", "concurrent/*"),
        *("lp/check*", "lp/threads", "nlp/disable", "reoptimization/*", "benders/*"),
        *("*/goct_*", "presolving/donotmultaggr", "branching/divingpscost", "constraints/*"),
    )

    def refusal(self, name: str, value: Any) -> str | None:
        """Say why SCIP does not accept a parameter; None if it does."""
        try:
            pyscipopt.Model().setParam(name, value)
        except Exception as error:  # a KeyError, a ValueError, or SCIP's own
            return str(error.args[0]) if error.args else str(error)
        return None

    def run(
        self,
        model: MipProgram,
        settings: Settings,
        *,
        start: NDArray[np.float64] | None = None,
        callback: MipCallback | None = None,
    ) -> MipResult:
        """Maximise the model's objective with SCIP."""
        started = time.perf_counter()
        limits = settings.limits
        scip = pyscipopt.Model()
        if not settings.log:
            scip.hideOutput()
        deadline = np.inf if limits.time is None else started + limits.time
        variables = copy_program(model, scip, deadline)
        if variables is None:
            return MipResult(None, np.inf, Limit.TIME)
        _set_parameters(scip, settings)
        errors: list[BaseException] = []
        watcher = _Watcher(variables, start)
        handler = None
        if model.separators:
            handler = _Separation(variables, model.separators, settings.max_rounds, watcher, errors)
            _include_separation(scip, handler)
        scip.includeEventhdlr(watcher, "goct_watcher", "remembers solution and bound")
        proposer = Proposer(model, settings.heuristic_every)
        if model.heuristic is not None:
            _include_heuristic(scip, _TreeFinder(variables, proposer, handler, watcher, errors))
        if start is not None:
            check_start(model, start)
            _add_start(scip, variables, start)
        for name, value in settings.parameters.items():
            scip.setParam(name, value)
        build_time = time.perf_counter() - started
        if limits.time is not None:
            scip.setParam("limits/time", max(limits.time - build_time, 1e-3))

        run = SolverThread(scip.optimizeNogil, lambda: _interrupt(scip))
        limit = run.wait(
            None if limits.time is None else limits.time - build_time,
            None if callback is None else lambda: callback(watcher.seen),
        )
        stats: dict[str, Any] = {
            "build_time": build_time,
            "solve_time": time.perf_counter() - started - build_time,
        }
        stats |= {"start_accepted": watcher.start_accepted, **proposer.stats}
        if handler is not None:
            stats |= {f"{name}_cuts": count for name, count in handler.counts.items()}
            stats["separation_time"] = handler.time
        if errors:
            raise errors[0]
        if not run.done.is_set():
            # SCIP is inside an LP, which it does not interrupt: it ends in the background.
            watcher.is_alone = True
            seen = watcher.seen
            return MipResult(seen.x, seen.bound, limit, stats={"nodes": seen.nodes, **stats})
        if run.error is not None:
            raise BackendError(f"SCIP failed: {run.error}") from run.error
        stats |= {"nodes": scip.getNTotalNodes(), "lp_iterations": scip.getNLPIterations()}
        return MipResult.read(
            self.name,
            scip.getStatus(),
            _ENDINGS,
            x=_best(scip, variables) if scip.getNSols() else None,
            bound=_bound(scip),
            asked=limit,
            stats=stats,
        )


def _set_parameters(scip: pyscipopt.Model, settings: Settings) -> None:
    # Ipopt as it comes with SCIP corrupts memory, in METIS. Trees are found in other ways.
    scip.setParam("nlp/disable", True)
    scip.setParam("limits/gap", 0.0)
    scip.setParam("limits/absgap", settings.gap)
    scip.setParam("misc/catchctrlc", False)  # Python does
    if settings.seed is not None:
        scip.setParam("randomization/randomseedshift", settings.seed)
    if settings.limits.nodes is not None:
        scip.setParam("limits/totalnodes", min(settings.limits.nodes, 2**62))


def _interrupt(scip: pyscipopt.Model) -> None:
    """Ask SCIP to stop; it may not hear it.

    Between presolving and the root node it refuses to be asked, before presolving it forgets it.
    """
    if scip.getStage() not in (STAGE.TRANSFORMING, STAGE.INITSOLVE):
        with contextlib.suppress(Exception):  # the stage may have changed
            scip.interruptSolve()


def copy_program(
    model: MipProgram, scip: pyscipopt.Model, deadline: float = np.inf
) -> list[Any] | None:
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
        start, column, coefficient = (part.tolist() for part in rows.compressed())
        for i, (lower, upper) in enumerate(
            zip(rows.lower.tolist(), rows.upper.tolist(), strict=True)
        ):
            terms = range(start[i], start[i + 1])
            expression = quicksum(coefficient[t] * variables[column[t]] for t in terms)
            if lower == upper:
                row = expression == upper
            elif np.isinf(lower):
                row = expression <= upper
            elif np.isinf(upper):
                row = expression >= lower
            else:
                row = lower <= (expression <= upper)
            scip.addCons(row, f"{rows.name}_{i}")
    for i, product in enumerate(model.products):
        result, first, second = (
            variables[j] for j in (product.result, product.first, product.second)
        )
        scip.addCons(first * second - result == 0, f"product_{i}")
    return variables


def _add_start(scip: pyscipopt.Model, variables: list[Any], start: NDArray[np.float64]) -> None:
    solution = scip.createOrigSol()
    _set_values(scip, solution, variables, start)
    scip.addSol(solution)


def _set_values(
    scip: pyscipopt.Model, solution: Any, variables: list[Any], x: NDArray[np.float64]
) -> None:
    for j in np.flatnonzero(x).tolist():
        scip.setSolVal(solution, variables[j], float(x[j]))


def _values(scip: pyscipopt.Model, variables: list[Any], solution: Any) -> NDArray[np.float64]:
    get = scip.getSolVal
    return np.array([get(solution, variable) for variable in variables])


def _best(scip: pyscipopt.Model, variables: list[Any]) -> NDArray[np.float64]:
    return _values(scip, variables, scip.getBestSol())


def _bound(scip: pyscipopt.Model) -> float:
    bound = float(scip.getDualbound())
    return np.inf if scip.isInfinity(abs(bound)) else bound


class _Watcher(pyscipopt.Eventhdlr):
    """Remembers the best solution and the bound, for those who cannot wait for SCIP."""

    def __init__(self, variables: list[Any], start: NDArray[np.float64] | None) -> None:
        self.variables = variables
        self.start_accepted: bool | None = None if start is None else False
        self.seen = MipProgress(start, np.inf, 0)
        self.is_alone = False  # nobody waits for SCIP any more

    def eventinit(self) -> None:
        if self.start_accepted is not None:  # SCIP has looked at the start by now
            self.start_accepted = self.model.getNSols() > 0
        for event in _EVENTS:
            self.model.catchEvent(event, self)

    def eventexit(self) -> None:
        for event in _EVENTS:
            self.model.dropEvent(event, self)

    def eventexec(self, event: Any) -> None:
        if self.is_alone:
            _interrupt(self.model)
        is_better = event.getType() == EVENT.BESTSOLFOUND
        self.look(_best(self.model, self.variables) if is_better else self.seen.x)

    def look(self, x: NDArray[np.float64] | None) -> None:
        """Remember a solution and the present bound."""
        self.seen = MipProgress(x, _bound(self.model), self.model.getNTotalNodes())


def _guarded(otherwise: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Keep errors of callbacks, which SCIP would only call unspecified, and stop SCIP."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def guarded(self: Any, *arguments: Any, **named: Any) -> Any:
            try:
                return method(self, *arguments, **named)
            except BaseException as error:
                self.errors.append(error)
                _interrupt(self.model)
                return {"result": otherwise}

        return guarded

    return decorate


def _include_separation(scip: pyscipopt.Model, handler: _Separation) -> None:
    for name, value in SAFE_WITH_SEPARATION.items():
        scip.setParam(name, value)
    for name in _IDLE_WITH_SEPARATION:
        scip.setParam(name, -1)
    # After all other handlers, so that it sees integral points only.
    scip.includeConshdlr(
        handler,
        "goct_separation",
        "rows that are found on demand",
        sepapriority=1_000_000,
        enfopriority=-1_000_000,
        chckpriority=-1_000_000,
        sepafreq=1,
        propfreq=-1,
        eagerfreq=-1,
        maxprerounds=0,
        needscons=True,
    )
    scip.addPyCons(
        scip.createCons(
            handler,
            "goct_separation",
            initial=False,
            separate=True,
            enforce=True,
            check=True,
            propagate=False,
        )
    )


class _Separation(pyscipopt.Conshdlr):
    """Runs the separators at the relaxations of SCIP."""

    def __init__(
        self,
        variables: list[Any],
        separators: list[Separator],
        max_rounds: int,
        watcher: _Watcher,
        errors: list[BaseException],
    ) -> None:
        self.variables = variables
        self.watcher = watcher
        self.separators = separators
        self.lazy = [separator for separator in separators if separator.is_lazy]
        self.max_rounds = max_rounds
        self.errors = errors
        self.counts = {separator.name: 0 for separator in separators}
        self.time = 0.0
        self.candidates: list[NDArray[np.float64]] = []
        self._node, self._rounds = -1, 0

    def _separate(self, separators: list[Separator], is_integral: bool) -> dict[str, Any]:
        started = time.perf_counter()
        x = _values(self.model, self.variables, None)
        result = SCIP_RESULT.FEASIBLE if is_integral else SCIP_RESULT.DIDNOTFIND
        for separator in separators:
            rows = separator.separate(x, is_integral=is_integral)
            if rows is None:
                continue
            self.counts[separator.name] += len(rows)
            if self._add(rows, force=is_integral):
                result = SCIP_RESULT.CUTOFF
                break
            result = SCIP_RESULT.SEPARATED
        if is_integral and result != SCIP_RESULT.FEASIBLE:
            self._remember(x)
        self.time += time.perf_counter() - started
        return {"result": result}

    def _add(self, rows: Rows, *, force: bool) -> bool:
        """Add rows to the relaxation; returns whether that shows the node to be infeasible."""
        scip = self.model
        start, column, coefficient = (part.tolist() for part in rows.compressed())
        infeasible = False
        for i, (lower, upper) in enumerate(
            zip(rows.lower.tolist(), rows.upper.tolist(), strict=True)
        ):
            # SCIP's own defaults are a left-hand side of 0 and a row for this node only.
            row = scip.createEmptyRowUnspec(
                rows.name,
                lhs=None if np.isinf(lower) else lower,
                rhs=None if np.isinf(upper) else upper,
                local=False,
            )
            scip.cacheRowExtensions(row)
            for t in range(start[i], start[i + 1]):
                scip.addVarToRow(row, self.variables[column[t]], coefficient[t])
            scip.flushRowExtensions(row)
            infeasible |= bool(scip.addCut(row, forcecut=force))
            scip.releaseRow(row)
        return infeasible

    def _allows(self, x: NDArray[np.float64]) -> bool:
        return all(separator.allows(x) for separator in self.lazy)

    def _remember(self, x: NDArray[np.float64]) -> None:
        self.candidates = [*self.candidates[1 - _MOST_CANDIDATES :], x]

    @_guarded(SCIP_RESULT.DIDNOTRUN)
    def conssepalp(self, *_: Any) -> dict[str, Any]:
        node = self.model.getCurrentNode().getNumber()
        self._rounds = self._rounds + 1 if node == self._node else 1
        self._node = node
        if node != 1 and self._rounds > self.max_rounds:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        self.watcher.look(self.watcher.seen.x)  # the rounds at the root can take long
        return self._separate(self.separators, is_integral=False)

    @_guarded(SCIP_RESULT.INFEASIBLE)
    def consenfolp(self, *_: Any) -> dict[str, Any]:
        return self._separate(self.lazy, is_integral=True)

    @_guarded(SCIP_RESULT.SOLVELP)
    def consenfops(self, *_: Any) -> dict[str, Any]:
        fine = self._allows(_values(self.model, self.variables, None))
        return {"result": SCIP_RESULT.FEASIBLE if fine else SCIP_RESULT.SOLVELP}

    @_guarded(SCIP_RESULT.INFEASIBLE)
    def conscheck(self, constraints: Any, solution: Any, *_: Any, **__: Any) -> dict[str, Any]:
        x = _values(self.model, self.variables, solution)
        if self._allows(x):
            return {"result": SCIP_RESULT.FEASIBLE}
        self._remember(x)
        return {"result": SCIP_RESULT.INFEASIBLE}

    def conslock(
        self, constraint: Any, locktype: int, nlockspos: int, nlocksneg: int
    ) -> dict[str, Any]:
        both = nlockspos + nlocksneg
        for variable in self.variables:
            self.model.addVarLocksType(variable, locktype, both, both)
        return {}


def _include_heuristic(scip: pyscipopt.Model, finder: _TreeFinder) -> None:
    # Otherwise the values of some variables cannot be set.
    scip.setParam("presolving/donotmultaggr", True)
    scip.includeHeur(
        finder,
        "goct_trees",
        "makes trees from the relaxation",
        "T",
        priority=100_000,
        freq=1,
        timingmask=SCIP_HEURTIMING.DURINGLPLOOP | SCIP_HEURTIMING.AFTERLPNODE,
    )


class _TreeFinder(pyscipopt.Heur):
    """Asks the model's heuristic for solutions, near the relaxation and near false solutions."""

    def __init__(
        self,
        variables: list[Any],
        proposer: Proposer,
        handler: _Separation | None,
        watcher: _Watcher,
        errors: list[BaseException],
    ) -> None:
        self.variables = variables
        self.proposer = proposer
        self.handler = handler
        self.watcher = watcher
        self.errors = errors
        self._transformed: list[Any] | None = None

    @_guarded(SCIP_RESULT.DIDNOTRUN)
    def heurexec(self, heurtiming: Any, nodeinfeasible: bool) -> dict[str, Any]:
        points: list[NDArray[np.float64]] = []
        if self.handler is not None:
            points, self.handler.candidates = self.handler.candidates, []
        if self.proposer.is_due():
            points = [*points, _values(self.model, self.variables, None)]
        if not points:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        x = self.proposer.propose(points, self.watcher.seen.x)
        x = None if x is None else self._fitted(x)
        if x is None:
            return {"result": SCIP_RESULT.DIDNOTFIND}
        solution = self.model.createSol(self)
        _set_values(self.model, solution, self.variables, x)
        # SCIP's own variables for products have no value yet; `_fitted` has checked the others.
        accepted = bool(
            self.model.trySol(solution, printreason=False, completely=False, checkbounds=False)
        )
        self.proposer.count(accepted=accepted)
        return {"result": SCIP_RESULT.FOUNDSOL if accepted else SCIP_RESULT.DIDNOTFIND}

    def _fitted(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return a solution within the bounds that SCIP has fixed; None if it does not agree."""
        if self._transformed is None:
            self._transformed = [self.model.getTransformedVar(v) for v in self.variables]
        lower = np.array([variable.getLbGlobal() for variable in self._transformed])
        upper = np.array([variable.getUbGlobal() for variable in self._transformed])
        if ((lower - FIXED_TOLERANCE <= x) & (x <= upper + FIXED_TOLERANCE)).all():
            return np.clip(x, lower, upper)  # a fixed variable can be set to no other value
        return None
