"""Dinkelbach's method, step by step."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goct import Exact
from goct.plane.dinkelbach import Dinkelbach, _simpler_line
from goct.plane.points import Target
from goct.plane.staircase import Staircase
from tests.support.oracles import Setting, setting

FRACTIONAL = ["f1", "f2", "jaccard", "kappa", "precision", "npv"]


def method(made: Setting) -> Dinkelbach:
    staircase = Staircase(made.plane, made.plane.metric, ())
    return Dinkelbach(made.oracle, made.incumbent, made.plane, staircase, made.task.metric)


@pytest.mark.slow
@pytest.mark.parametrize("metric", FRACTIONAL)
@pytest.mark.parametrize("seed", range(4))
def test_below_every_line_are_the_trees_of_a_better_value(seed: int, metric: str) -> None:
    made = setting(seed, metric)
    asked, ask = [], made.oracle.cheapest

    def watch(a, b, size, **options):
        answer = ask(a, b, size, **options)
        asked.append((a, b, options["cutoff"], answer.tree))
        return answer

    made.oracle.cheapest = watch
    start = made.incumbent.objective
    dinkelbach = method(made)
    found = dinkelbach.maximise(Target(start), made.task.size, lambda v: v)
    values, may_turn = [start], True
    for a, b, cutoff, tree in asked:
        line = dinkelbach._line(values[-1])
        better = [made.plane.value(x, y) > values[-1] for (x, y), _ in made.oracle.trees]
        below = [a * x + b * y < cutoff for (x, y), _ in made.oracle.trees]
        if (a, b, cutoff) == (line.a, line.b, line.cutoff):
            # Below the cutoff are just the trees that are better than the value before.
            assert better == below
        else:
            assert may_turn
            assert better == [
                is_better and is_below for is_better, is_below in zip(better, below, strict=True)
            ]
        assert any(below) == (tree is not None)
        if tree is not None:
            value = made.plane.value(*made.plane.of(tree))
            if value > values[-1]:
                values.append(value)
            else:
                may_turn = False
    assert values == sorted(set(values))
    assert found.bound == values[-1] == made.best


def test_the_top_ends_the_search() -> None:
    made = setting(0, "f1")
    found = method(made).maximise(
        Target(made.incumbent.objective, top=made.best), made.task.size, lambda v: v
    )
    proof = made.oracle.session.calls
    assert found.reached == made.best
    again = setting(0, "f1")
    method(again).maximise(Target(again.incumbent.objective), again.task.size, lambda v: v)
    assert again.oracle.session.calls == proof + 1  # the question that proves it


@pytest.mark.parametrize("seed", range(4))
def test_ties_have_the_fewest_splits(seed: int) -> None:
    made = setting(seed, "f1")
    best = made.best
    fewest = min(t.splits for _, t in made.oracle.trees if made.task.objective(t) == best)
    assert method(made).find_tie(made.oracle, best, made.task.size) is True
    assert made.incumbent.known.tree.splits == fewest


def test_a_value_is_needed() -> None:
    made = setting(0, "f1")
    with pytest.raises(ValueError, match="starts from a value"):
        method(made).maximise(Target(None), made.task.size, lambda v: v)


def test_nothing_is_asked_above_the_perfect_value() -> None:
    made = setting(0, "f1")
    found = method(made).maximise(Target(Exact(1)), made.task.size, lambda v: v)
    assert (found.reached, found.bound, made.oracle.session.calls) == (None, 1, 0)


@given(
    direction=st.tuples(st.integers(1, 3000), st.integers(1, 3000)),
    tree=st.tuples(st.integers(0, 300), st.integers(0, 300)),
    most=st.integers(2, 200),
)
def test_a_simpler_line_has_the_same_points_below_it(direction, tree, most) -> None:
    a, b = direction
    cost = a * tree[0] + b * tree[1]
    x = np.arange(0, max((cost - 1) // a + 1, 1))
    y = (cost - 1 - a * x) // b  # the highest points below the line through the tree
    x, y = x[y >= 0], y[y >= 0]
    if not len(x):
        return
    found = _simpler_line(SimpleNamespace(a=a, b=b), (x, y), tree, most)
    if a + b <= most:
        assert found is None
    if found is not None:
        p, q, cutoff = found
        assert min(p, q) > 0
        assert p + q <= most
        assert max(p * x + q * y) == cutoff - 1
        assert p * tree[0] + q * tree[1] >= cutoff


def test_a_simpler_line_is_found() -> None:
    # Of one step there is much room, so that a direction near the given one is taken.
    found = _simpler_line(
        SimpleNamespace(a=1001, b=999), (np.array([3]), np.array([4])), (9, 9), 50
    )
    assert found == (1, 1, 8)
