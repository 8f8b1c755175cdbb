"""Models are built by the options, run within limits, and judged in exact numbers."""

from __future__ import annotations

import pytest

import goct.mip.runner as module
from goct import Limit, Problem, Tree
from goct.constraints import MaxFeatures
from goct.mip import MipOptions
from goct.mip.cuts import NoGoodCuts
from goct.mip.engine import objective_of
from goct.mip.heuristics import RoundingHeuristic, SaliencyHeuristic
from goct.mip.runner import ModelRunner
from goct.solution import Limits
from goct.task import Task
from goct.tree import Leaf
from tests.support.mip import optimum, rule_arrays

ALONE = {"node_heuristic": "rounding"}


def question(metric: str = "f1", constraints=(), **options):
    X, y = rule_arrays(0)
    task = Task.read(Problem.from_arrays(X, y), metric, 2, constraints=constraints)
    read = MipOptions.read(**(ALONE | options))
    start = task.best_constant()
    return task, ModelRunner(read, seed=1), objective_of(task, start, read)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
def test_answers_are_judged_exactly(metric: str) -> None:
    task, runner, objective = question(metric)
    answer = runner.run(objective, limits=Limits())
    X, y = rule_arrays(0)
    best = optimum(X, y, task.metric, 2)
    assert answer.limit is Limit.NONE
    assert answer.objective == task.objective(answer.best)
    assert answer.objective <= best <= answer.bound
    assert {"variables", "rows", "nodes"} <= answer.stats.keys()


def test_without_time_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    _, runner, objective = question()
    monkeypatch.setattr(ModelRunner, "build", None)
    answer = runner.run(objective, limits=Limits(time=1e-3))
    assert answer.limit is Limit.TIME
    assert answer.best is objective.start
    assert answer.bound >= answer.objective


def test_an_interrupt_while_building_keeps_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    _, runner, objective = question()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelRunner, "build", interrupt)
    answer = runner.run(objective, limits=Limits())
    assert answer.limit is Limit.INTERRUPTED
    assert answer.best is objective.start


def test_constraints_bring_cuts_that_trees_check() -> None:
    _, runner, objective = question(constraints=[MaxFeatures(1)])
    kinds = [type(s) for s in runner.build(objective).program.separators]
    assert NoGoodCuts in kinds
    _, runner, objective = question()
    assert NoGoodCuts not in [type(s) for s in runner.build(objective).program.separators]


def test_a_start_that_does_not_fit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    _, runner, objective = question("accuracy")
    monkeypatch.setattr(module, "is_feasible", lambda *_: False)
    answer = runner.run(objective, limits=Limits())
    assert answer.stats["start_accepted"] is False


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("none", type(None)), ("rounding", RoundingHeuristic), ("search", SaliencyHeuristic)],
)
def test_heuristics_by_option(kind: str, expected: type) -> None:
    _, runner, objective = question(node_heuristic=kind)
    model = runner.build(objective)
    assert type(runner._heuristic(model, float("inf"))) is expected


def test_the_start_is_a_tree_of_the_task() -> None:
    task, _, objective = question()
    assert isinstance(objective.start, Tree)
    assert isinstance(objective.start.root, Leaf)
    assert task.is_feasible(objective.start)
