"""``goct predict``: a tree applied to a CSV file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from goct.cli import data as options
from goct.cli.guard import UsageError, check_outputs, note
from goct.export.text import one_line
from goct.files import atomic_write
from goct.model import Model
from goct.table import Table, find_dialect, read_csv, read_header, read_rows, write_csv


def predict(
    model: Annotated[Path, typer.Argument(help="A model, as written by goct fit --save.")],
    data: Annotated[Path, typer.Argument(help="A CSV file with the columns that the tree needs.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this CSV file.")
    ] = None,
    column: Annotated[str, typer.Option(help="What to call the new column.")] = "prediction",
    only: Annotated[bool, typer.Option("--only", help="Write nothing but the new column.")] = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict the class of every row, and write the rows with a column more."""
    check_outputs([model, data], [output])
    tree = Model.load(model)
    dialect = find_dialect(data, delimiter, decimal, encoding)
    names, _ = read_header(data, dialect)
    if absent := [name for name in tree.columns if name not in names]:
        raise UsageError(
            f"{data}: the tree needs the column {', '.join(map(repr, absent))}, which is not there"
        )
    if column in names and not only:
        raise UsageError(f"{data}: there is a column {column!r} already; choose another --column")
    verbatim = None
    if tree.missing_words is None:
        verbatim = {name: set(map(str, c.levels or ())) for name, c in tree.columns.items()}
    else:
        dialect = replace(dialect, missing_words=tree.missing_words)
    kinds = {name: c.kind for name, c in tree.columns.items() if c.kind != "unknown"}
    table = read_csv(
        data,
        kinds=kinds,
        only=list(tree.columns) or [name for name in names if name is not None][:1],
        verbatim=verbatim,
        dialect=dialect,
    )
    labels = tree.predict(table)
    if not quiet:
        _note_unknown_levels(tree, table)

    def rows() -> Iterator[list[Any]]:
        lines = read_rows(data, dialect)
        head = next(lines)
        yield [column] if only else [*head, column]
        for row, label in zip(lines, labels.tolist(), strict=True):
            yield [label] if only else [*row, label]

    lines = rows()
    head = next(lines)
    if output is None:
        write_csv(sys.stdout, head, lines)
        sys.stdout.flush()
        return
    with atomic_write(output) as file:
        write_csv(file, head, lines)
    if not quiet:
        counts = {label: int((labels == label).sum()) for label in tree.classes}
        shares = ", ".join(f"{count} {one_line(str(label))}" for label, count in counts.items())
        note(f"written: {output} ({table.n_rows} rows: {shares})")


def _note_unknown_levels(tree: Model, table: Table) -> None:
    for name, levels in tree.unknown_levels(table).items():
        shown = ", ".join(map(repr, list(levels)[:5])) + (", ..." if len(levels) > 5 else "")
        note(
            f"note: column {name!r} has categories that the tree has not seen ({shown}, in "
            f"{sum(levels.values())} rows); they meet no condition on it"
        )
