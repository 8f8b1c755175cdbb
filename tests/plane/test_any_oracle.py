"""The algorithms of the plane with oracles that look through a list of all trees."""

from __future__ import annotations

import pytest

from goct import Limit
from goct.metrics import FractionalMetric, Recall
from goct.plane.dinkelbach import Dinkelbach, Maximum
from goct.plane.oracle import StopError
from goct.plane.outer import OuterApproximation
from goct.plane.points import Target
from goct.plane.staircase import Staircase
from tests.support.oracles import setting

METRICS = ["f1", "jaccard", "kappa", "mcc", "fowlkes_mallows"]


def make(seed: int, metric: str, constraints=(), slack: int = 0):
    made = setting(seed, metric, constraints, slack=slack)
    return made.task, made.incumbent, made.plane, made.oracle


def maximise(task, incumbent, plane, oracle, *, ask_for_ends: bool = False) -> Maximum:
    staircase = Staircase(plane, plane.metric, ())
    target = Target(incumbent.objective)
    if isinstance(task.metric, FractionalMetric) and target.above is not None:
        dinkelbach = Dinkelbach(oracle, incumbent, plane, staircase, task.metric)
        return dinkelbach.maximise(target, task.size, lambda v: v)
    ends = None if ask_for_ends else [(0, plane.n_neg), (plane.n_pos, 0)]
    outer = OuterApproximation(oracle, incumbent, plane, staircase, inside=None, ends=ends)
    return outer.maximise(target, task.size, lambda v: v)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_an_exact_oracle_gives_the_optimum(seed, metric) -> None:
    task, incumbent, plane, oracle = make(seed, metric)
    best = max(task.objective(tree) for _, tree in oracle.trees)
    found = maximise(task, incumbent, plane, oracle)
    assert incumbent.objective == found.bound == best
    assert found.reached in (None, best)  # None if the constant tree is optimal
    assert oracle.session.calls < 12


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("slack", [1, 3, 1000])
@pytest.mark.parametrize("ask_for_ends", [False, True])
def test_bounds_of_a_tolerant_oracle_hold(seed, metric, slack, ask_for_ends) -> None:
    """Only what the answers' bounds prove is proven, whatever trees were found."""
    task, incumbent, plane, oracle = make(seed, metric, slack=slack)
    best = max(task.objective(tree) for _, tree in oracle.trees)
    found = maximise(task, incumbent, plane, oracle, ask_for_ends=ask_for_ends)
    assert incumbent.objective <= best <= found.bound
    assert incumbent.bound >= best


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["mcc", "fowlkes_mallows"])
@pytest.mark.parametrize("seed", range(6))
def test_constraints_of_the_oracle_itself(seed, metric) -> None:
    """Constant trees need not be feasible then, so the ends of the hull are asked for."""
    constraints = [Recall() >= 0.3, Recall() <= 0.8]
    task, incumbent, plane, oracle = make(seed, metric, constraints)
    best = max((task.objective(tree) for _, tree in oracle.trees), default=None)
    found = maximise(task, incumbent, plane, oracle, ask_for_ends=True)
    assert incumbent.objective == best
    level = task.metric.quasiconvex_from
    if best is not None and (level is None or best >= level):
        assert found.bound == best


@pytest.mark.parametrize("ask_for_ends", [False, True])
@pytest.mark.parametrize("questions", [0, 1, 2])
@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_a_stop_keeps_what_is_known(metric, questions, ask_for_ends) -> None:
    for seed in range(4):
        task, incumbent, plane, oracle = make(seed, metric)
        ask, asked = oracle.cheapest, []

        def stop(*arguments, ask=ask, asked=asked, incumbent=incumbent, oracle=oracle, **options):
            asked.append(arguments)
            if len(asked) > questions:
                incumbent.tighten(options["to_bound"](0))
                oracle.session.stop(Limit.TIME)
            return ask(*arguments, **options)

        oracle.cheapest = stop
        best = max(task.objective(tree) for _, tree in oracle.trees)
        try:
            maximise(task, incumbent, plane, oracle, ask_for_ends=ask_for_ends)
        except StopError:
            assert oracle.session.limit is Limit.TIME
        assert incumbent.objective <= best <= incumbent.bound
