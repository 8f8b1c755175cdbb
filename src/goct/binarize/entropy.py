"""Cuts at which labels change: all of them, or those that MDLP accepts.

MDLP is the criterion of Fayyad and Irani (1993), "Multi-interval discretization
of continuous-valued attributes for classification learning": a part of a column
is cut where the classes become purest, if the information gained pays for the
description of the cut, and both sides go on in the same way.
"""

from __future__ import annotations

import heapq
from math import log2

import numpy as np
from numpy.typing import NDArray

from goct.binarize.thresholds import Gap

_Floats = NDArray[np.float64]


def label_change_gaps(
    values: _Floats,
    labels: NDArray[np.intp],
    weights: _Floats | None = None,
    n_gaps: int | None = None,
) -> list[Gap]:
    """Return the gaps between neighbouring values whose rows do not all have one label.

    Of more than `n_gaps`, again and again the part is cut that gains most information by it.
    """
    counts, gaps = _blocks(values, labels, weights)
    if n_gaps is None or n_gaps >= len(gaps):
        return gaps
    return [gaps[i] for i in _best_cuts(counts, n_gaps, needs_to_pay=False)]


def mdlp_gaps(
    values: _Floats,
    labels: NDArray[np.intp],
    weights: _Floats | None = None,
    n_gaps: int | None = None,
) -> list[Gap]:
    """Return the gaps that MDLP accepts; there may be none.

    Weights count as numbers of rows. Of more than `n_gaps`, those that gain most information come
    first.
    """
    counts, gaps = _blocks(values, labels, weights)
    return [gaps[i] for i in _best_cuts(counts, n_gaps, needs_to_pay=True)]


def _blocks(
    values: _Floats, labels: NDArray[np.intp], weights: _Floats | None
) -> tuple[_Floats, list[Gap]]:
    """Merge neighbouring values that share one label, since no best cut lies between them.

    Returns the weight of each class in each block, and the gaps between the blocks.
    """
    if len(values) == 0:
        return np.zeros((0, 1)), []
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    distinct = ordered[new]
    n_classes = int(labels.max()) + 1
    cell = (np.cumsum(new) - 1) * n_classes + labels[order]
    weight = None if weights is None else weights[order]
    sums = np.bincount(cell, weights=weight, minlength=len(distinct) * n_classes)
    counts = sums.astype(np.float64).reshape(-1, n_classes)

    pure = (counts > 0).sum(axis=1) == 1
    label = counts.argmax(axis=1)
    same = pure[1:] & pure[:-1] & (label[1:] == label[:-1])
    start = np.concatenate([[0], np.flatnonzero(~same) + 1])
    gaps = list(zip(distinct[start[1:] - 1].tolist(), distinct[start[1:]].tolist(), strict=True))
    return np.add.reduceat(counts, start, axis=0), gaps


def _best_cuts(counts: _Floats, n_cuts: int | None, *, needs_to_pay: bool) -> list[int]:
    """Cut a sequence of blocks, the part that gains most first.

    Returns the gaps to cut, in increasing order; gap i lies behind block i.
    """
    below = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    open_parts: list[tuple[float, int, int, int]] = []

    def consider(start: int, end: int) -> None:
        if end - start >= 2:
            gain, cut, pays = _best_cut(below[start : end + 1] - below[start])
            if pays or not needs_to_pay:
                heapq.heappush(open_parts, (-gain, start, start + cut, end))

    consider(0, len(counts))
    cuts: list[int] = []
    while open_parts and (n_cuts is None or len(cuts) < n_cuts):
        _, start, cut, end = heapq.heappop(open_parts)
        cuts.append(cut - 1)
        consider(start, cut)
        consider(cut, end)
    return sorted(cuts)


def _best_cut(below: _Floats) -> tuple[float, int, bool]:
    """Find the best cut of a part, given the weight of each class before each block, and in all.

    Returns the information gained, in bits of the whole part; before which block to cut; and
    whether MDLP accepts the cut.
    """
    left, total = below[1:-1], below[-1]
    right = total - left
    bits_left, bits_right, bits = _bits(left), _bits(right), float(_bits(total[None])[0])
    gains = bits - bits_left - bits_right
    # The first of the best, also if rounding errors tell equal gains apart.
    i = int(np.argmax(gains >= gains.max() - 1e-12 * max(bits, 1.0)))
    weight = float(total.sum())
    if weight <= 1:
        return float(gains[i]), i + 1, False

    def description(part: _Floats, part_bits: float) -> tuple[int, float]:
        classes = int((part > 0).sum())
        return classes, classes * part_bits / float(part.sum())

    k, all_classes = description(total, bits)
    _, left_classes = description(left[i], float(bits_left[i]))
    _, right_classes = description(right[i], float(bits_right[i]))
    # log2(3^k - 2), which overflows for many classes
    choices = log2(3.0**k - 2) if k < 30 else k * log2(3)
    price = log2(weight - 1) + choices - (all_classes - left_classes - right_classes)
    return float(gains[i]), i + 1, bool(gains[i] > price)


def _bits(counts: _Floats) -> _Floats:
    """Return the entropy of each row of class weights, times the total of the row."""
    total = counts.sum(axis=1)
    bits: _Floats = _xlog2x(total) - _xlog2x(counts).sum(axis=1)
    return bits


def _xlog2x(x: _Floats) -> _Floats:
    result: _Floats = np.log2(np.maximum(x, 1e-300))  # 0 · log2 of anything is 0
    result *= x
    return result
