"""No cut ever removes a tree, and cuts are found where they must be."""

from __future__ import annotations

import numpy as np
import pytest

from goct.mip.cuts import (
    BendersCuts,
    ConflictCuts,
    LeafWeightCuts,
    NoGoodCuts,
    PairCuts,
    Separation,
    near_pairs,
)
from goct.mip.formulations import BendersOCT
from tests.support.mip import random_fractional_point, random_instances, random_tree_point

TOLERANCE = 1e-9


FAMILIES = {
    "benders": BendersCuts,
    "count": ConflictCuts,
    "weighted": lambda model: ConflictCuts(model, weighted=True),
    "pairs": PairCuts,
}


@pytest.mark.slow
@pytest.mark.parametrize("copies", [False, True], ids=["merged", "copies"])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_cuts_hold_for_every_tree(family, depth, copies) -> None:
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        _, instances = random_instances(seed, 2 + seed % 2, copies)
        model = BendersOCT(instances, depth)
        separator = FAMILIES[family](model)
        trees = np.array([random_tree_point(model, rng) for _ in range(150)])
        for _ in range(10):
            x = random_fractional_point(model, rng)
            rows = separator.separate(x, is_integral=False)
            if rows is None:
                continue
            found += len(rows)
            assert (rows.violation(x) > 0).all()
            assert max(rows.violation(tree).max() for tree in trees) < TOLERANCE
    assert found > 100


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_benders_cuts_remove_every_false_tree(depth) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        _, instances = random_instances(seed, 3)
        model = BendersOCT(instances, depth)
        separator = model.separators[0]
        trees = [random_tree_point(model, rng) for _ in range(100)]
        for tree in trees[:20]:
            assert separator.separate(tree, is_integral=True) is None
            false = tree.copy()
            false[model.g] = 1
            wrong = int((tree[model.g] == 0).sum())
            assert separator.allows(false) == (wrong == 0)
            if wrong:
                rows = separator.separate(false, is_integral=True)
                assert len(rows) == wrong  # one for each instance that is wrong
                assert (rows.violation(false) >= 1 - TOLERANCE).all()
                assert max(rows.violation(other).max() for other in trees) < TOLERANCE


def test_least_cuts_are_least() -> None:
    """The recursion against all sets of nodes that hold the root, at depth 2."""
    rng = np.random.default_rng(0)
    _, instances = random_instances(0, 2)
    model = BendersOCT(instances, 2)
    cuts = BendersCuts(model)
    for _ in range(20):
        x = random_fractional_point(model, rng)
        least = cuts._least_cuts(x)[0]
        of_all = np.full(len(instances), np.inf)
        for code in range(2**6):
            inside = np.array([True] + [bool(code >> k & 1) for k in range(6)])
            parent_in = all(inside[(n + 1) // 2 - 1] for n in range(1, 7) if inside[n])
            if parent_in:
                sets = np.repeat(inside[:, None], len(instances), axis=1)
                rows = cuts.rows(np.arange(len(instances)), sets)
                of_all = np.minimum(of_all, x[model.g] - rows.violation(x))
        assert least == pytest.approx(of_all)
        rows = cuts.separate(x, is_integral=False)
        violated = int((x[model.g] > np.minimum(1, least) + cuts.separation.min_violation).sum())
        assert (0 if rows is None else len(rows)) == violated


def test_max_cuts_keeps_the_heaviest() -> None:
    rng = np.random.default_rng(0)
    _, instances = random_instances(0, 2, n_features=3)
    model = BendersOCT(instances, 2)
    x = random_tree_point(model, rng)
    x[model.g] = 1
    rows = BendersCuts(model, Separation(max_cuts=2)).separate(x, is_integral=True)
    everything = BendersCuts(model).separate(x, is_integral=True)
    assert len(rows) == 2 < len(everything)


def test_near_pairs() -> None:
    _, instances = random_instances(0, 3)
    first, second = near_pairs(instances, 2)
    assert (first < second).all()
    assert (instances.label[first] != instances.label[second]).all()
    assert (instances.row[first] != instances.row[second]).all()
    assert len(np.unique(first * 1000 + second)) == len(first)
    everything = near_pairs(instances, 1000)
    n = len(instances)
    expected = sum(
        instances.label[i] != instances.label[j] and instances.row[i] != instances.row[j]
        for i in range(n)
        for j in range(i)
    )
    assert len(everything[0]) == expected


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_leaf_weight_cuts(depth) -> None:
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem, instances = random_instances(seed, 2)
        model = BendersOCT(instances, depth)
        weights, least = problem.counts.sum(axis=1).astype(float), {1: 14.0, 2: 6.0, 3: 4.0}[depth]
        separator = LeafWeightCuts(model, weights, least)
        other = BendersOCT(instances, depth)
        other.weigh_leaves(weights, least)
        trees = [random_tree_point(model, rng) for _ in range(60)]
        fine = [other.violation(other.encode_heap(*model.decode(t))) <= 1e-9 for t in trees]
        assert any(fine)
        points = [*trees, *(random_fractional_point(model, rng) for _ in range(10))]
        for k, x in enumerate(points):
            rows = separator.separate(x, is_integral=k < len(trees))
            if k < len(trees):
                assert (rows is None) == fine[k]
            if rows is not None:
                found += 1
                assert (rows.violation(x) > 0).all()
                for tree, is_fine in zip(trees, fine, strict=True):
                    assert not is_fine or rows.violation(tree).max() < TOLERANCE
    assert found > 50


def test_forbidden_trees_are_forbidden_one_by_one() -> None:
    rng = np.random.default_rng(0)
    _, instances = random_instances(0, 2)
    model = BendersOCT(instances, 2)
    separator = NoGoodCuts(model, lambda *_: False)
    trees = [random_tree_point(model, rng) for _ in range(100)]
    for tree in trees[:20]:
        assert not separator.allows(tree)
        rows = separator.separate(tree, is_integral=True)
        assert rows.violation(tree) == 1
        for other in trees:
            is_same = model.decode(other) == model.decode(tree)
            assert (rows.violation(other)[0] > 0) == is_same
    broken = trees[0].copy()
    broken[model.p] = 0
    assert separator.separate(broken, is_integral=True) is None
    assert not separator.allows(broken)
