"""The search inside the hull against brute force, and its manners."""

from __future__ import annotations

import os
import signal
import threading
import time
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goct import Limit
from goct.search import TECHNIQUES, LinearOracle
from tests.support.ranks import draw_ranks, explicit

EVERYTHING = 10**30


def dominates(p, q):
    return all(a <= b for a, b in zip(p, q, strict=True))


def minimal(points):
    """Return the points that no other one dominates."""
    kept = []
    for p in sorted(set(points)):  # whatever dominates a point comes before it
        if not any(dominates(q, p) for q in kept):
            kept.append(p)
    return kept


def brute_force(X, positives, negatives, depth, *, splits=None, weights=None, min_leaf_weight=0):
    """Return the points (x, y) of all trees that no other tree dominates."""
    rows, features = X.shape
    weights = np.ones(rows, dtype=int) if weights is None else weights
    inside = [sum(1 << r for r in range(rows) if X[r, f]) for f in range(features)]
    members = cache(lambda mask: [r for r in range(rows) if mask >> r & 1])

    @cache
    def points(mask, depth):
        own = members(mask)
        found = [(sum(int(positives[r]) for r in own), 0, 0)]
        found.append((0, sum(int(negatives[r]) for r in own), 0))
        for column in inside if depth else ():
            one, zero = mask & column, mask & ~column
            if not one or not zero:
                continue
            if any(sum(weights[r] for r in members(m)) < min_leaf_weight for m in (one, zero)):
                continue
            found += [
                (x + u, y + v, s + t + 1)
                for x, y, s in points(one, depth - 1)
                for u, v, t in points(zero, depth - 1)
                if splits is None or s + t + 1 <= splits
            ]
        if splits is None:  # then they do not matter
            found = [(x, y, 0) for x, y, _ in found]
        return minimal(found)

    return minimal((x, y) for x, y, _ in points((1 << rows) - 1, depth))


def tree_point(tree, X, positives, negatives, weights, min_leaf_weight):
    """Point, depth and splits of a nested-tuple tree; checks the minimum leaf weight."""

    def walk(node, rows):
        if not isinstance(node, tuple):
            assert node in (0, 1)
            x = sum(int(positives[r]) for r in rows) if node == 0 else 0
            y = sum(int(negatives[r]) for r in rows) if node == 1 else 0
            return x, y, 0, 0, [sum(int(weights[r]) for r in rows)]
        feature, left, right = node
        a = walk(left, [r for r in rows if not X[r, feature]])
        b = walk(right, [r for r in rows if X[r, feature]])
        return a[0] + b[0], a[1] + b[1], 1 + max(a[2], b[2]), a[3] + b[3] + 1, a[4] + b[4]

    x, y, depth, splits, leaves = walk(tree, range(len(X)))
    assert splits == 0 or min(leaves) >= min_leaf_weight
    return (x, y), depth, splits


class Case:
    """A random small problem, a question about it, and the truth."""

    def __init__(self, rng, *, techniques=None, ranked=False):
        rows, features = int(rng.integers(1, 15)), int(rng.integers(0, 6))
        if ranked:
            data = draw_ranks(rng, 15)
            self.X, make = explicit(data), LinearOracle.from_ranks
        else:
            if rng.random() < 0.4:  # thresholds and categories, as binarized tables have them
                raw = rng.integers(0, 5, (rows, 2))
                X = np.concatenate([raw[:, :1] > np.arange(4), raw[:, 1:] == np.arange(3)], axis=1)
            else:
                X = rng.random((rows, features)) < rng.uniform(0.2, 0.8)
            data = self.X = np.unique(X.astype(np.uint8), axis=0)
            make = LinearOracle
        rows = len(self.X)
        # Rows of one class, rows of both, ties of a * p and b * n, and rows that are empty.
        most = int(rng.choice([2, 3, 8, 1000]))
        kind = rng.integers(0, 3)
        self.positives = rng.integers(0, most, rows)
        self.negatives = rng.integers(0, most, rows)
        if kind == 0:
            self.negatives[self.positives > 0] = 0
        self.direction = tuple(int(v) for v in rng.choice([1, 1, 2, 3, 7], 2))
        if kind == 1:
            tied = rng.random(rows) < 0.5
            a, b = self.direction
            self.positives[tied], self.negatives[tied] = b * (tied[tied] * 2), a * (tied[tied] * 2)
        self.weights = rng.integers(0, 4, rows) if rng.random() < 0.4 else np.ones(rows, dtype=int)
        self.depth = int(rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 5]))
        self.splits = int(rng.integers(0, 9)) if rng.random() < 0.4 else None
        self.least = int(rng.integers(0, 5)) if rng.random() < 0.3 else 0
        self.oracle = make(
            data,
            self.weights,
            memory_limit=int(rng.choice([0, 10**5, 10**8])),
            techniques=techniques
            if techniques is not None
            else {name: bool(rng.random() < 0.75) for name in TECHNIQUES},
        )
        if rng.random() < 0.5:  # what a linear question leaves must do no harm
            self.solve_linear(cutoff=None if rng.random() < 0.5 else int(rng.integers(0, 50)))
        self.truth = brute_force(
            self.X,
            self.positives,
            self.negatives,
            self.depth,
            splits=self.splits,
            weights=self.weights,
            min_leaf_weight=self.least,
        )

    def cost(self, point):
        return self.direction[0] * point[0] + self.direction[1] * point[1]

    def solve_linear(self, **options):
        a, b = self.direction
        return self.oracle.solve(
            np.stack([a * self.positives, b * self.negatives], axis=1),
            max_depth=self.depth,
            min_leaf_weight=self.least,
            **options,
        )

    def search(self, visit, *, budget=EVERYTHING, box=(EVERYTHING, EVERYTHING), **options):
        return self.oracle.search_front(
            self.positives,
            self.negatives,
            direction=self.direction,
            budget=budget,
            box=box,
            visit=visit,
            max_depth=self.depth,
            max_splits=self.splits,
            min_leaf_weight=self.least,
            **options,
        )

    def region(self, rng):
        """Return a budget and a box that cut some of the points off."""
        points = list(self.truth)
        p, q, r = (points[int(rng.integers(len(points)))] for _ in range(3))
        loose = int(rng.integers(-1, 4))
        budget = self.cost(p) + loose if rng.random() < 0.6 else EVERYTHING
        box = (
            (q[0] + int(rng.integers(0, 3)) if rng.random() < 0.5 else EVERYTHING),
            (r[1] + int(rng.integers(0, 3)) if rng.random() < 0.5 else EVERYTHING),
        )
        return budget, box

    def within(self, budget, box):
        return [p for p in self.truth if self.cost(p) <= budget and dominates(p, box)]

    def check_result(self, result, point):
        assert result.point == point
        assert result.trees[-1] == (result.tree, point)
        self.check_tree(result.tree, point)

    def check_tree(self, tree, point):
        own, depth, splits = tree_point(
            tree, self.X, self.positives, self.negatives, self.weights, self.least
        )
        assert own == point
        assert depth <= self.depth
        assert self.splits is None or splits <= self.splits


def check_visits_are_minimal(visits):
    for i, p in enumerate(visits):
        assert not any(dominates(q, p) for q in visits[:i])


def check_everything_is_visited(rng, case):
    budget, box = case.region(rng)
    visits, accepted = [], []

    def visit(x, y):
        assert case.cost((x, y)) <= budget
        assert dominates((x, y), box)
        visits.append((x, y))
        if rng.random() < 0.5:
            return None
        accepted.append((x, y))
        return EVERYTHING, *box

    keep_all = rng.random() < 0.5
    result = case.search(visit, budget=budget, box=box, keep_all=keep_all)
    assert result.proven
    assert result.limit is Limit.NONE
    assert result.stats["visits"] == len(visits)
    check_visits_are_minimal(visits)
    assert minimal(visits) == case.within(budget, box)
    assert len(result.trees) == (len(minimal(accepted)) if keep_all else bool(accepted))
    for tree, point in result.trees:
        assert point in minimal(accepted)
        case.check_tree(tree, point)
    if accepted:
        case.check_result(result, accepted[-1])
    else:
        assert result.tree is None
        assert result.point is None


@pytest.mark.slow
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_all_nondominated_points_are_visited(seed, ranked):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        case = Case(rng, ranked=ranked)
        for _ in range(3):
            check_everything_is_visited(rng, case)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_all_nondominated_points_are_visited_whatever_is_drawn(seed, ranked):
    rng = np.random.default_rng(seed)
    check_everything_is_visited(rng, Case(rng, ranked=ranked))


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_no_technique_changes_what_is_found(technique, ranked):
    rng = np.random.default_rng(7)
    for _ in range(12):
        case = Case(rng, techniques={technique: False}, ranked=ranked)
        check_everything_is_visited(rng, case)
        # What the search leaves must do no harm to a linear question.
        answer = case.solve_linear()
        front = brute_force(
            case.X,
            case.positives,
            case.negatives,
            case.depth,
            weights=case.weights,
            min_leaf_weight=case.least,
        )
        assert answer.cost == min(map(case.cost, front))


class Best:
    """Looks for the largest value of a function that falls with x and y, as a maximiser does."""

    def __init__(self, value, case, above):
        self.value, self.case, self.best = value, case, above
        self.most = int(case.positives.sum()), int(case.negatives.sum())

    def region(self):
        """Return the smallest budget and box around all points that would be better."""
        corners = []
        for x in range(self.most[0] + 1):
            better = [y for y in range(self.most[1] + 1) if self.value(x, y) > self.best]
            if better:
                corners.append((x, max(better)))
        if not corners:
            return -1, 0, 0
        return max(map(self.case.cost, corners)), corners[-1][0], max(y for _, y in corners)

    def visit(self, x, y):
        if self.value(x, y) <= self.best:
            return None
        self.best = self.value(x, y)
        return self.region()


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_finds_the_best_of_a_monotone_function(seed, ranked):
    rng = np.random.default_rng(100 + seed)
    for _ in range(4):
        case = Case(rng, ranked=ranked)
        if case.positives.sum() * case.negatives.sum() > 2000:
            continue
        n_pos, n_neg = int(case.positives.sum()), int(case.negatives.sum())

        def g_mean(x, y, n_pos=n_pos, n_neg=n_neg):
            return (n_pos - x) * (n_neg - y)

        def precision_at_recall(x, y, n_pos=n_pos):
            if 10 * x > 3 * n_pos or n_pos == x:
                return Fraction(-1)
            return Fraction(n_pos - x, n_pos - x + y)

        for value in (g_mean, precision_at_recall):
            expected = max(value(*p) for p in case.truth)
            maximiser = Best(value, case, above=Fraction(-1))
            budget, width, height = maximiser.region()
            result = case.search(maximiser.visit, budget=budget, box=(width, height))
            assert result.proven
            assert maximiser.best == expected
            if expected > -1:
                assert value(*result.point) == expected
                case.check_result(result, result.point)


def planted(rng, rows=300, features=40, noise=0.2):
    X = np.unique(
        (rng.random((rows, features)) < rng.uniform(0.2, 0.8, features)).astype(np.uint8), axis=0
    )
    y = X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (X[:, 3] | X[:, 4])
    y = np.where(rng.random(len(X)) < noise, rng.integers(0, 2, len(X)), y)
    return X, y.astype(np.int64)


@pytest.mark.parametrize("technique", [None, *TECHNIQUES])
@pytest.mark.parametrize("splits", [None, 5])
def test_larger_problems_agree_with_other_directions(technique, splits):
    """Beyond brute force: the whole front is the same from every side, and holds the hull."""
    X, y = planted(np.random.default_rng(3), rows=60, features=9)
    fronts = []
    for a, b in ((1, 1), (3, 1), (2, 5)):
        visits = []
        oracle = LinearOracle(X, techniques={technique: False} if technique else None)
        rules = {"max_depth": 3, "max_splits": splits}
        result = oracle.search_front(
            y,
            1 - y,
            direction=(a, b),
            budget=EVERYTHING,
            box=(EVERYTHING, EVERYTHING),
            visit=lambda *p, visits=visits: visits.append(p),
            **rules,
        )
        assert result.proven
        fronts.append(minimal(visits))
        best = oracle.solve(np.stack([a * y, b * (1 - y)], axis=1), **rules)
        assert min(a * x + b * z for x, z in visits) == best.cost
    assert fronts[0] == fronts[1] == fronts[2]
    assert len(fronts[0]) > 5


def everything(oracle, positives, negatives, **options):
    visits = []
    rules = {"direction": (1, 1), "budget": EVERYTHING, "box": (EVERYTHING, EVERYTHING)}
    result = oracle.search_front(
        positives,
        negatives,
        visit=lambda x, y: visits.append((x, y)),
        **{**rules, "max_depth": 3, **options},
    )
    assert result.proven
    return minimal(visits)


@pytest.mark.parametrize("seed", range(10))
def test_equals_itself_without_techniques(seed):
    """Beyond brute force: chains of thresholds, and regions against the whole front."""
    rng = np.random.default_rng(3000 + seed)
    raw = rng.integers(0, 7, (int(rng.integers(20, 60)), 3))
    X = np.concatenate([raw[:, :1] > np.arange(6), raw[:, 1:2] == np.arange(7)], axis=1)
    X = np.concatenate([X, raw[:, 2:] > np.arange(6)], axis=1)
    X = np.unique(X.astype(np.uint8), axis=0)
    p, n = (rng.integers(0, int(rng.choice([2, 5, 4000])), len(X)) for _ in range(2))
    rules = {
        "max_depth": int(rng.integers(2, 5)),
        "max_splits": None if rng.random() < 0.6 else int(rng.integers(2, 7)),
        "min_leaf_weight": int(rng.choice([0, 0, 4])),
    }
    plain = LinearOracle(X, techniques=dict.fromkeys(TECHNIQUES, False))
    # The lower left part of the plane is enough, and all of it would take long.
    most = int(p.sum() * 0.6), int(n.sum() * 0.6)
    truth = everything(plain, p, n, box=most, **rules)
    oracle = LinearOracle(X)
    for _ in range(6):
        a, b = (int(v) for v in rng.integers(1, 6, 2))
        costs = sorted(a * x + b * y for x, y in truth)
        budget = costs[int(rng.integers(len(costs)))] if costs else 0
        box = tuple(int(side * rng.uniform(0.3, 1)) for side in most)
        found = everything(oracle, p, n, direction=(a, b), budget=budget, box=box, **rules)
        assert found == [q for q in truth if a * q[0] + b * q[1] <= budget and dominates(q, box)]


def hard():
    return planted(np.random.default_rng(1), rows=3000, features=120, noise=0.4)


def accept(limits):
    def visit(_x, _y):
        return limits

    return visit


def search_hard(visit, **options):
    X, y = hard()
    start = time.perf_counter()
    result = LinearOracle(X).search_front(
        y,
        1 - y,
        direction=(1, 1),
        budget=len(y),
        box=(len(y), len(y)),
        visit=visit,
        max_depth=5,
        **options,
    )
    assert time.perf_counter() - start < 20  # generous: machines differ
    assert not result.proven
    if result.tree is not None:
        ones = np.ones(len(y), dtype=int)
        assert tree_point(result.tree, X, y, 1 - y, ones, 0)[0] == result.point
    return result


@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_time_limit(limit):
    result = search_hard(accept((EVERYTHING,) * 3), time_limit=limit)
    assert result.limit is Limit.TIME
    assert (result.tree is None) == (limit == 0)


def test_callback_sees_progress_and_stops():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 3

    result = search_hard(accept((EVERYTHING,) * 3), callback=callback)
    assert result.limit is Limit.INTERRUPTED
    assert result.tree is not None
    assert len(seen) == 3
    assert seen[-1].cost is None


def test_an_error_in_the_callback_comes_out():
    def callback(_progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search_hard(accept(None), callback=callback)


def test_an_error_in_visit_comes_out():
    calls = []

    def visit(x, y):
        calls.append((x, y))
        if len(calls) == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search_hard(visit)
    assert len(calls) == 2


@pytest.mark.parametrize("answer", [(1, 2), "no", (1, 2, None)])
def test_a_wrong_answer_of_visit_is_an_error(answer):
    with pytest.raises((TypeError, ValueError)):
        search_hard(accept(answer))


def test_visit_is_called_by_the_callers_thread():
    threads = set()

    def visit(_x, _y):
        threads.add(threading.get_ident())

    case = Case(np.random.default_rng(5))
    case.search(visit)
    assert threads == {threading.get_ident()}


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("inside_visit", [False, True])
def test_ctrl_c_returns_the_last_wanted_tree(inside_visit):
    calls = []

    def visit(x, y):
        calls.append((x, y))
        if inside_visit and len(calls) == 2:
            time.sleep(10)
        return (EVERYTHING,) * 3

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # some runners ignore the signal
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        result = search_hard(visit)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.limit is Limit.INTERRUPTED
    assert result.point == (calls[0] if inside_visit else calls[-1])


def test_a_negative_budget_ends_the_search():
    calls = []

    def visit(x, y):
        calls.append((x, y))
        return -1, EVERYTHING, EVERYTHING

    X, y = hard()
    question = {"direction": (1, 1), "box": (EVERYTHING, EVERYTHING), "max_depth": 5}
    result = LinearOracle(X).search_front(y, 1 - y, budget=EVERYTHING, visit=visit, **question)
    assert result.proven
    assert [result.point] == calls
    result = LinearOracle(X).search_front(y, 1 - y, budget=-1, visit=visit, **question)
    assert result.proven
    assert result.tree is None
    assert len(calls) == 1


def test_degenerate_questions():
    no_features = LinearOracle(np.zeros((3, 0)))
    assert everything(no_features, [0, 1, 1], [1, 0, 0]) == [(0, 1), (2, 0)]
    assert everything(no_features, [0, 0, 0], [1, 0, 4]) == [(0, 0)]
    assert everything(no_features, [0, 0, 0], [0, 0, 0]) == [(0, 0)]
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    xor = np.array([0, 1, 1, 0])
    assert everything(LinearOracle(X), xor, 1 - xor, max_depth=0) == [(0, 2), (2, 0)]
    assert everything(LinearOracle(X), xor, 1 - xor, max_depth=1) == [(0, 2), (1, 1), (2, 0)]
    assert everything(LinearOracle(X), xor, 1 - xor, max_depth=1000) == [(0, 0)]
    assert everything(LinearOracle(X), xor, 1 - xor, max_splits=2) == [(0, 1), (1, 0)]
    assert everything(LinearOracle(X), xor, 1 - xor, max_splits=10**9) == [(0, 0)]


def test_rows_that_cost_the_same_under_both_labels_matter():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    p = n = np.array([1, 2, 4, 8])
    assert len(everything(LinearOracle(X), p, n, max_depth=2)) == 16
    assert len(everything(LinearOracle(X), 3 * p, n, direction=(1, 3), max_depth=2)) == 16


def test_large_counts_are_exact_or_refused():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    big = 2**40
    p, n = np.array([0, big, 1, 0]), np.array([big + 1, 3, 0, 5])
    small = everything(LinearOracle(X), [0, 10, 1, 0], [11, 3, 0, 5], max_depth=1)
    assert len(everything(LinearOracle(X), p, n, max_depth=1)) == len(small)
    front = everything(LinearOracle(X), p, n, direction=(2**18, 1), max_depth=2)
    assert front == [(0, 3), (big, 0)]
    for direction in ((2**20, 1), (1, 2**59), (2**62, 1), (2**70, 1)):
        with pytest.raises(OverflowError):
            everything(LinearOracle(X), p, n, direction=direction)
    with pytest.raises(OverflowError):
        everything(LinearOracle(X), [2**59] * 4, [0] * 4)


def test_bad_input():
    oracle = LinearOracle([[0], [1]])
    rules = {"budget": 1, "box": (1, 1), "visit": accept(None), "max_depth": 1}
    with pytest.raises(ValueError, match="positives must be"):
        oracle.search_front([1], [1, 2], direction=(1, 1), **rules)
    with pytest.raises(ValueError, match="negatives must be"):
        oracle.search_front([1, 1], [1, -2], direction=(1, 1), **rules)
    with pytest.raises(TypeError, match="integers"):
        oracle.search_front([1, 1], [1, 0.5], direction=(1, 1), **rules)
    with pytest.raises(ValueError, match="direction"):
        oracle.search_front([1, 1], [1, 0], direction=(1, 0), **rules)
