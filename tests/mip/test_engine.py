"""Strategies against a runner that is no solver, and the way of a run."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status
from goct.metrics import MCC, Accuracy, Confusion, Recall, Specificity
from goct.mip import BACKENDS, MipOptions
from goct.mip.backends.base import BackendError, MipResult
from goct.mip.cuts import BendersCuts
from goct.mip.engine import direct, maximise, parametric
from goct.mip.nonlinear.objective import NonlinearObjective
from goct.mip.objective import Answer, LinearObjective
from goct.mip.session import ModelSession
from goct.mip.settle import settle
from goct.plane.oracle import Incumbent
from goct.solution import Limits
from goct.task import Task
from tests.support.mip import SMALL, SUMS, ListRunner, noisy_arrays, solve
from tests.support.oracles import all_trees
from tests.support.problems import hard_problem
from tests.support.processes import interrupt


class Question:
    """A small task, and what brute force says about it."""

    def __init__(self, metric, seed: int = 0, penalty=Fraction(0), constraints=()) -> None:
        X, y = noisy_arrays(seed)
        problem = Problem.from_arrays(X, y)
        self.task = Task.read(problem, metric, 2, split_penalty=penalty, constraints=constraints)
        trees = [t for t in all_trees(problem, 2) if self.task.is_feasible(t)]
        self.best = max(map(self.task.objective, trees), default=None)

    def session(self, runner: ListRunner) -> ModelSession:
        incumbent = Incumbent(self.task, self.task.best_constant())
        return ModelSession(runner, incumbent, Limits())

    def maximise(self, runner: ListRunner, **options) -> Answer:
        return maximise(
            self.task,
            self.task.best_constant(),
            runner=runner,
            options=MipOptions.read(**options),
            limits=Limits(),
            callback=None,
        )


METRICS = ["accuracy", "f1", "mcc", "gmean", "fowlkes_mallows", "kappa", SUMS[0], SUMS[1]]
NAME = {"ids": lambda metric: metric if isinstance(metric, str) else metric.name}


@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=str)
@pytest.mark.parametrize("slack", [Fraction(0), Fraction(1, 10**6)], ids=str)
@pytest.mark.parametrize("metric", METRICS, **NAME)
def test_all_strategies_together_prove_the_best_tree(metric, slack, penalty) -> None:
    for seed in range(4):
        question = Question(metric, seed, penalty)
        answer = question.maximise(ListRunner(slack))
        assert answer.objective == question.best == answer.bound
        assert answer.objective == question.task.objective(answer.best)
        assert answer.limit is Limit.NONE


def test_direct_is_one_model_of_the_whole_objective() -> None:
    for metric, kind in (("accuracy", LinearObjective), ("gmean", NonlinearObjective)):
        question, runner = Question(metric), ListRunner()
        session = question.session(runner)
        direct(session, MipOptions(), Fraction(0))
        (objective,) = runner.asked
        assert isinstance(objective, kind)
        assert objective.task is question.task
        assert session.incumbent.objective == session.incumbent.bound == question.best


@pytest.mark.parametrize("metric", ["f1", "mcc"])
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=str)
def test_parametric_asks_linear_models_only(metric, penalty) -> None:
    for seed in range(4):
        question, runner = Question(metric, seed, penalty), ListRunner()
        session = question.session(runner)
        lines = parametric(session)
        assert all(isinstance(objective, LinearObjective) for objective in runner.asked)
        assert session.incumbent.objective == session.incumbent.bound == question.best
        for tree in all_trees(question.task.problem, 2):
            c = tree.confusion(question.task.problem)
            assert all(a * c.fn + b * c.fp >= least for a, b, least in lines)


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_bounds_of_inexact_models_are_no_proof_until_pairs_are_settled(metric) -> None:
    """As in a model of many samples, whose values lie closer than tolerances."""
    opened = 0
    for seed in range(6):
        question, runner = Question(metric, seed), ListRunner(units=1)
        session = question.session(runner)
        lines = parametric(session)
        incumbent = session.incumbent
        assert incumbent.objective <= question.best <= incumbent.bound
        opened += session.is_open
        settle(session, lines)
        assert incumbent.objective == question.best == incumbent.bound
    assert opened


@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean"])
@pytest.mark.parametrize("models", [0, 1, 2, 3])
def test_a_limit_leaves_the_best_tree_and_an_honest_bound(metric, models) -> None:
    for seed in range(4):
        question, runner = Question(metric, seed), ListRunner(limit_after=models)
        answer = question.maximise(runner)
        assert len(runner.asked) <= models + 1
        assert answer.objective <= question.best <= answer.bound
        if len(runner.asked) > models:
            assert answer.limit is Limit.TIME


def test_the_other_strategy_comes_where_the_first_leaves_the_question_open(monkeypatch) -> None:
    """Lines are more precise than one model, and one model sees what is inside the hull."""
    monkeypatch.setattr("goct.mip.settle.MOST_PAIRS", 0)
    question, runner = Question("f1", 2), ListRunner(slack=Fraction(1, 2))
    question.maximise(runner, method="direct", linearization="compact")
    kinds = [type(objective) for objective in runner.asked]
    assert kinds[0] is NonlinearObjective
    assert LinearObjective in kinds
    points = [(10, 70), (70, 10), (39, 39)]  # TP and TN of the three features
    y = np.repeat([1, 0], 100)
    X = np.zeros((200, 3), dtype=int)
    for k, (tp, tn) in enumerate(points):
        X[:tp, k] = 1
        X[100 : 200 - tn, k] = 1
    problem = Problem.from_arrays(X, y)
    task = Task.read(problem, "mcc", 1, constraints=Accuracy() <= 0.45)
    runner = ListRunner()
    answer = maximise(
        task, None, runner=runner, options=MipOptions(), limits=Limits(), callback=None
    )
    assert NonlinearObjective in [type(objective) for objective in runner.asked]
    assert answer.objective == answer.bound == MCC().value(Confusion(39, 61, 61, 39))


def test_no_feasible_tree_is_a_proof_in_every_strategy() -> None:
    for metric in ("accuracy", "f1", "mcc", "gmean"):
        question = Question(metric, 3, constraints=[Recall() >= 1, Specificity() >= 1])
        assert question.best is None
        answer = question.maximise(ListRunner())
        assert (answer.best, answer.limit) == (None, Limit.NONE)


def test_models_that_contradict_each_other_are_an_error() -> None:
    question, runner = Question("f1"), ListRunner()
    session = question.session(runner)
    session.incumbent.bound = session.incumbent.known.objective
    with pytest.raises(BackendError, match="bounded by"):
        direct(session, MipOptions(), Fraction(0))


def answer(monkeypatch, result: MipResult) -> None:
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: result, raising=False)


def test_a_solver_that_claims_too_little_does_not_make_a_tree_optimal(monkeypatch) -> None:
    answer(monkeypatch, MipResult(None, np.inf, Limit.TIME))
    solution = solve(SMALL, "accuracy", 1, engine="mip")
    assert solution.status is Status.FEASIBLE
    assert (solution.value, solution.bound) == (Fraction(2, 3), 1)


def test_a_bound_below_a_known_tree_is_an_error(monkeypatch) -> None:
    answer(monkeypatch, MipResult(None, 1.0, Limit.NONE))
    with pytest.raises(BackendError, match="bounded by"):
        solve(SMALL, "accuracy", 1, engine="mip")


def test_errors_in_cuts_reach_the_caller(monkeypatch) -> None:
    def broken(*_, **__):
        raise ZeroDivisionError("from the separator")

    monkeypatch.setattr(BendersCuts, "separate", broken)
    with pytest.raises(ZeroDivisionError, match="from the separator"):
        solve(hard_problem(), "accuracy", 2, engine="mip")


SCRIPT = """
import numpy as np, goct
rng = np.random.default_rng(0)
problem = goct.Problem.from_arrays(rng.integers(0, 2, (150, 30)), rng.integers(0, 2, 150))
tell = lambda progress: print("running", flush=True)
solution = goct.solve(problem, "accuracy", 3, engine="mip", injection="none", callback=tell)
print(solution.status.name, solution.limit.name, solution.tree is not None)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_ctrl_c_returns_the_best_tree() -> None:
    end = interrupt("-c", SCRIPT)
    assert end.code == 0, end.err
    assert end.lines == ["running\n"]
    assert end.out.splitlines()[-1].startswith("FEASIBLE INTERRUPTED True")
