"""HiGHS, through highspy."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct.mip.backends.base import (
    Ability,
    Backend,
    BackendError,
    Ending,
    MipCallback,
    MipProgress,
    MipResult,
    Settings,
    SolverThread,
    check_start,
)
from goct.mip.program import MipProgram
from goct.solution import Limit


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

        watcher = _Watcher(highs)
        build_time = time.perf_counter() - started
        run = SolverThread(highs.run, watcher.interrupt)
        limit = run.wait(
            None if settings.limits.time is None else settings.limits.time - build_time,
            None if callback is None else lambda: callback(watcher.seen),
        )
        stats = {
            "build_time": build_time,
            "solve_time": time.perf_counter() - started - build_time,
        }
        if not run.done.is_set():
            # HiGHS does not listen everywhere: it ends in the background.
            seen = watcher.seen
            return MipResult(seen.x, seen.bound, limit, stats={"nodes": seen.nodes, **stats})
        if run.error is not None:
            raise BackendError(f"HiGHS failed: {run.error}") from run.error
        info = highs.getInfo()
        has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        stats |= {
            "nodes": int(info.mip_node_count),
            "lp_iterations": int(info.simplex_iteration_count),
        }
        return MipResult.read(
            self.name,
            highs.getModelStatus(),
            _endings(highspy),
            x=np.array(highs.getSolution().col_value) if has_solution else None,
            bound=float(info.mip_dual_bound),
            is_valid=bool(info.valid),
            asked=limit,
            stats=stats,
        )


def _lp(model: MipProgram, highspy: Any) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_variables, model.n_rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = model.objective
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    lengths, columns, coefficients = [np.zeros(1, dtype=np.intp)], [], []
    for rows in model.rows:
        start, column, coefficient = rows.compressed()
        lengths.append(np.diff(start))
        columns.append(column)
        coefficients.append(coefficient)
    lp.row_lower_ = np.concatenate([rows.lower for rows in model.rows])
    lp.row_upper_ = np.concatenate([rows.upper for rows in model.rows])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate(lengths).cumsum().astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate(columns).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(coefficients)
    kinds = highspy.HighsVarType
    lp.integrality_ = [kinds.kInteger if k else kinds.kContinuous for k in model.is_integer]
    return lp


def _endings(highspy: Any) -> dict[Any, Ending]:
    """Return what HiGHS may end with; any other status proves nothing."""
    statuses = highspy.HighsModelStatus
    return {
        statuses.kOptimal: Ending(),
        statuses.kInfeasible: Ending(is_infeasible=True),
        statuses.kTimeLimit: Ending(Limit.TIME),
        statuses.kIterationLimit: Ending(Limit.NODES),
        statuses.kSolutionLimit: Ending(Limit.NODES),
        statuses.kInterrupt: Ending(Limit.INTERRUPTED),
        statuses.kMemoryLimit: Ending(Limit.MEMORY),
    }


def _check(status: Any, what: str) -> None:
    if int(status) != 0:
        raise BackendError(f"HiGHS did not accept {what}: {status}")


class _Watcher:
    """Remembers the best solution and the bound, and stops HiGHS where that listens."""

    def __init__(self, highs: Any) -> None:
        self.seen = MipProgress(None, np.inf, 0)
        self._wants_stop = False
        highs.cbMipImprovingSolution += self._improve
        for event in (highs.cbMipInterrupt, highs.cbSimplexInterrupt, highs.cbIpmInterrupt):
            event.subscribe(self._stop)
        highs.cbMipInterrupt += self._look

    def interrupt(self) -> None:
        """Ask HiGHS to stop."""
        self._wants_stop = True

    def _improve(self, event: Any) -> None:
        self.seen = replace(self.seen, x=np.array(event.data_out.mip_solution))

    def _look(self, event: Any) -> None:
        bound, nodes = float(event.data_out.mip_dual_bound), int(event.data_out.mip_node_count)
        self.seen = MipProgress(self.seen.x, bound if np.isfinite(bound) else np.inf, nodes)

    def _stop(self, event: Any) -> None:
        if self._wants_stop:
            event.interrupt()
