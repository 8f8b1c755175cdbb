"""``goct path``: the best tree for every number of splits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import typer

from goct._deadline import seconds_left
from goct.cli.data import prepare_for
from goct.cli.fit import beside_cart
from goct.cli.guard import Code, UsageError, check_outputs, note, note_written
from goct.cli.options import PathOptions, command
from goct.cli.progress import ProgressDisplay
from goct.constraints import get_constraint
from goct.data.csv_file import write_csv
from goct.files import atomic_write
from goct.path import Path as SizePath
from goct.path import path as find_path
from goct.solution import Limit, Solution


@command
def path(options: PathOptions) -> None:
    """Find the best tree for every number of splits, and prove it.

    The table says what each split gains on these rows, and for which price per split each
    number is best. Ctrl-C ends the search and keeps the best trees found so far.
    """
    splits, price, save = options.splits, options.price, options.save
    check_outputs([options.data], [save, options.output], options.plot)
    if splits is not None and price is not None:
        raise UsageError("--splits and --price both choose a tree; give one of them")
    if save is not None and splits is None and price is None:
        raise UsageError("--save needs --splits or --price, which say which tree to save")
    prepared, goal = prepare_for(options)
    with ProgressDisplay(options.quiet) as progress:
        found = find_path(
            prepared.train,
            goal,
            options.max_depth,
            max_splits=options.max_splits,
            min_samples_leaf=options.min_leaf,
            constraints=[get_constraint(text) for text in options.constraint or ()],
            time_limit=seconds_left(),
            n_jobs=options.n_jobs,
            executor=options.executor,
            callback=progress,
        )
    chosen = _choose(found, splits, price)
    if options.output is not None:
        table = found.to_dict()
        with atomic_write(options.output) as file:
            write_csv(file, list(table), (_cells(row) for row in zip(*table.values(), strict=True)))
    if options.plot is not None:
        from goct.report.plot import save_plot

        save_plot(found, options.plot, width=6.0, height=4.0)
    if save is not None and chosen is not None:
        chosen, rivals = beside_cart(prepared, goal, chosen)
        replace(prepared.model(chosen), rivals=rivals).save(save)
    if not options.quiet:
        typer.echo(found.to_text())
        if chosen is not None:
            typer.echo(f"\n{chosen.summary()}")
        if found.limit is Limit.INTERRUPTED:
            note("interrupted: these are the best trees found so far")
        note_written(options.output, options.plot, save)
    if all(solution.tree is None for solution in found):
        raise typer.Exit(Code.INFEASIBLE if found.is_proven else Code.NO_TREE)
    if not found.is_proven:
        raise typer.Exit(Code.STOPPED)


def _choose(found: SizePath, splits: int | None, price: float | None) -> Solution | None:
    """Return the solution that the options ask for."""
    if splits is None and price is None:
        return None
    if splits is not None and splits >= len(found):
        raise UsageError(f"--splits {splits}: the path has up to {len(found) - 1} splits")
    chosen = found[splits] if splits is not None else found.best(price)
    if chosen.tree is None:
        note(chosen.describe_status())
        raise typer.Exit(Code.INFEASIBLE if found.is_proven else Code.NO_TREE)
    return chosen


def _cells(row: tuple[Any, ...]) -> list[str]:
    """Return the cells of a line; empty where there is no number, or the size of no tree."""
    return [
        "" if cell != cell or (cell == -1 and isinstance(cell, int)) else str(cell) for cell in row
    ]
