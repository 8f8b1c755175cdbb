"""Certificates of the search engine, for every family of metrics and every kind of task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goct
from goct import Solution, Status, certificate
from goct.binarize import Binarizer
from goct.constraints import RequireFeatures
from goct.exceptions import CertificateWarning
from goct.metrics import CustomMetric, Shape
from goct.plane.oracle import Proven
from goct.verify import RejectedError
from tests.support.certificates import (
    FAMILIES,
    certified,
    problem_of,
    read_certificate,
    write_certificate,
)
from tests.support.problems import large_problem

INSIDE = {"penalised mcc"}
"""The best point may be inside the hull, where lines prove less."""


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family(name: str, tmp_path: Path) -> None:
    path = tmp_path / "proof.gct"
    problem, solution = certified(FAMILIES[name], path)
    verdict = goct.verify(path, problem)
    assert solution.certificate is not None
    assert solution.certificate.size == path.stat().st_size
    if solution.certificate.proves == "less":
        assert name in INSIDE
        assert verdict.bound >= solution.bound
        return
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
    if solution.certificate.proves == "less":
        assert name in INSIDE
        return
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
        # The proof does not come out: the certificate is about a larger bound, and says so.
        written = certificate.write(path, broken, proven)
        assert written.proves == "less"
        assert goct.verify(path, problem).bound >= float(solution.objective) - 1e-12
        # With the claim of the broken search it is no proof.
        header, proofs = read_certificate(path.read_bytes())
        header["status"] = "optimal"
        with pytest.raises(RejectedError):
            goct.verify(write_certificate(header, proofs), problem)


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
    assert "that uses columns 0" in str(goct.verify(path, problem))
    header, proofs = read_certificate(path.read_bytes())
    unused = next(c for c in range(8) if c not in problem.columns_of(solution.tree.features))
    other = {**header, "task": {**header["task"], "required": [unused]}}
    with pytest.raises(RejectedError, match="that it must"):
        goct.verify(write_certificate(other, proofs), problem)


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
    assert f"hull of {len(found.vertices)} listed ones" in str(goct.verify(path, problem))
    header, proofs = read_certificate(path.read_bytes())
    assert len(proofs) > 1
    fewer = {**header, "trees": [header["trees"][0], header["trees"][-1]]}
    without = {**header, "questions": header["questions"][1:]}
    for changed, kept in ((fewer, proofs), (without, proofs[1:])):
        with pytest.raises(RejectedError, match="may exist"):
            goct.verify(write_certificate(changed, kept), problem)


@pytest.mark.parametrize("name", ["accuracy", "several classes", "f1", "mcc", "heavy leaves"])
def test_a_path(name: str, tmp_path: Path) -> None:
    options = dict(FAMILIES[name])
    problem, file = problem_of(options), tmp_path / "proof.gct"
    options.pop("classes", None)
    found = goct.path(problem, max_depth=3, max_splits=5, certificate=file, **options)
    assert found.certificate is not None
    assert "than those listed" in str(goct.verify(file, problem))
    header, proofs = read_certificate(file.read_bytes())
    best = max(k for k in range(6) if found[k].value > found[k - 1].value)
    trees = list(header["trees"])
    trees[best] = trees[best - 1]
    with pytest.raises(RejectedError):
        goct.verify(write_certificate({**header, "trees": trees}, proofs), problem)
    with pytest.raises(RejectedError, match="a size is missing"):
        goct.verify(write_certificate({**header, "trees": trees[:-1]}, proofs), problem)
