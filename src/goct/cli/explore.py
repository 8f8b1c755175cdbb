"""``goct explore``: a page to choose a tree by."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from goct._deadline import seconds_left
from goct.cli.data import Data, LearningOptions, Prepared, check_classes, learning, prepare
from goct.cli.guard import Code, UsageError, check_outputs, note
from goct.data import Table
from goct.explore import Origin
from goct.explore import explore as find_trees
from goct.metrics import choose_metric, get_metric
from goct.model import columns_of
from goct.report.explorer import write_explorer


@learning
def explore(
    data: Data,
    options: LearningOptions,
    metric: Annotated[
        str, typer.Option(help="What the best tree of each size maximises; as in goct fit.")
    ] = "auto",
    test_size: Annotated[
        float, typer.Option(help="The share of rows to hold back for a test, such as 0.25.")
    ] = 0.0,
    folds: Annotated[
        int, typer.Option(min=0, help="Folds of the validation of sizes; 0 for none.")
    ] = 5,
    rows: Annotated[
        int, typer.Option(min=0, help="Rows of the data that the page holds, to try trees on.")
    ] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Decides which rows go where.")] = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this HTML file.")] = Path(
        "explore.html"
    ),
) -> None:
    """Find the best trees of all sizes and operating points; choose among them on one page.

    The page needs no server and no network. The time limit is 60 seconds by default.
    """
    check_outputs([data], [output])
    one_vs_rest = metric == "auto" or get_metric(metric).is_binary
    prepared = prepare(data, options, one_vs_rest=one_vs_rest, test_size=test_size, seed=seed)
    has_positive = prepared.train.positive is not None
    goal = choose_metric(metric, prepared.train.n_classes, one_vs_rest=has_positive)
    check_classes(prepared, goal)
    if options.max_depth is None:
        raise UsageError("explore needs a number as --depth")
    found = find_trees(
        prepared.train,
        goal,
        options.max_depth,
        origin=Origin(
            prepared.binarizer.conditions_,
            prepared.source,
            columns_of(prepared.binarizer),
            prepared.missing_words,
        ),
        max_splits=options.max_splits,
        test=prepared.test,
        folds=prepared.folds(folds, seed),
        rows=_some_rows(prepared, rows, seed),
        time_limit=seconds_left(60.0) or 60.0,
        n_jobs=options.n_jobs,
        callback=None if options.quiet else lambda words: note(f"looking at {words}"),
    )
    write_explorer(found, output)
    if not options.quiet:
        typer.echo(
            f"{len(found.models)} trees of 0 to {found.sizes[-1].splits} splits, "
            + ("all proven" if found.is_proven else "not all of them proven")
        )
        note(f"written: {output}")
    if not found.is_proven:
        raise typer.Exit(Code.STOPPED)


def _some_rows(prepared: Prepared, n_rows: int, seed: int) -> list[dict[str, Any]]:
    """Return some rows of the training data, as JSON can hold them."""
    table = prepared.table
    chosen = np.random.default_rng(seed).permutation(table.n_rows)[:n_rows]
    part = table.take(np.sort(chosen))
    columns = {name: _cells(part, j) for j, name in enumerate(part.column_names)}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _cells(table: Table, j: int) -> list[Any]:
    column = table.column(j)
    if column.kind == "date":
        return [None if np.isnat(v) else str(v.astype("datetime64[us]")) for v in column.values]
    if column.kind == "category":
        return list(column.values)
    if column.kind == "boolean":
        return [None if math.isnan(v) else ("true" if v else "false") for v in column.values]
    return [None if math.isnan(v) else float(v) for v in column.values]
