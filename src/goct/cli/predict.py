"""``goct predict``: a tree applied to a CSV file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from goct._text import confusion_table, one_line
from goct.cli.data import column_at
from goct.cli.guard import UsageError, check_outputs, note
from goct.cli.options import PredictOptions, command
from goct.data import Dialect, Table, TableFile, read_csv
from goct.data.csv_file import read_header, read_rows, write_csv
from goct.files import atomic_write
from goct.model import Model
from goct.probabilities import Smoothing


@command
def predict(options: PredictOptions) -> None:
    """Predict the class of every row, and write the rows with a column more."""
    check_outputs([options.model, options.data], [options.output])
    tree = Model.load(options.model)
    file = TableFile.find(options.data)
    dialect = options.dialect(file)
    found, _ = read_header(file, dialect)
    if absent := [name for name in tree.columns if name not in found]:
        columns, are = ("column", "is") if len(absent) == 1 else ("columns", "are")
        raise UsageError(
            f"{file}: the tree needs the {columns} {', '.join(map(repr, absent))}, "
            f"which {are} not there"
        )
    if options.smoothing is not None:
        tree = replace(tree, smoothing=Smoothing.read(options.smoothing))
    column, only, proba, target = options.column, options.only, options.proba, options.target
    new = [column, *(f"{column} {label}" for label in tree.classes if proba)]
    for name in new:
        if name in found and not only:
            raise UsageError(f"{file}: there is a column {name!r} already; choose another --column")
    if target is not None:
        target = column_at(target, found)
    elif tree.source.target in found:
        target = tree.source.target
    table = _read(tree, file, dialect, found, target)
    labels = tree.predict(table)
    shares = tree.predict_proba(table).round(6).tolist() if proba else [[]] * table.n_rows
    if not options.quiet:
        for text in table.notes:
            note(f"note: {text}")
        _note_unknown_levels(tree, table)
        if target is not None:
            _compare(tree, table, target)
    lines = islice(read_rows(file, dialect), 0 if dialect.names is not None else 1, None)
    head = [name or "" for name in found]
    cells = zip(lines, labels.tolist(), shares, strict=True)
    rows: Iterator[list[Any]] = (
        [*([] if only else row), label, *share] for row, label, share in cells
    )
    write = partial(write_csv, names=[*([] if only else head), *new], rows=rows)
    if options.output is None:
        write(sys.stdout, delimiter=dialect.delimiter)
        sys.stdout.flush()
        return
    with atomic_write(options.output) as written:
        write(written, delimiter=dialect.delimiter)
    if not options.quiet:
        counts = {label: int((labels == label).sum()) for label in tree.classes}
        shares = ", ".join(f"{count} {one_line(str(label))}" for label, count in counts.items())
        note(f"written: {options.output} ({table.n_rows} rows: {shares})")


def _read(
    tree: Model, data: TableFile, dialect: Dialect, names: list[str | None], target: str | None
) -> Table:
    """Read the columns that the tree needs, and the one to compare with, as they were learned."""
    if target in tree.columns:
        raise UsageError(f"the tree looks at the column {target!r}, so it cannot be the target")
    verbatim = None
    if tree.missing_words is None:
        verbatim = {name: set(map(str, c.levels or ())) for name, c in tree.columns.items()}
    else:
        dialect = replace(dialect, missing_words=tree.missing_words)
    kinds = {name: c.kind for name, c in tree.columns.items() if c.kind != "unknown"}
    if target is not None:
        kinds[target] = "category"
    only = {*tree.columns, *kinds} or [name for name in names if name is not None][:1]
    return read_csv(data, kinds=kinds, only=only, verbatim=verbatim, dialect=dialect)


def _compare(tree: Model, table: Table, target: str) -> None:
    """Say how well the predictions agree with a column of the right classes."""
    label_of = {str(label): label for label in tree.classes}
    cells = table.columns[target]
    known = np.array([cell in label_of for cell in cells])
    if strange := {cell for cell in cells[~known] if cell is not None}:
        shown = ", ".join(map(repr, sorted(strange)[:5])) + (", ..." if len(strange) > 5 else "")
        note(f"note: column {target!r} has classes that the tree does not know ({shown})")
    if not known.all():
        note(f"note: {int((~known).sum())} rows without a known class are not compared")
    if not known.any():
        return
    part = tree.part(table.take(known), [label_of[cell] for cell in cells[known]])
    note(confusion_table(tree.confusion_matrix(part), tree.classes))
    value = "not defined" if part.value is None else str(part.value)
    note(f"\n{one_line(tree.question.metric)} on {int(known.sum())} rows: {value}")


def _note_unknown_levels(tree: Model, table: Table) -> None:
    for name, levels in tree.unknown_levels(table).items():
        shown = ", ".join(map(repr, list(levels)[:5])) + (", ..." if len(levels) > 5 else "")
        note(
            f"note: column {name!r} has categories that the tree has not seen ({shown}, in "
            f"{sum(levels.values())} rows); they meet no condition on it"
        )
