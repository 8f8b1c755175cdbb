"""HiGHS, through highspy."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.mip.backends.base import (
    Ability,
    Backend,
    BackendError,
    MipCallback,
    MipProgress,
    MipResult,
    Settings,
    check_start,
)
from goct.mip.program import MipProgram
from goct.solution import Limit

_SECONDS_BETWEEN_LOOKS = 0.1


class Highs(Backend):
    """HiGHS, through highspy: for models that are written down as a whole."""

    name = "HiGHS"
    module = "highspy"
    extra = "highs"
    abilities = frozenset({Ability.THREADS})
    reserved = (
        *("threads", "parallel", "random_seed", "output_flag", "log_*", "*_limit", "*_gap"),
        *("*_tolerance", "mip_max_*", "objective_bound", "objective_target", "*_file"),
    )

    def refusal(self, name: str, value: Any) -> str | None:
        """Say why HiGHS does not accept a parameter; None if it does."""
        import highspy

        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        is_fine = highs.setOptionValue(name, value) == highspy.HighsStatus.kOk
        return None if is_fine else "it does not know this name, or not with this value"

    def run(
        self,
        model: MipProgram,
        settings: Settings,
        *,
        start: NDArray[np.float64] | None = None,
        callback: MipCallback | None = None,
    ) -> MipResult:
        """Maximise the model's objective with HiGHS."""
        import highspy

        if model.separators:
            raise BackendError("HiGHS cannot find rows on demand")
        started = time.perf_counter()
        highspy.Highs.resetGlobalScheduler(True)  # else the first number of threads is for ever
        highs = highspy.Highs()
        _check(highs.setOptionValue("output_flag", settings.log), "an option")
        lp = _lp(model, highspy)
        _check(highs.passModel(lp), "the model")
        options: dict[str, Any] = {
            "threads": settings.threads,
            "parallel": "on" if settings.threads > 1 else "off",
            "mip_rel_gap": 0.0,
            "mip_abs_gap": settings.gap,
        }
        if settings.seed is not None:
            options["random_seed"] = settings.seed % 2**31
        if settings.limits.nodes is not None:
            options["mip_max_nodes"] = min(settings.limits.nodes, 2**31 - 1)
        if settings.limits.time is not None:
            left = settings.limits.time - (time.perf_counter() - started)
            options["time_limit"] = max(left, 1e-3)
        options |= settings.parameters
        for name, value in options.items():
            _check(highs.setOptionValue(name, value), f"the option {name!r}")
        if start is not None:
            check_start(model, start)
            solution = highspy.HighsSolution()
            solution.col_value = start.tolist()
            _check(highs.setSolution(solution), "the start solution")

        watcher = _Watcher(callback)
        highs.cbMipInterrupt += watcher.look
        highs.cbMipImprovingSolution += watcher.improve
        highs.HandleKeyboardInterrupt = True
        build_time = time.perf_counter() - started
        limit = Limit.NONE
        try:
            status = highs.run()
        except KeyboardInterrupt:
            status, limit = highspy.HighsStatus.kOk, Limit.INTERRUPTED
        if watcher.error is not None:
            raise watcher.error
        if status == highspy.HighsStatus.kError:
            raise BackendError("HiGHS failed")
        return _result(highs, highspy, limit, build_time, time.perf_counter() - started)


def _lp(model: MipProgram, highspy: Any) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_variables, model.n_rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = model.objective
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    starts, columns, coefficients = [np.zeros(1, dtype=np.intp)], [], []
    for rows in model.rows:
        start, column, coefficient = rows.compressed()
        starts.append(start[1:] + starts[-1][-1])
        columns.append(column)
        coefficients.append(coefficient)
    lp.row_lower_ = np.concatenate([rows.lower for rows in model.rows])
    lp.row_upper_ = np.concatenate([rows.upper for rows in model.rows])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate(starts).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate(columns).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(coefficients)
    kinds = highspy.HighsVarType
    lp.integrality_ = [kinds.kInteger if k else kinds.kContinuous for k in model.is_integer]
    return lp


def _result(
    highs: Any, highspy: Any, limit: Limit, build_time: float, total_time: float
) -> MipResult:
    """Read what HiGHS found; a status that does not say what is proven is an error."""
    statuses = highspy.HighsModelStatus
    limits = {
        statuses.kTimeLimit: Limit.TIME,
        statuses.kIterationLimit: Limit.NODES,
        statuses.kSolutionLimit: Limit.NODES,
        statuses.kInterrupt: Limit.INTERRUPTED,
        statuses.kMemoryLimit: Limit.MEMORY,
    }
    status = highs.getModelStatus()
    known = (statuses.kOptimal, statuses.kInfeasible, *limits)
    if status not in known and limit is Limit.NONE:
        raise BackendError(f"HiGHS stopped with the status {highs.modelStatusToString(status)!r}")
    info = highs.getInfo()
    solution = highs.getSolution()
    has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    bound = float(info.mip_dual_bound)
    return MipResult(
        x=np.array(solution.col_value) if has_solution else None,
        bound=bound if np.isfinite(bound) else np.inf,
        limit=limits.get(status, limit),
        is_infeasible=status == statuses.kInfeasible,
        stats={
            "nodes": int(info.mip_node_count),
            "lp_iterations": int(info.simplex_iteration_count),
            "build_time": build_time,
            "solve_time": total_time - build_time,
        },
    )


def _check(status: Any, what: str) -> None:
    if int(status) != 0:
        raise BackendError(f"HiGHS did not accept {what}: {status}")


class _Watcher:
    """Tells the progress, and stops HiGHS if the callback wants that."""

    def __init__(self, callback: MipCallback | None) -> None:
        self.callback = callback
        self.error: BaseException | None = None
        self._x: NDArray[np.float64] | None = None
        self._last = -np.inf

    def improve(self, event: Any) -> None:
        self._x = np.array(event.data_out.mip_solution)

    def look(self, event: Any) -> None:
        now = time.perf_counter()
        if self.callback is None or now - self._last < _SECONDS_BETWEEN_LOOKS:
            return
        self._last = now
        data = event.data_out
        bound = float(data.mip_dual_bound)
        seen = MipProgress(
            self._x, bound if np.isfinite(bound) else np.inf, int(data.mip_node_count)
        )
        try:
            if self.callback(seen):
                event.interrupt()
        except BaseException as error:
            self.error = error
            event.interrupt()
