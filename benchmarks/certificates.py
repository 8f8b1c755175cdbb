"""Errors that are put into certificates: does the checker notice?

    python benchmarks/certificates.py --mutants 250

So many mutants of a certificate of each of several kinds of tasks: one that is accepted says the
same as before, or something else, which the search engine is asked about.

What certificates cost is measured by `goct bench run certificates`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from goct.verify import RejectedError, data_of
from goct.verify.checker import check_certificate

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


def count_mutants(number: int, path: Path) -> None:
    """Print how many mutants of certificates are rejected, by what was changed."""
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutants", type=int, default=250, help="so many per kind of task")
    count_mutants(parser.parse_args().mutants, Path(tempfile.mkdtemp()) / "proof.gct")
