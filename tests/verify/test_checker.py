"""The checker accepts what is proven, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct import Problem, solve
from goct.exact import Exact
from goct.metrics import METRICS, Confusion
from goct.verify import RejectedError, checker, data_of
from goct.verify.checker import Number, check_certificate
from tests.support.certificates import (
    FAMILIES,
    MUTATED,
    certified,
    header_mutants,
    is_true,
    mutants,
    problem_of,
    read_certificate,
    write_certificate,
)
from tests.support.problems import random_problem
from tests.support.reference import achievable


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, bytes]]:
    folder = tmp_path_factory.mktemp("certificates")
    made = {}
    for name in MUTATED:
        problem, _ = certified(FAMILIES[name], folder / "proof.gct")
        made[name] = data_of(problem), (folder / "proof.gct").read_bytes()
    return made


@pytest.mark.parametrize("name", MUTATED)
def test_no_mutant_proves_anything_else(
    name: str, certificates: dict[str, tuple[Any, bytes]]
) -> None:
    data, content = certificates[name]
    known = check_certificate(content, data)
    rejected = harmless = 0
    for _, mutant in mutants(content, np.random.default_rng(0), 60):
        try:
            verdict = check_certificate(mutant, data)
        except RejectedError:
            rejected += 1
        else:
            # A fact was made weaker, or taken away, that the conclusion does not need; or something
            # else is claimed that is true as well, such as a larger bound.
            same = {*verdict.statement.split("\n")} == {known.statement}  # once, or twice
            assert same or is_true(mutant, verdict, FAMILIES[name])
            harmless += 1
    assert rejected > harmless


@pytest.mark.parametrize("name", MUTATED)
def test_no_mutant_of_a_header_is_accepted(
    name: str, certificates: dict[str, tuple[Any, bytes]]
) -> None:
    data, content = certificates[name]
    known = check_certificate(content, data)
    for what, mutant in header_mutants(read_certificate(content)).items():
        try:
            verdict = check_certificate(write_certificate(mutant), data)
        except RejectedError:
            continue
        # The proof had room for another direction.
        assert what.startswith("question"), what
        assert verdict == known


def test_a_proof_is_about_its_data(certificates: dict[str, tuple[Any, bytes]]) -> None:
    _, content = certificates["f1"]
    lines = read_certificate(content)
    other = data_of(problem_of({}, seed=1))
    with pytest.raises(RejectedError, match="other data"):
        check_certificate(content, other)
    lines[0]["data"]["digest"] = other.digest()
    with pytest.raises(RejectedError):
        check_certificate(write_certificate(lines), other)


def test_a_feature_more_than_the_proof_knows(certificates: dict[str, tuple[Any, bytes]]) -> None:
    data, content = certificates["f1"]
    lines = read_certificate(content)
    best = data.counts[:, 1] > data.counts[:, 0]  # a column that separates the classes
    wider = replace(data, ranks=np.vstack([data.ranks, best]), owners=(*data.owners, 8))
    lines[0]["data"] |= {"digest": wider.digest(), "owners": list(wider.owners)}
    with pytest.raises(RejectedError, match="may cost less"):
        check_certificate(write_certificate(lines), wider)


def test_facts_about_heavy_leaves_say_nothing_about_similar_rows(
    certificates: dict[str, tuple[Any, bytes]],
) -> None:
    data, content = certificates["heavy leaves"]
    lines = read_certificate(content)
    assert any(line[3] for line in lines if isinstance(line, list))
    for line in lines:
        if isinstance(line, list):
            line[3] = 0
    with pytest.raises(RejectedError, match="may cost less"):
        check_certificate(write_certificate(lines), data)


@pytest.mark.parametrize("cut", [0, 15, 30, 200, -1])
def test_damaged_files(cut: int, certificates: dict[str, tuple[Any, bytes]]) -> None:
    data, content = certificates["f1"]
    with pytest.raises(RejectedError, match=r"damaged|no certificate"):
        check_certificate(content[:cut], data)
    if cut > 0:
        broken = content[:cut] + bytes([content[cut] ^ 1]) + content[cut + 1 :]
        with pytest.raises(RejectedError):
            check_certificate(broken, data)


OPTIONS = {
    "f1": ("f_beta", {"beta": Fraction(1)}),
    "f2": ("f_beta", {"beta": Fraction(2)}),
    "f0.5": ("f_beta", {"beta": Fraction(1, 2)}),
    "class_cost": ("class_cost", {"false_negative": Fraction(1), "false_positive": Fraction(1)}),
    "dor": ("dor", {"upper": Fraction(1000)}),
    "dor_smoothed": ("dor_smoothed", {"epsilon": Fraction(1)}),
}


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"instance_cost"}))
def test_the_checkers_metrics_are_those_of_the_package(name: str) -> None:
    known, options = OPTIONS.get(name, (name, {}))
    ours = ((Fraction(1), known, options),)
    metric, unit = METRICS[name](), Fraction(1, 3)
    rises, falls = (
        checker.rises(one, [4 * unit, 3 * unit], 1) for one in (ours, checker.negative(ours))
    )
    assert (rises, falls) == (metric.is_monotone, metric.is_antitone)
    for tp in range(4):
        for tn in range(5):
            exact = metric.value(Confusion(*(unit * n for n in (tp, 4 - tn, 3 - tp, tn))))
            value = _value(ours, tp, tn, unit)
            assert (value + _number(exact) * Fraction(-1)).sign() == 0
            for worse in ((tp - 1, tn), (tp, tn - 1)):
                if min(worse) >= 0 and rises:
                    assert _value(ours, *worse, unit) <= value
                if min(worse) >= 0 and falls:
                    assert value <= _value(ours, *worse, unit)


def _value(metric: checker.Metric, tp: int, tn: int, unit: Fraction) -> Number:
    cells = [[unit * tn, unit * (4 - tn)], [unit * (3 - tp), unit * tp]]
    return checker.evaluate(metric, cells, 1)


def _number(value: Exact) -> Number:
    rational, roots = value.terms
    return Number.of(rational) + Number(tuple(c * abs(c) * m for c, m in roots))


@pytest.mark.parametrize("seed", range(25))
def test_points_above_a_line_against_brute_force(seed: int) -> None:
    X, y, weights, depth = random_problem(seed)
    least, direction = [0, 3][seed % 2], (2 + seed % 3, 1 + seed % 5)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    data = data_of(problem)
    table = np.stack([data.counts[:, 1] * direction[0], data.counts[:, 0] * direction[1]], axis=1)
    costs = checker.Costs(data, table, 0, data.counts.sum(axis=1), least)
    question = costs, np.array(direction), data.counts[:, ::-1].T
    most = [2**depth - 1, 1, 2, 4][seed % 4]
    points = {
        (int(problem.n_pos) - tp, int(problem.n_neg) - tn)
        for tp, tn, splits in achievable(X, y, depth, weights, min_leaf=least)
        if splits <= most
    }
    cheapest = min((fn * direction[0] + fp * direction[1] for fn, fp in points), default=0)
    for limit in (cheapest - 1, cheapest, cheapest + 3, cheapest + 9, 10**6):
        front = checker.Front(question, np.ones(problem.n_rows, dtype=bool), depth)
        found = front.points(limit - int(costs.base.sum()), most)
        cheap = {p for p in points if p[0] * direction[0] + p[1] * direction[1] <= limit}
        best = {
            p for p in cheap if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in cheap)
        }
        if sum(data.counts.sum(axis=1)) >= least:
            assert set(map(tuple, found.tolist())) == best


def test_numbers_compare_like_exact_ones() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        squares = [Fraction(int(rng.integers(-40, 40)), int(rng.integers(1, 9))) for _ in range(3)]
        shift = Fraction(int(rng.integers(-9, 9)), 4)
        ours = Number((squares[0],)) + Number((squares[1],)) * Fraction(-2) + Number.of(shift)
        exact = Exact.signed_sqrt(squares[0]) - Exact.signed_sqrt(squares[1]) * 2 + shift
        assert ours.sign() == exact.sign()
    two = Number((Fraction(8),)) + Number((Fraction(2),)) * Fraction(-2)
    assert two.sign() == 0


@pytest.mark.parametrize("name", sorted({*checker.STRAIGHT, *checker.LINEAR} - {"cost_matrix"}))
def test_on_a_line_the_ends_decide(name: str) -> None:
    rng = np.random.default_rng(0)
    options = {key: Fraction(2) for key in checker.OPTIONS.get(name, ())}
    metric = ((Fraction(1), name, options),)
    assert checker.is_straight(metric)
    for _ in range(100):
        n_pos, n_neg = map(int, rng.integers(1, 5, 2))
        ends = [
            [Fraction(int(rng.integers(0, 4 * n + 1)), 4) for n in (n_pos, n_neg)] for _ in range(2)
        ]
        values = [
            checker.evaluate(metric, [[n_neg - fp, fp], [fn, n_pos - fn]], 1)
            for part in (Fraction(0), Fraction(1), Fraction(1, 3), Fraction(5, 6))
            for fn, fp in [[a + part * (b - a) for a, b in zip(*ends, strict=True)]]
        ]
        falls = (ends[0][0] - ends[1][0]) * (ends[0][1] - ends[1][1]) < 0
        for value in values[2:] if falls else ():
            assert value <= values[0] or value <= values[1]


@pytest.mark.parametrize("metric", ["f1", "kappa", "precision", "mcc", "gmean", "accuracy"])
@pytest.mark.parametrize("seed", range(8))
def test_many_corners_at_once_are_as_good_as_each(metric: str, seed: int, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(seed), tmp_path / "proof.gct"
    X, weights = rng.integers(0, 2, (12, 3)), rng.integers(1, 200, 12)
    problem = Problem.from_arrays(X, rng.integers(0, 2, 12), sample_weight=weights, classes=[0, 1])
    solve(problem, metric, 2, constraints=["recall >= 0.1"], certificate=path)
    lines, data = read_certificate(path.read_bytes()), data_of(problem)
    verdict = check_certificate(path.read_bytes(), data)
    assert verdict.bound is not None
    (claim,) = lines[-1]["claims"]
    less = Fraction(verdict.bound) - Fraction(1, 10**9)
    for tree in (claim["tree"], None):
        lines[-1]["claims"] = [claim | {"tree": tree, "status": "bound", "bound": [str(less**2)]}]
        with pytest.raises(RejectedError, match="may exist"):
            check_certificate(write_certificate(lines), data)


def test_the_checker_runs_alone(tmp_path: Path) -> None:
    problem, _ = certified(FAMILIES["f1"], tmp_path / "proof.gct")
    rows = np.repeat(np.arange(problem.n_rows), problem.counts.sum(axis=1))
    labels = np.concatenate([np.repeat([0, 1], row) for row in problem.counts])
    lines = [",".join([*(f"x{j}" for j in range(8)), "y"])]
    full = data_of(problem).ranks.T
    lines += [",".join(map(str, [*full[r], k])) for r, k in zip(rows, labels, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    shutil.copy(checker.__file__, tmp_path / "checker.py")
    command = [sys.executable, "-I", "checker.py", "proof.gct", "table.csv"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("VERIFIED: no tree of depth 3 over 8 columns")
    (tmp_path / "table.csv").write_text("\n".join(lines[:-1]))
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "REJECTED: the certificate is about other data" in result.stdout


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (3, 0), (2, 1)])
def test_no_column_splits_nothing(shape: tuple[int, int]) -> None:
    assert checker.distinct_columns(np.ones(shape, dtype=np.uint8)).tolist() == []


def test_a_column_and_its_complement_are_one() -> None:
    columns = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 0, 1]], dtype=np.uint8)
    kept = checker.distinct_columns(columns).tolist()
    assert len(kept) == 2
    assert 3 in kept
