"""Nonlinear metrics: every way to state them finds what brute force finds, and says so honestly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Limit, Problem, Status
from goct.constraints import ForbidFeatures, MinLeafWeight
from goct.metrics import (
    F1,
    MCC,
    BoundedDOR,
    CohenKappa,
    Confusion,
    CustomMetric,
    FalsePositives,
    FowlkesMallows,
    GMean,
    InstanceCost,
    Jaccard,
    Precision,
    RationalMetric,
    Recall,
    Shape,
    Specificity,
)
from goct.mip import BACKENDS
from goct.mip.backends.base import Settings
from tests.support.mip import (
    MARKEDNESS,
    SINGLE,
    SUMS,
    check_optimum,
    model_of,
    noisy_arrays,
    skip_if_missing,
    solve,
    solve_and_check,
    weighted,
)
from tests.support.problems import check_stopped
from tests.support.reference import achievable

PENALTIES = [Fraction(0), Fraction(1, 50)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("metric", [*SINGLE, *SUMS], ids=lambda m: m.name)
def test_compact(metric, penalty, seed) -> None:
    solve_and_check(metric, seed + 10 * (penalty > 0), penalty)


@pytest.mark.slow
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
    solve_and_check(metric, 21, penalty, formulation=formulation, backend=backend)


def small_arrays(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = noisy_arrays(seed)
    return X[:10, :2], y[:10]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["scip", "gurobi"])
@pytest.mark.parametrize("metric", [*SINGLE, SUMS[0], SUMS[2]], ids=lambda m: m.name)
def test_miqp(metric, backend) -> None:
    skip_if_missing(backend)
    X, y = small_arrays(12)
    options = {"engine": "mip", "backend": backend, "linearization": "none"}
    for penalty in PENALTIES[: 2 if metric in SINGLE[:2] else 1]:
        solution = solve(Problem.from_arrays(X, y), metric, 2, split_penalty=penalty, **options)
        check_optimum(solution, X, y, 2)


PAPER = [F1(), Precision(), Jaccard(), CohenKappa(), MCC(), GMean(), FowlkesMallows()]


@pytest.mark.slow
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("metric", [*PAPER, BoundedDOR(20), SUMS[0]], ids=lambda m: m.name)
def test_paper(metric, penalty) -> None:
    solve_and_check(metric, 41, penalty, linearization="paper")


def test_paper_states_products_of_two_counts_only() -> None:
    cubic = RationalMetric(lambda tp, fp, _fn, tn: (tp**3, 1 + (tp + fp + tn) ** 3))
    with pytest.raises(ValueError, match="products of two counts only"):
        solve_and_check(cubic, 0, Fraction(0), linearization="paper")
    solve_and_check(cubic, 0, Fraction(0))


@pytest.mark.slow
def test_erratum_the_printed_f1_row_counts_the_negatives_twice() -> None:
    """It maximises 2 TP / (n+ + n- + U) instead of 2 TP / (n+ + U)."""
    printed = RationalMetric(
        lambda tp, fp, fn, tn: (2 * tp, (tp + fn) + (tn + fp) + (tp + fp)), shape=Shape.MONOTONE
    )
    worse = 0
    for seed in range(8):
        X, y = noisy_arrays(2 * seed)
        problem = Problem.from_arrays(X, y)
        tree = solve(problem, printed, 2, engine="mip").tree
        worse += F1().evaluate(tree, problem) < solve(problem, F1(), 2).value
    assert worse >= 3


@pytest.mark.slow
def test_erratum_the_printed_mcc_model_is_unbounded_by_its_row_at_constant_trees() -> None:
    X, y = noisy_arrays(40)
    problem = Problem.from_arrays(X, y)
    start = solve(problem, "mcc", 0).tree
    model = model_of(problem, MCC(), 2, start=start, formulation="wflow", linearization="paper")
    program, scip = model.program, BACKENDS["scip"]
    repaired = scip.run(program, Settings())
    program.rows = [rows for rows in program.rows if rows.name != "both_predicted"]
    printed = scip.run(program, Settings())
    assert printed.bound == pytest.approx(1)
    assert model.tree(printed.x).splits == 0
    assert MCC().evaluate(model.tree(printed.x), problem) == 0
    assert repaired.bound < 0.99
    assert float(MCC().evaluate(model.tree(repaired.x), problem)) ** 2 == pytest.approx(
        repaired.bound, abs=1e-5
    )


@pytest.mark.parametrize("method", ["direct", "parametric"])
def test_limits(method) -> None:
    rng = np.random.default_rng(1)
    problem = Problem.from_arrays(rng.integers(0, 2, (150, 14)), rng.integers(0, 2, 150))
    for metric in ("f1", "mcc"):
        options = {"engine": "mip", "method": method}
        check_stopped(solve(problem, metric, 3, time_limit=0.7, **options), Limit.TIME)
        stopped = solve(problem, metric, 3, callback=lambda _: True, **options)
        check_stopped(stopped, Limit.INTERRUPTED)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [F1(), MCC(), CohenKappa(), GMean()], ids=lambda m: m.name)
@pytest.mark.parametrize("method", ["direct", "parametric"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_constraints(metric, method, penalty) -> None:
    if method == "parametric" and metric.name == "gmean":
        pytest.skip("it is monotone only")
    for seed in (3, 4):
        X, y = noisy_arrays(seed)
        problem = Problem.from_arrays(X, y)
        P, N = int(y.sum()), int((1 - y).sum())
        options = {"split_penalty": penalty, "engine": "mip", "method": method}
        for conditions, allowed in [
            ([Recall() >= 0.6], lambda tp, _tn, P=P: Fraction(tp, P) >= Fraction(3, 5)),
            ([FalsePositives() >= 3], lambda _tp, tn, N=N: N - tn >= 3),
            ([Recall() >= 1, Specificity() >= 1], lambda tp, tn, P=P, N=N: tp == P and tn == N),
        ]:
            check_optimum(
                solve(problem, metric, 2, constraints=conditions, **options), X, y, 2, allowed
            )


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


@pytest.mark.slow
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
    solution = solve(problem, "mcc", 2, constraints=rules, engine="mip")
    assert solution.stats["engine"] == "mip"
    assert 0 not in solution.tree.features
    fewer = Problem.from_arrays(X[:, 1:], y)
    check_optimum(solve(fewer, "mcc", 2, engine="mip"), X[:, 1:], y, 2)


def test_instance_costs_in_sums_keep_an_honest_gap() -> None:
    """Such sums are no function of the confusion matrix, so the tolerance of the bound remains."""
    X, y = noisy_arrays(2)
    costs = np.random.default_rng(0).integers(0, 4, (len(y), 2))
    problem = Problem.from_arrays(X, y, costs=costs)
    solution = solve(problem, F1() + 0.01 * InstanceCost(), 1, engine="mip")
    assert 0 <= solution.gap <= Fraction(1, 10**5)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (CustomMetric(lambda tp, *_: tp, Shape.MONOTONE), "write it as a RationalMetric"),
        (F1() - MCC(), "'mcc' may not count negatively"),
        (F1() - BoundedDOR(), "'dor' may not count negatively"),
    ],
)
def test_refusals(metric, message) -> None:
    X, y = noisy_arrays(0)
    with pytest.raises(ValueError, match=message):
        solve(Problem.from_arrays(X, y), metric, 1, engine="mip")


def test_weights_that_are_too_fine_are_refused() -> None:
    X, y = noisy_arrays(0)
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_large_odds_are_told_apart(seed) -> None:
    """Odds of millions are close to infinity, but not all the same."""
    problem = weighted(seed, 0.85, 2000)
    solution = solve(problem, "dor_smoothed", 2, engine="mip")
    expected = solve(problem, "dor_smoothed", 2, engine="search")
    assert solution.objective == expected.objective
    assert solution.bound >= expected.objective


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_values_smaller_than_a_solver_can_tell_apart_leave_an_honest_gap() -> None:
    problem = Problem.from_arrays(*noisy_arrays(0))
    for size in (1e-20, 1e-10):
        metric = RationalMetric(lambda tp, fp, _fn, _tn, e=size: (tp * e, tp + fp + 1))
        solution = solve(problem, metric, 2, engine="mip")
        assert solution.status is Status.FEASIBLE
        assert 0 < solution.objective < solution.bound
