"""One question on all machines of a Dask cluster.

The client searches as on one machine. But as soon as a question takes longer than a moment, its
threads only decide what comes next, and leave the *units* of the search to the workers: trees that
begin with one feature of one node. Who is idle gets the next unit, with all that is known about it.
A unit that takes long is divided into those of the nodes below it. Workers keep the data and what
they have learnt until the run is over; what took them longest they note for each other.
"""

from __future__ import annotations

import importlib
import itertools
import pickle
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct import _core
from goct._validation import check_binary_matrix
from goct.search.oracle import MEMORY_LIMIT, Delegate, LinearOracle, OracleResult
from goct.solution import Limit

_WAIT = 10.0
"""Seconds to wait for a scheduler, and for a first worker."""
_ALONE, _ALONE_AGAIN = 0.2, 0.05
"""Seconds that the client works by itself first; and if the workers have the data by then."""
_LONG_UNIT = 0.3
"""Seconds after which a feature of a node is divided into those of the nodes below it."""
_LOOK = 0.2
"""Seconds between looks at what may have happened meanwhile."""
_PATIENCE = 30.0
"""Seconds after which a client that is not heard of, or a cluster without workers, is given up."""
_WORD, _SILENCE = 1.0, 5.0
"""Seconds between words with a worker, and after which one that does not answer is given up."""
_AT_ONCE = 2
"""Units that a worker has, so that the next one is there when one is done."""
_NOTES = 2**18
"""Solved row sets, of 32 bytes each, that go from all to all others while each does a unit."""
_SHARE = 0.6
"""How much of a worker's memory may be used."""
_MOST_LOSSES = 3
"""A unit that loses that many workers is given up."""


@dataclass(frozen=True)
class _Question:
    number: int
    costs: NDArray[np.int64]
    split_cost: int
    min_leaf_weight: int
    most_notes: int


class Desk:
    """What a worker keeps: the data, what it has learnt about them, the question at hand."""

    def __init__(
        self, data: tuple[Any, Any], memory_limit: int, n_jobs: int, options: dict[str, Any]
    ) -> None:
        own = {**options, "memory_limit": memory_limit, "n_jobs": n_jobs}
        self._oracle = LinearOracle(*data, **own)
        self._helper: _core.Helper | None = None
        self._number = self._over = -1
        self._heard = 0.0

    def solve(self, message: bytes) -> bytes:
        """Search a unit; return the answer, why it ended, and the number of nodes.

        The question comes with its first units, and notes of the others with each. All are pickled
        here, once: what Dask sends piece by piece takes it ten times as long.
        """
        question: _Question | None
        ticket, question, unit, notes, seconds = pickle.loads(message)
        self._heard = time.monotonic()
        if question is not None and question.number != self._number:
            self._number = question.number
            self._helper = self._oracle.helper(
                question.costs,
                question.split_cost,
                question.min_leaf_weight,
                question.most_notes,
            )
        assert self._helper is not None
        found = self._helper.solve(unit, notes, seconds, lambda *_: self._is_over(ticket))
        return pickle.dumps(found)

    def answer(self, message: bytes) -> bytes:
        """Answer a whole question: a method of the oracle, and its arguments."""
        ticket, method, arguments, seconds = pickle.loads(message)
        self._heard = time.monotonic()
        found = getattr(self._oracle, method)(
            **arguments, time_limit=seconds, callback=lambda _: self._is_over(ticket)
        )
        return pickle.dumps(found)

    def _is_over(self, ticket: int) -> bool:
        return self._over >= ticket or time.monotonic() - self._heard > _PATIENCE

    # What follows is run by the worker's event loop, also during a search.

    async def stop(self, ticket: int) -> None:
        """Stop a search, whether it has begun or not."""
        self._over = ticket

    async def hear(self) -> None:
        """Hear that the client is still there; that this returns says that the worker is, too."""
        self._heard = time.monotonic()


def connect(address: str) -> Any:
    """Return a client of the Dask scheduler at an address, such as ``tcp://host:8786``."""
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("a cluster needs Dask: pip install 'goct[cluster]'") from None
    try:
        return Client(address, timeout=_WAIT)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at {address}: {error}") from None


def _version() -> str:
    return _core.__version__


class _LostError(Exception):
    """A worker is gone."""


@dataclass(eq=False)
class _Seat:
    """A worker, as the client sees it."""

    address: str
    future: Any
    desk: Any
    question: int = -1
    heard: float = -np.inf  # when it last said that it is there
    unread: deque[bytes] = field(default_factory=deque)


class Cluster:
    """The workers of a Dask client, with some data.

    Parameters
    ----------
    client
        A `distributed.Client`.
    data
        The matrix and the weights, as for :class:`LinearOracle`.
    options
        Its options.

    Raises
    ------
    TypeError
        If it is something else.
    ValueError
        If there are no workers, or if they cannot work on the data.
    """

    def __init__(
        self,
        client: Any,
        data: tuple[NDArray[np.uint8], NDArray[np.int64] | None],
        options: dict[str, Any],
    ) -> None:
        needed = ("submit", "scatter", "run", "nthreads", "scheduler_info")
        if not all(callable(getattr(client, name, None)) for name in needed):
            raise TypeError(
                "executor must be a Dask client, such as distributed.Client('tcp://host:8786'), "
                f"got {type(client).__name__}"
            )
        if getattr(client, "asynchronous", False):
            raise ValueError("executor must be a client with asynchronous=False")
        if getattr(client, "status", "running") == "closed":
            raise ValueError("executor: the client is closed; connect a new one to the cluster")
        self.client = client
        self.nodes = self.units = 0
        self.trouble: tuple[str, Limit] | None = None
        self._data = data
        self._options = options
        self._scattered: dict[str, Any] = {}
        try:
            self._check_workers()
            self._check_memory()
        except (OSError, TimeoutError) as error:
            raise ValueError(f"executor: the scheduler does not answer ({error})") from None
        self._lock = threading.Lock()
        self._seats: dict[str, _Seat] = {}
        self._silent: set[str] = set()
        self._idle: SimpleQueue[_Seat] = SimpleQueue()
        self._tickets = itertools.count()
        self._question: _Question | None = None
        self._looked = self._alive = -_PATIENCE

    def _check_workers(self) -> None:
        with suppress(TimeoutError):
            self.client.wait_for_workers(1, timeout=_WAIT)
        self.width = len(self.client.nthreads())
        if not self.width:
            address = self.client.scheduler.address
            raise ValueError(
                f"executor: the cluster at {address} has no workers; start some with "
                f"'dask worker {address}'"
            )

        def version() -> str:  # sent as it is: the worker may not have goct
            return str(importlib.import_module("goct").__version__)

        for worker, found in self.client.run(version, on_error="return").items():
            if found != (own := _version()):
                has = f"goct {found}" if isinstance(found, str) else f"no goct ({found})"
                raise ValueError(
                    f"executor: the worker {worker} has {has}, this is goct {own}; "
                    "install the same version everywhere"
                )

    def memory(self) -> int:
        """Return how many bytes each worker may take."""
        try:
            info = self.client.scheduler_info(n_workers=-1)
        except TypeError:  # older versions tell about all of them
            info = self.client.scheduler_info()
        limits = [w["memory_limit"] for w in info["workers"].values() if w.get("memory_limit")]
        return int(_SHARE * min(limits)) if limits else 2**63 - 1

    def _check_memory(self) -> None:
        memory, size = self.memory(), self._data[0].nbytes
        if 3 * size > memory:
            raise ValueError(
                f"executor: the data take {size / 1e6:.1f} MB, which is too much for the "
                f"{memory / 1e6:.1f} MB that may be used of a worker; start workers with a larger "
                "--memory-limit"
            )
        self._memory_limit = min(self._options.get("memory_limit", MEMORY_LIMIT), memory)

    def begin(self, costs: NDArray[np.int64], split_cost: int, min_leaf_weight: int) -> Delegate:
        """Tell the next question; it goes to the workers with their first units of it."""
        number = 0 if self._question is None else self._question.number + 1
        most_notes = _NOTES // (self.width * (self.width - 1)) if self.width > 1 else 0
        self._question = _Question(number, costs, split_cost, min_leaf_weight, most_notes)
        for seat in self._seats.values():
            seat.unread.clear()
        self.trouble = None
        self.nodes = self.units = 0
        return self.ask, _AT_ONCE * self.width, _ALONE_AGAIN if self._seats else _ALONE, _LONG_UNIT

    def ask(self, unit: Any, seconds: float | None, is_over: Callable[[], bool]) -> Any:
        """Have a unit searched by somebody; return None if the search is over.

        Called by as many threads as workers can have units.
        """
        question = self._question
        assert question is not None

        def message(seat: _Seat, ticket: int) -> bytes:
            is_new = seat.question != question.number
            notes = [seat.unread.popleft() for _ in range(len(seat.unread))]
            return pickle.dumps((ticket, question if is_new else None, unit, notes, seconds))

        while (done := self._have_done("solve", message, is_over)) is not None:
            seat, (answer, reason, nodes) = done
            seat.question = question.number
            with self._lock:
                self.nodes += nodes
                self.units += 1
                self._pass_on(answer[-1], seat)
            if reason == "memory":
                self._give_up("a worker ran out of memory", Limit.MEMORY)
            elif reason != "interrupted":  # or it has not heard of us for long
                return answer
        return None

    def answer_all(
        self,
        method: str,
        questions: Sequence[dict[str, Any]],
        seconds: float | None,
        is_over: Callable[[], bool],
    ) -> tuple[list[Any], bool]:
        """Have questions answered side by side, each by one worker.

        Parameters
        ----------
        method, questions
            A method of :class:`LinearOracle`, and its arguments.
        seconds
            After which a question is stopped.
        is_over
            Called about twenty times per second; stops all by returning True.

        Returns
        -------
        list
            What the method returns; None where a question was stopped, or nobody could answer it.
        bool
            Whether there was a Ctrl-C.
        """
        over = threading.Event()
        self.trouble = None

        def ask(question: dict[str, Any]) -> Any:
            done = self._have_done(
                "answer",
                lambda _, ticket: pickle.dumps((ticket, method, question, seconds)),
                over.is_set,
            )
            return None if done is None else done[1]

        is_interrupted = False
        with ThreadPoolExecutor(_AT_ONCE * self.width) as threads:
            running = [threads.submit(ask, question) for question in questions]
            while True:
                try:
                    if not wait(running, timeout=0.05).not_done:
                        break
                    if is_over():
                        over.set()
                except KeyboardInterrupt:
                    is_interrupted = True
                    over.set()
                except BaseException:
                    over.set()
                    raise
        return [each.result() for each in running], is_interrupted

    def _have_done(
        self, what: str, message: Callable[[_Seat, int], bytes], is_over: Callable[[], bool]
    ) -> tuple[_Seat, Any] | None:
        """Have something done by somebody, a method of a desk; None if the search is over."""
        losses = 0
        while (seat := self._take_seat(is_over)) is not None:
            try:
                found = self._wait_for(seat, what, message, is_over)
            except _LostError:
                losses += 1
                if losses > _MOST_LOSSES:
                    self._give_up(
                        "a unit of the search ends every worker; they may need more memory"
                    )
                continue
            self._idle.put(seat)
            return None if found is None else (seat, found)
        return None

    def _pass_on(self, notes: bytes, sender: _Seat) -> None:
        """Keep notes for the others, the latest ones if they have no time for all of them."""
        for seat in self._seats.values():
            if seat is not sender and notes:
                seat.unread.append(notes)
                while len(seat.unread) > 2 * self.width:
                    seat.unread.popleft()

    def _take_seat(self, is_over: Callable[[], bool]) -> _Seat | None:
        """Return a worker who has room for a unit; None if the search is over."""
        while self.trouble is None and not is_over():
            with self._lock:
                self._look_for_workers()
            with suppress(Empty):
                return self._idle.get(timeout=_LOOK)
        return None

    def _wait_for(
        self,
        seat: _Seat,
        what: str,
        message: Callable[[_Seat, int], bytes],
        is_over: Callable[[], bool],
    ) -> Any:
        ticket = next(self._tickets)
        sent = message(seat, ticket)
        answers: SimpleQueue[Any] = SimpleQueue()

        async def ask() -> None:
            try:
                answers.put(await getattr(seat.desk, what)(sent))
            except Exception as error:
                answers.put(error)

        async def greet() -> None:
            with suppress(Exception):
                await seat.desk.hear()
                seat.heard = time.monotonic()

        begun = next_word = time.monotonic()
        try:
            self.client.loop.add_callback(ask)
            while True:
                with suppress(Empty):
                    answer = answers.get(timeout=_LOOK)
                    if isinstance(answer, Exception):
                        raise answer
                    return pickle.loads(answer)
                if self.trouble is not None or is_over():
                    seat.desk.stop(ticket)
                    return None
                if (now := time.monotonic()) > next_word:
                    next_word = now + _WORD
                    self.client.loop.add_callback(greet)
                with self._lock:
                    if now > max(begun, seat.heard) + _SILENCE:  # stopped, or its machine is
                        self._silent.add(seat.address)
                        self._seats.pop(seat.address, None)
                    self._look_for_workers()
                if seat.address not in self._seats:
                    raise _LostError
        except (OSError, RuntimeError) as error:  # what Dask raises if an actor is lost
            with self._lock:
                self._seats.pop(seat.address, None)
            raise _LostError from error

    def _look_for_workers(self) -> None:
        """See who is there, once per second; give a desk to those who have none."""
        now = time.monotonic()
        if now < self._looked + 1:
            return
        self._looked = now
        try:
            if self.client.status != "running":
                return self._give_up("the scheduler is gone")
            workers = self.client.nthreads()
            for address in self._seats.keys() - workers.keys():
                del self._seats[address]
            known = self._seats.keys() | self._silent
            new = {a: n for a, n in workers.items() if a not in known}
            if new:
                self._make_seats(new)
        except (OSError, RuntimeError, TimeoutError) as error:
            self._give_up(f"the scheduler does not answer any more ({error})")
        if self._seats or self._alive < 0:
            self._alive = now
        elif now - self._alive > _PATIENCE:
            self._give_up("all workers are gone")

    def _make_seats(self, workers: dict[str, int]) -> None:
        from distributed import CancelledError, KilledWorker

        lost = OSError, RuntimeError, KilledWorker, CancelledError, TimeoutError
        futures = {}
        for address, threads in workers.items():
            with suppress(*lost):
                # To each by itself: what is sent to all, from one to the other, may never arrive.
                data = self.client.scatter(self._data, workers=[address], hash=False)
                futures[address] = self.client.submit(
                    *(Desk, data, self._memory_limit, threads, self._options),
                    workers=[address],
                    actor=True,
                    pure=False,
                )
                self._scattered[address] = data
        for address, future in futures.items():
            with suppress(*lost):
                seat = _Seat(address, future, future.result(timeout=_PATIENCE))
                self._seats[address] = seat
                for _ in range(_AT_ONCE):
                    self._idle.put(seat)

    def _give_up(self, why: str, limit: Limit = Limit.INTERRUPTED) -> None:
        self.trouble = (why, limit)

    def close(self) -> None:
        """Let the workers forget the data."""
        with suppress(Exception):
            self.client.cancel([seat.future for seat in self._seats.values()], force=True)
        self._seats.clear()
        self._silent.clear()
        self._idle = SimpleQueue()
        self._scattered.clear()
        self._looked = -_PATIENCE


class ClusterOracle(LinearOracle):
    """A :class:`LinearOracle` that has the workers of a Dask cluster.

    Answers are the same; limits, callbacks and Ctrl-C work as there. One front alone is searched
    here.

    Parameters
    ----------
    X, weights, **options
        As for :class:`LinearOracle`.
    executor
        A `distributed.Client`.

    Attributes
    ----------
    cluster
        The workers.
    """

    def __init__(
        self, X: ArrayLike, weights: ArrayLike | None = None, *, executor: Any, **options: Any
    ) -> None:
        super().__init__(X, weights, **options)
        row_weights = None if weights is None else np.asarray(weights, dtype=np.int64)
        self.cluster = Cluster(executor, (check_binary_matrix(X), row_weights), options)

    def close(self) -> None:
        """Let the workers forget the data."""
        self.cluster.close()

    def _delegate(
        self, costs: NDArray[np.int64], split_cost: int, min_leaf_weight: int
    ) -> Delegate | None:
        return self.cluster.begin(costs, split_cost, min_leaf_weight)

    def solve(self, costs: ArrayLike, **question: Any) -> OracleResult:
        """Find the cheapest tree, see :meth:`LinearOracle.solve`."""
        return self._judged([super().solve(costs, **question)])[0]

    def solve_budgets(self, costs: ArrayLike, **question: Any) -> list[OracleResult]:
        """Find the cheapest tree for every budget, see :meth:`LinearOracle.solve_budgets`."""
        return self._judged(super().solve_budgets(costs, **question))

    def _judged(self, found: Sequence[OracleResult]) -> list[OracleResult]:
        """Add what the workers did, and say if they could not go on."""
        cluster = self.cluster
        for result in found[:1]:  # all have the same
            result.stats["nodes"] += cluster.nodes
            result.stats["units"] = cluster.units
        if cluster.trouble is None:
            return list(found)
        why, limit = cluster.trouble
        warnings.warn(f"executor: {why}; the result is the best tree so far", RuntimeWarning, 3)
        return [replace(result, limit=limit) for result in found]
