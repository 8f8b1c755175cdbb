"""Metrics by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from goct.metrics import catalogue
from goct.metrics.metric import Metric

_NAMED: tuple[Callable[[], Metric], ...] = (
    catalogue.Accuracy, catalogue.BalancedAccuracy, catalogue.ClassCost, catalogue.InstanceCost,
    catalogue.Recall, catalogue.Specificity, catalogue.YoudenJ, catalogue.TruePositives,
    catalogue.TrueNegatives, catalogue.FalsePositives, catalogue.FalseNegatives,
    catalogue.PredictedPositives, catalogue.F1, lambda: catalogue.FBeta(2),
    lambda: catalogue.FBeta(0.5), catalogue.Jaccard, catalogue.Precision,
    catalogue.NegativePredictiveValue, catalogue.CohenKappa, catalogue.MCC,
    catalogue.FowlkesMallows, catalogue.GMean, catalogue.BoundedDOR, catalogue.SmoothedDOR,
)  # fmt: skip
METRICS: dict[str, Callable[[], Metric]] = {make().name: make for make in _NAMED}
"""Every metric that has a name of its own, with what makes it."""

_WITH_NUMBERS: dict[str, tuple[Callable[..., Metric], int]] = {
    "class_cost": (catalogue.ClassCost, 2),
    "dor": (catalogue.BoundedDOR, 1),
    "dor_smoothed": (catalogue.SmoothedDOR, 1),
}
_NUMBER = r"\d{1,30}(?:\.\d{1,30}|/[1-9]\d{0,30})?"

ALIASES = {
    "acc": "accuracy", "bacc": "balanced_accuracy", "sensitivity": "recall", "tpr": "recall",
    "tnr": "specificity", "informedness": "youden", "youden_j": "youden", "tp": "true_positives",
    "tn": "true_negatives", "fp": "false_positives", "fn": "false_negatives",
    "alerts": "predicted_positives", "alarms": "predicted_positives",
    "false_alarms": "false_positives", "ppv": "precision", "iou": "jaccard", "cohen_kappa": "kappa",
    "matthews": "mcc", "matthews_corrcoef": "mcc", "fm": "fowlkes_mallows", "g_mean": "gmean",
    "geometric_mean": "gmean", "diagnostic_odds_ratio": "dor",
}  # fmt: skip
"""Other names under which users look for a metric."""

USUAL = ("f1", "f2", "accuracy", "balanced_accuracy", "mcc", "kappa", "gmean", "class_cost(5, 1)")
"""What most users maximise."""

# What is no metric here: a pattern of names, and what to do instead.
_ELSEWHERE = {
    r"^mae$|mean_absolute": "it is about ordered classes: minimise costs of |i - j|, as a "
    "CostMatrix, or by --cost on the command line",
    r"^qwk$|quadratic|^mse$|mean_squared": "it is about ordered classes: minimise costs of "
    "(i - j)**2, as a CostMatrix, or by --cost on the command line",
    r"^f[pn]r$|false_(positive|negative)_rate": "bound it as a share, 'fp <= 10%' of the negatives "
    "or 'fn <= 10%' of the positives, or maximise 'specificity' or 'recall'",
    r"macro|micro|weighted": "averages over classes, such as macro-F1, are not supported; name one "
    "class with pos_label, or use 'balanced_accuracy'",
    r"auc|average_precision|log_?loss|brier": "it judges probabilities, and a tree is chosen by "
    "the classes that it predicts; 'balanced_accuracy' is the area under the ROC curve of these, "
    "and goct.frontier finds the best trees for all trades",
}


def choose_metric(
    metric: Any, n_classes: int, *, one_vs_rest: bool, has_class_weight: bool = False
) -> Metric:
    """Return a metric as :func:`get_metric` does, where "auto" goes by the number of classes.

    Parameters
    ----------
    metric
        A metric, its name, or "auto": F1 for two classes and for one against
        the rest, accuracy for more, and if classes have weights of their own and
        none is named as the positive one.
    n_classes
        The number of classes.
    one_vs_rest
        Whether a positive class was named.
    has_class_weight
        Whether classes have weights.
    """
    if isinstance(metric, str) and metric == "auto":
        is_about_one = one_vs_rest or (n_classes <= 2 and not has_class_weight)
        return catalogue.F1() if is_about_one else catalogue.Accuracy()
    return get_metric(metric)


def is_total(name: str) -> bool:
    """Say whether a metric, by its name, adds up the costs of rows."""
    return name.partition("(")[0] in ("class_cost", "cost_matrix", "instance_cost")


def get_metric(metric: Any) -> Metric:
    """Return a metric from its name, or as it is.

    Parameters
    ----------
    metric
        A :class:`Metric`; the name of one, such as "f1", "mcc" or
        "balanced accuracy" (case, spaces and hyphens do not matter); "f"
        and any positive number, such as "f1.5"; or the prices of a false negative
        and of a false positive, as in "class_cost(5, 1)".

    Raises
    ------
    ValueError
        If there is no such metric; the message names the nearest ones.
    TypeError
        If `metric` is neither a metric nor a name.
    """
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str):
        raise TypeError(f"metric must be a name or a Metric, got {metric!r}{_hint(metric)}")
    name = re.sub(r"\s+|-(?!\d)", "_", metric.strip().lower())  # a minus is no hyphen
    name = re.sub(r"_?(score|index)$", "", name)
    name = ALIASES.get(name, name)
    if name in METRICS:
        return METRICS[name]()
    for stem, (make, n_numbers) in _WITH_NUMBERS.items():
        numbers = ",_?".join([f"({_NUMBER})"] * n_numbers)
        if match := re.fullmatch(rf"{stem}\({numbers}\)", name):
            return make(*map(Fraction, match.groups()))
    if (match := re.fullmatch(r"f_?(\d+(?:\.\d+)?)", name)) and float(match[1]) > 0:
        return catalogue.FBeta(float(match[1]))
    for pattern, advice in _ELSEWHERE.items():
        if re.search(pattern, name):
            raise ValueError(f"unknown metric {metric!r}: {advice}")
    near = get_close_matches(name, [*METRICS, *ALIASES], n=3)
    known = dict.fromkeys(ALIASES.get(found, found) for found in near)
    hint = f"did you mean {' or '.join(map(repr, known))}?"
    if not near:
        hint = f"the usual ones are {', '.join(USUAL)}; goct.metrics.METRICS has all"
    raise ValueError(f"unknown metric {metric!r}; {hint}")


def _hint(metric: Any) -> str:
    """Say what to write instead of a function of scikit-learn, or of a class of metrics."""
    function = getattr(metric, "_score_func", metric)  # of what make_scorer returns
    name = getattr(function, "__name__", "")
    if isinstance(metric, type):
        return f"; make one of it: {name}()"
    try:
        return f"; write {get_metric(name).name!r}"
    except ValueError as error:
        return f"; {error}" if callable(function) and name else ""
