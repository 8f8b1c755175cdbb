"""What the benchmarks share: data, timing, tables."""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goct import Problem
from goct.bench import data
from goct.bench.data import Features, Folder, Labels


@dataclass(frozen=True)
class Fit:
    """One solver on one dataset: CPU seconds, how good its tree is, and whether it claims a proof.

    `quality` is an integer or a fraction, so that optima can be compared exactly.
    """

    seconds: float
    quality: object
    is_proven: bool


Solver = Callable[[Features, Labels, int, float], Fit]


def default_folder() -> Path:
    """The folder of datasets: GOCT_DATASETS, or `shared/datasets` beside the checkout."""
    return data.default_folder() or Path("datasets")


PAPER = [name for name in data.PAPER if (default_folder() / f"{name}{data.SUFFIX}").exists()]
"""The datasets of the paper's study of nonlinear metrics that are there."""


def parser(description: str, names: list[str], depths: list[int]) -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("--data", type=Path, default=default_folder(), help="folder of datasets")
    result.add_argument("--names", nargs="+", default=names)
    result.add_argument("--depths", nargs="+", type=int, default=depths)
    result.add_argument("--limit", type=float, default=60.0, help="seconds per fit")
    result.add_argument("--repeats", type=int, default=3)
    result.add_argument("--peers", nargs="*", help="which peers take part; all by default")
    return result


def load(folder: Path, name: str) -> tuple[Features, Labels]:
    return Folder(folder).read(name)


def load_problem(folder: Path, name: str) -> Problem:
    return Problem.from_arrays(*load(folder, name))


def installed(make: Callable[[], Solver]) -> Solver | None:
    """Return the solver, or None if its package is not installed."""
    try:
        return make()
    except ImportError:
        return None


def streed_solver(task: str, quality: Callable[[Labels, Labels], object]) -> Solver:
    """Return pystreed with an optimization task; `quality` is of labels and predictions."""
    from pystreed import STreeDClassifier

    def run(X: Features, y: Labels, depth: int, limit: float) -> Fit:
        X, y = X.astype(np.int32), y.astype(np.int32)
        model = STreeDClassifier(
            task, max_depth=depth, max_num_nodes=2**depth - 1, time_limit=limit
        )
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        return Fit(seconds, quality(y, model.predict(X)), bool(model.fit_result.is_optimal()))

    return run


def measure(solver: Solver, X: Features, y: Labels, depth: int, limit: float, repeats: int) -> Fit:
    """Run a solver a few times and return its median time."""
    fits: list[Fit] = []
    for _ in range(repeats):
        gc.collect()
        fits.append(solver(X, y, depth, limit))
        if fits[-1].seconds > limit / 4:  # slow enough to be stable
            break
    seconds = statistics.median(fit.seconds for fit in fits)
    return Fit(seconds, fits[-1].quality, fits[-1].is_proven)


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def row(*cells: object) -> None:
    """Print a row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def race(
    options: argparse.Namespace,
    ours: Solver,
    peers: Mapping[str, Solver | None],
    quality: str,
) -> None:
    """Print what each solver takes and the ratios to ours; optima must agree.

    A peer that did not finish counts with the time it took, so its ratio is a lower bound.
    """
    if options.peers is not None:
        peers = {name: peers[name] for name in options.peers}
    present = {name: solver for name, solver in peers.items() if solver is not None}
    for absent in peers.keys() - present.keys():
        print(f"{absent} is not installed and does not take part (pip install '.[bench,peers]')")
    for depth in options.depths:
        print(f"\n## depth {depth}\n")
        row("dataset", quality, "goct [s]", *(c for p in present for c in (f"{p} [s]", "ratio")))
        row("---", *["---:"] * (2 + 2 * len(present)))
        ratios: dict[str, list[float]] = {name: [] for name in present}
        for name in options.names:
            X, y = load(options.data, name)
            own = measure(ours, X, y, depth, options.limit, options.repeats)
            shown = f"{float(own.quality):.6g}" + ("" if own.is_proven else " (open)")  # type: ignore[arg-type]
            cells = [name, shown, f"{own.seconds:.4f}"]
            for peer, solver in present.items():
                other = measure(solver, X, y, depth, options.limit, options.repeats)
                both = own.is_proven and other.is_proven
                if both and own.quality != other.quality:
                    raise AssertionError(f"{name}, depth {depth}: {own} and {other} differ")
                ratio = other.seconds / own.seconds
                if own.is_proven:
                    ratios[peer].append(ratio)
                cells += [
                    f"{other.seconds:.3f}" + ("" if other.is_proven else " (open)"),
                    f"{ratio:.1f}",
                ]
            row(*cells)
        for peer, values in ratios.items():
            least = min(values, default=math.nan)
            print(
                f"\n{peer} / goct: geometric mean {geometric_mean(values):.1f}, least {least:.1f}"
            )
