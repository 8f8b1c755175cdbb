"""How a fit would speed up on 2 to 1,024 workers: recorded times of units, replayed.

    python benchmarks/simulate_cluster.py record splice-1 4 units.json
    python benchmarks/simulate_cluster.py replay units.json --seconds 600

`record` asks one question about accuracy as the client of a cluster does (`goct.search.cluster`),
with one helper in the same process and units as small as they become: single features of the nodes
below the root. It writes down the seconds that each of them takes. `replay` lets workers that do
not exist do them by the rules of the search (`Search::Loop` in `cpp/search.cpp`): features of the
root go out as a whole; one that takes longer than 0.3 s is divided, and so are the next three at
once; who has nothing to do takes the next feature of the root, or joins the loop over the features
of a node below it. Each worker has up to two units, one after the other. A message takes the
latency, and the client is busy with every unit for a while. What it cannot know: how much of a
result that is known to the client a worker would have had to find again (`--inflation` multiplies
all times).
`--seconds` stretches them to a longer question of the same kind.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import default_folder, load_problem, row
from goct.search import LinearOracle
from goct.search.oracle import Delegate

WORKERS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
LATENCIES = (0.001, 0.01, 0.1)
HANDLING = 0.003
"""Seconds that the client is busy with each unit; measured."""
LONG_UNIT = 0.3
UNIT_TIME = 0.25
LONGEST_UNIT = 1.0
MOST_STARTS = 64
DIVIDED_AT_ONCE = 3
AT_ONCE = 2
"""See `goct.search.cluster` and `cpp/search.cpp`."""


class Recorder(LinearOracle):
    """An oracle with one helper, whose units are timed."""

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        self._other = LinearOracle(X)
        self.sides: dict[int, list[float]] = {}  # of features of the root, one by one
        self.begin = 0.0  # of the first one

    def _delegate(self, costs: Any, split_cost: int, min_leaf_weight: int) -> Delegate:
        helper = self._other.helper(costs, split_cost, min_leaf_weight)

        def ask(unit: Any, _seconds: float | None, _is_over: Any) -> Any:
            path = unit[3]
            if not path:  # to be divided
                self.begin = self.begin or time.process_time()
                return [], False, 0.0, b""
            start = time.process_time()
            one = (*unit[:5], unit[5][:1])  # feature at a time
            answer = helper.solve(one, [], None, None)[0]
            self.sides.setdefault(path[0], []).append(time.process_time() - start)
            return answer

        return ask, 1, 0.2, 1e-9


def record(folder: Path, name: str, depth: int, file: Path) -> None:
    problem = load_problem(folder, name)
    costs = problem.counts.sum(axis=1, keepdims=True) - problem.counts
    oracle = Recorder(problem.X)
    start = time.process_time()
    oracle.solve(costs, max_depth=depth)
    roots: dict[int, list[list[float]]] = {}
    for step, times in oracle.sides.items():
        roots.setdefault(max(step, ~step), []).append(times)
    units = [t for sides in roots.values() for side in sides for t in side]
    alone = oracle.begin - start
    text = {"name": name, "depth": depth, "alone": alone, "roots": list(roots.values())}
    file.write_text(json.dumps(text), encoding="utf-8")
    print(
        f"{len(roots)} features of the root, {len(units)} units, {sum(units):.1f} s, the longest "
        f"{max(units):.2f} s; {alone:.2f} s before"
    )


@dataclass
class Loop:
    """One side of a feature of the root: its units, and those that come after it."""

    owner: int
    left: deque[float]
    later: list[list[float]]
    running: int = 0


@dataclass
class Simulation:
    """Workers that do the units of a question."""

    roots: Sequence[list[list[float]]]
    workers: int
    latency: float
    now: float
    divided: int = 0
    next_root: int = 0
    loops: list[Loop] = field(default_factory=list)
    ends: list[tuple[float, int, int, int, Loop | list[list[float]] | None]] = field(
        default_factory=list
    )
    paces: list[float] = field(default_factory=lambda: [0.0, 0.0])
    client: float = 0.0
    seats: deque[int] = field(default_factory=deque)  # of workers who have room for a unit
    free: list[float] = field(default_factory=list)  # when each of them will have none

    def run(self) -> float:
        """Return when the last unit is done."""
        self.seats = deque(list(range(self.workers)) * AT_ONCE)
        self.free = [0.0] * self.workers
        idle = list(range(AT_ONCE * self.workers))  # threads of the client
        while True:
            idle = [worker for worker in idle if not self._begin(worker)]
            if not self.ends:
                return self.now
            self.now, _, seat, worker, what = heapq.heappop(self.ends)
            self.seats.append(seat)
            if isinstance(what, list):  # took too long as a whole
                self.divided = DIVIDED_AT_ONCE
                self._open(worker, what)
                continue
            if what is None:
                idle.append(worker)
                continue
            what.running -= 1
            if what.left:
                self._start(worker, what)
            elif what.running:
                if worker != what.owner:
                    idle.append(worker)
            else:
                if worker != what.owner:
                    idle.append(worker)
                self.loops.remove(what)
                if what.later:
                    self._open(what.owner, what.later)
                else:
                    idle.append(what.owner)

    def _begin(self, worker: int) -> bool:
        """Give work to somebody; False if there is none."""
        if self.next_root < len(self.roots):
            sides = self.roots[self.next_root]
            if self.divided:
                self.divided -= 1
                self.next_root += 1
                self._open(worker, sides)
                return True
            most = self._batch(0, len(self.roots) - self.next_root)
            batch = self.roots[self.next_root : self.next_root + most]
            self.next_root += most
            seconds = sum(t for sides in batch for side in sides for t in side)
            longest = min(LONG_UNIT * most, LONGEST_UNIT)
            if seconds > longest:  # no more than the first one is divided
                self.next_root -= most - 1
                self._end(worker, longest, sides)
            else:
                self._learn(0, seconds / most)
                self._end(worker, seconds, None)
            return True
        loop = max(self.loops, key=lambda each: len(each.left), default=None)
        if loop is None or not loop.left:
            return False
        self._start(worker, loop)
        return True

    def _open(self, worker: int, sides: list[list[float]]) -> None:
        loop = Loop(worker, deque(sides[0]), sides[1:])
        self.loops.append(loop)
        self._start(worker, loop)

    def _start(self, worker: int, loop: Loop) -> None:
        batch = [loop.left.popleft() for _ in range(self._batch(1, len(loop.left)))]
        self._learn(1, sum(batch) / len(batch))
        loop.running += 1
        self._end(worker, sum(batch), loop)

    def _end(self, worker: int, seconds: float, what: Any) -> None:
        self.client = max(self.client, self.now) + HANDLING
        seat = self.seats.popleft()
        self.free[seat] = max(self.client + self.latency, self.free[seat]) + seconds
        end = self.free[seat] + self.latency
        heapq.heappush(self.ends, (end, len(self.ends), seat, worker, what))

    def _batch(self, level: int, left: int) -> int:
        pace = self.paces[level]
        most = UNIT_TIME / pace if pace else 1
        share = left if level else left // (2 * AT_ONCE * self.workers)
        return int(min(max(min(most, share), 1), MOST_STARTS))

    def _learn(self, level: int, seconds: float) -> None:
        old = self.paces[level]
        self.paces[level] = 0.7 * old + 0.3 * seconds if old else seconds


def show(file: Path, seconds: float | None, inflation: float) -> None:
    recorded = json.loads(file.read_text(encoding="utf-8"))
    roots = recorded["roots"]
    units = [t for sides in roots for side in sides for t in side]
    factor = 1.0 if seconds is None else seconds / sum(units)
    alone = recorded["alone"]
    total = alone + factor * sum(units)
    print(
        f"\n{recorded['name']}, depth {recorded['depth']}: {len(roots)} features of the root, "
        f"{len(units)} units, {total:.0f} s alone, the longest unit {factor * max(units):.1f} s\n"
    )
    row("workers", *(f"{1000 * lag:.0f} ms" for lag in LATENCIES))
    row("---:", *["---:"] * len(LATENCIES))
    slower = [[[t * factor * inflation for t in side] for side in sides] for sides in roots]
    for workers in WORKERS:
        cells = [total / Simulation(slower, workers, lag, alone).run() for lag in LATENCIES]
        row(workers, *(f"{cell:.1f}" for cell in cells))


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = arguments.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("name")
    recording.add_argument("depth", type=int)
    recording.add_argument("file", type=Path)
    recording.add_argument("--data", type=Path, default=default_folder())
    replaying = commands.add_parser("replay")
    replaying.add_argument("file", type=Path)
    replaying.add_argument("--seconds", type=float)
    replaying.add_argument("--inflation", type=float, default=1.0)
    options = arguments.parse_args()
    if options.command == "record":
        record(options.data, options.name, options.depth, options.file)
    else:
        show(options.file, options.seconds, options.inflation)


if __name__ == "__main__":
    main()
