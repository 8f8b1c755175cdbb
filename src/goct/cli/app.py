"""The commands of ``goct``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goct._core import __version__
from goct.cli.bench import app as bench
from goct.cli.explore import explore
from goct.cli.fit import fit
from goct.cli.frontier import frontier
from goct.cli.guard import guarded
from goct.cli.path import path
from goct.cli.predict import predict
from goct.cli.show import report, show
from goct.cli.verify import verify

_EPILOG = (
    "Exit codes: 0 done, and what is shown is proven; 2 wrong input or usage; 3 stopped at a limit "
    "or by Ctrl-C, the best tree so far is written; 4 proven that no tree meets the constraints; "
    "5 stopped before any tree was found; 6 a certificate was rejected."
)

app = typer.Typer(
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


app.command()(guarded(fit))
app.command()(guarded(predict))
app.command()(guarded(show))
app.command()(guarded(report))
app.command()(guarded(frontier))
app.command()(guarded(path))
app.command()(guarded(verify))
app.command()(guarded(explore))
app.add_typer(bench, name="bench")


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
