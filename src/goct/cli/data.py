"""From a CSV file to a learning problem, for the commands that learn."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray

from goct.binarize import Binarizer
from goct.cli.guard import UsageError, note
from goct.model import Source, known_classes
from goct.problem import Problem
from goct.table import Table, read_csv, suggest

MAX_CLASSES = 50
_MANY_NUMBERS = 20

Data: TypeAlias = Annotated[Path, typer.Argument(help="A CSV file with a line of column names.")]
Target: TypeAlias = Annotated[str, typer.Option(help="The column to predict.", metavar="COLUMN")]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(help="The positive class, such as yes. By default the last of two in order."),
]
Categorical: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="A column of codes, not numbers; may be repeated.", metavar="COLUMN"),
]
Ignore: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="A column to leave out; may be repeated.", metavar="COLUMN")
]
Method: TypeAlias = Annotated[
    str,
    typer.Option(help="Where to cut numbers: mdlp, quantiles, midpoints or none."),
]
Thresholds: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Thresholds per column at most.")
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(help="What separates the columns; found out by default.")
]
Decimal: TypeAlias = Annotated[
    str | None, typer.Option(help="The decimal point, '.' or ','; found out where it is clear.")
]
Encoding: TypeAlias = Annotated[
    str | None, typer.Option(help="The text encoding, such as cp1252; UTF-8 by default.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]


@dataclass(frozen=True, eq=False)
class Task:
    """A table with a target, split and turned into conditions.

    Attributes
    ----------
    binarizer
        The conditions.
    train, test
        The parts as problems over the conditions; no test part unless asked for.
    source
        Where the data is from.
    """

    binarizer: Binarizer
    train: Problem
    test: Problem | None
    source: Source


def load_task(
    path: Path,
    target: str,
    *,
    positive: str | None = None,
    categorical: list[str] | None = None,
    ignore: list[str] | None = None,
    method: str = "mdlp",
    thresholds: int | None = None,
    test_size: float = 0.0,
    seed: int = 0,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    quiet: bool = False,
) -> Task:
    """Read a table and prepare it for learning; every problem with it is a clear error."""
    if target in (ignore or ()):
        raise UsageError(f"the target {target!r} cannot be ignored")
    kinds = dict.fromkeys(categorical or (), "category")
    table = read_csv(
        path,
        kinds=kinds | {target: "category"},
        ignore=ignore or (),
        delimiter={"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter),
        decimal=decimal,
        encoding=encoding,
    )
    labels, positive_label = _labels(table, target, positive)
    features = table.without({target})
    if not features.columns:
        raise UsageError(f"{path}: there is no column to learn from besides {target!r}")
    notes = list(table.notes)
    test_rows = _test_rows(labels, test_size, seed)
    train_table = features.take(~test_rows)
    binarizer = Binarizer(method, thresholds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        binarizer.fit(train_table.columns_only(), labels[~test_rows])
    notes += [str(warning.message) for warning in caught]
    names = [condition.name for condition in binarizer.conditions_]

    def matrix(part: Table) -> NDArray[np.uint8]:
        return binarizer.transform(part.columns_only())

    train = Problem.from_arrays(
        matrix(train_table), labels[~test_rows], pos_label=positive_label, feature_names=names
    )
    test = None
    if test_rows.any():
        test = known_classes(
            matrix(features.take(test_rows)),
            labels[test_rows],
            names,
            train.classes,
            train.positive,
        )
    if not quiet:
        for text in notes:
            note(f"note: {text}")
    source = Source(path.name, target, len(features.columns), len(names))
    return Task(binarizer, train, test, source)


def _labels(
    table: Table, target: str, positive: str | None
) -> tuple[NDArray[Any], str | int | None]:
    """Return the labels, as integers where all of them are, and the positive one."""
    values = table.columns[target]
    absent = np.array([value is None for value in values])
    if absent.all():
        raise UsageError(f"{table.path}: the target {target!r} has no value at all")
    if absent.any():
        first = int(absent.argmax())
        raise UsageError(
            f"{table.path}, line {table.line_of(first)}: the target {target!r} is missing, as in "
            f"{int(absent.sum())} of {table.n_rows} rows; remove them or fill them in"
        )
    counts = Counter(values.tolist())
    numeric = all(re.fullmatch(r"[+-]?\d*\.?\d+([eE][+-]?\d+)?", label) for label in counts)
    if numeric and len(counts) > _MANY_NUMBERS:
        raise UsageError(
            f"{table.path}: the target {target!r} has {len(counts)} different numbers, so it is a "
            "quantity and not a class; make classes of it first, such as above and below a limit"
        )
    if len(counts) > MAX_CLASSES:
        raise UsageError(
            f"{table.path}: the target {target!r} has {len(counts)} different values; "
            f"at most {MAX_CLASSES} classes are possible"
        )
    if len(counts) == 1:
        raise UsageError(
            f"{table.path}: the target {target!r} is {next(iter(counts))!r} in every row; "
            "there is nothing to learn"
        )
    if positive is not None and positive not in counts:
        raise UsageError(
            f"{table.path}: the target {target!r} is never {positive!r}"
            + suggest(positive, list(counts))
        )
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", label) for label in counts):
        return values.astype(np.int64), None if positive is None else int(positive)
    return values, positive


def _test_rows(labels: NDArray[Any], test_size: float, seed: int) -> NDArray[np.bool_]:
    """Choose the rows to hold back, the same share of every class."""
    chosen = np.zeros(len(labels), dtype=bool)
    if test_size == 0:
        return chosen
    if not 0 < test_size < 1:
        raise UsageError(f"--test-size must be at least 0 and below 1, got {test_size:g}")
    rng = np.random.default_rng(seed)
    for label in sorted(set(labels.tolist())):
        rows = np.flatnonzero(labels == label)
        if len(rows) < 2:
            raise UsageError(
                f"the class {label!r} has one row only, so that none can be held back for a test"
            )
        share = min(max(round(test_size * len(rows)), 1), len(rows) - 1)
        chosen[rng.permutation(rows)[:share]] = True
    return chosen
