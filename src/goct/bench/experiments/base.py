"""What an experiment is, and what of it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeVar

from goct.bench.data import Folder
from goct.bench.peers import get_solver
from goct.bench.render import Report
from goct.bench.reported import Reported
from goct.bench.results import Run
from goct.bench.spec import Spec

T = TypeVar("T")


class Profile(Enum):
    """How much of an experiment is done."""

    FULL = "full"  # as the paper has it, or more
    QUICK = "quick"  # small datasets and short limits: all experiments in minutes
    TINY = "tiny"  # as little as shows that everything works


@dataclass(frozen=True)
class Plan:
    """What is asked for; None leaves it to the experiment."""

    folder: Folder
    profile: Profile = Profile.FULL
    datasets: tuple[str, ...] | None = None
    depths: tuple[int, ...] | None = None
    metrics: tuple[str, ...] | None = None
    penalties: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None  # to learn from: "all", or the "train"-ing half of a split
    solvers: tuple[str, ...] | None = None
    splits: int | None = None  # how many random splits
    limit: float | None = None  # seconds for each run
    backend: str = "scip"  # of the MIP engine
    memory: int = 0  # bytes for each run; 0 for no limit
    seed: int = 0
    missing: set[str] = field(default_factory=set, compare=False)  # datasets not in the folder
    used: set[str] = field(default_factory=set, compare=False)  # options that were looked at

    def choose(self, option: str, full: T, quick: T, tiny: T | None = None) -> T:
        """Return what was asked for, or what goes with the profile."""
        self.used.add(option)
        asked: T | None = getattr(self, option)
        if asked is not None:
            return asked
        if self.profile is Profile.FULL:
            return full
        return quick if tiny is None or self.profile is Profile.QUICK else tiny

    def choose_datasets(self, full: Sequence[str], quick: Sequence[str]) -> list[str]:
        """Return the datasets that are asked for and are in the folder.

        If nothing was asked for and none of the usual ones is there, it is
        whatever there is: all of it, or the first ones.
        """
        names = self.choose("datasets", tuple(full), tuple(quick))
        there = {*self.folder.names, *self.folder.tables}
        if self.datasets is None and there.isdisjoint(names):
            names = self.folder.names if self.profile is Profile.FULL else self.folder.names[:2]
        self.missing.update(name for name in names if name not in there)
        return [name for name in names if name in there]

    def choose_limit(self, full: float, quick: float = 5.0) -> float:
        """Return the seconds for each run."""
        return self.choose("limit", full, quick, 2.0)

    def spec(self, dataset: str, solver: str, **settings: Any) -> Spec:
        """Return a run on a dataset of the folder."""
        options = dict(settings.pop("options", {}))
        if solver == "mip":
            self.used.add("backend")
            options.setdefault("backend", self.backend)
        return Spec(
            dataset=dataset,
            digest=self.folder.digest(dataset),
            solver=solver,
            package=get_solver(solver).package(options),
            memory=self.memory,
            seed=self.seed,
            options=tuple(options.items()),
            **settings,
        )


class Experiment(ABC):
    """A question, the runs that answer it, and how the answer is shown."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def specs(self, plan: Plan) -> list[Spec]:
        """Return the runs."""

    @abstractmethod
    def report(self, runs: Sequence[Run], reported: Reported) -> Report:
        """Return what is shown, given the runs that are done or not, and the paper's tables."""
