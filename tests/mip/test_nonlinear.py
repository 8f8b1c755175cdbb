"""Nonlinear metrics: every way to state them finds what brute force finds, and says so honestly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goct import Limit, Problem, Solution, Status
from goct.constraints import ForbidFeatures, MaxFeatures, MinLeafWeight
from goct.exact import Exact, as_fraction
from goct.metrics import (
    F1,
    MCC,
    Accuracy,
    BoundedDOR,
    CohenKappa,
    Confusion,
    CustomMetric,
    FalsePositives,
    FBeta,
    FowlkesMallows,
    GMean,
    InstanceCost,
    Jaccard,
    Metric,
    NegativePredictiveValue,
    Precision,
    RationalMetric,
    Recall,
    Shape,
    SmoothedDOR,
    Specificity,
    get_metric,
)
from goct.mip import BACKENDS, FORMULATIONS
from goct.mip.attainable import pairs_between
from goct.mip.backends.base import MipResult, Settings
from goct.mip.formulations import Separation
from goct.mip.nonlinear import NonlinearQuestion
from goct.mip.side import SideConstraints
from tests.mip.alone import solve
from tests.mip.test_formulations import skip_if_missing
from tests.reference import achievable, best
from tests.support.problems import check_stopped

PENALTIES = [Fraction(0), Fraction(1, 50)]
MARKEDNESS = RationalMetric(
    lambda tp, fp, fn, tn: (tp * tn - fp * fn, (tp + fp) * (tn + fn)), lower=-1, label="markedness"
)
SINGLE = [
    F1(),
    FBeta(2),
    Precision(),
    NegativePredictiveValue(),
    Jaccard(),
    CohenKappa(),
    MCC(),
    GMean(),
    FowlkesMallows(),
    BoundedDOR(20),
    SmoothedDOR(0.5),
    MARKEDNESS,
]
SUMS = [
    0.5 * F1() + 0.5 * Accuracy(),
    0.4 * MCC() + 0.3 * F1() + 0.3 * Specificity(),
    Accuracy() - 0.5 * F1(),
    GMean() + Jaccard(),
]


def arrays(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A small problem; every other one is imbalanced."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 30))
    X = rng.integers(0, 2, (n, 3))
    y = (rng.random(n) < (0.12 if seed % 2 else 0.5)).astype(int)
    y[:2] = [0, 1]
    return X, y


def check(solution: Solution, X, y, depth: int, constraint=lambda _tp, _tn: True) -> None:
    P, N = int(y.sum()), int((1 - y).sum())
    expected = best(
        achievable(X, y == 1, depth),
        lambda tp, tn: solution.metric.value(Confusion(tp, N - tn, P - tp, tn)),
        split_penalty=solution.split_penalty,
        max_splits=solution.max_splits,
        constraint=constraint,
    )
    if expected is None:
        assert solution.status is Status.INFEASIBLE
        return
    assert solution.objective == expected
    assert solution.status is Status.OPTIMAL
    assert solution.value == solution.metric.evaluate(solution.tree, solution.problem)


def ask(metric: Metric, seed: int, penalty: Fraction, depth: int = 2, **options) -> None:
    X, y = arrays(seed)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, metric, depth, split_penalty=penalty, engine="mip", **options)
    check(solution, X, y, depth)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("metric", [*SINGLE, *SUMS], ids=lambda m: m.name)
def test_compact(metric, penalty, seed) -> None:
    ask(metric, seed + 10 * (penalty > 0), penalty)


@pytest.mark.parametrize("metric", [F1(), MCC(), GMean() + Jaccard()], ids=lambda m: m.name)
@pytest.mark.parametrize(
    ("formulation", "backend"),
    [("flow", "scip"), ("wflow", "highs"), ("benders-weighted-cut", "scip"), ("benders", "gurobi")],
)
def test_formulations_and_backends(formulation, backend, metric) -> None:
    skip_if_missing(backend)
    penalty = Fraction(0) if backend == "highs" else Fraction(1, 50)
    if backend == "highs" and metric.name == "gmean + jaccard":
        pytest.skip("roots in sums need cuts on demand")
    ask(metric, 21, penalty, formulation=formulation, backend=backend)


def small_arrays(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = arrays(seed)
    return X[:10, :2], y[:10]


@pytest.mark.parametrize("backend", ["scip", "gurobi"])
@pytest.mark.parametrize("metric", [*SINGLE, SUMS[0], SUMS[2]], ids=lambda m: m.name)
def test_miqp(metric, backend) -> None:
    skip_if_missing(backend)
    X, y = small_arrays(12)
    options = {"engine": "mip", "backend": backend, "linearization": "none"}
    for penalty in PENALTIES[: 2 if metric in SINGLE[:2] else 1]:
        solution = solve(Problem.from_arrays(X, y), metric, 2, split_penalty=penalty, **options)
        check(solution, X, y, 2)


def test_miqp_needs_a_solver_for_products() -> None:
    skip_if_missing("highs")
    options = {"backend": "highs", "formulation": "wflow", "linearization": "none"}
    with pytest.raises(ValueError, match="needs products of variables, which the backend 'highs'"):
        solve(Problem.from_arrays(*arrays(0)), "f1", 1, engine="mip", **options)


PAPER = [F1(), Precision(), Jaccard(), CohenKappa(), MCC(), GMean(), FowlkesMallows()]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("metric", [*PAPER, BoundedDOR(20), SUMS[0]], ids=lambda m: m.name)
def test_paper(metric, penalty) -> None:
    ask(metric, 41, penalty, linearization="paper")


def test_paper_states_products_of_two_counts_only() -> None:
    cubic = RationalMetric(lambda tp, fp, _fn, tn: (tp**3, 1 + (tp + fp + tn) ** 3))
    with pytest.raises(ValueError, match="products of two counts only"):
        ask(cubic, 0, Fraction(0), linearization="paper")
    ask(cubic, 0, Fraction(0))


def test_sizes() -> None:
    """The paper's count of variables and rows for MCC, and what the compact form needs."""
    X, y = arrays(40)
    n, P = len(y), int(y.sum())
    problem = Problem.from_arrays(X, y)
    sizes = {}
    for linearization in ("paper", "compact"):
        options = {"engine": "mip", "linearization": linearization, "node_limit": 1}
        stats = solve(problem, "mcc", 2, **options).stats
        sizes[linearization] = {k: stats[f"metric_{k}"] for k in ("binaries", "rows", "variables")}
    L, T = (n - 1).bit_length(), (P * (n - P) - 1).bit_length()
    expected = 2 * (L + 1) + (L + 1) ** 2 + (T + 1) + (T + 1) ** 2
    assert sizes["paper"]["binaries"] == expected
    assert sizes["compact"]["variables"] < sizes["paper"]["variables"] / 3
    assert sizes["compact"]["rows"] < sizes["paper"]["rows"] / 3


def test_erratum_the_printed_f1_row_counts_the_negatives_twice() -> None:
    """It maximises 2 TP / (n+ + n- + U) instead of 2 TP / (n+ + U)."""
    printed = RationalMetric(
        lambda tp, fp, fn, tn: (2 * tp, (tp + fn) + (tn + fp) + (tp + fp)), shape=Shape.MONOTONE
    )
    worse = 0
    for seed in range(8):
        X, y = arrays(2 * seed)
        problem = Problem.from_arrays(X, y)
        tree = solve(problem, printed, 2, engine="mip").tree
        worse += F1().evaluate(tree, problem) < solve(problem, F1(), 2).value
    assert worse >= 3


def test_erratum_the_printed_mcc_model_is_unbounded_by_its_row_at_constant_trees() -> None:
    X, y = arrays(40)
    problem = Problem.from_arrays(X, y)
    start = solve(problem, "mcc", 0).tree
    side = SideConstraints.read((), problem)
    question = NonlinearQuestion(
        problem, MCC(), Fraction(0), start, side, 3, "paper", has_envelope=False
    )
    form = FORMULATIONS["wflow"]
    tree = form.build(
        question.instances(is_merged=True),
        2,
        split_cost=0.0,
        max_splits=None,
        integer_flow=False,
        cuts=form.cuts,
        separation=Separation(),
    )
    scip = BACKENDS["scip"]
    question.attach(tree, scip, is_compact=True)
    repaired = scip.run(tree.model, Settings())
    tree.model.rows = [rows for rows in tree.model.rows if rows.name != "both_predicted"]
    printed = scip.run(tree.model, Settings())
    assert printed.bound == pytest.approx(1)
    assert question.tree(printed.x).splits == 0
    assert MCC().evaluate(question.tree(printed.x), problem) == 0
    assert repaired.bound < 0.99
    assert float(MCC().evaluate(question.tree(repaired.x), problem)) ** 2 == pytest.approx(
        repaired.bound, abs=1e-5
    )


HULL = [F1(), Precision(), CohenKappa(), MCC(), FowlkesMallows(), 2 * Jaccard()]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("metric", HULL, ids=lambda m: m.name)
def test_parametric(metric, penalty, seed) -> None:
    ask(metric, seed + 30, penalty, method="parametric")


def test_parametric_refuses_what_may_lie_inside_the_hull() -> None:
    X, y = arrays(0)
    with pytest.raises(ValueError, match="'gmean' is monotone: its best tree may lie inside"):
        solve(Problem.from_arrays(X, y), "gmean", 2, engine="mip", method="parametric")


@pytest.mark.parametrize(
    ("metric", "penalty"),
    [("f1", 0), ("f1", 0.01), ("gmean", 0), ("gmean", 0.01), ("f1+gmean", 0)],
)
def test_pairs_finish_proofs_that_tolerances_leave_open(metric, penalty) -> None:
    """With many samples, there are values within any tolerance."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (5000, 4))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(5000) < 0.3)).astype(int)
    problem = Problem.from_arrays(X, y)
    if metric == "f1+gmean":
        metric = 0.5 * F1() + 0.5 * GMean()
    solution = solve(problem, metric, 2, engine="mip", split_penalty=penalty)
    expected = solve(problem, metric, 2, engine="search", split_penalty=penalty)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == expected.objective


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_linear_models_with_many_samples(metric) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40_000, 4))
    y = ((X[:, 0] & X[:, 1] | X[:, 2]) ^ (rng.random(40_000) < 0.3)).astype(int)
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, metric, 2, engine="mip", method="parametric")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == solve(problem, metric, 2, engine="search").objective


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "precision", "dor", "jaccard", "wavy"])
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 20)])
def test_pairs_between_are_the_least_ones(name, penalty) -> None:
    metric = (
        get_metric(name)
        if name != "wavy"
        else RationalMetric(
            lambda tp, fp, fn, tn: (tp * fn + tn, (tp + fn) ** 2 + tn + fp), label="wavy"
        )
    )
    X, y = arrays(5)
    problem = Problem.from_arrays(X, y)
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    lines = [(Fraction(1), Fraction(2), Fraction(6))]
    for low, high in [(0.3, 0.6), (0.5, 0.55), (0.1, 0.9)]:
        low, high = Exact(as_fraction(low, "low")), Exact(as_fraction(high, "high"))
        found = pairs_between(
            problem, metric, low, high, split_penalty=penalty, most_splits=3, lines=lines
        )
        seen = set()
        for tp, tn, splits in product(range(n_pos + 1), range(n_neg + 1), range(4)):
            if not penalty and splits < 3:
                continue
            fn, fp = n_pos - tp, n_neg - tn
            value = metric.value(Confusion(tp, fp, fn, tn)) - penalty * splits
            if low < value <= high and fn + 2 * fp >= 6:
                seen.add((tp, tn, splits))
        for tp, tn, splits in seen:
            at_least = [(pair.tp, pair.tn) for pair in found if pair.splits == splits]
            assert any(x <= tp and y <= tn for x, y in at_least)
        assert {(pair.tp, pair.tn, pair.splits) for pair in found} <= seen
        if not metric.is_monotone:
            assert len(found) == len(seen)


@pytest.mark.parametrize("method", ["direct", "parametric"])
def test_limits(method) -> None:
    rng = np.random.default_rng(1)
    problem = Problem.from_arrays(rng.integers(0, 2, (150, 14)), rng.integers(0, 2, 150))
    for metric in ("f1", "mcc"):
        options = {"engine": "mip", "method": method}
        check_stopped(solve(problem, metric, 3, time_limit=0.7, **options), Limit.TIME)
        stopped = solve(problem, metric, 3, callback=lambda _: True, **options)
        check_stopped(stopped, Limit.INTERRUPTED)


@pytest.mark.parametrize("metric", [F1(), MCC(), CohenKappa(), GMean()], ids=lambda m: m.name)
@pytest.mark.parametrize("method", ["direct", "parametric"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_constraints(metric, method, penalty) -> None:
    if method == "parametric" and metric.name == "gmean":
        pytest.skip("it is monotone only")
    for seed in (3, 4):
        X, y = arrays(seed)
        problem = Problem.from_arrays(X, y)
        P, N = int(y.sum()), int((1 - y).sum())
        options = {"split_penalty": penalty, "engine": "mip", "method": method}
        for conditions, allowed in [
            ([Recall() >= 0.6], lambda tp, _tn, P=P: Fraction(tp, P) >= Fraction(3, 5)),
            ([FalsePositives() >= 3], lambda _tp, tn, N=N: N - tn >= 3),
            ([Recall() >= 1, Specificity() >= 1], lambda tp, tn, P=P, N=N: tp == P and tn == N),
        ]:
            check(solve(problem, metric, 2, constraints=conditions, **options), X, y, 2, allowed)


def test_values_below_zero_are_found_where_constraints_leave_no_others() -> None:
    """Every tree that is allowed contradicts the labels, so that the largest MCC is negative."""
    X = np.array([[0], [0], [0], [1], [1], [1], [1]])
    y = np.array([0, 0, 1, 1, 1, 0, 0])[::-1].copy()
    problem = Problem.from_arrays(X, y)
    P, N = int(y.sum()), int((1 - y).sum())
    conditions = [Recall() <= 0.4, Recall() >= 0.1, Specificity() <= 0.6, Specificity() >= 0.1]
    points = {
        (tp, tn)
        for tp, tn, _ in achievable(X, y == 1, 1)
        if P <= 10 * tp <= 4 * P and N <= 10 * tn <= 6 * N
    }
    for metric in (MCC(), CohenKappa()):
        options = {"constraints": conditions, "engine": "mip"}
        solution = solve(problem, metric, 1, **options)
        assert (
            solution.objective
            == solve(problem, metric, 1, method="parametric", **options).objective
        )
        values = [metric.value(Confusion(tp, N - tn, P - tp, tn)) for tp, tn in points]
        assert solution.status is (Status.OPTIMAL if values else Status.INFEASIBLE)
        if values:
            assert solution.objective == max(values)


def test_weights_and_feature_rules() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (20, 3)), rng.integers(0, 2, 20)
    weights = rng.integers(1, 5, 20)
    problem = Problem.from_arrays(X, y, sample_weight=weights / 4)
    quarter = Fraction(1, 4)
    P, N = int(weights[y == 1].sum()), int(weights[y == 0].sum())
    for metric in (F1(), MCC()):
        solution = solve(problem, metric, 2, engine="mip")
        cells = achievable(X, y == 1, 2, weights)
        expected = max(
            metric.value(Confusion(*(quarter * c for c in (tp, N - tn, P - tp, tn))))
            for tp, tn, _ in cells
        )
        assert solution.objective == expected == solution.bound
    rules = [ForbidFeatures(0), MinLeafWeight(1)]
    solution = solve(problem, "mcc", 2, constraints=rules)  # only the MIP engine knows these
    assert solution.stats["engine"] == "mip"
    assert 0 not in solution.tree.features
    check(solve(problem_of(X[:, 1:], y), "mcc", 2, engine="mip"), X[:, 1:], y, 2)


def problem_of(X, y) -> Problem:
    return Problem.from_arrays(X, y)


def test_instance_costs_in_sums_keep_an_honest_gap() -> None:
    """Such sums are no function of the confusion matrix, so the tolerance of the bound remains."""
    X, y = arrays(2)
    costs = np.random.default_rng(0).integers(0, 4, (len(y), 2))
    problem = Problem.from_arrays(X, y, costs=costs)
    solution = solve(problem, F1() + 0.01 * InstanceCost(), 1, engine="mip")
    assert 0 <= solution.gap <= Fraction(1, 10**5)


def test_auto_takes_the_engine_that_can() -> None:
    X, y = arrays(6)
    solution = solve(Problem.from_arrays(X, y), MARKEDNESS, 2)
    assert solution.stats["engine"] == "mip"
    check(solution, X, y, 2)
    with pytest.raises(ValueError, match="search engine cannot maximise"):
        solve(Problem.from_arrays(X, y), CustomMetric(lambda tp, _fp, _fn, _tn: tp), 2)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (CustomMetric(lambda tp, *_: tp, Shape.MONOTONE), "write it as a RationalMetric"),
        (F1() - MCC(), "'mcc' may not count negatively"),
        (F1() - BoundedDOR(), "'dor' may not count negatively"),
    ],
)
def test_refusals(metric, message) -> None:
    X, y = arrays(0)
    with pytest.raises(ValueError, match=message):
        solve(Problem.from_arrays(X, y), metric, 1, engine="mip")


def test_weights_that_are_too_fine_are_refused() -> None:
    X, y = arrays(0)
    weights = np.linspace(1, 2, len(y)) * np.pi
    with pytest.raises(ValueError, match="weights are too fine"):
        solve(Problem.from_arrays(X, y, sample_weight=weights), "mcc", 1, engine="mip")


def test_rational_metrics_check_themselves() -> None:
    assert MARKEDNESS.value(Confusion(3, 1, 0, 2)) == Fraction(3, 4)
    assert MARKEDNESS.value(Confusion(3, 1, 0, 0)) == 0
    wrong = RationalMetric(lambda tp, _fp, _fn, _tn: (tp, 1))
    with pytest.raises(ValueError, match="does not agree with its bounds"):
        wrong.value(Confusion(3, 1, 0, 2))
    pole = RationalMetric(lambda tp, _fp, fn, _tn: (tp, fn))
    with pytest.raises(ValueError, match="does not agree"):
        pole.value(Confusion(3, 1, 0, 2))
    with pytest.raises(ValueError, match="lower must be less"):
        RationalMetric(lambda tp, _fp, _fn, _tn: (tp, 1), lower=1)
    with pytest.raises(ValueError, match="shape must be"):
        RationalMetric(lambda tp, _fp, _fn, _tn: (tp, 1), shape=Shape.LINEAR)
    with pytest.raises(TypeError, match="callable"):
        RationalMetric(3)


def test_bounds_are_exact_only_if_no_value_lies_between(monkeypatch) -> None:
    X, y = arrays(0)
    problem = Problem.from_arrays(X, y)
    limits = {"split_penalty": Fraction(0), "most_splits": 3}
    assert pairs_between(problem, F1(), Exact(0), Exact(1), **limits)
    assert pairs_between(problem, F1(), Exact(1), Exact(1), **limits) == []
    assert pairs_between(problem, F1(), Exact(0), Exact(Fraction(1, 10**6)), **limits) == []
    assert pairs_between(problem, InstanceCost(), Exact(0), Exact(1), **limits) is None
    # A solver that stops early proves no more than its bound.
    stopped = MipResult(None, 0.9, Limit.TIME)
    monkeypatch.setattr(BACKENDS["scip"], "run", lambda *_, **__: stopped, raising=False)
    solution = solve(problem, "f1", 1, engine="mip")
    assert solution.status is Status.FEASIBLE
    assert float(solution.bound) == pytest.approx(0.9, abs=1e-5)


def weighted(seed: int, share: float, largest: int) -> Problem:
    """A problem whose samples stand for many."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = rng.integers(0, 2, (n, int(rng.integers(2, 5))))
    y = (rng.random(n) < share).astype(int)
    y[:2] = [0, 1]
    return Problem.from_arrays(X, y, sample_weight=rng.integers(1, largest, n))


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_large_odds_are_told_apart(seed) -> None:
    """Odds of millions are close to infinity, but not all the same."""
    problem = weighted(seed, 0.85, 2000)
    solution = solve(problem, "dor_smoothed", 2, engine="mip")
    expected = solve(problem, "dor_smoothed", 2, engine="search")
    assert solution.objective == expected.objective
    assert solution.bound >= expected.objective


@pytest.mark.parametrize("seed", [0, 100154])
@pytest.mark.parametrize("metric", [MCC(), 0.5 * F1() + 0.5 * GMean()], ids=lambda m: m.name)
def test_trees_are_solutions_of_models_with_products(metric, seed) -> None:
    problem = weighted(seed, 0.5, 50)
    solution = solve(
        problem, metric, 1, split_penalty=0.01, engine="mip", linearization="none", time_limit=60
    )
    assert solution.status is Status.OPTIMAL
    assert solution.stats["heuristic_calls"] > 0
    assert solution.stats["heuristic_rejected"] == 0


def test_lines_that_a_tolerance_moves_below_zero() -> None:
    problem = weighted(800076, 0.85, 2000)
    options = {"split_penalty": 0.01, "constraints": "specificity >= 0.5"}
    solution = solve(problem, "fowlkes_mallows", 2, engine="mip", method="parametric", **options)
    expected = solve(problem, "fowlkes_mallows", 2, engine="search", **options)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == expected.objective


@pytest.mark.parametrize("method", ["auto", "direct", "parametric"])
def test_the_best_of_negative_values_is_inside_the_hull(method) -> None:
    """MCC is quasiconvex from 0 only; a constraint may leave nothing but negative values."""
    points = [(10, 70), (70, 10), (39, 39)]  # TP and TN of the three features
    y = np.repeat([1, 0], 100)
    X = np.zeros((200, 3), dtype=int)
    for k, (tp, tn) in enumerate(points):
        X[:tp, k] = 1
        X[100 : 200 - tn, k] = 1
    problem = Problem.from_arrays(X, y)
    solution = solve(problem, "mcc", 1, engine="mip", method=method, constraints=Accuracy() <= 0.45)
    assert solution.status is Status.OPTIMAL
    assert solution.value == MCC().value(Confusion(39, 61, 61, 39))


def test_only_constant_trees_meet_the_constraints() -> None:
    """Then the model, which is about the others, has no solution, and that is the proof."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (12, 3))
    y = X[:, 0] & X[:, 1]
    y[0] = 1 - y[0]
    problem = Problem.from_arrays(X, y, pos_label=1)
    solution = solve(problem, MARKEDNESS, 1, engine="mip", constraints=FalsePositives() <= 0)
    assert solution.status is Status.OPTIMAL
    assert solution.value == 0


def test_pair_questions_go_with_constraints_on_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 4))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(40) < 0.2)).astype(int)
    problem = Problem.from_arrays(X, y, sample_weight=rng.integers(1, 100, 40), pos_label=1)
    solution = solve(problem, "gmean", 2, engine="mip", constraints=MaxFeatures(2))
    assert solution.stats["pair_questions"] > 0
    assert solution.status is Status.OPTIMAL
    assert len(solution.tree.features) <= 2


def test_many_pairs_of_the_same_value_are_skipped_at_once(monkeypatch) -> None:
    """All pairs without true positives are worth 0, and few of them are looked at."""
    problem = Problem.from_arrays(
        [[0], [0], [1], [1]], [0, 1, 0, 1], sample_weight=[200_000, 30_000, 100_000, 20_000]
    )
    seen = []
    value = FBeta.value

    def watched(self, confusion):
        seen.append(confusion)
        return value(self, confusion)

    monkeypatch.setattr(FBeta, "value", watched)
    limits = {"split_penalty": Fraction(1, 1000), "most_splits": 1}
    pairs_between(problem, F1(), Exact(0), Exact(Fraction(1, 10**6)), **limits)
    assert 0 < len(seen) < 20_000


def test_bounds_hold_on_many_rows(datasets_folder) -> None:
    """The paper's model of MCC has numbers as large as the product of both classes."""
    table = np.loadtxt(datasets_folder / "magic04.txt.gz", dtype=np.uint8)
    rows = np.random.default_rng(0).permutation(len(table))[: len(table) // 2]
    problem = Problem.from_arrays(table[rows, 1:], table[rows, 0], pos_label=1)
    penalty = Fraction(1, 1000)
    optimum = solve(problem, "mcc", 3, split_penalty=penalty, engine="search").objective
    solution = solve(
        problem, "mcc", 3, split_penalty=penalty, engine="mip", linearization="paper", time_limit=8
    )
    assert solution.bound >= optimum
