from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goct.binarize.thresholds import (
    all_middles,
    all_moments,
    middle,
    moment_between,
    quantile_gaps,
    short_decimal,
    write_moment,
)

floats = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=floats), st.integers(1, 5))
def test_gaps_lie_between_neighbouring_values(values, k) -> None:
    gaps = quantile_gaps(values, k)
    assert gaps == sorted(set(gaps))
    assert len(gaps) <= k
    distinct = sorted(set(values.tolist()))
    assert bool(gaps) == (len(distinct) > 1)
    neighbours = list(itertools.pairwise(distinct))
    assert set(gaps) <= set(neighbours)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=20),
    st.integers(1, 5),
)
def test_weights_count_as_repetitions(pairs, k) -> None:
    values, weights = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    repeated = np.repeat(values, weights.astype(int))
    assert quantile_gaps(values, k, weights) == quantile_gaps(repeated, k)


def test_quantiles_cut_into_equal_parts() -> None:
    assert quantile_gaps(np.arange(100.0), 3) == [(24, 25), (49, 50), (74, 75)]


@given(floats, floats)
def test_thresholds_lie_in_their_gap(a, b) -> None:
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= short_decimal(low, high) < high
        assert low <= middle(low, high) < high


def test_thresholds_are_short() -> None:
    assert short_decimal(1.23456, 2.98765) == 2.0
    assert short_decimal(0.14071, 0.14239) == 0.142
    assert middle(1.9, 3.0) == 2.45
    assert middle(30, 31) == 30.5


def test_a_gap_between_neighbouring_floats() -> None:
    low = 1.0
    high = float(np.nextafter(low, 2))
    assert middle(low, high) == short_decimal(low, high) == low
    assert np.isfinite(middle(-1.7e308, 1.7e308))


moments = st.integers(-(10**15), 4 * 10**15)


@given(moments, moments)
def test_moments_lie_in_their_gap(a, b) -> None:
    low, high = min(a, b), max(a, b)
    if low < high:
        found = np.datetime64(moment_between(low, high), "us").astype(np.int64)
        assert low <= found < high


def test_moments_are_short() -> None:
    def between(low: str, high: str) -> str:
        ends = (float(np.datetime64(t, "us").astype(np.int64)) for t in (low, high))
        return moment_between(*ends)

    assert between("2024-03-01", "2024-03-02") == "2024-03-01"
    assert between("2024-03-01", "2024-03-05") == "2024-03-03"
    assert between("2024-03-01T23:00", "2024-03-02T22:00") == "2024-03-02"
    assert between("2024-03-01T10:00", "2024-03-01T11:00") == "2024-03-01T10:30"
    assert write_moment(np.datetime64("2024")) == "2024-01-01"
    assert write_moment(np.datetime64("2024-01-01T00:00:01")) == "2024-01-01T00:00:01"


def test_all_middles_are_in_their_gaps() -> None:
    rng = np.random.default_rng(0)
    for scale in (1e-320, 1e-300, 1e-9, 1.0, 1e6, 1e17, 1e300, 1.7e308):
        values = np.unique(rng.normal(size=200).clip(-1, 1) * scale)
        values = np.unique(np.concatenate([values, np.nextafter(values, np.inf)]))
        cuts = all_middles(values)
        assert ((values[:-1] <= cuts) & (cuts < values[1:])).all()
    values = np.array([1, 2, 4, 10.25, 10.26, 1000, 3000])
    assert all_middles(values).tolist() == [1.5, 3, 7.1, 10.255, 510, 2000]


def test_all_moments_are_those_between_two() -> None:
    rng = np.random.default_rng(0)
    for scale in (1e3, 1e8, 1e12, 1e17):
        values = np.unique((rng.normal(size=100) * scale).astype(np.int64))
        values = np.unique(np.concatenate([values, values + 1]))
        expected = [moment_between(a, b) for a, b in itertools.pairwise(values.tolist())]
        found = all_moments(values).astype("datetime64[us]")
        assert [write_moment(moment) for moment in found] == expected
