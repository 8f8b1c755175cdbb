"""The exact oracle against brute force, against itself, and its manners."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache

import numpy as np
import pytest

from goct import Limit
from goct.search import TECHNIQUES, LinearOracle, OracleStatus
from goct.search.oracle import Effort
from tests.support.processes import PATIENCE

# How often the seeds of the random tests below are run through, each time with new problems.
ROUNDS = int(os.environ.get("GOCT_FUZZ_ROUNDS", "1"))

# A slow oracle that is easy to believe: dynamic programming over row sets and split budgets.


def best_values(X, costs, max_depth, budget, *, split_cost=0, weights=None, min_leaf_weight=0):
    """Least cost with at most m splits, for m = 0 .. budget (python ints)."""
    X = np.asarray(X)
    rows, features = X.shape
    costs = [[int(c) for c in row] for row in np.asarray(costs)]
    weights = [1] * rows if weights is None else [int(w) for w in weights]
    inside = [sum(1 << r for r in range(rows) if X[r, f]) for f in range(features)]
    members = cache(lambda mask: [r for r in range(rows) if mask >> r & 1])

    @cache
    def solve(mask, depth, splits):
        own = members(mask)
        classes = len(costs[0])
        best = min(sum(costs[r][k] for r in own) for k in range(classes))
        if depth == 0 or splits == 0:
            return best
        for f in range(features):
            one, zero = mask & inside[f], mask & ~inside[f]
            if not one or not zero:
                continue
            if any(
                sum(weights[r] for r in members(side)) < min_leaf_weight for side in (one, zero)
            ):
                continue
            for left in range(splits):
                value = (
                    solve(one, depth - 1, left)
                    + solve(zero, depth - 1, splits - 1 - left)
                    + split_cost
                )
                best = min(best, value)
        return best

    return [solve((1 << rows) - 1, max_depth, m) for m in range(budget + 1)]


def tree_cost(tree, X, costs, *, split_cost=0, weights=None, min_leaf_weight=0):
    """Cost, depth and number of splits of a nested-tuple tree; checks the minimum leaf weight."""
    X, costs = np.asarray(X), np.asarray(costs)
    weights = np.ones(len(X), dtype=np.int64) if weights is None else np.asarray(weights)

    def walk(node, rows):
        if not isinstance(node, tuple):
            return (
                sum(int(costs[r, node]) for r in rows),
                0,
                0,
                [sum(int(weights[r]) for r in rows)],
            )
        feature, left, right = node
        zero, one = [r for r in rows if not X[r, feature]], [r for r in rows if X[r, feature]]
        a, b = walk(left, zero), walk(right, one)
        return a[0] + b[0] + split_cost, 1 + max(a[1], b[1]), a[2] + b[2] + 1, a[3] + b[3]

    cost, depth, splits, leaves = walk(tree, range(len(X)))
    if splits:
        assert min(leaves) >= min_leaf_weight
    return cost, depth, splits


def draw_rows(rng, most_rows=16, most_features=6):
    rows, features = int(rng.integers(1, most_rows)), int(rng.integers(1, most_features))
    if rng.random() < 0.4:  # thresholds and categories, as binarized tables have them
        raw = rng.integers(0, 6, (rows, 2))
        X = np.concatenate([raw[:, :1] > np.arange(5), raw[:, 1:] == np.arange(3)], axis=1)
    else:
        X = rng.random((rows, features)) < rng.uniform(0.1, 0.9)
    return np.unique(X.astype(np.uint8), axis=0)


def draw_costs(rng, rows, classes):
    size = int(rng.choice([3, 30, 1000, 10**6, 10**12]))
    kind = rng.integers(0, 4)
    if kind == 0:
        return rng.integers(0, size, (rows, classes))
    if kind == 1:
        return rng.integers(-size, size, (rows, classes))
    if kind == 2:  # weighted labels
        labels = rng.integers(0, classes, (rows, 1))
        return np.where(np.arange(classes) == labels, 0, rng.integers(1, size + 1, (rows, 1)))
    counts = rng.integers(0, 4, (rows, classes))  # merged rows, some of them with mixed labels
    return counts.sum(axis=1, keepdims=True) - counts


def draw_oracle(rng, X, weights):
    return LinearOracle(
        X,
        weights,
        memory_limit=int(rng.choice([0, 10**5, 10**8])),
        n_jobs=int(rng.choice([1, 1, 1, 2, 3])),
        techniques={name: bool(rng.random() < 0.75) for name in TECHNIQUES},
    )


def planted(rng, rows=300, features=40, classes=2, noise=0.2):
    """A problem that takes a while: a hidden tree, and noise."""
    X = np.unique(
        (rng.random((rows, features)) < rng.uniform(0.2, 0.8, features)).astype(np.uint8), axis=0
    )
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (X[:, 3] | X[:, 4])) % classes
    y = np.where(rng.random(len(X)) < noise, rng.integers(0, classes, len(X)), y)
    return X, (np.arange(classes) != y[:, None]).astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("turn", range(ROUNDS))
def test_equals_brute_force(seed, turn):
    rng = np.random.default_rng(seed + 10_000 * turn)
    for _ in range(8):
        X = draw_rows(rng)
        rows, classes = len(X), int(rng.integers(2, 5))
        costs = draw_costs(rng, rows, classes)
        weights = rng.integers(0, 4, rows) if rng.random() < 0.5 else None
        oracle = draw_oracle(rng, X, weights)
        for _ in range(3):
            asked = costs * rng.integers(1, 6, (1, classes)) + (rng.random() < 0.3) * rng.integers(
                0, 2, costs.shape
            )
            depth = int(rng.integers(0, 6))
            split_cost = int(rng.choice([0, 0, 1, 2, 50]))
            least = int(rng.integers(0, 5)) if rng.random() < 0.3 else 0
            splits = int(rng.integers(0, 12)) if rng.random() < 0.4 else None
            rules = {"split_cost": split_cost, "min_leaf_weight": least}
            budget = min(2**depth - 1, rows) if splits is None else min(splits, rows)
            expected = best_values(X, asked, depth, budget, weights=weights, **rules)[-1]
            cutoff = expected + int(rng.integers(-2, 3)) if rng.random() < 0.6 else None

            result = oracle.solve(asked, max_depth=depth, max_splits=splits, cutoff=cutoff, **rules)

            if cutoff is not None and expected >= cutoff:
                assert result.status is OracleStatus.CUTOFF
                assert result.tree is None
                assert result.cost is None
                assert cutoff <= result.bound <= expected
            else:
                assert result.status is OracleStatus.OPTIMAL
                assert result.cost == result.bound == expected
                cost, used_depth, used_splits = tree_cost(
                    result.tree, X, asked, weights=weights, **rules
                )
                assert cost == expected
                assert used_depth <= depth
                assert splits is None or used_splits <= splits


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("turn", range(ROUNDS))
def test_every_budget_equals_brute_force(seed, turn):
    rng = np.random.default_rng(1000 + seed + 10_000 * turn)
    for _ in range(6):
        X = draw_rows(rng)
        rows, classes = len(X), int(rng.integers(2, 4))
        costs = draw_costs(rng, rows, classes)
        weights = rng.integers(0, 4, rows)
        oracle = draw_oracle(rng, X, weights)
        for _ in range(2):
            depth, budget = int(rng.integers(0, 6)), int(rng.integers(0, 12))
            least = int(rng.integers(0, 4)) if rng.random() < 0.3 else 0
            expected = best_values(X, costs, depth, budget, weights=weights, min_leaf_weight=least)
            cutoffs = (
                [v + int(rng.integers(-3, 4)) for v in expected] if rng.random() < 0.5 else None
            )

            results = oracle.solve_budgets(
                costs, max_depth=depth, max_splits=budget, min_leaf_weight=least, cutoffs=cutoffs
            )

            assert len(results) == budget + 1
            for m, result in enumerate(results):
                if cutoffs is not None and expected[m] >= cutoffs[m]:
                    assert result.status is OracleStatus.CUTOFF
                    assert cutoffs[m] <= result.bound <= expected[m]
                else:
                    assert result.cost == result.bound == expected[m]
                    cost, used_depth, used = tree_cost(
                        result.tree, X, costs, weights=weights, min_leaf_weight=least
                    )
                    assert (cost, used_depth <= depth, used <= m) == (expected[m], True, True)


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("split_cost", [0, 2])
@pytest.mark.parametrize("depth", [3, 4])
def test_no_technique_changes_the_cost(technique, split_cost, depth):
    rng = np.random.default_rng(7)
    for classes in (2, 3):
        X, costs = planted(rng, rows=120, features=15, classes=classes)
        all_on = LinearOracle(X).solve(costs, max_depth=depth, split_cost=split_cost)
        one_off = LinearOracle(X, techniques={technique: False}).solve(
            costs, max_depth=depth, split_cost=split_cost
        )
        assert one_off.cost == all_on.cost == all_on.bound == one_off.bound


@pytest.mark.parametrize("seed", range(12))
def test_equals_itself_without_techniques(seed):
    """Larger than brute force can do: thresholds, categories, minimum leaves, several calls."""
    rng = np.random.default_rng(2000 + seed)
    nothing = dict.fromkeys(TECHNIQUES, False)
    for _ in range(10):
        raw = rng.integers(0, 9, (int(rng.integers(30, 150)), 3))
        X = np.concatenate(
            [raw[:, :1] > np.arange(8), raw[:, 1:2] == np.arange(9), raw[:, 2:] > np.arange(8)],
            axis=1,
        )
        X = np.unique(X.astype(np.uint8), axis=0)
        classes, depth = int(rng.integers(2, 4)), int(rng.integers(3, 5))
        y = (X[:, 0] + X[:, 12] * X[:, 20] + (rng.random(len(X)) < 0.2)) % classes
        costs = np.where(
            np.arange(classes) == y[:, None],
            0,
            rng.integers(1, int(rng.choice([2, 200])), (len(X), 1)),
        )
        rules = {
            "max_depth": depth,
            "split_cost": int(rng.choice([0, 1, 5])),
            "min_leaf_weight": int(rng.choice([0, 0, 5])),
        }
        plain = LinearOracle(X, techniques=nothing).solve(costs, **rules)
        oracle = LinearOracle(X)
        oracle.solve(costs * np.arange(1, classes + 1), **rules)
        for _ in range(2):
            result = oracle.solve(costs, **rules)
            assert result.cost == result.bound == plain.cost == plain.bound


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_any_number_of_threads_finds_the_same_tree(depth):
    rng = np.random.default_rng(depth)
    for classes in (2, 3):
        X, costs = planted(rng, rows=150, features=14, classes=classes, noise=0.3)
        trees = {
            LinearOracle(X, n_jobs=jobs).solve(costs, max_depth=depth).tree for jobs in (1, 2, 3, 7)
        }
        assert len(trees) == 1


@pytest.mark.parametrize("least", [0, 6])
def test_budgets_are_the_same_with_threads_and_techniques(least):
    rng = np.random.default_rng(least)
    X, costs = planted(rng, rows=150, features=14, noise=0.3)
    question = {"max_depth": 4, "max_splits": 15, "min_leaf_weight": least}
    expected = [r.cost for r in LinearOracle(X).solve_budgets(costs, **question)]
    single = LinearOracle(X).solve(costs, max_depth=4, min_leaf_weight=least)
    assert expected[-1] == single.cost
    for options in (
        {"n_jobs": 2},
        {"n_jobs": 5, "memory_limit": 0},
        *({"techniques": {name: False}} for name in TECHNIQUES),
    ):
        results = LinearOracle(X, **options).solve_budgets(costs, **question)
        assert [r.cost for r in results] == [r.bound for r in results] == expected


@pytest.mark.parametrize("seed", range(12))
def test_a_search_that_takes_long_starts_again(seed):
    """A twentieth of the time limit is long: these searches pause, and most of them end."""
    rng = np.random.default_rng(3000 + seed)
    X, costs = planted(rng, rows=120, features=20, noise=0.3)
    rules = {"max_depth": 5, "min_leaf_weight": int(rng.choice([0, 6]))}
    at_once = LinearOracle(X, techniques={"deepening": False})
    optimum = at_once.solve(costs, **rules).cost
    budgets = [r.cost for r in at_once.solve_budgets(costs, max_splits=9, **rules)]
    for limit in (0.05, 0.5, 5):
        oracle = LinearOracle(X, n_jobs=1 + seed % 2)
        results = [oracle.solve(costs, time_limit=limit, **rules)]
        results += oracle.solve_budgets(costs, max_splits=9, time_limit=limit, **rules)
        for result, truth in zip(results, [optimum, *budgets], strict=True):
            assert result.bound <= truth <= result.cost
            assert result.limit is Limit.TIME or result.bound == truth == result.cost


@pytest.mark.parametrize("seed", range(6))
def test_first_trees_of_larger_depths_are_not_worse(seed):
    rng = np.random.default_rng(seed)
    rows, features = int(rng.integers(100, 300)), int(rng.integers(16, 26))
    X = rng.integers(0, 2, (rows, features))
    costs, split_cost = rng.integers(0, 4, (rows, 2)), int(rng.integers(1, 3))
    found = []
    for depth in range(5, 10):
        options = {"max_depth": depth, "split_cost": split_cost, "effort": Effort.FIRST_TREES}
        found.append(LinearOracle(X).solve(costs, **options).cost)
    assert found == sorted(found, reverse=True)


def test_bounds_on_the_way_are_those_of_the_question():
    # Not those of the smaller depths that a long search begins with.
    X, costs = hard()
    bounds = []
    result = LinearOracle(X).solve(
        costs, max_depth=4, time_limit=4, callback=lambda p: bounds.append(p.bound)
    )
    assert bounds == sorted(bounds)
    assert bounds[-1] <= result.cost


def test_bounds_carry_over_to_other_costs():
    rng = np.random.default_rng(11)
    X, unit = planted(rng, rows=150, features=16)
    lasting = LinearOracle(X)
    for _ in range(12):
        a, b, s = (int(v) for v in rng.integers(1, 40, 3))
        s = s * int(rng.integers(0, 2))
        costs = unit * np.array([a, b])
        depth = int(rng.integers(3, 5))
        cutoff = None if rng.random() < 0.5 else int(rng.integers(1, 20)) * a
        fresh = LinearOracle(X).solve(costs, max_depth=depth, split_cost=s, cutoff=cutoff)
        again = lasting.solve(costs, max_depth=depth, split_cost=s, cutoff=cutoff)
        assert (fresh.status, fresh.cost) == (again.status, again.cost)


def test_a_solved_question_is_not_searched_again():
    X, costs = planted(np.random.default_rng(2))
    oracle = LinearOracle(X)
    first, second = (oracle.solve(costs, max_depth=4) for _ in range(2))
    assert (first.cost, first.tree) == (second.cost, second.tree)
    assert second.stats["nodes"] == 0
    none = oracle.solve(costs, max_depth=4, cutoff=first.cost)
    assert none.status is OracleStatus.CUTOFF
    assert none.bound == first.cost


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_costs_of_every_size_go_through_the_same_search(classes):
    # Sums around the limits of 8, 16 and 32 bits, and far beyond.
    X, costs = planted(np.random.default_rng(5), rows=127, features=12, classes=classes, noise=0.3)
    reference = LinearOracle(X).solve(costs, max_depth=3)
    for scale in (2, 257, 259, 2**24 + 3, 2**25, 2**40):
        scaled = LinearOracle(X).solve(costs * scale, max_depth=3)
        assert scaled.cost == reference.cost * scale
        assert scaled.tree == reference.tree


def test_shifting_a_row_shifts_the_cost():
    rng = np.random.default_rng(3)
    X, costs = planted(rng, rows=80, features=10)
    shift = rng.integers(-1000, 1000, (len(X), 1))
    assert LinearOracle(X).solve(costs + shift, max_depth=3).cost == (
        LinearOracle(X).solve(costs, max_depth=3).cost + shift.sum()
    )


@pytest.mark.parametrize("memory_limit", [0, 10_000, 10_000_000])
def test_memory_limit_holds(memory_limit):
    X, costs = planted(np.random.default_rng(4), rows=200, features=20)
    result = LinearOracle(X, memory_limit=memory_limit).solve(costs, max_depth=4)
    assert result.cost == LinearOracle(X).solve(costs, max_depth=4).cost
    assert result.stats["cache_bytes"] <= max(
        memory_limit, 64 * 64 * 64
    )  # a few entries are always there


def hard():
    return planted(np.random.default_rng(1), rows=3000, features=120, noise=0.4)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_time_limit(n_jobs, limit):
    X, costs = hard()
    oracle = LinearOracle(X, n_jobs=n_jobs)
    start = time.perf_counter()
    result = oracle.solve(costs, max_depth=6, time_limit=limit)
    assert time.perf_counter() - start < 20  # generous: machines differ
    assert result.status is OracleStatus.STOPPED
    assert result.limit is Limit.TIME
    assert result.bound <= result.cost == tree_cost(result.tree, X, costs)[0]
    budgets = oracle.solve_budgets(costs, max_depth=6, max_splits=20, time_limit=limit)
    assert all(b.status is OracleStatus.STOPPED for b in budgets)
    assert all(b.tree is None or b.bound <= b.cost for b in budgets)


def test_callback_sees_progress_and_stops():
    X, costs = hard()
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 4

    start = time.perf_counter()
    result = LinearOracle(X).solve(costs, max_depth=6, callback=callback)
    assert time.perf_counter() - start < 20  # generous: machines differ
    assert result.limit is Limit.INTERRUPTED
    assert len(seen) >= 4
    assert seen[-1].cost >= result.cost
    assert seen[-1].bound <= result.cost
    assert seen[-1].nodes > 0
    assert seen[-1].elapsed > seen[0].elapsed


def test_an_error_in_the_callback_comes_out():
    def callback(_progress):
        raise ZeroDivisionError

    X, costs = hard()
    with pytest.raises(ZeroDivisionError):
        LinearOracle(X).solve(costs, max_depth=6, callback=callback)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_returns_the_best_tree():
    X, costs = hard()
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # some runners ignore the signal
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        result = LinearOracle(X).solve(costs, max_depth=6)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - start < 20  # generous: machines differ
    assert result.status is OracleStatus.STOPPED
    assert result.limit is Limit.INTERRUPTED
    assert result.cost == tree_cost(result.tree, X, costs)[0]


def test_other_threads_run_meanwhile():
    X, costs = hard()
    ticks = 0
    done = threading.Event()

    def tick():
        nonlocal ticks
        while not done.wait(0.01):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    LinearOracle(X).solve(costs, max_depth=6, time_limit=0.5)
    done.set()
    thread.join()
    assert ticks > 10


def test_a_second_thread_is_refused():
    X, costs = hard()
    oracle = LinearOracle(X)
    running, tried = threading.Event(), threading.Event()
    results = []

    def callback(_progress):
        running.set()
        return tried.wait(60)

    def ask():
        results.append(oracle.solve(costs, max_depth=6, callback=callback))

    thread = threading.Thread(target=ask)
    thread.start()
    assert running.wait(60)
    with pytest.raises(RuntimeError, match="one oracle per thread"):
        oracle.solve(costs, max_depth=1)
    with pytest.raises(RuntimeError, match="one oracle per thread"):
        oracle.solve_budgets(costs, max_depth=1, max_splits=1)
    with pytest.raises(RuntimeError, match="one oracle per thread"):
        oracle.search_front(
            costs[:, 0], costs[:, 1], direction=(1, 1), budget=9, box=(9, 9), visit=min, max_depth=1
        )
    tried.set()
    thread.join()
    assert results[0].limit is Limit.INTERRUPTED  # the first question came to no harm
    assert oracle.solve(costs, max_depth=1).status is OracleStatus.OPTIMAL


@pytest.mark.slow
def test_a_stop_during_the_set_up_returns_the_best_constant():
    X = np.random.default_rng(5).integers(0, 2, (300_000, 256), dtype=np.uint8)
    costs = np.stack([X[:, 0], 1 - X[:, 0]], axis=1).astype(np.int64)
    least = int(costs.sum(axis=0).min())
    oracle = LinearOracle(X)
    result = oracle.solve(costs, max_depth=3, time_limit=1e-4)
    assert (result.limit, result.cost, result.bound) == (Limit.TIME, least, 0)
    assert oracle.solve(costs, max_depth=3, cutoff=least, time_limit=1e-4).tree is None
    budgets = oracle.solve_budgets(costs, max_depth=3, max_splits=2, time_limit=1e-4)
    assert [(b.tree, b.cost, b.bound) for b in budgets] == [(result.tree, least, 0)] * 3


def test_later_changes_of_the_data_do_not_matter():
    X = np.array([[0], [1]], dtype=np.uint8)
    oracle = LinearOracle(X)
    X[:] = 0
    assert oracle.solve([[0, 1], [1, 0]], max_depth=1).cost == 0


def test_degenerate_questions():
    one = LinearOracle([[0, 1, 1]])
    assert one.solve([[3, 1]], max_depth=4).tree == 1
    assert one.solve([[7]], max_depth=2).cost == 7
    no_features = LinearOracle(np.zeros((3, 0)))
    assert no_features.solve([[0, 1], [1, 0], [1, 0]], max_depth=3).cost == 1
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    xor = [[0, 1], [1, 0], [1, 0], [0, 1]]
    assert LinearOracle(X).solve(xor, max_depth=0).cost == 2
    assert LinearOracle(X).solve(xor, max_depth=1).cost == 2
    assert LinearOracle(X).solve(xor, max_depth=2).cost == 0
    assert LinearOracle(X).solve(xor, max_depth=1000).cost == 0
    assert [r.cost for r in LinearOracle(X).solve_budgets(xor, max_depth=2, max_splits=3)] == [
        2,
        2,
        1,
        0,
    ]


def test_duplicate_rows_are_allowed():
    X = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    result = LinearOracle(X).solve([[1, 0], [0, 1], [0, 1], [0, 1]], max_depth=2)
    assert result.cost == 1


def test_bad_input():
    with pytest.raises(ValueError, match="two-dimensional"):
        LinearOracle([0, 1])
    with pytest.raises(ValueError, match="must be 0 or 1"):
        LinearOracle([[0, 2]])
    with pytest.raises(ValueError, match="at least one row"):
        LinearOracle(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="weights"):
        LinearOracle([[0, 1]], [-1])
    with pytest.raises(ValueError, match="n_jobs"):
        LinearOracle([[0, 1]], n_jobs=0)
    with pytest.raises(ValueError, match="unknown technique"):
        LinearOracle([[0, 1]], techniques={"magic": True})
    with pytest.raises(TypeError, match="techniques\\['cache'\\] must be True or False, got 0"):
        LinearOracle([[0, 1]], techniques={"cache": 0})
    with pytest.raises(TypeError, match="memory_limit must be an integer of at least 0, got inf"):
        LinearOracle([[0, 1]], memory_limit=float("inf"))
    assert LinearOracle([[0], [1]], memory_limit=2**70).solve([[0, 1]] * 2, max_depth=1).cost == 0
    oracle = LinearOracle([[0], [1]])
    with pytest.raises(ValueError, match="one row per row"):
        oracle.solve([[0, 1]], max_depth=1)
    with pytest.raises(TypeError, match="integers"):
        oracle.solve([[0.5, 1], [1, 0]], max_depth=1)
    with pytest.raises(ValueError, match="split_cost"):
        oracle.solve([[0, 1], [1, 0]], max_depth=1, split_cost=-1)
    with pytest.raises(ValueError, match="cutoffs"):
        oracle.solve_budgets([[0, 1], [1, 0]], max_depth=1, max_splits=2, cutoffs=[1])


def test_costs_beyond_60_bits_are_refused():
    oracle = LinearOracle([[0], [1]])
    with pytest.raises(OverflowError):
        oracle.solve([[2**60, 0], [0, 1]], max_depth=1)
    with pytest.raises(OverflowError):
        oracle.solve([[2**59, 0], [2**59, 1]], max_depth=1)
    with pytest.raises(OverflowError):
        oracle.solve([[2**70, 0], [0, 1]], max_depth=1)
    assert oracle.solve([[2**58, 0], [0, 2**58]], max_depth=1).cost == 0


def test_python_may_end_while_a_thread_searches() -> None:
    """A thread that Python does not wait for is stopped before C++ would have to unwind."""
    program = """
import threading, time, numpy as np
from goct.search import LinearOracle
rng = np.random.default_rng(0)
X, costs = rng.integers(0, 2, (2000, 40)), rng.integers(0, 9, (2000, 2))
ask = lambda: LinearOracle(X).solve(costs, max_depth=6, time_limit=60)
threading.Thread(target=ask, daemon=True).start()
time.sleep(0.5)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=PATIENCE)
    assert (ended.returncode, ended.stderr) == (0, b"")
