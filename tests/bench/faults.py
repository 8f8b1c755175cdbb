"""Solvers that go wrong, each in its own way, for runs in processes of their own."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from goct.bench.peers import Answer, Question, Solver


def constant(**claims: object) -> Answer:
    return Answer(lambda X: np.ones(len(X), dtype=np.int64), splits=0, depth=0, **claims)  # type: ignore[arg-type]


class Honest(Solver):
    def fit(self, question: Question) -> Answer:
        return constant(claimed=float((question.y == 1).mean()))


class Liar(Solver):
    """Claims more than its tree has."""

    def fit(self, question: Question) -> Answer:
        return constant(claimed=1.0)


class Boaster(Solver):
    """Claims to be optimal."""

    def fit(self, question: Question) -> Answer:
        return constant(is_proven=True)


class Raises(Solver):
    def fit(self, question: Question) -> Answer:
        raise RuntimeError("no idea")


class Crashes(Solver):
    def fit(self, question: Question) -> Answer:
        os.kill(os.getpid(), signal.SIGSEGV)
        raise AssertionError


class Hangs(Solver):
    """Does not care about its limit, and starts a process that does not either."""

    def fit(self, question: Question) -> Answer:
        child = os.fork()
        if child and "pid" in question.options:
            Path(question.options["pid"]).write_text(str(child))
        time.sleep(600)
        raise AssertionError


class Greedy(Solver):
    """Wants more memory than there is."""

    def fit(self, question: Question) -> Answer:
        blocks = []
        while True:
            blocks.append(np.empty(1 << 24))


class Absent(Solver):
    module = "a_package_that_is_not_there"
    distribution = "a-package-that-is-not-there"

    def fit(self, question: Question) -> Answer:
        raise AssertionError


class Slow(Solver):
    """Takes a moment, and leaves a line in a file each time."""

    def fit(self, question: Question) -> Answer:
        if "log" in question.options:
            with open(question.options["log"], "a", encoding="utf-8") as file:
                file.write(f"{question.seed}\n")
        time.sleep(float(question.options.get("seconds", 0.3)))
        return constant()
