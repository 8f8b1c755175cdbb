"""From a CSV file to a learning problem, for the commands that learn."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import suggest
from goct.binarize.plain import PlainBinarizer
from goct.cli.guard import UsageError, note
from goct.cli.options import GoalOptions, LearningOptions
from goct.data import Table, TableFile, read_csv
from goct.data.csv_file import read_header
from goct.metrics import Metric, choose_metric, get_metric
from goct.model import Model, Part, Source, columns_of
from goct.problem import Problem
from goct.solution import Solution

MAX_CLASSES = 50
_MANY_NUMBERS = 20
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table with a target, split and turned into conditions.

    `table`, `labels` and `goal` are the training part as it is, its labels, and what its cuts shall
    tell apart; `seconds` is how long the conditions took.
    """

    binarizer: PlainBinarizer
    train: Problem
    test: Problem | None  # None unless asked for
    source: Source
    missing_words: Collection[str]
    notes: tuple[str, ...]
    table: Table
    labels: NDArray[Any]
    goal: NDArray[Any]
    seconds: float

    def model(self, solution: Solution) -> Model:
        """Return a tree with all that people keep of it, but for rivals."""
        model = Model.from_solution(
            solution,
            self.binarizer.conditions_,
            source=self.source,
            columns=columns_of(self.binarizer),
            missing_words=self.missing_words,
        )
        assert solution.tree is not None
        test = None if self.test is None else Part.of(solution.tree, self.test, solution.metric)
        return replace(model, test=test, notes=self.notes)


def prepare(
    path: Path,
    options: LearningOptions,
    *,
    one_vs_rest: bool,
    test_size: float = 0.0,
    seed: int = 0,
) -> Prepared:
    """Read a table and prepare it for learning; every problem with it is a clear error.

    If `one_vs_rest`, the positive class stands against all others, so that cuts need not tell those
    apart. The share `test_size` of each class is held back; the seed decides which rows.
    """
    kinds = dict.fromkeys(options.categorical or (), "category")
    file = TableFile.find(path)
    dialect = options.dialect(file, options.missing or ())
    target = column_at(options.target, read_header(file, dialect)[0])
    if target in (options.ignore or ()):
        raise UsageError(f"the target {target!r} cannot be ignored")
    kinds |= {target: "category"}
    table = read_csv(file, kinds=kinds, ignore=options.ignore or (), dialect=dialect)
    notes = list(table.notes)
    if options.drop_missing_target:
        table = _with_target(table, target, notes)
    labels, classes, positive = _labels(table, target, options.positive, notes)
    features = table.without({target})
    if not features.columns:
        raise UsageError(f"{file}: there is no column to learn from besides {target!r}")
    test_rows = _test_rows(labels, test_size, seed)
    train_table = features.take(~test_rows)
    goal = labels[~test_rows]
    if one_vs_rest and positive is not None:
        goal = goal == classes[positive]
    started = time.perf_counter()
    binarizer = PlainBinarizer(options.binarizer, options.thresholds, drop_ids=options.ids)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        binarizer.fit(train_table, goal)
    notes += [str(warning.message) for warning in caught]
    notes += [_about_id(name, binarizer) for name in binarizer.id_columns_]

    def problem(part: Table, chosen: NDArray[np.bool_]) -> Problem:
        return Problem.from_columns(
            part,
            labels[chosen],
            binarizer=binarizer,
            classes=classes,
            pos_label=None if positive is None else classes[positive],
        )

    train = problem(train_table, ~test_rows)
    seconds = time.perf_counter() - started
    test = problem(features.take(test_rows), test_rows) if test_rows.any() else None
    if not options.quiet:
        for text in notes:
            note(f"note: {text}")
    name = path.name if file.name == str(path) else file.name
    source = Source(name, target, len(features.columns), len(binarizer.conditions_))
    return Prepared(
        binarizer,
        train,
        test,
        source,
        dialect.missing_words,
        tuple(notes),
        train_table,
        labels[~test_rows],
        np.asarray(goal),
        seconds,
    )


def prepare_for(options: GoalOptions) -> tuple[Prepared, Metric]:
    """Prepare a table for a metric or "auto"; one of one class needs to know which of several."""
    metric = options.metric
    one_vs_rest = metric == "auto" or get_metric(metric).is_binary
    prepared = prepare(options.data, options, one_vs_rest=one_vs_rest, **options.held_back)
    train = prepared.train
    has_positive = train.positive is not None
    goal = choose_metric(metric, train.n_classes, one_vs_rest=has_positive)
    if goal.is_binary and train.n_classes > 2 and not has_positive:
        classes = ", ".join(map(repr, train.classes))
        raise UsageError(
            f"{goal.name} is about one class, and the target has {train.n_classes}: "
            f"{classes}; name one with --positive, or choose a metric such as accuracy"
        )
    return prepared, goal


def column_at(text: str, names: Sequence[str | None]) -> str:
    """Return the column that is meant by a name or a place, which counts from either end."""
    if text in names or not re.fullmatch(r"-?[1-9]\d{0,8}", text):
        return text
    place = int(text)
    if abs(place) > len(names):
        raise UsageError(
            f"there is no column {text!r}, and no place {text}: there are {len(names)}"
        )
    return names[place if place < 0 else place - 1] or text


def _about_id(name: str, binarizer: PlainBinarizer) -> str:
    """Say what became of a column that is different in every row."""
    if name in binarizer.dropped_columns_:
        return f"column {name!r} is different in every row, so it is left out; --keep-ids keeps it"
    return (
        f"column {name!r} is different in every row; if it only numbers the rows, leave it out "
        "with --drop-ids"
    )


def _with_target(table: Table, target: str, notes: list[str]) -> Table:
    """Return the table without rows that have no target, unless there are no others."""
    absent = np.array([value is None for value in table.columns[target]])
    if not absent.any() or absent.all():
        return table
    notes.append(
        f"{int(absent.sum())} of {table.n_rows} rows are left out, as they have no {target!r}"
    )
    return table.take(~absent)


def _labels(
    table: Table, target: str, positive: str | None, notes: list[str]
) -> tuple[NDArray[Any], tuple[Any, ...], int | None]:
    """Return the labels, the classes in order, and the place of the positive one.

    Labels that are all written as integers are integers. Others are text as in
    the file, but numbers among themselves are in the order of numbers.
    """
    values = table.columns[target]
    absent = np.array([value is None for value in values])
    if absent.all():
        raise UsageError(f"{table.path}: the target {target!r} has no value at all")
    if absent.any():
        first = int(absent.argmax())
        raise UsageError(
            f"{table.path}, line {table.line_of(first)}: the target {target!r} is missing, as in "
            f"{int(absent.sum())} of {table.n_rows} rows; leave them out with "
            "--drop-missing-target, or fill them in"
        )
    counts = Counter(values.tolist())
    numbers = {label: float(label) for label in counts if _NUMBER.fullmatch(label)}
    is_numeric = len(numbers) == len(counts)
    if is_numeric and len(counts) > _MANY_NUMBERS:
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
    classes = sorted(counts, key=lambda label: (numbers[label] if is_numeric else 0.0, label))
    for label, other in pairwise(classes):
        if is_numeric and numbers[label] == numbers[other]:
            notes.append(
                f"the target {target!r} is {label!r} in some rows and {other!r} in others: the "
                "same number, but two classes here"
            )
    place = _place_of_positive(table, target, positive, classes, numbers)
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", label) for label in counts):
        return values.astype(np.int64), tuple(map(int, classes)), place
    return values, tuple(classes), place


def _place_of_positive(
    table: Table, target: str, positive: str | None, classes: list[str], numbers: dict[str, float]
) -> int | None:
    if positive is None:
        return 1 if len(classes) == 2 else None
    if positive in classes:
        return classes.index(positive)
    if _NUMBER.fullmatch(positive):
        same = [i for i, label in enumerate(classes) if numbers.get(label) == float(positive)]
        if len(same) == 1:
            return same[0]
    raise UsageError(
        f"{table.path}: the target {target!r} is never {positive!r}" + suggest(positive, classes)
    )


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
