"""Time the merging of duplicate rows.

Each case runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from goct import _core

try:
    from goct import Problem
except ImportError:
    Problem = None

MIB = 2**20
COLUMNS = "{:<29} {:<22} {:>10} {:>9} {:>9} {:>10} {:>10}"


def from_pool(n: int, f: int, distinct: int, seed: int = 0) -> NDArray[np.uint8]:
    """Rows drawn with replacement from a pool: many duplicates."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2, (distinct, f), np.uint8)
    return np.ascontiguousarray(pool[rng.integers(0, distinct, n, np.int32)])


def all_distinct(n: int, f: int, seed: int = 0) -> NDArray[np.uint8]:
    """Random rows, the row number in random order written into the first columns."""
    rng = np.random.default_rng(seed)
    bits = max(1, (n - 1).bit_length())
    if bits > f:
        raise ValueError(f"{n} rows of {f} columns cannot all be distinct")
    X = rng.integers(0, 2, (n, f), np.uint8)
    numbers = rng.permutation(n).astype(np.int32)
    for j in range(bits):
        X[:, j] = numbers >> j & 1
    return X


def group_rows(X: NDArray[np.uint8]) -> int:
    return len(_core.group_rows(X)[0])


def problem(X: NDArray[np.uint8]) -> int:
    Problem.from_arrays(X, X[:, 0])
    return 0


def numpy_unique(X: NDArray[np.uint8]) -> int:
    return len(np.unique(X, axis=0, return_index=True, return_inverse=True)[1])


METHODS: dict[str, Callable[[NDArray[np.uint8]], int]] = {
    "group_rows": group_rows,
    "Problem.from_arrays": problem,
    "numpy.unique": numpy_unique,
}


def peak_memory() -> float:
    """Peak memory of this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


def measure(
    make: Callable[..., NDArray[np.uint8]], arguments: tuple[int, ...], method: str
) -> tuple[int, float, float, float, float]:
    """Distinct rows, wall and CPU seconds, MiB of the input, and MiB of peak memory."""
    X = make(*arguments)
    wall, cpu = time.perf_counter(), time.process_time()
    distinct = METHODS[method](X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return distinct, wall, cpu, X.nbytes / MIB, peak_memory()


def run(make, arguments: tuple[int, ...], method: str):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (make, arguments, method))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=250_000, help="rows of the smaller case")
    parser.add_argument("--columns", type=int, default=80, help="columns of the smaller case")
    parser.add_argument("--large-rows", type=int, default=10_000_000)
    parser.add_argument("--large-columns", type=int, default=20)
    parser.add_argument("--small-only", action="store_true", help="skip the larger case")
    parser.add_argument("--no-numpy", action="store_true", help="skip numpy.unique")
    options = parser.parse_args()

    n, f = options.rows, options.columns
    cases = [
        ("few distinct", from_pool, (n, f, max(1, n // 250)), True),
        ("half distinct", from_pool, (n, f, n), True),
        ("all distinct", all_distinct, (n, f), True),
    ]
    if not options.small_only:
        n, f = options.large_rows, options.large_columns
        cases += [
            ("few distinct", from_pool, (n, f, max(1, n // 1000)), False),
            ("many distinct", from_pool, (n, f, n // 10), False),
        ]

    print(COLUMNS.format("data", "method", "distinct", "wall s", "CPU s", "input MiB", "peak MiB"))
    for name, make, arguments, small in cases:
        label = f"{arguments[0]:,} × {arguments[1]} {name}"
        seconds = {}
        distinct = 0
        for method in METHODS:
            if method == "Problem.from_arrays" and Problem is None:
                continue
            if method == "numpy.unique" and (options.no_numpy or not small):
                continue
            found, wall, cpu, size, peak = run(make, arguments, method)
            distinct = found or distinct
            seconds[method] = wall
            figures = (f"{wall:.3f}", f"{cpu:.3f}", f"{size:,.0f}", f"{peak:,.0f}")
            print(COLUMNS.format(label, method, f"{distinct:,}", *figures), flush=True)
        if "numpy.unique" in seconds:
            ratio = seconds["numpy.unique"] / seconds["group_rows"]
            print(f"{'':<29} numpy.unique / group_rows = {ratio:.1f}")


if __name__ == "__main__":
    main()
