"""The options of the commands: each is declared once, and a command takes one object of them."""

from __future__ import annotations

import csv
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints

import typer

from goct._deadline import deadline
from goct.data import Dialect, TableFile, find_dialect
from goct.metrics import get_metric
from goct.task import SizeLimit
from goct.tree import MAX_DEPTH

_DEPTH = 3
_BY_DEFAULT = -1  # the depth if none is given
_LEAST_SECONDS = 0.01
_SECONDS = 60.0  # of goct fit and explore

# The panels of --help, in their order.
_PANELS = (
    "What to learn",
    "Which trees",
    "What they must keep",
    "Output",
    "How to read the file",
    "How to search",
)
Learn, Trees, Keep, Output, Reading, Searching = (
    partial(typer.Option, rich_help_panel=panel) for panel in _PANELS
)

Data: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="A CSV file, the names of its columns first, compressed or not; - for standard input. "
        "Parquet and Excel files, too, with the extra 'tables'."
    ),
]
Conditions: TypeAlias = Annotated[
    list[str] | None,
    Keep(help="A condition such as 'recall >= 0.9' or 'alerts <= 20%'; may be repeated."),
]
Save: TypeAlias = Annotated[Path | None, Output(help="Write the tree to this JSON file.")]
Report: TypeAlias = Annotated[Path | None, Output(help="Write a report to this HTML file.")]
Table: TypeAlias = Annotated[
    Path | None, Output("--output", "-o", help="Write the table to this CSV file.")
]
Plot: TypeAlias = Annotated[Path | None, Output(help="Draw it into this PNG, SVG or PDF file.")]

O = TypeVar("O", bound="Options")  # noqa: E741


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of all commands that read a table."""

    no_header: Annotated[
        bool,
        Reading(
            "--no-header",
            help="The file has no line of column names; they are column_1, column_2, and so on.",
        ),
    ] = False
    names: Annotated[
        str | None,
        Reading(
            metavar="A,B,C", help="The names of the columns, of a file without a line of them."
        ),
    ] = None
    delimiter: Annotated[
        str | None, Reading(help="What separates the columns; found out by default.")
    ] = None
    decimal: Annotated[
        str | None, Reading(help="The decimal point, '.' or ','; found out where it is clear.")
    ] = None
    encoding: Annotated[
        str | None, Reading(help="The text encoding, such as cp1252; UTF-8 by default.")
    ] = None
    date_format: Annotated[
        str | None,
        Reading(help="How dates are written, such as %d.%m.%Y; ISO 8601 is always read."),
    ] = None
    quiet: Annotated[bool, Output("--quiet", "-q", help="Say nothing but errors.")] = False

    def dialect(self, file: TableFile, missing: Sequence[str] = ()) -> Dialect:
        """Find out how a file is written."""
        delimiter = {"tab": "\t", "\\t": "\t"}.get(self.delimiter or "", self.delimiter)
        names: Sequence[str] | None = () if self.no_header else None
        if self.names is not None:
            names = next(csv.reader([self.names]), [])
        return find_dialect(
            file,
            delimiter,
            self.decimal,
            self.encoding,
            missing=missing,
            date_format=self.date_format,
            names=names,
        )

    def running(self) -> AbstractContextManager[Any]:
        """Return what a command runs in."""
        return nullcontext()


def _read_depth(text: str | int) -> int | None:
    if str(text).lower() in ("any", "none"):
        return None
    if text == _BY_DEFAULT:
        return _BY_DEFAULT
    try:
        depth = int(text)
    except ValueError:
        depth = -1
    if not 0 <= depth <= MAX_DEPTH:
        raise typer.BadParameter(f"{text!r} is not a number from 0 to {MAX_DEPTH}, or any")
    return depth


def _read_seconds(text: str | float) -> float | None:
    if str(text).lower() == "none":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds >= _LEAST_SECONDS:  # not a number is none
        raise typer.BadParameter(f"{text!r} is not a number from {_LEAST_SECONDS} on, or none")
    return seconds


Seconds: TypeAlias = Annotated[
    float | None,
    Searching(
        "--time-limit", parser=_read_seconds, metavar="SECONDS", help="Seconds at most, or none."
    ),
]


def _read_jobs(text: str | int) -> int:
    if not re.fullmatch(r"-1|[1-9]\d{0,5}", str(text)):
        raise typer.BadParameter(f"{text!r} is not a number from 1 on, or -1")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class LearningOptions(Options):
    """The options of all commands that learn from a table."""

    target: Annotated[
        str,
        Learn(
            help="The column to predict: its name, or its place, such as 3, or -1 for the last.",
            metavar="COLUMN",
        ),
    ]
    positive: Annotated[
        str | None,
        Learn(help="The positive class, such as yes. By default the last of two in order."),
    ] = None
    class_weight: Annotated[
        list[str] | None,
        Learn(
            help="How often a row of a class counts, such as bad=5, or balanced; may be repeated.",
            metavar="CLASS=NUMBER",
        ),
    ] = None
    weight: Annotated[
        str | None,
        Learn(help="A column that says how often each row counts.", metavar="COLUMN"),
    ] = None
    ignore: Annotated[
        list[str] | None,
        Learn(help="A column to leave out; may be repeated.", metavar="COLUMN"),
    ] = None
    depth: Annotated[
        int | None,
        Trees(
            parser=_read_depth,
            metavar="DEPTH",
            show_default="3, and 4 if the size is tuned",
            help=f"The largest depth, up to {MAX_DEPTH}; or any, with a split penalty or "
            "--max-splits.",
        ),
    ] = _BY_DEFAULT
    max_splits: Annotated[int | None, Trees(min=0, help="Splits at most.")] = None
    binarizer: Annotated[
        str,
        Trees(
            help="Where to cut numbers: auto, mdlp, quantiles, midpoints, exact (anywhere), none."
        ),
    ] = "auto"
    thresholds: Annotated[int | None, Trees(min=1, help="Thresholds per column at most.")] = None
    categorical: Annotated[
        list[str] | None,
        Reading(
            help="A column of codes, not numbers; or the target, if each number is a class; may be "
            "repeated.",
            metavar="COLUMN",
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        Reading(help="A word for missing values, such as '<5'; may be repeated."),
    ] = None
    drop_missing_target: Annotated[
        bool, Reading("--drop-missing-target", help="Leave out rows without a target.")
    ] = False
    drop_ids: Annotated[
        bool | None,
        Reading(
            "--drop-ids/--keep-ids",
            help="Whether to leave out columns that are different in every row; by default those "
            "of text.",
        ),
    ] = None
    time_limit: Seconds = None
    n_jobs: Annotated[
        int,
        Searching(
            "--jobs",
            "--n-jobs",
            parser=_read_jobs,
            metavar="INTEGER",
            help="Threads of the engine; -1 for all processors.",
        ),
    ] = 1
    scheduler: Annotated[
        str | None,
        Searching(
            metavar="ADDRESS",
            help="A Dask cluster whose workers share the work, such as tcp://host:8786.",
        ),
    ] = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Keep the time limit, and leave the cluster at the end."""
        with deadline(self.time_limit), closing(self):
            yield

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


@dataclass(frozen=True, kw_only=True)
class GoalOptions(LearningOptions):
    """The options of commands that maximise a metric on a table."""

    data: Data
    metric: Annotated[
        str,
        Learn(
            help="What to maximise; see goct metrics. By default f1, and accuracy if "
            "there are more than two classes and none is named by --positive."
        ),
    ] = "auto"

    cost: Annotated[
        list[str] | None,
        Learn(
            help="What it costs to take a row of a class for another one, such as bad=5, or for "
            "a certain one, such as bad:good=5; for each class. The total is minimised.",
            metavar="CLASS=PRICE",
        ),
    ] = None

    @property
    def is_one_vs_rest(self) -> bool:
        """Whether the metric is about one class against the rest, if it is not chosen yet."""
        if self.cost is not None:
            return False
        return self.metric == "auto" or get_metric(self.metric).is_binary

    @property
    def held_back(self) -> dict[str, Any]:
        """Which rows are held back for a test."""
        return {}


@dataclass(frozen=True, kw_only=True)
class TestOptions(GoalOptions):
    """The options of commands that can hold back rows for a test."""

    test_size: Annotated[
        float, Learn(help="The share of rows to hold back for a test, such as 0.25.")
    ] = 0.0
    seed: Annotated[int, Learn(min=0, help="Decides which rows go where.")] = 0

    @property
    def held_back(self) -> dict[str, Any]:
        """Which rows are held back for a test."""
        return {"test_size": self.test_size, "seed": self.seed}


@dataclass(frozen=True, kw_only=True)
class FitOptions(TestOptions):
    """The options of ``goct fit``."""

    time_limit: Seconds = _SECONDS
    splits: Annotated[
        str,
        Trees(
            help="The number of splits: auto to choose it by cross-validation, or at most so many.",
            metavar="auto|NUMBER",
        ),
    ] = "auto"
    no_tune: Annotated[
        bool, Trees("--no-tune", help="Take the best tree of the depth, however large.")
    ] = False
    split_penalty: Annotated[
        float, Trees(min=0, help="The price of a split, in the metric's own unit.")
    ] = 0.0
    min_leaf: Annotated[
        int | None,
        Trees(
            min=0,
            help="Rows in a leaf at least; by default 1, or the best of 5, 10 and 20 if the size "
            "is tuned.",
        ),
    ] = None
    constraint: Conditions = None
    forbid: Annotated[
        list[str] | None,
        Keep(help="A column to keep out of the tree; may be repeated.", metavar="COLUMN"),
    ] = None
    require: Annotated[
        list[str] | None,
        Keep(help="A column that the tree has to use; may be repeated.", metavar="COLUMN"),
    ] = None
    max_columns: Annotated[
        int | None, Keep(min=0, help="Different columns in the tree at most.")
    ] = None
    column_cost: Annotated[
        list[str] | None,
        Keep(
            help="What a column costs, such as 'mri=250'; may be repeated, others are free.",
            metavar="COLUMN=COST",
        ),
    ] = None
    budget: Annotated[
        float | None, Keep(help="What the columns of the tree may cost together.")
    ] = None
    save: Save = None
    report: Report = None
    certificate: Annotated[
        Path | None, Output(help="Write the proof to this file, for goct verify.")
    ] = None
    engine: Annotated[
        str, Searching(help="What finds the tree: search, mip, or auto to let goct choose.")
    ] = "auto"
    formulation: Annotated[
        str | None, Searching(help="The model of the MIP engine, such as flow.")
    ] = None
    backend: Annotated[str | None, Searching(help="Its solver: scip, gurobi or highs.")] = None


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(TestOptions):
    """The options of ``goct explore``."""

    time_limit: Seconds = _SECONDS
    min_leaf: Annotated[
        int | None,
        Trees(min=0, help="Rows in a leaf at least; chosen by the folds, if not given."),
    ] = None
    folds: Annotated[int, Trees(min=0, help="Folds of the validation of sizes; 0 for none.")] = 5
    rows: Annotated[
        int, Output(min=0, help="Rows of the data that the page holds, to try trees on.")
    ] = 50
    output: Annotated[Path, Output("--output", "-o", help="Write to this HTML file.")] = Path(
        "explore.html"
    )


@dataclass(frozen=True, kw_only=True)
class PathOptions(GoalOptions):
    """The options of ``goct path``."""

    min_leaf: Annotated[int, Trees(min=0, help="Rows in a leaf at least.")] = 0
    constraint: Conditions = None
    splits: Annotated[
        int | None, Output(min=0, help="Show and save the best tree with so many splits.")
    ] = None
    price: Annotated[
        float | None, Output(min=0, help="Or the best tree if a split costs so much.")
    ] = None
    save: Save = None
    output: Table = None
    plot: Plot = None


@dataclass(frozen=True, kw_only=True)
class FrontierOptions(TestOptions):
    """The options of ``goct frontier``."""

    pareto: Annotated[
        bool, Trees("--pareto", help="Also find all trees inside the hull; takes longer.")
    ] = False
    at: Annotated[
        list[str] | None,
        Output(
            help="Choose the tree of the best metric with 'recall >= 0.95', or the like; "
            "may be repeated, and means --pareto."
        ),
    ] = None
    metric: Annotated[str, Output(help="The metric that --at maximises.")] = "f1"
    save_tree: Annotated[
        int | None, Output(min=1, help="Choose the tree of this line of the table.")
    ] = None
    output: Table = None
    plot: Plot = None
    save: Save = None
    report: Report = None


@dataclass(frozen=True, kw_only=True)
class PredictOptions(Options):
    """The options of ``goct predict``."""

    model: Annotated[Path, typer.Argument(help="A model, as written by goct fit --save.")]
    data: Annotated[
        Path,
        typer.Argument(help="A table with the columns that the tree needs; - for standard input."),
    ]
    target: Annotated[
        str | None,
        Output(
            help="A column with the right classes, to compare with; by default the one that the "
            "tree was learned for, if it is there.",
            metavar="COLUMN",
        ),
    ] = None
    output: Annotated[Path | None, Output("--output", "-o", help="Write to this CSV file.")] = None
    column: Annotated[str, Output(help="What to call the new column.")] = "prediction"
    only: Annotated[bool, Output("--only", help="Write nothing but the new column.")] = False
    proba: Annotated[bool, Output("--proba", help="Also write the probability of each class.")] = (
        False
    )
    smoothing: Annotated[
        str | None,
        Output(
            help="How shares in leaves become probabilities: none, laplace or parent; by default "
            "as the model says."
        ),
    ] = None


def command(run: Callable[[O], None]) -> Callable[..., None]:
    """Give a command the options and arguments of the object that it takes, panel by panel."""
    (name,) = inspect.signature(run).parameters
    kind = get_type_hints(run)[name]
    hints = get_type_hints(kind, include_extras=True)

    def parameter(name: str, default: Any) -> inspect.Parameter:
        given = inspect.Parameter.empty if default is MISSING else default
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=hints[name]
        )

    def panel(parameter: inspect.Parameter) -> int:
        (about,) = parameter.annotation.__metadata__
        return -1 if about.rich_help_panel is None else _PANELS.index(about.rich_help_panel)

    parameters = sorted((parameter(f.name, f.default) for f in fields(kind)), key=panel)

    @functools.wraps(run)
    def with_options(**given: Any) -> None:
        options = kind(**given)
        with options.running():
            run(options)

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options
