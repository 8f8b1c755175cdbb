"""``goct frontier``: what trees of a depth can achieve."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import typer

from goct._deadline import seconds_left
from goct._text import format_weight
from goct.cli.data import Prepared, goal_of, prepare
from goct.cli.guard import Code, UsageError, check_outputs, note, note_written
from goct.cli.options import FrontierOptions, command
from goct.constraints import Constraint, get_constraint
from goct.data.csv_file import write_csv
from goct.files import atomic_write
from goct.metrics import Metric, get_metric
from goct.problem import Problem
from goct.search.frontier import Frontier, Vertex, read_wish
from goct.search.frontier import frontier as find_frontier
from goct.solution import Solution
from goct.task import Task

_COLUMNS = ("recall", "fpr", "precision", "f1", "accuracy", "tp", "fp", "fn", "tn", "splits")
_TEST_COLUMNS = ("test_recall", "test_fpr")


@command
def frontier(options: FrontierOptions) -> None:
    """Find all best trades between recall and false alarms, and prove that there are no others."""
    at, save_tree, output, plot = options.at, options.save_tree, options.output, options.plot
    check_outputs([options.data], [output, options.save, options.report], plot)
    _check_choices(at, save_tree, options.save or options.report)
    limits = [get_constraint(text) for text in at or ()]
    prepared = prepare(options.data, options, one_vs_rest=True, **options.held_back)
    problem = prepared.train
    if problem.positive is None:
        raise UsageError(
            f"the frontier is about one class, and {options.target!r} has {problem.n_classes}; "
            "name one with --positive, and it stands against the rest"
        )
    goal = goal_of(options, problem)
    if at:
        read_wish(problem, goal, limits, has_pareto=True)  # an error comes early
    found = find_frontier(
        problem,
        options.max_depth,
        max_splits=options.max_splits,
        pareto=options.pareto or bool(at),
        time_limit=seconds_left(),
        n_jobs=options.n_jobs,
        executor=options.executor,
    )
    points = found.vertices if found.pareto is None else found.pareto
    rows = [[i + 1, *_row(vertex, prepared.test)] for i, vertex in enumerate(points)]
    columns = ("tree", *_COLUMNS, *(_TEST_COLUMNS if prepared.test is not None else ()))
    if output is not None:
        with atomic_write(output) as file:
            write_csv(file, columns, (row for row in rows))
    if plot is not None:
        from goct.report.plot import save_plot

        save_plot(found, plot, width=5.6, height=5.2)
    chosen = _choose(found, goal, limits, save_tree) if at or save_tree is not None else None
    if not options.quiet:
        shown = [
            row for row, vertex in zip(rows, points, strict=True) if vertex is chosen or not at
        ]
        typer.echo("\n".join([*_table(columns, shown), "", _account(found)]))
    if chosen is not None:
        _write_tree(prepared, found, goal, limits, chosen, options.save, options.report)
        if not options.quiet:
            place = next(i for i, vertex in enumerate(points) if vertex is chosen) + 1
            typer.echo(f"\ntree {place}:\n{chosen.tree.to_text(problem)}")
    if not options.quiet:
        note_written(output, plot, options.save, options.report)
    if not found.is_complete:
        raise typer.Exit(Code.STOPPED)


def _check_choices(at: list[str] | None, save_tree: int | None, written: Path | None) -> None:
    """Refuse options that do not go together."""
    if at and save_tree is not None:
        raise UsageError("--at and --save-tree both choose a tree; use one of them")
    if written and not at and save_tree is None:
        raise UsageError("--save and --report need a tree: choose one with --save-tree or --at")


def _choose(
    found: Frontier, goal: Metric, limits: Sequence[Constraint], number: int | None
) -> Vertex:
    """Return the tree of a line of the table, or the best one that keeps the constraints."""
    points = found.vertices if found.pareto is None else found.pareto
    if number is not None:
        if number > len(points):
            raise UsageError(f"--save-tree is {number}, but there are {len(points)} trees")
        return points[number - 1]
    chosen = found.best(goal, limits)
    if chosen is not None:
        return chosen
    words = " and ".join(limit.name for limit in limits)
    if not found.is_complete:
        note(f"no tree with {words} was found before the limit")
        raise typer.Exit(Code.NO_TREE)
    note(f"no tree of {found.size_in_words} has {words}; this is proven")
    raise typer.Exit(Code.INFEASIBLE)


def _write_tree(
    prepared: Prepared,
    found: Frontier,
    goal: Metric,
    limits: Sequence[Constraint],
    chosen: Vertex,
    save: Path | None,
    report: Path | None,
) -> None:
    """Write the model and the report of a tree of the frontier."""
    problem = prepared.train
    task = Task.read(
        problem, goal, found.max_depth, max_splits=found.max_splits, constraints=limits
    )
    bound = goal.best_value(problem)
    if found.is_complete:
        with contextlib.suppress(ValueError):  # the best tree need not be on the frontier
            if (best := found.best(goal, limits)) is not None:
                bound = goal.evaluate(best.tree, problem)
    solution = Solution.of_tree(task, chosen.tree, bound, limit=found.limit)
    model = prepared.model(solution)
    if save is not None:
        model.save(save)
    if report is not None:
        from goct.report.html import write_report

        write_report(model, report)


def _account(found: Frontier) -> str:
    """Say what was found, and whether it is all there is."""
    points = found.vertices if found.pareto is None else found.pareto
    what = "corners of the ROC hull" if found.pareto is None else "points of the Pareto front"
    proven = "proven complete" if found.is_complete else "not complete: stopped at a limit"
    return f"{len(points)} {what} of the trees of {found.size_in_words}, {proven}"


def _row(vertex: Vertex, test: Problem | None) -> list[Any]:
    confusion = vertex.confusion
    metrics = [get_metric(name).value(confusion) for name in ("precision", "f1", "accuracy")]
    counts: list[int | Fraction] = [confusion.tp, confusion.fp, confusion.fn, confusion.tn]
    return [
        *(f"{v:.6f}" for v in (vertex.recall, vertex.false_positive_rate, *map(float, metrics))),
        *map(format_weight, counts),
        vertex.tree.splits,
        *([] if test is None else _test_cells(vertex, test)),
    ]


def _test_cells(vertex: Vertex, test: Problem) -> list[str]:
    confusion = vertex.tree.confusion(test)
    if not confusion.n_pos or not confusion.n_neg:
        return ["", ""]
    tried = Vertex(vertex.tree, confusion)
    return [f"{tried.recall:.6f}", f"{tried.false_positive_rate:.6f}"]


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    cells = [columns, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
