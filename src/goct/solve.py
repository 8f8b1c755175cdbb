"""One function that finds the best tree."""

from __future__ import annotations

import inspect
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from goct._ctrl_c import keeping_the_best
from goct._validation import check_choice, check_count
from goct.certificate import CertificateError
from goct.certificate import unsupported as no_certificate
from goct.certificate import write as write_certificate
from goct.constraints import MetricConstraint, RequireFeatures
from goct.exceptions import CertificateWarning
from goct.metrics import Metric
from goct.one_vs_rest import against_rest, name_the_rest, tree_against_rest
from goct.plane.oracle import Branch, Proven
from goct.problem import Problem
from goct.solution import Callback, Limit, Limits, Progress, Solution
from goct.task import Task
from goct.tree import Tree

ENGINES = ("auto", "search", "mip")

_MANY_SPLITS = 1000  # trees without a limit on depth that may have more splits deserve a warning


def solve(
    problem: Problem,
    metric: str | Metric = "accuracy",
    max_depth: int | None = 3,
    *,
    split_penalty: Any = 0,
    max_splits: int | None = None,
    min_leaf_weight: Any = 0,
    min_samples_leaf: int = 0,
    constraints: Any = (),
    engine: str = "auto",
    time_limit: float | None = None,
    node_limit: int | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
    start: Tree | None = None,
    certificate: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Solution:
    """Find the tree that maximises ``metric - split_penalty * splits``, and prove it.

    Parameters
    ----------
    problem
        The data.
    metric
        What to maximise: a name such as "balanced_accuracy", or a metric. If it
        is one of two classes and the problem has more, the positive class
        stands against the rest.
    max_depth
        The largest number of splits between root and leaf; 0 allows only the
        constant tree. None, with a split penalty or a split budget, is for
        trees as deep as the price or the budget allows (at most 64, as all
        trees).
    split_penalty
        What each split must gain at least, in the metric's own unit. A float
        such as 0.01 is taken as the decimal number it is written as, one with
        many digits as a fraction that agrees with it in the first six or more.
    max_splits
        The largest number of splits; no limit if None.
    min_leaf_weight
        The least weight of the samples in a leaf, without sample weights their
        number; the same as the constraint
        :class:`~goct.constraints.MinLeafWeight`.
    min_samples_leaf
        The least number of samples in a leaf, whatever they weigh; the same as
        the constraint :class:`~goct.constraints.MinSamplesLeaf`. If samples have
        different weights, only the MIP engine can keep both.
    constraints
        Conditions that the tree must meet, such as ``Recall() >= 0.9`` or the
        text "recall >= 0.9", see :mod:`goct.constraints`. If no tree meets
        them, the solution has no tree and the status INFEASIBLE.
    engine
        "search", "mip", or "auto": the search engine, unless there are
        constraints or a metric that only the MIP engine can handle.
    time_limit
        Seconds after which the best tree so far is returned, with the bound
        that is proven by then.
    node_limit
        Nodes of the solver after which the same happens; for the MIP engine.
    random_state
        A seed; the same seed gives the same tree.
    callback
        Called with a :class:`goct.solution.Progress` from time to time; the
        search stops if it returns True.
    start
        A tree to start from, such as that of an earlier solution: it must be one
        that the question allows. What is found is never worse.
    certificate
        A file for the proof, which :func:`goct.verify` and ``goct verify``
        check; see the page "What proven means". Writing it takes about as
        long as the search, and at most `time_limit` seconds more: after that
        it proves a larger bound, with a
        :class:`~goct.exceptions.CertificateWarning`. Ctrl-C ends it with such
        a warning, and the solution is returned without it; none is written
        either if the search itself was interrupted.
    **options
        Options of the engine, see :func:`goct.search.solve_search` and
        :func:`goct.mip.solve_mip`.

    Returns
    -------
    Solution
        The tree, the value of the metric and the proven bound.

    Examples
    --------
    >>> import goct
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> problem = goct.Problem.from_arrays(X, ["no", "no", "no", "yes"])
    >>> solution = goct.solve(problem, "accuracy", max_depth=2)
    >>> solution.status.name, float(solution.value)
    ('OPTIMAL', 1.0)
    """
    task = Task.read(
        problem,
        metric,
        max_depth,
        split_penalty=split_penalty,
        max_splits=max_splits,
        min_leaf_weight=min_leaf_weight,
        min_samples_leaf=min_samples_leaf,
        constraints=constraints,
    )
    check_choice(engine, "engine", ENGINES)
    started = time.perf_counter()  # loading an engine counts
    limits = Limits(None if time_limit == float("inf") else time_limit, node_limit)
    if random_state is not None:
        random_state = check_count(random_state, "random_state")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")
    if limits.time is None and callback is None:
        _warn_of_large_trees(task)
    recorder = _Recorder(callback)
    binary = one_against_the_rest(task)
    run = _engine(engine, binary)
    _check_options(options, run)
    known = [tree for tree in (_read_start(start, task, binary), binary.best_constant()) if tree]
    best = max(known, key=binary.objective, default=None)
    proven: list[Proven | Branch] = []
    if certificate is not None:
        _check_certificate(certificate, binary)
    if binary.has_only_constants:
        metric = binary.metric
        bound = metric.best_value(binary.problem) if best is None else binary.objective(best)
        stats = {"engine": "constant", "time": 0.0}
        solution = Solution.of_tree(binary, best, bound, stats=stats)
    else:
        if certificate is not None and run.__name__ == "solve_search":
            options["proven"] = proven
        with keeping_the_best():
            solution = run(
                binary,
                limits=limits.after(time.perf_counter() - started),
                start=best,
                random_state=random_state,
                callback=recorder,
                **options,
            )
        solution.stats["progress"] = recorder.events
    if certificate is not None:
        original = None if binary is task else problem
        if solution.stats.get("proof") == "search" and solution.limit is not Limit.INTERRUPTED:
            _prove_relaxation(binary, limits, proven)
        solution = _with_certificate(solution, certificate, proven, original, limits)
    if binary is task:
        return solution
    tree = None if solution.tree is None else name_the_rest(solution.tree, problem)
    return replace(solution, tree=tree, task=task)


def _warn_of_large_trees(task: Task) -> None:
    """Say so if no limit is in sight: any depth, and a price at which very many splits pay."""
    if task.size.max_depth is not None or not task.split_penalty:
        return
    # Metrics have values from -1 to 1, as a rule.
    most = min(task.problem.n_rows - 1, int(2 / task.split_penalty), task.size.most_splits)
    if most > _MANY_SPLITS:
        warnings.warn(
            f"at this split_penalty trees of up to {most:,} splits may pay; give a time_limit, "
            "after which there is the best tree so far with a proven bound, or a larger penalty. "
            "Memory stays within memory_limit.",
            stacklevel=3,
        )


class _Recorder:
    """Keeps what a solver tells of its progress where that is new, and passes it on."""

    def __init__(self, callback: Callback | None) -> None:
        self.callback = callback
        self.events: list[Progress] = []

    def __call__(self, progress: Progress) -> Any:
        """Keep the progress, and say what the callback says."""
        last = self.events[-1] if self.events else None
        if last is None or (last.objective, last.bound) != (progress.objective, progress.bound):
            self.events.append(progress)
        return None if self.callback is None else self.callback(progress)


def _read_start(start: Any, task: Task, binary: Task) -> Tree | None:
    """Return a user's tree for the task of two classes, or raise an error that says what is wrong.

    Splits that make no difference are left out, unless a constraint asks for them.
    """
    if start is None:
        return None
    if not isinstance(start, Tree):
        hint = "; pass its tree" if hasattr(start, "tree") or hasattr(start, "tree_") else ""
        raise TypeError(f"start must be a Tree, got {type(start).__name__}{hint}")
    start.predict_rows(task.problem)  # raises an error if it is a tree of another problem
    tree = start if binary is task else tree_against_rest(start, task.problem)
    pruned = tree.pruned(binary.problem)
    if (why := binary.refusal(pruned)) is None:
        return pruned
    if binary.refusal(tree) is None:
        return tree
    raise ValueError(f"start is not a tree that the question allows: {why}")


def one_against_the_rest(task: Task) -> Task:
    """Return the task with two classes, if its metric has two and its problem more."""
    problem, metric = task.problem, task.metric
    if problem.n_classes <= 2 or not metric.is_binary:
        return task
    for condition in task.constraints:
        if isinstance(condition, MetricConstraint) and not condition.metric.is_binary:
            raise ValueError(
                f"the constraint {condition.name!r} is about all classes, while "
                f"{metric.name!r} is about {problem.classes[problem.positive or 0]!r} against "
                "the rest; use a constraint on a metric of two classes, such as recall"
            )
        if isinstance(condition, RequireFeatures):
            raise ValueError(
                f"the constraint {condition.name!r} is about splits that tell any two of the "
                f"{problem.n_classes} classes apart, while {metric.name!r} is about "
                f"{problem.classes[problem.positive or 0]!r} against the rest; make one class of "
                "the others, or use a metric of all classes, such as accuracy"
            )
    return task.on(against_rest(problem))


def _prove_relaxation(task: Task, limits: Limits, proven: list[Proven | Branch]) -> None:
    """Ask again what the search engine proved for the MIP engine, for its certificate."""
    from goct.search.engine import relaxation, solve_search

    relaxed = relaxation(task)
    assert relaxed is not None
    solve_search(
        relaxed,
        limits=Limits(limits.time),
        start=None,
        random_state=None,
        callback=None,
        proven=proven,
    )


def _with_certificate(
    solution: Solution,
    path: str | os.PathLike[str],
    proven: list[Proven | Branch],
    original: Problem | None,
    limits: Limits,
) -> Solution:
    """Write a certificate; the solution survives if there is none, with a warning."""
    try:
        if solution.limit is Limit.INTERRUPTED:  # the proof would take as long again
            raise KeyboardInterrupt
        written = write_certificate(path, solution, proven, original, time_limit=limits.time)
    except (CertificateError, KeyboardInterrupt) as error:
        why = str(error) or "interrupted"
        warnings.warn(f"no certificate was written: {why}", CertificateWarning, stacklevel=3)
        return solution
    if written.proves == "less":
        text = "the certificate proves a larger bound than the search engine has found"
        warnings.warn(text, CertificateWarning, stacklevel=3)
    return replace(solution, certificate=written)


def _check_certificate(path: str | os.PathLike[str], task: Task) -> None:
    """Raise an error if there can be no certificate, before any work is done."""
    if (why := no_certificate(task)) is not None:
        raise ValueError(why)
    if not (folder := Path(path).resolve().parent).is_dir():
        raise ValueError(f"certificate: there is no folder {folder}")


def _engine(name: str, task: Task) -> Callable[..., Solution]:
    """Return an engine; "auto" is the search engine, unless only the MIP engine can do it."""
    from goct.search.engine import solve_search, unsupported

    if name == "auto" and unsupported(task) is not None:
        from goct.mip.nonlinear.objective import unsupported as unsupported_by_mip

        name = "mip" if unsupported_by_mip(task.metric) is None else "search"
    if name == "mip":
        from goct.mip import solve_mip  # loads the solver, which takes a moment

        return solve_mip
    return solve_search


@cache
def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that have a default."""
    signature = inspect.signature(function).parameters.values()
    return tuple(p.name for p in signature if p.default is not inspect.Parameter.empty)


def _check_options(options: dict[str, Any], engine: Callable[..., Solution]) -> None:
    """Raise an error for an option that the engine does not have; it names the engine."""
    from goct.search.engine import solve_search

    is_search = engine is solve_search
    search = _keywords(solve_search)
    if is_search and set(options) <= set(search):
        return
    from goct.mip.options import KEYWORDS  # loads the solvers, which takes a moment

    has, lacks = (search, KEYWORDS) if is_search else (KEYWORDS, search)
    names = ("search", "MIP") if is_search else ("MIP", "search")
    for option in (option for option in options if option not in has):
        if option in lacks:
            raise TypeError(
                f"{option!r} is an option of the {names[1]} engine, but the {names[0]} engine "
                f"answers this question; leave it out, or use engine={names[1].lower()!r}"
            )
        raise TypeError(
            f"unknown option {option!r} of the {names[0]} engine, which has {', '.join(has)}"
        )
