"""The metrics that come with goct.

Where a quotient is 0 / 0 the value is 0, as with ``zero_division=0`` in
scikit-learn; each class says which confusion matrices this concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from goct.exact import Exact, as_fraction, check_magnitude
from goct.metrics.arrays import Counts, Floats, as_float, divide, floats
from goct.metrics.confusion import Confusion
from goct.metrics.fractional import Affine, FractionalMetric
from goct.metrics.level_line import LevelLine
from goct.metrics.linear import ClassRewardMetric, ClassTable
from goct.metrics.metric import LinearMetric, Metric, Rational, Rewards, Shape, reduced
from goct.metrics.rational import QuotientMetric

if TYPE_CHECKING:
    from goct.problem import Problem


def _ratio(numerator: Rational, denominator: Rational) -> Fraction:
    return Fraction(numerator) / denominator if denominator else Fraction(0)


def _diagonal(entries: Sequence[Fraction]) -> list[list[Fraction]]:
    zero = Fraction(0)
    return [[e if j == k else zero for j in range(len(entries))] for k, e in enumerate(entries)]


def _named(name: str, parameters: Sequence[Any], usual: Sequence[int]) -> str:
    """Return a name that tells the parameters, unless they are the usual ones."""
    exact = [as_fraction(parameter) for parameter in parameters]
    return name if exact == [*usual] else f"{name}({', '.join(map(str, exact))})"


def _non_negative(value: Any, name: str) -> Fraction:
    number = as_fraction(value, name)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return number


def _positive(value: Any, name: str) -> Fraction:
    number = as_fraction(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return check_magnitude(number, name)


# ---------------------------------------------------------------- linear


@dataclass(frozen=True, repr=False)
class Accuracy(ClassRewardMetric):
    """The share of samples whose class is predicted, for any number of classes."""

    value_range = 0, 1
    name = "accuracy"

    is_binary = False

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return 1 / |I| for every correct prediction."""
        share = _ratio(1, sum(class_weights))
        return _diagonal([share] * len(class_weights)), Fraction(0)


@dataclass(frozen=True, repr=False)
class BalancedAccuracy(ClassRewardMetric):
    """The mean of the recalls of the classes, for any number of classes.

    For two classes, ``(TP / n+ + TN / n-) / 2``. A class without samples is
    left out of the mean.
    """

    value_range = 0, 1
    name = "balanced_accuracy"

    is_binary = False

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return 1 / (number of classes × class weight) for every correct prediction."""
        present = sum(weight > 0 for weight in class_weights)
        return _diagonal([_ratio(1, present * weight) for weight in class_weights]), Fraction(0)


class _RecallSum(ClassRewardMetric):
    """A sum of recalls, plus a constant, of the two classes of a binary problem."""

    _sides: tuple[bool, bool] = (True, True)
    _offset = 0

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return 1 / (class weight) for correct predictions in the classes that count."""
        entries = [
            _ratio(1, weight) if self._sides[k == positive] else Fraction(0)
            for k, weight in enumerate(class_weights)
        ]
        return _diagonal(entries), Fraction(self._offset)


@dataclass(frozen=True, repr=False)
class Recall(_RecallSum):
    """TP / n+, also called sensitivity or true positive rate; 0 without positives."""

    value_range = 0, 1
    name = "recall"
    _sides = (False, True)


@dataclass(frozen=True, repr=False)
class Specificity(_RecallSum):
    """TN / n-, also called true negative rate; 0 without negatives."""

    value_range = 0, 1
    name = "specificity"
    _sides = (True, False)


@dataclass(frozen=True, repr=False)
class YoudenJ(_RecallSum):
    """Recall + specificity - 1, also called informedness."""

    value_range = -1, 1
    name = "youden"
    _offset = -1


@dataclass(frozen=True, repr=False)
class ClassCost(ClassRewardMetric):
    """Minus the total cost of errors, each class having its price.

    ``-(c+ · FN + c- · FP)`` in the paper's letters.

    Parameters
    ----------
    false_negative, false_positive
        The non-negative cost of one false negative and one false positive.
    """

    false_negative: Any = 1
    false_positive: Any = 1

    @property
    def name(self) -> str:
        """The name, with the prices unless both are 1."""
        return _named("class_cost", (self.false_negative, self.false_positive), (1, 1))

    def __post_init__(self) -> None:
        _non_negative(self.false_negative, "false_negative")
        _non_negative(self.false_positive, "false_positive")

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return the cost saved by every correct prediction; the offset is minus all of it."""
        fn, fp = as_fraction(self.false_negative), as_fraction(self.false_positive)
        entries = [fn if k == positive else fp for k in range(len(class_weights))]
        total = sum(e * w for e, w in zip(entries, class_weights, strict=True))
        return _diagonal(entries), -Fraction(total)


@dataclass(frozen=True, repr=False)
class CostMatrix(ClassRewardMetric):
    """Minus the total cost of the predictions, each pair of classes having its price.

    Parameters
    ----------
    costs
        ``costs[k][j]`` is the cost of predicting the j-th class where the k-th
        is true, classes in sorted order.
    """

    costs: Sequence[Sequence[Any]]
    name = "cost_matrix"
    is_binary = False

    def __post_init__(self) -> None:
        rows = [[as_fraction(entry, "a cost") for entry in row] for row in self.costs]
        if not rows or any(len(row) != len(rows) for row in rows):
            raise ValueError("costs must be a square matrix, one row and column per class")
        object.__setattr__(self, "costs", tuple(map(tuple, rows)))

    def check(self, problem: Problem) -> None:
        """Require one row of the matrix per class."""
        if problem.n_classes != len(self.costs):
            raise ValueError(
                f"the cost matrix is for {len(self.costs)} classes, "
                f"but the labels are {list(problem.classes)}"
            )

    def oriented(self, problem: Problem) -> Metric:
        """Return the matrix with the positive class last, as a confusion matrix has it."""
        if problem.positive == 0 and len(self.costs) == 2:
            return CostMatrix(tuple(tuple(reversed(row)) for row in reversed(self.costs)))
        return self

    @property
    def is_monotone(self) -> bool:
        """Whether no correct prediction costs more than a wrong one."""
        return all(row[k] == min(row) for k, row in enumerate(self.costs))

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return minus the costs."""
        return [[-Fraction(entry) for entry in row] for row in self.costs], Fraction(0)


@dataclass(frozen=True, repr=False)
class InstanceCost(LinearMetric):
    """Minus the total cost of the predictions, each sample having its own prices.

    The prices are the `costs` of the problem; with one cost κ[i] per sample
    this is minus the paper's ``Σ_i κ[i] · w[i] · (1 - g[i])``.
    """

    name = "instance_cost"
    is_binary = False

    @property
    def is_monotone(self) -> bool:
        """False: instance costs are no function of the confusion matrix."""
        return False

    @property
    def is_function_of_confusion(self) -> bool:
        """False: samples of one class differ in their costs."""
        return False

    def check(self, problem: Problem) -> None:
        """Require costs."""
        if problem.costs is None:
            raise ValueError(
                "the metric 'instance_cost' needs the costs of each sample: pass costs=..., as in "
                "fit(X, y, costs=...) or Problem.from_arrays(X, y, costs=...)"
            )

    def value(self, confusion: Confusion) -> Exact:
        """Raise: a confusion matrix does not know which samples were wrong."""
        raise TypeError("instance costs depend on samples, not on the confusion matrix alone")

    def rewards(self, problem: Problem) -> Rewards:
        """Return minus the costs."""
        self.check(problem)
        assert problem.costs is not None
        return reduced(-problem.costs, problem.cost_unit, Fraction(0))


class Count(ClassRewardMetric):
    """The weight of some cells of the confusion matrix of two classes."""

    value_range = 0, None
    measures = "count"
    _cells: tuple[tuple[int, int], ...]
    """What counts: pairs of true and predicted class, 1 being the positive one."""

    @property
    def is_monotone(self) -> bool:
        """Whether only correct predictions count."""
        return all(true == predicted for true, predicted in self._cells)

    @property
    def is_antitone(self) -> bool:
        """Whether only errors count."""
        return all(true != predicted for true, predicted in self._cells)

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return 1 for the cells that count."""
        classes = range(len(class_weights))
        return [
            [Fraction((k == positive, j == positive) in self._cells) for j in classes]
            for k in classes
        ], Fraction(0)

    def whole(self, class_weights: Sequence[Rational], positive: int | None) -> Fraction:
        """Return the weight of all samples that may count: of the positives, or of others."""
        sides = {true for true, _ in self._cells}
        counts = (w for k, w in enumerate(class_weights) if (k == positive) in sides)
        return sum(map(Fraction, counts), Fraction(0))


@dataclass(frozen=True, repr=False)
class TruePositives(Count):
    """TP, the weight of the positives that are found; meant for constraints."""

    name = "true_positives"
    _cells = ((1, 1),)


@dataclass(frozen=True, repr=False)
class TrueNegatives(Count):
    """TN, the weight of the negatives that raise no alarm; meant for constraints."""

    name = "true_negatives"
    _cells = ((0, 0),)


@dataclass(frozen=True, repr=False)
class FalsePositives(Count):
    """FP, the weight of false alarms; meant for constraints, fewer being better."""

    name = "false_positives"
    _cells = ((0, 1),)


@dataclass(frozen=True, repr=False)
class FalseNegatives(Count):
    """FN, the weight of missed positives; meant for constraints, fewer being better."""

    name = "false_negatives"
    _cells = ((1, 0),)


@dataclass(frozen=True, repr=False)
class PredictedPositives(Count):
    """U = TP + FP, the weight of all alarms; meant for constraints, such as an alert budget."""

    name = "predicted_positives"
    _cells = ((1, 1), (0, 1))


@dataclass(frozen=True, repr=False)
class Share(ClassRewardMetric):
    """A count as a share of all that may count, as ``fp <= 10%`` bounds it; 0 if nothing may.

    True positives and false negatives are shares of the positives, false positives and true
    negatives of the negatives, predicted positives of all samples.

    Parameters
    ----------
    count
        What is counted, such as ``FalsePositives()``.
    """

    value_range = 0, 1
    measures = "share"

    count: Count

    @property
    def name(self) -> str:
        """The name of what is counted; bounds are written with a % sign."""
        return self.count.name

    @property
    def is_monotone(self) -> bool:
        """Whether only correct predictions count."""
        return self.count.is_monotone

    @property
    def is_antitone(self) -> bool:
        """Whether only errors count."""
        return self.count.is_antitone

    def class_rewards(self, class_weights: Sequence[Rational], positive: int | None) -> ClassTable:
        """Return those of the count, divided by the weight of all that may count."""
        share = _ratio(1, self.count.whole(class_weights, positive))
        table, offset = self.count.class_rewards(class_weights, positive)
        return [[share * entry for entry in row] for row in table], offset


# ------------------------------------------------------------ fractional


@dataclass(frozen=True, repr=False)
class FBeta(FractionalMetric):
    """The weighted harmonic mean of precision and recall.

    ``(1 + β²) · TP / (β² · n+ + n- + TP - TN)``

    It is 0 where there are neither positives nor predicted positives.

    Parameters
    ----------
    beta
        How many times as important recall is as precision; positive.
    """

    value_range = 0, 1

    beta: Any = 1

    def __post_init__(self) -> None:
        _positive(self.beta, "beta")

    @property
    def name(self) -> str:
        """The letter f and beta, such as f1 or f0.5."""
        return f"f{float(as_fraction(self.beta)):g}"

    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return (1+β²) TP and β² n+ + n- + TP - TN."""
        square = as_fraction(self.beta) ** 2
        return Affine(0, 1 + square, 0), Affine(square * n_pos + n_neg, 1, -1)


def F1() -> FBeta:  # noqa: N802
    """Return the F1 score, the harmonic mean of precision and recall."""
    return FBeta(1)


@dataclass(frozen=True, repr=False)
class Jaccard(FractionalMetric):
    """TP / (TP + FP + FN), also called intersection over union; 0 where that is 0 / 0."""

    value_range = 0, 1
    name = "jaccard"

    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return TP and n - TN."""
        return Affine(0, 1, 0), Affine(n_pos + n_neg, 0, -1)


@dataclass(frozen=True, repr=False)
class Precision(FractionalMetric):
    """TP / (TP + FP), also called positive predictive value; 0 without predicted positives."""

    value_range = 0, 1
    name = "precision"

    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return TP and n- + TP - TN."""
        return Affine(0, 1, 0), Affine(n_neg, 1, -1)


@dataclass(frozen=True, repr=False)
class NegativePredictiveValue(FractionalMetric):
    """TN / (TN + FN); 0 without predicted negatives."""

    value_range = 0, 1
    name = "npv"

    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return TN and n+ + TN - TP."""
        return Affine(0, 0, 1), Affine(n_pos, -1, 1)


@dataclass(frozen=True, repr=False)
class CohenKappa(FractionalMetric):
    """Cohen's kappa, the agreement beyond chance.

    ``2 · (TP · TN - FP · FN) / (n- · U + n+ · V)``

    with U and V the predicted positives and negatives. It is 0 where only one
    class occurs, in labels and predictions alike.
    """

    value_range = -1, 1
    name = "kappa"

    def fraction(self, n_pos: Rational, n_neg: Rational) -> tuple[Affine, Affine]:
        """Return 2 (n- TP + n+ TN - n+ n-) and n- U + n+ V."""
        slope = n_neg - n_pos
        numerator = Affine(-2 * n_pos * n_neg, 2 * n_neg, 2 * n_pos)
        return numerator, Affine(n_neg**2 + n_pos**2, slope, -slope)


# ----------------------------------------------------------- quasiconvex


@dataclass(frozen=True, repr=False)
class MCC(QuotientMetric):
    """The Matthews correlation coefficient.

    ``(TP · TN - FP · FN) / √(n+ · n- · U · V)``

    with U and V the predicted positives and negatives. It is 0 where one of
    the four factors is 0.
    """

    value_range = -1, 1
    name = "mcc"
    shape = Shape.QUASICONVEX

    @property
    def quasiconvex_from(self) -> Fraction:
        """Zero: below it, the level sets bend the other way."""
        return Fraction(0)

    is_root = True

    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return (TP · TN - FP · FN)² and n+ · n- · U · V."""
        return self.sign(tp, fp, fn, tn) ** 2, (tp + fn) * (tn + fp) * (tp + fp) * (tn + fn)

    def sign(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return TP · TN - FP · FN."""
        return tp * tn - fp * fn

    def level_line(
        self,
        value: Fraction,
        n_pos: int,
        n_neg: int,
        unit: Fraction = Fraction(1),
    ) -> LevelLine | None:
        """Return the line below which it is positive; other level sets are no lines."""
        if value != 0:
            return None
        # TP · TN - FP · FN = n+ · n- - n- · FN - n+ · FP, which is 0 wherever a factor is.
        return LevelLine.where_positive((n_pos * n_neg, -n_neg, -n_pos))

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices at once."""
        p, q, r, s = floats(tp, fp, fn, tn)
        return divide(p * s - q * r, np.sqrt((p + r) * (s + q) * (p + q) * (s + r)))


@dataclass(frozen=True, repr=False)
class FowlkesMallows(QuotientMetric):
    """The geometric mean of precision and recall, TP / √(n+ · U).

    It is 0 without positives or without predicted positives.
    """

    value_range = 0, 1
    name = "fowlkes_mallows"
    shape = Shape.QUASICONVEX

    is_root = True

    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return TP² and n+ · U."""
        return tp**2, (tp + fn) * (tp + fp)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices at once."""
        p, q, r, _ = floats(tp, fp, fn, tn)
        return divide(p, np.sqrt((p + r) * (p + q)))


# -------------------------------------------------------------- monotone


@dataclass(frozen=True, repr=False)
class GMean(QuotientMetric):
    """The geometric mean of recall and specificity; 0 where a class has no samples."""

    value_range = 0, 1
    name = "gmean"
    shape = Shape.MONOTONE

    is_root = True

    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return TP · TN and n+ · n-."""
        return tp * tn, (tp + fn) * (tn + fp)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices at once."""
        p, q, r, s = floats(tp, fp, fn, tn)
        return np.sqrt(divide(p * s, (p + r) * (s + q)))


@dataclass(frozen=True, repr=False)
class BoundedDOR(QuotientMetric):
    """The diagnostic odds ratio up to a bound.

    ``min(TP · TN / (FP · FN), upper)``

    It is 0 where TP · TN = 0, and the bound where FP · FN = 0 otherwise.

    Parameters
    ----------
    upper
        The bound, positive. Every classifier that reaches it is as good as any
        other that does.
    """

    upper: Any = 1000
    shape = Shape.MONOTONE

    @property
    def name(self) -> str:
        """The name, with the bound unless it is 1000."""
        return _named("dor", (self.upper,), (1000,))

    def __post_init__(self) -> None:
        _positive(self.upper, "upper")

    is_capped = True

    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return TP · TN and FP · FN."""
        return tp * tn, fp * fn

    def bounds(self, n_pos: Rational, n_neg: Rational) -> tuple[Rational, Rational]:
        """Return 0 and the bound."""
        return 0, as_fraction(self.upper)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices at once."""
        p, q, r, s = floats(tp, fp, fn, tn)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: Floats = np.where(p * s > 0, np.divide(p * s, q * r), 0.0)
        return np.minimum(ratio, as_float(as_fraction(self.upper)))


@dataclass(frozen=True, repr=False)
class SmoothedDOR(QuotientMetric):
    """The diagnostic odds ratio with a smoothed denominator.

    ``TP · TN / (FP · FN + ε)``

    Maximising it drives FN or FP to 0, since that leaves only ε below.

    Parameters
    ----------
    epsilon
        What is added to the denominator, positive.
    """

    epsilon: Any = 1
    shape = Shape.MONOTONE

    @property
    def name(self) -> str:
        """The name, with epsilon unless it is 1."""
        return _named("dor_smoothed", (self.epsilon,), (1,))

    def __post_init__(self) -> None:
        _positive(self.epsilon, "epsilon")

    def ratio(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        """Return TP · TN and FP · FN + ε."""
        return tp * tn, fp * fn + as_fraction(self.epsilon)

    def bounds(self, n_pos: Rational, n_neg: Rational) -> tuple[Rational, Rational]:
        """Return 0 and the value of perfect predictions."""
        return 0, n_pos * n_neg / as_fraction(self.epsilon)

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return the values for many confusion matrices at once."""
        p, q, r, s = floats(tp, fp, fn, tn)
        return divide(p * s, q * r + as_float(as_fraction(self.epsilon) / unit**2))


# ------------------------------------------------------------ your own


@dataclass(frozen=True, repr=False)
class CustomMetric(Metric):
    """A metric given by a function of the four counts.

    Parameters
    ----------
    function
        Called as ``function(tp, fp, fn, tn)`` with integers or fractions;
        returns a number. A float result is taken at its word
        (:func:`goct.exact.as_fraction`); fractions keep comparisons exact.
    shape
        What you know about the function. Proofs rest on it: declare
        ``Shape.MONOTONE`` only if the value never falls when TP or TN rises
        while the class sizes stay. If nothing is known, ``Shape.GENERAL``.
    label
        A name for reports.
    """

    function: Callable[[Any, Any, Any, Any], Any]
    shape: Shape = Shape.GENERAL
    label: str = "custom"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")
        if not isinstance(self.shape, Shape):
            raise TypeError(f"shape must be a Shape, got {self.shape!r}")
        if self.shape in (Shape.LINEAR, Shape.FRACTIONAL):
            raise ValueError(
                f"a custom function cannot be declared {self.shape.name}: build linear metrics "
                "from Recall, Specificity and ClassCost, derive from FractionalMetric for "
                "quotients, or declare QUASICONVEX"
            )

    @property
    def name(self) -> str:
        """The label."""
        return self.label

    def value(self, confusion: Confusion) -> Exact:
        """Return what the function says."""
        c = confusion
        result = self.function(c.tp, c.fp, c.fn, c.tn)
        return result if isinstance(result, Exact) else Exact(as_fraction(result, self.label))

    def approximate(
        self, tp: Counts, fp: Counts, fn: Counts, tn: Counts, unit: Fraction = Fraction(1)
    ) -> Floats:
        """Return what the function says, for many confusion matrices."""
        cells = np.broadcast_arrays(tp, fp, fn, tn)
        weigh = int if unit == 1 else unit.__mul__
        counts = zip(*(map(weigh, cell.ravel().tolist()) for cell in cells), strict=True)
        values = [float(self.function(*entries)) for entries in counts]
        return np.array(values).reshape(cells[0].shape)

    @property
    def has_formula(self) -> bool:
        """False: it is called once per confusion matrix."""
        return False
