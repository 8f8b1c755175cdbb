"""``goct show`` and ``goct report``: a saved tree in other forms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goct._text import one_line
from goct.cli.guard import UsageError, check_outputs, note
from goct.export import FORMATS, export_onnx
from goct.files import atomic_write
from goct.model import Model

Saved = Annotated[Path, typer.Argument(help="A model, as written by goct fit --save.")]


def show(
    model: Saved,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)} and onnx.")] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file.")
    ] = None,
) -> None:
    """Show a saved tree, as text or in another language."""
    if format not in (*FORMATS, "onnx"):
        raise UsageError(f"unknown format {format!r}; there are {', '.join(FORMATS)} and onnx")
    check_outputs([model], [output])
    tree = Model.load(model)
    if format == "onnx":
        _write_onnx(tree, output)
        return
    text = FORMATS[format](tree)
    if output is not None:
        with atomic_write(output) as file:
            file.write(text + "\n")
        note(f"written: {output}")
        return
    typer.echo(text)
    if format == "text":
        metric, proof = one_line(tree.question.metric), tree.proof
        width = max(len(metric) + 2, 14)
        typer.echo("")
        typer.echo(f"{metric:<{width}}{tree.train.value}")
        typer.echo(f"{'proven bound':<{width}}{proof.bound}")
        typer.echo(f"{'status':<{width}}{proof.status}")


def _write_onnx(tree: Model, output: Path | None) -> None:
    if output is None:
        raise UsageError("ONNX is not text: name a file with --output")
    made = export_onnx(tree)
    with atomic_write(output, binary=True) as file:
        file.write(made)
    note(f"written: {output}")


def report(
    model: Saved,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this HTML file.")] = Path(
        "report.html"
    ),
) -> None:
    """Write a report on a saved tree: one HTML file that needs nothing else."""
    from goct.report.html import write_report

    check_outputs([model], [output])
    write_report(Model.load(model), output)
    note(f"written: {output}")
