"""All options of the command line as Markdown, made from the parser itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from goct.cli.app import app


def commands() -> Iterator[tuple[str, Any]]:
    """Yield the commands of goct, those of groups included, by their full names."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield name, command
            return
        for part, below in command.commands.items():
            yield from walk(f"{name} {part}", below)

    yield from walk("goct", typer.main.get_command(app))


def markdown() -> str:
    """Return a section per command, with a table of what it takes."""
    return "\n".join(_section(name, command) for name, command in commands())


def _section(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = [f"## {name}", "", command.help or "", "", "```text", usage, "```", ""]
    lines += ["| option | what it does |", "|---|---|"]
    lines += [_row(parameter, context) for parameter in command.params]
    return "\n".join(lines) + "\n"


def _row(parameter: Any, context: Any) -> str:
    """Return what `--help` says of an option or argument; versions of typer agree on that only."""
    record = parameter.get_help_record(context)
    name, text = record or (parameter.name.upper(), getattr(parameter, "help", ""))
    return f"| `{_cell(name, code=True)}` | {_cell(text or '')} |"


def _cell(text: str, code: bool = False) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if code else line.replace("<", "&lt;")
