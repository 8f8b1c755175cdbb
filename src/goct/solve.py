"""One function that finds the best tree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from goct._validation import check_choice, check_count
from goct.constraints import Constraint, MetricConstraint, check_constraints
from goct.exact import Exact, as_fraction
from goct.metrics import LinearMetric, Metric, get_metric
from goct.one_vs_rest import against_rest, name_the_rest
from goct.problem import Problem
from goct.solution import Callback, Limits, Solution
from goct.tree import MAX_DEPTH, Leaf, Tree

ENGINES = ("auto", "search", "mip")


def solve(
    problem: Problem,
    metric: str | Metric = "accuracy",
    max_depth: int = 3,
    *,
    split_penalty: Any = 0,
    max_splits: int | None = None,
    constraints: Any = (),
    engine: str = "auto",
    time_limit: float | None = None,
    node_limit: int | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
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
        constant tree.
    split_penalty
        What each split must gain at least, in the metric's own unit. A float
        such as 0.01 is taken as the decimal number it is written as, one with
        many digits as a fraction that agrees with it in the first six or more.
    max_splits
        The largest number of splits; no limit if None.
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
    if not isinstance(problem, Problem):
        raise TypeError(
            "problem must be a Problem, as made by Problem.from_arrays(X, y); "
            f"got {type(problem).__name__}"
        )
    metric = get_metric(metric)
    metric.check(problem)
    max_depth = check_count(max_depth, "max_depth")
    if max_depth > MAX_DEPTH:
        raise ValueError(f"max_depth must be at most {MAX_DEPTH}, got {max_depth}")
    penalty = _read_penalty(split_penalty)
    if max_splits is not None:
        max_splits = check_count(max_splits, "max_splits")
    conditions = check_constraints(constraints, problem)
    check_choice(engine, "engine", ENGINES)
    limits = Limits(None if time_limit == float("inf") else time_limit, node_limit)
    if random_state is not None:
        random_state = check_count(random_state, "random_state")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")

    original = problem
    if problem.n_classes > 2 and metric.is_binary:
        for condition in conditions:
            if isinstance(condition, MetricConstraint) and not condition.metric.is_binary:
                raise ValueError(
                    f"the constraint {condition.name!r} is about all classes, while "
                    f"{metric.name!r} is about {problem.classes[problem.positive or 0]!r} against "
                    "the rest; use a constraint on a metric of two classes, such as recall"
                )
        problem = against_rest(problem)
    run = _engine(engine, problem, metric, conditions)
    _check_options(options, run)
    constant = best_constant(problem, metric, conditions)
    if max_depth == 0 or max_splits == 0 or problem.X.shape[1] == 0 or problem.n_classes == 1:
        solution = Solution.of_tree(
            constant,
            metric.best_value(problem) if constant is None else metric.evaluate(constant, problem),
            metric=metric,
            problem=problem,
            split_penalty=penalty,
            max_depth=max_depth,
            max_splits=max_splits,
            constraints=conditions,
            stats={"engine": "constant", "time": 0.0},
        )
    else:
        solution = run(
            problem,
            metric,
            max_depth,
            split_penalty=penalty,
            max_splits=max_splits,
            constraints=conditions,
            limits=limits,
            start=constant,
            random_state=random_state,
            callback=callback,
            **options,
        )
    if problem is original:
        return solution
    tree = None if solution.tree is None else name_the_rest(solution.tree, original)
    return replace(solution, tree=tree, problem=original)


def _engine(
    name: str, problem: Problem, metric: Metric, constraints: tuple[Constraint, ...]
) -> Callable[..., Solution]:
    """Return an engine; "auto" is the search engine, unless only the MIP engine can do it."""
    from goct.search.engine import refusal, solve_search

    if name == "auto" and refusal(problem, metric, constraints) is not None:
        from goct.mip.quotients import refusal as mip_refusal

        can_state = isinstance(metric, LinearMetric) or mip_refusal(metric) is None
        name = "mip" if can_state else "search"
    if name == "mip":
        from goct.mip import solve_mip  # loads the solver, which takes a moment

        return solve_mip
    return solve_search


def best_constant(
    problem: Problem, metric: Metric, constraints: tuple[Constraint, ...] = ()
) -> Tree | None:
    """Return the best tree without a split that meets the constraints, or None.

    The first class wins ties.
    """
    constants = [
        Tree(Leaf(k), problem.classes, problem.feature_names) for k in range(problem.n_classes)
    ]
    trees = [tree for tree in constants if all(c.is_met(tree, problem) for c in constraints)]

    def value(tree: Tree) -> Exact:
        return metric.evaluate(tree, problem)

    return max(trees, key=value, default=None)


def _read_penalty(value: Any) -> Fraction:
    """Read a penalty; a float with many digits is replaced by a simpler number next to it.

    Its digits multiply with those of the metric, whose integers have to fit the
    search engine; none of them means anything after the first few.
    """
    penalty = as_fraction(value, "split_penalty")
    if penalty < 0:
        raise ValueError(f"split_penalty must not be negative, got {value}")
    if isinstance(value, float | np.floating) and penalty.denominator > 10**12:
        return penalty.limit_denominator(10**6 * ceil(1 / min(penalty, Fraction(1))))
    return penalty


def _check_options(options: dict[str, Any], engine: Any) -> None:
    known = [
        name
        for name, parameter in inspect.signature(engine).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    ]
    for name in options:
        if name not in known:
            raise TypeError(f"unknown option {name!r}; options of this engine: {', '.join(known)}")
