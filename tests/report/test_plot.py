from __future__ import annotations

import builtins
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.patches import FancyBboxPatch

import goct
from goct.report.view import view_of, wrapped
from tests.support.models import HOSTILE, random_model, small_model

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.mark.slow
def test_all_nodes_are_drawn_and_none_overlap() -> None:
    model = random_model(np.random.default_rng(1), depth=5, classes=("no", "$yes_{"))
    ax = goct.plot_tree(model)
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.texts]
    assert sum(text in ("no", "$yes_{") for text in texts) >= model.tree.n_leaves
    view = view_of(model)
    places = {(node.depth, node.row) for node in view.nodes}
    assert len(places) == len(view.nodes)
    rows = sorted(node.row for node in view.nodes if node.label is not None)
    assert rows == list(range(view.n_leaves))


def test_solutions_estimators_and_given_axes() -> None:
    import matplotlib.pyplot as plt

    problem = goct.Problem.from_arrays([[0], [1]], ["a", "b"], feature_names=[HOSTILE])
    solution = goct.solve(problem, "accuracy", 1)
    _, ax = plt.subplots()
    assert goct.plot_tree(solution, ax=ax) is ax
    classifier = goct.OptimalTreeClassifier("accuracy", max_depth=1, binarizer="none")
    goct.plot_tree(classifier.fit(np.array([[0], [1]]), ["a", "b"]))
    none = goct.solve(problem, "recall", 0, constraints=["recall >= 1", "precision >= 1"])
    with pytest.raises(ValueError, match="no tree"):
        goct.plot_tree(none)


def test_texts_fit_into_boxes_of_small_axes() -> None:
    import matplotlib.pyplot as plt

    figure, (ax, _) = plt.subplots(1, 2, figsize=(8, 4))
    goct.plot_tree(small_model(), ax=ax)
    figure.canvas.draw()
    widest = max(text.get_window_extent().width for text in ax.texts)
    assert widest <= min(
        box.get_window_extent().width for box in ax.patches if isinstance(box, FancyBboxPatch)
    )


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def fake(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    with pytest.raises(ImportError, match=r"goct\[plot\]"):
        goct.plot_tree(small_model())


def test_long_conditions_are_wrapped() -> None:
    assert wrapped("mean radius > 15.1", 22) == ["mean radius > 15.1"]
    lines = wrapped("a very long column name with many words in it > 3", 22)
    assert len(lines) == 2
    assert lines[-1].endswith("…")
    assert all(len(line) <= 22 for line in wrapped("x" * 100, 22))


def _problem() -> goct.Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(80, 4))
    y = X[:, 0] ^ (rng.random(80) < 0.25)
    return goct.Problem.from_arrays(X, y)


def test_frontier() -> None:
    import matplotlib.pyplot as plt

    problem = _problem()
    found = goct.frontier(problem, 2, pareto=True)
    _, ax = plt.subplots()
    stump = goct.solve(problem, "f1", 1).tree
    assert stump is not None
    assert found.plot(ax, metric="f1", others={"stump": stump}) is ax
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["Pareto front", "ROC hull", "stump"]
    hull = next(line for line in ax.lines if line.get_label() == "ROC hull")
    assert hull.get_xydata().tolist() == [[v.false_positive_rate, v.recall] for v in found.vertices]
    confusion = stump.confusion(problem)
    point = next(line for line in ax.lines if line.get_label() == "stump").get_xydata()[0]
    assert point[1] == pytest.approx(float(confusion.tp / confusion.n_pos))
    assert ax.collections  # the level lines
    plain = goct.frontier(problem, 1, max_splits=1).plot()
    assert plain.get_title("left") == "Trees of depth 1 with at most 1 splits"


def test_progress() -> None:
    import matplotlib.pyplot as plt

    solution = goct.solve(_problem(), "mcc", 3, split_penalty=0.01)
    events = solution.stats["progress"]
    assert all(a.elapsed <= b.elapsed for a, b in pairwise(events))
    assert all(e.objective is None or e.objective <= e.bound for e in events)
    _, ax = plt.subplots()
    assert solution.plot_progress(ax) is ax
    bound, best = (line.get_ydata() for line in ax.lines)
    assert bound[-1] == float(solution.bound)
    assert best[-1] == float(solution.objective or 0)
    assert "penalty" in ax.get_ylabel()
    constant = goct.solve(goct.Problem.from_arrays([[0], [0]], [0, 1]), "accuracy", 1)
    assert len(constant.plot_progress().lines) == 2


def test_a_callback_still_stops_the_search() -> None:
    seen = []

    def stop(progress: goct.Progress) -> bool:
        seen.append(progress)
        return True

    solution = goct.solve(_problem(), "f1", 3, callback=stop)
    assert solution.stats["progress"][:1] == seen[:1]


def test_leaves_have_intervals() -> None:
    texts = [text.get_text() for text in goct.plot_tree(small_model()).texts]
    assert any("%" in text and "right" in text for text in texts)
