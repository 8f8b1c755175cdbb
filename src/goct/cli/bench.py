"""``goct bench``: the paper's evaluation, and what goes beyond it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goct.cli.guard import Code, UsageError, guarded, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from goct.bench.campaign import Tally
    from goct.bench.data import Folder
    from goct.bench.executors import Executor
    from goct.bench.experiments import Plan
    from goct.bench.spec import Spec

bench = typer.Typer(
    help="Run the experiments of the paper and more, here or on a cluster, and report on them.",
    no_args_is_help=True,
)

ResultsFile = Annotated[Path, typer.Argument(help="A results file, as written by goct bench run.")]
Data = Annotated[
    Path | None,
    typer.Option(help="The folder of datasets, one NAME.txt.gz each; $GOCT_DATASETS if not given."),
]


@bench.command("list")
@guarded
def list_experiments() -> None:
    """List the experiments."""
    from goct.bench.experiments import EXPERIMENTS

    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name:<15}{experiment.summary}")


@bench.command()
@guarded
def data(
    folder: Annotated[Path, typer.Argument(help="Where to write them.")] = Path("datasets"),
    offline: Annotated[
        bool, typer.Option("--offline", help="Only those that need no network.")
    ] = False,
) -> None:
    """Write datasets to a folder: some come along, others are fetched from public collections."""
    from goct.bench.data import PAPER, Folder
    from goct.bench.sources import fetch, write_own

    typer.echo(f"made here: {', '.join(write_own(folder))}")
    if not offline:
        names, failures = fetch(folder)
        typer.echo(f"fetched: {', '.join(sorted(names, key=str.lower)) or 'nothing'}")
        for source, reason in failures.items():
            note(f"could not be fetched: {source} ({reason})")
    if missing := [name for name in PAPER if name not in Folder(folder).names]:
        typer.echo(f"of the paper's study of nonlinear metrics, not here: {', '.join(missing)}")
    typer.echo(f"to use what is there: goct bench run all --quick --data {folder}")


@bench.command()
@guarded
def peers() -> None:
    """List the solvers: who is installed, and what each can do."""
    from goct.bench.peers import SOLVERS, get_solver

    for name in SOLVERS:
        solver = get_solver(name)
        if not solver.learns:
            continue
        version = solver.version if solver.is_installed else "not installed"
        able = "all metrics" if solver.metrics is None else ", ".join(sorted(solver.metrics))
        with_penalty = "all" if solver.penalised is None else ", ".join(sorted(solver.penalised))
        classes = "any number of classes" if solver.has_many_classes else "two classes"
        typer.echo(f"{name:<16}{solver.distribution} {version}: {able}; penalty per split: "
                   f"{with_penalty or 'none'}; {classes}")  # fmt: skip


@bench.command()
@guarded
def run(
    experiments: Annotated[
        list[str], typer.Argument(help="Experiments, see goct bench list; or all.")
    ],
    results: Annotated[Path, typer.Option(help="The results file, made or continued.")] = Path(
        "results.sqlite"
    ),
    data: Data = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small datasets, short limits: minutes.")
    ] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="As little as possible: seconds.")] = False,
    datasets: Annotated[str | None, typer.Option(help="Which datasets, as in a,b,c.")] = None,
    depths: Annotated[str | None, typer.Option(help="Which depths, as in 2,3.")] = None,
    metrics: Annotated[str | None, typer.Option(help="Which metrics, as in f1,mcc.")] = None,
    penalties: Annotated[
        str | None, typer.Option(help="Which penalties per split, as in 0,0.01.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(help="What to learn from: all, train (a half) or all,train.")
    ] = None,
    solvers: Annotated[
        str | None, typer.Option(help="Which solvers, see goct bench peers.")
    ] = None,
    splits: Annotated[int | None, typer.Option(min=1, help="How many random splits.")] = None,
    limit: Annotated[float | None, typer.Option(min=0.1, help="Seconds for each run.")] = None,
    memory: Annotated[str, typer.Option(help="Memory for each run, as in 4G; 0: no limit.")] = "4G",
    backend: Annotated[str, typer.Option(help="The solver of the MIP engine.")] = "scip",
    seed: Annotated[int, typer.Option(min=0, help="A seed for solvers.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = 1,
    dask: Annotated[
        int | None, typer.Option(min=1, help="Start a Dask cluster here with so many workers.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Use the Dask cluster at this address, tcp://...")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="A page of its own, beside that of the experiment: NAME or NAME: title."),
    ] = None,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Do again what crashed, was killed or was not installed."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many runs there are, and their limits.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Run experiments, each run in a process of its own; what is done already is not done again."""
    if os.name != "posix":
        raise UsageError("runs need the process limits of Linux or macOS")
    from goct.bench.data import Folder
    from goct.bench.experiments import Plan, Profile

    if quick and tiny:
        raise UsageError("choose one of --quick and --tiny")
    if dask is not None and scheduler is not None:
        raise UsageError("choose one of --dask and --scheduler")
    names = _experiments(experiments)
    plan = Plan(
        Folder(_folder(data)),
        profile=Profile.QUICK if quick else Profile.TINY if tiny else Profile.FULL,
        datasets=_words(datasets, "datasets"),
        depths=_depths(depths),
        metrics=_words(metrics, "metrics"),
        penalties=_penalties(penalties),
        rows=_words(rows, "rows", "all|train", "all and train"),
        solvers=_words(solvers, "solvers"),
        splits=splits,
        limit=limit,
        backend=backend,
        memory=_bytes(memory),
        seed=seed,
    )
    own_page = _variant(variant, names)
    specs = _specs(plan, names)
    if dry_run:
        _show_limits(specs)
        return
    start = partial(_executor, jobs, dask, scheduler)
    tally = _run(specs, plan.folder, results, start, own_page, retry=retry, quiet=quiet)
    if not quiet:
        _show_tally(tally, results)
    if not tally.is_complete:
        note(f"{tally.lost} runs were lost with their workers; the same command does them again")
        raise typer.Exit(Code.STOPPED)


def _experiments(asked: list[str]) -> list[str]:
    from goct.bench.experiments import EXPERIMENTS

    for name in asked:
        if name not in EXPERIMENTS and name != "all":
            known = ", ".join(EXPERIMENTS)
            raise UsageError(f"unknown experiment {name!r}; there are {known}, and all")
    return list(EXPERIMENTS) if "all" in asked else list(dict.fromkeys(asked))


def _folder(data: Path | None) -> Path:
    from goct.bench.data import default_folder

    place = data or default_folder()
    if place is None:
        from goct.bench.sources import own_folder

        place = own_folder()
        note(f"no --data and no GOCT_DATASETS: the datasets that come along are used, {place}")
    return place


def _specs(plan: Plan, names: list[str]) -> dict[str, list[Spec]]:
    """Return the runs of each experiment that has any; say what is missing."""
    from goct.bench.experiments import EXPERIMENTS

    _check(plan)
    specs, used = {}, {}
    for name in names:
        plan.used.clear()
        specs[name] = EXPERIMENTS[name].specs(plan)
        used[name] = set(plan.used)
    _check_use(plan, used)
    if plan.missing:
        note(f"not in {plan.folder.path}: {', '.join(sorted(plan.missing, key=str.lower))}")
    for name in [name for name, asked in specs.items() if not asked]:
        note(f"nothing to do for {name}")
        del specs[name]
    if not specs:
        raise UsageError(f"none of the datasets is in {plan.folder.path}")
    return specs


def _show_limits(specs: dict[str, list[Spec]]) -> None:
    from goct.bench.progress import format_duration

    for name, asked in specs.items():
        longest = format_duration(sum(spec.limit for spec in asked))
        typer.echo(f"{name:<15}{len(asked)} runs, limits of {longest} in all")


def _run(
    specs: dict[str, list[Spec]],
    folder: Folder,
    results: Path,
    start: Callable[[], Executor],
    variant: tuple[str, str] | None,
    *,
    retry: bool,
    quiet: bool,
) -> Tally:
    from goct.bench.campaign import forget_failures, run_campaign
    from goct.bench.progress import Display
    from goct.bench.results import Results
    from goct.bench.version import commit, machine

    about: dict[str, Any] = {"commands": [_command()], "commit": commit(), **machine()}
    if variant is not None:
        about["variant"] = list(variant)
    about["load"] = f"{os.getloadavg()[0]:.1f} when the command was given"
    previous = signal.signal(signal.SIGTERM, _interrupt)
    with Results(results, create=True) as file:
        try:
            if retry:
                forget_failures(specs, file)
            return run_campaign(specs, folder, file, start(), about=about, display=Display(quiet))
        except KeyboardInterrupt:
            note(f"interrupted; the same command goes on where it was ({results})")
            raise typer.Exit(Code.STOPPED) from None
        finally:
            signal.signal(signal.SIGTERM, previous)


def _show_tally(tally: Tally, results: Path) -> None:
    from goct.bench.spec import Status

    note(f"{tally.asked} runs: {tally.before} done before, {tally.now} done now; {results}")
    others = {end.value: n for end, n in tally.ends.items() if end is not Status.OK}
    if others:
        note("not as they should be: " + ", ".join(f"{n} {end}" for end, n in others.items()))


@bench.command()
@guarded
def status(results: ResultsFile) -> None:
    """Show how far the campaigns of a results file are, and how their runs ended."""
    from collections import Counter

    from goct.bench.results import Results

    with Results(results) as file:
        for campaign in file.campaigns():
            ends = Counter(
                "to do" if run.outcome is None else run.outcome.status.value
                for run in campaign.runs
            )
            counts = ", ".join(f"{number} {end}" for end, number in ends.most_common())
            typer.echo(f"{campaign.number:>3} {campaign.page:<18}{campaign.started[:16]} "
                       f"goct {campaign.version}: {counts or 'no runs'}")  # fmt: skip


@bench.command()
@guarded
def merge(
    into: Annotated[Path, typer.Argument(help="The results file to add to, made or continued.")],
    others: Annotated[list[Path], typer.Argument(help="Results files; they stay as they are.")],
) -> None:
    """Put the runs of several results files, of several machines for example, into one."""
    from goct.bench.results import Results

    for other in others:  # all are looked at before anything is written
        if other.resolve() == into.resolve():
            raise UsageError(f"{into} is named twice")
        with Results(other):
            pass
    with Results(into, create=True) as file:
        for other in others:
            with Results(other) as source:
                file.merge(source)
        note(f"{into}: {file.count()} runs, {len(file.campaigns())} campaigns")


@bench.command()
@guarded
def report(
    results: ResultsFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")] = Path(
        "results"
    ),
    experiment: Annotated[
        list[str] | None, typer.Option(help="Only this experiment; may be repeated.")
    ] = None,
    campaign: Annotated[
        list[int] | None,
        typer.Option(help="This campaign, see goct bench status; the latest of each experiment."),
    ] = None,
    data: Data = None,
    reported: Annotated[
        Path | None,
        typer.Option(help="The paper's tables as CSV files; paper/reported beside the datasets."),
    ] = None,
) -> None:
    """Write the tables and figures of the latest campaign of each experiment and variant."""
    from goct.bench.data import default_folder
    from goct.bench.experiments import EXPERIMENTS
    from goct.bench.render import write_index, write_page
    from goct.bench.reported import Reported
    from goct.bench.results import Results, latest

    if reported is not None and not reported.is_dir():
        raise UsageError(f"there is no folder {reported}")
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file, not a folder")
    place = data or default_folder()
    tables = Reported(reported)
    if reported is None and place is not None:
        tables = Reported.beside(place)
    with Results(results) as file:
        found = file.campaigns()
    if campaign:
        if absent := set(campaign) - {c.number for c in found}:
            raise UsageError(f"{results} has no campaign {min(absent)}")
        chosen = [c for c in found if c.number in campaign]
    else:
        chosen = latest(found)
    wanted = [c for c in chosen if not experiment or c.experiment in experiment]
    known = [c for c in wanted if c.experiment in EXPERIMENTS]
    if not known:
        raise UsageError(f"{results} has no runs of {', '.join(experiment or ['any experiment'])}")
    known.sort(key=lambda c: list(EXPERIMENTS).index(c.experiment))
    pages = []
    for item in known:
        shown = EXPERIMENTS[item.experiment]
        page = write_page(output, shown.title, item, shown.report(item.runs, tables))
        note(f"written: {page}" + ("" if item.is_complete else " (not complete)"))
        pages.append((shown.title, shown.summary, item))
    note(f"written: {write_index(output, pages)}")


def _executor(jobs: int, dask: int | None, scheduler: str | None) -> Executor:
    from goct.bench.executors import DaskExecutor, LocalExecutor

    if dask is None and scheduler is None:
        return LocalExecutor(jobs)
    return DaskExecutor(scheduler, dask or 1)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise KeyboardInterrupt


def _command() -> str:
    """Return the command as it was given, without the places of files on this machine."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return shlex.join(["goct", *words])


def _words(
    text: str | None, option: str, pattern: str = ".+", wanted: str = "names"
) -> tuple[str, ...] | None:
    """Return the words of an option, with commas between them, each of which fits a pattern."""
    if text is None:
        return None
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words or (text,):
        if not words or not re.fullmatch(pattern, word):
            raise UsageError(f"--{option} takes {wanted} with commas between them, got {word!r}")
    return words


def _variant(text: str | None, experiments: list[str]) -> tuple[str, str] | None:
    """Return the name and the title of a page."""
    if text is None:
        return None
    if len(experiments) > 1:
        raise UsageError("--variant takes one experiment")
    name, _, title = (part.strip() for part in text.partition(":"))
    if not re.fullmatch("[a-z0-9][a-z0-9-]*", name):
        raise UsageError(f"--variant takes a name such as raw, or raw: raw tables; got {text!r}")
    return name, title or name


def _depths(text: str | None) -> tuple[int, ...] | None:
    words = _words(text, "depths", "0?[1-9]|10", "numbers from 1 to 10")
    return None if words is None else tuple(map(int, words))


def _penalties(text: str | None) -> tuple[str, ...] | None:
    """Return penalties without needless zeros, so that each is written in one way."""
    words = _words(text, "penalties", r"\d+(\.\d+)?", "decimal numbers")
    plain = (format(Decimal(word).normalize(), "f") for word in words or ())
    return None if words is None else tuple(dict.fromkeys(plain))


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise UsageError(f"--memory takes a size such as 4G or 500M, got {text!r}")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def _check_use(plan: Plan, used: dict[str, set[str]]) -> None:
    """Refuse options that no experiment looks at, and say which of them look at the others."""
    options = ("datasets", "depths", "metrics", "penalties", "rows", "solvers", "splits", "limit")
    given = [name for name in options if getattr(plan, name) is not None]
    if plan.backend != "scip":
        given.append("backend")
    for option in given:
        users = [name for name, looked_at in used.items() if option in looked_at]
        if not users:
            raise UsageError(f"--{option} has no part in {', '.join(used)}")
        if len(users) < len(used):
            note(f"--{option} counts for {', '.join(users)} only")


def _check(plan: Plan) -> None:
    """Refuse what no run could be done with."""
    from goct.bench.peers import get_solver
    from goct.metrics import get_metric

    for metric in plan.metrics or ():
        if get_metric(metric).name == "instance_cost":
            raise UsageError("instance_cost needs costs of rows, which the datasets do not have")
    for solver in plan.solvers or ():
        try:
            get_solver(solver)
        except (ImportError, AttributeError) as error:
            raise UsageError(f"the solver {solver!r} cannot be loaded: {error}") from None
    if plan.backend == "scip":
        return
    from goct.mip import BACKENDS  # loads the solvers, which takes a moment

    if plan.backend not in BACKENDS:
        raise UsageError(f"unknown backend {plan.backend!r}; there are {', '.join(BACKENDS)}")
