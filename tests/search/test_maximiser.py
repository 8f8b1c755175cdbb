"""The maximiser of two-class metrics, with an oracle that is a list of trees."""

from __future__ import annotations

from fractions import Fraction

import pytest

from goct.metrics import CustomMetric, FalsePositives, Recall, Shape
from goct.search.maximiser import PlaneMaximiser
from goct.search.ties import break_ties
from tests.support.oracles import setting

CUBE = CustomMetric(lambda tp, _fp, _fn, tn: tp**3 * tn, Shape.MONOTONE, "cube")
METRICS = ["f1", "npv", "mcc", "gmean", "dor", CUBE]


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 40)], ids=["free", "penalty"])
@pytest.mark.parametrize("max_splits", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_tree_is_found_and_proven(seed, metric, penalty, max_splits) -> None:
    made = setting(seed, metric, split_penalty=penalty, max_splits=max_splits)
    trees = [t for _, t in made.oracle.within(made.task.size)]
    best = max(map(made.task.objective, trees))
    maximiser = PlaneMaximiser(made.oracle, made.incumbent, made.plane)
    maximiser.maximise()
    assert made.incumbent.objective == made.incumbent.bound == best
    break_ties(made.incumbent, maximiser.find_tie, splits_are_fewest=maximiser.splits_are_fewest)
    optimal = [tree for tree in trees if made.task.objective(tree) == best]
    fewest = min((tree.splits, tree.depth) for tree in optimal)
    tree = made.incumbent.known.tree
    assert (tree.splits, tree.depth) == fewest


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
@pytest.mark.parametrize("seed", range(4))
def test_constraints(seed, metric) -> None:
    made = setting(seed, metric, [Recall() >= 0.6, FalsePositives() <= 4])
    maximiser = PlaneMaximiser(made.oracle, made.incumbent, made.plane)
    maximiser.maximise()
    assert made.incumbent.objective == made.best
    if made.best is not None:
        assert made.incumbent.bound == made.best
