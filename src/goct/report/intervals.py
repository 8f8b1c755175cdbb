"""How sure a share is that was counted on some rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import sqrt

from goct.metrics import Confusion, get_metric
from goct.model import Model, Part
from goct.model.records import Matrix, Weight

_Z = 1.959963984540054  # of 95 %


def wilson(part: Weight, total: Weight) -> tuple[float, float] | None:
    """Return Wilson's interval of 95 % for a share; None if nothing was counted.

    Weights are taken for numbers of rows.
    """
    if not total:
        return None
    n, share = float(total), float(part / total)
    centre = share + _Z**2 / (2 * n)
    spread = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    whole = 1 + _Z**2 / n
    return max(0.0, (centre - spread) / whole), min(1.0, (centre + spread) / whole)


def interval_words(part: Weight, total: Weight) -> str:
    """Return Wilson's interval as text, such as ``82–99 %``."""
    found = wilson(part, total)
    if found is None:
        return ""
    low, high = (f"{100 * end:.1f}" for end in found)
    return f"{low}–{high} %"


def standard_error(model: Model, test: Part) -> float | None:
    """Return the standard error of the metric on test rows, if they are like those of the training.

    None if the metric is not known. It is the jackknife's on all rows: the metric is looked at with
    one row less, for each cell of the confusion matrix. Weights are taken for numbers of rows.
    """
    value, parts = _value_of(model), (model.train, test)
    both = zip(*(model.confusion_matrix(part) for part in parts), strict=True)
    matrix = [[a + b for a, b in zip(*rows, strict=True)] for rows in both]
    n = float(sum(part.total for part in parts))
    if value is None or not test.total:
        return None
    left_out: list[tuple[float, float]] = []  # how many rows, and the metric without one of them
    cells = ((k, j) for k in range(len(matrix)) for j in range(len(matrix)))
    for k, j in cells:
        if matrix[k][j] >= 1:
            less = [list(row) for row in matrix]
            less[k][j] -= 1
            with suppress(ZeroDivisionError, ValueError):
                left_out.append((float(matrix[k][j]), value(tuple(map(tuple, less)))))
    mean = sum(rows * each for rows, each in left_out) / n
    return sqrt(
        (n - 1) / float(test.total) * sum(rows * (each - mean) ** 2 for rows, each in left_out)
    )


def _value_of(model: Model) -> Callable[[Matrix], float] | None:
    """Return the metric of a model as a function of the confusion matrix, if it is known."""
    name = model.question.metric.removesuffix(" per row")
    positive = model.positive
    if positive is None:
        return {"accuracy": _accuracy, "balanced_accuracy": _balanced_accuracy}.get(name)
    with suppress(ValueError):
        metric = get_metric(name)

        def value(matrix: Matrix) -> float:
            total = sum(map(sum, matrix)) if model.question.metric != name else 1
            return float(metric.value(Confusion.of_matrix(matrix, positive))) / float(total)

        return value
    return None


def _accuracy(matrix: Matrix) -> float:
    return float(Fraction(sum(row[k] for k, row in enumerate(matrix))) / sum(map(sum, matrix)))


def _balanced_accuracy(matrix: Matrix) -> float:
    recalls = [float(row[k] / sum(row)) for k, row in enumerate(matrix) if any(row)]
    return sum(recalls) / len(recalls)
