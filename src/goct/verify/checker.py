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
import gzip
import hashlib
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from io import BytesIO
from itertools import pairwise
from math import isqrt
from reprlib import Repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 3
ANY = 2**30  # a depth that no tree reaches
LARGEST = 2**58  # sums are below, so that int64 holds them
LONGEST = 2**23  # no line has more bytes, as values take many times as much as their text
MOST_UNPACKED = 64  # times the bytes of the file; what the engine writes packs ten times at most
MOST_STEPS = 2**22  # numbers of false negatives
MOST_NUMBERS = 10**4  # numbers of splits that a penalty leaves
MOST_LISTED = 10**12  # sets of rows of depth two, times pairs of features, times rows
Array = NDArray[Any]
_SHORT = Repr()
_SHORT.maxother, _SHORT.maxstring = 200, 60


def short(value: Any) -> str:
    """Return what a file says in a few characters of one line."""
    return _SHORT.repr(value)


def quoted(text: str) -> str:
    """Return a name from a file so that no name can be taken for words of the checker."""
    return text if re.fullmatch(r"[\w.+-]{1,60}", text, re.ASCII) else repr(text)


class RejectedError(ValueError):
    """A certificate does not prove what it says; the message is the first step that fails."""


def require(holds: Any, step: str) -> None:
    """Reject the certificate unless something holds."""
    if not holds:
        raise RejectedError(step)


def groups(items: list[Any], size: int) -> Iterator[list[Any]]:
    """Yield the items, so many at a time."""
    return (items[i : i + size] for i in range(0, len(items), size))


# ---- the file: JSON, line by line, in gzip


def read_lines(content: bytes) -> Iterator[Any]:
    """Yield the lines: a header, questions, each with its facts, and at last the claims."""
    require(content[:17] != b"goct certificate ", "an older format: write the certificate again")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len(dict(pairs)) == len(pairs), "the file says something twice")
        return dict(pairs)

    decoder, left = json.JSONDecoder(object_pairs_hook=distinct, parse_constant=fraction), 2**20
    left += MOST_UNPACKED * len(content)
    try:
        with gzip.open(BytesIO(content)) as file:
            while some := file.read(2**20):
                left -= len(some)
                require(left >= 0, "the file unpacks to more than a certificate does")
            file.seek(0)
            while line := file.readline(LONGEST):
                yield decoder.decode(line.decode())
    except RejectedError:
        raise
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, MemoryError) as error:
        what = f"the file is damaged, or no certificate of goct: {short(error)}"
        raise RejectedError(what) from None


def read_header(content: bytes) -> dict[str, Any]:
    """Return the first line, which says what the certificate is about."""
    header: Any = next(read_lines(content), None)
    known = type(header) is dict and header.get("format") == "goct certificate"
    require(known and "version" in header, "the file is no certificate")
    version, about = header["version"], header.get("data")
    require(version == VERSION, f"the format is {short(version)}, and not {VERSION}")
    classes = about.get("classes") if type(about) is dict else None
    named = type(classes) is list and all(type(name) is str for name in classes)
    require(named, "the classes have no names")
    return dict(header)


def integer(value: Any, least: int = 0, most: int = LARGEST) -> int:
    """Return what must be an integer within limits."""
    require(type(value) is int and least <= value <= most, f"{short(value)} is out of range")
    return int(value)


def integers(values: Any, least: int = 0) -> list[int]:
    """Return what must be a list of integers."""
    require(type(values) is list, "a list is none")
    return [integer(value, least) for value in values]


def numbers_of(values: Any) -> list[int]:
    """Return what must be a list of numbers of things, each of them once."""
    found = integers(values)
    require(len(set(found)) == len(found), "a list says something twice")
    return found


def few(values: Any) -> list[Any]:
    """Return what must be a list, and a short one."""
    require(type(values) is list and len(values) <= 100, "a list is none, or too long")
    return list(values)


def fraction(text: Any) -> Fraction:
    """Return what must be an integer or a fraction as text."""
    plain = type(text) is str and re.fullmatch(r"-?[0-9]{1,400}(/[0-9]{1,400})?", text)
    require(plain, f"{short(text)} is no fraction")
    return Fraction(text)


# ---- the data


@dataclass(frozen=True)
class Data:
    """Distinct rows, and what weighs in them.

    Feature t of a column is "the rank is above t"; a 0/1 column has one. Features are numbered
    through, column by column.
    """

    ranks: Array  # the places of values in the order of their column; shape (columns, rows)
    counts: Array  # the weight of each class in each row, in units; shape (rows, classes)
    samples: Array  # the number of samples in each row, whatever they weigh
    costs: Array | None  # of predicting each class in each row, in units
    owners: tuple[int, ...]  # the column of the user's table behind each column
    weight_unit: Fraction = Fraction(1)
    cost_unit: Fraction = Fraction(1)
    classes: tuple[str, ...] = ()

    @classmethod
    def merge(cls, X: Array, counts: Array, samples: Array, costs: Array | None = None) -> Data:
        """Merge equal rows of a matrix of numbers, drop those without weight, and sort the rest."""
        require(np.isfinite(X).all(), "a number is missing or infinite")
        kept = counts.any(axis=1)
        dense = X[kept] - X[kept].min(axis=0, initial=1) if X.dtype == np.uint8 else X[kept]
        if dense.dtype != np.uint8 or dense.max(initial=0) > 1:
            places = [np.unique(column, return_inverse=True)[1].ravel() for column in dense.T]
            dense = np.array(places).reshape(X.shape[1], len(dense)).T
        ranks = dense.astype(">u4")
        _, first, group = np.unique(as_keys(ranks), return_index=True, return_inverse=True)

        def summed(numbers: Array) -> Array:
            small = np.abs(numbers.astype(float)).sum() < LARGEST
            require(small and numbers.dtype.kind in "iu", "the numbers are too large, or not whole")
            sums = np.zeros((len(first), *numbers.shape[1:]), dtype=np.int64)
            np.add.at(sums, group.ravel(), numbers[kept])
            return sums

        require(min(counts.min(initial=0), samples.min(initial=0)) >= 0, "a weight is negative")
        rows = np.ascontiguousarray(ranks[first].T).astype(np.int32)
        paid = None if costs is None else summed(costs)
        return cls(rows, summed(counts), summed(samples), paid, tuple(range(X.shape[1])))

    @cached_property
    def begin(self) -> Array:
        """The number of the first feature of each column, and that of all features."""
        return np.concatenate([[0], np.cumsum(self.ranks.max(axis=1, initial=1))])

    @cached_property
    def bits(self) -> Array:
        """The columns of two values, row by row, without those that split the rows as others do."""
        narrow = self.ranks[self.ranks.max(axis=1, initial=0) == 1] > 0
        return np.ascontiguousarray(narrow[distinct_columns(narrow)].T)

    @cached_property
    def wide(self) -> dict[int, int]:
        """The columns of more than two values, numbered from 1 on."""
        wide = np.flatnonzero(self.ranks.max(axis=1, initial=0) > 1).tolist()
        return {column: i for i, column in enumerate(wide, 1)}

    @cached_property
    def _sides(self) -> dict[int, Array]:
        return {}

    def column(self, feature: int) -> int:
        """Return the column of a feature."""
        require(0 <= feature < self.begin[-1], "there is no such feature")
        return int(np.searchsorted(self.begin, feature, side="right")) - 1

    def side(self, step: int) -> Array:
        """Return the rows on one side of a feature: step is 2 · feature + side."""
        if step not in self._sides:
            if len(self._sides) * self.ranks.shape[1] > 2**26:
                self._sides.clear()
            column = self.column(step // 2)
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

    def over(self, columns: frozenset[int]) -> Data:
        """Return the data for trees over some of the user's columns."""
        forbidden = ~np.isin(self.owners, list(columns))
        return replace(self, ranks=np.where(forbidden[:, None], 0, self.ranks))


def as_keys(rows: Array) -> Array:
    """Return the rows of a matrix as single values, which are equal exactly if these are."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.uint8)
    rows = np.ascontiguousarray(rows)
    return rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel()


def distinct_columns(columns: Array) -> Array:
    """Return one 0/1 column for each way to split the rows; a column and its complement are one."""
    packed = np.packbits(columns ^ columns[:, :1], axis=1)
    first = np.unique(as_keys(packed), return_index=True)[1]
    return first[packed[first].any(axis=1)]


# ---- numbers and metrics


@dataclass(frozen=True)
class Number:
    """An exact number: a sum of square roots of fractions; a negative one is minus a root."""

    squares: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, value: Fraction) -> Number:
        """Return a fraction as a number."""
        return cls((value * abs(value),))

    def __add__(self, other: Number) -> Number:
        return Number(self.squares + other.squares)

    def __mul__(self, factor: Fraction) -> Number:
        return Number(tuple(square * factor * abs(factor) for square in self.squares))

    def __le__(self, other: Number) -> bool:
        return (other + self * Fraction(-1)).sign() >= 0

    def sign(self) -> int:
        """Return -1, 0 or 1."""
        terms: dict[Fraction, Fraction] = {}
        for square in filter(None, self.squares):
            sign, size = (1 if square > 0 else -1), abs(square)
            for known in terms:  # roots are multiples of each other if the quotient is a square
                ratio = size / known
                root = Fraction(isqrt(ratio.numerator), isqrt(ratio.denominator))
                if root * root == ratio:
                    terms[known] += sign * root
                    break
            else:
                terms[size] = Fraction(sign)
        terms = {square: factor for square, factor in terms.items() if factor}
        bits = 64
        while terms:  # which are independent, so that their sum is not 0, and digits decide
            low = high = Fraction(0)
            for square, factor in terms.items():
                floor = isqrt((square.numerator << 2 * bits) // square.denominator)
                ends = factor * floor, factor * (floor + 1)
                low, high = low + min(ends), high + max(ends)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            bits *= 2
        return 0

    def __float__(self) -> float:
        return math.fsum(math.copysign(math.sqrt(abs(square)), square) for square in self.squares)

    def above(self) -> float:
        """Return a float that is no smaller, and close."""
        near = float(self)
        step = math.ulp(math.fsum(math.sqrt(abs(square)) for square in self.squares))
        while not self <= Number.of(Fraction(near)):
            near, step = near + step, 2 * step
        return near

    def __str__(self) -> str:
        """Return the number with six digits, rounded up."""
        millionths = math.ceil(Fraction(self.above()) * 10**6)
        if self <= Number.of(Fraction(millionths - 1, 10**6)):
            millionths -= 1
        whole, digits = divmod(abs(millionths), 10**6)
        return f"{'-' if millionths < 0 else ''}{whole}.{digits:06}"


def ratio(top: Fraction, bottom: Fraction) -> Fraction:
    """Return a quotient; 0 if it is none."""
    return Fraction(top) / bottom if bottom else Fraction(0)


RATIOS: dict[str, Callable[..., Fraction]] = {
    "f_beta": lambda tp, fp, fn, _, beta: ratio(
        (1 + beta**2) * tp, (1 + beta**2) * tp + fp + beta**2 * fn
    ),
    "jaccard": lambda tp, fp, fn, _: ratio(tp, tp + fp + fn),
    "precision": lambda tp, fp, _fn, _tn: ratio(tp, tp + fp),
    "npv": lambda _tp, _fp, fn, tn: ratio(tn, tn + fn),
    "kappa": lambda tp, fp, fn, tn: ratio(
        2 * (tp * tn - fp * fn), (tn + fp) * (tp + fp) + (tp + fn) * (tn + fn)
    ),
    "dor": lambda tp, fp, fn, tn, upper: min(
        upper, ratio(tp * tn, fp * fn) if fp * fn else upper * bool(tp * tn)
    ),
    "dor_smoothed": lambda tp, fp, fn, tn, epsilon: ratio(tp * tn, fp * fn + epsilon),
}
"""Metrics of two classes, of TP, FP, FN, TN and a parameter; 0 where the textbooks say 0 / 0."""
SQUARES: dict[str, Callable[..., Fraction]] = {
    "mcc": lambda tp, fp, fn, tn: ratio(
        (tp * tn - fp * fn) * abs(tp * tn - fp * fn),
        (tp + fn) * (tn + fp) * (tp + fp) * (tn + fn),
    ),
    "fowlkes_mallows": lambda tp, fp, fn, _: ratio(tp**2, (tp + fn) * (tp + fp)),
    "gmean": lambda tp, fp, fn, tn: ratio(tp * tn, (tp + fn) * (tn + fp)),
}
"""Those that are roots: their squares, with the sign of the metric."""
LINEAR: dict[str, Callable[[int, int, int | None, list[Fraction], dict[str, Any]], Any]] = {
    "accuracy": lambda k, j, _p, w, _o: (k == j) / sum(w),
    "balanced_accuracy": lambda k, j, _p, w, _o: (k == j) / w[k] / sum(v > 0 for v in w),
    "recall": lambda k, j, p, w, _o: (k == j == p) / w[k],
    "specificity": lambda k, j, p, w, _o: (k == j != p) / w[k],
    "youden": lambda k, j, _p, w, _o: (k == j) / w[k] - 1 / sum(w),
    "class_cost": lambda k, j, p, _w, o: (
        -(k != j) * o["false_negative" if k == p else "false_positive"]
    ),
    "predicted_positives": lambda _k, j, p, _w, _o: j == p,
    "true_positives": lambda k, j, p, _w, _o: k == j == p,
    "true_negatives": lambda k, j, p, _w, _o: p not in (k, j),
    "false_positives": lambda k, j, p, _w, _o: k != p == j,
    "false_negatives": lambda k, j, p, _w, _o: k == p != j,
    "predicted_positives_share": lambda _k, j, p, w, _o: (j == p) / sum(w),
    "true_positives_share": lambda k, j, p, w, _o: (k == j == p) / w[k],
    "true_negatives_share": lambda k, j, p, w, _o: (p not in (k, j)) / w[k],
    "false_positives_share": lambda k, j, p, w, _o: (k != p == j) / w[k],
    "false_negatives_share": lambda k, j, p, w, _o: (k == p != j) / w[k],
    "cost_matrix": lambda k, j, _p, _w, o: -o["costs"][k][j],
    "instance_cost": lambda *_: 0,
}
"""Those that add up rewards, by true class k, predicted class j, positive class p, weights of the
classes, and parameters. Instance costs are in the data."""
RISING = frozenset((*RATIOS, *SQUARES, "own"))
"""Metrics that never fall when TP or TN rises and the class sizes stay; those of `LINEAR` may."""
STRAIGHT = frozenset({"f_beta", "jaccard", "precision", "npv", "kappa"})
"""Those of two classes that are quotients of linear functions."""
OPTIONS = {
    "f_beta": {"beta"},
    "class_cost": {"false_negative", "false_positive"},
    "cost_matrix": {"costs"},
    "dor": {"upper"},
    "dor_smoothed": {"epsilon"},
}
"""The parameters of metrics; others have none."""
ALL_CLASSES = frozenset(("accuracy", "balanced_accuracy", "cost_matrix", "instance_cost"))
"""Metrics that do not ask which class is the positive one."""
Metric = tuple[tuple[Fraction, str, dict[str, Any]], ...]
"""A weighted sum of metrics: a weight, a name and parameters."""
Constraint = tuple[Metric, str, Fraction]


def read_metric(terms: Any, own: Callable[..., Number] | None = None) -> Metric:
    """Read a metric from a certificate; a function of the user's own is not in there."""
    read = []
    for weight, name, options in few(terms):
        require(name in RISING | {*LINEAR}, f"the checker does not know {short(name)}")
        require(name != "own" or own, "the metric is a function of your own: hand it over")
        same = type(options) is dict and set(options) == OPTIONS.get(name, set())
        require(same, f"{name} has other parameters")
        if name == "cost_matrix":
            options = {"costs": [[fraction(cost) for cost in row] for row in options["costs"]]}
        else:
            options = {key: fraction(value) for key, value in options.items()}
            least = min(options.values(), default=Fraction(1))
            require(least >= 0 and (least or name != "dor_smoothed"), "a negative parameter")
        read.append((fraction(weight), name, {"function": own} if name == "own" else options))
    return tuple(read)


def is_linear(metric: Metric) -> bool:
    """Say whether a metric adds up rewards of samples."""
    return all(name in LINEAR for _, name, _ in metric)


def is_straight(metric: Metric) -> bool:
    """Say whether a metric is a quotient of linear functions of FN and FP, and 0 where both are 0.

    The denominator is not negative. So on a line, values are between those at two ends.
    """
    return is_linear(metric) or [name in STRAIGHT for _, name, _ in metric] == [True]


def negative(metric: Metric) -> Metric:
    """Return minus a metric."""
    return tuple((-weight, name, options) for weight, name, options in metric)


def rises(metric: Metric, weights: list[Fraction], positive: int) -> bool:
    """Say whether a metric of two classes of some weights never falls when TP or TN rises.

    The terms that add up rewards are taken together, the others one by one. Instance costs are no
    function of errors.
    """
    linear = tuple(term for term in metric if term[1] in LINEAR)
    table = rewards(linear, weights, positive)
    return all(table[k][k] >= table[k][1 - k] for k in (0, 1)) and all(
        (weight > 0 and name in RISING) or (name in LINEAR and name != "instance_cost")
        for weight, name, _ in metric
    )


def plain(number: Fraction) -> str:
    """Return a number as people write it, but never another one."""
    text = f"{float(number):g}"
    return text if Fraction(text) == number else str(number)


def describe(metric: Metric) -> str:
    """Return the sum with the names and parameters of its terms."""
    parts = []
    for weight, name, options in metric:
        given = {key: value for key, value in options.items() if key != "function"}
        if name == "f_beta":
            name = f"f{plain(given.pop('beta'))}"
        if name == "cost_matrix":
            given = {"costs": [[plain(cost) for cost in row] for row in given["costs"]]}
        numbers = ", ".join(f"{key}={value}" for key, value in given.items())
        factor = "" if weight == 1 else f"{weight} · "
        parts.append(f"{factor}{name}{numbers and f'({numbers})'}")
    return " + ".join(parts)


def rewards(metric: Metric, weights: list[Fraction], positive: int | None) -> list[list[Fraction]]:
    """Return what a linear metric gives for a unit of weight, by true and predicted class."""
    classes = range(len(weights))
    table = [[Fraction(0) for _ in classes] for _ in classes]
    for factor, name, options in metric:
        for k, j in ((k, j) for k in classes for j in classes if weights[k]):
            table[k][j] += factor * Fraction(LINEAR[name](k, j, positive, weights, options))
    return table


def evaluate(
    metric: Metric, cells: list[list[Fraction]], positive: int | None, paid: Fraction = Fraction(0)
) -> Number:
    """Return a metric for weights by true and predicted class, and instance costs to pay."""
    total, weights = Number(), [sum(row, Fraction(0)) for row in cells]
    if not is_linear(metric):
        require(len(cells) == 2 and positive in (0, 1), "there are no two classes")
    for weight, name, options in metric:
        if name in LINEAR:
            table = rewards(((Fraction(1), name, options),), weights, positive)
            pairs = (zip(*rows, strict=True) for rows in zip(cells, table, strict=True))
            value = Number.of(sum((c * r for row in pairs for c, r in row), Fraction(0)))
            if name == "instance_cost":
                value = Number.of(-paid)
        else:
            p, n = positive or 0, 1 - (positive or 0)
            four = cells[p][p], cells[n][p], cells[p][n], cells[n][n]
            if name == "own":
                value = options["function"](*four)
            elif name in RATIOS:
                value = Number.of(RATIOS[name](*four, *options.values()))
            else:
                value = Number((SQUARES[name](*four),))
        total = total + value * weight
    return total


# ---- sets of rows


class Costs:
    """What trees cost on sets of rows, beyond the cheapest class in every row.

    Leaves that are `heavy` have at least `min_leaf` of what rows weigh, or cost infinitely much.
    """

    def __init__(self, data: Data, costs: Array, price: int, weight: Array, min_leaf: int) -> None:
        self.data, self.price, self.weight, self.min_leaf = data, price, weight, min_leaf
        self.base, self.classes = costs.min(axis=1), costs.shape[1]
        avoidable = costs - self.base[:, None]
        self.swing = avoidable.max(axis=1)
        total = max(int(self.swing.sum()) + 4 * price, int(weight.sum()), len(weight))
        require(total < LARGEST and self.classes > 1, "too large to check, or only one class")
        # Sums of integers below these sizes are exact in floats, in whatever order.
        self.exact: Any = np.float32 if total < 2**22 else np.float64 if total < 2**51 else np.int64
        self.never, self.swing = 2**60, self.swing.astype(self.exact)
        # What class 0 costs, what the others cost more, and, if that matters, what rows weigh.
        parts = [avoidable[:, 0], *(avoidable[:, 1:] - avoidable[:, :1]).T, weight]
        self.parts = np.array(parts if min_leaf else parts[:-1]).astype(self.exact)

    def bulk(self, heavy: bool) -> Array:
        """Return what of rows counts when sets are compared: swings, or the rows themselves."""
        return np.ones_like(self.swing) if heavy else self.swing

    def leaf(self, sums: Sequence[Array], heavy: bool) -> Array:
        """Return what leaves cost more than class 0, given sums of the other parts."""
        best = np.minimum(sums[0], 0)
        for more in sums[1 : self.classes - 1]:
            best = np.minimum(best, more)
        return np.where(sums[-1] < self.min_leaf, self.never, best) if heavy else best

    def leaves(self, sums: Array, heavy: bool) -> Array:
        """Return what leaves cost, given sums of all parts."""
        return np.asarray(sums[0] + self.leaf([*sums[1:]], heavy))

    def sides(self, totals: Array, right: Array, heavy: bool) -> Array:
        """Return what both sides of features cost as leaves, given sums over all and the right."""
        both = right, totals[..., None] - right
        return np.array([self.leaves(sums, heavy) for sums in both])

    def stumps(
        self, totals: Array, right: Array, own: Array, inside: list[Array], heavy: bool
    ) -> Array:
        """Return what sets of rows, and the rest, cost with exactly one split each.

        Given are the sums over all rows and over those right of each feature, and the same for
        each set: its `own` sums, and those of the rows `inside` it and right of each feature.
        """
        outside = [both[..., None, :] - part for both, part in zip(right[1:], inside, strict=True)]
        found = []
        for here, there in ((own, inside), (totals[..., None] - own, outside)):
            if len(there) == 1 and right.shape[-1]:
                # What a split costs is concave in this sum, so that the ends decide.
                there = [np.stack([there[0].min(axis=-1), there[0].max(axis=-1)], axis=-1)]
            rest = [all_of[..., None] - part for all_of, part in zip(here[1:], there, strict=True)]
            cost = self.leaf(there, heavy) + self.leaf(rest, heavy)
            found.append(here[0] + cost.min(axis=-1, initial=self.never))
        return np.array(found)


class Rows:
    """A set of rows, the features that split it, and sums over their right sides.

    Columns of two values that split the rows alike are one. Features are in places: those columns
    are at place 0, and each of the others, with its thresholds, has a place of its own.
    """

    def __init__(self, costs: Costs, mask: Array) -> None:
        self.costs, self.mask, self.rows = costs, mask, np.flatnonzero(mask)
        self.parts = costs.parts[:, self.rows]
        self.totals = self.parts.sum(axis=1)
        bits = costs.data.bits[self.rows]
        self.cells: Array = bits[:, distinct_columns(bits.T)].astype(costs.exact)
        self.chains, sizes = [], [self.cells.shape[1]]
        for column in costs.data.wide:
            ranks = costs.data.ranks[column, self.rows]
            order = np.argsort(ranks, kind="stable")
            ends = np.flatnonzero(np.diff(ranks[order]))
            self.chains.append((ranks, order, ends))
            sizes.append(len(ends))
        ends = np.cumsum(sizes).tolist()
        self.size, self.places = ends[-1], [slice(*both) for both in pairwise([0, *ends])]

    def sets(self) -> Array:
        """Return which rows are on the right of each feature; shape (features, rows)."""
        parts = [self.cells.T]
        parts += [ranks > ranks[order][ends][:, None] for ranks, order, ends in self.chains]
        return np.concatenate(parts)

    def sums(self, weights: Array, place: int | None = None) -> Array:
        """Return sums over the right sides, one line for each line of weights, maybe at a place."""
        parts = [] if place else [weights @ self.cells]
        for _, order, ends in self.chains if place is None else self.chains[place - 1 : place]:
            left = np.cumsum(weights.T[order], axis=0)
            parts.append((left[-1:] - left[ends]).T)
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

    @cached_property
    def right(self) -> Array:
        """The sums of all parts over the right sides."""
        return self.sums(self.parts)

    @cached_property
    def pairs(self) -> list[Array]:
        """The sums of all parts but the first over the rows that are right of two columns."""
        return [(self.cells * part[:, None]).T @ self.cells for part in self.parts[1:]]

    def pairs_of(self, masks: Array) -> list[Array]:
        """Return the same for some of the rows, of most as what the others leave."""
        found = [np.empty((len(masks), self.size, self.size), self.cells.dtype) for _ in self.pairs]
        for i, mask in enumerate(masks):
            is_most = 2 * np.count_nonzero(mask) > len(mask)
            few = np.flatnonzero(~mask if is_most else mask)
            cells = self.cells[few]
            for table, part, both in zip(found, self.parts[1:, few], self.pairs, strict=True):
                np.matmul((cells * part[:, None]).T, cells, out=table[i])
                if is_most:
                    np.subtract(both, table[i], out=table[i])
        return found

    def stumps(self, sets: Array | None, heavy: bool) -> Array:
        """Return what sets and their rests cost with exactly one split; else, all right sides."""
        if sets is None and not self.chains:
            return self.costs.stumps(self.totals, self.right, self.right, self.pairs, heavy)
        sets = self.sets() if sets is None else sets
        found = [np.zeros((2, 0), dtype=self.costs.exact)]
        for some in np.array_split(sets, 1 + len(sets) * self.size // 2**20):
            inside = [self.sums(some * part) for part in self.parts[1:]]
            found.append(
                self.costs.stumps(self.totals, self.right, self.parts @ some.T, inside, heavy)
            )
        return np.concatenate(found, axis=1)


# ---- facts about sets of rows


@dataclass(frozen=True)
class Fact:
    """No tree of some depth costs less on these rows: one value, or one by number of splits."""

    path: list[int]
    depth: int
    heavy: bool
    values: list[int]

    @property
    def kind(self) -> Any:
        """What facts have in common that are about sides of the same rows, and the same trees."""
        return self.path[:-1], self.depth, self.heavy


class Facts:
    """Checks the facts of a question, each from those before it.

    There is either one value, with the price of each split, or one for at most 0, 1, ... `budget`
    splits, without. Facts that are heavy are about trees with heavy leaves.
    """

    def __init__(self, costs: Costs, budget: int | None) -> None:
        self.costs, self.data, self.budget = costs, costs.data, budget
        self.facts: list[Fact] = []
        self.waiting: list[Fact] = []  # tables that are checked together
        self.last: tuple[Rows, Array] | None = None  # bounds on the sides of each feature
        self.around: tuple[list[int], Rows] = [], Rows(costs, self.mask([]))

    def mask(self, path: list[int]) -> Array:
        """Rebuild a set of rows from the splits that lead to it."""
        out = np.ones(len(self.costs.swing), dtype=bool)
        for step in path:
            out &= self.data.side(step)
        return out

    def rows(self, path: list[int]) -> Rows:
        """Return the rows of a path; facts about the same ones follow each other."""
        if self.around[0] != path:
            self.around = path, Rows(self.costs, self.mask(path))
        return self.around[1]

    def number(self, depth: int) -> int:
        """Return the number of values of a fact."""
        return 1 if self.budget is None else min(self.budget, 2 ** min(depth, 40) - 1) + 1

    def usable_depth(self, fact: Fact) -> int:
        """Return the depth of trees that could cost less (rule: price).

        A tree with k splits is no deeper than k, and costs at least k times the price.
        """
        if self.budget is not None:
            return min(fact.depth, self.budget)
        price = self.costs.price
        return min(fact.depth, max(0, (fact.values[0] - 1) // price)) if price else fact.depth

    def add(self, line: Any) -> None:
        """Add a fact, and check it, or a table soon."""
        rule, path, depth, heavy, values, basis = line
        depth, heavy = ANY if depth is None else integer(depth, 0, 10**4), integer(heavy, 0, 1) == 1
        fact = Fact(integers(path), depth, heavy, [max(v, 0) for v in integers(values, -LARGEST)])
        require(rule in ("table", "split"), f"there is no rule {rule!r}")
        require(len(fact.values) == self.number(depth), "a fact has the wrong number of values")
        require(len({*fact.path}) == len(fact.path), "a path says something twice")
        require(self.costs.min_leaf or not heavy, "a fact is about other trees")
        is_plain = rule == "table" and basis is None
        if self.waiting and not (is_plain and fact.kind == self.waiting[0].kind):
            self.check_tables()
        self.facts.append(fact)
        if is_plain:
            self.waiting.append(fact)
            return
        rows, usable = self.rows(fact.path), self.usable_depth(fact)
        sides = np.zeros((2, 0, rows.size))  # of trees without splits
        if usable:
            sides = (self.table if rule == "table" else self.split)(rows, usable, heavy, basis)
        self.conclude([fact], rows.totals[:, None], rows.right[:, None], sides[:, :, None])
        self.last = (rows, sides[:, 0]) if usable else None

    def conclude(self, facts: list[Fact], totals: Array, right: Array, sides: Array) -> None:
        """Check facts about sets of rows, given bounds on both sides of each feature, by splits.

        Given are also the sums over each set, and over its rows on the right of each feature.
        """
        costs, values = self.costs, np.array([fact.values for fact in facts]).T

        def need(holds: Array, what: str) -> None:
            for fact in (facts[i] for i in np.flatnonzero(~holds)):
                raise RejectedError(f"the fact about the path {short(fact.path)}: {what}")

        need(costs.leaves(totals, heavy=False) >= values.max(axis=0), "a leaf costs less")
        if facts[0].heavy:
            least = np.minimum(right[-1], totals[-1, :, None] - right[-1])
            sides[..., least < costs.min_leaf] = costs.never
        last = sides.shape[1] - 1
        ways = [(0, 0, 0)] if last >= 0 else []
        if self.budget is not None:
            numbers = range(1, len(values))
            ways = [(m, i, m - 1 - i) for m in numbers for i in range(min(m, last + 1))]
        for m, i, j in ways:
            cost = sides[0, i] + sides[1, min(j, last)] + costs.price
            need((cost >= values[m, :, None]).all(axis=1), "a tree may cost less than it says")

    def with_one(self, leaves: Array, stumps: Array) -> Array:
        """Return bounds by number of splits, 0 and 1, from what leaves and single splits cost."""
        best = np.minimum(leaves, stumps + self.costs.price)
        return best[:, None] if self.budget is None else np.stack([leaves, best], axis=1)

    def check_tables(self) -> None:
        """Check facts from counts (rule: table): sums over pairs of features give the best trees.

        These are about sides of the same rows.
        """
        waiting, self.waiting, self.last, costs = self.waiting, [], None, self.costs
        rows, heavy = self.rows(waiting[0].path[:-1]), waiting[0].heavy
        require(not rows.chains, "a table of all pairs needs columns of two values")
        for facts in groups(waiting, 1 + 2**17 // (rows.size**2 + 1)):
            masks = np.array([self.mask(fact.path[-1:])[rows.rows] for fact in facts])
            totals = rows.parts @ masks.T
            right = np.array([rows.sums(masks * part) for part in rows.parts])
            usable = max(map(self.usable_depth, facts))
            require(usable <= 2, "a table is about depth two")
            sides = costs.sides(totals, right, heavy)
            bounds = sides[:, None]
            if usable == 2:
                one = costs.stumps(totals, right, right, rows.pairs_of(masks), heavy)
                bounds = self.with_one(sides, one)
            self.conclude(facts, totals, right, bounds[:, : None if usable else 0])

    def table(self, rows: Rows, depth: int, heavy: bool, listed: Any) -> Array:
        """Return what both sides of each feature cost at least, as leaves and with one split.

        Rule: table. Only the sides of features that are listed are looked at; those of the others
        are bounded by similarity.
        """
        require(depth <= 2, "a table is about depth two")
        costs, leaves = self.costs, self.costs.sides(rows.totals, rows.right, heavy)
        if depth == 1:
            return leaves[:, None]
        bounds = self.with_one(leaves, 0 * leaves)
        right = np.array([self.data.side(2 * f + 1)[rows.rows] for f in numbers_of(listed)])
        sets = np.concatenate([right, ~right]) if listed else right.reshape(0, len(rows.rows))
        owner = np.array([self.data.wide.get(self.data.column(f), 0) for f in listed] * 2)
        sums = rows.parts @ sets.T
        for strict in {False, heavy}:
            stumps = rows.stumps(sets[: len(listed)], strict).reshape(1, -1)
            values = self.with_one(costs.leaves(sums, strict)[None], stumps)[0].T
            whole = sets @ costs.bulk(strict)[rows.rows]
            for number, place in enumerate(rows.places):
                mine = owner == number
                given = sets[mine], whole[mine], values[mine], strict
                self.raise_bounds(bounds[..., place], rows, *given, number)
        return bounds

    def split(self, rows: Rows, depth: int, heavy: bool, names: Any) -> Array:
        """Return what both sides of each feature cost at least, by number of splits.

        Rule: split. Whatever the first split is, its sides cost at least what similar sets do.
        """
        known = max(numbers_of(names), default=-1) < len(self.facts) - 1
        require(known, "a fact rests on a later one")
        anchors, classes = [self.facts[name] for name in names], self.number(depth - 1)
        usable = all(a.depth >= depth - 1 and (heavy or not a.heavy) for a in anchors)
        require(usable, "a fact rests on one about smaller trees, or about heavy leaves")
        bounds = np.zeros((2, classes, rows.size), dtype=self.costs.exact)
        size = 1 + 2**22 // (len(self.costs.swing) + rows.size)
        for kind in (False, True):
            for group in groups([a for a in anchors if a.heavy == kind], size):
                sets = np.array([self.mask(anchor.path) for anchor in group])
                values = np.array([anchor.values[:classes] for anchor in group])
                given = sets[:, rows.rows], sets @ self.costs.bulk(kind), values, kind
                self.raise_bounds(bounds, rows, *given)
        return bounds

    def raise_bounds(
        self,
        bounds: Array,
        rows: Rows,
        sets: Array,
        whole: Array,
        values: Array,
        heavy: bool,
        place: int | None = None,
    ) -> None:
        """Raise bounds on the sides of features by what is known of sets of rows (similarity).

        A side costs no less than a set, minus the swings of the rows that only the set has; with
        heavy leaves, the very same rows cost the same. Given are which rows here are in each set,
        and the bulk of all its rows.
        """
        if not len(sets):
            return
        bulk = self.costs.bulk(heavy)[rows.rows]
        here = sets * bulk
        right = rows.sums(here, place)
        shared = np.array([right, here.sum(axis=1)[:, None] - right])
        lost = whole[:, None] - shared
        if heavy:
            right = rows.sums(bulk[None], place)
            same = (lost == 0) & (shared == np.array([right, len(bulk) - right]))
            lost = np.where(same, 0, self.costs.never)
        for m, known in enumerate(values.T):
            np.maximum(bounds[:, m], (known[:, None] - lost).max(axis=1), out=bounds[:, m])


def listed(features: int, depth: int) -> int:
    """Return how many pairs of features are looked at to list the points of trees."""
    return int(features ** min(max(depth, 2), 64))  # with 64, too many in any case


class Front:
    """The points (FN, FP) of all trees of a depth on some rows, up to a cost a · FN + b · FP.

    The question is what trees cost, the direction (a, b), and the positive and negative counts.
    """

    def __init__(
        self, question: tuple[Costs, Array, Array], mask: Array, depth: int, known: Any = None
    ) -> None:
        self.question, self.depth, costs = question, depth, question[0]
        heavy = costs.min_leaf > 0
        self.rows: Rows = known[0] if known else Rows(costs, mask)
        sides: Any = known[1] if known else np.zeros((2, self.rows.size))
        if depth <= 2:
            sides = costs.sides(self.rows.totals, self.rows.right, heavy)
        if depth == 2:
            sides = np.minimum(sides, self.rows.stumps(None, heavy))
        self.sides = sides.sum(axis=0)
        self.least = costs.leaves(self.rows.totals, heavy)  # of all trees, once splits count
        if depth > 0 and self.least < costs.never:
            self.least = min(self.least, self.sides.min(initial=costs.never))

    def points(self, room: Any, most: int) -> Array:
        """Return points that dominate those of trees with at most so many splits.

        The trees cost no more than some room, beyond what all do.
        """
        (costs, direction, counts), depth, rows = self.question, self.depth, self.rows
        pos, neg = counts[:, rows.rows].sum(axis=1).tolist()
        found = [np.array([(0, neg), (pos, 0)])]
        close = np.flatnonzero(self.sides <= room) if depth and most else np.zeros(0, np.intp)
        if depth == 1:
            x, y = rows.sums(counts[:, rows.rows])[:, close].astype(np.int64)
            found += [np.stack([pos - x, y], axis=1), np.stack([x, neg - y], axis=1)]
            close = close[:0]
        for right in rows.sets()[close] > 0:
            masks = np.zeros((2, len(rows.mask)), dtype=bool)
            masks[:, rows.rows] = right, ~right
            one, two = (Front(self.question, mask, depth - 1) for mask in masks)
            full, spent = 2 ** (depth - 1) - 1, one.least + two.least
            left = min(most - 1, 2 * full)  # splits, for both sides together
            for i in range(max(0, left - full), min(full, left) + 1 if spent <= room else 0):
                a, b = one.points(room - two.least, i), two.points(room - one.least, left - i)
                found.append((a[:, None] + b).reshape(-1, 2))
        points = np.concatenate(found)
        points = points[points @ direction - costs.base[rows.rows].sum() <= room]
        points = points[np.lexsort(points.T[::-1])]
        below = np.minimum.accumulate(np.concatenate([[LARGEST], points[:, 1]]))
        return np.asarray(points[points[:, 1] < below[:-1]])


# ---- from linear questions to the objective


@dataclass(frozen=True)
class Question:
    """A question that is answered: what trees over some columns cost at least."""

    columns: frozenset[int]
    table: list[list[int]]  # costs by true and predicted class
    instance: int  # the factor of instance costs
    unit: Fraction  # what a cost of 1 stands for
    price: int
    by_splits: bool
    depth: int = 0
    least: tuple[int, ...] = ()
    fronts: tuple[tuple[int, int, Array], ...] = ()  # splits, a cost, and the points up to it

    def at(self, splits: int, deepest: int) -> int | None:
        """Return what trees with so many splits cost, without their price, if it is known."""
        if min(deepest, splits) > self.depth or (self.by_splits and splits >= len(self.least)):
            return None
        return self.least[splits if self.by_splits else 0] - self.price * splits


@dataclass(frozen=True)
class Task:
    """What a claim is about: which trees, and what is best."""

    max_depth: int | None
    max_splits: int | None
    penalty: Fraction
    metric: Metric
    constraints: list[Constraint]
    limits: list[tuple[dict[int, Fraction], Fraction]]  # prices of columns, and a budget
    rows: int

    @classmethod
    def read(cls, asked: Any, rows: int, own: Callable[..., Number] | None) -> Task:
        """Read what was asked of trees on so many rows."""
        depth, splits, penalty = (
            asked[key] for key in ("max_depth", "max_splits", "split_penalty")
        )
        constraints = [
            (read_metric(terms, own), {">=": ">=", "<=": "<="}[sense], fraction(bound))
            for terms, sense, bound in asked["constraints"]
        ]
        limits = [
            ({integer(c): fraction(price) for c, price in prices}, fraction(budget))
            for prices, budget in asked["limits"]
        ]
        prices = [fraction(penalty), *(p for prices, _ in limits for p in prices.values())]
        require(min(prices) >= 0, "a price is negative")
        depth = None if depth is None else integer(depth, 0, 64)
        splits = None if splits is None else integer(splits)
        metric = read_metric(asked["metric"], own)
        return cls(depth, splits, prices[0], metric, constraints, limits, rows)

    @property
    def most_splits(self) -> int:
        """The largest number of splits; each leaf has a row, or its split can be left out."""
        most = [self.rows - 1, self.max_splits, self.max_depth and 2**self.max_depth - 1]
        return max(0, min(n for n in most if n is not None))

    @property
    def deepest(self) -> int:
        """The largest depth of a tree."""
        return min(ANY if self.max_depth is None else self.max_depth, self.most_splits)

    def admits(self, columns: frozenset[int]) -> bool:
        """Say whether a tree may use these columns of the user."""
        return all(
            sum(prices.get(c, Fraction(0)) for c in columns) <= budget
            for prices, budget in self.limits
        )


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Attributes
    ----------
    statement
        What is proven, in words; one line for each claim.
    facts
        How many facts on row sets were checked.
    objective, bound
        The objective of the tree, and what no tree exceeds; None if there is none, or several.
    """

    statement: str
    facts: int
    objective: float | None = None
    bound: float | None = None

    def __str__(self) -> str:
        return f"VERIFIED: {self.statement}"


class Check:
    """A certificate, and the data that it is about."""

    def __init__(
        self, header: dict[str, Any], data: Data, own: Callable[..., Number] | None
    ) -> None:
        reason = repr(header.get("reason"))[:1000]
        require(header["checkable"] is True, f"this cannot be checked: {reason}")
        about, self.own = header["data"], own
        require(about["digest"] == data.digest(), "the certificate is about other data")
        units = [str(data.weight_unit), str(data.cost_unit)]
        same = about["units"] == units and about["classes"] == list(data.classes)
        require(same and data.weight_unit > 0, "other units, or other classes")
        require(about["owners"] == list(data.owners), "the columns belong to others")
        positive = about["positive"]
        if positive is not None:
            self.label = quoted(data.classes[integer(positive, 0, len(data.classes) - 1)])
        self.against_rest = about["against_rest"] is True
        if self.against_rest:
            data, positive = data.against_rest(integer(positive)), 1
        self.data, self.positive, self.facts = data, positive, 0
        self.columns, self.totals = frozenset(data.owners), data.counts.sum(axis=0).tolist()
        by, least = header["leaves"]
        require(by in ("weight", "samples"), "leaves have no such measure")
        self.weight, self.leaves = data.samples, f"{least} samples"
        if by == "weight":
            self.weight = data.counts.sum(axis=1)
            self.leaves = f"a weight of {integer(least) * data.weight_unit}"
        self.min_leaf = integer(least)
        self.questions: list[Question] = []

    def run(self, lines: Iterator[Any]) -> Verdict:
        """Check all of it: questions with their facts, and the claims."""
        line: Any = next(lines, None)
        while type(line) is dict and "costs" in line:
            question, facts = self.read_question(line)
            inside = line["inside"]
            while type(line := next(lines, None)) is list:
                facts.add(line)
            self.questions.append(self.close(question, facts, inside))
        require(type(line) is dict and next(lines, None) is None, "the file has no proper end")
        claims = [self.claim(claim) for claim in line["claims"]]
        require(claims, "nothing is claimed")
        numbers = claims[0][1:] if len(claims) == 1 else ()
        return Verdict("\n".join(text for text, *_ in claims), self.facts, *numbers)

    def read_question(self, line: dict[str, Any]) -> tuple[Question, Facts]:
        """Read a linear question."""
        columns, data = self.columns - frozenset(integers(line["without"])), self.data
        if columns < self.columns:
            data = data.over(columns)
        table = [integers(row, -LARGEST) for row in line["costs"]]
        factor, unit = integer(line["instance"], -LARGEST), fraction(line["unit"])
        price, budget = integer(line["price"]), line["budget"]
        require(unit > 0 and (budget is None or price == 0), "a question has a price too many")
        matrix = data.counts.astype(object) @ np.array(table, dtype=object)
        if factor:
            require(data.costs is not None, "the data have no costs")
            matrix = matrix + np.asarray(data.costs).astype(object) * factor
        require(np.abs(matrix).sum() < LARGEST, "the costs are too large to check")
        costs = Costs(data, matrix.astype(np.int64), price, self.weight, self.min_leaf)
        facts = Facts(costs, None if budget is None else integer(budget))
        return Question(columns, table, factor, unit, price, budget is not None), facts

    def close(self, question: Question, facts: Facts, inside: Any) -> Question:
        """Note what the facts of a question prove; the last is about all rows."""
        if facts.waiting:
            facts.check_tables()
        require(facts.facts and not facts.facts[-1].path, "the last fact is not about all rows")
        last, costs, fronts = facts.facts[-1], facts.costs, []
        self.facts, base = self.facts + len(facts.facts), int(costs.base.sum())
        for most, limit in inside:
            plain = not question.price and not question.by_splits
            require(plain and sum(self.totals) < 2**51, "points need free splits and small counts")
            counts = costs.data.counts[:, list(self.two_classes())].T
            depth = min(last.depth, integer(most))  # a tree is no deeper than it has splits
            rows = len(self.weight) + len(self.steps)
            require(listed(facts.around[1].size, depth) * rows <= MOST_LISTED, "too many points")
            given = costs, np.array(self.direction(question)), counts
            front = Front(given, np.ones(len(self.weight), dtype=bool), depth, facts.last)
            fronts.append((most, limit, front.points(integer(limit) - base, most)))
        least = tuple(base + value for value in last.values)
        return replace(question, depth=last.depth, least=least, fronts=tuple(fronts))

    def two_classes(self) -> tuple[int, int]:
        """Return the positive and the negative class, of two."""
        require(len(self.totals) == 2 and self.positive in (0, 1), "there are no two classes")
        return (1, 0) if self.positive else (0, 1)

    @cached_property
    def units(self) -> list[int]:
        """What numbers of false negatives, and of false positives, are multiples of."""
        divisors = np.gcd.reduce(self.data.counts[:, list(self.two_classes())], axis=0, initial=0)
        return [max(int(divisor), 1) for divisor in divisors]

    @cached_property
    def steps(self) -> Array:
        """The numbers of false negatives that trees may have."""
        (p, _), (each, _) = self.two_classes(), self.units
        few = self.totals[p] // each < MOST_STEPS
        require(few, "the weights are too fine to check; round them")
        return np.arange(0, self.totals[p] + 1, each)

    def rises(self, metric: Metric) -> bool:
        """Say whether a metric never falls with fewer errors."""
        weights = [self.data.weight_unit * total for total in self.totals]
        return len(weights) == 2 and rises(metric, weights, self.two_classes()[0])

    def monotone(self, task: Task) -> list[bool]:
        """Say which constraints are still met by whoever makes fewer errors; only these help."""
        return [
            self.rises(metric if sense == ">=" else negative(metric))
            for metric, sense, _ in task.constraints
        ]

    def cells(self, fn: Any, fp: Any) -> list[list[Any]]:
        """Return counts by true and predicted class at a point."""
        p, n = self.two_classes()
        n_pos, n_neg = self.totals[p], self.totals[n]
        positive, negative = [n_pos - fn, fn], [fp, n_neg - fp]
        return [positive, negative] if p == 0 else [negative[::-1], positive[::-1]]

    def direction(self, question: Question) -> tuple[int, int]:
        """Return what false negatives and false positives cost."""
        (p, n), table = self.two_classes(), question.table
        plain = table[p][p] == table[n][n] == 0 <= min(table[p][n], table[n][p])
        require(plain and not question.instance, "these are no costs of errors alone")
        return table[p][n], table[n][p]

    def claim(self, claim: dict[str, Any]) -> tuple[str, float | None, float | None]:
        """Check a claim; return it in words, with the objective of its tree and its bound."""
        value = self.read_claim(claim)
        if self.min_leaf <= self.weight.sum():
            self.cover(claim["cover"], frozenset(), self.columns)
        bound = None if self.bound is None else self.bound.above()
        return self.statement(claim["status"]), None if value is None else float(value), bound

    def read_claim(self, claim: dict[str, Any]) -> Number | None:
        """Read a claim, and reject it if no proof could help; return the objective of its tree."""
        self.task = task = Task.read(claim["task"], len(self.weight), self.own)
        status, tree = claim["status"], claim["tree"]
        for metric in (task.metric, *(metric for metric, *_ in task.constraints)):
            if not ALL_CLASSES.issuperset(name for _, name, _ in metric):
                self.two_classes()  # which these metrics are about
        value = None if tree is None else self.objective(tree)
        self.bound: Number | None = value
        if status == "bound":
            self.bound = Number(tuple(map(fraction, few(claim["bound"]))))
        else:
            require(status == ("infeasible" if tree is None else "optimal"), "another status")
        if self.by_points(task, self.bound) and self.min_leaf <= self.weight.sum():
            known = self.bound is None or self.rises(task.metric)
            require(known and len(self.steps), "the metric may rise with errors")
        return value

    def by_points(self, task: Task, bound: Any) -> bool:
        """Say whether a bound, or none, is about points (FN, FP), and not one linear question."""
        if bound is None or not is_linear(task.metric):
            return True
        return bool(task.constraints) and self.rises(task.metric)  # else they only exclude trees

    def objective(self, tree: Any) -> Number:
        """Return the objective of a tree, after a check that it is one of those in question."""
        data, task, classes = self.data, self.task, range(len(self.totals))
        predicted, used, splits = np.zeros(len(self.weight), dtype=np.int64), set(), 0
        nodes = [(tree, np.ones(len(predicted), dtype=bool), 0)]
        while nodes:
            node, rows, depth = nodes.pop()
            if type(node) is int:
                predicted[rows] = integer(node, 0, len(classes) - 1)
                require(self.weight[rows].sum() >= self.min_leaf, "a leaf of the tree is too small")
                continue
            feature, *sides = node
            used.add(data.owners[data.column(integer(feature))])
            splits += 1
            require(len(sides) == 2 and depth < task.deepest, "the tree is too deep")
            nodes += [
                (s, rows & data.side(2 * feature + i), depth + 1) for i, s in enumerate(sides)
            ]
        require(splits <= task.most_splits, "the tree has too many splits")
        require(task.admits(frozenset(used)), "the tree uses columns that it must not")
        cells = [[int(data.counts[predicted == j, k].sum()) for j in classes] for k in classes]
        paid = Fraction(0)
        if data.costs is not None:
            paid = data.cost_unit * int(data.costs[np.arange(len(predicted)), predicted].sum())
        met = self.meets(task.constraints, cells, paid)
        require(met, "the tree does not meet the constraints")
        return self.value(task.metric, cells, paid) + Number.of(-task.penalty * splits)

    def value(self, metric: Metric, cells: list[list[int]], paid: Fraction = Fraction(0)) -> Number:
        """Return a metric, given counts by true and predicted class."""
        unit = self.data.weight_unit
        return evaluate(metric, [[unit * n for n in row] for row in cells], self.positive, paid)

    def meets(
        self, constraints: list[Constraint], cells: list[list[int]], paid: Fraction = Fraction(0)
    ) -> bool:
        """Say whether counts by true and predicted class meet constraints on metrics."""
        for metric, sense, threshold in constraints:
            value, bound = self.value(metric, cells, paid), Number.of(threshold)
            if not (bound <= value if sense == ">=" else value <= bound):
                return False
        return True

    def cover(self, node: Any, committed: frozenset[int], among: frozenset[int]) -> None:
        """Check that no tree is better that uses the columns committed to, and some of the others.

        A node lists the questions that prove it, or has a column, a node for trees without it, and
        one for trees that may use it.
        """
        if not self.task.admits(committed):
            return  # nor does it admit more columns
        allowed = committed | {c for c in among if self.task.admits(committed | {c})}
        if type(node) is list:
            questions = [self.questions[i] for i in numbers_of(node)]
            known = all(allowed <= question.columns for question in questions)
            require(known, "a question is about fewer columns")
            can_split = self.data.ranks[np.isin(self.data.owners, list(allowed))].any()
            by_points = self.by_points(self.task, self.bound)
            argue = self.argue if by_points else self.argue_linear
            argue(questions, self.task.most_splits if can_split else 0)
            return
        column = node["column"]
        require(column in allowed - committed, "this column is no choice")
        self.cover(node["without"], committed, allowed - {column})
        self.cover(node["with"], committed | {column}, allowed)

    def argue_linear(self, questions: list[Question], most: int) -> None:
        """Check that the costs of a question are a linear metric, and large enough."""
        unit, task = self.data.weight_unit, self.task
        table = rewards(task.metric, [unit * total for total in self.totals], self.positive)
        factor = sum((f for f, name, _ in task.metric if name == "instance_cost"), Fraction(0))
        for question in questions:
            same = factor * self.data.cost_unit == question.unit * question.instance
            same &= all(
                -unit * reward == question.unit * cost or not total
                for row, costs, total in zip(table, question.table, self.totals, strict=True)
                for reward, cost in zip(row, costs, strict=True)
            )
            ends = [-question.unit * least for least in question.least]
            if question.by_splits:
                same &= len(ends) > most
                ends = [end - task.penalty * m for m, end in enumerate(ends[: most + 1])]
            same &= question.price * question.unit <= task.penalty
            same &= question.depth >= task.deepest and self.bound is not None
            if same and Number.of(max(ends)) <= (self.bound or Number()):
                return
        raise RejectedError("the questions leave room for better trees")

    def argue(self, questions: list[Question], most: int) -> None:
        """Check that each point (FN, FP) that no question excludes is worse, or not allowed."""
        (p, n), task, bound = self.two_classes(), self.task, self.bound
        n_pos, n_neg = self.totals[p], self.totals[n]
        # A constraint that may be met again after more errors excludes nothing here.
        helps = zip(task.constraints, self.monotone(task), strict=True)
        monotone = [constraint for constraint, is_monotone in helps if is_monotone]

        def exceeds(fn: Any, fp: Any, splits: int) -> bool:
            cells = self.cells(fn, fp)
            return bound is None or not self.value(task.metric, cells) <= bound + Number.of(
                task.penalty * splits
            )

        def is_better(fn: int, fp: int, splits: int) -> bool:
            return exceeds(fn, fp, splits) and self.meets(monotone, self.cells(fn, fp))

        def check(points: Iterable[Any], splits: int) -> None:
            for fn, fp in points:
                what = f"better trees with {fn} false negatives and {fp} false positives may exist"
                require(not is_better(fn, fp, splits), what)

        def closes(line: tuple[int, int, int], left: int, right: int, splits: int) -> bool:
            """Say whether a line excludes all that is better and between two numbers of FN.

            On the line itself the ends decide, which need not be whole numbers.
            """
            a, b, least = line
            high, low = Fraction(least - a * left, b), Fraction(least - a * right, b)
            if not is_straight(task.metric) or not 0 <= high <= n_neg:
                return False
            x, y = (Fraction(right), low) if low >= 0 else (Fraction(least, a), Fraction(0))
            return not exceeds(left, high, splits) and not exceeds(x, y, splits)

        check([(0, n_neg), (n_pos, 0)], 0)
        # Without a penalty, trees with fewer splits are among those with more. With one, each
        # number has another value to beat; from some on, not even trees without errors do.
        fn, number = self.steps, 1 if task.penalty else max(most, 1)
        while number <= most and is_better(0, 0, number):
            require(not task.penalty or number <= MOST_NUMBERS, "the penalty is too small to check")
            floor, lines = np.zeros(len(fn), dtype=np.int64), []
            for question in questions:
                a, b = self.direction(question)
                least = question.at(number, task.deepest)
                for splits, limit, points in question.fronts:
                    if splits == number and question.depth >= min(task.deepest, number):
                        check(points.tolist(), number)
                        least = limit + 1
                if least is not None:
                    unit = max(math.gcd(a * self.units[0], b * self.units[1]), 1)
                    least = -(-least // unit) * unit  # as all costs are multiples of it
                    low = -((a * fn - least) // b) if b else np.where(a * fn < least, n_neg + 1, 0)
                    floor = np.maximum(floor, low)
                    lines += [(a, b, least)] * (b > 0)
            floor = np.minimum.accumulate(np.minimum(floor, n_neg + 1))
            # The metric and the constraints are monotone: the corners of the staircase decide, and
            # many at once, if the point with the fewest errors of each kind is no better.
            corners = np.flatnonzero(np.diff(floor, prepend=n_neg + 1) < 0)
            ranges = [(0, len(corners) - 1)] if len(corners) else []
            while ranges:
                i, j = ranges.pop()
                left, right, fewest = (int(n) for n in (*fn[corners[[i, j]]], floor[corners[j]]))
                if i == j:
                    check([(left, fewest)], number)
                elif is_better(left, fewest, number) and not any(
                    closes(line, left, right, number) for line in lines
                ):
                    ranges += [(i, (i + j) // 2), ((i + j) // 2 + 1, j)]
            number += 1

    def statement(self, status: str) -> str:
        """Say what is proven, from what was read and checked."""
        task, bound = self.task, self.bound
        text = f"no tree of {'any depth' if task.max_depth is None else f'depth {task.max_depth}'}"
        text += "" if task.max_splits is None else f" with at most {task.max_splits} splits"
        text += f" over {len(self.data.ranks)} columns"
        text += " and all their thresholds" if len(self.data.wide) else ""
        for prices, budget in task.limits:
            named = ", ".join(f"{c}: {price}" for c, price in prices.items())
            text += f", whose columns cost at most {budget} ({named}),"
        text += f", with at least {self.leaves} in each leaf," if self.min_leaf else ""
        conditions = " and ".join(
            f"{self.words(metric)} {sense} {plain(threshold)}"
            for metric, sense, threshold in task.constraints
        )
        metrics = task.metric, *(metric for metric, *_ in task.constraints)
        own = ", if the metric never falls with fewer errors, as its author says"
        own *= any(name == "own" for metric in metrics for _, name, _ in metric)
        if bound is None:
            return f"{text} meets {conditions or 'the limits'}{own}"
        text += f" that meets {conditions}" if conditions else ""
        text += f" has a larger {self.words(task.metric)}"
        text += f" - {plain(task.penalty)} per split" if task.penalty else ""
        text += f" than this one, {float(bound):.6f}" if status == "optimal" else f" than {bound}"
        return text + own

    def words(self, metric: Metric) -> str:
        """Return a metric in words, with the class that it is about."""
        names, rest = {name for _, name, _ in metric}, " against the rest"
        about = f" for {self.label}" if self.against_rest or not names <= ALL_CLASSES else ""
        return describe(metric) + about + (rest if self.against_rest else "")


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
    try:
        header, lines = read_header(content), read_lines(content)
        next(lines)
        return Check(header, data, own_metric).run(lines)
    except RejectedError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
            RecursionError, MemoryError) as error:  # fmt: skip
        raise RejectedError(f"the certificate makes no sense: {short(error)}") from None


def of_labels(X: Array, labels: Sequence[Any], classes: Sequence[Any]) -> Data:
    """Return the data of numbers and labels; classes are compared as text."""
    place = {str(label): k for k, label in enumerate(classes)}
    require(len(place) == len(classes), "two classes have the same name")
    found = [str(label) for label in labels]
    what = f"the classes are {short({*found})}, and in the certificate {short({*place})}"
    require({*found} == {*place}, what)
    counts = np.zeros((len(labels), len(classes)), dtype=np.int64)
    counts[np.arange(len(found)), [place[label] for label in found]] = 1
    return replace(Data.merge(X, counts, counts.sum(axis=1)), classes=tuple(map(str, classes)))


def main(proof: str, table: str, target: str | None = None) -> int:
    """Check a certificate against a CSV file; for use without the package."""
    with open(proof, "rb") as file:
        content = file.read()
    with open(table, newline="", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    place = len(names) - 1 if target is None else names.index(target)
    cells = [[cell for j, cell in enumerate(line) if j != place] for line in lines]
    try:
        classes = read_header(content)["data"]["classes"]
        data = of_labels(np.array(cells, dtype=float), [line[place] for line in lines], classes)
        print(check_certificate(content, data))
    except RejectedError as error:
        print(f"REJECTED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
