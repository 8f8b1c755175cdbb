"""Starts the process of a run, watches it, and says what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from threading import Lock

from goct.bench.spec import Outcome, Spec, Status
from goct.bench.task import CHANGED, LOADING, hard_limit
from goct.bench.version import code_version

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_NO_MEMORY = ("MemoryError", "bad_alloc", "out of memory", "Out of memory", "Cannot allocate")
_PAUSE = 0.1  # seconds between looks at whether a solver has started
_TAIL = 400  # characters of the error stream that are kept


class Runner:
    """Runs specifications, each in a process group of its own; safe to use from threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    def run(self, spec: Spec, path: Path | None) -> Outcome:
        """Run a specification on the dataset in a file, or on one made on the spot.

        An `InterruptedError` says that :meth:`stop` was called meanwhile, a `ValueError` that goct
        or the solver has changed since this process began.
        """
        with tempfile.TemporaryDirectory(prefix="goct-bench-") as folder:
            result, errors = Path(folder, "result"), Path(folder, "errors")
            file = None if path is None else str(path.resolve())
            request = {
                "spec": spec.to_json(),
                "path": file,
                "parent": os.getpid(),
                "version": code_version(),
            }
            text = json.dumps(request)
            Path(folder, "request").write_text(text, encoding="utf-8")
            started = time.perf_counter()
            with errors.open("wb") as stream:
                process = self._start(stream.fileno(), folder)
            try:
                ready = Path(folder, "ready")
                code = _wait(process, ready, hard_limit(spec))
                is_loaded = ready.exists()
            finally:
                kill(process)
                with self._lock:
                    self._running.discard(process)
                    is_stopped = self._is_stopped
            seconds = time.perf_counter() - started
            if is_stopped:
                raise InterruptedError("the campaign was stopped")
            if code == CHANGED:
                raise ValueError(
                    f"goct, or the package of the solver {spec.solver!r}, is not the one that the "
                    "campaign began with; give the command again to go on with the new one"
                )
            if code == 0 and result.exists():
                return Outcome.from_json(result.read_text(encoding="utf-8"))
            tail = errors.read_text(encoding="utf-8", errors="replace").strip()[-_TAIL:]
        return replace(_post_mortem(spec, code, tail, is_loaded), seconds=seconds)

    def stop(self) -> None:
        """Kill what runs; nothing runs any more after this."""
        with self._lock:
            self._is_stopped = True
            running = list(self._running)
        for process in running:
            kill(process)

    def _start(self, errors: int, folder: str) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_stopped:
                raise InterruptedError("the campaign was stopped")
            process = subprocess.Popen(
                [sys.executable, "-m", "goct.bench.task", folder],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                cwd=folder,
                env=os.environ | dict.fromkeys(_THREADS, "1") | _python_path(),
            )
            self._running.add(process)
        return process


def _wait(process: subprocess.Popen[bytes], ready: Path, limit: float) -> int | None:
    """Wait for the end of a run, and return its exit code; None if it is too late.

    The limit counts from the moment at which the solver starts.
    """
    deadline = time.monotonic() + LOADING
    is_ready = False
    while (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=left if is_ready else min(left, _PAUSE))
        if not is_ready and ready.exists():
            is_ready = True
            deadline = time.monotonic() + limit
    return None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _python_path() -> dict[str, str]:
    """Return PYTHONPATH with full names, since processes start in a folder of their own."""
    if not (places := os.environ.get("PYTHONPATH")):
        return {}
    absolute = [str(Path(place).resolve()) for place in places.split(os.pathsep)]
    return {"PYTHONPATH": os.pathsep.join(absolute)}


def _post_mortem(spec: Spec, code: int | None, tail: str, is_loaded: bool) -> Outcome:
    if code is None and not is_loaded:
        message = f"killed, since packages and data were not loaded after {LOADING:.0f} s"
        return Outcome(Status.TIMEOUT, message=message)
    if code is None or -code == signal.SIGXCPU:
        message = f"killed after {hard_limit(spec):.0f} s; it was given {spec.limit:g} s"
        return Outcome(Status.TIMEOUT, message=message)
    if any(sign in tail for sign in _NO_MEMORY):
        return Outcome(Status.MEMORY, message=tail)
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return Outcome(Status.CRASH, message=f"{name} {tail}".strip())
    return Outcome(Status.CRASH, message=f"exit code {code} {tail}".strip())
