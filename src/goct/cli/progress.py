"""Live progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from goct.solution import Progress

_PAUSE = 2.0  # seconds between plain lines


class ProgressDisplay:
    """Shows the best objective, the bound, the gap and the time while a search runs.

    Parameters
    ----------
    quiet
        Whether to show nothing.
    """

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, progress: Progress) -> bool:
        """Show the state of the search; it goes on."""
        if self.live is not None:
            self.live.update(Text(progress.describe() + "  Ctrl-C to stop"))
        elif not self.quiet and time.monotonic() - self.shown >= _PAUSE:
            self.shown = time.monotonic()
            print(progress.describe(), file=sys.stderr, flush=True)
        return False
