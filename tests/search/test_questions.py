"""The search core as an oracle of the plane, beside one that looks through all trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from goct import Exact, Limit, Problem
from goct.metrics import get_metric
from goct.plane.oracle import Session, StopError, TooFineError
from goct.plane.points import Plane
from goct.search.problem_oracle import ProblemOracle
from goct.search.questions import LARGEST_COST, SearchOracle
from goct.solution import Limits
from goct.task import SizeLimit
from tests.support.oracles import Setting, setting
from tests.support.problems import large_problem


class Kept(Session):
    """Keeps the trees that are offered."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008
        super().__init__(limits)
        self.trees: list = []

    def offer(self, tree) -> None:
        self.trees.append(tree)


def search_oracle(made: Setting, session: Session, size: SizeLimit | None = None) -> SearchOracle:
    core = ProblemOracle(made.task.problem, made.task.problem.counts.sum(axis=1))
    return SearchOracle(session, core, made.plane, size or made.task.size)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [(1, 1), (2, 5), (7, 1), (0, 1), (3, -1)])
@pytest.mark.parametrize("splits", [None, 0, 1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_cheapest(seed: int, splits: int | None, direction: tuple[int, int]) -> None:
    made = setting(seed, "f1")
    session = Kept()
    oracle = search_oracle(made, session)
    size = replace(made.task.size, max_splits=splits)
    truth = made.oracle.cheapest(*direction, size, cutoff=10**6)
    answer = oracle.cheapest(*direction, size, cutoff=10**6)
    assert answer.bound == truth.bound
    x, y = made.plane.of(answer.tree)
    assert direction[0] * x + direction[1] * y == truth.bound
    assert answer.tree.splits <= size.most_splits
    assert session.trees == [answer.tree]
    none = oracle.cheapest(*direction, size, cutoff=truth.bound)
    assert none.tree is None
    assert none.bound >= truth.bound
    assert session.calls == 2


@pytest.mark.parametrize("seed", range(3))
def test_by_splits(seed: int) -> None:
    made = setting(seed, "f1")
    cutoffs = [10**6, 10**6, 3, 10**6]
    truth = made.oracle.cheapest_by_splits(2, 3, made.task.size, cutoffs=cutoffs)
    answers = search_oracle(made, Kept()).cheapest_by_splits(2, 3, made.task.size, cutoffs=cutoffs)
    for expected, answer, cutoff in zip(truth, answers, cutoffs, strict=True):
        assert (answer.tree is None) == (expected.tree is None)
        assert min(answer.bound, cutoff) == min(expected.bound, cutoff)


@pytest.mark.parametrize("seed", range(3))
def test_fewest_splits(seed: int) -> None:
    made = setting(seed, "f1")
    cost = made.oracle.cheapest(1, 1, made.task.size, cutoff=10**6).bound
    expected = made.oracle.fewest_splits(1, 1, made.task.size, cost=cost)
    oracle = search_oracle(made, Kept())
    tree = oracle.fewest_splits(1, 1, made.task.size, cost=cost)
    assert tree.splits == expected.splits
    if expected.splits:
        fewer = replace(made.task.size, max_depth=0)
        assert oracle.fewest_splits(1, 1, fewer, cost=cost) is None
    limited = search_oracle(made, Kept(), SizeLimit(2, 1))
    with pytest.raises(TooFineError):  # larger trees might cost less
        limited.fewest_splits(1, 1, SizeLimit(2, 1), cost=cost)


@pytest.mark.parametrize("seed", range(3))
def test_inside(seed: int) -> None:
    made = setting(seed, "f1")
    points = {point for point, _ in made.oracle.trees}
    front = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    seen = set()
    tree = search_oracle(made, Kept()).search_inside(
        made.task.size,
        direction=(1, 1),
        budget=made.plane.n_pos + made.plane.n_neg,
        box=(made.plane.n_pos, made.plane.n_neg),
        visit=lambda x, y: seen.add((x, y)),
    )
    assert tree is None  # no point was accepted
    assert front <= seen <= points
    point = max(front)
    tree = search_oracle(made, Kept()).search_inside(
        made.task.size,
        direction=(1, 1),
        budget=sum(point),
        box=point,
        visit=lambda _x, _y: (-1, -1, -1),
    )
    assert made.plane.of(tree) == point
    trees = []
    for oracle in (search_oracle(made, Kept()), made.oracle):  # everything is accepted
        trees.append([])
        last = oracle.search_inside(
            made.task.size,
            direction=(1, 1),
            budget=made.plane.n_pos + made.plane.n_neg,
            box=(made.plane.n_pos, made.plane.n_neg),
            visit=lambda _x, _y: (1000, 1000, 1000),
            take=trees[-1].append,
        )
        assert trees[-1][-1] is last
        assert sorted(made.plane.of(tree) for tree in trees[-1]) == sorted(front)


def test_numbers_that_are_too_large() -> None:
    made = setting(0, "f1")
    oracle = search_oracle(made, Kept())
    with pytest.raises(TooFineError):
        oracle.cheapest(LARGEST_COST, 1, made.task.size, cutoff=1)


@pytest.mark.parametrize("seed", range(4))
def test_over_thresholds_nothing_is_asked_after_the_proof(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goct.search.oracle.FEW", 0)  # they are no features
    rng = np.random.default_rng(seed)
    X = rng.random((70, 2))
    y = (X[:, 0] > 0.4) ^ (X[:, 1] > 0.7) ^ (rng.random(70) < 0.1)
    problem, size = Problem.from_columns(X, y), SizeLimit(3)
    plane, session = Plane(problem, get_metric("f1")), Kept(Limits())
    oracle = SearchOracle(session, ProblemOracle(problem), plane, size)
    explicit = SearchOracle(Kept(Limits()), ProblemOracle(problem.explicit()), plane, size)
    for a, b in [(1, 1), (40, 41), (41, 40), (2, 5), (7, 1)]:
        answer = oracle.cheapest(a, b, size, cutoff=10**6)
        assert answer.bound == explicit.cheapest(a, b, size, cutoff=10**6).bound
        fewest = explicit.fewest_splits(a, b, size, cost=answer.bound)
        assert answer.tree is not None
        assert fewest is not None
        assert answer.tree.splits == fewest.splits
        calls, less = session.calls, replace(size, max_splits=fewest.splits - 1)
        assert oracle.fewest_splits(a, b, less, cost=answer.bound) is None
        assert session.calls == calls
        below = oracle.cheapest(a, b, size, cutoff=answer.bound)
        assert (below.tree, below.bound) == (None, answer.bound)


def test_limits_stop_the_run() -> None:
    plane = Plane(large_problem(), get_metric("f1"))
    session, size = Kept(Limits(time=0.2)), SizeLimit(6)
    oracle = SearchOracle(session, ProblemOracle(plane.problem), plane, size)
    bounds: list[int] = []

    def to_bound(least: int) -> Exact:
        bounds.append(least)
        return Exact(0)

    with pytest.raises(StopError):
        oracle.cheapest(1, 1, size, cutoff=10**6, to_bound=to_bound)
    assert session.limit is Limit.TIME
    assert bounds  # what is proven by then is told
