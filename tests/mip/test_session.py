"""Models run one after the other share limits, counters and the callback."""

from __future__ import annotations

from fractions import Fraction

from goct import Exact
from goct.mip.objective import Answer
from goct.mip.session import Session
from goct.solution import Limits, Progress


class FakeRunner:
    """Says what it was asked, reports once, and answers at once."""

    def __init__(self) -> None:
        self.asked: list = []
        self.stopped: list = []

    def run(self, objective, *, gap=Fraction(0), limits, callback=None) -> Answer:
        self.asked.append((objective, gap, limits))
        if callback is not None:
            self.stopped.append(callback(Progress(0.0, Exact(1), Exact(2), 3)))
        return Answer(None, None, Exact(2), stats={"nodes": 10})


def test_limits_shrink_and_nodes_add_up() -> None:
    runner = FakeRunner()
    session = Session(runner, Limits(time=50, nodes=7))
    session.run("first", gap=Fraction(1, 2))
    session.run("second")
    assert (session.models, session.nodes) == (2, 20)
    (first, gap, limits), (second, no_gap, later) = runner.asked
    assert (first, second, gap, no_gap) == ("first", "second", Fraction(1, 2), 0)
    assert 50 >= limits.time >= later.time > 0
    assert later.nodes == 7
    assert runner.stopped == []


def test_the_callback_is_told_the_whole() -> None:
    runner, told = FakeRunner(), []
    session = Session(runner, Limits(), lambda progress: told.append(progress) or len(told) == 2)
    session.run("whole")
    session.run("part", known=Answer(None, Exact(5), Exact(6)))
    assert [(p.objective, p.bound, p.nodes) for p in told] == [(1, 2, 3), (5, 6, 13)]
    assert told[1].elapsed >= told[0].elapsed >= 0
    assert runner.stopped == [False, True]
