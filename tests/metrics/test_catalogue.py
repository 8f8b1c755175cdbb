"""Exact values, degenerate cases and shapes of the catalogue."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from goct import Exact, Problem, Tree, solve
from goct.metrics import (
    F1,
    MCC,
    METRICS,
    Accuracy,
    BalancedAccuracy,
    BoundedDOR,
    ClassCost,
    CohenKappa,
    Confusion,
    CostMatrix,
    CustomMetric,
    FalseNegatives,
    FalsePositives,
    FBeta,
    FowlkesMallows,
    FractionalMetric,
    GMean,
    InstanceCost,
    Jaccard,
    Metric,
    NegativePredictiveValue,
    Precision,
    PredictedPositives,
    Recall,
    Shape,
    SmoothedDOR,
    Specificity,
    YoudenJ,
    get_metric,
)
from goct.metrics.registry import USUAL
from goct.tree import Leaf, Split

counts = st.integers(0, 12)
confusions = st.builds(Confusion, counts, counts, counts, counts).filter(lambda c: c.total > 0)

OF_CONFUSION = [make() for name, make in METRICS.items() if name != "instance_cost"]
OF_CONFUSION += [FBeta(3), FBeta(0.25), ClassCost(5, 1), ClassCost(0.5, 2), BoundedDOR(7)]
OF_CONFUSION += [SmoothedDOR(0.25), 0.5 * F1() + 0.5 * Accuracy(), 0.3 * MCC() + 0.7 * GMean()]
OF_CONFUSION += [2 * F1() - 0.01 * FalsePositives()]


def labels(c: Confusion) -> tuple[np.ndarray, np.ndarray]:
    truth = [1] * c.tp + [0] * c.fp + [1] * c.fn + [0] * c.tn
    predicted = [1] * c.tp + [1] * c.fp + [0] * c.fn + [0] * c.tn
    return np.array(truth), np.array(predicted)


SKLEARN = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "f1": lambda t, p: sk.f1_score(t, p, zero_division=0),
    "f2": lambda t, p: sk.fbeta_score(t, p, beta=2, zero_division=0),
    "f0.5": lambda t, p: sk.fbeta_score(t, p, beta=0.5, zero_division=0),
    "jaccard": lambda t, p: sk.jaccard_score(t, p, zero_division=0),
    "precision": lambda t, p: sk.precision_score(t, p, zero_division=0),
    "recall": lambda t, p: sk.recall_score(t, p, zero_division=0),
    "specificity": lambda t, p: sk.recall_score(t, p, pos_label=0, zero_division=0),
    "npv": lambda t, p: sk.precision_score(t, p, pos_label=0, zero_division=0),
    "mcc": sk.matthews_corrcoef,
    "kappa": lambda t, p: np.nan_to_num(sk.cohen_kappa_score(t, p)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SKLEARN)
@given(c=confusions)
def test_values_are_those_of_scikit_learn(name, c) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = SKLEARN[name](*labels(c))
    assert float(get_metric(name).value(c)) == pytest.approx(expected, abs=1e-12)


@given(c=confusions)
def test_values_of_the_other_metrics(c) -> None:
    recall, specificity = (float(m.value(c)) for m in (Recall(), Specificity()))
    precision = float(Precision().value(c))
    assert float(GMean().value(c)) == pytest.approx(math.sqrt(recall * specificity))
    assert float(FowlkesMallows().value(c)) == pytest.approx(math.sqrt(recall * precision))
    assert float(YoudenJ().value(c)) == pytest.approx(recall + specificity - 1)
    assert ClassCost(5, Fraction(1, 3)).value(c) == -(5 * c.fn + Fraction(c.fp, 3))
    smooth = Fraction(c.tp * c.tn) / (c.fp * c.fn + Fraction(1, 2))
    assert SmoothedDOR(0.5).value(c) == smooth


@pytest.mark.parametrize(
    ("c", "expected"),
    [
        (Confusion(0, 0, 5, 5), 0),  # nothing predicted positive
        (Confusion(5, 5, 0, 0), 0),  # nothing predicted negative
        (Confusion(5, 0, 0, 5), 7),  # perfect
        (Confusion(4, 0, 1, 5), 7),  # no false positive
        (Confusion(4, 1, 1, 4), 7),  # 16, above the bound
        (Confusion(4, 2, 2, 4), 4),
    ],
)
def test_bounded_dor(c, expected) -> None:
    assert BoundedDOR(7).value(c) == expected


@pytest.mark.parametrize("metric", OF_CONFUSION, ids=lambda m: m.name)
def test_metrics_are_defined_everywhere(metric) -> None:
    for entries in product([0, 1, 3], repeat=4):
        assert isinstance(metric.value(Confusion(*entries)), Exact)


@pytest.mark.slow
@pytest.mark.parametrize("metric", OF_CONFUSION, ids=lambda m: m.name)
@pytest.mark.parametrize(("n_pos", "n_neg"), [(6, 6), (3, 9), (9, 3), (1, 7), (0, 5), (5, 0)])
def test_metrics_are_as_monotone_as_they_say(metric, n_pos, n_neg) -> None:
    for sign in (1, -1):
        if not (metric.is_monotone if sign == 1 else metric.is_antitone):
            continue

        def value(tp: int, tn: int, sign: int = sign) -> Exact:
            return metric.value(Confusion(tp, n_neg - tn, n_pos - tp, tn)) * sign

        for tp, tn in product(range(n_pos + 1), range(n_neg + 1)):
            if tp < n_pos:
                assert value(tp, tn) <= value(tp + 1, tn)
            if tn < n_neg:
                assert value(tp, tn) <= value(tp, tn + 1)


def test_only_counts_of_errors_and_alarms_are_not_monotone() -> None:
    others = {m.name for m in OF_CONFUSION if not m.is_monotone}
    assert others == {"false_positives", "false_negatives", "predicted_positives"}
    assert FalsePositives().is_antitone
    assert FalseNegatives().is_antitone
    assert not PredictedPositives().is_antitone
    assert (-FalsePositives()).is_monotone
    assert not (F1() + FalsePositives()).is_monotone


@pytest.mark.slow
@pytest.mark.parametrize("metric", OF_CONFUSION, ids=lambda m: m.name)
@given(data=st.data())
def test_approximations_are_close(metric, data) -> None:
    n_pos, n_neg = data.draw(st.integers(0, 10**6)), data.draw(st.integers(0, 10**6))
    unit = data.draw(st.sampled_from([Fraction(1), Fraction(1, 3)]))
    tp = data.draw(st.lists(st.integers(0, n_pos), min_size=1, max_size=5))
    tn = data.draw(st.lists(st.integers(0, n_neg), min_size=len(tp), max_size=len(tp)))
    exact = [
        float(metric.value(Confusion(unit * a, unit * (n_neg - b), unit * (n_pos - a), unit * b)))
        for a, b in zip(tp, tn, strict=True)
    ]
    p, n = np.array(tp), np.array(tn)
    floats = metric.approximate(p, n_neg - n, n_pos - p, n, unit)
    assert floats == pytest.approx(exact, rel=1e-9, abs=1e-9)


@given(data=st.data())
def test_custom_metrics_have_approximations_too(data) -> None:
    cells = [np.array(data.draw(st.lists(counts, min_size=3, max_size=3))) for _ in range(4)]
    metric = CustomMetric(lambda tp, fp, _fn, tn: tp * tn - fp, Shape.GENERAL)
    tp, fp, _, tn = cells
    assert metric.approximate(*cells).tolist() == (tp * tn - fp).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    [m for m in OF_CONFUSION if m.shape in (Shape.LINEAR, Shape.FRACTIONAL, Shape.QUASICONVEX)],
    ids=lambda m: m.name,
)
@given(data=st.data())
def test_hull_theorem(metric, data) -> None:
    """The best of any set of trees with the constant ones is a vertex of the hull."""
    n_pos, n_neg = data.draw(st.integers(1, 15)), data.draw(st.integers(1, 15))
    point = st.tuples(st.integers(0, n_pos), st.integers(0, n_neg))
    points = {(0, n_neg), (n_pos, 0), *data.draw(st.lists(point, max_size=12))}

    def value(p: tuple[int, int]) -> Exact:
        return metric.value(Confusion(p[0], n_neg - p[1], n_pos - p[0], p[1]))

    def supported(p: tuple[int, int]) -> bool:
        # p maximises a*TP + b*TN for some a, b >= 0: the directions towards all others leave room.
        directions = [(1, 0), (0, 1)]
        directions += [(abs(p[1] - q[1]), abs(p[0] - q[0])) for q in points if q != p]
        return any(
            all(a * p[0] + b * p[1] >= a * q[0] + b * q[1] for q in points) for a, b in directions
        )

    best = max(map(value, points))
    assert max(value(p) for p in points if supported(p)) == best


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric", [m for m in OF_CONFUSION if isinstance(m, FractionalMetric)], ids=lambda m: m.name
)
@given(c=confusions)
def test_denominators_are_not_negative(metric, c) -> None:
    numerator, denominator = metric.fraction(c.n_pos, c.n_neg)
    assert denominator(c.tp, c.tn) >= 0
    if denominator(c.tp, c.tn) == 0:
        assert metric.value(c) == 0
    else:
        assert metric.value(c) * denominator(c.tp, c.tn) == numerator(c.tp, c.tn)


def test_shapes() -> None:
    shapes = {name: make().shape for name, make in METRICS.items()}
    linear = {"accuracy", "balanced_accuracy", "class_cost", "instance_cost", "recall"}
    linear |= {"specificity", "youden", "true_positives", "true_negatives", "false_positives"}
    linear |= {"false_negatives", "predicted_positives"}
    fractional = {"f1", "f2", "f0.5", "jaccard", "precision", "npv", "kappa"}
    for name, shape in shapes.items():
        if name in linear:
            assert shape is Shape.LINEAR
        elif name in fractional:
            assert shape is Shape.FRACTIONAL
        elif name in ("mcc", "fowlkes_mallows"):
            assert shape is Shape.QUASICONVEX
        else:
            assert shape is Shape.MONOTONE


def test_values_are_exact() -> None:
    assert F1().value(Confusion(2, 1, 1, 5)) == Fraction(2, 3)
    assert MCC().value(Confusion(1, 1, 1, 2)) == Exact(Fraction(1, 6))
    big = 10**9
    smaller, larger = Confusion(big, 1, 1, big), Confusion(big, 0, 1, big + 1)
    assert MCC().value(smaller) < MCC().value(larger)


@pytest.mark.slow
@given(
    data=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, 5)), min_size=1),
    label=st.sampled_from([0, 1]),
)
def test_evaluate_on_a_problem_equals_the_value_of_its_confusion(data, label) -> None:
    x, y, w = (np.array(column) for column in zip(*data, strict=True))
    problem = Problem.from_arrays(x[:, None], y, pos_label=label, sample_weight=w / 2)
    if problem.n_classes < 2:
        return
    tree = Tree(Split(0, Leaf(0), Leaf(1)), problem.classes, problem.feature_names)
    truth, guess = y == label, x == label
    half = [Fraction(int(w[m].sum()), 2) for m in (truth & guess, ~truth & guess, truth & ~guess)]
    tn = Fraction(int(w.sum()), 2) - sum(half)
    for metric in OF_CONFUSION:
        assert metric.evaluate(tree, problem) == metric.value(Confusion(*half, tn))


def test_accuracy_and_balanced_accuracy_with_three_classes() -> None:
    problem = Problem.from_arrays([[0], [0], [1], [1], [1]], ["a", "b", "c", "c", "b"])
    tree = Tree(Split(0, Leaf(0), Leaf(2)), problem.classes, problem.feature_names)
    assert Accuracy().evaluate(tree, problem) == Fraction(3, 5)
    assert BalancedAccuracy().evaluate(tree, problem) == Fraction(2, 3)
    assert (Accuracy() + 2 * BalancedAccuracy()).evaluate(tree, problem) == Fraction(29, 15)
    costs = CostMatrix([[0, 9, 9], [1, 0, 4], [9, 9, 0.5]])
    assert costs.evaluate(tree, problem) == -(1 + 4 + Fraction(1, 2) * 2)
    with pytest.raises(ValueError, match=r"two classes.*pos_label"):
        F1().evaluate(tree, problem)


@pytest.mark.parametrize(
    "metric",
    [ClassCost(5, 1), ClassCost(0.3, Fraction(1, 3)), ClassCost(), BoundedDOR(0.5), SmoothedDOR(7)],
)
def test_the_name_tells_the_parameters(metric: Metric) -> None:
    c = Confusion(tp=1, fp=2, fn=3, tn=4)
    assert get_metric(metric.name).value(c) == metric.value(c)


def test_class_cost_is_a_cost_matrix() -> None:
    problem = Problem.from_arrays([[0], [0], [1], [1], [1]], [0, 1, 1, 1, 0])
    tree = Tree(Split(0, Leaf(0), Leaf(1)), problem.classes, problem.feature_names)
    assert ClassCost(3, 2).evaluate(tree, problem) == -5
    assert CostMatrix([[0, 2], [3, 0]]).evaluate(tree, problem) == -5


def test_instance_costs() -> None:
    X, y = [[0], [0], [1]], [0, 1, 1]
    tree = Tree(Split(0, Leaf(0), Leaf(1)), (0, 1), ("x0",))
    problem = Problem.from_arrays(X, y, costs=[1, 0.1, 5], sample_weight=[1, 3, 1])
    assert InstanceCost().evaluate(tree, problem) == -Fraction(3, 10)
    with pytest.raises(ValueError, match="costs"):
        InstanceCost().evaluate(tree, Problem.from_arrays(X, y))
    with pytest.raises(TypeError, match="samples"):
        InstanceCost().value(Confusion(1, 1, 1, 1))


def test_combinations() -> None:
    c = Confusion(3, 1, 2, 4)
    metric = 0.5 * F1() + Accuracy() / 2 - 0.1 * MCC()
    expected = F1().value(c) / 2 + Accuracy().value(c) / 2 - MCC().value(c) / 10
    assert metric.value(c) == expected
    assert metric.shape is Shape.GENERAL
    assert (F1() + GMean()).shape is Shape.MONOTONE
    assert (2 * MCC()).shape is Shape.QUASICONVEX
    assert (2 * F1()).shape is Shape.QUASICONVEX
    assert (Recall() + Specificity()).shape is Shape.LINEAR
    assert (F1() + F1()).terms == ((2, F1()),)
    assert F1() + Accuracy() == Accuracy() + F1()
    assert (0.5 * F1() + 0.5 * Accuracy()).name == "0.5*f1 + 0.5*accuracy"
    assert (F1() - Accuracy() * 0.5).name == "f1 - 0.5*accuracy"
    assert (-F1()).name == "- f1"
    assert sum([F1(), Accuracy()]) == F1() + Accuracy()
    with pytest.raises(ZeroDivisionError, match="metric"):
        F1() / 0
    with pytest.raises(TypeError):
        F1() + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        F1() * "2"  # type: ignore[operator]


def test_nothing_is_a_combination() -> None:
    nothing = F1() - F1()
    assert nothing.shape is Shape.LINEAR
    assert nothing.quasiconvex_from is None


def test_combination_with_instance_costs_is_not_monotone() -> None:
    assert (F1() + InstanceCost()).shape is Shape.GENERAL
    assert CostMatrix([[0, 1], [1, 0]]).is_monotone
    assert not CostMatrix([[2, 1], [1, 0]]).is_monotone


def test_custom_metric() -> None:
    lift = CustomMetric(lambda tp, fp, *_: Fraction(tp, tp + fp + 1), Shape.MONOTONE, "lift")
    assert lift.value(Confusion(2, 1, 0, 0)) == Fraction(1, 2)
    assert lift.name == "lift"
    rounded = CustomMetric(lambda tp, *_: 0.1 * tp)
    assert rounded.shape is Shape.GENERAL
    with pytest.raises(TypeError, match="callable"):
        CustomMetric(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="LINEAR"):
        CustomMetric(lambda tp, *_: tp, Shape.LINEAR)
    with pytest.raises(TypeError, match="real number"):
        CustomMetric(lambda *_: "good").value(Confusion(1, 1, 1, 1))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("F1", F1()),
        ("f1-score", F1()),
        ("f1.5", FBeta(1.5)),
        ("F 2", FBeta(2)),
        ("Balanced Accuracy", BalancedAccuracy()),
        ("IoU", Jaccard()),
        ("matthews_corrcoef", MCC()),
        ("g-mean", GMean()),
        ("npv", NegativePredictiveValue()),
        ("cohen_kappa", CohenKappa()),
    ],
)
def test_names(name, expected) -> None:
    assert get_metric(name) == expected
    assert get_metric(expected) is expected


def test_every_metric_is_found_by_its_own_name() -> None:
    for name, make in METRICS.items():
        assert make().name == name
        assert get_metric(name) == make()


def test_the_usual_metrics_are_known() -> None:
    assert [get_metric(name).name for name in USUAL] == list(USUAL)
    assert get_metric("f1score") == get_metric("F1 score") == F1()


@pytest.mark.parametrize("metric", [sk.f1_score, sk.make_scorer(sk.f1_score), F1])
def test_functions_are_answered_with_the_name_of_the_metric(metric: object) -> None:
    with pytest.raises(TypeError, match=r"metric must be a name or a Metric, .*; write 'f1'"):
        get_metric(metric)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("fpr", r"bound it as a share, .fp <= 10%. of the negatives"),
        ("qwk", r"costs of \(i - j\)\*\*2, as a CostMatrix, or by --cost"),
        ("quadratic_weighted_kappa", "ordered classes"),
        ("mae", r"costs of \|i - j\|"),
        ("weighted_f1", "averages over classes"),
    ],
)
def test_metrics_of_elsewhere_are_answered_with_what_to_do(name: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        get_metric(name)


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'balanced_accuracy'"):
        get_metric("balanced_acuracy")
    with pytest.raises(ValueError, match=r"the usual ones are f1, .*; goct.metrics.METRICS has"):
        get_metric("zzz")
    with pytest.raises(ValueError, match="did you mean 'predicted_positives'"):
        get_metric("alrts")
    with pytest.raises(ValueError, match=r"'auc': it judges probabilities.*'balanced_accuracy'"):
        get_metric("auc")
    with pytest.raises(TypeError, match=r"make one of it: Recall\(\)"):
        get_metric(Recall)
    with pytest.raises(TypeError, match="name or a Metric"):
        get_metric(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FBeta(0),
        lambda: FBeta(-1),
        lambda: ClassCost(-1, 1),
        lambda: BoundedDOR(0),
        lambda: SmoothedDOR(-1),
        lambda: CostMatrix([[1, 2]]),
        lambda: Confusion(1, -1, 0, 0),
        lambda: get_metric("f0"),
        lambda: get_metric("f-1"),
        lambda: FBeta(Fraction(10) ** 400),
        lambda: FBeta(Fraction(1, 10**400)),
        lambda: Recall() >= Fraction(10) ** 400,
    ],
)
def test_parameters_out_of_range(make) -> None:
    with pytest.raises(ValueError, match=r".+"):
        make()


def test_confusion_refuses_floats() -> None:
    with pytest.raises(TypeError, match="tp must be an integer"):
        Confusion(0.5, 0, 0, 0)  # type: ignore[arg-type]


def test_large_factors_of_what_is_not_there() -> None:
    problem = Problem.from_arrays([[0], [1]], [0, 0], classes=[0, 1])
    assert solve(problem, FBeta(10**15), max_depth=1).value == 0
