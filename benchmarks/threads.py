"""What more threads gain: speed-up measured, and derived from CPU times.

    python benchmarks/threads.py --jobs 2
    python benchmarks/threads.py --only mcc path --short
    python benchmarks/threads.py --workers 2 --only "accuracy d6"

On a machine that does nothing else, the ratio of the wall times is the speed-up. On a busy one it
is not, and two figures take its place: *CPU* is what all threads together take over what one takes
alone (1 is ideal), *busiest* the share of the busiest thread in windows of half a second
(1 / threads is ideal). The derived speed-up is 1 / (CPU x busiest): what an idle machine would show
if threads did not slow each other down. The shares are read from /proc, so they need Linux.

Trees, values and bounds must be the same. Preparation of the problem is not included.

With `--workers`, so many processes of a Dask cluster on this machine take the place of threads.
*CPU* is then that of the client, its scheduler included, and of the workers; *busiest* is the share
of the busiest of them in all of it, so that times when a worker waits are not seen.
"""

from __future__ import annotations

import argparse
import importlib
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from common import default_folder, geometric_mean, load_problem, row
from goct import Problem, frontier, path, solve

WINDOW = 0.5
REPEATS = 9
"""How often each short question is asked in turn with one and more threads; the best counts."""

LONG: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "accuracy d4": ("splice-1", ("accuracy", 4), {}),
    "accuracy d5": ("magic04", ("accuracy", 5), {}),
    "accuracy d6": ("diabetes", ("accuracy", 6), {}),
    "f1 d5": ("spambase", ("f1", 5), {}),
    "mcc d4": ("splice-1", ("mcc", 4), {}),
    "mcc d5": ("spambase", ("mcc", 5), {}),
    "f1 - 0.01 d4": ("splice-1", ("f1", 4), {"split_penalty": 0.01}),
    "f1 - 0.01 d5": ("cleve", ("f1", 5), {"split_penalty": 0.01}),
    "precision, recall >= 0.9 d5": ("cleve", ("precision", 5), {"constraints": "recall >= 0.9"}),
    "path of accuracy d5": ("cleve", ("accuracy", 5), {}),
    "path of f1 d4": ("splice-1", ("f1", 4), {}),
    "pareto front d4": ("spambase", (4,), {"pareto": True}),
    "pareto front d5": ("yeast", (5,), {"pareto": True}),
}
"""Questions of two seconds and more, by name: dataset, arguments of `solve`, `path`, `frontier`."""

RAW: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "raw accuracy d3": ("fault", ("accuracy", 3), {}),
    "raw accuracy d4": ("raisin", ("accuracy", 4), {}),
    "raw f1 d3": ("htru", ("f1", 3), {}),
    "raw mcc d3": ("htru", ("mcc", 3), {}),
    "raw precision, recall >= 0.9 d3": (
        "htru",
        ("precision", 3),
        {"constraints": "recall >= 0.9"},
    ),
}
"""The same over every threshold of a table."""

SHORT: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    f"{metric} d{depth} {name}": (name, (metric, depth), {})
    for metric in ("accuracy", "f1", "mcc")
    for depth in (3, 4)
    for name in ("compas", "heart", "anneal", "yeast")
}
SHORT_RAW: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    f"raw {metric} d{depth} {name}": (name, (metric, depth), {})
    for metric in ("accuracy", "f1")
    for depth in (2, 3)
    for name in ("raisin", "bank", "wilt")
}


def read_times() -> dict[str, int]:
    """Return the CPU nanoseconds of each living thread."""
    times = {}
    for task in Path("/proc/self/task").iterdir():
        try:
            times[task.name] = int((task / "schedstat").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            continue  # ended meanwhile
    return times


class Watch(threading.Thread):
    """Adds up what the busiest thread and all threads did, window by window."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.busiest = self.total = 0.0
        self._over = threading.Event()

    def run(self) -> None:
        before, window, since = read_times(), Counter[int](), time.perf_counter()
        own = str(threading.get_native_id())
        places: dict[str, int] = {}
        while not self._over.wait(0.005):
            now = read_times()
            now.pop(own, None)
            # Each question has threads of its own: new ones take the places of those that ended.
            places = {task: place for task, place in places.items() if task in now}
            free = iter(sorted(set(range(len(now) + 1)) - set(places.values())))
            for task in sorted(now.keys() - places.keys(), key=int):
                places[task] = next(free)
            for task, used in now.items():
                window[places[task]] += used - before.get(task, 0)
            before = now
            if time.perf_counter() - since >= WINDOW:
                self._close(window)
                window, since = Counter(), time.perf_counter()
        self._close(window)

    def _close(self, window: Counter[int]) -> None:
        self.busiest += max(window.values(), default=0) / 1e9
        self.total += sum(window.values()) / 1e9

    def stop(self) -> None:
        self._over.set()
        self.join()


def ask(problem: Problem, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> object:
    """Answer a question; return what must not depend on the number of threads."""
    if name.startswith("path"):
        found = path(problem, *arguments, **options)
        return [(s.tree, s.objective, s.bound) for s in found]
    if name.startswith("pareto"):
        return frontier(problem, *arguments, **options).pareto
    s = solve(problem, *arguments, engine="search", **options)
    return s.tree, s.objective, s.bound


def measure(
    run: Callable[[], object], others: Callable[[], list[float]] = list
) -> tuple[float, float, float, object]:
    """Return wall time, CPU time, share of the busiest thread or process, and the answer."""
    before = others()
    watch = Watch()
    if not before:  # it would count as the client's own
        watch.start()
    wall, cpu = time.perf_counter(), time.process_time()
    answer = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if before:
        times = [cpu, *(b - a for a, b in zip(before, others(), strict=True))]
        return wall, sum(times), max(times) / sum(times), answer
    watch.stop()
    return wall, cpu, watch.busiest / max(watch.total, 1e-9), answer


def race(
    load: Callable[[str], Problem],
    questions: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]],
    options: argparse.Namespace,
) -> None:
    chosen = {
        name: question
        for name, question in questions.items()
        if not options.only or any(word in name for word in options.only)
    }
    if not chosen:
        return
    row(
        "question",
        "dataset",
        "1 thread [s]",
        f"{options.jobs} [s]",
        "ratio",
        "CPU",
        "busiest",
        "derived",
    )
    row("---", "---", *["---:"] * 6)
    ratios, derived = [], []
    for name, (dataset, arguments, keywords) in chosen.items():
        problem = load(dataset)
        one, several = (
            min(runs, key=lambda run: run[0])
            for runs in zip(
                *(
                    [
                        measure(
                            partial(ask, problem, name, arguments, {**keywords, **more}), *others
                        )
                        for more, *others in (({"n_jobs": 1},), options.more)
                    ]
                    for _ in range(REPEATS if options.short else 1)
                ),
                strict=True,
            )
        )
        if one[3] != several[3]:
            print(f"{name}: the answer depends on the number of threads")
        cpu, busiest = several[1] / one[1], max(several[2], 1 / options.jobs)
        ratios.append(one[0] / several[0])
        derived.append(1 / (cpu * busiest))
        row(
            *(name, dataset, f"{one[0]:.3f}", f"{several[0]:.3f}", f"{ratios[-1]:.2f}"),
            *(f"{cpu:.2f}", f"{busiest:.2f}", f"{derived[-1]:.2f}"),
        )
    means = (geometric_mean(ratios), geometric_mean(derived))
    print("\ngeometric means: measured {:.2f}, derived {:.2f}\n".format(*means))


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = default_folder()
    arguments.add_argument("--data", type=Path, default=folder, help="folder of datasets")
    arguments.add_argument("--tables", type=Path, default=folder.parent / "tables")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--workers", type=int, help="of a Dask cluster, instead of threads")
    arguments.add_argument("--only", nargs="+", help="questions with one of these in their names")
    arguments.add_argument("--short", action="store_true", help="short questions instead")
    options = arguments.parse_args()
    options.more = ({"n_jobs": options.jobs},)
    if options.workers:
        from distributed import Client, LocalCluster

        options.jobs = options.workers
        workers = LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None
        )
        client = Client(workers)
        client.run(importlib.import_module, "goct")  # new workers have to load it
        options.more = {"executor": client}, lambda: list(client.run(time.process_time).values())

    def table(name: str) -> Problem:
        import pandas as pd

        columns = pd.read_csv(options.tables / f"{name}.csv.gz")
        return Problem.from_columns(columns, columns.pop("label"))

    race(partial(load_problem, options.data), SHORT if options.short else LONG, options)
    race(table, SHORT_RAW if options.short else RAW, options)


if __name__ == "__main__":
    main()
