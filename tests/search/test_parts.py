"""Questions in parts, done in any order and by several oracles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from goct.search import LinearOracle
from goct.search.parts import Question, Spread
from goct.solution import Limit


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Question]:
    rows, columns = int(rng.integers(6, 40)), int(rng.integers(3, 9))
    X = (rng.random((rows, columns)) < rng.random()).astype(np.uint8)
    budgets = rng.random() < 0.5
    question = Question(
        rng.integers(0, 6, (rows, int(rng.integers(2, 4)))),
        max_depth=int(rng.integers(3, 6)),
        split_cost=0 if budgets else int(rng.choice([0, 0, 1, 3])),
        min_leaf_weight=int(rng.choice([0, 0, 3])),
        max_splits=int(rng.integers(0, 9)) if budgets else None,
    )
    return X, rng.integers(0, 3, rows), question


def ask(oracle: LinearOracle, question: Question) -> list:
    options = question.keywords
    if question.max_splits is None:
        return [oracle.solve(question.costs, **options)]
    del options["split_cost"]
    return oracle.solve_budgets(question.costs, **options)


@pytest.mark.parametrize("seed", range(40))
def test_parts_together_are_the_question(seed):
    rng = np.random.default_rng(seed)
    X, weights, question = draw(rng)
    truth = ask(LinearOracle(X, weights), question)
    leaf = LinearOracle(X, weights).solve(question.costs, max_depth=0)
    start = [replace(leaf, bound=-(10**9))] * question.budgets
    costs = [leaf.cost + 1] * question.budgets
    oracles = [LinearOracle(X, weights, n_jobs=jobs) for jobs in (1, 2, 1)]
    divided = [question.divide(oracle, costs) for oracle in oracles]
    roots, reason = divided[0].order(None, None)
    assert reason == "none"
    spread = Spread(roots, start, costs)
    drawn = []
    while not spread.is_done:
        while len(drawn) < 3 and (part := spread.draw(3)) is not None:
            drawn.append((part, spread.best.cutoffs(part)))
        part, cutoffs = drawn.pop(int(rng.integers(len(drawn))))
        if rng.random() < 0.2:  # its worker is gone
            spread.put_back(part)
            continue
        seconds = 1e-9 if rng.random() < 0.2 else None
        one = divided[int(rng.integers(3))]
        answers, reason, nodes = one.solve(list(part.columns), cutoffs, seconds, None)
        spread.take(part, answers, nodes=nodes, seconds=0.01)
        if reason != "none":
            spread.put_back(part)
        for m, known in enumerate(truth):
            assert spread.bound(m) <= known.cost
    if roots:
        for found, known in zip(spread.results(Limit.NONE, {}), truth, strict=True):
            assert (found.cost, found.bound, found.status) == (known.cost, known.cost, known.status)
            assert found.tree == known.tree


def test_an_oracle_that_was_asked_something_else_meanwhile():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 8)).astype(np.uint8)
    costs = rng.integers(0, 5, (60, 2))
    oracle = LinearOracle(X)
    question = Question(costs, 4)
    parts = question.divide(oracle, [10**6])
    roots, _ = parts.order(None, None)
    best = oracle.solve(rng.integers(0, 5, (60, 2)), max_depth=4)
    assert best.cost is not None
    (tree, cost, bound, proven), *_ = parts.solve([c for c, _ in roots], [10**6], None, None)[0]
    assert proven
    assert cost == bound == LinearOracle(X).solve(costs, max_depth=4).cost
    assert tree is not None


def test_a_question_for_depth_two_has_no_parts():
    X = np.eye(4, dtype=np.uint8)
    question = Question(np.array([[0, 1], [1, 0], [0, 1], [1, 0]]), 2)
    assert question.divide(LinearOracle(X), [10]).order(None, None) == ([], "none")


def test_thresholds_have_no_parts():
    ranks = np.arange(6).reshape(3, 2) // 2
    question = Question(np.array([[0, 1], [1, 0], [0, 1]]), 3)
    with pytest.raises(ValueError, match="no parts"):
        question.divide(LinearOracle.from_ranks(ranks), [10])


def test_sizes_of_parts_follow_from_their_times():
    roots = [(c, 0) for c in range(100)]
    leaf = LinearOracle(np.array([[0], [1]])).solve(np.array([[0, 1], [1, 0]]), max_depth=0)
    spread = Spread(roots, [replace(leaf, bound=0)], [10])
    first = spread.draw(4)
    assert first is not None
    assert first.columns == (0,)  # nothing is known yet
    spread.take(first, [(None, 0, 10, True)], nodes=1, seconds=0.2)
    second = spread.draw(4)
    assert second is not None
    assert second.columns == (1, 2, 3, 4, 5)  # about a second
    spread.take(second, [(None, 0, 10, True)], nodes=1, seconds=1e-6)
    third = spread.draw(4)
    assert third is not None
    assert third.place == 6
    assert len(third.columns) <= 94 // 8  # everybody gets some
