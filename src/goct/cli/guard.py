"""Errors of users as messages instead of tracebacks, exit codes, and checks of output files."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

import typer

from goct.exceptions import NoTreeError

F = TypeVar("F", bound=Callable[..., Any])


class Code(IntEnum):
    """What the exit code of a command says."""

    DONE = 0  # all was done, and what is shown is proven
    WRONG_INPUT = 2  # the command line or a file is not as it should be
    STOPPED = 3  # a limit was reached, or Ctrl-C was pressed; the best so far was written
    INFEASIBLE = 4  # it is proven that no tree meets the constraints
    NO_TREE = 5  # a limit was reached before any tree was found
    REJECTED = 6  # a certificate does not prove what it says
    INTERRUPTED = 130  # Ctrl-C was pressed when there was nothing to keep


class UsageError(ValueError):
    """What the user asked for is not possible; the message says why."""


def note(message: str) -> None:
    """Tell the user something on the error stream, which does not mix with results."""
    typer.echo(message, err=True)


def note_written(*files: Path | None) -> None:
    """Tell the user which files were written."""
    for file in files:
        if file is not None:
            note(f"written: {file}")


def guarded(command: F) -> F:
    """Let a command end with a message and an exit code where a user made a mistake."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            # Whoever read the output has seen enough; nobody is left to tell.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(Code.DONE) from None
        except NoTreeError as error:
            note(f"error: {error}")
            raise typer.Exit(Code.NO_TREE) from None
        except (ValueError, TypeError) as error:
            # What is an argument in Python is an option here.
            note("error: " + re.sub("engine='(mip|search)'", r"--engine \1", str(error)))
            raise typer.Exit(Code.WRONG_INPUT) from None
        except ImportError as error:
            if "goct[" not in str(error):
                raise
            note(f"error: {error}")
            raise typer.Exit(Code.WRONG_INPUT) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            note(f"error: {where}{error.strerror or error}")
            raise typer.Exit(Code.WRONG_INPUT) from None
        except MemoryError:
            note("error: there is not enough memory")
            raise typer.Exit(Code.WRONG_INPUT) from None
        except KeyboardInterrupt:
            note("interrupted before there was anything to keep; nothing was written")
            raise typer.Exit(Code.INTERRUPTED) from None

    return run  # type: ignore[return-value]


def check_outputs(
    inputs: list[Path], outputs: list[Path | None], figure: Path | None = None
) -> None:
    """Find out before the work begins that results can be written, and not over an input."""
    if figure is not None and figure.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"{figure}: the name of a figure must end in .png, .svg or .pdf")
    seen: list[Path] = []
    for output in (*outputs, figure):
        if output is None:
            continue
        if output.is_dir():
            raise UsageError(f"{output} is a folder, not a file")
        folder = output.resolve().parent
        if not folder.is_dir():
            raise UsageError(f"{output}: there is no folder {folder}")
        if not os.access(folder, os.W_OK):
            raise UsageError(f"{output}: you may not write to the folder {folder}")
        for other in (*inputs, *seen):
            same = output.resolve() == other.resolve()
            if same or (output.exists() and other.exists() and output.samefile(other)):
                what = "the input" if other in inputs else "another output"
                raise UsageError(f"{output} is {what}; choose another file for the result")
        seen.append(output)
