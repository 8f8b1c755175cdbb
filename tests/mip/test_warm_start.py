"""Injected trees are accepted by the solvers, change no result, and cost no more than they may."""

from __future__ import annotations

import os
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goct import Limit, Problem, Status, Tree, solve
from goct.constraints import (
    FeatureBudget,
    ForbidFeatures,
    MaxFeatures,
    MinLeafWeight,
    RequireFeatures,
)
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    BoundedDOR,
    ClassCost,
    FowlkesMallows,
    GMean,
    Jaccard,
    PredictedPositives,
    Recall,
    Specificity,
)
from goct.mip import BACKENDS, FORMULATIONS
from goct.mip.backends.base import BackendError, MipResult
from goct.mip.warm_start import _share_of_stage, gains_of, pruned_to_pay
from goct.plane.oracle import TooFineError
from goct.tree import Leaf, Split
from tests.support.mip import optimum, rule_arrays, skip_if_missing
from tests.support.processes import interrupt

KINDS = ["search", "paper", "cart", "none"]


METRICS = [
    Accuracy(),
    F1(),
    MCC(),
    GMean(),
    FowlkesMallows(),
    Jaccard(),
    BoundedDOR(20),
    0.5 * F1() + 0.5 * Accuracy(),
    0.4 * MCC() + 0.3 * F1() + 0.3 * Specificity(),
]


OWN = {"engine": "mip", "search_bound": False}  # the model has to prove it


def check_injected(solution, kind: str, *, starts: bool = True) -> None:
    """The start is accepted, no tree is rejected, and the objective is that of a tree."""
    stats = solution.stats
    assert stats["injection"] == kind
    assert stats["heuristic_rejected"] == 0
    assert stats["heuristic_injected"] <= stats["heuristic_calls"]
    if starts:
        assert stats.get("start_accepted") is not False
    if kind == "none":
        assert stats["injected"] is None
    if stats["injected"] is not None:
        assert stats["injected"] <= float(solution.objective) + 1e-12
    assert sum(stats["stage_times"].values()) <= stats["time"] + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_results_are_those_of_brute_force(metric, kind) -> None:
    for seed, penalty in ((0, Fraction(0)), (3, Fraction(1, 50))):
        X, y = rule_arrays(seed)
        solution = solve(
            Problem.from_arrays(X, y), metric, 2, split_penalty=penalty, injection=kind, **OWN
        )
        assert solution.status is Status.OPTIMAL
        assert solution.objective == optimum(X, y, metric, 2, penalty)
        assert solution.stats["proof"] == "mip"
        check_injected(solution, kind)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", list(FORMULATIONS))
@pytest.mark.parametrize("metric", [Accuracy(), F1(), MCC(), METRICS[-1]], ids=lambda m: m.name)
def test_every_formulation_accepts_the_tree(metric, formulation) -> None:
    X, y = rule_arrays(5)
    options = {"formulation": formulation, "node_limit": 20, "method": "direct", **OWN}
    for kind in ("search", "paper"):
        solution = solve(
            Problem.from_arrays(X, y), metric, 3, split_penalty=0.01, injection=kind, **options
        )
        check_injected(solution, kind)
        assert solution.stats["injected"] is not None
        assert solution.stats["start_accepted"] is True


@pytest.mark.slow
@pytest.mark.parametrize("linearization", ["compact", "paper", "none"])
@pytest.mark.parametrize("metric", METRICS[1:8], ids=lambda m: m.name)
def test_every_linearization_accepts_the_tree(metric, linearization) -> None:
    for seed, penalty in ((7, 0), (8, 0.01)):
        X, y = rule_arrays(seed)
        problem = Problem.from_arrays(X, y)
        options = {"split_penalty": penalty, "linearization": linearization, "node_limit": 5}
        solution = solve(problem, metric, 2, injection="search", **options, **OWN)
        check_injected(solution, "search")
        if solution.stats["injected"] is not None and solution.tree.splits:
            assert solution.stats["start_accepted"] is True
        assert solution.objective == optimum(X, y, metric, 2, Fraction(str(penalty)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "formulation"),
    [("gurobi", "benders-pair-cut"), ("gurobi", "wflow"), ("highs", "wflow")],
)
@pytest.mark.parametrize("metric", [Accuracy(), F1(), MCC()], ids=lambda m: m.name)
def test_other_backends_start_from_the_tree(backend, formulation, metric) -> None:
    skip_if_missing(backend)
    X, y = rule_arrays(9)
    for kind in KINDS:
        solution = solve(
            Problem.from_arrays(X, y), metric, 2, injection=kind, backend=backend,
            formulation=formulation, **OWN,
        )  # fmt: skip
        assert solution.objective == optimum(X, y, metric, 2)
        assert solution.status is Status.OPTIMAL
        check_injected(solution, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", [F1(), MCC()], ids=lambda m: m.name)
def test_parametric(metric, kind) -> None:
    X, y = rule_arrays(11)
    for penalty in (Fraction(0), Fraction(1, 50)):
        solution = solve(
            Problem.from_arrays(X, y), metric, 2, split_penalty=penalty, method="parametric",
            injection=kind, **OWN,
        )  # fmt: skip
        assert solution.objective == optimum(X, y, metric, 2, penalty)
        check_injected(solution, kind, starts=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_limits_on_splits(kind) -> None:
    X, y = rule_arrays(12)
    weights = np.random.default_rng(0).integers(1, 5, len(y))
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    for metric in (Accuracy(), F1()):
        for limit in (1, 2):
            solution = solve(problem, metric, 3, max_splits=limit, injection=kind, **OWN)
            expected = optimum(X, y, metric, 3, max_splits=limit, weights=weights)
            assert solution.objective == expected
            assert solution.tree.splits <= limit
            check_injected(solution, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "paper", "cart", "none"])
def test_constraints_that_only_models_can_express(kind) -> None:
    X, y = rule_arrays(13)
    problem = Problem.from_arrays(X, y)
    P, N = int(y.sum()), int((1 - y).sum())
    conditions = [Recall() >= 0.5, PredictedPositives() <= 9]

    def allowed(tp, tn) -> bool:
        return 2 * tp >= P and tp + N - tn <= 9

    for metric in (Accuracy(), MCC()):
        solution = solve(problem, metric, 2, constraints=conditions, injection=kind, engine="mip")
        assert solution.objective == optimum(X, y, metric, 2, constraint=allowed)
        assert solution.stats["proof"] == "mip"
        check_injected(solution, "search" if kind == "auto" else kind)  # the relaxation
    for condition in (
        MaxFeatures(1),
        ForbidFeatures("x0"),
        MinLeafWeight(4),
        FeatureBudget({"x0": 2, "x1": 1, "x2": 1, "x3": 1}, 2),
        RequireFeatures("x2"),
    ):
        expected = solve(problem, "accuracy", 2, constraints=condition, injection="none", **OWN)
        solution = solve(problem, "accuracy", 2, constraints=condition, injection=kind, **OWN)
        assert solution.objective == expected.objective
        check_injected(solution, "search" if kind == "auto" else kind)


def test_a_tree_that_misses_a_constraint_is_not_injected() -> None:
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 5, axis=0)
    y = X[:, 0]
    problem = Problem.from_arrays(X, y)
    condition = PredictedPositives() <= 4
    solution = solve(problem, "accuracy", 1, constraints=condition, injection="cart", engine="mip")
    assert solution.stats["injected"] is None
    assert solution.status is Status.OPTIMAL
    assert solution.value == Fraction(1, 2)


@pytest.mark.slow
def test_no_tree_with_a_negative_root_hides_a_better_one() -> None:
    """A start whose MCC is negative must not exclude other negative values."""
    X = np.array([[0], [0], [0], [1], [1], [1], [1]])
    y = np.array([0, 0, 1, 1, 1, 0, 0])[::-1].copy()
    P, N = int(y.sum()), int((1 - y).sum())
    conditions = [Recall() <= 0.4, Recall() >= 0.1, Specificity() <= 0.6, Specificity() >= 0.1]

    def allowed(tp, tn) -> bool:
        return P <= 10 * tp <= 4 * P and N <= 10 * tn <= 6 * N

    for kind, method in product(("cart", "paper", "none"), ("direct", "auto")):
        solution = solve(
            Problem.from_arrays(X, y),
            "mcc",
            1,
            constraints=conditions,
            injection=kind,
            method=method,
            **OWN,
        )
        assert solution.objective == optimum(X, y, MCC(), 1, constraint=allowed)
        assert solution.objective < 0


def test_a_proof_of_the_search_engine_ends_the_run() -> None:
    X, y = rule_arrays(14)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, "f1", 2, engine="mip")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == optimum(X, y, F1(), 2)
    assert solution.stats["injection"] == "search"
    assert solution.stats["proof"] == "search"
    assert solution.stats["injected"] == float(solution.objective)
    assert "mip" not in solution.stats["stage_times"]
    assert solution.stats["models"] == 0
    assert "the search engine; no model was built" in solution.summary()
    own = solve(problem, "f1", 2, **OWN)
    assert own.stats["proof"] == "mip"
    assert own.stats["models"] > 0
    assert "a model, benders-pair-cut, and the solver scip" in own.summary()
    assert own.stats["stage_times"]["mip"] > 0


def test_a_proof_that_there_is_no_tree() -> None:
    X, y = rule_arrays(14)
    conditions = [Recall() >= 1, Specificity() >= 1]
    for options, proof in (({}, "search"), ({"search_bound": False}, "mip")):
        solution = solve(
            Problem.from_arrays(X, y ^ X[:, 2] ^ X[:, 3]), "f1", 1, constraints=conditions,
            engine="mip", **options,
        )  # fmt: skip
        assert solution.status is Status.INFEASIBLE
        assert solution.stats["proof"] == proof


def test_a_bound_of_the_search_engine_ends_the_model_that_reaches_it(monkeypatch) -> None:
    """The search engine stops with a bound, but without the tree that attains it."""
    import goct.mip.warm_start as module

    X, y = rule_arrays(15)
    problem = Problem.from_arrays(X, y)
    exact = solve(problem, "accuracy", 2)
    real = module.solve_search

    def stopped(*arguments, **options):
        found = real(*arguments, **options)
        constant = solve(problem, "accuracy", 0)
        return type(found).of_tree(found.task, constant.tree, found.bound, limit=Limit.TIME)

    monkeypatch.setattr(module, "solve_search", stopped)
    solution = solve(problem, "accuracy", 2, engine="mip", node_heuristic="rounding")
    assert solution.objective == exact.objective
    assert solution.status is Status.OPTIMAL
    assert solution.limit is Limit.NONE
    assert solution.stats["proof"] in ("search", "mip")


def test_a_false_bound_is_an_error(monkeypatch) -> None:
    """If the engines contradict each other, nothing is claimed."""
    import goct.mip.warm_start as module
    from goct.exact import Exact

    X, y = rule_arrays(15)
    problem = Problem.from_arrays(X, y)
    constant = solve(problem, "accuracy", 0)

    def false(*_, **__):
        too_low = constant.objective + Exact(Fraction(1, 10**6))
        return type(constant).of_tree(constant.task, constant.tree, too_low, limit=Limit.TIME)

    monkeypatch.setattr(module, "solve_search", false)
    with pytest.raises((AssertionError, BackendError)):
        solve(problem, "accuracy", 2, engine="mip", node_heuristic="rounding")


def test_what_the_search_engine_cannot_do() -> None:
    X, y = rule_arrays(16)
    problem = Problem.from_arrays(X, y)
    with pytest.raises(ValueError, match="injection='search' is not possible: the search engine"):
        solve(
            problem, "f1", 2, constraints=PredictedPositives() <= 5, engine="mip",
            injection="search",
        )  # fmt: skip


def test_numbers_too_fine_for_the_search_engine_fall_back_to_cart(monkeypatch) -> None:
    import goct.mip.warm_start as module

    def too_fine(*_, **__):
        raise TooFineError

    monkeypatch.setattr(module, "solve_search", too_fine)
    X, y = rule_arrays(16)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, "accuracy", 2, engine="mip")
    assert solution.stats["injection"] == "cart"
    assert solution.objective == optimum(X, y, Accuracy(), 2)
    with pytest.raises(TooFineError):
        solve(problem, "accuracy", 2, engine="mip", injection="search")


def test_metrics_that_no_model_states_are_refused_although_the_search_engine_knows_them() -> None:
    from goct.metrics import CustomMetric, Shape

    X, y = rule_arrays(0)
    metric = CustomMetric(lambda tp, _fp, _fn, tn: tp + tn, shape=Shape.MONOTONE)
    with pytest.raises(ValueError, match="cannot maximise"):
        solve(Problem.from_arrays(X, y), metric, 1, engine="mip")


def hard_problem(n_features: int = 25) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, n_features))
    return Problem.from_arrays(X, rng.integers(0, 2, 150))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "f1"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_time_limit_holds_for_all_stages_together(kind, metric) -> None:
    started = time.perf_counter()
    solution = solve(hard_problem(), metric, 4, injection=kind, time_limit=2, **OWN)
    assert time.perf_counter() - started < 12
    assert solution.status is Status.FEASIBLE
    assert solution.limit is Limit.TIME
    check_injected(solution, kind)
    solution = solve(hard_problem(), metric, 4, injection=kind, time_limit=1e-6, **OWN)
    assert solution.status is Status.FEASIBLE
    assert solution.limit is Limit.TIME


@pytest.mark.slow
def test_stages_of_the_paper() -> None:
    solution = solve(hard_problem(12), "accuracy", 4, injection="paper", time_limit=4, **OWN)
    stages = list(solution.stats["stage_times"])
    assert stages[:2] == ["cart", "forest"]
    assert stages[-1] == "mip"
    assert "depth 2 restricted" in stages
    assert "depth 4 full" not in stages
    assert solution.stats["injected"] is not None
    greedy = solve(hard_problem(12), "accuracy", 4, injection="cart", node_limit=1, **OWN)
    assert solution.stats["injected"] >= greedy.stats["injected"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["search", "paper", "cart"])
def test_callbacks_see_honest_progress_and_stop_any_stage(kind) -> None:
    problem = hard_problem()
    for calls in (1, 4):
        seen = []

        def callback(progress, seen=seen, calls=calls):
            seen.append(progress)
            return len(seen) >= calls

        solution = solve(
            problem, "accuracy", 4, injection=kind, callback=callback, time_limit=60, **OWN
        )
        assert solution.limit is Limit.INTERRUPTED
        assert solution.status is Status.FEASIBLE
        assert len(seen) >= calls
        for progress in seen:
            assert progress.objective <= progress.bound
        objectives = [progress.objective for progress in seen]
        assert objectives == sorted(objectives)
        assert solution.objective >= objectives[-1]


SCRIPT = """
import sys, numpy as np, goct
rng = np.random.default_rng(0)
problem = goct.Problem.from_arrays(rng.integers(0, 2, (200, 40)), rng.integers(0, 2, 200))
tell = lambda progress: print("running", flush=True)
solution = goct.solve(
    problem, "accuracy", 5, engine="mip", injection=sys.argv[1], callback=tell, time_limit=100
)
print(solution.status.name, solution.limit.name, "mip" in solution.stats["stage_times"])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize("kind", ["search", "paper"])
def test_ctrl_c_ends_all_stages(kind) -> None:
    end = interrupt("-c", SCRIPT, kind)
    assert end.code == 0, end.err
    assert end.lines == ["running\n"]
    assert end.out.splitlines()[-1] == "FEASIBLE INTERRUPTED False"


def test_ctrl_c_while_cart_grows(monkeypatch) -> None:
    import goct.mip.warm_start as module

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "cart_tree", interrupted)
    X, y = rule_arrays(0)
    solution = solve(Problem.from_arrays(X, y), "accuracy", 2, engine="mip", injection="cart")
    assert solution.limit is Limit.INTERRUPTED
    assert solution.tree.splits == 0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tree() -> None:
    X, y = rule_arrays(17)
    problem = Problem.from_arrays(X, y)
    for kind in KINDS:
        trees = {
            solve(problem, "f1", 2, injection=kind, random_state=seed, **OWN).tree
            for seed in (5, 5)
        }
        assert len(trees) == 1


def test_splits_that_do_not_pay_are_pruned() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0].copy()
    y[0] = 1
    problem = Problem.from_arrays(X, y)
    names = problem.classes, problem.feature_names
    tree = Tree(Split(0, Split(1, Leaf(1), Leaf(0)), Leaf(1)), *names)
    gains = gains_of(problem, Accuracy())

    def objective(penalty):
        return lambda t: Accuracy().evaluate(t, problem) - Fraction(penalty) * t.splits

    assert pruned_to_pay(tree, problem, gains, objective("0.1")) == Tree(
        Split(0, Leaf(0), Leaf(1)), *names
    )
    assert pruned_to_pay(tree, problem, gains, objective("0.9")).splits == 0


def test_gains_are_what_the_metric_pays() -> None:
    problem = Problem.from_arrays([[0], [1], [1]], [0, 0, 1])
    assert gains_of(problem, Accuracy()).tolist() == [[1, 0], [1, 1]]
    costs = gains_of(problem, ClassCost(3, 2))
    assert costs.argmax(axis=1).tolist() == [0, 1]
    assert gains_of(problem, F1()).tolist() == [[0.25, 0], [0.25, 0.5]]


def test_a_solver_that_stops_at_once_returns_the_injected_tree(monkeypatch) -> None:
    X, y = rule_arrays(5)
    stopped = MipResult(None, np.inf, Limit.TIME)
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: stopped, raising=False)
    for kind in ("search", "cart", "paper"):
        solution = solve(
            Problem.from_arrays(X, y), "accuracy", 2, split_penalty=0.01, injection=kind, **OWN
        )
        assert float(solution.objective) == solution.stats["injected"]
        assert solution.status is Status.FEASIBLE


@pytest.mark.parametrize("last", [1, 2, 3, 5])
def test_stages_share_the_time_and_deeper_trees_get_more(last) -> None:
    left, restricted = 1.0, []
    for depth in range(min(2, last), last + 1):
        for name in ("restricted", "full")[: 1 if depth == last else 2]:
            seconds = left * _share_of_stage(depth, last, name)
            left -= seconds
            if name == "restricted":
                restricted.append(seconds)
    assert left == pytest.approx(0)
    assert restricted == sorted(restricted)


@pytest.mark.slow
def test_a_stage_without_progress_is_left_and_that_is_no_interrupt(monkeypatch) -> None:
    import goct.mip.warm_start as module

    class Impatient(module._Patience):
        def __init__(self, _seconds, tell) -> None:
            super().__init__(-1.0, tell)

    monkeypatch.setattr(module, "_Patience", Impatient)
    solution = solve(hard_problem(), "accuracy", 3, injection="paper", time_limit=5, **OWN)
    assert solution.limit is Limit.TIME
    assert "mip" in solution.stats["stage_times"]


def test_the_relaxation_comes_first() -> None:
    X, y = rule_arrays(16)
    problem = Problem.from_arrays(X, y)
    best = solve(problem, "accuracy", 2).tree
    for condition in (RequireFeatures(best.features[0]), PredictedPositives() <= 10**6):
        solution = solve(problem, "accuracy", 2, constraints=condition)
        assert solution.stats["proof"] == "search"
        assert solution.tree == best
    other = next(j for j in range(problem.n_features) if j not in best.features)
    solution = solve(problem, "accuracy", 2, constraints=RequireFeatures(other))
    assert solution.stats["proof"] == "mip"
    assert other in solution.tree.features
