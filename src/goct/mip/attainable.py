"""Which values a metric can take at all: what lies between a tree and a bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from goct.exact import Exact
from goct.metrics import Combination, Confusion, InstanceCost, Metric
from goct.problem import Problem

MOST_POINTS = 5_000_000
"""With more pairs (TP, TN), nothing is said."""
_MARGIN = 1e-9
_MOST_EXACT = 1000


def has_value_between(
    problem: Problem,
    metric: Metric,
    low: Exact,
    high: Exact,
    *,
    split_penalty: Fraction,
    most_splits: int,
) -> bool | None:
    """Say whether some ``metric(TP, TN) - penalty · splits`` is in ``(low, high]``.

    All pairs of counts are looked at, whether a tree achieves them or not. If
    there is no value, a bound `high` proves that `low` is the largest one.

    Parameters
    ----------
    problem
        The data, of two classes.
    metric
        The metric.
    low, high
        The bounds.
    split_penalty, most_splits
        The penalty and the largest number of splits.

    Returns
    -------
    bool or None
        None if there are too many pairs to tell, or if the metric is no
        function of them.
    """
    assert problem.positive is not None
    sizes = problem.counts.sum(axis=0)
    n_pos, n_neg = int(sizes[problem.positive]), int(sizes[1 - problem.positive])
    splits = range(most_splits + 1) if split_penalty else range(1)
    if not _is_function_of_counts(metric):
        return None
    if (n_pos + 1) * (n_neg + 1) * len(splits) > MOST_POINTS:
        return None
    unit, metric = problem.weight_unit, metric.oriented(problem)
    tp = np.repeat(np.arange(n_pos + 1), n_neg + 1)
    tn = np.tile(np.arange(n_neg + 1), n_pos + 1)
    values = metric.approximate(tp, n_neg - tn, n_pos - tp, tn, unit)
    checked = 0
    for s in splits:
        least, most = low + split_penalty * s, high + split_penalty * s
        margin = _MARGIN * (1 + abs(float(least)))
        a, b = float(least), float(most)
        if ((values > a + margin) & (values < b - margin)).any():
            return True
        unclear = np.flatnonzero((values > a - margin) & (values < b + margin))
        checked += len(unclear)
        if checked > _MOST_EXACT:
            return None
        for k in unclear.tolist():
            x, y = int(tp[k]), int(tn[k])
            counts = (x, n_neg - y, n_pos - x, y)
            if least < metric.value(Confusion(*(unit * c for c in counts))) <= most:
                return True
    return False


def _is_function_of_counts(metric: Metric) -> bool:
    if isinstance(metric, Combination):
        return all(_is_function_of_counts(part) for _, part in metric.terms)
    return not isinstance(metric, InstanceCost)
