"""Ctrl-C while a search runs: the first ends it with what is found, the next ends the program."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import PurePath
from typing import Any

SECONDS = 5.0  # within which a second Ctrl-C means the program, not the search


class _Ear:
    """Hears Ctrl-C in the main thread, besides whoever else does."""

    def __init__(self) -> None:
        self.is_listening = False
        self.last = -inf  # when it was pressed last during a search
        self.ends_program = False

    def hear(self) -> None:
        now = time.monotonic()
        is_worker = multiprocessing.current_process().name != "MainProcess"
        self.ends_program |= is_worker or now - self.last < SECONDS
        self.last = now


_EAR = _Ear()


@contextmanager
def keeping_the_best() -> Iterator[None]:
    """Let Ctrl-C end the search inside, which returns the best it has; a loop around it goes on.

    A second one within a few seconds, be it in the next search, is a `KeyboardInterrupt` after
    all, so that the loop ends. So is the first in a worker process.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if _EAR.is_listening or not is_main or not callable(before):
        yield
        return

    def hear(number: int, frame: Any) -> Any:
        _EAR.hear()
        return before(number, frame)

    try:
        _EAR.is_listening, _EAR.ends_program = True, False
        signal.signal(signal.SIGINT, hear)
        yield
    finally:
        _EAR.is_listening = False
        signal.signal(signal.SIGINT, before)
    if _EAR.ends_program:
        raise KeyboardInterrupt


def leave_while_loading() -> None:
    """Let Ctrl-C end the command ``goct`` without a word while it is being loaded."""
    by_name, by_module = PurePath((sys.argv or [""])[0]).stem == "goct", sys.argv[:1] == ["-m"]
    is_command = by_name or (by_module and "goct" in sys.orig_argv)
    is_first = multiprocessing.current_process().name == "MainProcess"
    if is_command and is_first and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def is_loaded() -> None:
    """Let Ctrl-C be a `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(_number: int, _frame: Any) -> None:
    os._exit(130)
