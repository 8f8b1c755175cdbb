from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from goct.bench.campaign import run_campaign
from goct.bench.data import Folder
from goct.bench.executors import DaskExecutor, Job, run_remotely
from goct.bench.progress import Display
from goct.bench.results import Results
from goct.bench.spec import Status
from tests.support.campaigns import specs
from tests.support.processes import is_alive

pytest.importorskip("distributed", reason="Dask is in the extra 'bench'")
pytestmark = pytest.mark.filterwarnings("ignore")  # what Dask warns of is its own business


def test_a_killed_worker_loses_nothing(folder: Folder, tmp_path: Path) -> None:
    log = tmp_path / "log"
    wanted = specs(folder, 6, log=str(log), seconds=1)
    executor = DaskExecutor(workers=2)
    killed = []

    def kill_a_worker() -> None:
        while not log.exists() or len(log.read_text().split()) < 2:
            time.sleep(0.05)
        workers = executor.client.run(os.getpid)
        victim = next(iter(workers.values()))
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    thread = threading.Thread(target=kill_a_worker, daemon=True)
    thread.start()
    with Results(tmp_path / "r.sqlite", create=True) as file:
        tally = run_campaign(
            {"test": wanted},
            folder,
            file,
            executor,
            about={"commands": []},
            display=Display(quiet=True),
        )
        (campaign,) = file.campaigns()
    assert killed
    assert tally.is_complete
    assert {run.outcome.status for run in campaign.runs if run.outcome} == {Status.OK}
    assert set(log.read_text().split()) == {str(seed) for seed in range(6)}


def test_an_interrupted_campaign_leaves_nothing_running(folder: Folder, tmp_path: Path) -> None:
    (quick,) = specs(folder, 1, seconds=0)
    pid = tmp_path / "pid"
    endless = replace(quick, solver="tests.bench.faults:Hangs", options=(("pid", str(pid)),))
    path = folder.file("first")
    finished = DaskExecutor(workers=2).run([Job(quick, path), Job(endless, path)])
    assert next(finished).job.spec == quick
    while not pid.exists() or not pid.read_text():
        time.sleep(0.05)
    finished.close()  # type: ignore[attr-defined]
    assert not is_alive(int(pid.read_text()))


def test_workers_must_have_the_same_code(folder: Folder) -> None:
    with pytest.raises(ValueError, match=r"a worker has goct .* instead of another"):
        run_remotely(specs(folder, 1)[0].to_json(), None, "another", "token")


def test_no_scheduler() -> None:
    with pytest.raises(ValueError, match="no Dask scheduler answers at"):
        DaskExecutor("tcp://127.0.0.1:1", timeout=1.0)
