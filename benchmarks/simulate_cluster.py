"""How a fit would speed up on 2 to 1,024 workers: recorded times of parts, replayed.

    python benchmarks/simulate_cluster.py record splice-1 4 parts.json
    python benchmarks/simulate_cluster.py replay parts.json --seconds 600

`record` asks one question about accuracy as a client does, with each column to begin with as a
part, and writes down the CPU seconds of every part. `replay` lets the client of
`goct.search.parts` hand these parts out to workers that do not exist: a message takes the latency,
and the client some time for each part. What it cannot know: workers do not share what they learn,
so that all parts together take longer than here (`--inflation` multiplies them), and a better tree
found by one worker is known to the others a little later. `--seconds` stretches all times to a
longer question of the same kind.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import goct.search.parts as rules
from common import default_folder, load_problem, row
from goct.search import LinearOracle
from goct.search.parts import Part, Question, Spread

WORKERS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
LATENCIES = (0.001, 0.01, 0.1)
HANDLING = 0.001
"""Seconds that the client is busy with each part."""


def record(folder: Path, name: str, depth: int, file: Path) -> None:
    problem = load_problem(folder, name)
    counts = problem.counts
    costs = counts.sum(axis=1, keepdims=True) - counts
    oracle = LinearOracle(problem.X)
    start = time.process_time()
    first = oracle.solve(costs, max_depth=depth, time_limit=1.0)
    alone = time.process_time() - start
    question = Question(costs.astype(np.int64), depth)
    best = first.cost if first.cost is not None else int(costs.sum()) + 1
    parts = question.divide(oracle, [best])
    roots, _ = parts.order(None, None)
    times = []
    for column, bound in roots:
        start = time.process_time()
        if bound < best:
            ((tree, cost, _, _),), _, _ = parts.solve([column], [best], None, None)
            best = cost if tree is not None else best
        times.append(time.process_time() - start)
    text = json.dumps({"name": name, "depth": depth, "alone": alone, "times": times})
    file.write_text(text, encoding="utf-8")
    print(f"{len(times)} parts, {sum(times):.1f} s, the longest {max(times):.2f} s")


def replay(
    times: list[float], alone: float, workers: int, latency: float, part_seconds: float
) -> float:
    """Return when the last part is done."""
    rules.PART_SECONDS = part_seconds
    nothing = LinearOracle(np.array([[0], [1]])).solve(np.array([[0, 1], [1, 0]]), max_depth=0)
    spread = Spread([(i, 0) for i in range(len(times))], [replace(nothing, bound=0)], [1])
    now = client_free = alone
    running: list[tuple[float, int, Part]] = []
    idle = workers
    while True:
        while idle and (part := spread.draw(workers)) is not None:
            client_free = max(client_free, now) + HANDLING
            seconds = sum(times[i] for i in part.columns)
            end = client_free + 2 * latency + seconds
            heapq.heappush(running, (end, part.place, part))
            idle -= 1
        if not running:
            return now
        now, _, part = heapq.heappop(running)
        idle += 1
        seconds = sum(times[i] for i in part.columns)
        spread.take(part, [(None, 0, 1, True)], nodes=0, seconds=seconds)


def show(file: Path, seconds: float | None, inflation: float) -> None:
    recorded = json.loads(file.read_text(encoding="utf-8"))
    times = [t for t in recorded["times"] if t > 0]
    factor = 1.0 if seconds is None else seconds / sum(times)
    times = [t * factor for t in times]
    alone = recorded["alone"]
    total = alone + sum(times)
    print(
        f"\n{recorded['name']}, depth {recorded['depth']}: {len(times)} parts, {total:.0f} s "
        f"alone, the longest part {max(times):.1f} s\n"
    )
    row("workers", *(f"{1000 * lag:.0f} ms" for lag in LATENCIES), "parts of 0.1 s", "of 10 s")
    row("---:", *["---:"] * (len(LATENCIES) + 2))
    slower = [t * inflation for t in times]
    for workers in WORKERS:
        cells = [total / replay(slower, alone, workers, lag, 1.0) for lag in LATENCIES]
        cells += [total / replay(slower, alone, workers, 0.01, size) for size in (0.1, 10.0)]
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
