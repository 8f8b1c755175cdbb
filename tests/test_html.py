"""What notebooks show is small, without scripts, and escaped."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import goct
from tests.support.models import HOSTILE, hostile_model, small_model


class Checker(HTMLParser):
    """Counts elements, and sees that they are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def problem(n_rows: int = 60) -> goct.Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n_rows, 4))
    names = [HOSTILE, "b", "c", "d"]
    labels = ["no", HOSTILE]
    y = [labels[k] for k in (X[:, 0] ^ (rng.random(n_rows) < 0.2)).astype(int)]
    return goct.Problem.from_arrays(X, y, pos_label=HOSTILE, feature_names=names)


def shown() -> list[object]:
    data = problem()
    solution = goct.solve(data, "f1", 2)
    nothing = goct.solve(data, "f1", 1, constraints=["recall >= 1", "precision >= 1"])
    front = goct.frontier(data, 2)
    whole = goct.frontier(data, 2, pareto=True)
    path = goct.path(data, "f1", 2)
    return [solution, nothing, solution.tree, path, front, whole, hostile_model()]


@pytest.mark.parametrize("place", range(7))
def test_notebooks(place: int) -> None:
    thing = shown()[place]
    text = thing._repr_html_()  # type: ignore[attr-defined]
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    assert checker.seen <= {"div", "b", "span", "table", "tr", "th", "td"}
    assert len(text) < 20_000
    assert len(repr(thing)) < 200


def test_what_they_say() -> None:
    solution, nothing, tree, path, front, whole, model = shown()
    assert repr(solution).startswith("<Solution OPTIMAL: f1 0.")
    assert repr(nothing).startswith("<Solution INFEASIBLE: f1, bound")
    assert "infeasible" in nothing._repr_html_()  # type: ignore[attr-defined]
    assert repr(path).startswith("<Path of f1 at depth 2: 0 to 3 splits")
    assert repr(front).endswith("complete>")
    assert "points of the Pareto front" in repr(whole)
    assert repr(tree).startswith("<Tree of depth 1 with 2 leaves")
    assert repr(small_model()) == "<Model: accuracy 0.55, feasible, 3 splits>"
    assert "0.75" in model._repr_html_()  # type: ignore[attr-defined]
    assert "Tree of depth" in tree._repr_html_()  # type: ignore[attr-defined]
    assert "and 3 more" in goct._html.html_table(["a"], [[k] for k in range(33)])
