"""From a CSV file to a learning problem, for the commands that learn."""

from __future__ import annotations

import csv
import functools
import inspect
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import numpy as np
import typer
from numpy.typing import NDArray

from goct._deadline import deadline
from goct._validation import suggest
from goct.binarize.plain import PlainBinarizer
from goct.cli.guard import UsageError, note
from goct.data import Table, TableFile, find_dialect, read_csv
from goct.data.csv_file import read_header
from goct.metrics import Metric, choose_metric, get_metric
from goct.model import Model, Part, Source, columns_of
from goct.problem import Problem
from goct.solution import Solution
from goct.task import SizeLimit

MAX_CLASSES = 50
_DEPTH = 3
_MANY_NUMBERS = 20
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")

Data: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="A CSV file, the names of its columns first, compressed or not; - for standard input. "
        "Parquet and Excel files, too, with the extra 'tables'."
    ),
]
DateFormat: TypeAlias = Annotated[
    str | None,
    typer.Option(help="How dates are written, such as %d.%m.%Y; ISO 8601 is always read."),
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
NoHeader: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The file has no line of column names; they are column_1, column_2, and so on.",
    ),
]
Names: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C", help="The names of the columns, of a file without a line of them."
    ),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
TestSize: TypeAlias = Annotated[
    float, typer.Option(help="The share of rows to hold back for a test, such as 0.25.")
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Decides which rows are held back.")]
Conditions: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="A condition such as 'recall >= 0.9'; may be repeated.")
]


_MOST_DEPTH = 10
_BY_DEFAULT = -1  # the depth if none is given


def _read_depth(text: str | int) -> int | None:
    if str(text).lower() in ("any", "none"):
        return None
    if text == _BY_DEFAULT:
        return _BY_DEFAULT
    try:
        depth = int(text)
    except ValueError:
        depth = -1
    if not 0 <= depth <= _MOST_DEPTH:
        raise typer.BadParameter(f"{text!r} is not a number from 0 to {_MOST_DEPTH}, or any")
    return depth


def _read_jobs(text: str | int) -> int:
    if not re.fullmatch(r"-1|[1-9]\d{0,5}", str(text)):
        raise typer.BadParameter(f"{text!r} is not a number from 1 on, or -1")
    return int(text)


@dataclass(frozen=True)
class LearningOptions:
    """The options of all commands that learn from a CSV file, see :func:`learning`."""

    target: Annotated[
        str,
        typer.Option(
            help="The column to predict: its name, or its place, such as 3, or -1 for the last.",
            metavar="COLUMN",
        ),
    ]
    positive: Annotated[
        str | None,
        typer.Option(help="The positive class, such as yes. By default the last of two in order."),
    ] = None
    depth: Annotated[
        int | None,
        typer.Option(
            parser=_read_depth,
            metavar="DEPTH",
            show_default="3, and 4 if the size is tuned",
            help="The largest depth, up to 10; or any, with a split penalty or --max-splits.",
        ),
    ] = _BY_DEFAULT
    max_splits: Annotated[int | None, typer.Option(min=0, help="Splits at most.")] = None
    time_limit: Annotated[float | None, typer.Option(min=0.01, help="Seconds at most.")] = None
    n_jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "--n-jobs",
            parser=_read_jobs,
            metavar="INTEGER",
            help="Threads of the engine; -1 for all processors.",
        ),
    ] = 1
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask cluster whose workers share the work, such as tcp://host:8786.",
        ),
    ] = None
    binarizer: Annotated[
        str,
        typer.Option(
            help="Where to cut numbers: auto, mdlp, quantiles, midpoints, exact (anywhere), none."
        ),
    ] = "auto"
    thresholds: Annotated[
        int | None, typer.Option(min=1, help="Thresholds per column at most.")
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="A column of codes, not numbers; may be repeated.", metavar="COLUMN"),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out; may be repeated.", metavar="COLUMN"),
    ] = None
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Leave out rows without a target.")
    ] = False
    missing: Annotated[
        list[str] | None,
        typer.Option(help="A word for missing values, such as '<5'; may be repeated."),
    ] = None
    date_format: DateFormat = None
    drop_ids: Annotated[
        bool | None,
        typer.Option(
            "--drop-ids/--keep-ids",
            help="Whether to leave out columns that are different in every row; by default those "
            "of text.",
        ),
    ] = None
    delimiter: Delimiter = None
    decimal: Decimal = None
    encoding: Encoding = None
    no_header: NoHeader = False
    names: Names = None
    quiet: Quiet = False

    def size(self, max_splits: int | None, min_leaf: int | None) -> SizeLimit:
        """Return the size limit, where the size is not tuned."""
        return SizeLimit(self.max_depth, max_splits, min_samples_leaf=min_leaf or 0)

    @property
    def ids(self) -> bool | str:
        """Which columns that are different in every row are left out."""
        return "text" if self.drop_ids is None else self.drop_ids

    @cached_property
    def executor(self) -> Any:
        """The client of the cluster; None without one."""
        if self.scheduler is None:
            return None
        from goct.search.cluster import connect

        return connect(self.scheduler)

    def close(self) -> None:
        """Leave the cluster."""
        if (client := self.__dict__.get("executor")) is not None:
            client.close()

    @property
    def max_depth(self) -> int | None:
        """The largest depth, where the size is not tuned."""
        return self.depth_or(_DEPTH)

    def depth_or(self, default: int) -> int | None:
        """Return the depth, or a default if none was given."""
        return default if self.depth == _BY_DEFAULT else self.depth


def learning(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all :class:`LearningOptions`, which it takes as its argument `options`."""
    names = [option.name for option in fields(LearningOptions)]
    shared = get_type_hints(LearningOptions, include_extras=True)
    own = get_type_hints(command, include_extras=True)
    parameters: dict[str, inspect.Parameter] = {}
    for parameter in inspect.signature(command).parameters.values():
        for option in fields(LearningOptions) if parameter.name == "options" else ():
            default = parameter.empty if option.default is MISSING else option.default
            parameters[option.name] = inspect.Parameter(
                option.name, parameter.KEYWORD_ONLY, default=default, annotation=shared[option.name]
            )
        if parameter.name != "options":
            parameters[parameter.name] = parameter.replace(
                kind=parameter.KEYWORD_ONLY, annotation=own[parameter.name]
            )

    @functools.wraps(command)
    def run(**given: Any) -> None:
        options = LearningOptions(**{name: given.pop(name) for name in names})
        with deadline(options.time_limit), closing(options):
            command(options=options, **given)

    signature = inspect.Signature(list(parameters.values()))
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: p.annotation for name, p in parameters.items()}
    return run


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
    dialect = find_dialect(
        file,
        read_delimiter(options.delimiter),
        options.decimal,
        options.encoding,
        missing=options.missing or (),
        date_format=options.date_format,
        names=read_names(options.names, options.no_header),
    )
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


def prepare_for(
    metric: str, path: Path, options: LearningOptions, **how: Any
) -> tuple[Prepared, Metric]:
    """Prepare a table for a metric or "auto"; one of one class needs to know which of several."""
    one_vs_rest = metric == "auto" or get_metric(metric).is_binary
    prepared = prepare(path, options, one_vs_rest=one_vs_rest, **how)
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


def read_delimiter(text: str | None) -> str | None:
    """Return the delimiter that is meant by an option."""
    return {"tab": "\t", "\\t": "\t"}.get(text or "", text)


def read_names(text: str | None, no_header: bool) -> Sequence[str] | None:
    """Return the names of columns that are meant by options; None if the file has them."""
    if text is None:
        return () if no_header else None
    return next(csv.reader([text]), [])


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
