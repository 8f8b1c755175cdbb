"""The commands of ``goct``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from goct._core import __version__
from goct.cli.guard import guarded

_EPILOG = (
    "Exit codes: 0 done, and what is shown is proven; 2 wrong input or usage; 3 stopped at a limit "
    "or by Ctrl-C, the best tree so far is written; 4 proven that no tree meets the constraints; "
    "5 stopped before any tree was found; 6 a certificate was rejected."
)

# The commands that are loaded when they are asked for, and where they are.
_PLACES = {
    "fit": "fit",
    "predict": "predict",
    "show": "show",
    "report": "show",
    "frontier": "frontier",
    "path": "path",
    "verify": "verify",
    "explore": "explore",
    "bench": "bench",
}


@cache
def _load(name: str) -> Any:
    found = getattr(import_module(f"goct.cli.{_PLACES[name]}"), name)
    if not isinstance(found, typer.Typer):
        command, found = found, typer.Typer(add_completion=False)
        found.command(name)(guarded(command))
    loaded = typer.main.get_command(found)
    loaded.name = name
    return loaded


class _Commands(Mapping[str, Any]):
    """The commands by their names; some are loaded when they are asked for."""

    def __init__(self, others: Mapping[str, Any]) -> None:
        self.others = others

    def __getitem__(self, name: str) -> Any:
        return _load(name) if name in _PLACES else self.others[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*_PLACES, *self.others])

    def __len__(self) -> int:
        return len(_PLACES) + len(self.others)


class _Group(TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands(self.commands)  # type: ignore[assignment]


app = typer.Typer(
    cls=_Group,
    help="Learn small decision trees that are provably the best possible for your metric.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learn small decision trees that are provably the best possible for your metric."""


@app.command()
@guarded
def demo(
    depth: Annotated[int, typer.Option(min=0, max=8, help="The depth of the tree.")] = 4,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds at most.")] = 60.0,
    table: Annotated[
        Path | None, typer.Option(help="Only write the dataset, breast cancer, to this CSV file.")
    ] = None,
) -> None:
    """Learn an optimal tree on a dataset that comes along, and show what is proven."""
    from goct.demo import run_demo, write_table

    if table is not None:
        write_table(table)
        typer.echo(f"{table}: the breast cancer data, with the column 'diagnosis' to predict")
        return
    run_demo(depth=depth, time_limit=time_limit, echo=typer.echo)


@app.command()
def metrics() -> None:
    """List the metrics and their shapes."""
    from goct.metrics import METRICS

    typer.echo(f"{'name':<20}{'shape':<13}what it is")
    for name, make in METRICS.items():
        metric = make()
        about = (type(metric).__doc__ or "").strip().splitlines()[0]
        typer.echo(f"{name:<20}{metric.shape.value:<13}{about}")


@app.command()
def version(
    cite: Annotated[
        bool, typer.Option("--cite", help="Show how to cite goct and its paper, as BibTeX.")
    ] = False,
) -> None:
    """Show the version."""
    from goct.citation import bibtex

    typer.echo(bibtex() if cite else __version__)
