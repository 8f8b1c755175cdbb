"""Nonlinear metrics as objectives of tree programs.

A metric is a sum of quotients N / D of polynomials in TP and TN, or of roots of
them (:meth:`goct.metrics.Metric.quotients`). Each gets a variable q with
``q · D <= N``, stated by exact products (:mod:`goct.mip.nonlinear.linearize`),
and a root a variable ``t <= √q``, whose tangents are rows. The objective is
``Σ weight · q - λ · splits``, in the metric itself.

Trees that predict one class only are considered apart: the rows ``U >= 1`` and
``V >= 1`` keep the program from exploiting quotients that are 0 / 0 there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt, sqrt

import numpy as np

from goct.exact import Exact
from goct.metrics import IntegerObjective, Metric, Quotient, QuotientSum
from goct.mip.nonlinear.cuts import BoxPlanes, Envelope, ExactValues, Stated, Tangents, tangent
from goct.mip.nonlinear.linearize import LINEARIZATIONS, Basis, Integer, Linear, Values
from goct.mip.numerics import BOUND_PADDING, MOST_UNITS
from goct.mip.objective import ModelObjective, instances_of
from goct.mip.program import Point, Term
from goct.mip.tree_program import Instances, TreeProgram

_LARGE_ODDS = 10


def unsupported(metric: Metric) -> str | None:
    """Say why no program can state a metric; None if one can."""
    try:
        metric.quotients(1, 1)
    except ValueError as error:
        return f"the MIP engine cannot maximise {metric.name!r}: {error}"
    return None


@dataclass(frozen=True, eq=False)
class NonlinearObjective(ModelObjective):
    """The objective of a metric that is a sum of quotients and roots.

    A single quotient without a penalty is maximised in whatever form keeps the
    order of trees and the numbers small: a root as its square, an odds ratio o
    up to u as ``o / (c + o)`` with ``c = √u``, so that neither small nor large
    odds come too close to each other. The bound is translated back.
    """

    linearization: str = "compact"  # one of LINEARIZATIONS
    has_envelope: bool = True  # whether planes bound the metric from above

    states_constants = False
    ratios = (1.0, 0.4, 2.5)

    def __post_init__(self) -> None:
        problem, metric = self.task.problem, self.task.metric
        if problem.n_classes != 2 or problem.positive is None:
            raise ValueError(f"the MIP engine maximises {metric.name!r} for two classes only")
        if not all(self.class_sizes):
            raise ValueError(f"the metric {metric.name!r} needs samples of both classes")
        if sum(self.class_sizes) > MOST_UNITS:
            raise ValueError(
                f"the weights are too fine for a model of {metric.name!r}: they are "
                f"{sum(self.class_sizes)} units together, and solvers tell apart {MOST_UNITS}"
            )
        if (why := unsupported(metric)) is not None:
            raise ValueError(why)

    # ------------------------------------------------------------------ what is stated

    @cached_property
    def class_sizes(self) -> tuple[int, int]:
        """The counts of the positive and of the negative class."""
        sizes, positive = self.task.problem.counts.sum(axis=0), self.task.problem.positive or 0
        return int(sizes[positive]), int(sizes[1 - positive])

    @cached_property
    def parts(self) -> QuotientSum:
        """The metric as a sum of a linear metric and quotients."""
        return self.task.metric.quotients(*self.class_sizes, self.task.problem.weight_unit)

    @cached_property
    def linear(self) -> IntegerObjective | None:
        """The linear part in integers; None if there is none."""
        part = self.parts.linear
        if part is None:
            return None
        return IntegerObjective(part.rewards(self.task.problem), Fraction(0))

    @property
    def is_single(self) -> bool:
        """Whether the metric is one quotient and nothing else."""
        return len(self.parts.quotients) == 1 and self.parts.linear is None

    @property
    def is_alone(self) -> bool:
        """Whether one quotient is all there is, so that any form that keeps its order will do."""
        return self.is_single and not self.task.split_penalty

    @cached_property
    def skips_negative(self) -> bool:
        """Whether values below 0 are of no interest, a better tree being known."""
        return self.is_single and self.start is not None and self.task.objective(self.start) >= 0

    @cached_property
    def odds_scale(self) -> Fraction | None:
        """The number c of ``o / (c + o)`` if large odds o are maximised in that form."""
        if not self.is_alone or LINEARIZATIONS[self.linearization].keeps_form:
            return None
        quotient = self.parts.quotients[0][1]
        is_large = quotient.upper > _LARGE_ODDS and quotient.lower == 0
        return Fraction(isqrt(int(quotient.upper))) if is_large else None

    @cached_property
    def quotients(self) -> tuple[tuple[Fraction, Quotient], ...]:
        """The weights and quotients in the form in which they are maximised."""
        if self.odds_scale is not None:
            return ((Fraction(1), _odds(self.parts.quotients[0][1], self.odds_scale)),)
        if self.is_alone and self.parts.quotients[0][1].is_root:
            return ((Fraction(1), self.parts.quotients[0][1]),)
        return self.parts.quotients

    def needs_root(self, quotient: Quotient) -> bool:
        """Say whether a quotient counts by its root; a single one does by its square if it can."""
        if not quotient.is_root:
            return False
        return not self.is_alone or (quotient.sign is not None and not self.skips_negative)

    @cached_property
    def scale(self) -> float:
        """What one unit of the program's objective stands for."""
        most = sum((weight * size_of(quotient) for weight, quotient in self.quotients), Fraction(0))
        return float(most + (self.linear.most * self.linear.unit if self.linear else 0)) or 1.0

    # ------------------------------------------------------------------- the program

    @property
    def split_cost(self) -> float:
        """The cost of a split, in units of the program's objective."""
        return float(self.task.split_penalty) / self.scale

    @property
    def in_words(self) -> str:
        """What the program's objective, v, says about the objective of the task."""
        value = f"{self.scale!r} * v"
        if not self.is_alone:
            value += f" + {float(self.linear.offset if self.linear else 0)!r}"
        elif self.odds_scale is not None:
            value = f"{int(self.odds_scale)} * w / (1 - w) with w = {value}"
        elif self.quotients[0][1].is_root and not self.needs_root(self.quotients[0][1]):
            value = f"{float(self.parts.quotients[0][0])!r} * sqrt({value})"
        has_planes = any(self.needs_root(quotient) for _, quotient in self.quotients)
        most = "at most" if has_planes else "="
        why = "; roots are stated by planes above them" if has_planes else ""
        return f"{self.goal} {most} {value} for the objective v{why}"

    def gap(self, allowed: Fraction) -> float:
        """Return a gap of the objective in units of the program's objective."""
        if self.odds_scale is not None:
            return 0.0
        if self.is_alone and self.quotients[0][1].is_root:
            return float(allowed / self.parts.quotients[0][0]) ** 2 / self.scale
        return float(allowed) / self.scale

    def instances(self, *, is_merged: bool) -> Instances:
        """Return the pairs of row and label that TP, TN or the linear part depend on.

        A metric that is not monotone may gain from what is reported wrong, so
        it gets all pairs.
        """
        counts = self.task.problem.counts
        needed = counts > 0
        if self.linear is not None:
            needed = needed | np.asarray(self.linear.gains > 0, dtype=bool)
        if not self.parts.is_monotone:
            needed = np.ones_like(needed)
        # Cuts are ranked, and trees are made, by what counts for balanced accuracy.
        gains = counts / (2.0 * counts.sum(axis=0))
        return instances_of(self.task.problem, self.side, gains, needed, is_merged=is_merged)

    def state(self, program: TreeProgram, *, can_separate: bool) -> dict[str, int]:
        """Add the metric to a program; returns how many variables and rows state it."""
        program.objective[:] = 0.0
        program.objective[program.b] = -self.split_cost
        if self.linear is not None:
            gains = program.instances.share(self.linear.gains * self.linear.factor)
            program.objective[program.g] += gains * (float(self.linear.unit) / self.scale)
        if not self.parts.is_monotone:
            _report_truthfully(program)
        statement = Statement(self, program)
        stated = [
            statement.add(f"q{number}", weight, quotient, can_separate=can_separate)
            for number, (weight, quotient) in enumerate(self.quotients)
        ]
        if can_separate:
            if statement.products.leaves_values_open:
                program.separators.append(ExactValues(stated))
            if any(one.t is not None for one in stated):
                program.separators.append(Tangents(stated))
        return {f"metric_{name}": number for name, number in statement.products.size.items()}

    # ------------------------------------------------------------------ the answer

    def bound(self, dual_bound: float) -> Exact:
        """Return what a dual bound, padded, proves; without any tree, that of constant ones."""
        highest = self.task.metric.best_value(self.task.problem)
        if dual_bound == np.inf:
            return highest
        bounds = []
        if dual_bound > -np.inf:
            bounds.append(min(self._lift(dual_bound + BOUND_PADDING), highest))
        if self.start is not None:
            bounds.append(self.task.objective(self.start))
        return max(bounds, default=highest)

    def _lift(self, claimed: float) -> Exact:
        """Translate a value of the program's objective into one of the metric."""
        value = Fraction(claimed * self.scale)
        if not self.is_alone:
            return Exact(value + (self.linear.offset if self.linear else 0))
        weight, quotient = self.parts.quotients[0]
        if self.odds_scale is not None:
            odds = self.odds_scale * value / (1 - value) if value < 1 else quotient.upper
            return Exact(weight * min(odds, quotient.upper))
        if not quotient.is_root:
            return Exact(value)
        root = Exact(value) if self.needs_root(quotient) else Exact.sqrt(max(value, Fraction(0)))
        return root * weight

    def stats_of(self, claimed: float) -> dict[str, float]:
        """Return the objective that a solution claims, in floats."""
        return {"claimed": float(self._lift(claimed))}


class Statement:
    """Adds quotients to a program."""

    def __init__(self, objective: NonlinearObjective, program: TreeProgram) -> None:
        self.objective = objective
        self.program = program
        self.products = LINEARIZATIONS[objective.linearization](program)
        self.n_pos, self.n_neg = objective.class_sizes
        positive = objective.task.problem.positive or 0
        self.tp = self._count("TP", positive, self.n_pos)
        self.tn = self._count("TN", 1 - positive, self.n_neg)
        # Both classes are predicted. Half a unit is room for rounding.
        self.products.row(
            "both_predicted",
            self.tp.expression + self.tn.expression * -1,
            lower=0.5 - self.n_neg,
            upper=self.n_pos - 0.5,
        )

    def _count(self, name: str, label: int, total: int) -> Integer:
        """Add the number of samples of a class that are right."""
        data = self.program.instances
        amount = np.where(data.label == label, data.share(self.objective.task.problem.counts), 0.0)
        used = amount > 0
        # As a share: a solver's tolerance on reduced costs counts once for each unit of range.
        share = Linear.of(self.program.g[used], amount[used]) * Fraction(1, total)
        named = self.products.variable(name, (0, 1), share.value)
        row = share + named * -1
        self.products.row(f"count_{name}", row, lower=0, upper=0, rescale=False)
        return Integer(named * total, total)

    def _at(self, x: Point) -> tuple[int, int]:
        """Return TP and TN at a point."""
        return round(self.tp.expression.value(x)), round(self.tn.expression.value(x))

    def add(self, name: str, weight: Fraction, quotient: Quotient, *, can_separate: bool) -> Stated:
        """Add a quotient, with its root and the planes above it, and let it earn its weight."""
        objective, products = self.objective, self.products
        if products.keeps_form and quotient.sign is not None and not objective.skips_negative:
            raise ValueError("linearization='paper' finds no roots below zero; use 'compact'")
        written, basis = products.write(name, quotient, self.tp, self.tn)
        size = size_of(quotient)

        def value(x: Point) -> float:
            at = self._at(x)
            is_below = quotient.sign is not None and quotient.sign(*at) < 0
            return 0.0 if is_below else float(_value(quotient, *at) / size)

        span = written.lower / size, written.upper / size
        q = products.variable(name, span, value)
        numbers = basis.numbers
        left = products.polynomial(f"{name}_d", written.denominator * size, numbers, q, span)
        right = products.polynomial(f"{name}_n", written.numerator, numbers)
        products.row(f"{name}_quotient", left + right * -1, upper=0)
        stated = Stated(written, basis, q, size)
        if objective.needs_root(quotient):
            stated = replace(stated, t=self._add_root(name, quotient, stated))
        elif written.sign is not None:
            sign = products.polynomial(f"{name}_s", written.sign, numbers)
            products.row(f"{name}_sign", sign, lower=0)
        earns = weight * (size if stated.t is None else 1)
        self.program.objective[stated.earning.column] += float(earns) / objective.scale
        if objective.has_envelope and objective.parts.is_monotone:
            self._bound_from_above(name, stated, quotient, can_separate=can_separate)
        return stated

    def _add_root(self, name: str, original: Quotient, stated: Stated) -> Linear:
        """Add ``t <= √q`` by some of its tangents, and return t.

        Where the root is negative, the binary z is 0, q is 0, and t is at most
        ``sign / √(largest denominator)``; :class:`ExactValues` adds what is
        missing.
        """
        products, quotient, numbers = self.products, stated.quotient, stated.basis.numbers

        def root(x: Point) -> float:
            at = self._at(x)
            value = sqrt(_value(original, *at))
            return -value if original.sign is not None and original.sign(*at) < 0 else value

        t = products.variable(f"{name}_root", (-1 if quotient.sign is not None else 0, 1), root)
        for k in range(1, 9):
            row, upper = tangent(t, stated.q, (k / 8) ** 2)
            products.row(f"{name}_tangent_{k}", row, upper=upper, rescale=False)
        if quotient.sign is None:
            return t
        sign = products.polynomial(f"{name}_s", quotient.sign, numbers)
        ranges = numbers[0].range, numbers[1].range
        largest = max(map(abs, quotient.sign.range(*ranges)))
        z = products.variable(
            f"{name}_positive", (0, 1), lambda x: float(root(x) >= 0), binary=True
        )
        products.row(f"{name}_zero", stated.q + z * -1, upper=0, rescale=False)
        products.row(f"{name}_sign", sign + z * -largest, lower=float(-largest))
        if not self.objective.skips_negative:
            most = quotient.denominator.range(*ranges)[1]
            slope = Fraction(1, isqrt(int(most)) + 1)
            products.row(f"{name}_below", t + sign * -slope + z * -2, upper=0, rescale=False)
        return t

    def _bound_from_above(
        self, name: str, stated: Stated, original: Quotient, *, can_separate: bool
    ) -> None:
        """Add planes above a quotient, or above its root, and what separates more of them."""
        n_pos, n_neg = self.n_pos, self.n_neg

        def value(tp: Values, tn: Values) -> Values:
            # One class only is not predicted; the next pair is worth at least as much.
            tp = np.where((tp == 0) & (tn == n_neg), 1.0, tp)
            tn = np.where((tn == 0) & (tp == n_pos), 1.0, tn)
            most = original.upper_bounds(tp, tn)
            is_root = stated.t is not None
            return np.sqrt(np.maximum(most, 0.0)) if is_root else most / float(stated.size)

        def highest(basis: Basis, *block: Values) -> Values:
            tp, tn = basis.largest(block[0], block[1], block[2], block[3], n_pos, n_neg)
            exists = (tp >= 0) & (tn >= 0)
            return np.where(exists, value(np.maximum(tp, 0), np.maximum(tn, 0)), -np.inf)

        envelope = Envelope(
            lambda _x0, x1, _y0, y1: value(x1, y1), (0, n_pos), (0, n_neg), blocks=400
        )
        for k, plane in enumerate(envelope.planes()):
            slopes = self.tp.expression * Fraction(plane.x) + self.tn.expression * Fraction(plane.y)
            row = stated.earning + slopes * -1
            self.products.row(f"{name}_plane_{k}", row, upper=plane.constant, rescale=False)
        numbers = stated.basis.numbers
        if can_separate and all(number.has_bits for number in numbers):
            # With the bits of one number only, boxes did not pay.
            self.program.separators.append(
                BoxPlanes(lambda *block: highest(stated.basis, *block), numbers, stated.earning)
            )


def _report_truthfully(program: TreeProgram) -> None:
    """In every row, some class is predicted: ``Σ_k g[r, k] = 1``, copies counting as one."""
    data = program.instances
    share = data.share(np.ones((len(data.X), data.n_classes)))
    terms: list[Term] = [(data.row, program.g, share)]
    program.add_rows("predict_something", len(data.X), terms, lower=1, upper=1)


def size_of(quotient: Quotient) -> Fraction:
    """Return the largest absolute value of a quotient."""
    return max(abs(quotient.lower), abs(quotient.upper))


def _value(quotient: Quotient, tp: int, tn: int) -> Fraction:
    top, bottom = quotient.numerator(tp, tn), quotient.denominator(tp, tn)
    if bottom:
        return min(top / bottom, quotient.upper)
    return quotient.upper if top > 0 else Fraction(0)


def _odds(quotient: Quotient, middle: Fraction) -> Quotient:
    """Return ``o / (middle + o)`` for an odds ratio o, which grows with it."""
    upper = quotient.upper / (middle + quotient.upper)
    bottom = quotient.numerator + quotient.denominator * middle
    return Quotient(quotient.numerator, bottom, Fraction(0), upper)
