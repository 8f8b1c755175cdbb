"""Minimum leaves and constraints on columns against brute force, by either engine."""

from __future__ import annotations

import numpy as np
import pytest

from goct import Problem, Status, solve

from .support.attack import add_models, failures, random_case


@pytest.mark.parametrize("seed", range(4))
def test_minimum_leaves_and_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for case, found, wrong in failures(random_case(rng) for _ in range(60)):
        assert not wrong, (wrong, case)
        assert found.stats["engine"] in ("search", "constant")


@pytest.mark.parametrize("narrow", range(3))
@pytest.mark.parametrize("seed", range(3))
def test_thresholds_of_ranks(seed: int, narrow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goct.search.oracle.NARROW", narrow)
    monkeypatch.setattr("goct.search.oracle.FEW", 0)
    rng = np.random.default_rng(100 + seed)
    for case, _, wrong in failures(random_case(rng, ranked=True) for _ in range(40)):
        assert not wrong, (wrong, case)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"injection": "none"}], ids=str)
def test_columns_that_must_be_used(options) -> None:
    rng = np.random.default_rng(9)
    cases = (random_case(rng, require=True) for _ in range(40))
    for case, _, wrong in failures(cases, engine="mip", **options):
        assert not wrong, (wrong, case)


@pytest.mark.slow
def test_columns_in_models() -> None:
    rng = np.random.default_rng(10)
    for case, _, wrong in failures(
        (random_case(rng) for _ in range(40)), engine="mip", injection="none"
    ):
        assert not wrong, (wrong, case)


@pytest.mark.parametrize("seed", range(2))
def test_nothing_false_is_said_of_numbers_that_are_too_large_or_too_small(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    cases = (random_case(rng, extreme=True) for _ in range(60))
    answered = 0
    for case, found, wrong in failures(cases, may_give_up=True):
        assert not wrong, (wrong, case)
        answered += found is not None
    assert answered > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_nothing_false_is_said_of_them_by_models(seed: int) -> None:
    rng = np.random.default_rng(300 + seed)
    cases = (add_models(random_case(rng, extreme=True), rng) for _ in range(25))
    for case, _, wrong in failures(cases, may_give_up=True):
        assert not wrong, (wrong, case)


def test_products_of_large_counts_do_not_wrap_around() -> None:
    """Lines of the plane, times counts, are beyond 64 bits."""
    X = [[1, 1], [0, 0], [0, 0], [1, 0], [0, 0], [1, 1], [0, 1]]
    weights = [3517221885, 8188046436, 345839347, 161643956, 252821129, 3011169021, 10963945947]
    problem = Problem.from_arrays(X, [1, 1, 0, 0, 1, 1, 1], sample_weight=weights)
    models = {"engine": "mip", "injection": "none", "node_heuristic": "none"}
    assert solve(problem, "mcc", 2, **models).bound >= solve(problem, "mcc", 2, engine="mip").value
    with pytest.raises(ValueError, match="too fine"):
        solve(problem, "mcc", 2)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc", "kappa"])
def test_multiples_of_weights_change_nothing(metric: str) -> None:
    rng = np.random.default_rng(5)
    X, y, weights = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, 30), rng.integers(1, 9, 30)
    one, many = (
        solve(Problem.from_arrays(X, y, sample_weight=weights * factor), metric, 2)
        for factor in (1, 10**9)
    )
    assert one.status is many.status is Status.OPTIMAL
    assert (one.tree, one.value) == (many.tree, many.value)
