"""One question on all machines of a Dask cluster.

The client asks its own oracle first, for a moment: most questions need no more.
Then it hands out parts of the question (see :mod:`goct.search.parts`), one to each
thread of the workers at a time. Workers keep the data and what they have learnt.
A *board*, which all read twice per second, tells the best costs so far, and when to
stop. If it stands still, the client is gone, and the workers stop by themselves.
"""

from __future__ import annotations

import importlib
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goct import _core
from goct._validation import check_binary_matrix
from goct.search.oracle import (
    Effort,
    FrontResult,
    LinearOracle,
    OracleProgress,
    OracleResult,
    OracleStatus,
    TreeTuple,
)
from goct.search.parts import Best, CoreAnswer, Part, Question, Spread
from goct.solution import Limit

_WAIT = 10.0
"""Seconds to wait for a scheduler, and for a first worker."""
_ALONE = 1.0
"""Seconds that the client works by itself first."""
_LOOK = 0.05
_BEAT = 0.5
"""Seconds between looks at the futures, and between messages to the workers."""
_PATIENCE = 30.0
"""Seconds after which a board that stands still, or a cluster without workers, is given up."""
_FAREWELL = 3.0
"""Seconds that workers have to answer after a stop."""
_SHARE = 0.6
"""How much of a worker's memory may be used."""
_MOST_LOSSES = 3
"""A part that loses that many workers is given up."""

Callback: TypeAlias = "Callable[[OracleProgress], bool | None]"


# ---- on a worker ----


@dataclass(frozen=True)
class _Data:
    token: str
    X: NDArray[np.uint8]
    weights: NDArray[np.int64] | None
    options: dict[str, Any]


@dataclass(frozen=True)
class _Ask:
    """A question, its number, and where the board is."""

    number: int
    question: Question
    cutoffs: tuple[int, ...]
    board: str


@dataclass
class _Desk:
    """What one thread of a worker keeps."""

    oracle: LinearOracle
    number: int = -1
    parts: _core.Parts | None = None

    def parts_of(self, ask: _Ask) -> _core.Parts:
        if self.parts is None or self.number != ask.number:
            self.parts = ask.question.divide(self.oracle, ask.cutoffs)
            self.number = ask.number
        return self.parts


_desks: dict[str, list[_Desk]] = {}
_lock = threading.Lock()


@contextmanager
def _desk(data: _Data) -> Iterator[_Desk]:
    """Lend a desk for some data that nobody sits at."""
    with _lock:
        free = _desks.setdefault(data.token, [])
        desk = free.pop() if free else None
    if desk is None:
        desk = _Desk(LinearOracle(data.X, data.weights, **data.options))
    try:
        yield desk
    finally:
        with _lock:
            if data.token in _desks:  # or it was cleared meanwhile
                _desks[data.token].append(desk)


def clear_desks(token: str) -> None:
    """Forget some data."""
    with _lock:
        _desks.pop(token, None)


@dataclass
class _Watch:
    """Reads the board while a part is searched."""

    board: Any
    part: Part
    cutoffs: list[int]
    is_better: bool = False
    """Whether somebody has found a better tree."""
    is_over: bool = False
    _beat: int = -1
    _heard: float = field(default_factory=time.monotonic)
    _read: float = 0.0

    def __call__(self, *_: object) -> bool:
        now = time.monotonic()
        if now >= self._read:
            self._read = now + _BEAT
            with suppress(TimeoutError, OSError):
                self._look(self.board.get(timeout=_BEAT), now)
            self.is_over = self.is_over or time.monotonic() - self._heard > _PATIENCE
        return self.is_better or self.is_over

    def _look(self, board: dict[str, Any], now: float) -> None:
        if board["beat"] != self._beat:
            self._beat, self._heard = board["beat"], now
        self.is_over = board["stop"]
        cutoffs = Best(tuple(board["costs"]), tuple(board["places"])).cutoffs(self.part)
        self.is_better = any(a < b for a, b in zip(cutoffs, self.cutoffs, strict=True))
        self.cutoffs = [min(a, b) for a, b in zip(cutoffs, self.cutoffs, strict=True)]


def search_part(
    data: _Data, ask: _Ask, part: Part, cutoffs: list[int]
) -> tuple[list[CoreAnswer], str, int, float]:
    """Search a part on a worker; return the answers, why it ended, nodes and seconds.

    When somebody else finds a better tree, the part is begun again: what is known by
    then is not searched twice, and with a lower cutoff it ends earlier.
    """
    from distributed import Variable

    start, total = time.perf_counter(), 0
    watch = _Watch(Variable(ask.board), part, cutoffs)
    with _desk(data) as desk:
        parts = desk.parts_of(ask)
        while True:
            watch.is_better = False
            answers, reason, nodes = parts.solve(list(part.columns), watch.cutoffs, None, watch)
            total += nodes
            if not watch.is_better or watch.is_over:
                break
    return answers, reason, total, time.perf_counter() - start


# ---- on the client ----


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


class PartError(Exception):
    """A worker could not search a part."""


class Cluster:
    """The workers of a Dask client, with some data.

    Parameters
    ----------
    client
        A `distributed.Client`.

    Raises
    ------
    TypeError
        If it is something else.
    ValueError
        If there are no workers, or if they cannot work on the data.
    """

    def __init__(self, client: Any) -> None:
        needed = ("submit", "scatter", "run", "nthreads", "scheduler_info")
        if not all(callable(getattr(client, name, None)) for name in needed):
            raise TypeError(
                "executor must be a Dask client, such as distributed.Client('tcp://host:8786'), "
                f"got {type(client).__name__}"
            )
        if getattr(client, "asynchronous", False):
            raise ValueError("executor must be a client with asynchronous=False")
        self.client = client
        self.token = uuid4().hex
        self.numbers = 0
        self._data: Any = None
        self._future: Any = None
        self._check_workers()

    @property
    def width(self) -> int:
        """How many parts can be searched at the same time."""
        threads: dict[str, int] = self.client.nthreads()
        return sum(threads.values())

    def _check_workers(self) -> None:
        with suppress(TimeoutError):
            self.client.wait_for_workers(1, timeout=_WAIT)
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
        """Return how many bytes each thread of a worker may take."""
        try:
            info = self.client.scheduler_info(n_workers=-1)
        except TypeError:  # older versions tell about all of them
            info = self.client.scheduler_info()
        shares = [
            worker["memory_limit"] / worker["nthreads"]
            for worker in info["workers"].values()
            if worker.get("memory_limit")
        ]
        return int(_SHARE * min(shares)) if shares else 2**63 - 1

    def send(
        self, X: NDArray[np.uint8], weights: NDArray[np.int64] | None, options: dict[str, Any]
    ) -> None:
        """Tell what the data are; they go to the workers when they are needed."""
        memory = self.memory()
        if 3 * X.nbytes > memory:
            raise ValueError(
                f"executor: the data take {X.nbytes >> 20} MB, which is too much for "
                f"{memory >> 20} MB per thread of a worker; start workers with a larger "
                "--memory-limit or fewer threads"
            )
        limit = min(options.get("memory_limit", 1 << 30), memory)
        self._data = _Data(self.token, X, weights, {**options, "memory_limit": limit, "n_jobs": 1})

    def data(self, *, again: bool = False) -> Any:
        """Return the data on the workers."""
        if self._future is None or again:
            self._future = self.client.scatter(self._data, broadcast=True, hash=False)
        return self._future

    def close(self) -> None:
        """Let the workers forget the data."""
        if self._future is not None:
            self._future = None
            with suppress(Exception):
                self.client.run(clear_desks, self.token)


class _Run:
    """One question on a cluster."""

    def __init__(self, cluster: Cluster, spread: Spread, ask: _Ask) -> None:
        from distributed import Variable

        self.cluster = cluster
        self.client = cluster.client
        self.spread = spread
        self.ask = ask
        self.board = Variable(ask.board, client=self.client)
        self.limit = Limit.NONE
        self.width = cluster.width
        self._futures: dict[Any, Part] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._losses: dict[int, int] = {}
        self._beats = 0
        self._next_beat = 0.0
        self._alive = time.monotonic()

    def go(self, is_over: Callable[[], Limit]) -> None:
        """Hand out parts until all are done, or `is_over` says why not."""
        try:
            self._tell()
            while not self.spread.is_done and self.limit is Limit.NONE:
                self._hand_out()
                self._collect(_LOOK)
                self._keep_contact()
                self.limit = is_over() if self.limit is Limit.NONE else self.limit
        except KeyboardInterrupt:
            self.limit = Limit.INTERRUPTED
        except (OSError, TimeoutError, RuntimeError) as error:
            self._give_up(f"the scheduler does not answer any more ({error})")
        finally:
            self._end()

    def _give_up(self, why: str, limit: Limit = Limit.INTERRUPTED) -> None:
        warnings.warn(f"executor: {why}; the result is the best tree so far", RuntimeWarning, 2)
        self.limit = limit

    def _hand_out(self) -> None:
        while len(self._futures) < self.width:
            part = self.spread.draw(self.width)
            if part is None:
                return
            cutoffs = self.spread.best.cutoffs(part)
            lost = part.place in self._losses
            future = self.client.submit(
                *(search_part, self.cluster.data(again=lost), self.ask, part, cutoffs),
                key=f"goct-{self.ask.board}-{part.place}-{uuid4().hex[:8]}",
                pure=False,
            )
            self._futures[future] = part
            future.add_done_callback(self._done.put)

    def _collect(self, seconds: float) -> None:
        """Wait for a part that is done, and take all that are."""
        with suppress(Empty):
            self._take(self._done.get(timeout=seconds))
            while True:
                self._take(self._done.get_nowait())

    def _take(self, future: Any) -> None:
        part = self._futures.pop(future, None)
        if part is None:
            return
        if future.status != "finished":
            return self._lose(part, future)
        answers, reason, nodes, seconds = future.result()
        before = self.spread.best
        self.spread.take(part, answers, nodes=nodes, seconds=seconds)
        if Limit(reason) is not Limit.NONE:
            self.spread.put_back(part)
            if self.limit is Limit.NONE:
                why = "a worker ran out of memory" if reason == "memory" else "a worker stopped"
                self._give_up(why, Limit(reason))
        if self.spread.best != before:
            self._tell()

    def _lose(self, part: Part, future: Any) -> None:
        """Deal with a part whose worker, or whose data, are gone; or that failed."""
        from distributed import KilledWorker

        error = future.exception() if future.status == "error" else None
        self.spread.put_back(part)
        if error is not None and not isinstance(error, KilledWorker):
            raise PartError(f"executor: a worker failed: {error}") from error
        self._losses[part.place] = self._losses.get(part.place, 0) + 1
        if self.client.status != "running":
            self._give_up("the scheduler is gone")
        elif isinstance(error, KilledWorker) or self._losses[part.place] > _MOST_LOSSES:
            self._give_up("a part of the search ends every worker; they may need more memory")

    def _tell(self, *, stop: bool = False) -> None:
        """Write on the board."""
        best = self.spread.best
        self._beats += 1
        self._next_beat = time.monotonic() + _BEAT
        message = {"beat": self._beats, "stop": stop, "costs": best.costs, "places": best.places}
        self.board.set(message)

    def _keep_contact(self) -> None:
        now = time.monotonic()
        if now < self._next_beat:
            return
        if self.client.status != "running":
            return self._give_up("the scheduler is gone")
        self._tell()
        self.width = self.cluster.width
        if self.width:
            self._alive = now
        elif now - self._alive > _PATIENCE:
            self._give_up("all workers are gone")

    def _end(self) -> None:
        """Stop what still runs, and take what it has found out."""
        with suppress(Exception):
            if self._futures:
                self._tell(stop=True)
                until = time.monotonic() + _FAREWELL
                while self._futures and time.monotonic() < until:
                    self._collect(_LOOK)
            self.client.cancel(list(self._futures), force=True)
            self.board.delete()


class ClusterOracle:
    """A :class:`LinearOracle` that has the workers of a Dask cluster.

    Answers are those of a :class:`LinearOracle`; limits, callbacks and Ctrl-C work
    as there. Fronts are searched here.

    Parameters
    ----------
    X, weights, **options
        As for :class:`LinearOracle`.
    executor
        A `distributed.Client`.
    """

    def __init__(
        self, X: ArrayLike, weights: ArrayLike | None = None, *, executor: Any, **options: Any
    ) -> None:
        self._local = LinearOracle(X, weights, **options)
        self._cluster = Cluster(executor)
        row_weights = None if weights is None else np.asarray(weights, dtype=np.int64)
        self._cluster.send(check_binary_matrix(X), row_weights, options)

    def close(self) -> None:
        """Let the workers forget the data."""
        self._cluster.close()

    def search_front(self, *arguments: Any, **question: Any) -> FrontResult:
        """Look for wanted trees inside the hull, see :meth:`LinearOracle.search_front`."""
        return self._local.search_front(*arguments, **question)

    def solve(
        self,
        costs: ArrayLike,
        *,
        max_depth: int,
        split_cost: int = 0,
        max_splits: int | None = None,
        cutoff: int | None = None,
        effort: Effort = Effort.ALL,
        **more: Any,
    ) -> OracleResult:
        """Find the cheapest tree, see :meth:`LinearOracle.solve`."""
        if max_splits is not None and max_splits < 2 ** min(max_depth, 60) - 1:
            cutoffs = _budget_cutoffs(max_splits, split_cost, cutoff)
            found = self.solve_budgets(
                costs, max_depth=max_depth, max_splits=max_splits, cutoffs=cutoffs, **more
            )
            return _cheapest(found, split_cost)
        matrix = np.asarray(costs, dtype=np.int64)
        question = Question(matrix, max_depth, split_cost, more.pop("min_leaf_weight", 0))
        keywords = {**question.keywords, "cutoff": cutoff, "effort": effort}

        def ask(limits: dict[str, Any]) -> list[OracleResult]:
            return [self._local.solve(costs, **keywords, **limits)]

        if effort is Effort.FIRST_TREES:
            return ask(more)[0]
        return self._answer(question, [_LARGEST if cutoff is None else cutoff], ask, **more)[0]

    def solve_budgets(
        self,
        costs: ArrayLike,
        *,
        max_depth: int,
        max_splits: int,
        min_leaf_weight: int = 0,
        cutoffs: Sequence[int] | None = None,
        **more: Any,
    ) -> list[OracleResult]:
        """Find the cheapest tree for every budget, see :meth:`LinearOracle.solve_budgets`."""
        matrix = np.asarray(costs, dtype=np.int64)
        question = Question(matrix, max_depth, 0, min_leaf_weight, max_splits)

        def ask(limits: dict[str, Any]) -> list[OracleResult]:
            keywords = {k: v for k, v in question.keywords.items() if k != "split_cost"}
            return self._local.solve_budgets(costs, cutoffs=cutoffs, **keywords, **limits)

        wanted = [_LARGEST] * question.budgets if cutoffs is None else list(cutoffs)
        return self._answer(question, wanted, ask, **more)

    def _answer(
        self,
        question: Question,
        cutoffs: Sequence[int],
        ask: Callable[[dict[str, Any]], list[OracleResult]],
        time_limit: float | None = None,
        callback: Callback | None = None,
    ) -> list[OracleResult]:
        """Ask the oracle here for a moment, then all workers."""
        begin = time.monotonic()

        def left() -> float | None:
            return None if time_limit is None else time_limit - (time.monotonic() - begin)

        is_short = time_limit is not None and time_limit <= _ALONE
        first = ask({"time_limit": time_limit if is_short else _ALONE, "callback": callback})
        if first[0].limit is not Limit.TIME or is_short:
            return first
        # A tree that is as good as the one from here may come before it, see Best.
        wanted = [
            min(max(-_LARGEST, limit), _LARGEST if known.cost is None else known.cost + 1)
            for limit, known in zip(cutoffs, first, strict=True)
        ]
        roots, reason = question.divide(self._local, wanted).order(left(), None)
        spread = Spread(roots, first, wanted)
        if reason != "none":
            return spread.results(Limit(reason), first[0].stats)
        if not roots:
            return ask({"time_limit": left(), "callback": callback})

        def is_over() -> Limit:
            seconds, last = left(), len(first) - 1
            if seconds is not None and seconds <= 0:
                return Limit.TIME
            state = OracleProgress(
                time.monotonic() - begin, best_cost(), spread.bound(last), spread.nodes, 0, 0
            )
            return Limit.INTERRUPTED if callback is not None and callback(state) else Limit.NONE

        def best_cost() -> int | None:
            return spread.results(Limit.TIME, {})[-1].cost

        self._cluster.numbers += 1
        board = f"goct-{uuid4().hex}"
        asked = _Ask(self._cluster.numbers, question, tuple(wanted), board)
        run = _Run(self._cluster, spread, asked)
        run.go(is_over)
        stats = {
            **first[0].stats,
            "seconds": time.monotonic() - begin,
            "nodes": int(first[0].stats["nodes"]) + spread.nodes,
            "parts": len(spread.durations),
        }
        return spread.results(run.limit, stats)


_LARGEST = 2**62


def _budget_cutoffs(max_splits: int, split_cost: int, cutoff: int | None) -> list[int]:
    """Return what trees without the price of their splits must stay below, by split budget."""
    whole = _LARGEST if cutoff is None else cutoff
    if not split_cost:
        return [-_LARGEST] * max_splits + [whole]  # only the largest budget matters
    return [whole - m * split_cost for m in range(max_splits + 1)]


def _cheapest(found: Sequence[OracleResult], split_cost: int) -> OracleResult:
    """Return the cheapest of the trees of all split budgets, their splits included."""
    if not split_cost:
        return found[-1]
    bound = min(result.bound + m * split_cost for m, result in enumerate(found))
    priced = [
        (result.cost + count_splits(result.tree) * split_cost, m)
        for m, result in enumerate(found)
        if result.tree is not None and result.cost is not None
    ]
    last = found[-1]
    if not priced:
        return replace(last, tree=None, cost=None, bound=bound)
    cost, m = min(priced)
    status = last.status if last.limit is not Limit.NONE else OracleStatus.OPTIMAL
    return replace(found[m], cost=cost, bound=min(bound, cost), status=status)


def count_splits(tree: TreeTuple) -> int:
    """Return the number of splits of a tree of the core."""
    return 0 if isinstance(tree, int) else 1 + count_splits(tree[1]) + count_splits(tree[2])
