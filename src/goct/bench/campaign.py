"""A campaign: the runs of some experiments, as far as they are not done yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goct.bench.data import Folder, is_synthetic
from goct.bench.executors import Executor, Job
from goct.bench.progress import Display
from goct.bench.results import Results
from goct.bench.spec import Spec, Status
from goct.bench.version import code_version


@dataclass(frozen=True)
class Tally:
    """How a campaign went: runs that were asked for, done before, done now, and lost."""

    asked: int
    before: int
    now: int
    lost: int
    ends: Mapping[Status, int] = field(default_factory=dict)  # how those that were done now ended

    @property
    def is_complete(self) -> bool:
        """Whether all runs are done."""
        return self.before + self.now == self.asked


def run_campaign(
    experiments: Mapping[str, Sequence[Spec]],
    folder: Folder,
    results: Results,
    executor: Executor,
    *,
    about: dict[str, Any],
    display: Display,
) -> Tally:
    """Do all runs of some experiments that are not in the results file yet.

    Each outcome is written when it is there: what is interrupted goes on where
    it was when it is asked for again. `about` is what to remember: the command, the machine.
    """
    version = code_version()
    wanted: dict[str, Spec] = {}
    for name, specs in experiments.items():
        results.open_campaign(name, version, specs, about)
        wanted |= {spec.key: spec for spec in specs}
    pending = [spec for key, spec in wanted.items() if results.find(key, version) is None]
    before = len(wanted) - len(pending)
    jobs = [Job(s, None if is_synthetic(s.dataset) else folder.file(s.dataset)) for s in pending]
    lost = 0
    ends: Counter[Status] = Counter()
    with display:
        display.start(pending, before=before, width=executor.width)
        finished = executor.run(jobs)
        try:
            for done in finished:
                if done.outcome is None:
                    lost += 1
                    continue
                results.add(done.job.spec, version, done.outcome, done.processor)
                ends[done.outcome.status] += 1
                display.show(done.job.spec, done.outcome)
        finally:
            finished.close()  # type: ignore[attr-defined]
    return Tally(len(wanted), before, ends.total(), lost, ends)


def forget_failures(experiments: Mapping[str, Sequence[Spec]], results: Results) -> None:
    """Drop the outcomes of runs that ended without an answer, so that they are done again."""
    version = code_version()
    keys = {spec.key for specs in experiments.values() for spec in specs}
    failures = (Status.CRASH, Status.ERROR, Status.MEMORY, Status.MISSING, Status.TIMEOUT)
    outcomes = {key: results.find(key, version) for key in keys}
    results.forget([key for key, o in outcomes.items() if o and o.status in failures], version)
