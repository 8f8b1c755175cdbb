"""Live progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from goct.path import PathProgress
from goct.solution import Progress

_PAUSE = 2.0  # seconds between plain lines


class ProgressDisplay:
    """Shows the best objective, the bound, the gap and the time while a search runs."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(stderr=True)
        self.live: Live | None = None
        self.started = self.shown = time.monotonic()

    def __enter__(self) -> ProgressDisplay:
        if not self.quiet and self.console.is_terminal:
            self.live = Live(console=self.console, refresh_per_second=8, transient=True)
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, progress: Progress | PathProgress) -> bool:
        """Show the state of the search; it goes on."""
        self.show(progress.describe())
        return False

    def note(self, text: str) -> None:
        """Tell the user something that stays."""
        if not self.quiet:
            self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def show(self, text: str) -> None:
        """Show a line about the state of the search."""
        if self.live is not None:
            self.live.update(Text(text + "  Ctrl-C to stop"))
        elif not self.quiet and time.monotonic() - self.shown >= _PAUSE:
            self.shown = time.monotonic()
            print(text, file=sys.stderr, flush=True)
