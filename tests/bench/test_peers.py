from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct.bench.peers import SOLVERS, Question, Unsupported, get_solver


def question(
    metric: str = "f1",
    penalty: str = "0",
    classes: int = 2,
    depth: int | None = 2,
    **options: object,
) -> Question:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 4), dtype=np.uint8)
    y = (X[:, 0] + (classes > 2) * X[:, 1]).astype(np.int64)
    return Question(X, y, metric, depth, Fraction(penalty), 5.0, 0, options)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_says_what_it_is(name: str) -> None:
    solver = get_solver(name)
    assert isinstance(solver.is_installed, bool)
    assert not solver.is_installed or solver.version


@pytest.mark.parametrize(
    ("name", "asked", "why"),
    [
        ("streed", question("mcc"), "does not maximise mcc"),
        ("streed", question("f1", "0.1"), "no penalty per split with f1"),
        ("streed", question("f1", classes=3), "two classes only"),
        ("streed", question("accuracy", "0.1", classes=3), None),
        ("dl85", question("accuracy", "0.1"), "no penalty"),
        ("gosdt", question("accuracy"), "needs a penalty"),
        ("odtlearn", question("f1"), "does not maximise f1"),
        ("search", question("gmean", "0.1"), None),
        ("search", question("gmean", "0.1", depth=None), None),
        ("dl85", question("accuracy", depth=None), "needs a limit on depth"),
        ("licketysplit", question("accuracy", "0.1", depth=None), "needs a limit on depth"),
        ("licketysplit", question("f1"), "does not maximise f1"),
        ("pytrees-lds", question("accuracy", "0.1"), "no penalty"),
        ("fast-small-tree", question("accuracy", "0.1"), "takes no limit on depth"),
        ("fast-small-tree", question("accuracy", depth=None), "needs a penalty"),
        ("gosdt", question("accuracy", "0.1", depth=None), None),
        ("streed", question("accuracy", "0.1", depth=None), None),
    ],
)
def test_refusals(name: str, asked: Question, why: str | None) -> None:
    refusal = get_solver(name).refusal(asked)
    assert refusal is None if why is None else why in (refusal or "")


def test_unknown_solvers() -> None:
    with pytest.raises(ValueError, match="unknown solver 'nobody'"):
        get_solver("nobody")
    with pytest.raises(TypeError, match="is no"):
        get_solver("builtins:dict")


@pytest.mark.parametrize("name", ["search", "cart"])
def test_answers(name: str) -> None:
    asked = question("accuracy")
    answer = get_solver(name).fit(asked)
    assert answer.predict is not None
    assert (answer.predict(asked.X) == asked.y).all()
    assert answer.splits == 1


@pytest.mark.parametrize("name", ["thresholds", "contree"])
def test_numbers_are_cut_anywhere(name: str) -> None:
    if name == "contree":
        pytest.importorskip("pycontree")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = ((X[:, 0] > 0.1) & (X[:, 1] > -0.2)).astype(np.int64)
    answer = get_solver(name).fit(Question(X, y, "accuracy", 2, Fraction(0), 20.0, 0, {}))
    assert answer.is_proven
    assert answer.predict is not None
    assert (answer.predict(X) == y).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "penalty", "depth"),
    [
        ("fast-small-tree", "0.01", None),
        ("streed", "0.01", None),
        ("gosdt", "0.01", None),
        ("search", "0.01", None),
        ("licketysplit", "0.01", 3),
        ("praxis", "0.01", 3),
        ("pytrees-lds", "0", 3),
        ("paced", "0.01", 3),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_rivals_of_sparse_and_deep_trees(name: str, penalty: str, depth: int | None) -> None:
    solver = get_solver(name)
    if not solver.is_installed:
        pytest.skip(f"{solver.distribution} is not installed")
    asked = question("accuracy", penalty, depth=depth)
    assert solver.refusal(asked) is None
    solver.load()
    answer = solver.fit(asked)
    assert answer.predict is not None
    assert (answer.predict(asked.X) == asked.y).all()
    assert answer.splits is not None
    assert 1 <= answer.splits <= (7 if penalty == "0" else 1)
    assert answer.claimed in (None, pytest.approx(1))


def test_cart_gives_a_tree_for_each_penalty() -> None:
    answer = get_solver("cart").fit(question(penalties=["0", "1"]))
    assert [(tree.penalty, tree.splits) for tree in answer.path] == [("0", 1), ("1", 0)]


def test_unknown_options_are_unsupported() -> None:
    with pytest.raises(Unsupported, match="no option 'nonsense'"):
        get_solver("search").fit(question(nonsense=1))
