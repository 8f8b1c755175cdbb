"""Trees at the nodes of the solver: which features, how often, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest

from goct import Problem, Status, Tree, solve
from goct.constraints import MinLeafWeight, RequireFeatures
from goct.metrics import F1, MCC, Accuracy
from goct.mip.backends.base import Proposer
from goct.mip.heuristics import (
    NODE_HEURISTICS,
    HeuristicOptions,
    SaliencyHeuristic,
    improve_by_search,
)
from goct.mip.program import Heuristic, MipProgram
from goct.solution import Limits
from goct.task import Task
from goct.tree import Leaf, Split
from tests.support.mip import model_of, optimum, rule_arrays, skip_if_missing


class Nothing(Heuristic):
    def propose(self, x, incumbent=None):
        return None


def problem_with(n_features: int) -> Problem:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, n_features))
    return Problem.from_arrays(X, X[:, 0] ^ (X[:, 1] & X[:, 2]))


def stump(problem: Problem, feature: int) -> Tree:
    root = Split(feature, Leaf(0), Leaf(1))
    return Tree(root, problem.classes, problem.feature_names)


def test_features_are_those_of_the_tree_and_the_most_salient_others() -> None:
    problem = problem_with(7)
    model = model_of(problem, Accuracy(), 2)
    heuristic = SaliencyHeuristic(model, lambda *_: None, HeuristicOptions(), Nothing())
    x = np.zeros(model.program.n_variables)
    x[model.program.b[0]] = [0.1, 0.2, 0, 0.3, 0, 0, 0.05]
    x[model.program.b[1]] = [0.3, 0.0, 0, 0.0, 0, 0, 0.05]
    # The scores are 0.4, 0.2, 0, 0.3, 0, 0, 0.1.
    assert heuristic.salient_features(x, stump(problem, 4)) == {4, 0, 1, 3}
    assert heuristic.salient_features(x, stump(problem, 0)) == {0, 1, 3, 6}
    assert heuristic.salient_features(x, None) == {0, 1, 3}
    few = SaliencyHeuristic(
        model, lambda *_: None, HeuristicOptions(heuristic_features=1), Nothing()
    )
    assert few.salient_features(x, stump(problem, 4)) == {4, 0}
    model = model_of(problem, Accuracy(), 2, constraints=(RequireFeatures("x5"),))
    heuristic = SaliencyHeuristic(model, lambda *_: None, HeuristicOptions(), Nothing())
    assert heuristic.salient_features(np.zeros(len(x) + 50), None) == {5}


def test_no_set_of_features_is_tried_twice_and_only_better_trees_are_proposed() -> None:
    problem = problem_with(6)
    model = model_of(problem, Accuracy(), 2)
    asked = []
    answers = [stump(problem, 3), stump(problem, 0), stump(problem, 0)]

    def improve(small: Task, known: Tree | None, limits: Limits) -> Tree:
        asked.append((small, known))
        assert 0 < limits.time <= 1
        return answers[len(asked) - 1]

    settings = HeuristicOptions(heuristic_share=1.0)
    heuristic = SaliencyHeuristic(model, improve, settings, Nothing())
    x = np.zeros(model.program.n_variables)
    x[model.program.b[0, 0]] = 1
    incumbent = model.point(stump(problem, 3))
    assert heuristic.propose(x, incumbent) is None  # as good as the incumbent, no better
    assert asked[0][0].problem.kept.tolist() == [0, 3]
    assert asked[0][1] == stump(problem, 3)
    assert heuristic.propose(x, incumbent) is None  # the same features again
    assert len(asked) == 1
    x[model.program.b[0, 1]] = 1
    found = heuristic.propose(x, incumbent)
    assert model.tree(found) == stump(problem, 0)
    heuristic.deadline = -np.inf
    x[model.program.b[0, 4]] = 1
    assert heuristic.propose(x, incumbent) is None
    assert len(asked) == 2


def test_the_schedule_and_the_counts() -> None:
    class Always(Heuristic):
        def propose(self, x, incumbent=None):
            return x

    program = MipProgram(heuristic=Always())
    program.add_variables("x", (1,), upper=10, integer=False)
    program.objective[:] = 1
    proposer = Proposer(program, every=3)
    assert [proposer.is_due() for _ in range(9)] == [True] * 3 + [False, False, True] * 2
    one, two = np.array([1.0]), np.array([2.0])
    assert proposer.propose([one], two) is None
    assert proposer.propose([one], one) is None
    assert proposer.propose([one, two], None) is two
    assert proposer.propose([], None) is None
    proposer.count(accepted=True)
    proposer.count(accepted=False)
    assert proposer.stats == {
        "heuristic_calls": 4,
        "heuristic_injected": 1,
        "heuristic_rejected": 1,
    }


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["scip", "gurobi"])
@pytest.mark.parametrize("kind", NODE_HEURISTICS)
@pytest.mark.parametrize("metric", [Accuracy(), F1(), MCC()], ids=lambda m: m.name)
def test_results_are_those_of_brute_force(metric, kind, backend) -> None:
    skip_if_missing(backend)
    for seed in (20, 21):
        X, y = rule_arrays(seed)
        solution = solve(
            Problem.from_arrays(X, y), metric, 2, engine="mip", injection="none",
            node_heuristic=kind, heuristic_share=1, heuristic_every=1, backend=backend,
        )  # fmt: skip
        assert solution.status is Status.OPTIMAL
        assert solution.objective == optimum(X, y, metric, 2)
        assert solution.stats["heuristic_rejected"] == 0
        assert (solution.stats["heuristic_calls"] > 0) <= (kind != "none")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["search", "mip"])
def test_trees_are_found_and_accepted(kind) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (200, 12))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(200) < 0.2)
    problem = Problem.from_arrays(X, y)
    for metric in ("accuracy", "f1"):
        solution = solve(
            problem, metric, 3, split_penalty=0.01, engine="mip", injection="none",
            node_heuristic=kind, node_limit=30,
        )  # fmt: skip
        assert solution.stats["heuristic_injected"] >= 1
        assert solution.stats["heuristic_rejected"] == 0


def test_constraints_that_the_search_engine_does_not_know_are_kept() -> None:
    X, y = rule_arrays(22)
    problem = Problem.from_arrays(X, y)
    objectives = set()
    for kind in NODE_HEURISTICS:
        solution = solve(
            problem, "accuracy", 2, constraints=MinLeafWeight(4), engine="mip", injection="none",
            node_heuristic=kind,
        )  # fmt: skip
        assert solution.status is Status.OPTIMAL
        objectives.add(solution.objective.as_fraction())
    assert len(objectives) == 1


def test_a_tree_that_is_worse_than_a_constant_one_is_no_start_for_the_search_engine() -> None:
    problem = Problem.from_arrays([[1], [1], [0]], [1, 0, 1], sample_weight=[2, 3, 5])
    task = Task.read(problem, "f2", 2, split_penalty=0.01)
    worse = stump(problem, 0)
    assert task.objective(worse) < task.objective(task.best_constant())
    found = improve_by_search(task, worse, Limits(time=10))
    assert task.objective(found) == task.objective(task.best_constant())
    solution = solve(
        problem, "f2", 2, split_penalty=0.01, engine="mip", injection="cart", method="direct"
    )
    assert solution.status is Status.OPTIMAL
    assert solution.objective == task.objective(task.best_constant())
