"""Which pairs (TP, TN) lie between a tree and a bound, whether trees achieve them or not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from goct.exact import Exact
from goct.metrics import Confusion
from goct.mip.numerics import APPROXIMATION_MARGIN
from goct.task import Task

Line: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""The numbers a, b, c of ``a · FN + b · FP >= c``."""
Counts: TypeAlias = NDArray[np.int64]

MOST_POINTS = 5_000_000
"""With more pairs, or with more counts of one class, nothing is said."""
_MOST_EXACT = 5000


@dataclass(frozen=True)
class Pair:
    """The numbers TP and TN, in units of weight, and the splits that may be spent on them."""

    tp: int
    tn: int
    splits: int


def pairs_between(
    task: Task, low: Exact, high: Exact, lines: Sequence[Line] = ()
) -> list[Pair] | None:
    """Return the pairs (TP, TN) with ``metric - penalty · splits`` in ``(low, high]``.

    If there is none, a bound `high` proves that `low` is the largest value. Of
    a monotone metric, the least pairs are returned: whatever lies between has
    at least the TP and at least the TN of one of them.

    Parameters
    ----------
    task
        The question, of two classes.
    low, high
        The bounds.
    lines
        What is known about FN and FP of all trees, as weights, the factors not
        being negative.

    Returns
    -------
    list of Pair or None
        None if there are too many to tell, or if the metric is no function of
        TP and TN.
    """
    problem, metric, split_penalty = task.problem, task.metric, task.split_penalty
    most_splits = task.size.most_splits
    assert problem.positive is not None
    if not metric.is_function_of_confusion:
        return None
    sizes = problem.counts.sum(axis=0)
    n_pos, n_neg = int(sizes[problem.positive]), int(sizes[1 - problem.positive])
    if (n_pos + 1) * (1 if metric.is_monotone else n_neg + 1) > MOST_POINTS:
        return None
    unit, oriented = problem.weight_unit, metric.oriented(problem)

    def approximate(tp: Counts, tn: Counts) -> NDArray[np.float64]:
        return oriented.approximate(tp, n_neg - tn, n_pos - tp, tn, unit)

    def value(tp: int, tn: int) -> Exact:
        return oriented.value(
            Confusion(*(unit * count for count in (tp, n_neg - tn, n_pos - tp, tn)))
        )

    def is_above(tp: int, least: Exact, tn: int) -> bool:
        return value(tp, tn) > least

    def is_open(tp: int, tn: int) -> bool:
        fn, fp = unit * (n_pos - tp), unit * (n_neg - tn)
        return all(a * fn + b * fp >= c for a, b, c in lines)

    tps = np.arange(n_pos + 1)
    if not metric.is_monotone:
        tp, tn = (axis.ravel() for axis in np.indices((n_pos + 1, n_neg + 1)))
        values = approximate(tp, tn)
    found: list[Pair] = []
    checked = 0
    for splits in range(most_splits + 1) if split_penalty else (most_splits,):
        least, most = low + split_penalty * splits, high + split_penalty * splits
        margin = APPROXIMATION_MARGIN * (1 + max(abs(float(least)), abs(float(most))))
        floor, ceiling = float(least) - margin, float(most) + margin
        if metric.is_monotone:
            first = _first_above(floor, approximate, tps, n_neg)
            tp = np.flatnonzero(first <= n_neg)
            tn = first[tp]
            # The first that surely is above; nearly always the same.
            last = np.minimum(_first_above(float(least) + margin, approximate, tps, n_neg), n_neg)
            values = approximate(tp, tn)
        near = (values > floor) & (values <= ceiling)
        checked += int(near.sum())
        if checked > _MOST_EXACT:
            return None
        lowest = n_neg + 1
        for x, y in zip(tp[near].tolist(), tn[near].tolist(), strict=True):
            if metric.is_monotone:
                # Of few, as a rule, the first that is above, compared exactly.
                rest = range(y, int(last[x]))
                y += bisect_left(rest, True, key=partial(is_above, x, least))
                if y >= lowest:
                    continue  # a pair with fewer of both is there already
            if least < value(x, y) <= most and is_open(x, y):
                found.append(Pair(x, y, splits))
                lowest = y
    return found


def _first_above(
    floor: float,
    approximate: Callable[[Counts, Counts], NDArray[np.float64]],
    tp: Counts,
    n_neg: int,
) -> Counts:
    """Return, for each TP, the least TN whose value is above a number; ``n_neg + 1`` if none is."""
    low, high = np.zeros_like(tp), np.full_like(tp, n_neg + 1)
    while (low < high).any():
        middle = np.minimum((low + high) // 2, n_neg)
        is_above = approximate(tp, middle) > floor
        active = low < high
        high = np.where(active & is_above, middle, high)
        low = np.where(active & ~is_above, middle + 1, low)
    return high
