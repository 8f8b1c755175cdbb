"""``goct frontier``: what trees of a depth can achieve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from goct._deadline import seconds_left
from goct._text import format_weight
from goct.cli.data import Data, LearningOptions, learning, prepare
from goct.cli.guard import Code, UsageError, check_outputs, note
from goct.data.csv_file import write_csv
from goct.files import atomic_write
from goct.metrics import get_metric
from goct.search.frontier import Vertex
from goct.search.frontier import frontier as find_frontier

_COLUMNS = ("recall", "fpr", "precision", "f1", "accuracy", "tp", "fp", "fn", "tn", "splits")


@learning
def frontier(
    data: Data,
    options: LearningOptions,
    pareto: Annotated[
        bool, typer.Option("--pareto", help="Also find all trees inside the hull; takes longer.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the points to this CSV file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the points into this PNG, SVG or PDF file.")
    ] = None,
) -> None:
    """Find all best trades between recall and false alarms, and prove that there are no others."""
    check_outputs([data], [output, plot])
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"{plot}: the name of a figure must end in .png, .svg or .pdf")
    problem = prepare(data, options, one_vs_rest=True).train
    if problem.positive is None:
        raise UsageError(
            f"the frontier is about one class, and {options.target!r} has {problem.n_classes}; "
            "name one with --positive, and it stands against the rest"
        )
    found = find_frontier(
        problem,
        options.depth,
        max_splits=options.max_splits,
        pareto=pareto,
        time_limit=seconds_left(),
        n_jobs=options.n_jobs,
    )
    points = found.vertices if found.pareto is None else found.pareto
    rows = [_row(vertex) for vertex in points]
    if output is not None:
        with atomic_write(output) as file:
            write_csv(file, _COLUMNS, (row for row in rows))
    if plot is not None:
        from goct.report.plot import plot_frontier

        plot_frontier(found, plot)
    if not options.quiet:
        typer.echo("\n".join(_table(rows)))
        what = "points of the Pareto front" if pareto else "corners of the ROC hull"
        proven = "proven complete" if found.is_complete else "not complete: stopped at a limit"
        typer.echo(f"\n{len(points)} {what} of the trees of depth {options.depth}, {proven}")
        for path in (output, plot):
            if path is not None:
                note(f"written: {path}")
    if not found.is_complete:
        raise typer.Exit(Code.STOPPED)


def _row(vertex: Vertex) -> list[Any]:
    confusion = vertex.confusion
    metrics = [get_metric(name).value(confusion) for name in ("precision", "f1", "accuracy")]
    counts: list[int | Fraction] = [confusion.tp, confusion.fp, confusion.fn, confusion.tn]
    return [
        *(f"{v:.6f}" for v in (vertex.recall, vertex.false_positive_rate, *map(float, metrics))),
        *map(format_weight, counts),
        vertex.tree.splits,
    ]


def _table(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    cells = [_COLUMNS, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
