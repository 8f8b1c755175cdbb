"""From a CSV file to a learning problem, for the commands that learn."""

from __future__ import annotations

import re
import shlex
import time
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import suggest
from goct.binarize.plain import PlainBinarizer
from goct.cli.guard import UsageError, note
from goct.cli.options import GoalOptions, LearningOptions
from goct.cli.suspects import notes_on
from goct.data import Table, TableFile, read_csv
from goct.data.csv_file import read_header
from goct.metrics import ClassCost, CostMatrix, Metric, choose_metric, get_metric
from goct.model import Model, Part, Source, columns_of
from goct.problem import Problem
from goct.solution import Solution

MAX_CLASSES = 50
_MANY_NUMBERS = 20
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table with a target, split and turned into conditions.

    `table`, `labels`, `goal` and `weights` are the training part as it is, its labels, what its
    cuts shall tell apart, and how often its rows count; `seconds` is how long conditions took.
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
    weights: NDArray[Any] | None
    class_weight: str | dict[Any, Fraction] | None
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
    names, _ = read_header(file, dialect)
    target = column_at(options.target, names)
    weight = None if options.weight is None else column_at(options.weight, names)
    if target in (options.ignore or ()):
        raise UsageError(f"the target {target!r} cannot be ignored")
    kinds |= {target: "category"}
    if weight is not None:
        kinds |= {weight: "number"}
    table = read_csv(file, kinds=kinds, ignore=options.ignore or (), dialect=dialect)
    notes = list(table.notes)
    if options.drop_missing_target:
        table = _with_target(table, target, notes)
    has_codes = target in (options.categorical or ())
    labels, classes, positive = _labels(table, target, options.positive, notes, has_codes)
    weights = None if weight is None else _weights(table, weight)
    class_weight = _class_weight(options.class_weight, classes)
    features = table.without({target, weight or target})
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
        binarizer.fit(train_table, goal, None if weights is None else weights[~test_rows])
    notes += [str(warning.message) for warning in caught]
    notes += [_about_id(name, binarizer) for name in binarizer.id_columns_]
    notes += notes_on(train_table, goal)

    def problem(part: Table, chosen: NDArray[np.bool_]) -> Problem:
        return Problem.from_columns(
            part,
            labels[chosen],
            binarizer=binarizer,
            classes=classes,
            pos_label=None if positive is None else classes[positive],
            sample_weight=None if weights is None else weights[chosen],
            class_weight=class_weight,
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
        None if weights is None else weights[~test_rows],
        class_weight,
        seconds,
    )


def prepare_for(options: GoalOptions) -> tuple[Prepared, Metric]:
    """Prepare a table for a metric; one of one class needs to know which of several."""
    one_vs_rest = options.is_one_vs_rest
    prepared = prepare(options.data, options, one_vs_rest=one_vs_rest, **options.held_back)
    train = prepared.train
    has_positive = train.positive is not None
    goal = goal_of(options, train)
    if goal.is_binary and train.n_classes > 2 and not has_positive:
        classes = ", ".join(map(repr, train.classes))
        raise UsageError(
            f"{goal.name} is about one class, and the target has {train.n_classes}: "
            f"{classes}; name one with --positive, or choose a metric such as accuracy"
        )
    return prepared, goal


def goal_of(options: GoalOptions, train: Problem) -> Metric:
    """Return what is maximised: a metric, or minus the costs of the options."""
    if options.cost is None:
        goal = choose_metric(
            options.metric,
            train.n_classes,
            one_vs_rest=train.positive is not None,
            has_class_weight=options.class_weight is not None,
        )
        if isinstance(goal, ClassCost):
            given = " ".join(f"--cost {shlex.quote(f'{c}=1')}" for c in train.classes)
            raise UsageError(
                f"{goal.name} needs prices: {given}, or what it costs to take a row of that class "
                "for another one"
            )
        return goal
    if options.metric != "auto" and not isinstance(get_metric(options.metric), ClassCost):
        raise UsageError(f"--cost gives prices, which --metric {options.metric} does not look at")
    prices = _prices(options.cost, [str(c) for c in train.classes])
    is_plain = train.positive is not None and len(prices) == 2
    if not is_plain or any(prices[k][j] < 0 or prices[k][k] for k, j in ((0, 1), (1, 0))):
        return CostMatrix(prices)
    k = train.positive or 0
    return ClassCost(false_negative=prices[k][1 - k], false_positive=prices[1 - k][k])


def _prices(texts: Sequence[str], classes: Sequence[str]) -> list[list[Fraction]]:
    """Return the price of each class taken for each one; those of a pair go before."""
    wide: dict[int, Fraction] = {}
    exact = {(k, k): Fraction(0) for k in range(len(classes))}
    for text in texts:
        name, price = number_of(text, "--cost", "bad=5", r"-?")
        pairs = [(name[: m.start()], name[m.end() :]) for m in re.finditer(":", name)]
        pair = next((both for both in pairs if {*both} <= {*classes}), None)
        if pair is None:
            wide[_place(name, classes, "--cost")] = price
        else:
            exact[classes.index(pair[0]), classes.index(pair[1])] = price
    for k, true in enumerate(classes):
        for j, other in enumerate(classes):
            if (k, j) not in exact and k not in wide:
                raise UsageError(
                    f"there is no price for {true!r} taken for {other!r}; give one, such as "
                    f"--cost {shlex.quote(f'{true}=1')}"
                )
    everywhere = range(len(classes))
    return [[exact[k, j] if (k, j) in exact else wide[k] for j in everywhere] for k in everywhere]


def _class_weight(
    texts: Sequence[str] | None, classes: Sequence[Any]
) -> str | dict[Any, Fraction] | None:
    """Return the weights of classes as :class:`goct.Problem` takes them."""
    if texts is None or texts == ["balanced"]:
        return None if texts is None else "balanced"
    given = [number_of(text, "--class-weight", "bad=5") for text in texts]
    names = [str(label) for label in classes]
    return {classes[_place(name, names, "--class-weight")]: number for name, number in given}


def number_of(text: str, option: str, example: str, sign: str = "") -> tuple[str, Fraction]:
    """Return the name and the number of a text like the example."""
    name, _, number = text.rpartition("=")
    if not name or not re.fullmatch(rf"{sign}\d{{1,15}}(\.\d{{1,9}})?", number):
        raise UsageError(f"{option} must be like {example}, got {text!r}")
    return name, Fraction(number)


def _place(name: str, classes: Sequence[str], option: str) -> int:
    if name not in classes:
        raise UsageError(f"{option}: {name!r} is no class of the target{suggest(name, classes)}")
    return classes.index(name)


def _weights(table: Table, name: str) -> NDArray[Any]:
    """Return how often each row counts."""
    values = table.columns[name]
    wrong = ~(values >= 0)
    if wrong.any():
        row = int(wrong.argmax())
        what = "missing" if np.isnan(values[row]) else f"{values[row]:g}, which is negative"
        raise UsageError(f"{table.path}, line {table.line_of(row)}: the weight {name!r} is {what}")
    if not values.any():
        raise UsageError(f"{table.path}: the weight {name!r} is 0 in every row")
    is_whole = (values % 1 == 0).all() and values.max() < 2**53
    return values.astype(np.int64) if is_whole else values


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
    table: Table, target: str, positive: str | None, notes: list[str], has_codes: bool
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
    if is_numeric and len(counts) > _MANY_NUMBERS and not has_codes:
        few = len(counts) <= MAX_CLASSES
        how = f"; --categorical {shlex.quote(target)} takes each number for a class" if few else ""
        raise UsageError(
            f"{table.path}: the target {target!r} has {len(counts)} different numbers, so it is a "
            "quantity and not a class; make classes of it first, such as above and below a limit"
            + how
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
