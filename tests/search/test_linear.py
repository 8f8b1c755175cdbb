"""Linear metrics in integers: one question, and its bound in the metric's own unit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status, solve
from goct.metrics import ClassCost, CostMatrix, InstanceCost, get_metric
from goct.plane.oracle import Answer, Incumbent, IncumbentSession, TooFineError
from goct.search.linear import LinearMaximiser
from goct.search.oracle import LinearOracle
from goct.search.questions import CostOracle
from goct.solution import Limits
from goct.task import Task
from goct.tree import Tree
from tests.support.oracles import all_trees


def maximiser(task: Task) -> LinearMaximiser:
    incumbent = Incumbent(task, task.best_constant())
    session = IncumbentSession(incumbent, Limits(), None)
    core = LinearOracle(task.problem.X)
    labels = range(task.problem.n_classes)
    oracle = CostOracle(session, core, task.problem, task.size, labels)
    return LinearMaximiser(oracle, incumbent, task.metric)


METRICS = ["accuracy", "balanced_accuracy", "youden", ClassCost(3, 0.5), InstanceCost()]


@pytest.mark.slow
@pytest.mark.parametrize("metric", [*METRICS, CostMatrix([[0, 2], [5, 1]])], ids=str)
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 30), Fraction(10**6)])
@pytest.mark.parametrize("seed", range(3))
def test_costs_of_the_question_are_objectives(metric, penalty: Fraction, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (12, 3)), rng.integers(0, 2, 12)
    problem = Problem.from_arrays(X, y, costs=rng.integers(0, 9, (12, 2)))
    task = Task.read(problem, metric, 2, split_penalty=penalty)
    linear = maximiser(task)
    seen: list[Tree] = []
    offer, linear.oracle.session.offer = linear.oracle.session.offer, seen.append
    linear.maximise()
    offer(seen[0])
    best = max(map(task.objective, all_trees(problem, 2)))
    assert linear.incumbent.objective == linear.incumbent.bound == best


def test_a_tie_of_a_size() -> None:
    problem = Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1])
    task = Task.read(problem, "accuracy", 2)
    linear = maximiser(task)
    linear.maximise()
    assert linear.incumbent.bound == 1
    size = type(task.size)
    assert linear.find_tie(size(2, 2))
    assert not linear.find_tie(size(1))


def test_numbers_that_are_too_fine() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 1])
    costs = CostMatrix([[0, 10**9], [Fraction(1, 10**9 + 7), 0]])
    with pytest.raises(TooFineError, match="60 bits"):
        maximiser(Task.read(problem, costs, 1))


def test_bounds_come_from_the_answer_not_from_the_tree() -> None:
    problem = Problem.from_arrays([[0], [0], [1], [1]], [0, 1, 1, 1])
    task = Task.read(problem, get_metric("accuracy"), 1)
    linear = maximiser(task)
    ask = linear.oracle.solve

    def tolerant(*arguments, **options) -> Answer:
        answer = ask(*arguments, **options)
        return Answer(answer.tree, answer.bound - 1)

    linear.oracle.solve = tolerant
    linear.incumbent.bound = linear.incumbent.bound + 1
    linear.maximise()
    assert linear.incumbent.objective == Fraction(3, 4)
    assert linear.incumbent.bound == 1


def test_many_classes_of_balanced_accuracy() -> None:
    """Their sizes have a common multiple that no oracle can count in."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 4))
    y = X @ [1, 2, 3, 5] + rng.integers(0, 3, 3000)
    problem = Problem.from_arrays(X, y)
    assert problem.n_classes == 14
    sizes = np.bincount(y)
    for penalty in (0, Fraction(1, 100)):
        found = solve(problem, "balanced_accuracy", 2, split_penalty=penalty)
        assert found.status is Status.FEASIBLE
        assert found.limit is Limit.NONE
        assert 0 < found.gap < 1e-12

        def best(rows, depth, price=float(penalty)) -> float:
            """By recursion over all trees, in floats."""
            leaf = max(np.bincount(y[rows], minlength=14) / sizes) / 14
            splits = [] if depth == 0 else [X[rows, f] == 1 for f in range(4)]
            return max(
                [
                    leaf,
                    *(best(rows[~s], depth - 1) + best(rows[s], depth - 1) - price for s in splits),
                ]
            )

        assert float(found.objective) == pytest.approx(best(np.arange(3000), 2), abs=1e-9)
