"""Live progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from threading import Event, Thread

from rich.console import Console
from rich.live import Live
from rich.text import Text

from goct._deadline import seconds_left
from goct.path import PathProgress
from goct.solution import Progress

_PAUSE = 2.0  # seconds between plain lines


class ProgressDisplay:
    """Shows the best objective, the bound, the gap and the time while a search runs."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(stderr=True)
        self.live: Live | None = None
        self.ends: float | None = None
        self._describe: Callable[[], str] | None = None
        self._has_ended = Event()
        self._thread = Thread(target=self._print_lines, daemon=True)

    def __enter__(self) -> ProgressDisplay:
        if (left := seconds_left()) is not None:
            self.ends = time.monotonic() + left
        if self.quiet:
            return self
        if self.console.is_terminal:
            self.live = Live(
                console=self.console,
                get_renderable=lambda: Text(self.line("  Ctrl-C to stop")),
                refresh_per_second=8,
                transient=True,
            )
            self.live.start()
        else:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        if self.live is not None:
            self.live.stop()
        elif not self.quiet:
            self._thread.join()

    def __call__(self, progress: Progress | PathProgress) -> bool:
        """Show the state of the search; it goes on."""
        text = progress.describe()
        self.show(lambda: text)
        return False

    def note(self, text: str) -> None:
        """Tell the user something that stays."""
        if not self.quiet:
            self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def show(self, describe: Callable[[], str]) -> None:
        """Show a line about the state of the work, described anew from time to time."""
        self._describe = describe

    def line(self, end: str = "") -> str:
        """Return what is shown now."""
        if self._describe is None:
            return ""
        left = "" if self.ends is None else f"  (limit in {self.seconds_left:.0f} s)"
        return self._describe() + left + end

    @property
    def seconds_left(self) -> float:
        """What is left of the time limit."""
        return float("inf") if self.ends is None else max(self.ends - time.monotonic(), 0.0)

    def _print_lines(self) -> None:
        while not self._has_ended.wait(_PAUSE):
            if text := self.line():
                print(text, file=sys.stderr, flush=True)
