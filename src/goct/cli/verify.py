"""``goct verify``: check a certificate against the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from goct._text import one_line
from goct.cli.data import prepare
from goct.cli.guard import Code, UsageError, note
from goct.cli.options import Data, LearningOptions
from goct.files import read_bytes
from goct.problem import Problem
from goct.verify import RejectedError, data_of
from goct.verify.checker import check_certificate, read_header


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate, as goct fit writes it.")],
    data: Data,
    target: Annotated[
        str | None,
        typer.Option(
            help="The column with the class, for a certificate that goct fit has not made: the "
            "others are then 0/1.",
            metavar="COLUMN",
        ),
    ] = None,
) -> None:
    """Check the proof of a tree, step by step, without the engine that found it."""
    try:
        content = read_bytes(certificate, 1 << 32)
    except ValueError as error:
        raise UsageError(f"{certificate}: {error}") from None
    try:
        header = read_header(content)
        try:
            problem = _problem(data, header, target)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise UsageError(one_line(str(error))) from None  # with words of the file in it
        verdict = check_certificate(content, data_of(problem))
    except RejectedError as error:
        typer.echo(f"REJECTED: {error}")
        raise typer.Exit(Code.REJECTED) from None
    typer.echo(str(verdict))
    note(f"{verdict.facts} {'fact' if verdict.facts == 1 else 'facts'} checked")


def _problem(data: Path, header: dict[str, Any], target: str | None) -> Problem:
    """Read the table as it was read when the certificate was made."""
    how = header.get("reading")
    if how is None:
        if target is None:
            raise UsageError("name the column with the class: --target")
        classes, positive = header["data"]["classes"], header["data"]["positive"]
        label = None if positive is None else classes[positive]
        options = LearningOptions(target=target, positive=label, binarizer="none", quiet=True)
        return prepare(data, options, one_vs_rest=False).train
    options = LearningOptions(**how["options"], quiet=True)
    return prepare(data, options, **how["more"]).train
