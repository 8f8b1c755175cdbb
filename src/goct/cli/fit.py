"""``goct fit``: from a CSV file to a tree."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import fields, replace
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any

import typer

from goct._deadline import deadline, seconds_left, share_of_time
from goct._validation import check_choice
from goct.cart import seconds_for_cart
from goct.certificate import annotate
from goct.cli.data import Prepared, number_of, prepare_for
from goct.cli.guard import Code, UsageError, check_outputs, note, note_written
from goct.cli.options import FitOptions, LearningOptions, command
from goct.cli.progress import ProgressDisplay
from goct.constraints import (
    Constraint,
    FeatureBudget,
    ForbidFeatures,
    MaxFeatures,
    RequireFeatures,
    get_constraint,
)
from goct.metrics import Metric, is_total
from goct.model import Model, Quantity, Rival
from goct.report.caveats import warnings_of
from goct.report.per_row import per_row
from goct.report.rivals import grow_cart, rival_of
from goct.search.path import can_share
from goct.solution import Limit, Solution, Status
from goct.solve import ENGINES, one_against_the_rest, solve
from goct.task import Task
from goct.tree import Tree

if TYPE_CHECKING:
    from goct.cli.tune import Tuned

_FOR_PROOF = 0.25  # of the time limit, at least, for the tree of the size that was chosen
_GRACE = 0.2  # seconds that a comparison with CART may take beyond the time limit


@command
def fit(options: FitOptions) -> None:
    """Learn the best tree for a column of a CSV file, and prove it.

    How many splits it has is chosen by cross-validation, unless --splits gives a number,
    --split-penalty a price, or --no-tune says otherwise. Ctrl-C ends the search and keeps the
    best tree found so far, and so does the time limit, 60 seconds by default.
    """
    started = time.monotonic()
    check_outputs([options.data], [options.save, options.report, options.certificate])
    asked = [get_constraint(text) for text in options.constraint or ()]
    asked += _column_constraints(options)
    check_choice(options.engine, "engine", ENGINES)
    most, min_leaf = _read_splits(options.splits, options.max_splits), options.min_leaf
    prepared, goal = prepare_for(options)
    given: dict[str, Any] = {"formulation": options.formulation, "backend": options.backend}
    given = {name: value for name, value in given.items() if value is not None}
    tunes = options.splits == "auto" and not (options.no_tune or options.split_penalty)
    is_mip = options.engine == "mip" or bool(given)
    if tunes and (why := _why_not_tuned(prepared, goal, asked, min_leaf, is_mip)) is not None:
        tunes = False
        if not options.quiet:
            note(f"the number of splits is not tuned: {why}")
    tuned: Tuned | None = None
    with ProgressDisplay(options.quiet) as progress:
        if tunes:
            from goct.cli.tune import tune_size  # loads scikit-learn, which takes a moment

            with deadline(share_of_time(1 - _FOR_PROOF)):
                tuned = tune_size(prepared, goal, options, asked, min_leaf, progress)
            solution = tuned.solution
            if not tuned.is_interrupted and solution.limit is not Limit.NONE:
                solution = solution.improved(_grow(prepared, goal, solution.task))
        if tuned is not None and tuned.is_interrupted:
            if solution.limit is not Limit.NONE:
                solution = replace(solution, limit=Limit.INTERRUPTED)
            if options.certificate is not None:
                note("no certificate was written: interrupted")
        elif tuned is None or _needs_proof(solution, options):
            known = None if tuned is None else solution
            size = options.size(most, min_leaf) if known is None else known.task.size
            if options.executor is not None:
                given["executor"] = options.executor
            solution = solve(
                prepared.train,
                goal,
                size.max_depth,
                split_penalty=options.split_penalty,
                max_splits=size.max_splits,
                min_samples_leaf=size.min_samples_leaf,
                constraints=asked,
                engine=options.engine,
                time_limit=_seconds_to_search(prepared),
                start=None if known is None else known.tree,
                callback=progress,
                n_jobs=options.n_jobs,
                certificate=options.certificate,
                **given,
            )
            if known is not None:
                solution = solution.improved(bound=known.bound)
            solution = solution.improved(_grow(prepared, goal, solution.task))
    if solution.certificate is not None:
        reading = _reading(options)
        solution = replace(solution, certificate=annotate(solution.certificate, reading))
    if solution.tree is None:
        note(solution.describe_status())
        infeasible = solution.status is Status.INFEASIBLE
        raise typer.Exit(Code.INFEASIBLE if infeasible else Code.NO_TREE)
    solution, rivals = beside_cart(prepared, goal, solution)
    model = replace(prepared.model(solution), rivals=rivals)
    if tuned is not None:
        model = replace(model, validation=tuned.validation)
        total = time.monotonic() - started
        solution = replace(solution, stats=solution.stats | {"total_time": total})
    if options.save is not None:
        model.save(options.save)
    if options.report is not None:
        from goct.cli.explore import write_page  # loads much

        write_page(options.report, prepared, options, model, solution, tuned)
    if not options.quiet:
        is_stopped = solution.limit is Limit.TIME or (tuned is not None and tuned.is_stopped)
        _show(model, solution, [] if tuned is None else tuned.describe(), is_stopped)
        written = None if solution.certificate is None else options.certificate
        note_written(options.save, options.report, written)
    if solution.status is not Status.OPTIMAL or (tuned and not tuned.is_complete):
        raise typer.Exit(Code.STOPPED)


def _reading(options: FitOptions) -> dict[str, Any]:
    """Return how the table is read, for whoever checks the proof."""
    names = [field.name for field in fields(LearningOptions)]
    unused = ("depth", "max_splits", "time_limit", "n_jobs", "scheduler", "quiet")
    chosen = {name: getattr(options, name) for name in names if name not in unused}
    return {"options": chosen, "more": {"one_vs_rest": options.is_one_vs_rest, **options.held_back}}


def _read_splits(splits: str, max_splits: int | None) -> int | None:
    """Return the largest number of splits that the options give."""
    if splits == "auto":
        return max_splits
    if not re.fullmatch(r"\d{1,4}", splits):
        raise UsageError(f"--splits must be auto or a number such as 7, got {splits!r}")
    if max_splits is not None:
        raise UsageError("--splits and --max-splits both limit the splits; give one of them")
    return int(splits)


def _why_not_tuned(
    prepared: Prepared,
    metric: Metric,
    constraints: list[Constraint],
    min_leaf: int | None,
    is_mip: bool,
) -> str | None:
    """Return why the size cannot be tuned; None if it can."""
    if is_mip:
        return "the MIP engine takes too long for that"
    if (min_leaf or 0) > prepared.table.n_rows:
        return f"there are fewer than {min_leaf} rows"
    task = one_against_the_rest(Task.read(prepared.train, metric, 1, constraints=constraints))
    if not can_share(task):
        return "constraints or metrics of this kind take too long for that"
    if min(Counter(prepared.labels.tolist()).values()) < 2:
        return "a class has only one row"
    return None


def _column_constraints(options: FitOptions) -> list[Constraint]:
    """Return the constraints on columns that options ask for."""
    found: list[Constraint] = []
    if options.forbid:
        found.append(ForbidFeatures(options.forbid))
    if options.require:
        found.append(RequireFeatures(options.require))
    if options.max_columns is not None:
        found.append(MaxFeatures(options.max_columns))
    if (options.budget is None) != (not options.column_cost):
        raise UsageError("--column-cost and --budget go together")
    if options.budget is not None:
        costs = [number_of(text, "--column-cost", "mri=250") for text in options.column_cost or ()]
        found.append(FeatureBudget({name: cost for name, cost in costs}, options.budget))  # noqa: C416
    return found


def _needs_proof(solution: Solution, options: FitOptions) -> bool:
    """Say whether the tree that was chosen by folds is searched for once more."""
    if options.certificate is not None and solution.tree is not None:
        return True
    return solution.limit is Limit.TIME


def _seconds_to_search(prepared: Prepared) -> float | None:
    """Return what is left of the time limit before CART is compared with, if there is time."""
    if seconds_left() is None:
        return None
    import_module("sklearn.tree")  # may take longer than CART itself
    left, cart = seconds_left() or 0.0, 2 * seconds_for_cart(prepared.train)
    return left if cart > left / 4 else left - cart


def _grow(
    prepared: Prepared, metric: Metric, task: Task, n_leaves: int | None = None
) -> Tree | None:
    """Return CART's tree of a size, by default the largest allowed, if there is time for it."""
    if seconds_for_cart(prepared.train) > (seconds_left() or inf) + _GRACE:
        return None
    most = min(task.size.most_splits + 1, max(prepared.train.n_rows, 1))
    return grow_cart(prepared.train, metric, task.size.max_depth, n_leaves or most)


def beside_cart(
    prepared: Prepared, metric: Metric, solution: Solution
) -> tuple[Solution, tuple[Rival, ...]]:
    """Compare a tree with CART's of its size, and take that if it is better and allowed."""
    assert solution.tree is not None
    tree = _grow(prepared, metric, solution.task, solution.tree.n_leaves)
    if tree is None:
        return solution, ()
    if (better := solution.improved(tree)) is not solution:
        return beside_cart(prepared, metric, better)
    train, test = prepared.train, prepared.test
    return solution, (rival_of(tree, train, test, metric, solution.constraints),)


def _show(model: Model, solution: Solution, rows: list[tuple[str, str]], is_stopped: bool) -> None:
    typer.echo(solution.summary())
    if is_total(model.question.metric):
        model = per_row(model)
        rows.append((model.question.metric, _number(model.train.value)))
    if model.test is not None:
        rows.append(("on test data", _number(model.test.value)))
    for rival in model.rivals:
        remarks = [f"breaks {' and '.join(rival.broken)}"] if rival.broken else []
        if rival.splits == 0:
            remarks.append("a single leaf")
        if rival.depth > model.tree.depth:
            remarks.append(f"depth {rival.depth}")
        more = f"  ({', '.join(remarks)})" if remarks else ""
        rows.append((rival.name, _number(rival.train_value) + more))
        if rival.test is not None:
            rows.append((f"{rival.name} on test data", _number(rival.test_value)))
    width = max((len(name) for name, _ in rows), default=0) + 2
    typer.echo("")
    for name, text in rows:
        typer.echo(f"{name:<{width}}{text}")
    for text in warnings_of(replace(model, notes=())):  # notes were given when the data was read
        typer.echo(f"\nWARNING: {text}")
    if is_stopped:
        note("stopped by the clock; --time-limit none finds the same tree everywhere")
    if not model.rivals:
        note("CART is left out of the comparison: it would take too long, or too much memory")
    if solution.limit is Limit.INTERRUPTED:
        note("interrupted: this is the best tree found so far")


def _number(value: Quantity | None) -> str:
    return "not defined" if value is None else f"{value.value:.6f}"
