"""Minimum leaves and constraints on columns against brute force, by either engine."""

from __future__ import annotations

import numpy as np
import pytest

from .support.attack import failures, random_case


@pytest.mark.parametrize("seed", range(4))
def test_minimum_leaves_and_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for case, found, wrong in failures(random_case(rng) for _ in range(60)):
        assert not wrong, (wrong, case)
        assert found.stats["engine"] in ("search", "constant")


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_of_ranks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goct.search.problem_oracle.FEW_THRESHOLDS", -1)
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
