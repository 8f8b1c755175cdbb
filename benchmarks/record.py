"""Make the recorded pages again, on one commit, with their recorded settings.

    python benchmarks/record.py --data datasets -o docs/results
    python benchmarks/record.py --data datasets --only peers unseen-raw
    python benchmarks/record.py --tiny --results tiny.sqlite -o build/tiny

One command of `goct bench run` per page, into one results file, and one report at the end. What is
done is not done again: interrupted, the same command goes on where it was. Pages whose seconds
matter come first and have the machine to themselves; those of the MIP engine come last. With
`--only` the other pages, and their lines in the index, stay as they are.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
from pathlib import Path

from goct.bench.progress import format_duration

# Those of the paper's study of nonlinear metrics that are public.
PAPER = (
    "appendicitis,cleve,colic,compas,diabetes,fico,heart,hepatitis,HTRU_2,magic04,pendigits,"
    "promoters,spambase,yeast"
)
TWO_CLASSES = (
    "anneal,appendicitis,audiology,australian,bank,banknote,breast,breast-wisconsin,car-binary,"
    "cleve,colic,compas,diabetes,fico,haberman,heart,hepatitis,HTRU_2,IndiansDiabetes,Ionosphere,"
    "kr,lymph,magic04,messidor,monk1,monk2,monk3,pendigits,primary-tumor,promoters,spambase,spect,"
    "splice-1,tic,vote,yeast"
)
FASTER = (
    "anneal,appendicitis,audiology,australian,balance,bank,banknote,breast,breast-wisconsin,car,"
    "car-binary,cleve,colic,compas,default_credit,diabetes,fico,haberman,hayes,heart,hepatitis,"
    "HTRU_2,IndiansDiabetes,Ionosphere,iris,kr,lymph,magic04,messidor,monk1,monk2,monk3,pendigits,"
    "primary-tumor,promoters,soybean,spambase,spect,tic,vote,wine,winequality-red,yeast"
)
BINARY = FASTER.replace("soybean", "satellite,soybean").replace("tic", "splice-1,tic")
RAW = "bank,bidding,fault,heloc,occupancy,raisin,recidivism,segment,wilt"
MORE_RAW = f"avila,bean,coupon,htru,magic,{RAW}"
TUNED = ["--solvers", "goct-cv,cart-cv,cart-threshold", "--splits", "5", "--limit", "300"]
RIVALS = ["--depths", "3", "--splits", "5", "--limit", "300"]


def tables(names: str) -> str:
    """Return names of raw tables as the benchmarks have them."""
    return ",".join(f"{name}.csv" for name in sorted(names.split(",")))


# The page, options, and how many runs at a time.
PAGES: list[tuple[str, list[str], int]] = [
    ("datasets", [], 1),
    ("growth", [], 1),
    ("certificates", [], 1),
    ("thresholds", ["--limit", "60"], 1),
    ("peers", ["--depths", "3", "--limit", "20"], 1),
    ("deep", [], 1),
    ("sparse", ["--limit", "15"], 1),
    ("time-to-proof", [], 1),
    ("frontier", ["--quick"], 2),
    ("every-metric", ["--splits", "2", "--penalties", "0,0.01"], 2),
    (
        "unseen",
        ["--metrics", "accuracy,f1,mcc", "--datasets", BINARY, "--depths", "3", *TUNED],
        2,
    ),
    (
        "unseen-rivals: other learners",
        [
            "--metrics",
            "accuracy",
            "--datasets",
            BINARY,
            "--solvers",
            "goct-cv,cart-cv,boosting,figs,shrunken",
            *RIVALS,
        ],
        2,
    ),
    (
        "unseen-conditions: which conditions",
        [
            "--metrics",
            "accuracy",
            "--datasets",
            tables(RAW),
            "--depths",
            "3",
            "--splits",
            "1",
            "--solvers",
            "goct-cv,goct-mdlp,goct-32,goct-exact,cart-cv",
            "--limit",
            "60",
        ],
        2,
    ),
    (
        "unseen-raw: raw tables",
        ["--metrics", "accuracy,f1,mcc", "--datasets", tables(MORE_RAW), "--depths", "3", *TUNED],
        2,
    ),
    (
        "unseen-depth4: depth 4",
        ["--metrics", "accuracy", "--datasets", FASTER, "--depths", "4", *TUNED],
        2,
    ),
    (
        "unseen-rivals-f1: other learners, F1",
        [
            "--metrics",
            "f1",
            "--datasets",
            TWO_CLASSES,
            *RIVALS,
            "--solvers",
            "goct-cv,cart-cv,cart-balanced,cart-threshold,figs,shrunken,boosting",
        ],
        2,
    ),
    ("out-of-sample", [], 2),
    ("streed", [], 1),
    ("warm-start", ["--datasets", PAPER, "--depths", "2,3", "--limit", "60"], 2),
    ("linearization", ["--datasets", PAPER, "--limit", "60"], 2),
    ("formulations", ["--datasets", PAPER, "--depths", "2,3", "--limit", "60"], 2),
]
EXPERIMENTS = sorted((page for page, _, _ in PAGES if ":" not in page), key=len, reverse=True)


def command(page: str, options: list[str], *, is_tiny: bool) -> list[str]:
    """Return the words after `goct bench run`."""
    experiment = next(name for name in EXPERIMENTS if page.partition(":")[0].startswith(name))
    variant = page.removeprefix(experiment).removeprefix("-")
    if is_tiny:  # on the datasets that come along
        options = ["--tiny"]
    return [experiment, *options, *(["--variant", variant] if variant else [])]


def estimate(folder: Path, page: str, options: list[str], jobs: int) -> float | None:
    """Return seconds, by what the recorded runs took; None if the page is not recorded."""
    record = folder / f"{page.partition(':')[0]}-runs.csv"
    if not record.exists():
        return None
    limit = float(options[options.index("--limit") + 1]) if "--limit" in options else 0.0
    total = 0.0
    with record.open(encoding="utf-8") as file:
        for run in csv.DictReader(file):
            seconds = float(run["seconds"] or 0)
            is_stopped = seconds >= 0.95 * float(run["limit"])
            times = int(next(iter(re.findall(r"\bsplits=(\d+)", run["options"])), 1))
            total += 1 + times * (max(limit, seconds) if is_stopped else seconds)  # 1: a process
    return total / jobs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of datasets")
    parser.add_argument("--results", type=Path, default=Path("results.sqlite"))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results"))
    names = [page.partition(":")[0] for page, _, _ in PAGES]
    parser.add_argument("--only", nargs="+", choices=names, metavar="PAGE", help=", ".join(names))
    parser.add_argument("--tiny", action="store_true", help="as little as possible of each page")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    options = parser.parse_args()
    goct = [sys.executable, "-m", "goct", "bench"]
    place = ["--data", str(options.data)] if options.data else []
    pages = [
        page
        for name, page in zip(names, PAGES, strict=True)
        if not options.only or name in options.only
    ]
    seconds = [estimate(Path("docs/results"), *page) for page in pages]
    known = sum(s for s in seconds if s is not None)
    print(f"{len(pages)} pages; the recorded ones took about {format_duration(known)}", flush=True)
    for number, ((page, settings, jobs), took) in enumerate(zip(pages, seconds, strict=True), 1):
        words = command(page, settings, is_tiny=options.tiny)
        about = "not recorded yet" if took is None else f"about {format_duration(took)}"
        title = page.partition(":")[0]
        print(f"[{number}/{len(pages)}] {title}: {about}", flush=True)
        run = [*goct, "run", *words, *place, "--results", str(options.results), "--quiet"]
        if options.dry_run:
            run += ["--dry-run"]
        code = subprocess.run([*run, "--jobs", str(jobs)]).returncode
        if code:
            sys.exit(f"{title} ended with code {code}; the same command goes on where it was")
    if not options.dry_run:
        report = [*goct, "report", str(options.results), "-o", str(options.output), *place]
        sys.exit(subprocess.run(report).returncode)


if __name__ == "__main__":
    main()
