"""What a reader should know before a tree is used, for the report and for the terminal."""

from __future__ import annotations

from goct._text import format_weight, one_line
from goct.constraints import MetricConstraint, get_constraint
from goct.model import Model
from goct.report.intervals import standard_error
from goct.tree import Leaf

_LARGE_DROP = 0.05  # of the metric, from training to test
# What a metric alone asks for, and what to ask for besides.
_ONE_SIDED = {
    "precision": ("a tree that is sure of a single row is best", "recall"),
    "recall": ("a tree that calls every row positive is best", "precision"),
    "npv": ("a tree that is sure of a single negative row is best", "specificity"),
    "specificity": ("a tree that calls no row positive is best", "recall"),
}


def warnings_of(model: Model) -> list[str]:
    """Return what a reader should know before the tree is used, in plain words."""
    found = list(map(one_line, model.notes))
    test, train = model.test, model.train
    found += _one_sided(model)
    found += _never_predicted(model)
    if test is None:
        return found
    for text in model.question.constraints:
        value = _broken_value(model, text)
        if value is not None:
            found.append(
                f"{one_line(text)} holds on the training data, but not on the test data: there it "
                f"is {value}. Ask for more than is needed, or for a smaller tree."
            )
    if train.value is not None and test.value is not None:
        drop = train.value.value - test.value.value
        noise = 2 * (standard_error(model, test) or 0.0)
        if drop > max(_LARGE_DROP * max(abs(train.value.value), 0.1), noise):
            found.append(
                f"{model.question.metric} is {train.value.value:.4f} on the training data and "
                f"{test.value.value:.4f} on the test data: {_reason(model)}"
            )
    return found


def _one_sided(model: Model) -> list[str]:
    """Return a warning if the metric sees one kind of error only, and nothing limits the other."""
    metric, constraints = model.question.metric, model.question.constraints
    if metric not in _ONE_SIDED or any(not text.startswith("leaves of") for text in constraints):
        return []
    best, other = _ONE_SIDED[metric]
    return [
        f"{metric} alone sees one kind of error only: {best}. Ask for '{other} >= 0.5' as well, or "
        "maximise f1."
    ]


def _never_predicted(model: Model) -> list[str]:
    """Return a warning if there are several classes, and some are never predicted."""
    if len(model.classes) <= 2 or model.is_one_vs_rest:
        return []
    predicted = {node.label for node in model.tree.nodes() if isinstance(node, Leaf)}
    sizes = model.train.counts[0]
    missing = [
        f"{one_line(str(name))} ({format_weight(sizes[k])})"
        for k, name in enumerate(model.classes)
        if k not in predicted and sizes[k]
    ]
    if not missing:
        return []
    n_leaves, n_classes = model.tree.n_leaves, sum(size > 0 for size in sizes)
    few = f" The tree has {n_leaves} leaves for {n_classes} classes." * (n_leaves < n_classes)
    return [
        f"never predicted: {', '.join(missing)} of {format_weight(sum(sizes))}.{few} A larger tree "
        "may tell them apart; balanced_accuracy counts every class alike, however rare it is."
    ]


def _reason(model: Model) -> str:
    """Say what a drop from training to test may come from."""
    folds = model.validation
    if folds is None or folds.estimate is None:
        return (
            "the tree has learned some of the training rows by heart. What is proven is about "
            "those rows; a smaller tree may do better on new ones."
        )
    spread = "" if folds.estimate_error is None else f"\u00a0±\u00a0{folds.estimate_error:.4f}"
    return (
        "what is proven is about the training rows. The folds that chose the size let expect "
        f"{folds.estimate:.4f}{spread}; if the test is below that, its rows are few, or unlike "
        "the others."
    )


def _broken_value(model: Model, text: str) -> str | None:
    """Return the value of the metric of a constraint on the test data, if it is broken there."""
    try:
        constraint = get_constraint(text)
    except ValueError:  # of the user's own
        return None
    confusion = model.confusion(model.test)
    if not isinstance(constraint, MetricConstraint) or confusion is None:
        return None
    if not constraint.metric.is_binary or not (confusion.n_pos and confusion.n_neg):
        return None
    value = constraint.metric.value(confusion)
    return None if constraint.is_met_by(value) else constraint.written(value)
