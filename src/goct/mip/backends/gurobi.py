"""Gurobi, through gurobipy."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.mip.backends.base import (
    SECONDS_BETWEEN_LOOKS,
    Ability,
    Backend,
    BackendError,
    Ending,
    MipCallback,
    MipProgress,
    MipResult,
    Proposer,
    Settings,
    check_start,
)
from goct.mip.numerics import FEASIBILITY_TOLERANCE
from goct.mip.program import MipProgram, Rows
from goct.solution import Limit

_TOO_LARGE = 10010  # GRB.Error.SIZE_LIMIT_EXCEEDED


class Gurobi(Backend):
    """Gurobi, through gurobipy.

    Without a licence, gurobipy solves models of up to 2,000 variables and
    2,000 rows.
    """

    name = "Gurobi"
    module = "gurobipy"
    extra = "gurobi"
    abilities = frozenset(Ability)
    reserved = (
        *("NonConvex", "Threads", "MIPGap*", "LazyConstraints", "PreCrush", "Seed", "*Limit"),
        *("OutputFlag", "Log*", "*Tol", "Cutoff", "Best*Stop", "DualReductions", "Obj*", "*File"),
    )

    def refusal(self, name: str, value: Any) -> str | None:
        """Say why Gurobi does not accept a parameter; None if it does."""
        import gurobipy as gp

        try:
            with gp.Env(empty=True) as env:
                env.setParam("OutputFlag", 0)
                env.setParam(name, value)
        except (gp.GurobiError, TypeError) as error:
            return str(error)
        return None

    def run(
        self,
        model: MipProgram,
        settings: Settings,
        *,
        start: NDArray[np.float64] | None = None,
        callback: MipCallback | None = None,
    ) -> MipResult:
        """Maximise the model's objective with Gurobi."""
        import gurobipy as gp

        started = time.perf_counter()
        try:
            with gp.Env(empty=True) as env:
                env.setParam("OutputFlag", int(settings.log))
                env.start()
                with gp.Model(env=env) as gurobi:
                    return _run(gp, gurobi, model, settings, start, callback, started)
        except gp.GurobiError as error:
            if error.errno == _TOO_LARGE:
                raise BackendError(
                    f"the model has {model.n_variables} variables and {model.n_rows} rows, more "
                    "than Gurobi solves without a full licence (2,000 of each); use another "
                    "licence, backend='scip', or a smaller depth"
                ) from error
            raise BackendError(f"Gurobi failed: {error}") from error


def _run(
    gp: Any,
    gurobi: Any,
    model: MipProgram,
    settings: Settings,
    start: NDArray[np.float64] | None,
    callback: MipCallback | None,
    started: float,
) -> MipResult:
    x = _copy(gp, gurobi, model)
    variables = x.tolist()
    build_time = time.perf_counter() - started
    for name, value in _parameters(model, settings, build_time).items():
        gurobi.setParam(name, value)
    if start is not None:
        check_start(model, start)
        x.Start = start
    watcher = _Watcher(gp, model, variables, settings, start, callback)
    gurobi.optimize(watcher)
    if watcher.error is not None and not isinstance(watcher.error, KeyboardInterrupt):
        raise watcher.error
    return _result(gp, gurobi, model, x, watcher, build_time, time.perf_counter() - started)


def _copy(gp: Any, gurobi: Any, model: MipProgram) -> Any:
    """Give the model to Gurobi; returns the variables."""
    GRB = gp.GRB
    x = gurobi.addMVar(
        model.n_variables,
        lb=model.lower,
        ub=model.upper,
        obj=model.objective,
        vtype=np.where(model.is_integer, GRB.INTEGER, GRB.CONTINUOUS),
    )
    gurobi.ModelSense = GRB.MAXIMIZE
    gurobi.update()
    variables = x.tolist()
    for rows in model.rows:
        for i, (expression, lower, upper) in enumerate(_expressions(gp, rows, variables)):
            name = f"{rows.name}_{i}"
            if lower == upper:
                gurobi.addLConstr(expression, GRB.EQUAL, upper, name)
                continue
            if upper < np.inf:
                gurobi.addLConstr(expression, GRB.LESS_EQUAL, upper, name)
            if lower > -np.inf:
                gurobi.addLConstr(expression, GRB.GREATER_EQUAL, lower, name)
    for i, product in enumerate(model.products):
        result, first, second = (
            variables[j] for j in (product.result, product.first, product.second)
        )
        gurobi.addQConstr(first * second == result, f"product_{i}")
    return x


def _parameters(model: MipProgram, settings: Settings, build_time: float) -> dict[str, Any]:
    """Return Gurobi's parameters."""
    parameters: dict[str, Any] = {
        "NonConvex": 2 if model.products else -1,
        "Threads": settings.threads,
        "MIPGap": 0.0,
        "MIPGapAbs": settings.gap,
        "LazyConstraints": int(model.is_lazy),
        "PreCrush": int(bool(model.separators)),
    }
    if settings.seed is not None:
        parameters["Seed"] = settings.seed % 2_000_000_000
    if settings.limits.nodes is not None:
        parameters["NodeLimit"] = float(settings.limits.nodes)
    if settings.limits.time is not None:
        parameters["TimeLimit"] = max(settings.limits.time - build_time, 1e-3)
    return parameters | dict(settings.parameters)


def _result(
    gp: Any,
    gurobi: Any,
    model: MipProgram,
    x: Any,
    watcher: _Watcher,
    build_time: float,
    total_time: float,
) -> MipResult:
    """Read what Gurobi found; a status that does not say what is proven is an error."""
    GRB = gp.GRB
    endings = {
        GRB.OPTIMAL: Ending(),
        GRB.INFEASIBLE: Ending(is_infeasible=True),
        GRB.TIME_LIMIT: Ending(Limit.TIME),
        GRB.NODE_LIMIT: Ending(Limit.NODES),
        GRB.INTERRUPTED: Ending(Limit.INTERRUPTED),
        GRB.MEM_LIMIT: Ending(Limit.MEMORY),
    }
    bound = float(getattr(gurobi, "ObjBound", GRB.INFINITY))  # some statuses have none
    earning = model.objective != 0
    if np.isfinite([model.lower, model.upper])[:, earning].all():
        endings[GRB.INF_OR_UNBD] = Ending(is_infeasible=True)
    return MipResult.read(
        Gurobi.name,
        gurobi.Status,
        endings,
        x=np.array(x.X) if gurobi.SolCount else None,
        bound=bound,
        is_valid=abs(bound) < GRB.INFINITY,
        stats={
            "nodes": int(gurobi.NodeCount),
            "lp_iterations": int(gurobi.IterCount),
            "build_time": build_time,
            "solve_time": total_time - build_time,
            "start_accepted": watcher.start_accepted,
            **watcher.proposer.stats,
            **{f"{name}_cuts": count for name, count in watcher.counts.items()},
        },
    )


def _expressions(gp: Any, rows: Rows, variables: list[Any]) -> Any:
    """Iterate over the rows as Gurobi's expressions, each with its bounds."""
    start, column, coefficient = (part.tolist() for part in rows.compressed())
    for i, (lower, upper) in enumerate(zip(rows.lower.tolist(), rows.upper.tolist(), strict=True)):
        place = slice(start[i], start[i + 1])
        yield (gp.LinExpr(coefficient[place], [variables[j] for j in column[place]]), lower, upper)


class _Watcher:
    """Gurobi's callback: separates cuts, proposes solutions and tells the progress."""

    def __init__(
        self,
        gp: Any,
        model: MipProgram,
        variables: list[Any],
        settings: Settings,
        start: NDArray[np.float64] | None,
        callback: MipCallback | None,
    ) -> None:
        self.gp = gp
        self.model = model
        self.variables = variables
        self.max_rounds = settings.max_rounds
        self.callback = callback
        self.proposer = Proposer(model, settings.heuristic_every)
        self.start_accepted: bool | None = None if start is None else False
        self._start_value = np.inf if start is None else float(model.objective @ start)
        self.error: BaseException | None = None
        self.counts = {separator.name: 0 for separator in model.separators}
        self._candidates: list[NDArray[np.float64]] = []
        self._best = start
        self._best_value = -np.inf if start is None else self._start_value
        self._last = -np.inf
        self._node, self._rounds = -1.0, 0

    def __call__(self, gurobi: Any, where: int) -> None:
        codes = self.gp.GRB.Callback
        try:
            if where == codes.MIPSOL:
                self._check_solution(gurobi)
            elif where == codes.MIPNODE:
                if gurobi.cbGet(codes.MIPNODE_STATUS) == self.gp.GRB.OPTIMAL:
                    self._at_node(gurobi)
            elif where == codes.MIP:
                self._tell(gurobi)
        except BaseException as error:
            self.error = error
            gurobi.terminate()

    def _check_solution(self, gurobi: Any) -> None:
        x = np.array(gurobi.cbGetSolution(self.variables))
        is_fine = True
        for separator in self.model.separators:
            if separator.is_lazy:
                rows = separator.separate(x, is_integral=True)
                if rows is not None:
                    is_fine = False
                    self._add(rows, gurobi.cbLazy, separator.name)
        value = float(self.model.objective @ x)
        if not is_fine:
            self._candidates.append(x)
        elif value > self._best_value:
            self._best, self._best_value = x, value
        if self.start_accepted is False and is_fine:
            # Gurobi looks at the start first; nothing else can be as good without it.
            self.start_accepted = value >= self._start_value - FEASIBILITY_TOLERANCE * max(
                1.0, abs(value)
            )

    def _at_node(self, gurobi: Any) -> None:
        node = gurobi.cbGet(self.gp.GRB.Callback.MIPNODE_NODCNT)
        self._rounds = self._rounds + 1 if node == self._node else 1
        self._node = node
        x = np.array(gurobi.cbGetNodeRel(self.variables))
        if node == 0 or self._rounds <= self.max_rounds:
            for separator in self.model.separators:
                rows = separator.separate(x, is_integral=False)
                if rows is not None:
                    add = gurobi.cbLazy if separator.is_lazy else gurobi.cbCut
                    self._add(rows, add, separator.name)
        self._propose(gurobi, x)

    def _propose(self, gurobi: Any, x: NDArray[np.float64]) -> None:
        points, self._candidates = self._candidates, []
        if self.proposer.is_due():
            points.append(x)
        best = self.proposer.propose(points, self._best)
        if best is not None:
            gurobi.cbSetSolution(self.variables, best.tolist())
            value = float(gurobi.cbUseSolution())
            self.proposer.count(accepted=abs(value) < self.gp.GRB.INFINITY)

    def _add(self, rows: Rows, add: Any, name: str) -> None:
        GRB = self.gp.GRB
        for expression, lower, upper in _expressions(self.gp, rows, self.variables):
            if upper < np.inf:
                add(expression, GRB.LESS_EQUAL, upper)
            if lower > -np.inf:
                add(expression, GRB.GREATER_EQUAL, lower)
        self.counts[name] += len(rows)

    def _tell(self, gurobi: Any) -> None:
        codes = self.gp.GRB.Callback
        now = time.perf_counter()
        if self.callback is None or now - self._last < SECONDS_BETWEEN_LOOKS:
            return
        self._last = now
        bound = float(gurobi.cbGet(codes.MIP_OBJBND))
        seen = MipProgress(
            self._best,
            bound if abs(bound) < self.gp.GRB.INFINITY else np.inf,
            int(gurobi.cbGet(codes.MIP_NODCNT)),
        )
        if self.callback(seen):
            gurobi.terminate()
