"""Runs Python in a process of its own, and interrupts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PATIENCE = 120  # seconds, after which a process is taken to hang


@dataclass(frozen=True)
class Interrupted:
    """How a process ended: its exit code, the lines before the signal, and all after it."""

    code: int
    lines: list[str]
    out: str
    err: str


def interrupt(
    *arguments: object,
    stream: Literal["stdout", "stderr"] = "stdout",
    lines: int = 1,
    kind: signal.Signals = signal.SIGINT,
) -> Interrupted:
    """Start Python, send a signal after some lines of its output, and wait for the end."""
    process = subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            first = [getattr(process, stream).readline() for _ in range(lines)]
            process.send_signal(kind)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return Interrupted(process.returncode, first, out, err)


def is_alive(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z":
            return False  # dead, and nobody has asked
        time.sleep(0.1)
    return True
