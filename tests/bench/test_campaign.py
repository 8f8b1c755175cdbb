from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from goct.bench import campaign as module
from goct.bench import executors
from goct.bench.campaign import forget_failures
from goct.bench.data import Folder
from goct.bench.executors import Job, LocalExecutor
from goct.bench.progress import Display, Estimate, format_duration
from goct.bench.results import Results, latest
from goct.bench.spec import Outcome, Status
from tests.support.campaigns import campaign, specs


@pytest.mark.slow
def test_what_is_done_is_not_done_again(folder: Folder, tmp_path: Path) -> None:
    results, log = tmp_path / "r.sqlite", tmp_path / "log"
    wanted = specs(folder, 3, log=str(log), seconds=0)
    assert campaign(folder, results, wanted[:2]).now == 2
    tally = campaign(folder, results, wanted)
    assert (tally.before, tally.now, tally.is_complete) == (2, 1, True)
    assert sorted(log.read_text().split()) == ["0", "1", "2"]
    with Results(results) as file:
        assert [len(c.runs) for c in file.campaigns()] == [2, 3]
        assert latest(file.campaigns())[0].is_complete
        assert latest(file.campaigns())[0].about["commands"] == ["a command"]


@pytest.mark.slow
def test_runs_belong_to_a_version_of_the_code(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "r.sqlite"
    wanted = specs(folder, 1, seconds=0)
    campaign(folder, results, wanted)
    monkeypatch.setattr(module, "code_version", lambda: "another")
    assert campaign(folder, results, wanted).now == 1
    with Results(results) as file:
        assert file.count() == 2
        assert {c.version for c in file.campaigns()} >= {"another"}


@pytest.mark.slow
def test_failures_are_kept_until_asked_otherwise(folder: Folder, tmp_path: Path) -> None:
    results = tmp_path / "r.sqlite"
    wanted = [replace(specs(folder, 1)[0], solver="tests.bench.faults:Raises")]
    assert campaign(folder, results, wanted).now == 1
    assert campaign(folder, results, wanted).now == 0
    with Results(results) as file:
        forget_failures({"test": wanted}, file)
    assert campaign(folder, results, wanted).now == 1


@pytest.mark.slow
def test_a_killed_campaign_goes_on_where_it_was(data: Path, folder: Folder, tmp_path: Path) -> None:
    """The process that runs the campaign is killed, as when a machine is switched off."""
    results, log = tmp_path / "r.sqlite", tmp_path / "log"
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from goct.bench.data import Folder\n"
        "from tests.support.campaigns import campaign, specs\n"
        "data, results, log = map(Path, sys.argv[1:])\n"
        "folder = Folder(data)\n"
        "campaign(folder, results, specs(folder, 6, log=str(log), seconds=0.5))\n"
    )
    process = subprocess.Popen([sys.executable, script, data, results, log])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if results.exists() and log.exists() and len(log.read_text().split()) >= 3:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    begun = len(log.read_text().split())
    with Results(results) as file:
        before = file.count()
    assert 1 <= before < 6
    tally = campaign(folder, results, specs(folder, 6, log=str(log), seconds=0.5))
    assert (tally.before, tally.now) == (before, 6 - before)
    time.sleep(0.6)  # runs of the dead campaign would end, and write, by now
    assert len(log.read_text().split()) == begun + 6 - before


def test_a_signal_that_another_thread_gets_ends_the_wait(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python tells the main thread alone, and not while that waits without end."""
    stopped = threading.Event()
    in_time: list[bool] = []

    class Endless:
        def run(self, *_: object) -> Outcome:
            time.sleep(0.3)  # by then the main thread waits
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            in_time.append(stopped.wait(10))
            return Outcome(Status.OK)

        def stop(self) -> None:
            stopped.set()

    monkeypatch.setattr(executors, "Runner", Endless)
    with pytest.raises(KeyboardInterrupt):
        next(LocalExecutor(1).run([Job(specs(folder, 1)[0], None)]))
    assert in_time == [True]


def test_an_estimate_learns_from_what_is_done(folder: Folder) -> None:
    wanted = specs(folder, 3)
    estimate = Estimate(wanted, width=2)
    assert estimate.seconds() == pytest.approx(3 * 5 / 2)
    estimate.finish(wanted[0], Outcome(Status.OK, seconds=1.0))
    assert estimate.seconds() == pytest.approx(2 * 2 / 2)
    # Another dataset is taken to be like all others until one of its runs is done.
    other = [replace(spec, dataset="second") for spec in wanted]
    estimate = Estimate([*wanted, *other], width=1)
    estimate.finish(wanted[0], Outcome(Status.OK, seconds=1.0))
    assert estimate.seconds() == pytest.approx(5 * 2)
    estimate.finish(other[0], Outcome(Status.OK, seconds=9.0))
    assert estimate.seconds() == pytest.approx(2 * 2 + 2 * 10)


def test_durations() -> None:
    assert [format_duration(s) for s in (4, 300, 7260)] == ["4 s", "5 min", "2 h 01 min"]


def test_plain_lines(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = specs(folder, 1)
    display = Display()
    with display:
        display.start(wanted, before=2, width=1)
        display.show(wanted[0], Outcome(Status.ERROR, seconds=1.0, message="what\nwhy"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 runs to do, 2 done before"
    assert lines[1].startswith("3 of 3, about 0 s left: first")
    assert lines[1].endswith("error 1.0 s (why)")
