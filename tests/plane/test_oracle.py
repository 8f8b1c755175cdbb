"""What a run of questions knows: the incumbent, and the session with its clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from goct import Limit, Problem
from goct.metrics import Recall, get_metric
from goct.plane.oracle import Incumbent, IncumbentSession, Session, StopError
from goct.solution import Limits
from goct.task import SizeLimit, Task
from goct.tree import Leaf, Split, Tree


def test_incumbents_prefer_small_trees() -> None:
    problem = Problem.from_arrays([[0, 0], [1, 1]], [0, 1])
    task = Task(problem, get_metric("accuracy"), SizeLimit(2))
    names = problem.classes, problem.feature_names
    stump = Tree(Split(0, Leaf(0), Leaf(1)), *names)
    deep = Tree(Split(0, Leaf(0), Split(1, Leaf(0), Leaf(1))), *names)
    incumbent = Incumbent(task, None)
    with pytest.raises(LookupError):
        _ = incumbent.known
    for tree in (Tree(Leaf(0), *names), deep, stump, deep):
        incumbent.offer(tree)
    assert incumbent.known.tree is stump
    incumbent.tighten(incumbent.known.objective - 1)
    assert incumbent.bound == incumbent.objective == 1
    small = replace(task, constraints=(Recall() >= 2,))
    blocked = Incumbent(small, None)
    blocked.offer(stump)
    assert blocked.best is None


def test_bounds_only_fall_and_stay_above_the_best_tree() -> None:
    problem = Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1])
    task = Task(problem, get_metric("accuracy"), SizeLimit(1))
    incumbent = Incumbent(task, task.best_constant())
    top = incumbent.bound
    assert (incumbent.objective, top) == (0.75, 1)
    incumbent.tighten(top + 1)
    assert incumbent.bound == top
    incumbent.tighten(top - 1)
    assert incumbent.bound == incumbent.objective


def test_sessions_stop_and_tell() -> None:
    problem = Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1])
    task = Task(problem, get_metric("accuracy"), SizeLimit(1))
    incumbent = Incumbent(task, None)
    told: list = []
    session = IncumbentSession(
        incumbent, Limits(time=100), lambda progress: told.append(progress) or len(told) > 1
    )
    session.nodes = 5
    assert not session.tell(2)
    session.offer(task.best_constant())
    session.tighten(incumbent.bound)
    assert session.tell(3)
    assert [(p.objective, p.nodes) for p in told] == [(None, 7), (0.75, 8)]
    assert 0 < session.left.time <= 100
    with pytest.raises(StopError):
        session.stop(Limit.NODES)
    assert session.limit is Limit.NODES


def test_a_session_of_no_task_takes_everything() -> None:
    session = Session(Limits())
    assert not session.tell(1)
    assert session.left.time is None
