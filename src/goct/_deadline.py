"""The time limit of a fit, known to all that prepares it: reading, conditions, merging."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Any

from goct.exceptions import NoTreeError

_LIMIT: ContextVar[tuple[float, float] | None] = ContextVar("limit", default=None)
"""The seconds that are allowed, and when they end."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Let the work inside end after some seconds, with a `NoTreeError`; never if None."""
    limit = None
    if isinstance(seconds, int | float) and 0 < seconds < inf:  # others are refused elsewhere
        limit = float(seconds), time.perf_counter() + float(seconds)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def seconds_left(otherwise: float | None = None) -> float | None:
    """Return what is left of the time limit, at least a millisecond, if there is one."""
    limit = _LIMIT.get()
    return otherwise if limit is None else max(limit[1] - time.perf_counter(), 1e-3)


def share_of_time(share: float) -> float | None:
    """Return a part of what is left of the time limit, if there is one."""
    left = seconds_left()
    return None if left is None else share * left


def check_deadline(doing: str) -> None:
    """Raise a `NoTreeError` that says what was being done when the time was up."""
    limit = _LIMIT.get()
    if limit is not None and time.perf_counter() > limit[1]:
        raise NoTreeError(
            f"the time limit of {limit[0]:g} s was reached while {doing}, before any tree was "
            "found; allow more time, or use fewer rows, columns or thresholds"
        )


def timed(doing: str, work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of the core returns, whose last argument is the time that is left."""
    try:
        return work(*arguments, seconds_left())
    except TimeoutError:
        check_deadline(doing)
        raise
