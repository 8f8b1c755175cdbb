"""Trees over every threshold of raw columns: against brute force, and against the 0/1 matrix."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import goct
from goct import Limit, Model, OptimalTreeClassifier, Problem, Status, Tree, frontier, solve
from goct.cart import cart_tree
from goct.constraints import FeatureBudget, ForbidFeatures, MaxFeatures, RequireFeatures
from goct.export import export_rules
from goct.features import RankedFeatures, group_ranks
from goct.metrics import Confusion, get_metric
from goct.tree import Leaf, Split
from tests.support.problems import check_stopped
from tests.support.reference import achievable, best
from tests.support.tables import every_question, random_table

TABLES = Path(__file__).parents[2] / "shared" / "tables"
METRICS = ["accuracy", "balanced_accuracy", "f1", "kappa", "mcc", "fowlkes_mallows", "gmean", "dor"]
QUESTIONS = [
    {},
    {"split_penalty": 0.03},
    {"max_splits": 2},
    {"min_leaf_weight": 3},
    {"constraints": "recall >= 0.6"},
    {"constraints": "specificity >= 0.7", "split_penalty": 0.01, "max_splits": 2},
]


def expected_value(X, y, weights, metric, depth, question) -> object:
    """Return the largest objective of all trees over all thresholds, by brute force."""
    answers, _ = every_question(X)
    return best_of(answers, y, weights, metric, depth, question)


def best_of(answers, y, weights, metric, depth, question) -> object:
    n_pos, n_neg = int(weights[y].sum()), int(weights[~y].sum())
    least = question.get("min_leaf_weight", 0)
    points = achievable(answers, y, depth, weights, least)

    def confusion(tp, tn) -> Confusion:
        return Confusion(tp, n_neg - tn, n_pos - tp, tn)

    def meets(tp, tn) -> bool:
        text = question.get("constraints")
        if not isinstance(text, str):
            return True
        name, threshold = text.split(" >= ")
        return get_metric(name).value(confusion(tp, tn)) >= float(threshold)

    return best(
        points,
        lambda tp, tn: get_metric(metric).value(confusion(tp, tn)),
        split_penalty=goct.exact.as_fraction(question.get("split_penalty", 0), "penalty"),
        max_splits=question.get("max_splits"),
        constraint=meets,
    )


def check(seed: int) -> None:
    """Compare a random question about a random table with brute force."""
    X, y, weights = random_table(seed)
    rng = np.random.default_rng(seed + 10**6)
    metric, question = METRICS[rng.integers(len(METRICS))], QUESTIONS[rng.integers(len(QUESTIONS))]
    depth = int(rng.integers(1, 3 if X.shape[1] > 1 else 4))
    problem = Problem.from_columns(X, y, sample_weight=weights)
    found = solve(problem, metric, depth, **question)
    expected = expected_value(X, y, weights, metric, depth, question)
    assert found.objective == expected, (seed, metric, depth, question)
    assert found.status is (Status.INFEASIBLE if expected is None else Status.OPTIMAL)
    if found.tree is not None:
        explicit = problem.explicit()
        assert found.task.on(explicit).objective(found.tree) == expected


@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_the_best_of_all_thresholds() -> None:
    for seed in range(60):
        check(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
@pytest.mark.parametrize("start", range(1000, 4000, 500))
def test_the_best_of_all_thresholds_of_many_tables(start) -> None:
    for seed in range(start, start + 500):
        check(seed)


COLUMN_CONSTRAINTS = {
    "forbid": [ForbidFeatures("x0")],
    "one": [MaxFeatures(1)],
    "budget": [FeatureBudget({"x0": 2, 1: 1, "x2": 1}, 2)],
    "require": [RequireFeatures("x1")],
}


def admitted(name: str, columns: set[int]) -> bool:
    cost = {0: 2, 1: 1, 2: 1}
    match name:
        case "forbid":
            return 0 not in columns
        case "one":
            return len(columns) <= 1
        case "budget":
            return sum(cost[j] for j in columns) <= 2
    return 1 in columns


@pytest.mark.parametrize("name", [n for n in COLUMN_CONSTRAINTS if n != "require"])
@pytest.mark.parametrize("engine", ["search", pytest.param("mip", marks=pytest.mark.slow)])
def test_constraints_are_about_columns(name, engine) -> None:
    seeds = range(15) if engine == "search" else range(8)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (12, 3)).astype(float)
        X[:, 2] = X[:, 0] if seed % 4 == 0 else X[:, 2]
        y, weights = rng.random(12) < 0.5, rng.integers(1, 3, 12)
        y[:2] = [True, False]
        answers, columns = every_question(X)
        expected = max(
            best_of(answers[:, np.isin(columns, chosen)], y, weights, "f1", 2, {})
            for size in range(1, 4)
            for chosen in combinations(range(3), size)
            if admitted(name, set(chosen))
        )
        problem = Problem.from_columns(X, y, sample_weight=weights)
        found = solve(problem, "f1", 2, constraints=COLUMN_CONSTRAINTS[name], engine=engine)
        assert found.status is Status.OPTIMAL
        assert found.objective == expected


def test_a_required_column() -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (10, 2)).astype(float)
        y = np.append([0, 1], rng.integers(0, 2, 8))
        problem = Problem.from_columns(X, y)
        found = solve(problem, "accuracy", 2, constraints=RequireFeatures("x1"))
        matrix = problem.explicit()
        trees = [t.pruned(matrix) for t in all_trees(matrix)]
        asked = [t for t in trees if 1 in problem.columns_of(t.features)]
        metric = get_metric("accuracy")
        assert found.status is Status.OPTIMAL
        assert found.objective == max(metric.evaluate(t, matrix) for t in asked)


def all_trees(problem: Problem) -> list[Tree]:
    """Return all trees of depth two over a few thresholds."""
    leaves = [Leaf(0), Leaf(1)]
    features = range(problem.n_features)
    stumps = [*leaves, *(Split(f, a, b) for f in features for a in leaves for b in leaves)]
    roots = [*stumps, *(Split(f, a, b) for f in features for a in stumps for b in stumps)]
    return [Tree(root, problem.classes, problem.feature_names) for root in roots]


@pytest.mark.parametrize("pareto", [False, True])
@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_the_frontier(pareto) -> None:
    for seed in range(20):
        X, y, _ = random_table(seed, 12)
        problem = Problem.from_columns(X, y)
        found, same = (frontier(p, 2, pareto=pareto) for p in (problem, problem.explicit()))
        assert found.is_complete
        points = achievable(every_question(X)[0], y, 2)
        n_pos = int(y.sum())
        errors = {(n_pos - tp, len(y) - n_pos - tn) for tp, tn, _ in points}
        vertices = found.vertices if found.pareto is None else found.pareto
        got = {(v.confusion.fn, v.confusion.fp) for v in vertices}
        if pareto:
            dominated = {
                p for p in errors for q in errors if q != p and q[0] <= p[0] and q[1] <= p[1]
            }
            assert got == errors - dominated
        assert got <= errors
        assert [v.confusion for v in found.vertices] == [v.confusion for v in same.vertices]


@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_every_threshold_is_the_same_in_both_forms() -> None:
    for seed in range(60):
        X, y, weights = random_table(seed)
        problem = Problem.from_columns(X, y, sample_weight=weights)
        matrix = problem.explicit()
        assert not matrix.has_thresholds
        assert matrix.feature_names == problem.feature_names
        for feature in range(problem.n_features):
            assert np.array_equal(problem.column(feature), matrix.column(feature))
        answers = {tuple(problem.column(f)) for f in range(problem.n_features)}
        assert len({*answers, *(tuple(1 - np.array(a)) for a in answers)}) == 2 * problem.X.shape[1]


@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_restricted_to_some_thresholds() -> None:
    for seed in range(60):
        X, y, weights = random_table(seed)
        problem = Problem.from_columns(X, y, sample_weight=weights)
        rng = np.random.default_rng(seed)
        chosen = np.flatnonzero(rng.random(problem.n_features) < 0.4).tolist()
        parts = problem.restricted(chosen), problem.explicit().restricted(chosen)
        assert parts[0].n_rows == parts[1].n_rows
        for feature in range(problem.n_features):
            tree = Tree(Split(feature, Leaf(0), Leaf(1)), problem.classes, problem.feature_names)
            if feature in chosen:
                assert tree.confusion(parts[0]) == tree.confusion(problem)
            assert tree.confusion(parts[0]) == tree.confusion(parts[1])
        again = parts[0].restricted(chosen[::2]), parts[1].restricted(chosen[::2])
        if problem.n_classes == 2 and chosen:
            for part, same in (parts, again):
                values = [solve(p, "f1", 2).objective for p in (part, same)]
                assert values[0] == values[1]


@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_paths_and_certificates(tmp_path) -> None:
    for seed in range(6):
        X, y, weights = random_table(seed)
        problem = Problem.from_columns(X, y, sample_weight=weights)
        parts = [goct.path(p, "f1", 2) for p in (problem, problem.explicit())]
        assert [s.value for s in parts[0]] == [s.value for s in parts[1]]
        found = solve(problem, "mcc", 2, certificate=tmp_path / "proof")
        assert found.status is Status.OPTIMAL
        assert goct.verify(tmp_path / "proof", problem)


def test_the_model_of_a_solution(tmp_path) -> None:
    frame = load_breast_cancer(as_frame=True)
    solution = solve(Problem.from_columns(frame.data, frame.target), "mcc", 2)
    model = Model.from_solution(solution)
    model.save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json")
    labels = OptimalTreeClassifier("mcc", 2, binarizer="exact").fit(frame.data, frame.target)
    matrix = Confusion.of_matrix(solution.tree.confusion_matrix(solution.problem), 1)
    assert sum(again.predict(frame.data)) == matrix.tp + matrix.fp
    assert labels.solution_.value == solution.value
    assert export_rules(solution) == export_rules(model)
    array = Problem.from_columns(frame.data.to_numpy(), frame.target)
    found = Model.from_solution(solve(array, "mcc", 2))
    assert sum(found.predict(frame.data.to_numpy())) == matrix.tp + matrix.fp
    plain = solve(Problem.from_arrays([[0], [1]], [0, 1]), "accuracy", 1)
    with pytest.raises(TypeError, match=r"use Model\.from_solution\(solution, conditions\)"):
        export_rules(plain)


def test_threads_and_techniques_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)).round(1), rng.random(80) < 0.4
    problem = Problem.from_columns(X, y)
    found = [
        solve(problem, "f1", 3, **options)
        for options in ({}, {"n_jobs": 2}, {"techniques": {"cache": False, "similarity": False}})
    ]
    assert len({solution.value for solution in found}) == 1
    assert all(solution.status is Status.OPTIMAL for solution in found)


def test_a_stop_leaves_a_tree_and_a_bound() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 8)), rng.random(3000) < 0.5
    problem = Problem.from_columns(X, y)
    for metric in ("accuracy", "mcc"):
        found = solve(problem, metric, 4, time_limit=0.3)
        check_stopped(found, Limit.TIME)
        stopped = solve(problem, metric, 4, callback=lambda _: True)
        check_stopped(stopped, Limit.INTERRUPTED)


def test_columns_of_ranks() -> None:
    ranks = [[0, 2, 1, 3], [1, 2, 0, 0], [2, 2, 1, 3], [0, 2, 1, 3]]
    problem = Problem.from_ranks(ranks, [0, 1, 1, 0])
    features = problem.features
    assert isinstance(features, RankedFeatures)
    assert features.ranks.dtype == np.uint16
    assert features.ranks.tolist() == [[0, 1], [1, 0], [2, 1]]  # a constant and a copy are left out
    assert repr(problem) == "Problem(4 samples, 3 distinct rows, 3 of 8 features, classes [0, 1])"
    assert list(problem.feature_names[2:6]) == ["x1 > 0", "x1 > 1", "x2 > 0", "x3 > 0"]
    assert [features.original(k) for k in range(3)] == [0, 1, 4]
    assert [problem.column(f).tolist() for f in (1, 2, 4, 5, 7)] == [
        [0, 0, 1],
        [1, 1, 1],
        [1, 0, 1],
        [1, 0, 1],
        [1, 0, 1],
    ]
    assert problem.columns_of([0, 3, 7]) == {0, 1, 3}
    assert problem.features_of([0, 2]).tolist() == [0, 1, 4]


def test_a_reversed_column_is_a_copy() -> None:
    problem = Problem.from_ranks([[0, 2], [1, 1], [2, 0]], [0, 1, 0])
    assert problem.features.ranks.shape == (3, 1)
    assert [problem.column(f).tolist() for f in range(4)] == [
        [0, 1, 1],
        [0, 0, 1],
        [1, 1, 0],
        [1, 0, 0],
    ]


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    [
        ([[0.5]], {}, "matrix of integers"),
        ([0, 1], {}, "matrix of integers"),
        ([[-1]], {}, "must not be negative"),
        ([[2]], {"sizes": [2]}, "above its largest rank"),
        ([[2]], {"sizes": [3, 3]}, "one number per column"),
        ([[2]], {"feature_names": ["a"]}, "must be 2 names, one per threshold, got 1"),
        ([[2]], {"owner": [1], "columns": ["a"]}, "the number of one of 1 columns"),
        (np.empty((0, 2), dtype=int), {}, "no rows"),
    ],
)
def test_ranks_that_cannot_be_used(ranks, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        Problem.from_ranks(ranks, np.zeros(len(ranks), dtype=int), **options)


def test_many_columns_are_grouped_exactly() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = rng.choice([1, 2, 3, 70_000, 2**31], rng.integers(1, 12))
        ranks = (rng.random((30, len(sizes))) * np.minimum(sizes, 3)).astype(np.uint32)
        first, group = group_ranks(np.asfortranarray(ranks), sizes)
        distinct, expected = np.unique(ranks, axis=0, return_inverse=True)
        assert np.array_equal(ranks[first], distinct)
        assert np.array_equal(group, expected.ravel())


@pytest.mark.parametrize("metric", ["gmean", "f1"])
def test_fronts_of_thresholds_need_no_matrix(metric, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.random(60) < 0.4
    problem, constraint = Problem.from_columns(X, y), "recall >= 0.7"
    best = solve(problem.explicit(), metric, 2, constraints=constraint)
    front = frontier(problem.explicit(), 2, pareto=True)
    monkeypatch.setattr("goct._validation.EXPLICIT_BYTES", 1000)
    problem = Problem.from_columns(X, y)
    found = solve(problem, metric, 2, constraints=constraint)
    assert found.status is Status.OPTIMAL
    assert found.objective == best.objective
    over_ranks = frontier(problem, 2, pareto=True)
    assert over_ranks.is_complete
    assert [v.confusion for v in over_ranks.pareto] == [v.confusion for v in front.pareto]


def test_some_thresholds_are_spread_over_the_rows() -> None:
    values = np.arange(100)
    columns = np.stack([values, -values, values % 2, np.ones(100)], axis=1)
    features = Problem.from_columns(columns, values > 20).features
    shares = [features.column(int(f)).mean() for f in features.spread(3)]
    assert shares == pytest.approx([0.75, 0.5, 0.25, 0.5], abs=0.02)
    assert len(features.spread(1000)) == features.n_kept


def test_a_matrix_that_is_too_large_is_refused() -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_columns(rng.normal(size=(40_000, 2)), rng.integers(0, 2, 40_000))
    with pytest.raises(ValueError, match=r"40000 rows and 79998 conditions would take 3\.0 GB"):
        problem.explicit()


@pytest.mark.filterwarnings("ignore::goct.exceptions.BinarizationWarning")
def test_cart_cuts_anywhere_too() -> None:
    for seed in range(30):
        X, y, weights = random_table(seed)
        problem = Problem.from_columns(X, y, sample_weight=weights)
        tree = cart_tree(problem, 2)
        best_tree = solve(problem, "accuracy", 2)
        assert get_metric("accuracy").evaluate(tree, problem) <= best_tree.value
        if problem.features.n_kept:
            assert tree.splits > 0 or best_tree.value == max(problem.n_pos, problem.n_neg)


@pytest.mark.slow
def test_breast_cancer_has_nine_errors_at_depth_three() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    problem = Problem.from_columns(X, y)
    found = solve(problem, "accuracy", 2)
    assert found.status is Status.OPTIMAL
    assert len(y) * (1 - found.value) == 22
    found = solve(problem, "accuracy", 3)
    assert found.status is Status.OPTIMAL
    assert len(y) * (1 - found.value) == 9
    assert "over all thresholds of these columns is better" in found.summary()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["raisin", "bank", "recidivism", "segment"])
def test_real_tables(name) -> None:
    path = TABLES / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    table = pd.read_csv(path)
    y = table.pop("two_year_recid" if name == "recidivism" else "label")
    problem = Problem.from_columns(table, y)
    for metric in ("accuracy", "balanced_accuracy"):
        found, same = (solve(p, metric, 2) for p in (problem, problem.explicit()))
        assert found.status is same.status is Status.OPTIMAL
        assert found.objective == same.objective
