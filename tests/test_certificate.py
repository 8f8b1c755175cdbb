"""Certificates of the search engine, for every family of metrics and every kind of task."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goct
from goct import Solution, Status, certificate
from goct.binarize import Binarizer
from goct.constraints import MaxFeatures, RequireFeatures
from goct.exceptions import BinarizationWarning, CertificateWarning
from goct.metrics import CustomMetric, Shape, get_metric
from goct.metrics.catalogue import CostMatrix
from goct.plane.oracle import Proven
from goct.verify import RejectedError
from tests.support.certificates import (
    FAMILIES,
    certified,
    problem_of,
    read_certificate,
    write_certificate,
)
from tests.support.claims import OWN, attempt
from tests.support.problems import large_problem


def test_an_interrupted_run_begins_no_proof(tmp_path: Path) -> None:
    path = tmp_path / "proof.gct"
    with pytest.warns(CertificateWarning, match="no certificate was written: interrupted"):
        solution = goct.solve(large_problem(), "f1", 5, callback=lambda _: True, certificate=path)
    assert solution.tree is not None
    assert solution.certificate is None
    assert not path.exists()


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family(name: str, tmp_path: Path) -> None:
    path = tmp_path / "proof.gct"
    problem, solution = certified(FAMILIES[name], path)
    verdict = goct.verify(path, problem)
    assert solution.certificate is not None
    assert solution.certificate.size == path.stat().st_size
    assert solution.certificate.proves == "all"
    if name == "infeasible":
        assert solution.status is Status.INFEASIBLE
        assert verdict.bound is None
        return
    assert solution.status is Status.OPTIMAL
    assert verdict.bound == pytest.approx(float(solution.bound), abs=1e-12)
    assert "than this one" in str(verdict)
    assert solution.certificate.digest[:16] in solution.summary()


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_at_depth_four(name: str, tmp_path: Path) -> None:
    if "max_depth" in FAMILIES[name]:
        pytest.skip("this family has a depth of its own")
    path = tmp_path / "proof.gct"
    problem, solution = certified(FAMILIES[name], path, max_depth=4)
    verdict = goct.verify(path, problem)
    assert solution.certificate is not None
    assert solution.certificate.proves == "all"
    assert (verdict.bound is None) == (solution.status is Status.INFEASIBLE)


def test_a_stopped_run(tmp_path: Path) -> None:
    problem, path = large_problem(), tmp_path / "proof.gct"
    solution = goct.solve(problem, "f1", max_depth=5, time_limit=0.2, certificate=path)
    assert solution.status is Status.FEASIBLE
    verdict = goct.verify(path, problem)
    assert verdict.bound == pytest.approx(float(solution.bound))
    assert verdict.objective == pytest.approx(float(solution.objective))


@pytest.mark.parametrize(
    "name", ["accuracy", "f1", "mcc", "gmean", "penalised accuracy", "heavy leaves"]
)
def test_a_broken_search_is_caught(name: str, tmp_path: Path) -> None:
    path = tmp_path / "proof.gct"
    problem, solution = certified(FAMILIES[name], path)
    assert solution.tree is not None
    task = solution.task
    # A search with a bound off by one stops at a tree that is almost the best.
    worse = goct.solve(problem, task.metric, max_depth=1, engine="search").tree
    objective = task.objective(worse)
    assert objective < solution.objective
    broken = replace(
        solution,
        tree=worse,
        value=task.metric.evaluate(worse, problem),
        objective=objective,
        bound=objective,
        certificate=None,
    )
    for proven in ((), [Proven(1, 1, 0, task.size, (10**6,))]):
        # The proof does not come out: the certificate is about a larger bound, and says so; or the
        # checker, which lists points inside the hull itself, finds a better one.
        written = certificate.write(path, broken, proven)
        if written.proves == "all":
            assert name in ("mcc", "gmean")
            with pytest.raises(RejectedError, match="better trees with"):
                goct.verify(path, problem)
            continue
        assert written.proves == "less"
        assert goct.verify(path, problem).bound >= float(solution.objective) - 1e-12
        # With the claim of the broken search it is no proof.
        lines = read_certificate(path.read_bytes())
        lines[-1]["claims"][0]["status"] = "optimal"
        with pytest.raises(RejectedError):
            goct.verify(write_certificate(lines), problem)


def test_no_tree_is_heavy_enough(tmp_path: Path) -> None:
    problem = problem_of({})
    path = tmp_path / "proof.gct"
    solution = goct.solve(problem, "f1", min_leaf_weight=1000, certificate=path)
    assert solution.status is Status.INFEASIBLE
    assert "meets the limits" in str(goct.verify(path, problem))


def test_a_metric_of_ones_own(tmp_path: Path) -> None:
    problem, path = problem_of({}), tmp_path / "proof.gct"
    metric = CustomMetric(lambda tp, _fp, _fn, tn: 2 * tp + tn, Shape.QUASICONVEX, "own")
    goct.solve(problem, metric, 2, certificate=path)
    with pytest.raises(RejectedError, match="hand it over"):
        goct.verify(path, problem)
    assert "as its author says" in str(goct.verify(path, problem, metric=metric))
    other = CustomMetric(lambda tp, _fp, _fn, tn: tp + 9 * tn, Shape.QUASICONVEX, "own")
    with pytest.raises(RejectedError):
        goct.verify(path, problem, metric=other)


def test_arrays_instead_of_a_problem(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (50, 5)), rng.integers(0, 2, 50)
    path = tmp_path / "proof.gct"
    goct.solve(goct.Problem.from_arrays(X, y), "mcc", 2, certificate=path)
    assert goct.verify(path, (X, y)).facts > 0
    with pytest.raises(RejectedError, match="other data"):
        goct.verify(path, (X, 1 - y))


def test_the_mip_engine_has_no_proof(tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    problem, path = problem_of({}), tmp_path / "proof.gct"
    solution = goct.solve(
        problem, "accuracy", 1, engine="mip", search_bound=False, certificate=path
    )
    assert solution.certificate is not None
    assert solution.certificate.proves == "nothing"
    assert "cannot be checked" in solution.summary()
    with pytest.raises(RejectedError, match="floats of a mixed-integer solver"):
        goct.verify(path, problem)


COSTS = CostMatrix([[0, 5], [1, 0]])


@pytest.mark.parametrize(
    ("metric", "constraints"),
    [
        (COSTS, ["recall >= 0.5"]),
        ("f1", [COSTS >= -100, "recall >= 0.5"]),
        (get_metric("accuracy") - Fraction(1, 9) * get_metric("recall"), ["recall >= 0.5"]),
        (OWN, [OWN >= 20]),
        ("f1", ["fp <= 40%", "fn <= 60%"]),
        ("accuracy", ["tp >= 30%", "tn >= 30%"]),
    ],
)
def test_the_checker_follows_what_the_engine_knows(
    metric: Any, constraints: list[Any], tmp_path: Path
) -> None:
    problem, path = problem_of({}), tmp_path / "proof.gct"
    solution = goct.solve(problem, metric, 2, constraints=constraints, certificate=path)
    assert solution.certificate is not None
    assert solution.certificate.proves == "all"
    own = metric if metric is OWN else None
    assert "than this one" in str(goct.verify(path, problem, metric=own))


def test_what_a_model_finds_infeasible_has_no_proof(tmp_path: Path) -> None:
    pytest.importorskip("pyscipopt")
    problem, path = problem_of({}), tmp_path / "proof.gct"
    constraints = ["predicted_positives <= 2", "true_positives >= 3"]
    solution = goct.solve(problem, "f1", 1, constraints=constraints, certificate=path)
    assert solution.status is Status.INFEASIBLE
    assert solution.stats["proof"] == "mip"
    assert solution.certificate is not None
    assert solution.certificate.proves == "nothing"


def test_weights_that_are_too_fine(tmp_path: Path) -> None:
    X, y, path = [[0], [1], [0], [1]], [0, 1, 1, 1], tmp_path / "proof.gct"
    fine = goct.Problem.from_arrays(X, y, sample_weight=np.sqrt([2, 3, 5, 7]))
    with pytest.warns(CertificateWarning, match="too fine to check; round them"):
        assert goct.solve(fine, "f1", 1, certificate=path).certificate is None
    assert not path.exists()
    # Large ones are not, if only few sums of them are possible.
    large = goct.Problem.from_arrays(X, y, sample_weight=[7, 10**9, 10**9, 10**9])
    goct.solve(large, "f1", 1, certificate=path)
    assert "than this one" in str(goct.verify(path, large))


def test_two_functions_of_ones_own(tmp_path: Path) -> None:
    problem, path = problem_of({}), tmp_path / "proof.gct"
    other = CustomMetric(lambda tp, _fp, _fn, tn: tp + tn, Shape.QUASICONVEX, "other")
    with pytest.warns(CertificateWarning, match="several functions"):
        assert goct.solve(problem, OWN + other, 1, certificate=path).certificate is None


@pytest.mark.parametrize("limit", ["LONGEST", "MOST_UNPACKED"])
def test_the_checker_would_take_it_for_a_bomb(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, path = problem_of({}), tmp_path / "proof.gct"
    monkeypatch.setattr(certificate.checker, limit, {"LONGEST": 100}.get(limit, -(10**4)))
    with pytest.warns(CertificateWarning, match="no certificate was written: .* checker"):
        goct.solve(problem, "f1", 2, certificate=path)
    assert not path.exists()


@pytest.mark.parametrize("seed", range(40))
def test_random_questions(seed: int, tmp_path: Path) -> None:
    what, wrong = attempt(seed, tmp_path / "proof.gct", n_mutants=5)
    assert not wrong, (what, wrong)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_many_random_questions(seed: int, tmp_path: Path) -> None:
    what, wrong = attempt(seed, tmp_path / "proof.gct", n_mutants=20)
    assert not wrong, (what, wrong)


def test_a_solution_survives_without_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, path = problem_of({}), tmp_path / "proof.gct"
    monkeypatch.setattr(certificate._core, "prove", lambda *_: None)  # as after Ctrl-C
    with pytest.warns(CertificateWarning, match="interrupted"):
        solution = goct.solve(problem, "f1", 2, certificate=path)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate is None
    assert not path.exists()


def test_every_threshold_of_a_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 2)).round(2)
    y = (X[:, 0] > X[:, 1]).astype(int)
    problem = goct.Problem.from_columns(X, y, binarizer=Binarizer("exact").fit(X, y))
    assert problem.has_thresholds
    solution = goct.solve(problem, "mcc", 2, certificate=tmp_path / "proof.gct")
    assert solution.certificate is not None
    assert solution.certificate.proves == "all"
    assert "VERIFIED" in str(goct.verify(tmp_path / "proof.gct", problem))


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_a_column_that_only_models_can_require(metric: str, tmp_path: Path) -> None:
    pytest.importorskip("highspy")
    problem, path = problem_of({}), tmp_path / "proof.gct"
    required = [RequireFeatures(problem.column_names[0])]
    solution = goct.solve(problem, metric, 2, constraints=required, certificate=path)
    assert solution.stats["proof"] == "search"  # whose best tree uses it anyway
    # No tree at all is better, whatever columns it uses.
    assert "no tree of depth 2 over 8 columns has a larger" in str(goct.verify(path, problem))


def test_time_and_memory_limit_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, path = large_problem(), tmp_path / "proof.gct"
    solution = goct.solve(problem, "accuracy", 3)
    for limits in ({"time_limit": 0.0}, {}):
        if not limits:
            monkeypatch.setattr(certificate, "MEMORY_LIMIT", 2000)
        written = certificate.write(path, solution, (), **limits)
        verdict = goct.verify(path, problem)
        assert written.proves == "less"
        assert verdict.bound > float(solution.bound)
        assert verdict.objective == pytest.approx(float(solution.objective))


def test_errors_come_before_any_work(tmp_path: Path) -> None:
    problem = problem_of({})
    with pytest.raises(ValueError, match="no folder"):
        goct.solve(problem, certificate=tmp_path / "nowhere" / "proof.gct")


def random_options(rng: np.random.Generator) -> dict[str, Any]:
    names = [name for name in FAMILIES if "max_depth" not in FAMILIES[name]]
    return FAMILIES[names[rng.integers(len(names))]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_random_problems(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    options = dict(random_options(rng))
    n_classes = options.pop("classes", 2)
    n, path = int(rng.integers(10, 60)), tmp_path / "proof.gct"
    X, y = rng.integers(0, 2, (n, int(rng.integers(3, 9)))), rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    costs = rng.integers(0, 9, (n, n_classes)) if options.pop("costs", False) else None
    weights = rng.integers(0, 4, n) + (np.arange(n) < 3) if options.pop("weights", False) else None
    problem = goct.Problem.from_arrays(X, y, costs=costs, sample_weight=weights, pos_label=1)
    if options.pop("thresholds", False):
        X = rng.integers(0, 6, (n, 3))
        binarizer = Binarizer("exact").fit(X, y)
        problem = goct.Problem.from_columns(X, y, binarizer=binarizer, pos_label=1)
    solution: Solution = goct.solve(
        problem, max_depth=int(rng.integers(1, 5)), engine="search", certificate=path, **options
    )
    verdict = goct.verify(path, problem)
    if solution.tree is not None:
        assert verdict.objective == pytest.approx(float(solution.objective), abs=1e-12)


def test_the_estimator_writes_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((80, 3))
    y, path = (X[:, 0] > X[:, 1]).astype(int), tmp_path / "proof.gct"
    model = goct.OptimalTreeClassifier("f1", max_depth=2, certificate=path).fit(X, y)
    assert model.solution_.certificate.proves == "all"
    assert "VERIFIED" in str(goct.verify(path, model.solution_.problem))


@pytest.mark.parametrize("options", [{}, {"max_splits": 4}, {"min_leaf_weight": 8}])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_frontier(options: dict[str, Any], classes: int, tmp_path: Path) -> None:
    problem, path = problem_of({"classes": classes}), tmp_path / "proof.gct"
    found = goct.frontier(problem, 3, certificate=path, **options)
    assert found.certificate is not None
    lines = read_certificate(path.read_bytes())
    claims = lines[-1]["claims"]
    assert len(claims) == len(found.vertices) > 2
    # One line for each vertex: no tree is cheaper at the prices of the edge that begins there.
    assert str(goct.verify(path, problem)).count("has a larger class_cost(") == len(claims)
    for i, claim in enumerate(claims):
        worse = {**claim, "tree": claims[i - 2]["tree"]}
        unproven = {**claim, "cover": claims[i - 2]["cover"]}
        for changed in (worse, unproven):
            with pytest.raises(RejectedError, match="room for better trees"):
                goct.verify(write_certificate([*lines[:-1], {"claims": [changed]}]), problem)


def test_a_frontier_of_one_point(tmp_path: Path) -> None:
    problem = goct.Problem.from_arrays([[0], [1]], [0, 1], pos_label=1)
    goct.frontier(problem, 1, certificate=tmp_path / "proof.gct")
    verdict = goct.verify(tmp_path / "proof.gct", problem)
    costs = "class_cost(false_negative=1, false_positive=1) for 1"
    assert f"has a larger {costs} than this one" in str(verdict)


@pytest.mark.parametrize(
    "name", ["accuracy", "several classes", "f1", "mcc", "heavy leaves", "gmean", "constraint"]
)
def test_a_path(name: str, tmp_path: Path) -> None:
    options = dict(FAMILIES[name])
    problem, file = problem_of(options), tmp_path / "proof.gct"
    options.pop("classes", None)
    found = goct.path(problem, max_depth=3, max_splits=5, certificate=file, **options)
    assert found.certificate is not None
    text = str(goct.verify(file, problem))
    assert all(f"with at most {k} splits" in text for k in range(6))
    assert text.count("than this one") == 6
    lines = read_certificate(file.read_bytes())
    best = max(k for k in range(1, 6) if found[k].value > found[k - 1].value)
    claims = lines[-1]["claims"]
    claims[best]["tree"] = claims[best - 1]["tree"]
    with pytest.raises(RejectedError):
        goct.verify(write_certificate(lines), problem)


def test_a_path_over_few_columns_has_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="limited set of columns"):
        goct.path(
            problem_of({}), max_depth=2, constraints=[MaxFeatures(1)], certificate=tmp_path / "x"
        )


def test_no_condition(tmp_path: Path) -> None:
    X, y, path = np.ones((6, 1)), np.array([0, 1, 0, 1, 1, 0]), tmp_path / "proof.gct"
    with pytest.warns(BinarizationWarning):
        binarizer = Binarizer("exact").fit(X, y)
    problem = goct.Problem.from_columns(X, y, binarizer=binarizer, pos_label=1)
    for metric in ("accuracy", "f1"):
        goct.solve(problem, metric, 2, certificate=path)
        assert "over 0 columns" in str(goct.verify(path, problem))


INSIDE = [
    {"metric": "fowlkes_mallows", "max_splits": 1, "min_leaf_weight": 3, "split_penalty": 0.003},
    {"metric": "gmean", "max_splits": 2, "min_leaf_weight": 3, "split_penalty": 0.003},
    {"metric": "balanced_accuracy", "constraints": ["f1 >= 0.7"], "split_penalty": 0.05},
    {"metric": "dor_smoothed", "max_splits": 3},
]


@pytest.mark.parametrize("options", INSIDE)
@pytest.mark.parametrize("seed", range(6))
def test_penalties_and_budgets_inside_the_hull(
    options: dict[str, Any], seed: int, tmp_path: Path
) -> None:
    rng, path = np.random.default_rng(seed), tmp_path / "proof.gct"
    X, y = rng.integers(0, 2, (12, 4)), rng.integers(0, 2, 12)
    y[:2] = 0, 1
    problem = goct.Problem.from_arrays(X, y, pos_label=1)
    solution = goct.solve(problem, max_depth=2, engine="search", certificate=path, **options)
    assert solution.certificate is not None
    assert solution.certificate.proves == "all"
    assert goct.verify(path, problem).objective == (
        None if solution.tree is None else pytest.approx(float(solution.objective))
    )


def test_what_is_known_of_a_budget_says_nothing_of_larger_trees(tmp_path: Path) -> None:
    rows = [
        "10110",
        "10111",
        "10111",
        "00011",
        "01101",
        "01111",
        "00001",
        "00000",
        "10111",
        "00011",
    ]
    X, y, path = (
        np.array([list(map(int, row)) for row in rows]),
        [1, 1, 0, 0, 0, 1, 1, 0, 1, 1],
        tmp_path / "proof.gct",
    )
    problem = goct.Problem.from_arrays(X, y, sample_weight=[7, 7, 7, 2, 2, 7, 1, 3, 3, 1])
    solution = goct.solve(
        problem,
        "mcc",
        2,
        max_splits=2,
        split_penalty=0.01,
        constraints=["f1 >= 0.2"],
        certificate=path,
    )
    assert solution.certificate is not None
    assert solution.certificate.proves == "all"
    assert goct.verify(path, problem).objective == pytest.approx(float(solution.objective))
