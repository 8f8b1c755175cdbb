"""Models run one after the other share limits, counters and the callback."""

from __future__ import annotations

from fractions import Fraction

from goct import Exact, Limit, Problem
from goct.mip.objective import Answer
from goct.mip.session import ModelSession
from goct.plane.oracle import Incumbent
from goct.solution import Limits, Progress
from goct.task import Task

TASK = Task.read(Problem.from_arrays([[0], [1], [1]], [0, 1, 1]), "accuracy", 1)


class FakeRunner:
    """Says what it was asked, reports once, and answers at once."""

    def __init__(self) -> None:
        self.asked: list = []
        self.stopped: list = []

    def run(self, objective, *, gap=Fraction(0), limits, callback=None) -> Answer:
        self.asked.append((objective, gap, limits))
        if callback is not None:
            told = Progress(0.0, Exact(Fraction(3, 4)), Exact(Fraction(9, 10)), 3)
            self.stopped.append(callback(told))
        return Answer(None, None, Exact(Fraction(9, 10)), Limit.NODES, stats={"nodes": 10})


def session(limits: Limits, callback=None) -> tuple[ModelSession, FakeRunner]:
    runner = FakeRunner()
    return ModelSession(runner, Incumbent(TASK, TASK.best_constant()), limits, callback), runner


def test_limits_shrink_and_nodes_add_up() -> None:
    models, runner = session(Limits(time=50, nodes=7))
    models.run("first", gap=Fraction(1, 2))
    models.run("second")
    assert (models.calls, models.nodes, models.limit) == (2, 20, Limit.NODES)
    (first, gap, limits), (second, no_gap, later) = runner.asked
    assert (first, second, gap, no_gap) == ("first", "second", Fraction(1, 2), 0)
    assert 50 >= limits.time >= later.time > 0
    assert later.nodes == 7
    assert runner.stopped == []


def test_the_bound_of_the_whole_objective_counts() -> None:
    models, _ = session(Limits())
    models.run("part")
    assert models.incumbent.bound == 1
    models.run("whole", is_whole=True)
    assert models.incumbent.bound == Fraction(9, 10)
    assert models.incumbent.objective == Fraction(2, 3)
    assert not models.is_open  # a limit was reached


def test_the_callback_is_told_the_whole() -> None:
    told: list[Progress] = []
    models, runner = session(Limits(), lambda progress: told.append(progress) or len(told) == 2)
    models.run("part")
    models.run("whole", is_whole=True)
    assert [(p.objective, p.bound, p.nodes) for p in told] == [
        (Fraction(2, 3), 1, 3),
        (Fraction(3, 4), Fraction(9, 10), 13),
    ]
    assert told[1].elapsed >= told[0].elapsed >= 0
    assert runner.stopped == [False, True]
