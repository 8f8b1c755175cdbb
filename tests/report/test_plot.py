from __future__ import annotations

import builtins

import matplotlib
import numpy as np
import pytest

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
