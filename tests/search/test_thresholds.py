"""Every threshold of ranked columns, against brute force and the same thresholds as features."""

from __future__ import annotations

import numpy as np
import pytest

from goct import Limit
from goct.search import LinearOracle, OracleStatus
from tests.search.test_oracle import best_values, draw_costs, tree_cost
from tests.support.ranks import draw_ranks, explicit


def draw_question(rng):
    question = {"max_depth": int(rng.integers(0, 5))}
    if rng.random() < 0.4:
        question["split_cost"] = int(rng.integers(0, 4))
    if rng.random() < 0.4:
        question["min_leaf_weight"] = int(rng.integers(1, 5))
    if rng.random() < 0.4:
        question["max_splits"] = int(rng.integers(0, 5))
    return question


@pytest.mark.parametrize("seed", range(15))
def test_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        ranks = draw_ranks(rng, 10)
        X = explicit(ranks)
        weights = rng.integers(0, 4, len(ranks)) if rng.random() < 0.5 else None
        oracle = LinearOracle.from_ranks(ranks, weights)
        assert oracle.n_features == X.shape[1]
        question = draw_question(rng)
        for _ in range(2):
            costs = draw_costs(rng, len(ranks), int(rng.integers(2, 5)))
            size = {k: question[k] for k in ("split_cost", "min_leaf_weight") if k in question}
            most = question.get("max_splits", 15)
            values = best_values(X, costs, question["max_depth"], most, weights=weights, **size)
            result = oracle.solve(costs, **question)
            assert result.status is OracleStatus.OPTIMAL
            assert result.cost == result.bound == values[-1]
            cost, depth, splits = tree_cost(result.tree, X, costs, weights=weights, **size)
            assert cost == values[-1]
            assert depth <= question["max_depth"]
            assert splits <= most
            below = oracle.solve(costs, cutoff=values[-1], **question)
            assert below.status is OracleStatus.CUTOFF
            assert below.bound == values[-1]


@pytest.mark.parametrize("seed", range(10))
def test_equals_features(seed):
    rng = np.random.default_rng(100 + seed)
    ranks = np.unique(draw_ranks(rng, 70, most_ranks=60), axis=0)
    ranks = np.stack([np.unique(c, return_inverse=True)[1] for c in ranks.T], axis=1)
    costs = draw_costs(rng, len(ranks), int(rng.integers(2, 5)))
    question = draw_question(rng) | {"max_depth": 3}
    on_features, on_ranks = LinearOracle(explicit(ranks)), LinearOracle.from_ranks(ranks)
    assert on_ranks.solve(costs, **question).cost == on_features.solve(costs, **question).cost
    size = {"max_depth": 3, "max_splits": 5, "min_leaf_weight": 2}
    budgets = zip(
        on_ranks.solve_budgets(costs, **size), on_features.solve_budgets(costs, **size), strict=True
    )
    assert all(a.cost == b.cost == a.bound for a, b in budgets)


def hard_ranks(rows=3000, columns=8, seed=0):
    rng = np.random.default_rng(seed)
    ranks = rng.permuted(np.tile(np.arange(rows), (columns, 1)), axis=1).T
    labels = rng.integers(0, 2, rows)
    return ranks, np.stack([labels, 1 - labels], axis=1)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_time_limit_leaves_a_tree_and_a_bound(n_jobs):
    ranks, costs = hard_ranks()
    oracle = LinearOracle.from_ranks(ranks, n_jobs=n_jobs)
    result = oracle.solve(costs, max_depth=4, time_limit=0.2)
    assert result.status is OracleStatus.STOPPED
    assert result.limit is Limit.TIME
    assert result.stats["seconds"] < 2
    assert 0 <= result.bound < result.cost < costs.sum(axis=0).min()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_callback_stops(n_jobs):
    ranks, costs = hard_ranks(500)
    result = LinearOracle.from_ranks(ranks, n_jobs=n_jobs).solve(
        costs, max_depth=5, callback=lambda p: p.cost is not None
    )
    assert result.limit is Limit.INTERRUPTED
    assert result.tree is not None


def test_threads_find_the_same_tree():
    ranks, costs = hard_ranks(800, 6)
    one, *others = (LinearOracle.from_ranks(ranks, n_jobs=n_jobs) for n_jobs in (1, 2, 5))
    first = one.solve(costs, max_depth=3)
    for oracle in others:
        found = oracle.solve(costs, max_depth=3)
        assert (found.tree, found.cost, found.bound) == (first.tree, first.cost, first.cost)


def test_threads_visit_the_same_points():
    ranks, costs = hard_ranks(100, 5)
    rows = len(ranks)

    def look(n_jobs):
        seen, best = [], rows * rows

        def visit(x, y):
            nonlocal best
            seen.append((x, y))
            if (x + 1) * (y + 1) >= best:
                return None
            best = (x + 1) * (y + 1)
            return rows, best, best

        oracle = LinearOracle.from_ranks(ranks, n_jobs=n_jobs)
        found = oracle.search_front(
            costs[:, 0],
            costs[:, 1],
            direction=(1, 1),
            budget=rows,
            box=(rows, rows),
            visit=visit,
            max_depth=3,
        )
        assert found.proven
        return seen, found.tree

    first = look(1)
    assert look(2) == first
    assert look(5) == first


def test_memory_limit():
    ranks, costs = hard_ranks(300_000)
    result = LinearOracle.from_ranks(ranks, memory_limit=1 << 20).solve(costs, max_depth=2)
    assert result.limit is Limit.MEMORY
    assert result.cost == costs.sum(axis=0).min()


@pytest.mark.parametrize(
    ("ranks", "error", "words"),
    [
        ([[0, 0], [2, 1]], ValueError, "column 0"),
        ([[0, 1], [1, 2]], ValueError, "column 1"),
        ([[0, -1], [1, 0]], ValueError, "column 1"),
        ([[0.0], [1.0]], TypeError, "integers"),
        ([0, 1], ValueError, "matrix"),
        (np.zeros((0, 2), dtype=int), ValueError, "row"),
    ],
)
def test_bad_ranks(ranks, error, words):
    with pytest.raises(error, match=words):
        LinearOracle.from_ranks(ranks)


def test_later_changes_of_the_ranks_do_not_matter():
    ranks = np.array([[0], [1]])
    oracle = LinearOracle.from_ranks(ranks)
    ranks[:] = 0
    assert oracle.solve([[0, 1], [1, 0]], max_depth=1).cost == 0
