"""Metrics of two classes where there are more."""

from __future__ import annotations

import numpy as np
import pytest

from goct import Problem, Status, frontier, path, solve
from goct.constraints import RequireFeatures
from goct.metrics import F1, MCC, Accuracy, GMean, Recall, Specificity, get_metric
from goct.one_vs_rest import against_rest, name_the_rest
from goct.tree import Leaf, Split, Tree

COLOURS = np.array(["blue", "green", "red", "yellow"])


def random_problem(seed: int, *, pos_label: str | None = "green") -> tuple[Problem, Problem]:
    """Return a problem with four classes, and the same with green against the rest."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (50, 6))
    y = COLOURS[rng.integers(0, 4, 50)]
    weights = rng.integers(1, 5, 50)
    problem = Problem.from_arrays(X, y, pos_label=pos_label, sample_weight=weights)
    return problem, Problem.from_arrays(X, y == "green", sample_weight=weights)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "metric",
    [F1(), MCC(), GMean(), Recall(), Specificity(), Accuracy() + F1(), Accuracy() + Recall()],
    ids=lambda m: m.name,
)
def test_the_positive_class_stands_against_the_rest(seed, metric) -> None:
    problem, binary = random_problem(seed)
    solution, expected = solve(problem, metric, 2), solve(binary, metric, 2)
    assert solution.status is Status.OPTIMAL
    assert solution.value == expected.value
    assert solution.tree.classes == problem.classes
    assert solution.tree.confusion(problem) == expected.tree.confusion(binary)
    assert metric.evaluate(solution.tree, problem) == expected.value


def test_multi_class_metrics_see_all_classes() -> None:
    problem, binary = random_problem(0)
    for metric in ("accuracy", "balanced_accuracy"):
        assert solve(problem, metric, 2).value < solve(binary, metric, 2).value


def test_constraints() -> None:
    problem, binary = random_problem(1)
    solution = solve(problem, "f1", 2, constraints=[Recall() >= 0.8])
    assert solution.value == solve(binary, "f1", 2, constraints=[Recall() >= 0.8]).value
    assert "infeasible" in solve(problem, "f1", 1, constraints=["recall >= 1", "fp <= 0"]).summary()
    with pytest.raises(ValueError, match="for two classes only"):
        solve(problem, "accuracy", 2, constraints=[Recall() >= 0.8], engine="search")


def test_constraints_on_all_classes_are_refused() -> None:
    problem, _ = random_problem(1)
    with pytest.raises(ValueError, match="is about all classes, while 'f1' is about 'green'"):
        solve(problem, "f1", 2, constraints=["balanced_accuracy >= 0.7"])


def test_required_columns_are_refused() -> None:
    """A split may tell two classes of the rest apart, which makes no difference to the metric."""
    problem, _ = random_problem(1)
    need = RequireFeatures("x3")
    for ask in (solve, path):
        with pytest.raises(ValueError, match="about 'green' against the rest; make one class of"):
            ask(problem, "f1", 2, constraints=[need])
    assert need.is_met(solve(problem, "accuracy", 1, constraints=[need]).tree, problem)


def test_the_rest_gets_its_most_frequent_class() -> None:
    X = [[0], [0], [0], [1], [1]]
    problem = Problem.from_arrays(X, ["a", "b", "b", "c", "d"], pos_label="c")
    binary = against_rest(problem)
    assert binary.counts.tolist() == [[3, 0], [1, 1]]
    tree = Tree(Split(0, Leaf(0), Leaf(0)), binary.classes, binary.feature_names)
    assert name_the_rest(tree, problem).root == Split(0, Leaf(1), Leaf(3))


def test_without_a_positive_class_they_are_refused() -> None:
    problem, _ = random_problem(0, pos_label=None)
    with pytest.raises(ValueError, match="name the positive one with pos_label"):
        solve(problem, "f1", 2)
    with pytest.raises(ValueError, match="averages over classes, such as macro-F1"):
        get_metric("macro_f1")


@pytest.mark.parametrize("pareto", [False, True])
def test_the_frontier_of_a_class_against_the_rest(pareto: bool) -> None:
    problem, binary = random_problem(2)
    found, expected = (frontier(p, 2, pareto=pareto) for p in (problem, binary))
    points = found.vertices if found.pareto is None else found.pareto
    wanted = expected.vertices if expected.pareto is None else expected.pareto
    assert [v.confusion for v in points] == [v.confusion for v in wanted]
    for vertex in points:
        assert vertex.tree.classes == problem.classes
        assert vertex.tree.confusion(problem) == vertex.confusion
    assert found.best("f1").confusion == expected.best("f1").confusion
    assert found.best("f1").confusion.tp == solve(problem, "f1", 2).tree.confusion(problem).tp
    assert found.for_prevalence(0.3).confusion == expected.for_prevalence(0.3).confusion
    with pytest.raises(ValueError, match=r"'accuracy' is about all classes.*'green' against"):
        found.best("accuracy")
    if pareto:
        assert found.best("f1", ["recall >= 0.8"]).confusion == (
            expected.best("f1", ["recall >= 0.8"]).confusion
        )
        with pytest.raises(ValueError, match="about all classes"):
            found.best("f1", ["balanced_accuracy >= 0.5"])
    with pytest.raises(ValueError, match="name the positive one with pos_label"):
        frontier(random_problem(2, pos_label=None)[0], 2)
