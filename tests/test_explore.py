"""The explorer: the same trees as solve and frontier find, on a page that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goct
from goct.binarize.conditions import Above
from goct.explore import Origin, explore
from goct.report.explorer import Exploration, explorer_html, write_explorer
from tests.support.models import HOSTILE

NAMES = ("no", "yes")


def some_data(seed: int, n_rows: int = 80, classes: tuple[Any, ...] = NAMES) -> goct.Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(2, size=(n_rows, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n_rows) < 0.2)) % len(classes)
    return goct.Problem.from_arrays(
        X,
        [classes[k] for k in y],
        classes=classes,
        pos_label=classes[-1] if len(classes) == 2 else None,
    )


def conditions(names: str = "abcd") -> list[Above]:
    return [Above(name, 0.5) for name in names]


def found(**options: Any) -> Exploration:
    defaults: dict[str, Any] = {
        "origin": Origin(conditions()),
        "test": some_data(1),
        "folds": [(some_data(2), some_data(3)), (some_data(3), some_data(2))],
        "rows": [{"a": a, "b": b, "c": None, "d": 1.0} for a in (0.0, 1.0) for b in (0.0, 1.0)],
    }
    return explore(some_data(0), "f1", 2, **{**defaults, **options})


def test_trees_are_those_of_solve_and_frontier() -> None:
    problem, made = some_data(0), found()
    assert made.is_proven
    assert [size.splits for size in made.sizes] == [0, 1, 2, 3]
    for size in made.sizes:
        best = goct.solve(problem, "f1", 2, max_splits=size.splits)
        model = made.models[size.best]
        assert model.train.value is not None
        assert model.train.value.value == float(best.value or 0)
        assert model.proof.status == "optimal"
        front = goct.frontier(problem, 2, max_splits=size.splits, pareto=True)
        points = [made.models[place].confusion() for place in size.points]
        assert points == [vertex.confusion for vertex in front.pareto or ()]
        hull = [made.models[place].confusion() for place in size.hull]
        assert hull == [vertex.confusion for vertex in front.vertices]
        scores = []
        for learn, check in ((2, 3), (3, 2)):
            tree = goct.path(some_data(learn), "f1", 2)[size.splits].tree
            assert tree is not None
            scores.append(float(goct.metrics.get_metric("f1").evaluate(tree, some_data(check))))
        assert size.validation == pytest.approx((np.mean(scores), np.std(scores, ddof=1) / 2**0.5))
        for place in size.points:
            model = made.models[place]
            assert model.test is not None
            assert model.test.counts == model.tree.node_counts(
                model.problem(_table(some_data(1)), _labels(some_data(1)))
            )


def _table(problem: goct.Problem) -> dict[str, list[float]]:
    rows = np.repeat(problem.X, problem.counts.sum(axis=1), axis=0)
    return {name: rows[:, j].astype(float).tolist() for j, name in enumerate("abcd")}


def _labels(problem: goct.Problem) -> list[Any]:
    return [
        problem.classes[k]
        for counts in problem.counts
        for k, n in enumerate(counts)
        for _ in range(n)
    ]


def test_several_classes_have_sizes_only() -> None:
    classes = ("a", "b", "c")
    made = explore(
        some_data(0, classes=classes), "accuracy", 2, origin=Origin(conditions()), max_splits=2
    )
    assert [size.splits for size in made.sizes] == [0, 1, 2]
    assert not any(size.points for size in made.sizes)
    text = explorer_html(made)
    assert 'id="point"' not in text
    assert "CART, training" in text


def test_a_limit_is_said() -> None:
    made = found(time_limit=1e-6, folds=())
    assert len(made.sizes) == 4
    assert all(size.validation is None for size in made.sizes)


def test_large_pages_leave_out_inner_points(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = found()
    hull = made.without_inner_points()
    for before, after in zip(made.sizes, hull.sizes, strict=True):
        old = [made.models[place].tree for place in (*before.hull, before.best)]
        assert [hull.models[place].tree for place in (*after.points, after.best)] == old
        assert not after.has_front
    assert hull.n_left_out == len(made.models) - len(hull.models)
    whole = len(explorer_html(made))
    monkeypatch.setattr("goct.report.explorer.MAX_BYTES", whole - 1)
    smaller = explorer_html(made)
    assert len(smaller) < whole or hull.n_left_out == 0
    monkeypatch.setattr("goct.report.explorer.MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="the page would have"):
        write_explorer(made, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_hostile_names_are_only_text() -> None:
    columns = [HOSTILE + name for name in "abcd"]
    problem = some_data(0, classes=("no", HOSTILE))
    made = explore(
        problem,
        "f1",
        1,
        origin=Origin([Above(name, 0.5) for name in columns], goct.model.Source(HOSTILE, HOSTILE)),
        rows=[dict.fromkeys(columns, HOSTILE)],
    )
    text = explorer_html(made)
    assert "<script>alert" not in text
    assert json.dumps(HOSTILE)[1:-1] not in text
