from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import goct
from goct import Limit, OptimalTreeClassifier, _ctrl_c
from tests.support.problems import large_problem

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")


@pytest.fixture(autouse=True)
def prompt() -> Iterator[None]:
    """Have Ctrl-C do what it does at a prompt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press(times: int = 1) -> str:
    """Press Ctrl-C in a search, which ends it."""
    with _ctrl_c.keeping_the_best():
        for _ in range(times):
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return "the best tree"


def test_the_first_ends_the_search_and_the_next_the_program() -> None:
    assert press() == "the best tree"
    with pytest.raises(KeyboardInterrupt):
        press()


def test_one_a_while_later_is_a_first_one() -> None:
    assert press() == "the best tree"
    _ctrl_c._EAR.last -= _ctrl_c.SECONDS
    assert press() == "the best tree"


def test_two_in_one_search_end_the_program() -> None:
    with pytest.raises(KeyboardInterrupt):
        press(times=2)


def test_searches_within_searches_count_it_once() -> None:
    with _ctrl_c.keeping_the_best():
        assert press() == "the best tree"


def test_the_handler_of_before_is_asked_and_comes_back() -> None:
    heard: list[int] = []

    def handler(number: int, _frame: object) -> None:
        heard.append(number)

    signal.signal(signal.SIGINT, handler)
    assert press() == "the best tree"
    assert heard == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize(
    "backend", [pytest.param("loky", marks=pytest.mark.slow), "multiprocessing"]
)
def test_in_a_worker_the_first_is_for_the_program(backend: str) -> None:
    # One task, and another: of a single one joblib makes no process.
    ends = joblib.Parallel(2, backend=backend)(joblib.delayed(_worker)() for _ in range(2))
    assert ends == ["the program"] * 2


def _worker() -> str:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return press()
    except KeyboardInterrupt:
        return "the program"


def pressing() -> Callable[[goct.Progress], None]:
    """Return a callback that presses Ctrl-C when it is called first."""
    pressed = iter([signal.SIGINT])

    def callback(_progress: goct.Progress) -> None:
        for number in pressed:
            os.kill(os.getpid(), number)

    return callback


@pytest.mark.parametrize("engine", ["search", "mip"])
def test_a_search_keeps_its_tree_and_the_next_one_does_not(engine: str) -> None:
    if engine == "mip":
        pytest.importorskip("pyscipopt")
    problem = large_problem()
    solution = goct.solve(problem, "mcc", 6, engine=engine, callback=pressing())
    assert solution.limit is Limit.INTERRUPTED
    assert solution.tree is not None
    with pytest.raises(KeyboardInterrupt):
        goct.solve(problem, "mcc", 6, engine=engine, callback=pressing())


@pytest.mark.filterwarnings("ignore::goct.exceptions.NotProvenWarning")
def test_a_loop_of_somebody_else_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (800, 60)), rng.integers(0, 2, 800)
    fits: list[goct.Problem] = []
    solve = goct.estimator.solve

    def solve_and_press(*args, **options):
        fits.append(args[0])
        return solve(*args, **(options | {"callback": pressing()}))

    monkeypatch.setattr("goct.estimator.solve", solve_and_press)
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(OptimalTreeClassifier("mcc", 6, binarizer="none"), X, y, cv=5)
    assert len(fits) == 2


@pytest.mark.parametrize("command", [["-m", "goct"], [str(Path(sys.executable).parent / "goct")]])
def test_a_command_that_is_being_loaded_ends_without_a_word(command, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import signal, sys\n"
        "class Press:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'numpy': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press())\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    )
    run = subprocess.run(
        [sys.executable, *command, "metrics"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")
