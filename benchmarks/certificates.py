"""Certificates: their size, what they add to a solution, and how long a check takes.

    python benchmarks/certificates.py --depths 4
    python benchmarks/certificates.py --thresholds --names raisin bank wilt --depths 3
    python benchmarks/certificates.py --mutants 1000

With `--thresholds`, the data are tables of numbers, and trees are over all their thresholds. The
times are CPU times with one thread, `solve` without and with a certificate in turn. With
`--mutants`, errors are put into certificates of several kinds of tasks instead, so many for each: a
mutant that is accepted says the same as before, or something else, which the search engine is
asked about.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is loaded

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from common import PAPER, parser
from goct import Problem, solve, verify
from goct.bench.data import Folder, read_any
from goct.binarize import Binarizer
from goct.verify import RejectedError, data_of
from goct.verify.checker import check_certificate


def read(folder: Path, name: str, *, thresholds: bool) -> Problem:
    """Read a dataset of 0/1 columns, or a table of numbers."""
    if thresholds:
        X, y = read_any(folder.parent / "tables" / f"{name}.csv.gz", "label")
        return Problem.from_columns(X, y, binarizer=Binarizer("exact").fit(X, y), pos_label=1)
    X, y = Folder(folder).read(name)
    return Problem.from_arrays(X, y, pos_label=1)


def measure(problem: Problem, name: str, metric: str, depth: int, path: Path) -> str:
    """Solve with and without a certificate, check it, and return a line of the table."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(2):
        for wanted in (False, True):
            start = time.process_time()
            solution = solve(problem, metric, depth, certificate=path if wanted else None)
            seconds[wanted].append(time.process_time() - start)
    start = time.process_time()
    verdict = verify(path, problem)
    check = time.process_time() - start
    without, with_one = min(seconds[False]), min(seconds[True])
    proves = "" if solution.certificate.proves == "all" else " (a larger bound only)"
    return (
        f"| {name}{proves} | {without:.3f} s | × {with_one / without:.2f} "
        f"| {path.stat().st_size / 1000:.0f} kB | {verdict.facts} "
        f"| {check:.2f} s | × {check / without:.1f} |"
    )


def count_mutants(number: int, path: Path) -> None:
    """Print how many mutants of certificates are rejected, by what was changed."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.support.certificates import (
        FAMILIES,
        MUTATED,
        certified,
        header_mutants,
        is_true,
        mutants,
        read_certificate,
        write_certificate,
    )

    found: dict[str, Counter[str]] = {}
    for family in MUTATED:
        problem, _ = certified(FAMILIES[family], path)
        data, content = data_of(problem), path.read_bytes()
        known = check_certificate(content, data).statement
        made = list(mutants(content, np.random.default_rng(1), number))
        made += [
            ("by hand", write_certificate(lines))
            for lines in header_mutants(read_certificate(content)).values()
        ]
        for what, mutant in made:
            try:
                verdict = check_certificate(mutant, data)
                is_same = {*verdict.statement.split("\n")} == {known}
                is_so = is_same or is_true(mutant, verdict, FAMILIES[family])
                outcome = "same" if is_same else "true" if is_so else "FALSE"
            except RejectedError:
                outcome = "rejected"
            found.setdefault(what, Counter())[outcome] += 1
    print("| what was changed | mutants | rejected | same statement | another, true | false |")
    print("|---|---:|---:|---:|---:|---:|")
    for what, counts in [*sorted(found.items()), ("all", sum(found.values(), Counter()))]:
        kinds = " | ".join(str(counts[k]) for k in ("rejected", "same", "true", "FALSE"))
        print(f"| {what} | {counts.total()} | {kinds} |")


if __name__ == "__main__":
    arguments = parser(__doc__, PAPER, [4])
    arguments.add_argument("--metrics", nargs="+", default=["f1", "mcc"])
    arguments.add_argument("--thresholds", action="store_true", help="over tables of numbers")
    arguments.add_argument("--mutants", type=int, default=0, help="so many per kind of task")
    options = arguments.parse_args()
    target = Path(tempfile.mkdtemp()) / "proof.gct"
    if options.mutants:
        count_mutants(options.mutants, target)
        sys.exit()
    for asked in options.metrics:
        for depth in options.depths:
            print(f"\n{asked}, depth {depth}\n")
            print("| dataset | solve | with certificate | size | facts | check | check / solve |")
            print("|---|---:|---:|---:|---:|---:|---:|")
            for dataset in options.names:
                data = read(options.data, dataset, thresholds=options.thresholds)
                print(measure(data, dataset, asked, depth, target), flush=True)
