"""The checker of certificates: this one file and numpy, written to be read by a sceptic.

It shares no code with the engines and believes nothing that a certificate says: it reads the data,
rebuilds every set of rows from the splits that lead to it, counts again, and checks every step in
exact arithmetic. The documentation has the rules and their proofs in the order of this file.

Without the package::

    python checker.py proof.gct data.csv

where the table has a header, columns of numbers, and the class in its last column, or in the
column that a third argument names.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"goct certificate 2\n"
ARRAYS = {
    "path": "<i4",
    "path_begin": "<i4",
    "depth": "u1",
    "relaxed": "u1",
    "value": "<i8",
    "value_begin": "<i8",
    "anchor": "<i4",
    "anchor_begin": "<i4",
}
Array = NDArray[Any]
_MOST_BYTES = 2**30
"""No header and no proof may be larger, whatever a small file unpacks to."""
_LARGEST = 2**58


class RejectedError(ValueError):
    """A certificate does not prove what it says; the message is the first step that fails."""


def _require(holds: Any, step: str) -> None:
    if not holds:
        raise RejectedError(step)


# ------------------------------------------------------------------------------------------ file


def read_header(content: bytes) -> dict[str, Any]:
    """Return the header of a certificate."""
    _require(content.startswith(MAGIC), "this is no certificate of goct, or one of another version")
    try:
        unpacked = zlib.decompressobj()
        data = unpacked.decompress(content[_header_place(content) : -8], _MOST_BYTES)
        _require(unpacked.eof and not unpacked.unused_data, "the header is damaged")
        header = json.loads(data, object_pairs_hook=_distinct_keys, parse_constant=_no_constant)
        _require(type(header) is dict, "the header is damaged")
        return dict(header)
    except RejectedError:
        raise
    except (ValueError, zlib.error, MemoryError, RecursionError) as error:
        raise RejectedError(f"the file is damaged: {error}") from None


def read_proofs(content: bytes) -> Iterator[dict[str, Array]]:
    """Yield the arrays of each proof, one proof in memory at a time."""
    unpacked, packed = zlib.decompressobj(), content[len(MAGIC) : _header_place(content)]

    def take(size: int) -> bytes:
        nonlocal packed
        _require(0 <= size <= _MOST_BYTES, "the file is damaged: a proof is too large")
        parts = b""
        while len(parts) < size:
            part = unpacked.decompress(packed, size - len(parts))
            packed = unpacked.unconsumed_tail
            _require(part, "the file is damaged: it ends too early")
            parts += part
        return parts

    try:
        while number := int.from_bytes(take(1), "little"):
            _require(number == 1, "the file is damaged: no proof begins here")
            arrays = {}
            for name, dtype in ARRAYS.items():
                length = int.from_bytes(take(8), "little") * np.dtype(dtype).itemsize
                arrays[name] = np.frombuffer(take(length), dtype).astype(np.int64)
            yield arrays
    except zlib.error as error:
        raise RejectedError(f"the file is damaged: {error}") from None


def _header_place(content: bytes) -> int:
    place = len(content) - 8 - int.from_bytes(content[-8:], "little")
    _require(len(MAGIC) <= place <= len(content) - 8, "the file is damaged: it has no header")
    return place


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _require(len(dict(pairs)) == len(pairs), "the header says something twice")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise RejectedError(f"the header has a number that is none: {name}")


def _integer(value: Any, least: int = 0, most: int = _LARGEST) -> int:
    _require(type(value) is int and least <= value <= most, f"{value!r} is out of range")
    return int(value)


def _fraction(text: Any) -> Fraction:
    plain = type(text) is str and re.fullmatch(r"-?[0-9]{1,400}(/[0-9]{1,400})?", text)
    _require(plain, f"{text!r} is no fraction")
    return Fraction(text)


# ------------------------------------------------------------------------------------------ data


@dataclass(frozen=True)
class Data:
    """Distinct rows, and what weighs in them.

    Attributes
    ----------
    ranks
        The places of the values of each column in their order, from 0 on; shape (columns, rows).
        Feature t of a column is "the rank is above t"; a 0/1 column has one feature.
    counts
        The weight of each class in each row, in units; shape (rows, classes).
    samples
        The number of samples in each row, whatever they weigh.
    costs
        The cost of predicting each class in each row, in units; None if there are none.
    weight_unit, cost_unit
        What one count, and one unit of cost, stands for.
    classes
        The names of the classes.
    owners
        The column of the user's table behind each column; None if these are the same.
    """

    ranks: Array
    counts: Array
    samples: Array
    costs: Array | None = None
    weight_unit: Fraction = Fraction(1)
    cost_unit: Fraction = Fraction(1)
    classes: tuple[str, ...] = ()
    owners: tuple[int, ...] | None = None

    @classmethod
    def merge(cls, X: Array, counts: Array, samples: Array, costs: Array | None = None) -> Data:
        """Merge equal rows of a matrix of numbers, drop those without weight, and sort the rest."""
        _require(np.isfinite(X).all(), "a number is missing or infinite")
        kept = counts.any(axis=1)
        dense = [np.unique(column, return_inverse=True)[1].ravel() for column in X[kept].T]
        ranks = np.array(dense, dtype=">u4").reshape(X.shape[1], -1).T
        _, first, group = np.unique(_as_keys(ranks), return_index=True, return_inverse=True)

        def summed(numbers: Array | None) -> Any:
            if numbers is None:
                return None
            sums = np.zeros((len(first), *numbers.shape[1:]), dtype=np.int64)
            np.add.at(sums, group.ravel(), numbers[kept])
            return sums

        rows = np.ascontiguousarray(ranks[first].T).astype(np.int32)
        return cls(rows, summed(counts), summed(samples), summed(costs))

    @cached_property
    def owner(self) -> Array:
        """The column of the user's table behind each column."""
        return np.arange(len(self.ranks)) if self.owners is None else np.array(self.owners)

    @cached_property
    def begin(self) -> Array:
        """The number of the first feature of each column, and that of all features."""
        sizes = self.ranks.max(axis=1, initial=1)
        return np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def narrow(self) -> Array:
        """The columns of at most two values: one for each way to split the rows."""
        narrow = np.flatnonzero(self.ranks.max(axis=1, initial=0) < 2)
        return narrow[_distinct(self.ranks[narrow] > 0)]

    @cached_property
    def bits(self) -> Array:
        """The values of these columns, row by row."""
        return np.ascontiguousarray(self.ranks[self.narrow].T > 0)

    @cached_property
    def wide(self) -> list[int]:
        """The columns of more values."""
        wide: list[int] = np.flatnonzero(self.ranks.max(axis=1, initial=0) > 1).tolist()
        return wide

    @cached_property
    def _sides(self) -> dict[int, Array]:
        return {}

    def side(self, step: int) -> Array:
        """Return the rows on one side of a feature: step is 2 · feature + side."""
        if step not in self._sides:
            column = int(np.searchsorted(self.begin, step // 2, side="right")) - 1
            right = self.ranks[column] > step // 2 - self.begin[column]
            self._sides[step] = right if step % 2 else ~right
        return self._sides[step]

    def digest(self) -> str:
        """Return the SHA-256 digest of the rows, sorted, with their counts and costs."""
        digest = hashlib.sha256(f"{self.ranks.shape} {self.counts.shape}".encode())
        for numbers in (self.ranks, self.counts, self.samples, self.costs):
            digest.update(b"" if numbers is None else numbers.astype("<i8").tobytes())
        return digest.hexdigest()

    def against_rest(self, positive: int) -> Data:
        """Return the data with two classes: the rest and the positive one."""
        found = self.counts[:, positive]
        counts = np.stack([self.counts.sum(axis=1) - found, found], axis=1)
        return replace(self, counts=counts, costs=None)

    def without(self, columns: Array) -> Data:
        """Return the data for trees that do not use some columns."""
        return replace(self, ranks=np.where(columns[:, None], 0, self.ranks))


def _as_keys(rows: Array) -> Array:
    """Return the rows of a matrix as single values, which are equal exactly if these are."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.uint8)
    rows = np.ascontiguousarray(rows)
    return rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel()


def _distinct(columns: Array) -> Array:
    """Return one 0/1 column for each way to split the rows; a column and its complement are one."""
    if columns.size == 0:
        return np.zeros(0, dtype=np.intp)
    packed = np.packbits(columns ^ columns[:, :1], axis=1)
    first = np.sort(np.unique(_as_keys(packed), return_index=True)[1])
    return first[packed[first].any(axis=1)]


# ------------------------------------------------------------------------- numbers and metrics


@dataclass(frozen=True)
class Number:
    """An exact number: a fraction, and square roots of integers times fractions."""

    rational: Fraction = Fraction(0)
    roots: tuple[tuple[Fraction, int], ...] = ()

    @classmethod
    def root(cls, square: Fraction) -> Number:
        """Return the root of a fraction; of a negative one, minus that of its absolute value."""
        sign = -1 if square < 0 else 1
        top, bottom = abs(square.numerator), square.denominator
        return cls() + cls(Fraction(0), ((Fraction(sign, bottom), top * bottom),))

    def __add__(self, other: Number) -> Number:
        rational, merged = self.rational + other.rational, dict[int, Fraction]()
        for factor, radicand in self.roots + other.roots:
            # Roots whose product is whole are multiples of each other.
            for known in (1, *merged):
                product = isqrt(radicand * known)
                if product * product == radicand * known:
                    if known == 1:
                        rational += factor * product
                    else:
                        merged[known] += factor * product / known
                    break
            else:
                merged[radicand] = factor
        return Number(rational, tuple((c, m) for m, c in merged.items() if c))

    def __mul__(self, factor: Fraction) -> Number:
        return Number(self.rational * factor, tuple((c * factor, m) for c, m in self.roots))

    def __le__(self, other: Number) -> bool:
        return (other + self * Fraction(-1)).sign() >= 0

    def sign(self) -> int:
        """Return -1, 0 or 1. Roots that were not merged are independent, so digits decide."""
        if not self.roots:
            return (self.rational > 0) - (self.rational < 0)
        bits = 64
        while True:
            low = high = self.rational
            for factor, radicand in self.roots:
                floor = Fraction(isqrt(radicand << 2 * bits), 1 << bits)
                ends = factor * floor, factor * (floor + Fraction(1, 1 << bits))
                low, high = low + min(ends), high + max(ends)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            bits *= 2

    def __float__(self) -> float:
        return sum((float(c) * math.sqrt(m) for c, m in self.roots), float(self.rational))


@dataclass(frozen=True)
class Cells:
    """A confusion matrix of two classes, and the parameters of a metric."""

    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction
    options: dict[str, Any]

    @property
    def pos(self) -> Fraction:
        """The weight of the positive class."""
        return self.tp + self.fn

    @property
    def neg(self) -> Fraction:
        """The weight of the negative class."""
        return self.tn + self.fp

    @property
    def covariance(self) -> Fraction:
        """TP · TN - FP · FN."""
        return self.tp * self.tn - self.fp * self.fn


def _ratio(top: Fraction, bottom: Fraction) -> Number:
    return Number(Fraction(top) / bottom if bottom else Fraction(0))


def _root_of_ratio(top: Fraction, bottom: Fraction) -> Number:
    return Number.root(_ratio(top, bottom).rational)


def _f_beta(c: Cells) -> Number:
    square = c.options["beta"] ** 2
    return _ratio((1 + square) * c.tp, (1 + square) * c.tp + c.fp + square * c.fn)


def _bounded_dor(c: Cells) -> Number:
    if c.tp * c.tn == 0:
        return Number()
    upper = c.options["upper"]
    return Number(min(c.tp * c.tn / (c.fp * c.fn), upper) if c.fp * c.fn else upper)


METRICS: dict[str, Callable[[Cells], Number]] = {
    "f_beta": _f_beta,
    "jaccard": lambda c: _ratio(c.tp, c.tp + c.fp + c.fn),
    "precision": lambda c: _ratio(c.tp, c.tp + c.fp),
    "npv": lambda c: _ratio(c.tn, c.tn + c.fn),
    "kappa": lambda c: _ratio(2 * c.covariance, c.neg * (c.tp + c.fp) + c.pos * (c.tn + c.fn)),
    "mcc": lambda c: _root_of_ratio(
        abs(c.covariance) * c.covariance, c.pos * c.neg * (c.tp + c.fp) * (c.tn + c.fn)
    ),
    "fowlkes_mallows": lambda c: _root_of_ratio(c.tp**2, c.pos * (c.tp + c.fp)),
    "gmean": lambda c: _root_of_ratio(c.tp * c.tn, c.pos * c.neg),
    "dor": _bounded_dor,
    "dor_smoothed": lambda c: _ratio(c.tp * c.tn, c.fp * c.fn + c.options["epsilon"]),
}
"""What each metric is, from its textbook definition; 0 where that is 0 / 0."""

Reward = Callable[[int, int, int | None, list[Fraction], dict[str, Any]], Any]
LINEAR: dict[str, Reward] = {
    "accuracy": lambda k, j, _p, w, _o: (k == j) / sum(w),
    "balanced_accuracy": lambda k, j, _p, w, _o: (k == j) / w[k] / sum(v > 0 for v in w),
    "recall": lambda k, j, p, w, _o: (k == j == p) / w[k],
    "specificity": lambda k, j, p, w, _o: (k == j != p) / w[k],
    "youden": lambda k, j, _p, w, _o: (k == j) / w[k],
    "class_cost": lambda k, j, p, _w, o: (
        -(k != j) * o["false_negative" if k == p else "false_positive"]
    ),
    "predicted_positives": lambda _k, j, p, _w, _o: j == p,
    "true_positives": lambda k, j, p, _w, _o: k == j == p,
    "true_negatives": lambda k, j, p, _w, _o: p not in (k, j),
    "false_positives": lambda k, j, p, _w, _o: k != p == j,
    "false_negatives": lambda k, j, p, _w, _o: k == p != j,
    "cost_matrix": lambda k, j, _p, _w, o: -o["costs"][k][j],
    "instance_cost": lambda *_: 0,
}
"""Metrics that add up rewards, by true class k, predicted class j, positive class p, weights of
the classes, and parameters. Youden's index is one less."""

FALLING = frozenset({"false_positives", "false_negatives"})
"""Metrics that never rise when TP or TN rises and the class sizes stay."""
RISING = (
    frozenset((*METRICS, *LINEAR, "own"))
    - FALLING
    - {"predicted_positives", "cost_matrix", "instance_cost"}
)
"""Metrics that never fall then."""
ALL_CLASSES = frozenset(("accuracy", "balanced_accuracy", "cost_matrix", "instance_cost"))
"""Metrics that do not ask which class is the positive one."""


@dataclass(frozen=True)
class Metric:
    """A weighted sum of metrics: triples of a weight, a name and parameters."""

    terms: tuple[tuple[Fraction, str, dict[str, Any]], ...]
    own: Callable[..., Number] | None = None

    @classmethod
    def read(cls, terms: Any, own: Callable[..., Number] | None = None) -> Metric:
        """Read the metric from a header."""
        read = []
        for weight, name, options in terms:
            known = name in METRICS or name in LINEAR or name == "own"
            _require(known, f"the checker does not know the metric {name!r}")
            _require(name != "own" or own, "the metric is a function of your own: hand it over")
            if name == "cost_matrix":
                costs = [[_fraction(entry) for entry in row] for row in options["costs"]]
                options = {"costs": costs}
            else:
                options = {key: _fraction(value) for key, value in options.items()}
                positive = all(v >= 0 and (v or k != "epsilon") for k, v in options.items())
                _require(positive, "a parameter of the metric is negative")
            read.append((_fraction(weight), name, options))
        return cls(tuple(read), own)

    @property
    def is_linear(self) -> bool:
        """Whether it adds up rewards of samples."""
        return all(name in LINEAR for _, name, _ in self.terms)

    def moves(self, up: frozenset[str], down: frozenset[str]) -> bool:
        """Say whether its terms are some metrics, or others with a negative weight."""
        return all(name in (up if weight > 0 else down) for weight, name, _ in self.terms)

    def describe(self) -> str:
        """Return the sum with the names and parameters of its terms."""
        parts = []
        for weight, name, options in self.terms:
            numbers = "" if name == "cost_matrix" else ", ".join(f"{v}" for v in options.values())
            if name == "f_beta":
                name, numbers = f"f{float(options['beta']):g}", ""
            factor = "" if weight == 1 else f"{weight} · "
            parts.append(f"{factor}{name}{numbers and f'({numbers})'}")
        return " + ".join(parts)

    def value(self, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Number:
        """Return the value for a confusion matrix of two classes, of which 1 is positive."""
        table, _, offset = self.rewards([tn + fp, tp + fn], 1)
        total = Number(offset + sum(
            cell * reward
            for cells, rewards in zip(((tn, fp), (fn, tp)), table, strict=True)
            for cell, reward in zip(cells, rewards, strict=True)
        ))  # fmt: skip
        for weight, name, options in self.terms:
            if name == "own":
                assert self.own is not None
                total = total + self.own(tp, fp, fn, tn) * weight
            elif name in METRICS:
                total = total + METRICS[name](Cells(tp, fp, fn, tn, options)) * weight
        return total

    def rewards(
        self, weights: list[Fraction], positive: int | None
    ) -> tuple[list[list[Fraction]], Fraction, Fraction]:
        """Return rewards by true and predicted class, the factor of instance costs, the offset."""
        linear = [term for term in self.terms if term[1] in LINEAR]
        present = range(len(weights))
        table = [
            [
                sum((f * Fraction(LINEAR[name](k, j, positive, weights, options))
                     for f, name, options in linear), Fraction(0)) if weights[k] else Fraction(0)
                for j in present
            ]
            for k in present
        ]  # fmt: skip
        instance = -sum((f for f, name, _ in linear if name == "instance_cost"), Fraction(0))
        return table, instance, -sum((f for f, name, _ in linear if name == "youden"), Fraction(0))


# ---------------------------------------------------------------------------- the task and a tree


@dataclass(frozen=True)
class Task:
    """What a certificate says that was asked."""

    max_depth: int | None
    max_splits: int | None
    min_leaf_weight: int
    min_samples_leaf: int
    penalty: Fraction
    metric: Metric
    constraints: tuple[tuple[Metric, str, Fraction], ...]
    positive: int | None
    limits: tuple[tuple[dict[int, Fraction], Fraction], ...] = ()
    """What columns cost, and what those of a tree may cost together."""
    required: frozenset[int] = frozenset()
    """Columns that a tree must use."""

    @classmethod
    def read(cls, header: dict[str, Any], own: Callable[..., Number] | None = None) -> Task:
        """Read what was asked from a header."""
        task, data = header["task"], header["data"]
        least = _fraction(task["min_leaf_weight"]) / _fraction(data["weight_unit"])
        penalty = _fraction(task["split_penalty"])
        _require(least >= 0 and penalty >= 0, "a negative limit")
        depth, splits = (
            None if task[name] is None else _integer(task[name], 0, most)
            for name, most in (("max_depth", 64), ("max_splits", _LARGEST))
        )
        return cls(
            max_depth=depth,
            max_splits=splits,
            min_leaf_weight=math.ceil(least),
            min_samples_leaf=_integer(task["min_samples_leaf"]),
            penalty=penalty,
            metric=Metric.read(task["metric"], own),
            constraints=tuple(
                (Metric.read(terms), {">=": ">=", "<=": "<="}[sense], _fraction(bound))
                for terms, sense, bound in task["constraints"]
            ),
            positive=None if data["positive"] is None else _integer(data["positive"]),
            limits=tuple(
                ({_integer(c): _fraction(price) for c, price in prices}, _fraction(budget))
                for prices, budget in task["limits"]
            ),
            required=frozenset(map(_integer, task["required"])),
        )

    @property
    def deepest(self) -> int:
        """The largest depth of a tree."""
        return min(64 if self.max_depth is None else self.max_depth, self.most_splits)

    @property
    def most_splits(self) -> int:
        """The largest number of splits of a tree."""
        full: int = 2 ** (64 if self.max_depth is None else self.max_depth) - 1
        return full if self.max_splits is None else min(self.max_splits, full)

    def leaves(self, data: Data) -> tuple[Array, int]:
        """Return how leaves are measured, and the least of it; two measures must be one."""
        weights, least = data.counts.sum(axis=1), self.min_leaf_weight
        if not self.min_samples_leaf:
            return weights, least
        each = int(weights[0] // data.samples[0]) if least else 1
        same = not least or np.array_equal(weights, each * data.samples)
        _require(same and each > 0, "the number and the weight of samples differ")
        return data.samples, max(self.min_samples_leaf, -(-least // each))

    def admits(self, columns: frozenset[int]) -> bool:
        """Say whether a tree may use these columns of the user."""
        return all(
            sum(prices.get(c, Fraction(0)) for c in columns) <= budget
            for prices, budget in self.limits
        )

    def cells(self, fn: int, fp: int, data: Data) -> tuple[Fraction, ...]:
        """Return TP, FP, FN and TN, given errors in counts."""
        n_pos, n_neg = sizes(self, data)
        return tuple(data.weight_unit * n for n in (n_pos - fn, fp, fn, n_neg - fp))

    def meets(self, fn: int, fp: int, data: Data) -> bool:
        """Say whether errors, in counts, meet the constraints on metrics."""
        for metric, sense, threshold in self.constraints:
            value, bound = metric.value(*self.cells(fn, fp, data)), Number(threshold)
            if not (bound <= value if sense == ">=" else value <= bound):
                return False
        return True


def sizes(task: Task, data: Data) -> tuple[int, int]:
    """Return the counts of the positive and the negative class, of two."""
    two = data.counts.shape[1] == 2 and task.positive in (0, 1)
    _require(two, "there are no two classes")
    totals = data.counts.sum(axis=0).tolist()
    return totals[task.positive or 0], totals[1 - (task.positive or 0)]


def _leaves(
    node: Any, data: Data, rows: Array, depth: int
) -> Iterator[tuple[int, Array, set[int]]]:
    """Yield the class and the rows of each leaf, and the columns above it."""
    if type(node) is int:
        yield _integer(node, 0, data.counts.shape[1] - 1), rows, set()
        return
    _require(depth > 0, "the tree is too deep")
    feature, *sides = node
    _require(len(sides) == 2, "a split has no two sides")
    right = data.side(2 * _integer(feature, 0, int(data.begin[-1]) - 1) + 1)
    column = int(np.searchsorted(data.begin, feature, side="right")) - 1
    for side, part in zip(sides, (rows & ~right, rows & right), strict=True):
        for label, leaf, columns in _leaves(side, data, part, depth - 1):
            yield label, leaf, columns | {column}


def predict(tree: Any, task: Task, data: Data) -> tuple[Array, int]:
    """Return the predictions and the splits of a tree, after a check that it is allowed."""
    predicted = np.zeros(len(data.counts), dtype=np.int64)
    leaves = list(_leaves(tree, data, np.ones(len(predicted), dtype=bool), task.deepest))
    measure, least = task.leaves(data)
    owner, used = data.owner, set()
    for label, rows, columns in leaves:
        predicted[rows] = label
        _require(int(measure[rows].sum()) >= least, "a leaf of the tree is too small")
        _require(rows.any() or not task.required, "a split of the tree is idle")
        used |= {int(owner[c]) for c in columns}
    _require(len(leaves) - 1 <= task.most_splits, "the tree has too many splits")
    _require(task.admits(frozenset(used)), "the tree uses columns that it must not")
    _require(task.required <= used, "the tree does not use a column that it must")
    _require(not (task.required and _has_twins(tree)), "a split of the tree is idle")
    return predicted, len(leaves) - 1


def _has_twins(node: Any) -> bool:
    """Say whether both sides of a split are the same leaf."""
    if type(node) is int:
        return False
    return node[1] == node[2] or _has_twins(node[1]) or _has_twins(node[2])


def errors(predicted: Array, task: Task, data: Data) -> tuple[int, int]:
    """Return false negatives and false positives, in counts."""
    positive = task.positive or 0
    fn = int(data.counts[predicted != positive, positive].sum())
    return fn, int(data.counts[predicted == positive, 1 - positive].sum())


def objective(tree: Any, task: Task, data: Data) -> Number:
    """Return the objective of a tree, after a check that it is one of those in question."""
    predicted, splits = predict(tree, task, data)
    if task.metric.is_linear and not task.constraints:
        rewards = Rewards.of(task, data)
        earned = int(rewards.matrix[np.arange(len(predicted)), predicted].sum())
        value = Number(rewards.offset + earned * rewards.unit)
    else:
        sizes(task, data)
        fn, fp = errors(predicted, task, data)
        _require(task.meets(fn, fp, data), "the tree does not meet the constraints")
        value = task.metric.value(*task.cells(fn, fp, data))
    return value + Number(-task.penalty * splits)


@dataclass(frozen=True)
class Rewards:
    """A linear metric in integers: offset + unit · (rewards of the predictions - price · splits).

    The price is rounded down if it is above all there is to gain.
    """

    matrix: Array
    unit: Fraction
    offset: Fraction
    price: int

    @classmethod
    def of(cls, task: Task, data: Data) -> Rewards:
        """Return the linear metric of a task."""
        unit, counts = data.weight_unit, data.counts
        classes = counts.shape[1]
        weights = [unit * total for total in counts.sum(axis=0).tolist()]
        table, instance, offset = task.metric.rewards(weights, task.positive)
        entries = [unit * entry for row in table for entry in row]
        factor = instance * data.cost_unit
        scale = lcm(*(f.denominator for f in (*entries, factor, task.penalty)))
        integers = np.array([int(e * scale) for e in entries], dtype=object)
        matrix = counts.astype(object) @ integers.reshape(classes, classes)
        if instance:
            _require(data.costs is not None, "the data have no costs")
            assert data.costs is not None
            matrix = matrix + data.costs.astype(object) * int(factor * scale)
        price = int(task.penalty * scale)
        divisor = gcd(int(np.gcd.reduce(matrix, axis=None)), price) or 1
        matrix = matrix // divisor
        _require(np.abs(matrix).sum() < _LARGEST, "the rewards are too large to check")
        matrix = matrix.astype(np.int64)
        room = int((matrix.max(axis=1) - matrix.min(axis=1)).sum())
        return cls(matrix, Fraction(divisor, scale), offset, min(price // divisor, room + 1))


# ------------------------------------------------------------------------------ sets of rows


class Splits:
    """The features that split some rows, and sums over the rows on their right sides.

    Parameters
    ----------
    data, rows
        The rows, by number.
    exact
        A type of numbers that holds all sums exactly.
    narrow
        Which of the narrow columns to look at, if that is known; splits that are idle do no harm.
    """

    def __init__(self, data: Data, rows: Array, exact: type, narrow: Array | None = None) -> None:
        self.data, self.rows = data, rows
        bits = data.bits[rows]
        self.narrow = _distinct(bits.T) if narrow is None else narrow
        self.cells: Array = bits[:, self.narrow].astype(exact)
        column, cut = [data.narrow[self.narrow]], [np.zeros(len(self.narrow), dtype=np.int64)]
        self.chains: list[tuple[slice, Array, Array]] = []
        for wide in data.wide:
            ranks = data.ranks[wide, rows]
            order = np.argsort(ranks, kind="stable")
            ends = np.flatnonzero(np.diff(ranks[order]))
            if len(ends):
                begin = sum(map(len, cut))
                self.chains.append((slice(begin, begin + len(ends)), order, ends))
                column.append(np.full(len(ends), wide))
                cut.append(ranks[order][ends])
        self.column, self.cut = np.concatenate(column), np.concatenate(cut)

    def __len__(self) -> int:
        return len(self.column)

    def right(self, chosen: Array) -> Array:
        """Return which rows are on the right of some features; shape (features, rows)."""
        if not self.chains:
            return self.cells.T[chosen]
        ranks = self.data.ranks[self.column[chosen][:, None], self.rows]
        right: Array = (ranks > self.cut[chosen][:, None]).astype(self.cells.dtype)
        return right

    def sums(self, weights: Array) -> Array:
        """Return sums over the right side of each feature, one line for each line of weights."""
        parts = [weights @ self.cells]
        for _, order, ends in self.chains:
            left = np.cumsum(weights[:, order], axis=1)
            parts.append(left[:, -1:] - left[:, ends])
        return np.concatenate(parts, axis=1) if self.chains else parts[0]


class Costs:
    """What trees cost on sets of rows, beyond the cheapest class in every row.

    Parameters
    ----------
    data, task
        The question; of the task only what leaves must have counts.
    costs
        What each class costs in each row, in integers.
    price
        What a split costs.
    """

    def __init__(self, data: Data, task: Task, costs: Array, price: int = 0) -> None:
        self.data, self.price = data, price
        self.weight, self.min_leaf = task.leaves(data)
        avoidable = costs - costs.min(axis=1, keepdims=True)
        self.swing = avoidable.max(axis=1)
        total = max(int(self.swing.sum()) + 4 * price, int(self.weight.sum()))
        _require(total < _LARGEST, "the costs are too large to check")
        # Sums of integers below these sizes are exact in floats, in whatever order.
        self.exact: Any = np.float32 if total < 2**22 else np.float64 if total < 2**51 else np.int64
        self.never = np.inf if total < 2**51 else 2**60
        # What class 0 costs, what the others cost more, and, if that matters, what rows weigh.
        parts = [avoidable[:, 0], *(avoidable[:, 1:] - avoidable[:, :1]).T, self.weight]
        self.parts = np.array(parts if self.min_leaf else parts[:-1]).astype(self.exact)
        self.classes, self.zero = costs.shape[1], np.zeros(1, self.exact)
        _require(self.classes > 1, "there is only one class")

    def leaf(self, sums: Sequence[Array], heavy: bool) -> Array:
        """Return what leaves cost, given sums over their rows; the sums are used up."""
        first, *others = sums
        best = np.minimum(others[0], 0, out=others[0])
        for more in others[1 : self.classes - 1]:
            np.minimum(best, more, out=best)
        best += first
        return np.where(others[-1] < self.min_leaf, self.never, best) if heavy else best

    def whole(self, rows: Array) -> int:
        """Return what a single leaf costs."""
        first, *others = self.parts[: self.classes, rows].sum(axis=1).tolist()
        return int(first + min(0, *others))

    def leaf_sides(self, splits: Splits, heavy: bool) -> Array:
        """Return what the right and the left side of each feature cost as leaves."""
        parts = self.parts[:, splits.rows]
        right = splits.sums(parts)
        left = parts.sum(axis=1)[:, None] - right
        return np.array([self.leaf([*right], heavy), self.leaf([*left], heavy)])

    def pairs(self, splits: Splits) -> list[Array]:
        """Return sums over the rows inside each pair of 0/1 columns."""
        return [(splits.cells.T * part) @ splits.cells for part in self.parts[1:, splits.rows]]

    def table(self, splits: Splits, pairs: list[Array], heavy: bool) -> tuple[Array, Array]:
        """Return what the sides of 0/1 columns cost as leaves, and with at most one split."""
        parts = self.parts[:, splits.rows]
        own = parts @ splits.cells
        rest = parts.sum(axis=1)[:, None] - own
        both, only, none = [self.zero, *pairs], [self.zero], [self.zero]
        for inside, right, left in zip(pairs, own[1:], rest[1:], strict=True):
            only.append(right[:, None] - inside)  # in i and not in j, or the other way round
            none.append(left - only[-1])
        a, b, c = (self.leaf(sums, heavy) for sums in (both, only, none))
        a += b
        b += c
        stumps = [a.min(axis=1, initial=self.never), b.min(axis=0, initial=self.never)]
        sides = np.array([stumps[0] + own[0], stumps[1] + rest[0]]) + self.price
        leaves = np.array([self.leaf([*own], heavy), self.leaf([*rest], heavy)])
        return leaves, np.minimum(leaves, sides)

    def stump_sides(self, splits: Splits, chosen: Array, heavy: bool) -> Array:
        """Return what the sides of some features cost with one split each, but not its price."""
        parts = self.parts[:, splits.rows]
        totals, whole, found = parts.sum(axis=1)[:, None, None], splits.sums(parts)[:, None], []
        for some in np.array_split(chosen, max(1, len(chosen) * len(splits) >> 16)):
            right = splits.right(some)
            own = right @ parts.T
            # Class 0 costs a side the same, however it is split.
            four = [[own[:, :1]], [self.zero], [totals[0] - own[:, :1]], [self.zero]]
            for k in range(1, len(parts)):
                both = splits.sums(right * parts[k])
                here, left = own[:, k : k + 1], whole[k] - both
                new = (both, here - both, left, totals[k] - here - left)
                for sums, more in zip(four, new, strict=True):
                    sums.append(more)
            a, b, c, d = (self.leaf(sums, heavy) for sums in four)
            found.append([x.min(axis=1, initial=self.never) for x in (a + b, c + d)])
        return np.concatenate(found, axis=1)

    def best_sides(
        self,
        splits: Splits,
        heavy: bool,
        enough: Callable[[Array, Array], Array],
        pairs: list[Array] | None = None,
    ) -> tuple[Array, Array]:
        """Bound what the sides of each feature cost with at most one split, which has a price.

        Returns the costs as leaves, and the bounds: exact, unless they are `enough`. Not every
        threshold of a column is looked at: a side costs no less than a part of it (inclusion), and
        no less than a larger set minus the swing of what that has more (similarity).
        """
        if not splits.chains:
            return self.table(splits, self.pairs(splits) if pairs is None else pairs, heavy)
        leaves = light = self.leaf_sides(splits, False)
        if heavy:
            leaves = self.leaf_sides(splits, True)
        swing = self.swing[splits.rows].astype(self.exact)
        bounds, exact = np.zeros_like(leaves), np.zeros(len(splits), dtype=bool)
        found = np.full_like(leaves, -self.never)
        while len(chosen := np.flatnonzero(~exact & ~enough(leaves, bounds))):
            ends = [len(splits.narrow), *(chain.stop for chain, _, _ in splits.chains)]
            some, *others = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
            chosen = np.concatenate([some, *map(_spread, others)])
            stumps = self.stump_sides(splits, chosen, False) + self.price
            found[:, chosen] = bounds[:, chosen] = np.minimum(stumps, light[:, chosen])
            exact[chosen] = True
            for chain, order, ends_of in splits.chains:
                moved = np.cumsum(swing[order])[ends_of]  # the swing of the left sides
                for side, step in ((0, -1), (1, 1)):  # right sides grow in the other direction
                    known, swings = found[side, chain][::step], step * moved[::step]
                    similar = np.maximum.accumulate((known - swings)[::-1])[::-1] + swings
                    known = np.maximum(np.maximum.accumulate(known), similar)[::step]
                    np.maximum(bounds[side, chain], known, out=bounds[side, chain])
        if heavy and len(chosen := np.flatnonzero(~enough(leaves, bounds))):
            stumps = self.stump_sides(splits, chosen, True) + self.price
            bounds[:, chosen] = np.minimum(stumps, leaves[:, chosen])
        return leaves, bounds


def _spread(places: Array) -> Array:
    """Return some of many places."""
    return (
        places[np.unique(np.linspace(0, len(places) - 1, 12).astype(int))]
        if len(places)
        else places
    )


# ------------------------------------------------------------------------- facts about sets of rows


class Facts:
    """Checks the facts "no tree of depth d costs less than v on these rows" of one proof.

    There is either one value, with the price of each split, or one for at most 0, 1, ... `budget`
    splits, without.
    """

    def __init__(self, costs: Costs, budget: int | None, proof: dict[str, Array]) -> None:
        self.costs, self.data, self.budget = costs, costs.data, budget
        self.depth, self.relaxed = proof["depth"], proof["relaxed"]
        number, path = len(self.depth), proof["path"]
        _require(number > 0 and len(self.relaxed) == number, "a proof has no facts")
        self.paths, values, self.anchors = (
            _pieces(proof[name], proof[name + "_begin"], number)
            for name in ("path", "value", "anchor")
        )
        self.values = [np.maximum(v, 0) for v in values]  # which is true of all costs
        known = path.min(initial=0) >= 0 and path.max(initial=0) < 2 * max(1, self.data.begin[-1])
        _require(known, "a path names a column that is not there")
        wanted = [self.classes(d) for d in self.depth.tolist()]
        _require(list(map(len, values)) == wanted, "a fact has the wrong number of values")
        _require(np.isin(self.relaxed, (0, 1)).all(), "a fact is about no trees")
        _require(costs.min_leaf or self.relaxed.all(), "a fact is about other trees")
        self.parent: tuple[bytes, Splits] | None = None
        self.sides: tuple[Splits, Array] | None = None  # what the last fact knows

    def classes(self, depth: int) -> int:
        """Return the number of values of a fact."""
        return 1 if self.budget is None else min(self.budget, 2 ** min(depth, 40) - 1) + 1

    def check(self) -> tuple[Array, int]:
        """Check all facts; return the values and the depth of the last, which is about all rows."""
        for fact in range(len(self.depth)):
            rows = self.rows(self.paths[fact])
            values, depth = self.values[fact], self.usable_depth(fact)
            whole = self.costs.whole(np.flatnonzero(rows))
            _require(whole >= values.max(), f"fact {fact}: a leaf costs less")
            holds = depth == 0 or (
                self._check_table(fact, rows, depth)
                if depth <= 2
                else self._check_split(fact, rows, depth)
            )
            _require(holds, f"fact {fact}: a tree may cost less than it says")
        _require(len(self.paths[-1]) == 0, "the last fact is not about all rows")
        return self.values[-1], int(self.depth[-1])

    def usable_depth(self, fact: int) -> int:
        """Return the depth of trees that could cost less (rule: price).

        A tree with k splits is no deeper than k, and costs at least k times the price.
        """
        depth, price = int(self.depth[fact]), self.costs.price
        if self.budget is not None:
            return min(depth, self.budget)
        return min(depth, max(0, (int(self.values[fact][0]) - 1) // price)) if price else depth

    def rows(self, path: Array) -> Array:
        """Rebuild a set of rows from the splits that lead to it."""
        out = np.ones(len(self.costs.swing), dtype=bool)
        for step in path.tolist():
            out &= self.data.side(step)
        return out

    # Rule: table. Sums over all pairs of features give the best trees of depth two.

    def _check_table(self, fact: int, rows: Array, depth: int) -> bool:
        path, costs = self.paths[fact], self.costs
        parent = self._parent(path[:-1])
        splits = Splits(self.data, np.flatnonzero(rows), costs.exact, parent.narrow)
        values, price = self.values[fact].tolist(), self.costs.price

        def enough(leaves: Array, sides: Array) -> Array:
            holds: Array
            if self.budget is None:
                holds = (sides if depth == 2 else leaves).sum(axis=0) + price >= values[0]
                return holds
            holds = leaves.sum(axis=0) >= values[1]
            if len(values) > 2 and depth == 2:
                mixed = np.minimum(leaves[0] + sides[1], sides[0] + leaves[1])
                holds &= mixed >= values[2]
                if len(values) > 3:
                    holds &= sides.sum(axis=0) >= values[3]
            return holds

        heavy, pairs = not self.relaxed[fact], None
        if depth == 1:
            leaves = costs.leaf_sides(splits, heavy)
            return bool(enough(leaves, leaves).all())
        if not parent.chains and 2 * len(splits.rows) > len(parent.rows):
            # The sums over the smaller side are made, those over the larger are the rest.
            others = parent.rows[~rows[parent.rows]]
            small = costs.pairs(Splits(self.data, others, costs.exact, parent.narrow))
            pairs = [whole - part for whole, part in zip(self.pairs, small, strict=True)]
        return bool(enough(*costs.best_sides(splits, heavy, enough, pairs)).all())

    def _parent(self, path: Array) -> Splits:
        """Return the splits of the row set that others are sides of; the last one is kept."""
        if self.parent is None or self.parent[0] != path.tobytes():
            splits = Splits(self.data, np.flatnonzero(self.rows(path)), self.costs.exact)
            self.parent = path.tobytes(), splits
            self.pairs = [] if splits.chains else self.costs.pairs(splits)
        return self.parent[1]

    # Rule: split. Whatever the first split is, both sides cost at least what similar row sets do.

    def _check_split(self, fact: int, node: Array, depth: int) -> bool:
        anchors, relaxed = self.anchors[fact], bool(self.relaxed[fact])
        earlier = anchors.min(initial=0) >= 0 and anchors.max(initial=-1) < fact
        _require(earlier, f"fact {fact} rests on one that is not before it")
        _require((self.depth[anchors] >= depth - 1).all(), f"fact {fact} rests on smaller trees")
        _require(not relaxed or self.relaxed[anchors].all(), f"fact {fact} rests on fewer trees")
        costs, values = self.costs, self.values[fact]
        # A split that all rows pass on one side can be left out: only the others count.
        splits = Splits(self.data, np.flatnonzero(node), costs.exact)
        sides = self._side_bounds(anchors, splits, self.classes(depth - 1))
        if not relaxed:
            right = splits.sums(costs.parts[-1:, splits.rows])[0]
            left = costs.weight[splits.rows].sum() - right
            sides[..., np.minimum(right, left) < costs.min_leaf] = costs.never
        if self.budget is None:
            self.sides = splits, sides[:, 0]
            return bool((sides[0, 0] + sides[1, 0] + costs.price >= values[0]).all())
        return all(
            (sides[0, i] + sides[1, min(m - 1 - i, sides.shape[1] - 1)] >= values[m]).all()
            for m in range(1, len(values))
            for i in range(min(m, sides.shape[1]))
        )

    def _side_bounds(self, anchors: Array, splits: Splits, classes: int) -> Array:
        """Return bounds on the right and the left of every feature, by number of splits."""
        bounds = np.zeros((2, classes, len(splits)), dtype=self.costs.exact)
        size = max(1, 2**22 // (len(self.costs.swing) + len(splits)))
        for group in (anchors[i : i + size] for i in range(0, len(anchors), size)):
            sets = np.array([self.rows(self.paths[a]) for a in group])
            lost = self._outside(sets, splits, self.costs.swing)
            heavy = self.relaxed[group] == 0
            if heavy.any():
                # Facts about trees with heavy leaves hold for the very same rows only.
                ones = np.ones_like(self.costs.swing)
                here = splits.sums(np.ones((1, len(splits.rows)), self.costs.exact))
                size_of = np.array([here, len(splits.rows) - here])
                same = (self._outside(sets, splits, ones) == 0) & (
                    size_of == sets.sum(axis=1)[:, None]
                )
                lost[:, heavy] = np.where(same, 0, self.costs.never)[:, heavy]
            for m in range(classes):
                value = np.array([self.values[a][m] for a in group])[:, None]
                np.maximum(bounds[:, m], (value - lost).max(axis=1), out=bounds[:, m])
        return bounds

    def _outside(self, sets: Array, splits: Splits, weights: Array) -> Array:
        """Return the weight of the rows of each set that are not on the right, and the left."""
        weights = weights.astype(self.costs.exact)
        here = sets[:, splits.rows] * weights[splits.rows]
        right = splits.sums(here)
        whole = (sets @ weights)[:, None]
        return np.array([whole - right, whole - (here.sum(axis=1)[:, None] - right)])


def _pieces(flat: Array, begin: Array, number: int) -> list[Array]:
    ordered = len(begin) == number + 1 and begin[0] == 0 and begin[-1] == len(flat)
    _require(ordered and (np.diff(begin) >= 0).all(), "the facts of a proof are not in order")
    return [flat[i:j] for i, j in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True)]


# --------------------------------------------------------- from linear questions to the objective


@dataclass(frozen=True)
class Line:
    """Proven: a · FN + b · FP >= least, for trees of a depth, by their number of splits."""

    a: int
    b: int
    price: int
    least: tuple[int, ...]
    budget: int | None
    depth: int

    def at(self, splits: int, deepest: int) -> int | None:
        """Return the least cost of errors of trees with so many splits; None if not known."""
        if min(deepest, splits) > self.depth:
            return None
        if self.budget is None:
            return self.least[0] - self.price * splits
        return self.least[splits] if splits < len(self.least) else None

    def floor(self, fn: Array, least: int, n_neg: int) -> Array:
        """Return the least false positives of points that cost at least so much."""
        if self.b:
            return -((self.a * fn - least) // self.b)
        return np.where(self.a * fn < least, n_neg + 1, 0)


class Argument:
    """The argument that no tree is better than a bound, from proofs of linear questions.

    Parameters
    ----------
    task, data
        The question. All trees over the columns of these data count.
    questions, proofs
        The questions, and their proofs in the same order.
    """

    def __init__(
        self, task: Task, data: Data, questions: list[Any], proofs: Iterator[dict[str, Array]]
    ) -> None:
        self.task, self.data, self.questions, self.proofs = task, data, questions, proofs
        self.facts = 0

    def check(self, bounds: list[tuple[int, Number | None]]) -> None:
        """Check that no tree with at most so many splits beats a bound, for each of these pairs.

        Without a bound, no tree meets the constraints.
        """
        if self.task.metric.is_linear and not self.task.constraints:
            self._check_linear(bounds)
            return
        self.n_pos, self.n_neg = sizes(self.task, self.data)
        # A constraint that may be met again after more errors excludes nothing here.
        self.task = replace(self.task, constraints=tuple(
            (metric, sense, bound) for metric, sense, bound in self.task.constraints
            if metric.moves(*((RISING, FALLING) if sense == ">=" else (FALLING, RISING)))
        ))  # fmt: skip
        _require(self.task.metric.moves(RISING, FALLING), "the metric may rise with errors")
        lines = self.lines([bound for _, bound in bounds])
        for splits, bound in bounds:
            self._check_staircase(lines, splits, bound)

    def _prove(self, costs: Costs, budget: int | None) -> Facts:
        proof = next(self.proofs, None)
        _require(proof is not None, "a proof is missing")
        assert proof is not None
        self.facts += len(proof["depth"])
        return Facts(costs, budget, proof)

    def _check_linear(self, bounds: list[tuple[int, Number | None]]) -> None:
        """Check a linear metric: one question says all."""
        _require(len(self.questions) == 1, "a linear metric takes one question")
        rewards, budget = Rewards.of(self.task, self.data), self.questions[0]["budget"]
        if budget is not None:
            _integer(budget, min(bounds[-1][0], _LARGEST))
        most = rewards.matrix.max(axis=1)
        price = 0 if budget is not None else rewards.price
        costs = Costs(self.data, self.task, most[:, None] - rewards.matrix, price)
        values, depth = self._prove(costs, budget).check()
        _require(depth >= self.task.deepest, "the question is about smaller trees")
        # A tree with m splits earns no more than this, after it has paid for them.
        ends = [int(most.sum()) - v for v in values.tolist()]
        if budget is not None:
            ends = [end - rewards.price * m for m, end in enumerate(ends)]
        for splits, bound in bounds:
            end = max(ends[: splits + 1] if splits < len(ends) else ends)
            holds = bound is not None and Number(rewards.offset + end * rewards.unit) <= bound
            _require(holds, f"the question leaves room for better trees with {splits} splits")

    def lines(self, bounds: list[Number | None]) -> list[Line]:
        """Check the proof of every linear question on the plane of errors."""
        data, positive, lines = self.data, self.task.positive or 0, []
        for question in self.questions:
            a, b, price = (_integer(question[name]) for name in ("a", "b", "price"))
            budget = None if question["budget"] is None else _integer(question["budget"])
            _require(budget is None or price == 0, "a question has a price too many")
            _require(max(a, b) * int(data.counts.sum()) < _LARGEST, "a question is too fine")
            table = np.zeros_like(data.counts)
            table[:, 1 - positive] = a * data.counts[:, positive]
            table[:, positive] = b * data.counts[:, 1 - positive]
            costs = Costs(data, self.task, table, price)
            facts = self._prove(costs, budget)
            values, depth = facts.check()
            base = int(table.min(axis=1).sum())
            least = tuple(base + v for v in values.tolist())
            if (inside := question.get("inside")) is not None:
                known = bounds and budget is None and price == 0 and depth >= self.task.deepest
                _require(known, "points inside the hull need a bound, and no price")
                points = Inside(costs, self.task, (a, b)).points(
                    np.arange(len(table)), self.task.deepest, _integer(inside), facts.sides
                )
                for fn, fp in points.tolist():
                    worse = not any(self._is_better(fn, fp, 0, bound) for bound in bounds)
                    what = f"{fn} false negatives and {fp} false positives"
                    _require(worse, f"a tree with {what} is better")
                least = (_integer(inside) + 1,)
            lines.append(Line(a, b, price, least, budget, depth))
        return lines

    def _check_staircase(self, lines: list[Line], splits: int, bound: Number | None) -> None:
        """Check that every point that no line excludes is not better, or not allowed."""
        n_pos, n_neg = self.n_pos, self.n_neg
        constants = ((0, n_neg), (n_pos, 0))
        can_split = len(self.data.narrow) + len(self.data.wide) > 0
        fn = np.arange(n_pos + 1)
        for number in self._numbers(splits, bound):
            if number == 0 or not can_split:
                worse = not any(self._is_better(*point, number, bound) for point in constants)
                _require(worse, "a tree without splits is better")
                continue
            floor = np.zeros(n_pos + 1, dtype=np.int64)
            for line in lines:
                if (least := line.at(number, self.task.deepest)) is not None:
                    floor = np.maximum(floor, line.floor(fn, least, n_neg))
            floor = np.minimum.accumulate(np.minimum(floor, n_neg + 1))
            # The metric and the constraints are monotone: the corners of the staircase decide.
            for x in np.flatnonzero(np.diff(floor, prepend=n_neg + 1) < 0).tolist():
                worse = not self._is_better(x, int(floor[x]), number, bound)
                what = f"{x} false negatives and {floor[x]} false positives"
                _require(worse, f"better trees with {what} may exist")

    def _numbers(self, splits: int, bound: Number | None) -> Iterator[int]:
        """Yield the numbers of splits to look at."""
        if not self.task.penalty:
            yield splits  # trees with fewer are among these
            return
        # With a penalty, each of them has another value to beat; not even trees without errors do
        # from some number on.
        number = 0
        while number <= splits and (number == 0 or self._is_better(0, 0, number, bound)):
            _require(number < 10**6, "the penalty is too small to check")
            yield number
            number += 1

    def _is_better(self, fn: int, fp: int, splits: int, bound: Number | None) -> bool:
        """Say whether a point meets the constraints and beats the bound."""
        if not self.task.meets(fn, fp, self.data):
            return False
        value = self.task.metric.value(*self.task.cells(fn, fp, self.data))
        return bound is None or not value <= bound + Number(self.task.penalty * splits)


class Inside:
    """Lists the points of all trees that are almost the cheapest: above a line, but not far.

    Parameters
    ----------
    costs
        The question in the direction of the line.
    task
        Which class is the positive one.
    direction
        What a false negative and a false positive cost.
    """

    def __init__(self, costs: Costs, task: Task, direction: tuple[int, int]) -> None:
        self.costs, self.direction = costs, np.array(direction)
        positive = task.positive or 0
        counts = costs.data.counts
        self.counts = np.array([counts[:, positive], counts[:, 1 - positive]])
        self.base = (self.direction[:, None] * self.counts).min(axis=0)
        _require(counts.sum() < 2**51, "the counts are too large to check")

    def points(
        self, rows: Array, depth: int, limit: int, known: tuple[Splits, Array] | None = None
    ) -> Array:
        """Return points (FN, FP) that dominate those of all trees on some rows up to a cost.

        Parameters
        ----------
        rows, depth
            Which trees.
        limit
            What they cost at most, all of it.
        known
            Bounds on the avoidable costs of both sides of each split, if there are any.
        """
        pos, neg = self.counts[:, rows].sum(axis=1).tolist()
        found = [np.array([(0, neg), (pos, 0)])]
        if depth > 0:
            splits = known[0] if known else Splits(self.costs.data, rows, self.costs.exact)
            room = limit - int(self.base[rows].sum())
            sides = self._sides(splits, depth - 1, room, known)
            close = np.flatnonzero(sides.sum(axis=0) <= room)
            if depth == 1:
                x, y = splits.sums(self.counts[:, rows])[:, close].astype(np.int64)
                found += [np.stack([pos - x, y], axis=1), np.stack([x, neg - y], axis=1)]
                close = close[:0]
            for f in close.tolist():
                right = splits.right(np.array([f]))[0] > 0
                parts = []
                for side, other in ((0, 1), (1, 0)):
                    part = rows[right] if side == 0 else rows[~right]
                    rest = rows[~right] if side == 0 else rows[right]
                    most = limit - int(self.base[rest].sum()) - int(sides[other, f])
                    parts.append(self.points(part, depth - 1, most))
                found.append((parts[0][:, None] + parts[1]).reshape(-1, 2))
        points = np.concatenate(found)
        points = points[points @ self.direction <= limit]
        points = points[np.lexsort(points.T[::-1])]
        below = np.minimum.accumulate(np.concatenate([[_LARGEST], points[:, 1]]))
        kept: Array = points[points[:, 1] < below[:-1]]
        return kept

    def _sides(
        self, splits: Splits, depth: int, room: int, known: tuple[Splits, Array] | None
    ) -> Array:
        """Bound the avoidable costs of both sides of each split, as far as that may exclude it."""
        costs, heavy = self.costs, self.costs.min_leaf > 0
        if depth == 0:
            return costs.leaf_sides(splits, heavy)
        if depth == 1:
            return costs.best_sides(splits, heavy, lambda _, sides: sides.sum(axis=0) > room)[1]
        sides = np.zeros((2, len(splits)), costs.exact) if known is None else known[1].copy()
        if depth > 2:
            return sides
        for f in np.flatnonzero(sides.sum(axis=0) <= room).tolist():
            right = splits.right(np.array([f]))[0] > 0
            for side, part in enumerate((splits.rows[right], splits.rows[~right])):
                sides[side, f] = self._least(part, room - int(sides[1 - side, f]))
        return sides

    def _least(self, rows: Array, room: int) -> Any:
        """Return the least cost of trees of depth two, or one above the room."""
        costs, heavy = self.costs, self.costs.min_leaf > 0
        splits = Splits(costs.data, rows, costs.exact)
        if heavy and costs.weight[rows].sum() < costs.min_leaf:
            return costs.never
        whole = costs.whole(rows)
        if not len(splits) or whole == 0:
            return whole
        _, sides = costs.best_sides(splits, heavy, lambda _, sides: sides.sum(axis=0) > room)
        return min(whole, sides.sum(axis=0).min())


# ----------------------------------------------------------------------------------- all of it


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Attributes
    ----------
    statement
        What is proven, in words.
    facts
        How many facts on row sets were checked.
    objective, bound
        The objective of the tree, and what no tree exceeds; None if there is none.
    """

    statement: str
    facts: int
    objective: float | None = None
    bound: float | None = None

    def __str__(self) -> str:
        return f"VERIFIED: {self.statement}"


def check_certificate(
    content: bytes, data: Data, own_metric: Callable[..., Number] | None = None
) -> Verdict:
    """Check a certificate against the data.

    Parameters
    ----------
    content
        The bytes of the file.
    data
        The data that the certificate is about.
    own_metric
        What `function(tp, fp, fn, tn)` a metric of the user's own is, which the certificate
        cannot contain.

    Raises
    ------
    RejectedError
        If a step fails; the message says which.
    """
    header = read_header(content)
    try:
        return _Check(header, read_proofs(content), data, own_metric).run()
    except RejectedError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
            RecursionError, MemoryError) as error:  # fmt: skip
        raise RejectedError(f"the certificate makes no sense: {error!r}") from None


class _Check:
    """One certificate, and the data that it is about."""

    def __init__(
        self,
        header: dict[str, Any],
        proofs: Iterator[dict[str, Array]],
        data: Data,
        own_metric: Callable[..., Number] | None,
    ) -> None:
        _require(header["checkable"] is True, f"this cannot be checked: {header.get('reason')}")
        about = header["data"]
        _require(about["digest"] == data.digest(), "the certificate is about other data")
        units = _fraction(about["weight_unit"]), _fraction(about["cost_unit"])
        same = units == (data.weight_unit, data.cost_unit) and units[0] > 0
        _require(same and about["classes"] == list(data.classes), "other units, or other classes")
        owners = None if data.owners is None else list(data.owners)
        _require(about["owner"] == owners, "the columns belong to others")
        self.header, self.proofs, self.facts = header, proofs, 0
        self.task = Task.read(header, own_metric)
        positive = self.task.positive
        known = positive is None or positive < data.counts.shape[1]
        _require(known, "there is no such positive class")
        self.label = None if positive is None else data.classes[positive]
        if about["against_rest"] is True:
            _require(positive is not None, "there is no positive class")
            data = data.against_rest(positive or 0)
            self.task = replace(self.task, positive=1)
        self.data = data
        prices = [p for prices, _ in self.task.limits for p in prices.values()]
        _require(min(prices, default=Fraction(0)) >= 0, "a column has a negative price")

    def run(self) -> Verdict:
        """Check all of it."""
        header, task, data = self.header, self.task, self.data
        status, tree = header["status"], header["tree"]
        measure, least = task.leaves(data)
        if least > measure.sum():
            _require(status == "infeasible", "all rows together are too few for a leaf")
            return Verdict(self._statement(None), 0)
        if status in ("hull", "path"):
            _require(tree is None and not task.limits and not task.required, "no such rule")
            statement = self._check_hull() if status == "hull" else self._check_path()
            return Verdict(statement, self.facts)
        value = None if tree is None else objective(tree, task, data)
        bound: Number | None = None
        if status == "optimal":
            bound = value
            _require(bound is not None, "an optimal result needs a tree")
        elif status == "infeasible":
            _require(tree is None, "there is a tree")
        else:
            _require(status == "bound", f"there is no status {status!r}")
            rational, roots = header["bound"]
            terms = tuple((_fraction(c), _integer(m, 0, 10**400)) for c, m in roots)
            bound = Number(_fraction(rational)) + Number(Fraction(0), terms)
        self.questions = list(header["questions"])
        self._cover(header["cover"], frozenset(), frozenset(data.owner.tolist()), bound)
        self._end()
        numbers = (None if n is None else float(n) for n in (value, bound))
        return Verdict(self._statement(bound), self.facts, *numbers)

    def _end(self) -> None:
        _require(
            not self.questions and next(self.proofs, None) is None, "there is a proof too many"
        )

    def _argument(self, data: Data, number: int) -> Argument:
        some, self.questions = self.questions[:number], self.questions[number:]
        _require(len(some) == number, "a question is missing")
        return Argument(self.task, data, some, self.proofs)

    def _cover(
        self, node: Any, committed: frozenset[int], among: frozenset[int], bound: Number | None
    ) -> None:
        """Check that no tree is better that uses the columns committed to, and some of the others.

        A node is the number of questions that prove it, or a column, a node for trees without it,
        and one for trees that may use it.
        """
        if not self.task.admits(committed):
            return  # nor does it admit more columns
        allowed = committed | {c for c in among if self.task.admits(committed | {c})}
        if type(node) is int:
            owners = self.data.owner
            data = self.data.without(~np.isin(owners, list(allowed)))
            argument = self._argument(data, _integer(node))
            argument.check([(self.task.most_splits, bound)])
            self.facts += argument.facts
            return
        column, without, with_it = node
        _require(column in allowed - committed, "this column is no choice")
        self._cover(without, committed, allowed - {column}, bound)
        self._cover(with_it, committed | {column}, allowed, bound)

    def _check_path(self) -> str:
        """Check that each listed tree is the best with at most as many splits as its place says."""
        task, trees = self.task, self.header["trees"]
        _require(len(trees) == task.most_splits + 1 and not task.penalty, "a size is missing")
        values = [
            objective(tree, replace(task, max_splits=m), self.data) for m, tree in enumerate(trees)
        ]
        self.questions = list(self.header["questions"])
        argument = self._argument(self.data, len(self.questions))
        argument.check(list(enumerate(values)))
        self.facts = argument.facts
        self._end()
        numbers = ", ".join(f"{float(value):.6f}" for value in values)
        return (
            f"{self._trees(replace(task, max_splits=None))} and at most 0, 1, ... splits has a "
            f"larger {task.metric.describe()} than those listed: {numbers}"
        )

    def _check_hull(self) -> str:
        """Check that no tree is below the polygon through the points of the listed trees."""
        task, data = self.task, self.data
        _require(not task.constraints and not task.penalty, "a hull is about all trees")
        sizes(task, data)
        self.questions = list(self.header["questions"])
        argument = self._argument(data, len(self.questions))
        lines = argument.lines([])
        self.facts = argument.facts
        self._end()
        points = [errors(predict(t, task, data)[0], task, data) for t in self.header["trees"]]
        steps = list(pairwise(points))
        _require(points and points[0][0] == 0 and points[-1][1] == 0, "the hull has open ends")
        ordered = all(p[0] <= q[0] and p[1] >= q[1] and p != q for p, q in steps)
        _require(ordered, "the vertices of the hull are not in order")
        for (x, y), (right, low) in steps:
            a, b = y - low, right - x
            excluded = a == 0 or b == 0  # nothing has less than no errors of a kind
            for line in lines:
                least = line.at(task.most_splits, task.deepest)
                if line.a + line.b > 0 and line.a * b == line.b * a and least is not None:
                    excluded = excluded or least >= line.a * x + line.b * y
            _require(excluded, f"trees below the edge that begins at ({x}, {y}) may exist")
        return (
            f"no point (false negatives, false positives) of a tree{self._trees(task)[7:]} "
            f"is below the hull of {len(points)} listed ones"
        )

    def _trees(self, task: Task) -> str:
        """Say which trees there are."""
        depth = "any depth" if task.max_depth is None else f"depth {task.max_depth}"
        text = f"no tree of {depth}"
        if task.max_splits is not None:
            text += f" with at most {task.max_splits} splits"
        text += f" over {len(self.data.ranks)} columns"
        if self.data.wide:
            text += " and all their thresholds"
        for prices, budget in task.limits:
            names = ", ".join(f"{c}: {price}" for c, price in prices.items())
            text += f", whose columns cost at most {budget} ({names}),"
        if task.required:
            text += f", that uses columns {', '.join(map(str, sorted(task.required)))},"
        measures = [f"{task.min_samples_leaf} samples"] if task.min_samples_leaf else []
        if task.min_leaf_weight:
            measures.append(f"a weight of {task.min_leaf_weight * self.data.weight_unit}")
        if measures:
            text += f", with at least {' and '.join(measures)} in each leaf,"
        return text

    def _statement(self, bound: Number | None) -> str:
        """Say what is proven, from what was read and checked."""
        task, text = self.task, self._trees(self.task)
        conditions = " and ".join(
            f"{m.describe()} {sense} {float(t):g}" for m, sense, t in task.constraints
        )
        if bound is None:
            return f"{text} meets {conditions or 'the limits'}"
        if conditions:
            text += f" that meets {conditions}"
        what = task.metric.describe()
        if task.penalty:
            what += f" - {float(task.penalty):g} per split"
        names = [name for _, name, _ in task.metric.terms]
        if not ALL_CLASSES.issuperset(names):
            what += f" for {self.label}"
        than = "this one, " if self.header["status"] == "optimal" else ""
        text += f" has a larger {what} than {than}{float(bound):.6f}"
        if "own" in names:
            text += ", if the metric never falls with fewer errors, as its author says"
        return text


def read_table(path: str, classes: Sequence[Any], target: str | None = None) -> Data:
    """Read a CSV file with a header, columns of numbers and one column with the class."""
    with open(path, newline="", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    place = len(names) - 1 if target is None else names.index(target)
    cells = [[cell for j, cell in enumerate(line) if j != place] for line in lines]
    return of_labels(np.array(cells, dtype=float), [line[place] for line in lines], classes)


def of_labels(X: Array, labels: Sequence[Any], classes: Sequence[Any]) -> Data:
    """Return the data of numbers and labels; classes are compared as text."""
    place = {str(label): k for k, label in enumerate(classes)}
    counts = np.zeros((len(labels), len(classes)), dtype=np.int64)
    for i, label in enumerate(labels):
        _require(str(label) in place, f"the class {label!r} is not in the certificate")
        counts[i, place[str(label)]] = 1
    return replace(Data.merge(X, counts, counts.sum(axis=1)), classes=tuple(map(str, classes)))


def main(arguments: Sequence[str]) -> int:
    """Check a certificate against a table; for use without the package."""
    proof, table, *target = arguments
    with open(proof, "rb") as file:
        content = file.read()
    try:
        classes = read_header(content)["data"]["classes"]
        print(check_certificate(content, read_table(table, classes, *target)))
    except RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
