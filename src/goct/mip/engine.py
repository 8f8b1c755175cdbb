"""The MIP engine: from a problem and a metric to a model, a solver run and a solution."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from goct._validation import check_choice, check_count, check_flag
from goct.exact import Exact, as_fraction
from goct.metrics import LinearMetric
from goct.mip.backends.base import Ability, Backend, Settings
from goct.mip.backends.gurobi import Gurobi
from goct.mip.backends.highs import Highs
from goct.mip.backends.scip import Scip
from goct.mip.formulations import FORMULATIONS, IN_THE_MODEL, Separation
from goct.mip.injection import INJECTIONS, Answer, Injection
from goct.mip.inquiry import Asker, Inquiry
from goct.mip.parametric import refusal
from goct.mip.saliency import NODE_HEURISTICS, NodeHeuristic
from goct.mip.side import SideConstraints
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.task import Task
from goct.tree import Tree

BACKENDS: dict[str, Backend] = {"scip": Scip(), "gurobi": Gurobi(), "highs": Highs()}
METHODS = ("auto", "direct", "parametric")
LINEARIZATIONS = ("compact", "paper", "none")


def solve_mip(
    task: Task,
    *,
    limits: Limits,
    start: Tree | None,
    random_state: int | None,
    callback: Callback | None,
    formulation: str = "benders-pair-cut",
    backend: str = "scip",
    method: str = "auto",
    linearization: str | None = None,
    cuts: Mapping[str, bool] | None = None,
    max_rounds: int = 1,
    min_violation: float = 0.01,
    max_cuts: int = 200,
    neighbours: int = 8,
    injection: str = "auto",
    injection_share: Any = None,
    feature_step: int = 3,
    search_bound: bool = True,
    node_heuristic: str = "search",
    heuristic_features: int = 3,
    heuristic_every: int = 10,
    heuristic_share: Any = 0.2,
    integer_flow: bool = False,
    gap: Any = 0,
    threads: int = 1,
    log: bool = False,
) -> Solution:
    """Maximise a metric with a mixed-integer program.

    Parameters
    ----------
    task
        The question; the depth is at least 1.
    limits, random_state, callback
        As in :func:`goct.solve`.
    start
        A tree to start from; it is returned if nothing better is found. None
        if no constant tree meets the constraints.
    formulation
        The model, see :data:`goct.mip.formulations.FORMULATIONS`: "flow",
        "wflow", "benders", "benders-weighted", "benders-weighted-cut" of the
        paper, or "benders-pair-cut".
    backend
        The solver: "scip", "gurobi" or "highs".
    method
        How nonlinear metrics are maximised: "direct", by one model that states
        the metric (:mod:`goct.mip.nonlinear`), or "parametric", by linear
        models (:mod:`goct.mip.parametric`), for metrics that are fractional or
        quasiconvex. "auto" is "parametric" for these, unless `linearization` or
        `gap` is given, and "direct" for all others.
    linearization
        How that one model states products: "compact", in bits
        (:mod:`goct.mip.products`), which is what None means; "paper", in bits as
        the paper does (:mod:`goct.mip.paper`); or "none", as they are, which
        makes it a MIQCP; HiGHS does not solve these.
    cuts
        Switches families of cuts on or off, see
        :data:`goct.mip.formulations.CUTS`.
    max_rounds
        How often cuts are separated at each node but the root.
    min_violation
        The least violation of a cut at a fractional point.
    max_cuts
        The largest number of cuts of each family in a round.
    neighbours
        How many neighbours of another label each instance is paired with.
    injection
        Where the tree comes from that the solver starts from
        (:mod:`goct.mip.injection`): "search", the search engine; "paper",
        models of growing depth over growing sets of features (Algorithm 1);
        "cart", CART; "none", the best constant tree. "auto" is "search" if
        the search engine can answer the question, else "cart".
    injection_share
        The share of the time limit that "search" and "paper" may take; 0.1
        and 0.4 if None. Without a time limit, they take 10 and 60 seconds at
        most.
    feature_step
        How many features "paper" adds at each depth, k in the paper.
    search_bound
        Whether a bound that the search engine proves on the way counts. If it
        meets the tree, no model is built. If False, the tree of the search
        engine is a start like any other, and the solver proves it.
    node_heuristic
        How trees are made at the nodes of the solver
        (:mod:`goct.mip.saliency`): "search" and "mip" solve the problem of
        few salient features (Algorithm 2), by the search engine and by a
        model, and round the relaxation as well; "rounding" does only that;
        "none". Questions that the search engine cannot answer are rounded.
    heuristic_features
        How many salient features join those of the best tree.
    heuristic_every
        The heuristic sees the relaxations of the first nodes, this many, and
        then of one in so many nodes.
    heuristic_share
        The share of the solver's time that problems of few features may take.
    integer_flow
        Whether the flow variables, z or g, are binary, as in the paper. They
        need not be.
    gap
        The solver may stop when it has proven the tree to be this close to the
        best one, in the metric's own unit.
    threads
        The number of threads of the solver.
    log
        Whether the solver prints its log.

    Notes
    -----
    Solvers compute with floats. All objective values are multiples of one
    known number, however, so the solver's bound is rounded down to the next
    multiple after adding a tolerance. A solution is called optimal only if
    that reaches the objective, which is computed exactly from the tree.
    Constraints are checked on the tree in the same way.

    The values of nonlinear metrics are no such multiples. There, a solution is
    called optimal if no pair (TP, TN), achieved or not, has a value above the
    tree and up to the solver's bound plus a tolerance. If a few have, one more
    model tells whether a tree achieves them (:mod:`goct.mip.pairs`). If many
    have, and the metric is fractional or quasiconvex, linear models finish the
    proof; otherwise a gap of about 1e-5 remains.
    """
    started = time.perf_counter()
    problem, metric, split_penalty = task.problem, task.metric, task.split_penalty
    max_depth, max_splits = task.size.max_depth, task.size.max_splits
    constraints = task.constraints
    form = FORMULATIONS[check_choice(formulation, "formulation", tuple(FORMULATIONS))]
    solver = BACKENDS[check_choice(backend, "backend", tuple(BACKENDS))]
    families = form.choose_cuts(cuts)
    separation = Separation(
        min_violation=_check_positive(min_violation, "min_violation"),
        max_cuts=check_count(max_cuts, "max_cuts", minimum=1),
        neighbours=check_count(neighbours, "neighbours", minimum=1),
    )
    max_rounds = check_count(max_rounds, "max_rounds")
    threads = check_count(threads, "threads", minimum=1)
    allowed_gap = as_fraction(gap, "gap")
    if allowed_gap < 0:
        raise ValueError(f"gap must not be negative, got {gap}")
    needs_separation = not form.is_compact or bool(families - IN_THE_MODEL)
    if check_choice(method, "method", METHODS) == "auto":
        is_free = linearization is None and not allowed_gap
        method = "parametric" if is_free and refusal(metric) is None else "direct"
    if linearization is None:
        linearization = "compact"
    check_choice(linearization, "linearization", LINEARIZATIONS)
    is_miqp = (
        linearization == "none" and method == "direct" and not isinstance(metric, LinearMetric)
    )
    wanted = []
    if needs_separation:
        wanted.append((Ability.SEPARATION, f"the formulation {formulation!r} and its cuts need"))
    if threads > 1:
        wanted.append((Ability.THREADS, f"threads={threads} needs"))
    if is_miqp:
        wanted.append((Ability.PRODUCTS, "linearization='none' needs"))
    _check_backend(backend, solver, wanted)
    side = SideConstraints.read(constraints, problem)
    nodes = NodeHeuristic(
        kind=check_choice(node_heuristic, "node_heuristic", NODE_HEURISTICS),
        features=check_count(heuristic_features, "heuristic_features", minimum=1),
        every=check_count(heuristic_every, "heuristic_every", minimum=1),
        share=_check_share(heuristic_share, "heuristic_share"),
    )
    check_choice(injection, "injection", INJECTIONS)
    check_flag(search_bound, "search_bound")
    asker = Asker(
        form,
        solver,
        max_depth,
        integer_flow=check_flag(integer_flow, "integer_flow"),
        cuts=families,
        separation=separation,
        node_heuristic=nodes,
        settings=Settings(
            seed=random_state,
            threads=threads,
            max_rounds=max_rounds,
            heuristic_every=nodes.every,
            log=check_flag(log, "log"),
        ),
    )
    inquiry = Inquiry(
        asker,
        metric,
        split_penalty=split_penalty,
        max_splits=max_splits,
        constraints=constraints,
        method=method,
        linearization=linearization,
    )
    highest = inquiry.highest(problem, start)
    stages = Injection(
        problem,
        metric,
        max_depth,
        split_penalty=split_penalty,
        max_splits=max_splits,
        side=side,
        start=start,
        highest=highest,
        limits=limits,
        callback=callback,
        random_state=random_state,
        share=None if injection_share is None else _check_share(injection_share, "injection_share"),
        step=check_count(feature_step, "feature_step", minimum=1),
    )
    stages.run(injection, inquiry.solve)
    ceiling = stages.bound if search_bound else None
    is_proven = stages.best is not None and ceiling == stages.objective(stages.best)
    proof = None if ceiling is None else "search"
    answer = Answer(stages.best, highest, stages.limit)
    if search_bound and (is_proven or stages.is_infeasible):
        answer = replace(answer, limit=Limit.NONE)
    elif stages.is_over:
        answer = replace(answer, limit=Limit.TIME)
    elif stages.limit is Limit.NONE:
        with stages.stage("mip"):
            answer = inquiry.solve(
                problem,
                max_depth,
                stages.best,
                gap=allowed_gap,
                limits=stages.left,
                callback=_until(ceiling, callback, lambda: stages.elapsed),
            )
        proof = "search" if ceiling is not None and ceiling < answer.bound else "mip"
        if allowed_gap and answer.limit is Limit.NONE:
            answer = replace(answer, limit=Limit.GAP)
    return Solution.of_tree(
        task,
        answer.best,
        answer.bound if ceiling is None else min(answer.bound, ceiling),
        limit=answer.limit,
        stats={
            "engine": "mip",
            "formulation": formulation,
            "backend": backend,
            **answer.stats,
            **asker.counts,
            "injection": stages.kind,
            "injected": None if stages.injected is None else float(stages.injected),
            "proof": proof,
            "stage_times": stages.times,
            "time": time.perf_counter() - started,
        },
    )


def _until(
    bound: Exact | None, callback: Callback | None, elapsed: Callable[[], float]
) -> Callback | None:
    """Return a callback that also stops the solver when a tree reaches a proven bound."""
    if callback is None and bound is None:
        return None

    def tell(progress: Progress) -> bool:
        objective, known = progress.objective, progress.bound
        if bound is not None:
            known = min(known, bound)
        reported = replace(progress, elapsed=elapsed(), bound=known)
        wants_stop = callback is not None and bool(callback(reported))
        return wants_stop or (bound is not None and objective is not None and objective >= bound)

    return tell


def _check_backend(name: str, solver: Backend, wanted: list[tuple[Ability, str]]) -> None:
    if not solver.is_available:
        raise ImportError(
            f"the backend {name!r} needs {solver.module}: pip install 'goct[{solver.extra}]'"
        )
    for ability, reason in wanted:
        if ability not in solver.abilities:
            able = [repr(key) for key, other in BACKENDS.items() if ability in other.abilities]
            raise ValueError(
                f"{reason} {ability.value}, which the backend {name!r} cannot do; "
                f"{' and '.join(able)} can"
            )


def _check_share(value: Any, name: str) -> float:
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = as_fraction(value, name)
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value}")
    return float(number)


def _check_positive(value: Any, name: str) -> float:
    number = as_fraction(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return float(number)
