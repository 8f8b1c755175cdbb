"""MDLP and label changes, compared with a plain implementation by the book."""

from __future__ import annotations

import itertools
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from goct.binarize.entropy import label_change_gaps, mdlp_gaps
from goct.binarize.thresholds import middle


def _entropy(labels) -> float:
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(shares * np.log2(shares)).sum())


def reference_mdlp(values, labels) -> list[tuple[float, float]]:
    """Fayyad and Irani's recursion over all cuts, the first of the best winning ties."""
    distinct = np.unique(values)
    best = None
    for low, high in itertools.pairwise(distinct):
        left, right = labels[values <= low], labels[values > low]
        rest = (len(left) * _entropy(left) + len(right) * _entropy(right)) / len(labels)
        gain = _entropy(labels) - rest
        if best is None or gain > best[0] + 1e-10:
            best = gain, low, high, left, right
    if best is None:
        return []
    gain, low, high, left, right = best
    k, k1, k2 = (len(set(part.tolist())) for part in (labels, left, right))
    delta = log2(3**k - 2) - (k * _entropy(labels) - k1 * _entropy(left) - k2 * _entropy(right))
    if gain <= (log2(len(labels) - 1) + delta) / len(labels):
        return []
    below = reference_mdlp(values[values <= low], left)
    above = reference_mdlp(values[values > low], right)
    return [*below, (float(low), float(high)), *above]


def test_iris() -> None:
    X, y = load_iris(return_X_y=True)
    cuts = [[middle(*gap) for gap in mdlp_gaps(column, y)] for column in X.T]
    assert cuts == [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


def test_breast_cancer() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for j in (0, 9, 22):
        assert mdlp_gaps(X[:, j], y) == reference_mdlp(X[:, j], y)


@pytest.mark.parametrize("seed", range(60))
def test_random_columns(seed) -> None:
    rng = np.random.default_rng(seed)
    n, k, levels = rng.integers(2, 150), rng.integers(2, 6), rng.integers(2, 60)
    values = rng.integers(0, levels, n).astype(float)
    noise = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), 0)
    labels = (values * k // levels + noise).astype(int) % k
    assert mdlp_gaps(values, labels) == reference_mdlp(values, labels)


rows = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=30
)


@given(rows, st.sampled_from([None, 1, 2]))
def test_weights_count_as_repetitions(rows, n_gaps) -> None:
    values, labels, weights = (np.array(part) for part in zip(*rows, strict=True))
    values = values.astype(float)
    repeated = np.repeat(values, weights), np.repeat(labels, weights)
    for method in (mdlp_gaps, label_change_gaps):
        once = method(values, labels, weights.astype(float), n_gaps)
        assert once == method(*repeated, n_gaps=n_gaps)


@given(rows)
def test_label_changes(rows) -> None:
    values, labels, _ = (np.array(part) for part in zip(*rows, strict=True))
    found = label_change_gaps(values.astype(float), labels)
    distinct = np.unique(values)
    expected = [
        (low, high)
        for low, high in itertools.pairwise(distinct)
        if len(set(labels[(values == low) | (values == high)].tolist())) > 1
    ]
    assert found == expected
    assert set(mdlp_gaps(values.astype(float), labels)) <= set(found)


def test_the_best_gaps_come_first() -> None:
    values = np.arange(300.0)
    labels = np.repeat([0, 1, 0], [200, 90, 10])
    assert mdlp_gaps(values, labels) == [(199, 200), (289, 290)]
    assert mdlp_gaps(values, labels, n_gaps=1) == [(199, 200)]
    assert label_change_gaps(values, labels, n_gaps=1) == [(199, 200)]


def test_nothing_to_cut() -> None:
    assert mdlp_gaps(np.zeros(5), np.array([0, 1, 0, 1, 0])) == []
    assert mdlp_gaps(np.arange(5.0), np.zeros(5, dtype=int)) == []
    assert mdlp_gaps(np.zeros(0), np.zeros(0, dtype=int)) == []
    rng = np.random.default_rng(0)
    assert mdlp_gaps(rng.random(200), rng.integers(0, 2, 200)) == []


def test_many_classes() -> None:
    labels = np.repeat(np.arange(700), 3)  # 3**700 is no float
    assert len(mdlp_gaps(np.arange(2100.0), labels, n_gaps=5)) <= 5
