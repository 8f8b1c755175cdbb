"""The same optima as pystreed, where it is installed (extra `bench`)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goct import Problem, Status, solve

pystreed = pytest.importorskip("pystreed", reason="pystreed is not installed (extra 'bench')")

NAMES = [
    "anneal",
    "audiology",
    "australian",
    "bank",
    "banknote",
    "breast",
    "breast-wisconsin",
    "car-binary",
    "cleve",
    "compas",
    "corral",
    "diabetes",
    "fico",
    "haberman",
    "heart",
    "hepatitis",
    "HTRU_2",
    "IndiansDiabetes",
    "kr",
    "lymph",
    "messidor",
    "monk1",
    "monk2",
    "monk3",
    "mux6",
    "primary-tumor",
    "promoters",
    "spect",
    "tic",
    "vote",
    "yeast",
]


def fit(task: str, X: np.ndarray, y: np.ndarray, **options: object) -> np.ndarray:
    model = pystreed.STreeDClassifier(task, max_depth=3, max_num_nodes=7, time_limit=120, **options)
    model.fit(X.astype(np.int32), y.astype(np.int32))
    assert model.fit_result.is_optimal()
    return model


@pytest.fixture(params=NAMES)
def data(request, datasets_folder) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(datasets_folder / f"{request.param}.txt.gz", dtype=np.uint8)
    return table[:, 1:], table[:, 0]


def test_accuracy(data) -> None:
    X, y = data
    predicted = fit("accuracy", X, y).predict(X.astype(np.int32))
    solution = solve(Problem.from_arrays(X, y), "accuracy", 3, engine="search")
    assert solution.status is Status.OPTIMAL
    assert solution.value == Fraction(int((predicted == y).sum()), len(y))


def test_accuracy_with_a_price_per_split(data) -> None:
    X, y = data
    model = fit("cost-complex-accuracy", X, y, cost_complexity=0.01)
    predicted = model.predict(X.astype(np.int32))
    splits = model.get_n_leaves() - 1
    theirs = Fraction(int((predicted == y).sum()), len(y)) - Fraction(splits, 100)
    solution = solve(Problem.from_arrays(X, y), "accuracy", 3, split_penalty=0.01, engine="search")
    assert solution.objective == theirs


def test_f1(data) -> None:
    X, y = data
    predicted = fit("f1-score", X, y).predict(X.astype(np.int32))
    tp = int(((predicted == 1) & (y == 1)).sum())
    theirs = Fraction(2 * tp, int((predicted == 1).sum() + (y == 1).sum()))
    solution = solve(Problem.from_arrays(X, y), "f1", 3, engine="search")
    assert solution.value == theirs
