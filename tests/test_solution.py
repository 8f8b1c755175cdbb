from __future__ import annotations

from fractions import Fraction

import pytest

from goct import Exact, Limit, Problem, Solution, Status, Tree, solve
from goct._text import confusion_table, format_exact
from goct.metrics import F1, MCC, Accuracy
from goct.solution import Limits, Progress
from goct.task import Task
from goct.tree import Leaf, Split

PROBLEM = Problem.from_arrays(
    [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]],
    ["ill", "well", "well", "well", "ill"],
    feature_names=["age > 50", "smokes"],
    pos_label="ill",
)
TREE = Tree(Split(0, Leaf(0), Leaf(1)), PROBLEM.classes, PROBLEM.feature_names)


def make(bound: Exact, **changes) -> Solution:
    outcome = {key: changes.pop(key) for key in ("limit", "stats") if key in changes}
    question = {"metric": Accuracy(), "max_depth": 1, "split_penalty": Fraction(1, 100)}
    return Solution.of_tree(Task.read(PROBLEM, **question | changes), TREE, bound, **outcome)


def test_status_follows_from_the_bound() -> None:
    optimal = make(Exact(Fraction(59, 100)), limit=Limit.TIME)
    assert optimal.status is Status.OPTIMAL
    assert optimal.limit is Limit.NONE
    assert optimal.value == Fraction(3, 5)
    assert optimal.gap == 0
    feasible = make(Exact(Fraction(7, 10)), limit=Limit.TIME)
    assert feasible.status is Status.FEASIBLE
    assert feasible.limit is Limit.TIME
    assert feasible.gap == Fraction(11, 100)


def test_trees_and_bounds_from_elsewhere() -> None:
    solution = make(Exact(Fraction(7, 10)), limit=Limit.TIME)
    leaf = Tree(Leaf(1), PROBLEM.classes, PROBLEM.feature_names)  # as good, without a split to pay
    better = solution.improved(leaf)
    assert (better.tree, better.objective, better.bound) == (leaf, Fraction(3, 5), solution.bound)
    assert better.limit is Limit.TIME
    assert better.improved(TREE) is better
    too_deep = Tree(Split(0, Leaf(1), Split(1, Leaf(1), Leaf(0))), TREE.classes, TREE.feature_names)
    assert solution.improved(too_deep) is solution.improved() is solution
    assert better.improved(bound=Exact(Fraction(3, 5))).status is Status.OPTIMAL


def test_a_bound_below_the_objective_is_a_bug_and_raises() -> None:
    with pytest.raises(AssertionError, match="above its bound"):
        make(Exact(Fraction(1, 2)))


def test_summary_of_an_optimal_tree() -> None:
    solution = make(Exact(Fraction(59, 100)), stats={"time": 1.234, "fewest_splits": True})
    assert solution.summary() == (
        "age > 50?\n"
        "├─ no  → ill  (1 of 2 right)\n"
        "└─ yes → well  (2 of 3 right)\n"
        "\n"
        "true \\ predicted  ill  well\n"
        "             ill    1     1\n"
        "            well    1     2\n"
        "\n"
        "accuracy      0.600000  (= 3/5)  on the training data\n"
        "objective     0.590000  (= 59/100)  (minus 0.01 for 1 split)\n"
        "proven bound  0.590000  (= 59/100)\n"
        "status        optimal: no tree of depth 1 over these features is better\n"
        "time          1.23 s"
    )


def test_the_positive_class_is_named() -> None:
    solution = make(F1().evaluate(TREE, PROBLEM), metric=F1(), split_penalty=Fraction(0))
    positive = PROBLEM.classes[PROBLEM.positive]
    assert f"  of {positive!r}, on the training data\n" in solution.summary()


def test_leaves_of_the_rest() -> None:
    problem = Problem.from_arrays([[0], [0], [1], [1]], [1, 2, 8, 2], pos_label=8)
    solution = solve(problem, "f1", 1)
    assert solution.summary().startswith(
        "x0?\n├─ no  → not 8  (2 of 2 right)\n└─ yes → 8  (1 of 2 right)\n"
    )
    assert "true \\ predicted  not 8  8\n" in solution.summary()
    assert "  of 8, on the training data\n" in solution.summary()


def test_whether_fewer_splits_may_be_enough() -> None:
    certain = make(Exact(Fraction(59, 100)), stats={"fewest_splits": True})
    open_ = make(Exact(Fraction(59, 100)))
    assert certain.fewest_splits
    assert not open_.fewest_splits
    assert not make(Exact(1), limit=Limit.TIME, stats={"fewest_splits": True}).fewest_splits
    assert "fewer splits may be as good" in open_.summary()
    assert "fewer splits" not in certain.summary()


def test_progress_while_ties_are_broken() -> None:
    progress = Progress(1.5, Exact(1), Exact(1), 7, breaks_ties=True)
    assert progress.describe() == "     1.5 s  best 1.000000  proven; looking for fewer splits"


def test_summary_of_a_stopped_run() -> None:
    solution = make(Exact(1), limit=Limit.TIME)
    assert "not proven optimal (time limit): at most 0.410000 from the best" in solution.summary()
    solution = make(Exact(1), limit=Limit.INTERRUPTED)
    assert "not proven optimal (interrupted)" in solution.summary()


def test_summary_of_an_irrational_metric() -> None:
    value = MCC().evaluate(TREE, PROBLEM)
    solution = make(value, metric=MCC(), split_penalty=Fraction(0))
    assert solution.status is Status.OPTIMAL
    assert "mcc           0.166667  (= 1/6)" in solution.summary()


def test_summary_without_a_tree() -> None:
    solution = Solution(
        tree=None,
        value=None,
        objective=None,
        bound=Exact(1),
        status=Status.INFEASIBLE,
        limit=Limit.NONE,
        task=Task.read(PROBLEM, Accuracy(), 2, max_splits=3),
    )
    assert solution.gap is None
    assert solution.summary().endswith(
        "infeasible: no tree of depth 2 with at most 3 splits over these features meets the "
        "constraints"
    )


def test_format_exact() -> None:
    assert format_exact(Exact(-7)) == "-7"
    assert format_exact(Exact.sqrt(2)) == "1.414214"
    assert format_exact(Exact(Fraction(10**15, 3 * 10**14 + 1))) == "3.333333"


def test_confusion_table_with_fractions() -> None:
    table = confusion_table([[Fraction(1, 3), 10], [0, 2]], ["a", "long name"])
    assert table.splitlines() == [
        "true \\ predicted         a  long name",
        "               a  0.333333         10",
        "       long name         0          2",
    ]


def test_limits() -> None:
    assert Limits(2.0).after(0.5).time == 1.5
    assert Limits(2.0).after(5).time == 1e-3
    assert Limits().after(5).time is None
    with pytest.raises(ValueError, match="time_limit"):
        Limits(-1)
