from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from goct.bench.data import Folder
from goct.bench.runner import Runner
from goct.bench.spec import Outcome, Spec, Status
from goct.bench.task import execute
from tests.support.processes import is_alive


def spec(solver: str, **settings: object) -> Spec:
    if solver[0].isupper():
        solver = f"tests.bench.faults:{solver}"
    return Spec(dataset="first", digest="", solver=solver, **{"limit": 20.0, **settings})  # type: ignore[arg-type]


def run(folder: Folder, solver: str, **settings: object) -> Outcome:
    return Runner().run(spec(solver, **settings), folder.file("first"))


def test_ok(folder: Folder) -> None:
    outcome = run(folder, "search", metric="f1", depth=2, split=0)
    assert outcome.status is Status.OK
    assert outcome.is_proven
    assert outcome.gap == 0
    assert outcome.value == outcome.claimed == outcome.objective == outcome.bound
    assert outcome.train is not None
    assert outcome.validation is not None
    assert outcome.test is not None
    assert (sum(outcome.train), sum(outcome.validation), sum(outcome.test)) == (30, 15, 15)
    assert outcome.peak is not None
    assert outcome.peak > 10**6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "status", "message"),
    [
        ("Honest", Status.OK, ""),
        ("Liar", Status.WRONG, "claims 1.000000, its tree has"),
        ("Raises", Status.ERROR, "RuntimeError: no idea"),
        ("Crashes", Status.CRASH, "SIGSEGV"),
        ("Absent", Status.MISSING, "not installed"),
    ],
)
def test_each_end_is_recorded(folder: Folder, solver: str, status: Status, message: str) -> None:
    outcome = run(folder, solver)
    assert outcome.status is status
    assert message in outcome.message


def test_the_pacemaker_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goct.bench.peers.own.find_modules", lambda *_: False)
    outcome = execute(Spec("heart", "0", "paced"), None, lambda: None)
    assert outcome.status is Status.MISSING
    assert outcome.message == "licketysplit is not installed"


def test_memory_limit(folder: Folder) -> None:
    outcome = run(folder, "Greedy", memory=1 << 30)
    assert outcome.status is Status.MEMORY


def test_time_limit_kills_the_whole_group(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goct.bench.task.GRACE", (0.0, 2.0))
    pid = tmp_path / "pid"
    outcome = run(folder, "Hangs", limit=1.0, options=(("pid", str(pid)),))
    assert outcome.status is Status.TIMEOUT
    assert "killed after 3 s" in outcome.message
    assert 3 <= outcome.seconds < 60
    assert not is_alive(int(pid.read_text()))


def test_stop_kills_what_runs(folder: Folder) -> None:
    runner = Runner()
    threading.Timer(1.0, runner.stop).start()
    started = time.monotonic()
    with pytest.raises(InterruptedError):
        runner.run(spec("Hangs", limit=100.0), folder.file("first"))
    assert time.monotonic() - started < 10
    with pytest.raises(InterruptedError):
        runner.run(spec("Honest"), folder.file("first"))


def test_changed_code_is_noticed(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goct.bench.runner.code_version", lambda: "before")
    with pytest.raises(ValueError, match="goct, or the package of the solver 'tests"):
        run(folder, "Honest")


def test_another_version_of_a_solver_is_noticed(folder: Folder) -> None:
    question = Spec("first", folder.digest("first"), "cart", limit=10.0, package="scikit-learn 0.1")
    with pytest.raises(ValueError, match="or the package of the solver 'cart'"):
        Runner().run(question, folder.file("first"))


def test_slow_loading_is_not_the_solvers_fault(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goct.bench.runner.LOADING", 0.0)
    outcome = run(folder, "Honest")
    assert outcome.status is Status.TIMEOUT
    assert "packages and data were not loaded" in outcome.message


def test_synthetic_data_needs_no_file() -> None:
    question = Spec(dataset="synthetic-100x6", digest="", solver="search", depth=1)
    assert Runner().run(question, None).is_proven
