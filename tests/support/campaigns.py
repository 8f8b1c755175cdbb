"""Campaigns of runs that take a known time."""

from __future__ import annotations

from pathlib import Path

from goct.bench.campaign import run_campaign
from goct.bench.data import Folder
from goct.bench.executors import LocalExecutor
from goct.bench.progress import Display
from goct.bench.results import Results
from goct.bench.spec import Spec

SLOW = "tests.bench.faults:Slow"


def specs(folder: Folder, number: int, **options: object) -> list[Spec]:
    return [
        Spec(
            dataset="first",
            digest=folder.digest("first"),
            solver=SLOW,
            seed=seed,
            limit=10.0,
            options=tuple(options.items()),
        )
        for seed in range(number)
    ]


def campaign(folder: Folder, results: Path, wanted: list[Spec], name: str = "test"):
    with Results(results, create=True) as file:
        return run_campaign(
            {name: wanted},
            folder,
            file,
            LocalExecutor(2),
            about={"commands": ["a command"]},
            display=Display(quiet=True),
        )
