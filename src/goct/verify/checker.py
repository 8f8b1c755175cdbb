"""The checker of certificates: this one file and numpy, written to be read by a sceptic.

It shares no code with the engines and believes nothing that a certificate says: it reads the data,
rebuilds every set of rows from the splits that lead to it, recounts every table, and checks every
step in exact arithmetic. The documentation page "What proven means, and how to check it" has
the rules and their proofs in the order of this file.

Without the package::

    python checker.py proof.gct data.csv

where the table has a header, 0/1 columns, and the class in its last column, or in the
column that a third argument names.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import gcd, isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"goct certificate 1\n"
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
_LARGEST = 2**58


class RejectedError(ValueError):
    """A certificate does not prove what it says; the message is the first step that fails."""


def _require(holds: Any, step: str) -> None:
    if not holds:
        raise RejectedError(step)


# ------------------------------------------------------------------------------------------ file


def read_certificate(content: bytes) -> tuple[dict[str, Any], list[dict[str, NDArray[Any]]]]:
    """Return the header of a certificate and the arrays of each of its proofs."""
    _require(content.startswith(MAGIC), "this is no certificate of goct, or one of another version")
    try:
        data = zlib.decompress(content[len(MAGIC) :])
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size].decode())
        place, proofs = 8 + size, []
        for lengths in header["lengths"]:
            arrays = {}
            for (name, dtype), length in zip(ARRAYS.items(), lengths, strict=True):
                arrays[name] = np.frombuffer(data, dtype, length, place).astype(np.int64)
                place += length * np.dtype(dtype).itemsize
            proofs.append(arrays)
        _require(place == len(data), "the file has more bytes than it says")
    except RejectedError:
        raise
    except (ValueError, KeyError, TypeError, zlib.error, MemoryError) as error:
        raise RejectedError(f"the file is damaged: {error}") from None
    return header, proofs


def write_certificate(header: dict[str, Any], proofs: Sequence[dict[str, NDArray[Any]]]) -> bytes:
    """Return the bytes of a certificate."""
    lengths = [[len(arrays[name]) for name in ARRAYS] for arrays in proofs]
    text = json.dumps({**header, "lengths": lengths}, ensure_ascii=False).encode()
    parts = [len(text).to_bytes(8, "little"), text]
    for arrays in proofs:
        parts += [arrays[name].astype(dtype).tobytes() for name, dtype in ARRAYS.items()]
    return MAGIC + zlib.compress(b"".join(parts), 3)


# ------------------------------------------------------------------------------------------ data


@dataclass(frozen=True)
class Data:
    """Distinct rows of 0/1 columns, and what weighs in them.

    Attributes
    ----------
    columns
        Booleans of shape (columns, distinct rows).
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
    """

    columns: NDArray[np.bool_]
    counts: NDArray[np.int64]
    samples: NDArray[np.int64]
    costs: NDArray[np.int64] | None = None
    weight_unit: Fraction = Fraction(1)
    cost_unit: Fraction = Fraction(1)
    classes: tuple[str, ...] = ()

    @classmethod
    def merge(
        cls,
        X: NDArray[Any],
        counts: NDArray[np.int64],
        samples: NDArray[np.int64],
        costs: NDArray[np.int64] | None = None,
    ) -> Data:
        """Merge equal rows, drop those without weight, and sort the rest."""
        _require(np.isin(X, (0, 1)).all(), "the data are not 0/1")
        kept = counts.any(axis=1)
        X, counts = X[kept].astype(np.uint8), counts[kept]
        packed = np.packbits(X, axis=1)
        _, first, group = np.unique(_as_keys(packed), return_index=True, return_inverse=True)
        rows = X[first]

        def summed(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
            sums = np.zeros((len(rows), *numbers.shape[1:]), dtype=np.int64)
            np.add.at(sums, group.ravel(), numbers)
            return sums

        return cls(
            np.ascontiguousarray(rows.T.astype(bool)),
            summed(counts),
            summed(samples[kept]),
            None if costs is None else summed(costs[kept]),
        )

    def digest(self) -> str:
        """Return the SHA-256 digest of the rows, sorted, with their counts and costs."""
        digest = hashlib.sha256(f"{self.columns.shape} {self.counts.shape}".encode())
        digest.update(np.packbits(self.columns).tobytes())
        for numbers in (self.counts, self.samples, self.costs):
            digest.update(b"" if numbers is None else numbers.astype("<i8").tobytes())
        return digest.hexdigest()

    def against_rest(self, positive: int) -> Data:
        """Return the data with two classes: the rest and the positive one."""
        found = self.counts[:, positive]
        counts = np.stack([self.counts.sum(axis=1) - found, found], axis=1)
        return replace(self, counts=counts, costs=None)


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


def _ratio(top: Fraction, bottom: Fraction) -> Number:
    return Number(Fraction(top) / bottom if bottom else Fraction(0))


def _root_of_ratio(top: Fraction, bottom: Fraction) -> Number:
    return Number.root(_ratio(top, bottom).rational)


@dataclass(frozen=True)
class Cells:
    """A confusion matrix of two classes, and the parameters of a metric."""

    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction
    options: dict[str, Fraction]

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


def _f_beta(c: Cells) -> Number:
    square = c.options["beta"] ** 2
    return _ratio((1 + square) * c.tp, (1 + square) * c.tp + c.fp + square * c.fn)


def _balanced(c: Cells) -> Number:
    present = (c.pos > 0) + (c.neg > 0)
    return (_ratio(c.tp, c.pos) + _ratio(c.tn, c.neg)) * Fraction(1, present)


def _class_cost(c: Cells) -> Number:
    price = c.options
    return Number(-price["false_negative"] * c.fn - price["false_positive"] * c.fp)


def _kappa(c: Cells) -> Number:
    return _ratio(2 * c.covariance, c.neg * (c.tp + c.fp) + c.pos * (c.tn + c.fn))


def _mcc(c: Cells) -> Number:
    bottom = c.pos * c.neg * (c.tp + c.fp) * (c.tn + c.fn)
    return _root_of_ratio(abs(c.covariance) * c.covariance, bottom)


def _bounded_dor(c: Cells) -> Number:
    if c.tp * c.tn == 0:
        return Number()
    upper = c.options["upper"]
    return Number(min(c.tp * c.tn / (c.fp * c.fn), upper) if c.fp * c.fn else upper)


METRICS: dict[str, Callable[[Cells], Number]] = {
    "accuracy": lambda c: _ratio(c.tp + c.tn, c.pos + c.neg),
    "balanced_accuracy": _balanced,
    "recall": lambda c: _ratio(c.tp, c.pos),
    "specificity": lambda c: _ratio(c.tn, c.neg),
    "youden": lambda c: _ratio(c.tp, c.pos) + _ratio(c.tn, c.neg) + Number(Fraction(-1)),
    "class_cost": _class_cost,
    "predicted_positives": lambda c: Number(c.tp + c.fp),
    "true_positives": lambda c: Number(c.tp),
    "true_negatives": lambda c: Number(c.tn),
    "false_positives": lambda c: Number(c.fp),
    "false_negatives": lambda c: Number(c.fn),
    "f_beta": _f_beta,
    "jaccard": lambda c: _ratio(c.tp, c.tp + c.fp + c.fn),
    "precision": lambda c: _ratio(c.tp, c.tp + c.fp),
    "npv": lambda c: _ratio(c.tn, c.tn + c.fn),
    "kappa": _kappa,
    "mcc": _mcc,
    "fowlkes_mallows": lambda c: _root_of_ratio(c.tp**2, c.pos * (c.tp + c.fp)),
    "gmean": lambda c: _root_of_ratio(c.tp * c.tn, c.pos * c.neg),
    "dor": _bounded_dor,
    "dor_smoothed": lambda c: _ratio(c.tp * c.tn, c.fp * c.fn + c.options["epsilon"]),
}
"""What each metric is, from its textbook definition; 0 where that is 0 / 0."""

FALLING = frozenset({"false_positives", "false_negatives"})
"""Metrics that never rise when TP or TN rises and the class sizes stay."""
RISING = frozenset(METRICS) - FALLING - {"predicted_positives"}
"""Metrics that never fall then."""
COUNTS = ("true_positives", "true_negatives", "predicted_positives", *sorted(FALLING))
SHARES = ("accuracy", "balanced_accuracy", "recall", "specificity", "youden")
LINEAR = frozenset((*COUNTS, *SHARES, "class_cost", "cost_matrix", "instance_cost"))
"""Metrics that add up a reward per sample."""
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
            known = name in METRICS or name in ("instance_cost", "cost_matrix", "own")
            _require(known, f"the checker does not know the metric {name!r}")
            if name == "own":
                _require(own is not None, "the metric is a function of your own: hand it over")
            elif name != "cost_matrix":
                options = {key: Fraction(value) for key, value in options.items()}
            read.append((Fraction(weight), name, options))
        return cls(tuple(read), own)

    @property
    def is_linear(self) -> bool:
        """Whether it adds up rewards of samples."""
        return all(name in LINEAR for _, name, _ in self.terms)

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

    def never_falls(self) -> bool:
        """Say whether fewer errors never make it smaller."""
        return all(
            (name in RISING or name == "own") if weight > 0 else name in FALLING
            for weight, name, _ in self.terms
        )

    def value(self, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Number:
        """Return the value for a confusion matrix of two classes."""
        total = Number()
        for weight, name, options in self.terms:
            if name == "own":
                assert self.own is not None
                part = self.own(tp, fp, fn, tn)
            else:
                part = METRICS[name](Cells(tp, fp, fn, tn, options))
            total = total + part * weight
        return total

    def rewards(
        self, weights: list[Fraction], positive: int | None
    ) -> tuple[list[list[Fraction]], Fraction, Fraction]:
        """Return rewards by true and predicted class, the factor of instance costs, the offset."""
        classes = range(len(weights))
        table = [[Fraction(0) for _ in classes] for _ in classes]
        instance, offset = Fraction(0), Fraction(0)
        present = sum(weight > 0 for weight in weights)
        for factor, name, options in self.terms:
            instance -= factor if name == "instance_cost" else 0
            offset -= factor if name == "youden" else 0
            for k in classes:
                share = 1 / weights[k] if weights[k] else Fraction(0)
                for j in classes:
                    kind = (k == positive, j == positive)
                    right = Fraction(k == j)
                    table[k][j] += (
                        factor
                        * {
                            "accuracy": right / sum(weights),
                            "balanced_accuracy": right * share / present,
                            "recall": right * share * kind[0],
                            "specificity": right * share * (not kind[0]),
                            "youden": right * share,
                            "class_cost": (right - 1)
                            * options.get("false_negative" if kind[0] else "false_positive", 0),
                            "predicted_positives": Fraction(kind[1]),
                            "true_positives": Fraction(kind == (True, True)),
                            "true_negatives": Fraction(kind == (False, False)),
                            "false_positives": Fraction(kind == (False, True)),
                            "false_negatives": Fraction(kind == (True, False)),
                            "cost_matrix": -Fraction(options["costs"][k][j])
                            if name == "cost_matrix"
                            else Fraction(0),
                            "instance_cost": Fraction(0),
                        }[name]
                    )
        return table, instance, offset


# ------------------------------------------------------------------------------------- the task


@dataclass(frozen=True)
class Task:
    """What a certificate says that was asked."""

    max_depth: int
    max_splits: int | None
    min_leaf_weight: int
    min_samples_leaf: int
    penalty: Fraction
    metric: Metric
    constraints: tuple[tuple[Metric, str, Fraction], ...]
    positive: int | None
    weight_unit: Fraction
    cost_unit: Fraction

    @property
    def most_splits(self) -> int:
        """The largest number of splits of a tree."""
        full: int = 2**self.max_depth - 1
        return full if self.max_splits is None else min(self.max_splits, full)

    def leaves(self, data: Data) -> tuple[NDArray[np.int64], int]:
        """Return how leaves are measured, and the least of it; two measures must be one."""
        weights, least = data.counts.sum(axis=1), self.min_leaf_weight
        if not self.min_samples_leaf:
            return weights, least
        each = int(weights[0] // data.samples[0]) if least else 1
        same = not least or np.array_equal(weights, each * data.samples)
        _require(same and each > 0, "the number and the weight of samples differ")
        return data.samples, max(self.min_samples_leaf, -(-least // each))

    def meets(self, fn: int, fp: int, data: Data) -> bool:
        """Say whether errors, in counts, meet the constraints on metrics."""
        for metric, sense, threshold in self.constraints:
            value, bound = metric.value(*self.cells(fn, fp, data)), Number(threshold)
            if not (bound <= value if sense == ">=" else value <= bound):
                return False
        return True

    def cells(self, fn: int, fp: int, data: Data) -> tuple[Fraction, ...]:
        """Return TP, FP, FN and TN, given errors in counts."""
        assert self.positive is not None
        totals = data.counts.sum(axis=0).tolist()
        n_pos, n_neg = totals[self.positive], totals[1 - self.positive]
        return tuple(self.weight_unit * n for n in (n_pos - fn, fp, fn, n_neg - fp))


def read_task(header: dict[str, Any], own: Callable[..., Number] | None = None) -> Task:
    """Read what was asked from a header."""
    task, data = header["task"], header["data"]
    read = Metric.read
    constraints = tuple(
        (read(terms), str(sense), Fraction(bound)) for terms, sense, bound in task["constraints"]
    )
    unit = Fraction(data["weight_unit"])
    least = Fraction(task["min_leaf_weight"]) / unit
    splits = task["max_splits"]
    return Task(
        max_depth=int(task["max_depth"]),
        max_splits=None if splits is None else int(splits),
        min_leaf_weight=-(-least.numerator // least.denominator),
        min_samples_leaf=int(task["min_samples_leaf"]),
        penalty=Fraction(task["split_penalty"]),
        metric=read(task["metric"], own),
        constraints=constraints,
        positive=data["positive"],
        weight_unit=unit,
        cost_unit=Fraction(data["cost_unit"]),
    )


# -------------------------------------------------------------------------------------- the tree


def _predict(
    node: Any, data: Data, rows: NDArray[np.bool_], out: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Write the predicted class of each row; yield the depth and the rows of each leaf."""
    if isinstance(node, int):
        _require(0 <= node < data.counts.shape[1], "a leaf of the tree predicts no class")
        out[rows] = node
        yield 0, rows
        return
    feature, left, right = node
    _require(0 <= feature < len(data.columns), "a split of the tree is on no column")
    column = data.columns[feature]
    for depth, part in _predict(left, data, rows & ~column, out):
        yield depth + 1, part
    for depth, part in _predict(right, data, rows & column, out):
        yield depth + 1, part


def _measure(tree: Any, task: Task, data: Data) -> tuple[NDArray[np.int64], int]:
    """Return the predictions and the splits of a tree, after a check of its size."""
    predicted = np.full(data.counts.shape[0], -1)
    every_row = np.ones(len(predicted), dtype=bool)
    leaves = list(_predict(tree, data, every_row, predicted))
    splits = len(leaves) - 1
    _require(max(depth for depth, _ in leaves) <= task.max_depth, "the tree is too deep")
    _require(splits <= task.most_splits, "the tree has too many splits")
    measure, least = task.leaves(data)
    light = any(measure[rows].sum() < least for _, rows in leaves)
    _require(not light, "a leaf of the tree is too small")
    return predicted, splits


def _errors(predicted: NDArray[np.int64], task: Task, data: Data) -> tuple[int, int]:
    """Return false negatives and false positives, in counts."""
    positive = task.positive
    assert positive is not None
    fn = int(data.counts[predicted != positive, positive].sum())
    return fn, int(data.counts[predicted == positive, 1 - positive].sum())


def _objective_of(tree: Any, task: Task, data: Data) -> Number:
    """Return the objective of a tree, after a check that it is one of those in question."""
    predicted, splits = _measure(tree, task, data)
    if task.metric.is_linear and not task.constraints:
        rewards = Rewards.of(task, data)
        earned = int(rewards.matrix[np.arange(len(predicted)), predicted].sum())
        value = Number(rewards.offset + earned * rewards.unit)
    else:
        fn, fp = _errors(predicted, task, data)
        _require(task.meets(fn, fp, data), "the tree does not meet the constraints")
        value = task.metric.value(*task.cells(fn, fp, data))
    return value + Number(-task.penalty * splits)


@dataclass(frozen=True)
class Rewards:
    """A linear metric in integers: offset + unit · (rewards of the predictions - price · splits).

    The price is rounded down if it is above all there is to gain.
    """

    matrix: NDArray[np.int64]
    unit: Fraction
    offset: Fraction
    price: int

    @classmethod
    def of(cls, task: Task, data: Data) -> Rewards:
        """Return the linear metric of a task."""
        unit, counts = task.weight_unit, data.counts
        weights = [unit * total for total in counts.sum(axis=0).tolist()]
        table, instance, offset = task.metric.rewards(weights, task.positive)
        entries = [unit * entry for row in table for entry in row]
        factor = instance * task.cost_unit
        scale = lcm(*(f.denominator for f in (*entries, factor, task.penalty)))
        classes = counts.shape[1]
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


# ------------------------------------------------------------------------------ facts on row sets


class _Facts:
    """Checks the facts "no tree of depth d costs less than v on these rows" of one proof.

    Costs are avoidable ones: what a tree costs more than the cheapest class in every row. There is
    either one value, with `price` for each split, or one for at most 0, 1, ... `budget` splits.
    """

    def __init__(
        self, data: Data, costs: NDArray[np.int64], price: int, budget: int | None, task: Task
    ) -> None:
        self.data, self.price, self.budget = data, price, budget
        self.weight, self.min_leaf = task.leaves(data)
        avoidable = costs - costs.min(axis=1, keepdims=True)
        self.first, self.gains = avoidable[:, 0], avoidable[:, 1:] - avoidable[:, :1]
        self.swing = avoidable.max(axis=1)
        total = max(int(self.swing.sum()) + 4 * price, int(self.weight.sum()))
        _require(total < _LARGEST, "the costs are too large to check")
        # Sums of integers below these sizes are exact in floats, in whatever order.
        self.exact: type = (
            np.float32 if total < 2**23 else np.float64 if total < 2**52 else np.int64
        )
        self.never = np.inf if total < 2**52 else 4 * _LARGEST
        self.wide: type = np.float64 if total < 2**52 else np.int64
        self.matrix = np.ascontiguousarray(data.columns[_distinct(data.columns)].T)
        self.root: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def classes(self, depth: int) -> int:
        """Return the number of values of a fact."""
        return 1 if self.budget is None else min(self.budget, 2 ** min(depth, 40) - 1) + 1

    def check(self, proof: dict[str, NDArray[Any]]) -> tuple[NDArray[np.int64], int]:
        """Check all facts; return the values and the depth of the last, which is about all rows."""
        self._read(proof)
        self._check_tables()
        for fact in range(len(self.depth)):
            if self.depth[fact] > 2:
                self._check_split(fact)
        _require(len(self.paths[-1]) == 0, "the last fact is not about all rows")
        _require(self.relaxed[-1] or self.min_leaf, "the last fact is about other trees")
        return self.values[-1], int(self.depth[-1])

    def _read(self, proof: dict[str, NDArray[Any]]) -> None:
        self.depth, self.relaxed = proof["depth"], proof["relaxed"]
        number = len(self.depth)
        _require(number > 0 and len(self.relaxed) == number, "a proof has no facts")
        self.paths, self.values, self.anchors = (
            _pieces(proof[name], proof[name + "_begin"], number)
            for name in ("path", "value", "anchor")
        )
        path = proof["path"]
        known = len(path) == 0 or (path.min() >= 0 and path.max() < 2 * len(self.data.columns))
        _require(known, "a path names a column that is not there")
        sizes = np.array([len(v) for v in self.values])
        wanted = np.array([self.classes(int(d)) for d in self.depth])
        _require((sizes == wanted).all(), "a fact has the wrong number of values")
        _require(np.isin(self.relaxed, (0, 1)).all(), "a fact is about no trees")
        _require(self.min_leaf or self.relaxed.all(), "a fact is about other trees")

    def rows(self, facts: NDArray[np.int64] | list[int]) -> NDArray[np.bool_]:
        """Rebuild the row sets of facts from their paths; shape (facts, rows)."""
        out = np.ones((len(facts), len(self.swing)), dtype=bool)
        for i, fact in enumerate(facts):
            for step in self.paths[fact]:
                out[i] &= self.data.columns[step >> 1] == bool(step & 1)
        return out

    # Rule 1: table. The counts of all pairs of features give the best tree of depth two.

    def _check_tables(self) -> None:
        groups: dict[bytes, list[int]] = {}
        for fact in np.flatnonzero(self.depth <= 2):
            groups.setdefault(self.paths[fact][:-1].tobytes(), []).append(int(fact))
        for facts in groups.values():
            parent = self.paths[facts[0]][:-1]
            inside = np.ones(len(self.swing), dtype=bool)
            for step in parent:
                inside &= self.data.columns[step >> 1] == bool(step & 1)
            self._check_sides(np.flatnonzero(inside), facts)

    def _check_sides(self, rows: NDArray[np.intp], facts: list[int]) -> None:
        """Check facts about sides of one row set; counts of one side give those of the other."""
        here = self.matrix[rows]
        columns = _distinct(here.T) if len(rows) else np.zeros(0, dtype=int)
        cells: NDArray[Any] = here[:, columns].astype(self.exact)
        planes = [*self.gains[rows].T, self.weight[rows]]
        planes = [plane.astype(self.exact) for plane in planes[: None if self.min_leaf else -1]]
        whole = [_pairs(cells, plane) for plane in planes] if len(facts) > 1 else None
        for fact in facts:
            side = np.ones(len(rows), dtype=bool)
            if len(self.paths[fact]):
                step = self.paths[fact][-1]
                side = self.data.columns[step >> 1][rows] == bool(step & 1)
            small = side if whole is None or 2 * side.sum() <= len(rows) else ~side
            pairs = [_pairs(cells[small], plane[small]) for plane in planes]
            if whole is not None and small is not side:
                pairs = [all_rows - part for all_rows, part in zip(whole, pairs, strict=True)]
            totals = [plane[side].sum() for plane in planes]
            best = self._best_by_splits(pairs, totals, bool(self.relaxed[fact]))
            first = int(self.first[rows[side]].sum())
            proven = [first + int(b) if b < self.never / 2 else _LARGEST for b in best]
            self._compare(fact, proven)

    def _compare(self, fact: int, proven: list[int]) -> None:
        depth = int(self.depth[fact])
        proven = proven[: 2**depth]
        if self.budget is None:
            proven = [min(cost + self.price * m for m, cost in enumerate(proven))]
        holds = all(v <= p for v, p in zip(self.values[fact].tolist(), proven, strict=False))
        _require(holds, f"fact {fact}: its table allows less than it says")

    def _best_by_splits(
        self, pairs: list[NDArray[Any]], totals: list[Any], relaxed: bool
    ) -> list[Any]:
        """Return the least cost, beyond that of class 0, with at most 0, 1, 2 and 3 splits."""
        if not pairs or not len(pairs[0]):  # one class, or nothing to split by
            return [min([0, *(int(t) for t in totals[: len(self.gains.T)])])] * 4
        ones = [np.diagonal(p) for p in pairs]
        weighted = bool(self.min_leaf) and not relaxed

        def leaf(parts: list[NDArray[Any]]) -> NDArray[Any]:
            gains = parts[: len(self.gains.T)]
            best = np.minimum(gains[0], 0) if gains else np.zeros_like(parts[0])
            for part in gains[1:]:
                np.minimum(best, part, out=best)
            return np.where(parts[-1] < self.min_leaf, self.never, best) if weighted else best

        outside = [t - d for t, d in zip(totals, ones, strict=True)]
        in_out = [d[:, None] - p for d, p in zip(ones, pairs, strict=True)]
        neither = [o[None, :] - q for o, q in zip(outside, in_out, strict=True)]
        inside_leaf, outside_leaf, mixed = leaf(ones), leaf(outside), leaf(in_out)
        every = [0, *(int(t) for t in totals[: len(self.gains.T)])]
        best = [min(every)]
        inside = np.minimum(inside_leaf, (leaf(pairs) + mixed).min(axis=1))
        others = np.minimum(outside_leaf, (mixed + leaf(neither)).min(axis=0))
        best.append((inside_leaf + outside_leaf).min())
        best.append(min((inside + outside_leaf).min(), (inside_leaf + others).min()))
        best.append((inside + others).min())
        return [min(best[: m + 1]) for m in range(4)]

    # Rule 2: split. Whatever the first split is, both sides cost at least what similar row sets do.

    def _check_split(self, fact: int) -> None:
        depth, anchors = int(self.depth[fact]), self.anchors[fact]
        earlier = len(anchors) == 0 or (anchors.min() >= 0 and anchors.max() < fact)
        _require(earlier, f"fact {fact} rests on one that is not before it")
        _require((self.depth[anchors] >= depth - 1).all(), f"fact {fact} rests on smaller trees")
        relaxed = bool(self.relaxed[fact])
        _require(not relaxed or self.relaxed[anchors].all(), f"fact {fact} rests on fewer trees")
        node = self.rows([fact])[0]
        rows = np.flatnonzero(node)
        # A split that all rows pass on one side can be left out: only the others count.
        here = self.matrix[rows]
        cells: NDArray[Any] = here[:, _distinct(here.T)].astype(self.wide)
        bounds = self._side_bounds(anchors, node, rows, cells, self.classes(depth - 1))
        values = self.values[fact]
        leaf = int(self.first[rows].sum()) + min([0, *self.gains[rows].sum(axis=0).tolist()])
        _require(leaf >= values.max(), f"fact {fact}: a leaf costs less")
        if self.min_leaf and not relaxed:
            weight = self.weight[rows] @ cells
            heavy = (weight >= self.min_leaf) & (self.weight[rows].sum() - weight >= self.min_leaf)
            bounds = [[b[heavy] for b in side] for side in bounds]
        inside, outside = bounds
        if self.budget is None:
            if fact == len(self.depth) - 1 and len(inside[0]) == self.matrix.shape[1]:
                self.root = inside[0].astype(np.int64), outside[0].astype(np.int64)
            holds = (inside[0] + outside[0] + self.price >= values[0]).all()
            _require(holds, f"fact {fact}: a split may cost less")
            return
        for splits in range(1, len(values)):
            for i in range(min(splits, len(inside))):
                o = min(splits - 1 - i, len(outside) - 1)
                holds = (inside[i] + outside[o] >= values[splits]).all()
                _require(holds, f"fact {fact}: {splits} splits may cost less")

    def _side_bounds(
        self,
        anchors: NDArray[np.int64],
        node: NDArray[np.bool_],
        rows: NDArray[np.intp],
        cells: NDArray[Any],
        classes: int,
    ) -> list[list[NDArray[Any]]]:
        """Return bounds on the inside and the outside of every feature, by number of splits."""
        zero: NDArray[Any] = np.zeros(cells.shape[1], dtype=self.wide)
        bounds = [[zero.copy() for _ in range(classes)] for _ in range(2)]
        for group in np.array_split(anchors, max(1, len(anchors) * len(node) // 10**7)):
            if not len(group):
                continue
            sets = self.rows(group)
            # Similarity: what the rows cost at most that only the anchor has.
            lost, missing = self._outside_of(sets, node, rows, cells, self.swing)
            special = self.relaxed[group] == 0
            if special.any():
                # Facts about trees with heavy leaves hold for the very same rows only.
                ones = np.ones_like(self.swing)
                extra, absent = self._outside_of(sets, node, rows, cells, ones)
                size = sets.sum(axis=1)[:, None]
                inside = cells.sum(axis=0)[None, :]
                same = (extra == 0) & (inside == size), (absent == 0) & (len(rows) - inside == size)
                lost[special] = np.where(same[0], 0, _LARGEST)[special]
                missing[special] = np.where(same[1], 0, _LARGEST)[special]
            for m in range(classes):
                value: NDArray[Any] = np.array([self.values[a][m] for a in group])[:, None]
                for side, loss in enumerate((lost, missing)):
                    np.maximum(bounds[side][m], (value - loss).max(axis=0), out=bounds[side][m])
        return bounds

    def _outside_of(
        self,
        sets: NDArray[np.bool_],
        node: NDArray[np.bool_],
        rows: NDArray[np.intp],
        cells: NDArray[Any],
        weights: NDArray[np.int64],
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the weight of the rows of each set that are not inside, and not outside."""
        weights = weights.astype(self.wide)
        whole = (sets @ weights)[:, None]
        shared = sets[:, rows] * weights[rows]
        inside = shared @ cells
        return whole - inside, whole - (shared.sum(axis=1)[:, None] - inside)


def _as_keys(packed: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the rows of a matrix of bytes as single values, which compare like them."""
    packed = np.ascontiguousarray(packed)
    if packed.shape[1] == 0:
        return np.zeros(len(packed), dtype=np.uint8)
    return packed.view(f"V{packed.shape[1]}").ravel()


def _pieces(flat: NDArray[Any], begin: NDArray[Any], number: int) -> list[NDArray[Any]]:
    ordered = len(begin) == number + 1 and begin[0] == 0 and begin[-1] == len(flat)
    _require(ordered and (np.diff(begin) >= 0).all(), "the facts of a proof are not in order")
    return [flat[i:j] for i, j in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True)]


def _pairs(cells: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of weights over the rows inside each pair of features."""
    result: NDArray[Any] = (cells * weights[:, None]).T @ cells
    return result


def _distinct(columns: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return one column for each way to split the rows; a column and its complement are one."""
    if columns.shape[1] == 0:
        return np.zeros(0, dtype=np.intp)
    packed = np.packbits(columns ^ columns[:, :1], axis=1)
    _, first = np.unique(_as_keys(packed), return_index=True)
    first = np.sort(first)
    kept: NDArray[np.intp] = first[packed[first].any(axis=1)]
    return kept


# --------------------------------------------------------- from linear questions to the objective


@dataclass(frozen=True)
class _Line:
    """Proven: a · FN + b · FP >= least(splits), for trees of a depth with so many splits."""

    a: int
    b: int
    price: int
    least: tuple[int, ...]
    budget: int | None
    depth: int
    sides: tuple[NDArray[Any], NDArray[Any]] | None = None

    def floor(self, fn: NDArray[np.int64], least: int, n_neg: int) -> NDArray[np.int64]:
        """Return the least false positives of points that cost at least so much."""
        if self.b:
            return -((self.a * fn - least) // self.b)
        return np.where(self.a * fn < least, n_neg + 1, 0)

    def at(self, splits: int, max_depth: int) -> int | None:
        """Return the least cost of errors of trees with so many splits; None if not known."""
        if min(max_depth, splits) > self.depth:
            return None
        if self.budget is None:
            return self.least[0] - self.price * splits
        return self.least[splits] if splits < len(self.least) else None


def _check_lines(
    header: dict[str, Any], proofs: list[dict[str, NDArray[Any]]], task: Task, data: Data
) -> list[_Line]:
    """Check the proof of every linear question on the plane of errors."""
    positive, lines = task.positive, []
    assert positive is not None
    for question, proof in zip(header["questions"], proofs, strict=True):
        a, b, price = int(question["a"]), int(question["b"]), int(question["price"])
        budget = None if question["budget"] is None else int(question["budget"])
        _require(a >= 0 and b >= 0 and price >= 0, "a question has a negative weight")
        _require(budget is None or (budget >= 0 and price == 0), "a question has a price too many")
        _require(max(a, b) * int(data.counts.sum()) < _LARGEST, "a question is too fine")
        costs = np.zeros_like(data.counts)
        costs[:, 1 - positive] = a * data.counts[:, positive]
        costs[:, positive] = b * data.counts[:, 1 - positive]
        facts = _Facts(data, costs, price, budget, task)
        values, depth = facts.check(proof)
        cheapest = costs.min(axis=1)
        least = tuple(int(cheapest.sum()) + v for v in values.tolist())
        sides = None
        if budget is None and price == 0 and facts.root is not None:
            inside = cheapest @ facts.matrix
            outside = int(cheapest.sum()) - inside
            sides = inside + facts.root[0], outside + facts.root[1]
        lines.append(_Line(a, b, price, least, budget, depth, sides))
    return lines


class _Plane:
    """The points (FN, FP), and what a better tree would have to be.

    Parameters
    ----------
    lines
        Proven lines, below which no tree is.
    task, data, bound
        The question, and the bound in question; None if no tree meets the constraints.
    """

    def __init__(self, lines: list[_Line], task: Task, data: Data, bound: Number | None) -> None:
        self.lines, self.task, self.data, self.bound = lines, task, data, bound
        positive = task.positive
        assert positive is not None
        totals = data.counts.sum(axis=0).tolist()
        self.n_pos, self.n_neg = totals[positive], totals[1 - positive]
        for metric, sense, _ in task.constraints:
            falls = all(name in FALLING and weight > 0 for weight, name, _ in metric.terms)
            holds = metric.never_falls() if sense == ">=" else sense == "<=" and falls
            _require(holds, "a constraint may be met again after more errors")
        _require(task.metric.never_falls(), "the metric may rise with errors")

    def check(self, *, inside: bool) -> None:
        """Check that every point that is not excluded is not better, or not allowed."""
        task = self.task
        can_split = len(_distinct(self.data.columns)) > 0
        # Without a penalty, trees with fewer splits are among those with the most.
        for splits in range(task.most_splits + 1) if task.penalty else [task.most_splits]:
            if splits == 0 or not can_split:
                worse = not any(self._is_better(*p, splits) for p in self._constants)
                _require(worse, "a tree without splits is better")
                continue
            floor = self._floor(splits)
            # The metric and the constraints are monotone: the corners of the staircase decide.
            corners = np.flatnonzero(np.diff(floor, prepend=self.n_neg + 1) < 0)
            better = [x for x in corners.tolist() if self._is_better(x, int(floor[x]), splits)]
            if better and inside:
                self._check_inside(floor)
            elif better:
                x, y = better[0], int(floor[better[0]])
                _require(False, f"trees with {x} false negatives and {y} false positives may exist")

    @property
    def _constants(self) -> tuple[tuple[int, int], ...]:
        return (0, self.n_neg), (self.n_pos, 0)

    def _floor(self, splits: int) -> NDArray[np.int64]:
        """Return the least false positives that lines allow, by false negatives."""
        floor = np.zeros(self.n_pos + 1, dtype=np.int64)
        fn = np.arange(self.n_pos + 1)
        for line in self.lines:
            if (least := line.at(splits, self.task.max_depth)) is not None:
                floor = np.maximum(floor, line.floor(fn, least, self.n_neg))
        floor = np.minimum.accumulate(np.minimum(floor, self.n_neg + 1))
        return floor

    def _is_better(self, x: int, y: int, splits: int) -> bool:
        """Say whether a point meets the constraints and beats the bound."""
        if not self.task.meets(x, y, self.data):
            return False
        value = self.task.metric.value(*self.task.cells(x, y, self.data))
        return self.bound is None or not value <= self.bound + Number(self.task.penalty * splits)

    # Between the lines and the better points, the checker looks at all trees itself: whatever the
    # first split is, it adds up the best points of both sides.

    def _check_inside(self, floor: NDArray[np.int64]) -> None:
        task, data = self.task, self.data
        most = task.most_splits
        _require(task.penalty == 0 and most == 2**task.max_depth - 1, "this rule is without limits")
        ceiling = np.array([self._ceiling(x) for x in range(self.n_pos + 1)])
        width = int(np.flatnonzero(floor <= ceiling)[-1]) + 1
        ceiling = ceiling[:width]
        every_row = np.ones(data.columns.shape[1], dtype=bool)
        fronts = _Fronts(data, task, width)
        if task.max_depth <= 2:
            self._require_above(fronts.of(every_row, task.max_depth), ceiling)
            return
        self._require_above(fronts.of(every_row, 0), ceiling)
        for f, column in enumerate(data.columns[_distinct(data.columns)]):
            if not fronts.allows(column) or not fronts.allows(~column):
                continue
            sides = [column, ~column]
            low = [self._side_floor(f, side, width) for side in range(2)]
            for side in sorted(range(2), key=lambda side: int(sides[side].sum())):
                if (_added(*low) > ceiling).all():
                    break
                low[side] = fronts.of(sides[side], task.max_depth - 1)
            self._require_above(_added(*low), ceiling)

    @staticmethod
    def _require_above(front: NDArray[np.int64], ceiling: NDArray[np.int64]) -> None:
        _require((front > ceiling).all(), "there is a better tree inside the hull")

    def _ceiling(self, x: int) -> int:
        """Return the most false positives with which a point is better; -1 if none is."""
        low, high = -1, self.n_neg
        while low < high:
            middle = (low + high + 1) // 2
            if self._is_better(x, middle, 0):
                low = middle
            else:
                high = middle - 1
        return low

    def _side_floor(self, f: int, side: int, width: int) -> NDArray[np.int64]:
        """Return the least false positives on a side of a feature, as far as lines know."""
        floor = np.zeros(width, dtype=np.int64)
        for line in self.lines:
            if line.sides is not None and line.depth >= self.task.max_depth:
                least = int(line.sides[side][f])
                floor = np.maximum(floor, line.floor(np.arange(width), least, self.n_neg))
        return floor


class _Fronts:
    """The least false positives of all trees on a row set, by false negatives (at most so many).

    Parameters
    ----------
    data, task
        The question.
    width
        Only fewer false negatives are of interest.
    """

    def __init__(self, data: Data, task: Task, width: int) -> None:
        positive = task.positive
        assert positive is not None
        self.columns = data.columns[_distinct(data.columns)]
        self.pos, self.neg = data.counts[:, positive], data.counts[:, 1 - positive]
        self.weight, self.least = task.leaves(data)
        _require(int(data.counts.sum()) < 2**52, "the counts are too large to check")
        self.width = width
        self.known: dict[tuple[bytes, int], NDArray[np.int64]] = {}

    def allows(self, rows: NDArray[np.bool_]) -> bool:
        """Say whether there are enough rows for a leaf."""
        return int(self.weight[rows].sum()) >= self.least

    def of(self, rows: NDArray[np.bool_], depth: int) -> NDArray[np.int64]:
        """Return the front of the trees of a depth on some rows."""
        key = np.packbits(rows).tobytes(), depth
        if key not in self.known:
            here = self.columns[:, rows]
            chosen = _distinct(here)
            leaf = self._of_points([(0, self.neg[rows].sum()), (self.pos[rows].sum(), 0)])
            if depth == 0 or not len(chosen):
                self.known[key] = leaf
            elif depth <= 2:
                self.known[key] = np.minimum(leaf, self._small(here[chosen], rows, depth))
            else:
                for column in self.columns[chosen]:
                    sides = rows & column, rows & ~column
                    if all(self.allows(side) for side in sides):
                        both = _added(*(self.of(side, depth - 1) for side in sides))
                        leaf = np.minimum(leaf, both)
                self.known[key] = leaf
        return self.known[key]

    def _of_points(self, points: list[tuple[Any, Any]]) -> NDArray[np.int64]:
        front = np.full(self.width, _LARGEST)
        for x, y in points:
            front[int(x) :] = np.minimum(front[int(x) :], int(y))
        return front

    def _small(
        self, here: NDArray[np.bool_], rows: NDArray[np.bool_], depth: int
    ) -> NDArray[np.int64]:
        """Return the front of trees with splits, of depth one or two, from counts of pairs."""
        cells = here.T.astype(np.float64)
        counts = [m[rows].astype(np.float64) for m in (self.pos, self.neg, self.weight)]
        pairs = [_pairs(cells, c) for c in counts]
        ones, totals = [np.diagonal(p) for p in pairs], [c.sum() for c in counts]
        inside = [(o[:, None], p) for o, p in zip(ones, pairs, strict=True)]
        outside = [
            ((t - o)[:, None], o[None, :] - p) for t, o, p in zip(totals, ones, pairs, strict=True)
        ]
        in_front, out_front = (self._stumps(side, depth) for side in (inside, outside))
        enough = np.minimum(ones[2], totals[2] - ones[2]) >= self.least
        best = np.full(self.width, _LARGEST)
        for i in np.flatnonzero(enough):
            np.minimum(best, _added(in_front[i], out_front[i]), out=best)
        return best

    def _stumps(
        self, side: list[tuple[NDArray[Any], NDArray[Any]]], depth: int
    ) -> NDArray[np.int64]:
        """Return a front per side: of a leaf, and at depth two of a split by each feature."""
        (pos, pos_in), (neg, neg_in), (weight, weight_in) = side
        number = len(pos)
        front = np.full((number, self.width), _LARGEST)
        points = [(np.zeros_like(pos), neg), (pos, np.zeros_like(neg))]
        if depth == 2:
            allowed = np.minimum(weight_in, weight - weight_in) >= self.least
            never = np.where(allowed, 0, _LARGEST)
            points.append((pos_in, neg - neg_in + never))  # the part inside is negative
            points.append((pos - pos_in, neg_in + never))  # ... or that outside
        for x, y in points:
            x, y = np.broadcast_arrays(x, y)
            near = x < self.width
            place = np.broadcast_to(np.arange(number)[:, None], x.shape)[near]
            np.minimum.at(front, (place, x[near].astype(np.int64)), y[near].astype(np.int64))
        return np.minimum.accumulate(front, axis=1)


def _added(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the front of sums of points of two fronts."""
    steps = [np.flatnonzero(np.diff(front, prepend=_LARGEST) < 0) for front in (a, b)]
    if len(steps[0]) > len(steps[1]):
        a, b, steps = b, a, steps[::-1]
    out = np.full(len(a), _LARGEST)
    for x in steps[0]:
        np.minimum(out[x:], a[x] + b[: len(b) - x], out=out[x:])
    return out


def _check_linear(
    header: dict[str, Any],
    proofs: list[dict[str, NDArray[Any]]],
    task: Task,
    data: Data,
) -> list[Number]:
    """Check the only question of a linear metric, and return what no tree exceeds.

    One number, or one for trees with at most 0, 1, ... splits.
    """
    _require(len(proofs) == 1, "a linear metric takes one question")
    rewards = Rewards.of(task, data)
    most = rewards.matrix.max(axis=1)
    budget = header["questions"][0]["budget"]
    price = 0 if budget is not None else rewards.price
    facts = _Facts(data, most[:, None] - rewards.matrix, price, budget, task)
    values, depth = facts.check(proofs[0])
    full = budget is None or int(budget) >= task.most_splits
    _require(full, "the question is about fewer splits")
    _require(depth >= min(task.max_depth, task.most_splits), "the question is about smaller trees")
    top = int(most.sum())
    ends = [top - v for v in values.tolist()]
    if budget is not None:
        _require(len(ends) > task.most_splits, "a number of splits is missing")
        # A tree with m splits costs at least the m-th value, and its splits.
        ends = [e - rewards.price * m for m, e in enumerate(ends)]
        ends = [max(ends[: m + 1]) for m in range(len(ends))]
    return [Number(rewards.offset + end * rewards.unit) for end in ends]


def _check_path(
    header: dict[str, Any], proofs: list[dict[str, NDArray[Any]]], task: Task, data: Data
) -> str:
    """Check that each listed tree is the best with at most as many splits as its place says."""
    trees = header["trees"]
    _require(len(trees) == task.most_splits + 1 and not task.penalty, "a size is missing")
    sizes = [replace(task, max_splits=splits) for splits in range(len(trees))]
    values = [_objective_of(tree, size, data) for tree, size in zip(trees, sizes, strict=True)]
    if task.metric.is_linear and not task.constraints:
        bounds = _check_linear(header, proofs, task, data)
        _require(len(bounds) >= len(values), "a number of splits is missing")
        for splits, (value, bound) in enumerate(zip(values, bounds, strict=False)):
            _require(bound <= value, f"a tree with {splits} splits may be better")
    else:
        _require(data.counts.shape[1] == 2 and task.positive in (0, 1), "there are no two classes")
        lines = _check_lines(header, proofs, task, data)
        for value, size in zip(values, sizes, strict=True):
            _Plane(lines, size, data, value).check(inside=False)
    numbers = ", ".join(f"{float(value):.6f}" for value in values)
    return (
        f"no trees of depth {task.max_depth} over {len(data.columns)} columns with at most 0, 1, "
        f"... splits have a larger {task.metric.describe()} than those listed: {numbers}"
    )


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
    objective: float | None
    bound: float | None

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
    header, proofs = read_certificate(content)
    try:
        return _check(header, proofs, data, own_metric)
    except RejectedError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise RejectedError(f"the certificate makes no sense: {error!r}") from None


def _check(
    header: dict[str, Any],
    proofs: list[dict[str, NDArray[Any]]],
    data: Data,
    own_metric: Callable[..., Number] | None,
) -> Verdict:
    _require(header["checkable"] is True, f"this cannot be checked: {header.get('reason')}")
    _require(header["data"]["digest"] == data.digest(), "the certificate is about other data")
    task = read_task(header, own_metric)
    units = task.weight_unit == data.weight_unit and task.cost_unit == data.cost_unit
    names = list(map(str, header["data"]["classes"])) == list(data.classes)
    _require(units and names, "the certificate is about other units, or other names of classes")
    _require(0 <= task.max_depth <= 64 and task.most_splits >= 0, "the size limit makes no sense")
    measure, least = task.leaves(data)
    if least > measure.sum():
        _require(header["status"] == "infeasible", "all rows together are too few for a leaf")
        return Verdict(_statement(task, data, None, "infeasible", None), 0, None, None)
    _require(least >= 0 and task.penalty >= 0 and task.weight_unit > 0, "a negative limit")
    label = None if task.positive is None else header["data"]["classes"][task.positive]
    if header["data"]["against_rest"]:
        positive = task.positive
        _require(positive in range(data.counts.shape[1]), "there is no such positive class")
        data = data.against_rest(int(positive or 0))
        task = replace(task, positive=1)
    tree, status = header["tree"], header["status"]
    objective = None if tree is None else _objective_of(tree, task, data)
    if status == "optimal":
        bound = objective
        _require(bound is not None, "an optimal result needs a tree")
    elif status == "infeasible":
        _require(tree is None, "there is a tree")
        bound = None
    elif status in ("hull", "path"):
        _require(tree is None, "there is a tree too many")
        _require(status == "path" or not task.constraints, "a hull is about all trees")
        bound = None
    else:
        _require(status == "bound", f"there is no status {status!r}")
        rational, roots = header["bound"]
        terms = tuple((Fraction(c), int(m)) for c, m in roots)
        _require(all(m >= 0 for _, m in terms), "the root of a negative number")
        bound = Number(Fraction(rational)) + Number(Fraction(0), terms)
    _require(len(header["questions"]) == len(proofs), "a proof is missing")
    facts = sum(len(proof["depth"]) for proof in proofs)
    if status == "path":
        return Verdict(_check_path(header, proofs, task, data), facts, None, None)
    if status == "hull":
        _require(data.counts.shape[1] == 2 and task.positive in (0, 1), "there are no two classes")
        lines = _check_lines(header, proofs, task, data)
        return Verdict(_check_hull(header, lines, task, data), facts, None, None)
    if task.metric.is_linear and not task.constraints:
        _require(bound is not None, "a linear metric has a bound")
        most = _check_linear(header, proofs, task, data)[-1]
        _require(bound is None or most <= bound, "the question leaves room for better trees")
    else:
        _require(data.counts.shape[1] == 2 and task.positive in (0, 1), "there are no two classes")
        lines = _check_lines(header, proofs, task, data)
        _Plane(lines, task, data, bound).check(inside=bool(header.get("inside")))
    return Verdict(
        _statement(task, data, label, status, bound),
        facts,
        None if objective is None else float(objective),
        None if bound is None else float(bound),
    )


def _check_hull(header: dict[str, Any], lines: list[_Line], task: Task, data: Data) -> str:
    """Check that no tree is below the polygon through the points of the listed trees."""
    points = []
    for tree in header["trees"]:
        predicted, _ = _measure(tree, task, data)
        points.append(_errors(predicted, task, data))
    steps = list(pairwise(points))
    _require(points and points[0][0] == 0 and points[-1][1] == 0, "the hull has open ends")
    ordered = all(p[0] <= q[0] and p[1] >= q[1] and p != q for p, q in steps)
    _require(ordered, "the vertices of the hull are not in order")
    for (x, y), (right, low) in steps:
        a, b = y - low, right - x
        excluded = a == 0 or b == 0  # nothing has less than no errors of a kind
        for line in lines:
            least = line.at(task.most_splits, task.max_depth)
            if line.a + line.b > 0 and line.a * b == line.b * a and least is not None:
                excluded = excluded or least >= line.a * x + line.b * y
        _require(excluded, f"trees below the edge that begins at ({x}, {y}) may exist")
    return (
        f"no point (false negatives, false positives) of a tree of depth {task.max_depth} "
        f"over {len(data.columns)} columns is below the hull of {len(points)} listed ones"
    )


def _statement(task: Task, data: Data, classes: Any, status: str, bound: Number | None) -> str:
    """Say what is proven, from what was read and checked."""
    trees = f"no tree of depth {task.max_depth}"
    if task.max_splits is not None:
        trees += f" with at most {task.max_splits} splits"
    trees += f" over {len(data.columns)} columns"
    measures = [f"{task.min_samples_leaf} samples"] if task.min_samples_leaf else []
    if task.min_leaf_weight:
        measures.append(f"a weight of {task.min_leaf_weight * task.weight_unit}")
    if measures:
        trees += f", with at least {' and '.join(measures)} in each leaf,"
    conditions = [f"{m.describe()} {sense} {float(t):g}" for m, sense, t in task.constraints]
    if status == "infeasible":
        return f"{trees} meets {' and '.join(conditions) or 'the limits'}"
    if conditions:
        trees += f" that meets {' and '.join(conditions)}"
    what = task.metric.describe()
    if task.penalty:
        what += f" - {float(task.penalty):g} per split"
    if not all(name in ALL_CLASSES for _, name, _ in task.metric.terms):
        what += f" for {classes}"
    assert bound is not None
    than = "this one, " if status == "optimal" else ""
    given = any(name == "own" for _, name, _ in task.metric.terms)
    note = ", if the metric never falls with fewer errors, as its author says" if given else ""
    return f"{trees} has a larger {what} than {than}{float(bound):.6f}{note}"


def read_table(path: str, target: str | None = None) -> tuple[NDArray[np.uint8], list[str]]:
    """Read a CSV file with a header, 0/1 columns and one column with the class."""
    with open(path, newline="", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    place = len(names) - 1 if target is None else names.index(target)
    labels = [line[place] for line in lines]
    cells = [[cell for j, cell in enumerate(line) if j != place] for line in lines]
    return np.array(cells, dtype=float).astype(np.uint8), labels


def count_labels(labels: Sequence[Any], classes: Sequence[Any]) -> NDArray[np.int64]:
    """Return one row per label, with a 1 for its class; classes are compared as text."""
    place = {str(label): k for k, label in enumerate(classes)}
    counts = np.zeros((len(labels), len(classes)), dtype=np.int64)
    for i, label in enumerate(labels):
        _require(str(label) in place, f"the class {label!r} is not in the certificate")
        counts[i, place[str(label)]] = 1
    return counts


def main(arguments: Sequence[str]) -> int:
    """Check a certificate against a table; for use without the package."""
    proof, table, *target = arguments
    with open(proof, "rb") as file:
        content = file.read()
    try:
        header, _ = read_certificate(content)
        X, labels = read_table(table, *target)
        counts = count_labels(labels, header["data"]["classes"])
        data = Data.merge(X, counts, counts.sum(axis=1))
        data = replace(data, classes=tuple(header["data"]["classes"]))
        print(check_certificate(content, data))
    except RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
