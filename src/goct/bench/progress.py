"""How far a campaign is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from goct.bench.spec import Outcome, Spec, Status

_PAUSE = 5.0  # seconds between plain lines
_OVERHEAD = 1.0  # seconds to start a process, until one has been seen


class Estimate:
    """Guesses how long the runs take that are still to be done.

    A run is taken to last as long as those of the same solver, depth and dataset
    have on average; before one is done, as those of the same solver and depth, and
    before that, half of its limit.
    """

    def __init__(self, specs: Sequence[Spec], width: int) -> None:
        self.width = width
        self.left = {spec.key: spec for spec in specs}
        self.seen: dict[tuple[str, int, str | None], list[float]] = defaultdict(list)

    def finish(self, spec: Spec, outcome: Outcome) -> None:
        """Take note of a run that is done."""
        self.left.pop(spec.key, None)
        for dataset in (spec.dataset, None):
            self.seen[spec.solver, spec.depth, dataset].append(outcome.seconds + _OVERHEAD)

    def seconds(self) -> float:
        """Return the seconds that are left."""
        total = 0.0
        for spec in self.left.values():
            times = self.seen.get((spec.solver, spec.depth, spec.dataset))
            times = times or self.seen.get((spec.solver, spec.depth, None))
            total += sum(times) / len(times) if times else spec.limit / 2
        return total / min(self.width, max(len(self.left), 1))


class Display:
    """Shows the progress of a campaign."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(stderr=True)
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.estimate = Estimate([], 1)
        self.total = self.done = 0
        self.shown = 0.0

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def start(self, specs: Sequence[Spec], *, before: int, width: int) -> None:
        """Begin with the runs that are to be done."""
        self.estimate = Estimate(specs, width)
        self.total, self.done = before + len(specs), before
        if self.quiet:
            return
        if self.console.is_terminal:
            self.bar = Progress(
                BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"),
                console=self.console,
            )  # fmt: skip
            self.task = self.bar.add_task("", total=self.total, completed=before)
            self.bar.start()
        else:
            print(f"{len(specs)} runs to do, {before} done before", file=sys.stderr, flush=True)

    def show(self, spec: Spec, outcome: Outcome) -> None:
        """Take note of a run that is done."""
        self.estimate.finish(spec, outcome)
        self.done += 1
        if self.quiet:
            return
        left = f"about {format_duration(self.estimate.seconds())} left"
        text = f"{spec.label}: {describe(outcome)}"
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=self.done, description=f"{left}  {text}")
        elif time.monotonic() - self.shown >= _PAUSE or self.done == self.total:
            self.shown = time.monotonic()
            print(f"{self.done} of {self.total}, {left}: {text}", file=sys.stderr, flush=True)


def describe(outcome: Outcome) -> str:
    """Return an outcome in a few words."""
    words = [outcome.status.value if outcome.status is not Status.OK else ""]
    if outcome.value is not None:
        words.append(f"{outcome.value:.4f}")
        words.append("proven" if outcome.is_proven else "open")
    words.append(f"{outcome.seconds:.1f} s")
    if outcome.status is not Status.OK and outcome.message:
        words.append(f"({outcome.message.splitlines()[-1][:80]})")
    return " ".join(word for word in words if word)


def format_duration(seconds: float) -> str:
    """Return a duration for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
