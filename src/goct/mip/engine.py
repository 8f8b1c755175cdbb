"""The MIP engine: from a problem and a metric to a model, a solver run and a solution."""

from __future__ import annotations

import time
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_choice
from goct.constraints import Constraint
from goct.exact import Exact
from goct.lattice import Lattice
from goct.metrics import LinearMetric, Metric
from goct.mip.backends import scip
from goct.mip.backends.base import Backend, MipProgress, MipResult
from goct.mip.wflow import Instances, WFlowOCT
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.tree import Tree

BACKENDS: dict[str, Backend] = {"scip": scip.run}
FORMULATIONS = ("wflow",)

# SCIP compares objective values with a relative tolerance of 1e-9. That it lets rows be violated by
# 1e-6 makes its bounds too large rather than too small: it may cost a proof, never correctness.
_RELATIVE_TOLERANCE = 1e-7
_ABSOLUTE_TOLERANCE = 1e-5
_LARGEST_OBJECTIVE = 1e9


def solve_mip(
    problem: Problem,
    metric: Metric,
    max_depth: int,
    *,
    split_penalty: Fraction,
    max_splits: int | None,
    constraints: tuple[Constraint, ...],
    limits: Limits,
    start: Tree | None,
    random_state: int | None,
    callback: Callback | None,
    formulation: str = "wflow",
    backend: str = "scip",
    integer_flow: bool = False,
    log: bool = False,
) -> Solution:
    """Maximise a linear metric with a mixed-integer program.

    Parameters
    ----------
    problem, metric, max_depth, split_penalty, max_splits, constraints, limits
        As in :func:`goct.solve`; the depth is at least 1.
    random_state, callback
        As in :func:`goct.solve`; the depth is at least 1.
    start
        A tree to start from; it is returned if nothing better is found.
    formulation
        The model: "wflow" is WFlowOCT of the paper.
    backend
        The solver: "scip".
    integer_flow
        Whether the flow variables are binary, as in the paper. They need not be.
    log
        Whether the solver prints its log.

    Notes
    -----
    Solvers compute with floats. All objective values are multiples of one
    known number, however, so the solver's bound is rounded down to the next
    multiple after adding a tolerance. A solution is called optimal only if
    that reaches the objective, which is computed exactly from the tree.
    """
    started = time.perf_counter()
    check_choice(formulation, "formulation", FORMULATIONS)
    run = BACKENDS[check_choice(backend, "backend", tuple(BACKENDS))]
    if not isinstance(metric, LinearMetric):
        raise ValueError(
            f"the MIP engine maximises linear metrics only, and {metric.name!r} is "
            f"{metric.shape.value}; linear are accuracy, balanced_accuracy, recall, specificity, "
            "youden, class_cost, instance_cost, CostMatrix and sums of them"
        )
    if constraints or start is None:
        raise ValueError(f"the MIP engine cannot handle the constraint {constraints[0].name!r} yet")
    lattice = Lattice(metric.rewards(problem), split_penalty)

    def tree_of(flow: WFlowOCT, x: NDArray[np.float64]) -> Tree:
        features, labels = flow.decode(x)
        original = {n: int(problem.kept[f]) for n, f in features.items()}
        return Tree.from_heap(original, labels, problem.classes, problem.feature_names).pruned(
            problem
        )

    def objective_of(tree: Tree) -> Exact:
        return metric.evaluate(tree, problem) - split_penalty * tree.splits

    # Integers where floats are exact; solvers do not accept objectives that are much larger.
    scale = max(1.0, lattice.most / _LARGEST_OBJECTIVE)
    best = start
    result = MipResult(None, np.inf, Limit.INTERRUPTED)
    try:
        flow = WFlowOCT(
            _instances(lattice, problem, scale),
            max_depth,
            split_cost=lattice.split_cost / scale,
            max_splits=max_splits,
            integer_flow=integer_flow,
        )

        def tell(progress: MipProgress) -> bool:
            assert callback is not None
            objective = objective_of(start)
            if progress.x is not None:
                objective = max(objective, objective_of(tree_of(flow, progress.x)))
            elapsed = time.perf_counter() - started
            bound = max(objective, proven_bound(lattice, progress.bound * scale))
            return bool(callback(Progress(elapsed, objective, bound, progress.nodes)))

        result = run(
            flow.model,
            limits=limits.after(time.perf_counter() - started),
            start=flow.encode(problem.reduce(start)),
            seed=random_state,
            log=log,
            callback=tell if callback is not None else None,
        )
        if result.x is not None:
            found = tree_of(flow, result.x)
            best = max(found, start, key=lambda tree: (objective_of(tree), -tree.splits))
        stats = {"variables": flow.model.n_variables, "rows": flow.model.n_rows, **result.stats}
    except KeyboardInterrupt:
        stats = {}
    # The tree's own objective is exact, so a solver bound below it is off by a tolerance.
    bound = max(objective_of(best), proven_bound(lattice, result.bound * scale))
    return Solution.of_tree(
        best,
        bound,
        metric=metric,
        problem=problem,
        split_penalty=split_penalty,
        max_depth=max_depth,
        max_splits=max_splits,
        limit=result.limit,
        stats={
            "engine": "mip",
            "formulation": formulation,
            "backend": backend,
            **stats,
            "time": time.perf_counter() - started,
        },
    )


def _instances(lattice: Lattice, problem: Problem, scale: float) -> Instances:
    """Return the instances that can earn something."""
    row, label = np.nonzero(lattice.gains)
    weight = (lattice.gains[row, label] * lattice.factor).astype(np.float64) / scale
    return Instances(problem.X, row, label, weight, problem.n_classes)


def proven_bound(lattice: Lattice, solver_bound: float) -> Exact:
    """Return a bound on the objective from the solver's bound in units of the lattice."""
    best = lattice.most
    if np.isfinite(solver_bound):
        slack = _ABSOLUTE_TOLERANCE + _RELATIVE_TOLERANCE * abs(solver_bound)
        padded = solver_bound + slack
        best = min(best, floor(padded) if slack < 0.5 else ceil(padded))
    return Exact(lattice.objective(best))
