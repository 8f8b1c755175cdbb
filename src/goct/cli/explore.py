"""``goct explore``: a page to choose a tree by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from goct._deadline import deadline, seconds_left, share_of_time
from goct.cli.data import Prepared, prepare_for
from goct.cli.guard import Code, UsageError, check_outputs, note
from goct.cli.options import ExploreOptions, LearningOptions, command
from goct.cli.progress import ProgressDisplay
from goct.data import Table
from goct.explore import explore as find_trees
from goct.explore import limits_of
from goct.model import Model
from goct.path import Path as SizePath
from goct.path import path as find_path
from goct.report.exploration import Exploration
from goct.report.html import write_report
from goct.search.path import can_share
from goct.solution import Limit, Solution
from goct.solve import one_against_the_rest

if TYPE_CHECKING:
    from goct.cli.tune import Tuned

_SECONDS_OF_A_REPORT = 10.0
_MOST_SPLITS = 15
_FOR_TREES = 0.8  # the rest of the time is for writing them down


@command
def explore(options: ExploreOptions) -> None:
    """Find the best trees of all sizes and operating points; choose among them on one page.

    The page opens with the tree that goct fit learns. It needs no server and no network. The
    time limit is 60 seconds by default.
    """
    from goct.cli.tune import tune_size  # loads scikit-learn, which takes a second

    min_leaf, folds = options.min_leaf, options.folds
    check_outputs([options.data], [options.output])
    prepared, goal = prepare_for(options)
    if (min_leaf or 0) > prepared.table.n_rows:
        raise UsageError(f"--min-leaf {min_leaf}: there are only {prepared.table.n_rows} rows")
    if folds and min(Counter(prepared.labels.tolist()).values()) < 2:
        folds = 0
        note("sizes are not validated: a class has only one row")
    with deadline(share_of_time(2 / 3)), ProgressDisplay(options.quiet) as progress:
        given = _MOST_SPLITS if options.max_splits is None else options.max_splits
        sized = replace(options, max_splits=min(given, _MOST_SPLITS))
        tuned = tune_size(prepared, goal, sized, (), min_leaf, progress, folds)
    found = find_trees(
        tuned.path,
        prepared.model,
        validation=tuned.validation,
        test=prepared.test,
        rows=_some_rows(prepared, options.rows, options.seed),
        time_limit=0.0 if tuned.is_interrupted else share_of_time(_FOR_TREES) or inf,
        n_jobs=options.n_jobs,
    )
    write_report(found, options.output)
    if not options.quiet:
        typer.echo(_account(found))
        note(f"written: {options.output}")
    if not all(size.is_proven for size in found.sizes) or not tuned.is_complete:
        raise typer.Exit(Code.STOPPED)


def write_page(
    output: Path,
    prepared: Prepared,
    options: LearningOptions,
    model: Model,
    solution: Solution,
    tuned: Tuned | None,
) -> None:
    """Write the report on a tree that was learned, with the other trees that are worth a look.

    These take ten seconds, or what is left of the time limit.
    """
    seconds = min(seconds_left(inf) or inf, _SECONDS_OF_A_REPORT)
    if solution.limit is Limit.INTERRUPTED or (tuned is not None and tuned.is_interrupted):
        seconds = 0.0
    found: SizePath | None = None
    if tuned is not None:
        found = tuned.path
    elif seconds > 0 and can_share(
        one_against_the_rest(replace(solution.task, split_penalty=Fraction(0)))
    ):
        size = solution.task.size
        found = find_path(
            prepared.train,
            solution.metric,
            size.max_depth,
            max_splits=min(size.most_splits, _MOST_SPLITS),
            min_leaf_weight=size.min_leaf_weight,
            min_samples_leaf=size.min_samples_leaf,
            constraints=limits_of(solution.task),
            time_limit=max(seconds / 2, 0.01),
            n_jobs=options.n_jobs,
        )
        seconds /= 2
    if found is None:
        why = "Trees of other sizes and operating points are left out: they would take too long."
        write_report(Exploration.of(model, (why,)), output)
        return
    every = find_trees(
        found,
        prepared.model,
        learned=solution,
        validation=model.validation,
        test=prepared.test,
        time_limit=_FOR_TREES * seconds,
        n_jobs=options.n_jobs,
    )
    write_report(every.with_model(model), output)


def _account(found: Exploration) -> str:
    proven = (
        "all proven"
        if found.is_proven
        else "not all of them proven; a longer --time-limit proves more"
    )
    return f"{len(found.models)} trees of 0 to {found.sizes[-1].splits} splits, {proven}"


def _some_rows(prepared: Prepared, n_rows: int, seed: int) -> list[dict[str, Any]]:
    """Return some rows of the training data, as JSON can hold them."""
    table = prepared.table
    chosen = np.random.default_rng(seed).permutation(table.n_rows)[:n_rows]
    part = table.take(np.sort(chosen))
    columns = {name: _cells(part, j) for j, name in enumerate(part.column_names)}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _cells(table: Table, j: int) -> Sequence[Any]:
    column = table.column(j)
    if column.kind == "date":
        return [None if np.isnat(v) else str(v.astype("datetime64[us]")) for v in column.values]
    if column.kind == "category":
        return list(column.values)
    if column.kind == "boolean":
        return [None if math.isnan(v) else ("true" if v else "false") for v in column.values]
    return [float(v) if math.isfinite(v) else None for v in column.values]
