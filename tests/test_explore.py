"""The explorer: the same trees as solve and frontier find, on a page that works."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goct
from goct.binarize.conditions import Above
from goct.constraints import ForbidFeatures
from goct.explore import KNOWN_METRICS, explore
from goct.model import Model, Part, Source, Validation
from goct.report import html
from goct.report.exploration import Exploration
from goct.report.html import report_html, write_report
from goct.solution import Solution
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


def describe(solution: Solution, names: Any = "abcd", source: Source | None = None) -> Model:
    """Return the model of a solution, tested on other rows if these are of two classes."""
    model = Model.from_solution(solution, conditions(names), source=source)
    if len(model.classes) > 2:
        return model
    assert solution.tree is not None
    test = some_data(1, classes=model.classes)
    return replace(model, test=Part.of(solution.tree, test, solution.metric))


FOLDS = Validation("f1", 5, 2, (0.5, 0.6, 0.8, 0.79), (0.1, 0.05, 0.04, 0.03), 0.78, 0.05)


def found(**options: Any) -> Exploration:
    rows = [{"a": a, "b": b, "c": None, "d": 1.0} for a in (0.0, 1.0) for b in (0.0, 1.0)]
    defaults: dict[str, Any] = {"test": some_data(1), "rows": rows, "validation": FOLDS}
    path = goct.path(some_data(0), "f1", 2)
    return explore(path, describe, **{**defaults, **options})


def test_a_learned_tree_that_is_best_at_no_size_is_still_shown() -> None:
    made = goct.path(some_data(0), "f1", 2)
    best = {solution.tree for solution in made}
    front = goct.frontier(some_data(0), 2, pareto=True).pareto or ()
    tree = next(v.tree for v in front if v.tree not in best and v.tree.splits == 3)
    learned = Solution.of_tree(made[-1].task, tree, made[-1].bound)
    shown = explore(made, describe, learned=learned)
    assert shown.models[shown.shown].tree.splits == 3
    assert shown.sizes[shown.start].best == shown.shown


def test_trees_are_those_of_solve_and_frontier() -> None:
    problem, made = some_data(0), found()
    assert made.is_proven
    assert made.start == 2
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
        assert model.validation is not None
        assert model.validation.mean == FOLDS.means[model.validation.splits]
        assert (model.validation.estimate is None) == (size.best != made.shown)
        for place in size.points:
            model = made.models[place]
            assert model.test is not None
            assert model.test.counts == model.tree.node_counts(
                model.problem(_table(some_data(1)), _labels(some_data(1)))
            )


def test_leaves_and_constraints_hold_for_all_trees() -> None:
    problem = some_data(0)
    path = goct.path(problem, "f1", 2, min_samples_leaf=20, constraints=["recall >= 0.8"])
    made = explore(path, describe)
    for size in made.sizes:
        recall = made.models[size.best].confusion()
        assert recall is not None
        assert recall.tp >= 0.8 * recall.n_pos
        front = goct.frontier(problem, 2, max_splits=size.splits, min_samples_leaf=20, pareto=True)
        points = [made.models[place] for place in size.points]
        assert [p.confusion() for p in points] == [v.confusion for v in front.pareto or ()]
        free = goct.solve(problem, "f1", 2, max_splits=size.splits, min_samples_leaf=20)
        for point in points:
            if point is not made.models[size.best]:
                assert point.proof.bound.value == float(free.bound)
    assert "recall &gt;= 0.8" in report_html(made)


def test_a_learned_tree_is_the_one_that_is_shown() -> None:
    problem = some_data(0)
    learned = goct.solve(problem, "f1", 2, split_penalty=0.05)
    made = explore(goct.path(problem, "f1", 2), describe, learned=learned)
    assert made.models[made.shown].tree.splits == (learned.tree.splits if learned.tree else 0)
    assert made.models[made.shown].question.split_penalty == 0.05
    assert made.sizes[made.start].best == made.shown


@pytest.mark.parametrize("limits", [[ForbidFeatures([0])], ["kappa >= 0.1"]])
def test_what_does_not_go_with_operating_points_is_said(limits: list[Any]) -> None:
    made = explore(goct.path(some_data(0), "f1", 2, constraints=limits), describe)
    assert not any(size.points for size in made.sizes)
    assert made.left_out[0].startswith("Operating points are left out")
    assert "Operating points are left out" in report_html(made)


def test_the_page_knows_the_metrics_of_constraints() -> None:
    script = html._read("metrics.js")
    for name in KNOWN_METRICS:
        assert re.search(rf'\b"?{re.escape(name)}"?: ', script), name


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
    problem = some_data(0, classes=("a", "b", "c"))
    made = explore(goct.path(problem, "accuracy", 2, max_splits=2), describe)
    assert [size.splits for size in made.sizes] == [0, 1, 2]
    assert not any(size.points for size in made.sizes)
    text = report_html(made)
    assert 'id="point"' not in text
    assert "CART, training" in text


@pytest.mark.slow
def test_a_hundred_classes_with_names_of_a_thousand_letters() -> None:
    words = ["x" * 1000, "🌲" * 40, "שלום " * 20, HOSTILE, "\u202eevil"]
    classes = tuple(f"{k:03d} {words[k % 5]}" for k in range(100))
    problem = some_data(0, n_rows=400, classes=classes)
    made = explore(goct.path(problem, "accuracy", 2), describe)
    text = report_html(made)
    assert len(text.encode()) < 5_000_000
    assert len(made.sizes) == 4
    assert "and 76 more classes" in text
    assert "60 classes with fewer rows are left out here" in text
    assert "<script>alert" not in text
    assert "\u202e" not in text


@pytest.mark.slow
def test_thirty_one_splits_and_cells_that_are_all_missing() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(3000, 5))
    problem = goct.Problem.from_arrays(X, X.sum(axis=1) % 2 == 0)
    made = explore(
        goct.path(problem, "accuracy", 5, time_limit=20),
        lambda solution: Model.from_solution(solution, conditions("abcde")),
        rows=[dict.fromkeys("abcde")],
        time_limit=1,
    )
    assert made.models[made.shown].tree.n_leaves == 32
    text = report_html(made)
    assert len(text.encode()) < 5_000_000
    assert text.count('<article class="detail"') == 63


def test_one_class_against_the_rest() -> None:
    classes = ("a", "b", "c")
    data = some_data(0, classes=classes)
    problem = goct.Problem.from_arrays(
        np.repeat(data.X, data.counts.sum(axis=1), axis=0), _labels(data), pos_label="b"
    )
    made = explore(goct.path(problem, "f1", 2), describe)
    assert made.is_proven
    assert made.sizes[-1].points
    text = report_html(made)
    assert "not b" in text
    assert ">c</th>" not in text.split("<h2>Confusion matrix")[1].split("<h2>")[0]


def test_a_limit_is_said() -> None:
    made = found(time_limit=1e-6, validation=None)
    assert len(made.sizes) == 4
    assert not any(size.points for size in made.sizes)
    assert made.sizes[made.start].best == made.sizes[-1].best == made.shown


def test_large_pages_leave_out_trees(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = found()
    whole, hulls, sizes, no_rows, alone = made.reduced()
    assert whole is made
    for before, after in zip(made.sizes, hulls.sizes, strict=True):
        old = [made.models[place].tree for place in (*before.hull, before.best)]
        assert [hulls.models[place].tree for place in (*after.points, after.best)] == old
        assert not after.has_front
    n_left_out = len(made.models) - len(hulls.models)
    assert (f"{n_left_out} trees inside the hull" in "".join(hulls.left_out)) == (n_left_out > 0)
    assert len({size.best for size in sizes.sizes}) == len(sizes.models)
    assert not no_rows.rows
    assert [model.tree for model in alone.models] == [made.models[made.shown].tree]
    size = len(report_html(made))
    monkeypatch.setattr("goct.report.html.MAX_BYTES", size - 1)
    smaller = report_html(made)
    assert len(smaller) < size
    assert "left out to keep the page small" in smaller
    monkeypatch.setattr("goct.report.html.MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="the report would have"):
        write_report(made, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_hostile_names_are_only_text() -> None:
    columns = [HOSTILE + name for name in "abcd"]
    problem = some_data(0, classes=("no", HOSTILE))
    made = explore(
        goct.path(problem, "f1", 1),
        lambda solution: describe(solution, columns, Source(HOSTILE, HOSTILE)),
        rows=[dict.fromkeys(columns, HOSTILE)],
    )
    text = report_html(made)
    assert "<script>alert" not in text
    assert json.dumps(HOSTILE)[1:-1] not in text
