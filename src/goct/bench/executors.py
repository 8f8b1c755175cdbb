"""Where runs are done: in processes here, or on a Dask cluster."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

from goct.bench.runner import Runner
from goct.bench.spec import Outcome, Spec
from goct.bench.version import cpu_model, source_version

T = TypeVar("T")

_PAUSE = 0.5  # seconds between looks at whether a signal has come


@dataclass(frozen=True)
class Job:
    """A specification, and the file of its dataset; None if that is made on the spot."""

    spec: Spec
    path: Path | None


@dataclass(frozen=True)
class Done:
    """A job, what came of it, and the processor that did it."""

    job: Job
    outcome: Outcome | None  # None if the job was lost, and is still to be done
    processor: str


class Executor(ABC):
    """Does jobs, several at a time."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many jobs run at the same time."""

    @abstractmethod
    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """Do jobs, and yield each when it is done.

        If the iterator is closed, or interrupted, the jobs that run are killed.
        """


class LocalExecutor(Executor):
    """Processes on this machine, some at a time."""

    def __init__(self, jobs: int = 1) -> None:
        if jobs < 1:
            raise ValueError(f"the number of jobs must be at least 1, got {jobs}")
        self.jobs = jobs

    @property
    def width(self) -> int:
        """How many jobs run at the same time."""
        return self.jobs

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """Do jobs, and yield each when it is done."""
        runner = Runner()
        finished: SimpleQueue[Future[Outcome]] = SimpleQueue()
        with ThreadPoolExecutor(self.jobs) as pool:
            futures: dict[Future[Outcome], Job] = {}
            try:
                for job in jobs:
                    future = pool.submit(runner.run, job.spec, job.path)
                    futures[future] = job
                    future.add_done_callback(finished.put)
                for _ in jobs:
                    future = _next(finished)
                    yield Done(futures[future], future.result(), cpu_model())
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                runner.stop()


def _next(queue: SimpleQueue[T]) -> T:
    """Wait for an item, and wake up now and then.

    Python deals with signals in the main thread alone. One that another thread gets,
    or that comes just before the wait, would not end a wait without a limit.
    """
    while True:
        with suppress(Empty):
            return queue.get(timeout=_PAUSE)


class DaskExecutor(Executor):
    """The workers of a Dask cluster, a running one or one of some workers here.

    Each thread of a worker does one job at a time, in a process of its own. The
    jobs of a worker that is lost are given to others. Only this process writes results.
    """

    def __init__(
        self, scheduler: str | None = None, workers: int = 1, timeout: float = 10.0
    ) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise ImportError("a cluster needs Dask: pip install 'goct[bench]'") from None
        self._token = uuid4().hex
        self._cluster = None
        if scheduler is None:
            if workers < 1:
                raise ValueError(f"the number of workers must be at least 1, got {workers}")
            self._cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            )
        try:
            self.client = Client(self._cluster or scheduler, timeout=timeout)
        except (OSError, ValueError, TimeoutError) as error:
            raise ValueError(f"no Dask scheduler answers at {scheduler}: {error}") from None

    @property
    def width(self) -> int:
        """How many jobs run at the same time."""
        threads: dict[str, int] = self.client.nthreads()
        return max(sum(threads.values()), 1)

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """Do jobs, and yield each when it is done."""
        from distributed import as_completed as completed
        from distributed.scheduler import KilledWorker

        contents: dict[Path, Any] = {}
        for path in {job.path for job in jobs if job.path is not None}:
            contents[path] = self.client.scatter(path.read_bytes(), broadcast=True)
        futures: dict[Any, Job] = {}
        try:
            for job in jobs:
                data = None if job.path is None else contents[job.path]
                spec = job.spec.to_json()
                future = self.client.submit(
                    run_remotely, spec, data, source_version(), self._token, pure=False, retries=2
                )
                futures[future] = job
            for future in completed(list(futures)):
                try:
                    outcome, processor = future.result()
                except KilledWorker:
                    yield Done(futures[future], None, "")
                else:
                    yield Done(futures[future], Outcome.from_json(outcome), processor)
                future.release()
        finally:
            with suppress(Exception):
                self.client.cancel(list(futures))
            with suppress(Exception):  # what runs already does not notice that it is cancelled
                self.client.run(stop_runs, self._token)
            with suppress(Exception):
                self.client.close()
            if self._cluster is not None:
                self._cluster.close()


_running: set[tuple[str, Runner]] = set()  # on a worker: who asked, and what runs


def run_remotely(spec: str, data: bytes | None, version: str, token: str) -> tuple[str, str]:
    """Do a job on a worker, and return the outcome and the processor.

    The token stands for the campaign, see :func:`stop_runs`. A worker with other sources of goct
    than those of `version` raises a `ValueError`.
    """
    if source_version() != version:
        raise ValueError(f"a worker has goct {source_version()} instead of {version}")
    entry = (token, Runner())
    _running.add(entry)
    try:
        with tempfile.TemporaryDirectory(prefix="goct-bench-") as folder:
            path = None
            if data is not None:
                path = Path(folder, "data.txt.gz")
                path.write_bytes(data)
            outcome = entry[1].run(Spec.from_json(spec), path)
    finally:
        _running.discard(entry)
    return outcome.to_json(), cpu_model()


def stop_runs(token: str) -> None:
    """Kill what a worker runs for a campaign."""
    for owner, runner in list(_running):
        if owner == token:
            runner.stop()
