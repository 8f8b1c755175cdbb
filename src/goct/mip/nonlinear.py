"""Nonlinear metrics in linear rows: the question, and the cuts that keep its answer exact.

A metric is a sum of quotients N / D of polynomials in TP and TN, or of roots of
them (:mod:`goct.metrics.quotient`). Each gets a variable q with ``q · D <= N``,
stated by exact products (:mod:`goct.mip.products`), and a root a variable
``t <= √q``, whose tangents are rows. The objective is ``Σ weight · q - λ ·
splits``, in the metric itself.

Trees that predict one class only are considered apart: the rows ``U >= 1`` and
``V >= 1`` keep the model from exploiting quotients that are 0 / 0 there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np

from goct.exact import Exact
from goct.metrics import IntegerObjective, Metric, Quotient, QuotientSum
from goct.metrics.polynomial import Polynomial
from goct.mip.backends.base import FEASIBILITY_TOLERANCE, Ability, Backend, MipResult
from goct.mip.envelope import BoxPlanes, Envelope, Values
from goct.mip.heuristic import RoundingHeuristic
from goct.mip.instances import Instances
from goct.mip.model import Heuristic, Point, Rows, Separator, Term
from goct.mip.paper import PaperExpansion
from goct.mip.products import Bilinear, Integer, Linear, Products, needed_bits
from goct.mip.question import Question, instances_of
from goct.mip.side import SideConstraints
from goct.mip.tree_model import TreeModel
from goct.problem import Problem
from goct.solution import Limit
from goct.tree import Tree

TOLERANCE = 1e-5
"""What is added to a solver's bound, relative to the largest value of the metric."""
_EXACT = 1e-7
_SCALE = 1e3  # of cuts, so that the solver's tolerance is far below `_EXACT`
_SMALL_ROOT = 1e-4
_LARGE_ODDS = 10
_LARGEST_COUNT = 10**8
_RATIOS = (1.0, 0.4, 2.5)


@dataclass(frozen=True)
class Stated:
    """A quotient in a model.

    Attributes
    ----------
    quotient
        The quotient, in the basis that it is stated in.
    numbers
        The basis: two of TP, TN and U. The denominator depends on those that
        have bits only, and the numerator is linear in one that has none.
    q
        The column of the quotient, divided by `size`.
    size
        The largest absolute value of the quotient.
    t
        The column of the root; None if there is none.
    basis
        The names of the numbers: "TP TN", "TP U" or "U TN".
    """

    quotient: Quotient
    numbers: tuple[Integer, Integer]
    q: int
    size: Fraction
    t: int | None = None
    basis: str = "TP TN"

    def most(
        self, x0: Values, x1: Values, y0: Values, y1: Values, n_pos: int, n_neg: int
    ) -> tuple[Values, Values]:
        """Return the largest TP and TN in blocks of the basis; negative if there are none."""
        if self.basis == "TP U":
            tp, tn = np.minimum(x1, y1), np.minimum(n_neg, n_neg + x1 - y0)
            exists = x0 <= y1
        elif self.basis == "U TN":
            tp, tn = np.minimum(n_pos, x1 - n_neg + y1), y1
            exists = x0 - n_neg + y0 <= n_pos
        else:
            return x1, y1
        return np.where(exists, tp, -1.0), tn


def quotients_of(
    metric: Metric, n_pos: int, n_neg: int, unit: Fraction = Fraction(1)
) -> QuotientSum:
    """Return :meth:`goct.metrics.Metric.quotients`, or raise an error that names this engine."""
    try:
        return metric.quotients(n_pos, n_neg, unit)
    except ValueError as error:
        raise ValueError(f"the MIP engine cannot maximise {metric.name!r}: {error}") from None


def refusal(metric: Metric) -> str | None:
    """Say why no model can state a metric; None if one can."""
    try:
        quotients_of(metric, 1, 1)
    except ValueError as error:
        return str(error)
    return None


class NonlinearQuestion(Question):
    """The question for a metric that is a sum of quotients and roots.

    A single quotient without a penalty is maximised in whatever form keeps the
    order of trees and the numbers small: a root as its square, an odds ratio o
    up to u as ``o / (c + o)`` with ``c = √u``, so that neither small nor large
    odds come too close to each other. The bound is translated back.

    Parameters
    ----------
    problem, metric, split_penalty, start, side
        As for :class:`goct.mip.question.Question`.
    most_splits
        The largest number of splits of a tree.
    linearization
        How products are stated: "compact" and "paper" in bits, "none" as they are.
    has_envelope
        Whether planes bound the metric from above, see :mod:`goct.mip.envelope`.
    """

    def __init__(
        self,
        problem: Problem,
        metric: Metric,
        split_penalty: Fraction,
        start: Tree | None,
        side: SideConstraints,
        most_splits: int,
        linearization: str = "compact",
        has_envelope: bool = True,
    ) -> None:
        super().__init__(problem, metric, split_penalty, start, side)
        self.most_splits = most_splits
        self.linearization = linearization
        self.has_envelope = has_envelope
        if problem.n_classes != 2 or problem.positive is None:
            raise ValueError(f"the MIP engine maximises {metric.name!r} for two classes only")
        sizes = problem.counts.sum(axis=0)
        self.positive = problem.positive
        self.n_pos, self.n_neg = int(sizes[self.positive]), int(sizes[1 - self.positive])
        if not self.n_pos or not self.n_neg:
            raise ValueError(f"the metric {metric.name!r} needs samples of both classes")
        if self.n_pos + self.n_neg > _LARGEST_COUNT:
            raise ValueError(
                f"the weights are too fine for a model of {metric.name!r}: they are "
                f"{self.n_pos + self.n_neg} units together, and solvers tell apart {_LARGEST_COUNT}"
            )
        self.parts = quotients_of(metric, self.n_pos, self.n_neg, problem.weight_unit)
        self.is_alone = (
            len(self.parts.quotients) == 1 and not self.parts.linear and not split_penalty
        )
        # Worse than a tree that is known is of no interest; constant trees have the root 0.
        self._skips_negative = (
            len(self.parts.quotients) == 1
            and not self.parts.linear
            and start is not None
            and self.objective(start) >= 0
        )
        self._quotients = list(self.parts.quotients)
        self._is_odds = False
        self._middle = Fraction(1)
        if self.is_alone:
            quotient = self._quotients[0][1]
            is_large = quotient.upper > _LARGE_ODDS and quotient.lower == 0
            self._is_odds = is_large and linearization != "paper"
            if self._is_odds:
                self._middle = Fraction(isqrt(int(quotient.upper)))
                self._quotients = [(Fraction(1), _odds(quotient, self._middle))]
            elif quotient.is_root:
                self._quotients = [(Fraction(1), quotient)]
        self._lattice = (
            IntegerObjective(self.parts.linear.rewards(problem), Fraction(0))
            if self.parts.linear
            else None
        )
        self.scale = float(
            sum((w * _size(q) for w, q in self._quotients), Fraction(0))
            + (self._lattice.most * self._lattice.unit if self._lattice else 0)
        )
        self.stated: list[Stated] = []
        self.products: Products | None = None

    # ------------------------------------------------------------------ the model

    @property
    def stats(self) -> dict[str, int]:
        """How many variables, binaries and rows state the metric."""
        size = {} if self.products is None else self.products.size
        return {f"metric_{name}": number for name, number in size.items()}

    @property
    def split_cost(self) -> float:
        """The cost of a split, in units of the model's objective."""
        return float(self.split_penalty) / self.scale

    def gap(self, allowed: Fraction) -> float:
        """Return a gap of the objective in units of the model's objective."""
        if self._is_odds:
            return 0.0
        if self.is_alone and self._quotients[0][1].is_root:
            return float(allowed / self.parts.quotients[0][0]) ** 2 / self.scale
        return float(allowed) / self.scale

    def instances(self, *, is_merged: bool) -> Instances:
        """Return the pairs of row and label that TP, TN or the linear part depend on.

        A metric that is not monotone may gain from what is reported wrong, so
        it gets all pairs.
        """
        counts = self.problem.counts
        needed = counts > 0
        if self._lattice is not None:
            needed = needed | np.asarray(self._lattice.gains > 0, dtype=bool)
        if not self.parts.is_monotone:
            needed = np.ones_like(needed)
        # Cuts are ranked, and trees are made, by what counts for balanced accuracy.
        gains = counts / (2.0 * counts.sum(axis=0))
        return instances_of(self.problem, self.side, gains, needed, is_merged=is_merged)

    def attach(self, tree: TreeModel, solver: Backend, *, is_compact: bool) -> None:
        """Add the metric and the side constraints to a model."""
        super().attach(tree, solver, is_compact=is_compact)
        model, data = tree.model, tree.instances
        self.stated = []
        as_products = Bilinear if self.linearization == "none" else Products
        self.products = products = as_products(model)
        tree.completions.append(products.complete)
        model.objective[:] = 0.0
        model.objective[tree.b] = -self.split_cost
        if self._lattice is not None:
            gains = data.share(self._lattice.gains * self._lattice.factor)
            model.objective[tree.g] += gains * (float(self._lattice.unit) / self.scale)
        if not self.parts.is_monotone:
            _report_truthfully(tree)
        self._counted = tp, tn = self._counts(tree)
        can_separate = Ability.SEPARATION in solver.abilities
        for number, (weight, quotient) in enumerate(self._quotients):
            stated = self._state(f"q{number}", weight, quotient, tp, tn)
            if self.has_envelope and self.parts.is_monotone:
                self._bound_from_above(f"q{number}", stated, quotient, can_separate=can_separate)
        if can_separate:
            if self.linearization == "compact":
                model.separators.append(ExactValues(self.stated))
            if any(stated.t is not None for stated in self.stated):
                model.separators.append(Tangents(self.stated))

    def _counts(self, tree: TreeModel) -> tuple[Integer, Integer]:
        """Add TP and TN, and require that both classes are predicted."""
        products, data = self.products, tree.instances
        assert products is not None
        numbers = []
        for name, label, total in (
            ("TP", self.positive, self.n_pos),
            ("TN", 1 - self.positive, self.n_neg),
        ):
            amount = np.where(data.label == label, data.share(self.problem.counts), 0.0)
            used = amount > 0
            count = Linear.of(tree.g[used], amount[used])
            # As a share: a solver's tolerance on reduced costs counts once for each unit of range.
            share = count * Fraction(1, total)
            column = products.variable(name, 0, 1, share.value)
            named = Linear.of(column, np.ones(1))
            products.row(f"count_{name}", share + named * -1, lower=0, upper=0, rescale=False)
            numbers.append(Integer(named * total, total))
        tp, tn = numbers
        # Half a unit is room for rounding.
        difference = tp.expression + tn.expression * -1
        products.row("both_predicted", difference, lower=0.5 - self.n_neg, upper=self.n_pos - 0.5)
        return tp, tn

    def _state(
        self, name: str, weight: Fraction, quotient: Quotient, tp: Integer, tn: Integer
    ) -> Stated:
        """Add a quotient to the model."""
        products = self.products
        assert products is not None
        original, size = quotient, _size(quotient)
        numbers, basis = (tp, tn), "TP TN"
        if self.linearization != "paper":
            quotient, numbers, basis = self._expand(name, quotient, tp, tn)

        def value(point: Point) -> Fraction:
            at = [round(i.expression.value(point)) for i in (tp, tn)]
            is_below = original.sign is not None and original.sign(*at) < 0
            return Fraction(0) if is_below else _value(original, *at)

        span = quotient.lower / size, quotient.upper / size
        column = products.variable(
            f"{name}", float(span[0]), float(span[1]), lambda point: float(value(point) / size)
        )
        q = Linear.of(column, np.ones(1))
        if self.linearization == "paper":
            if quotient.sign is not None and not self._skips_negative:
                raise ValueError("linearization='paper' finds no roots below zero; use 'compact'")
            paper = PaperExpansion(products, tp, tn)
            left = paper.state(f"{name}_d", quotient.denominator * size, q, span)
            right = paper.state(f"{name}_n", quotient.numerator)
        else:
            left = products.polynomial(f"{name}_d", quotient.denominator * size, numbers, q, span)
            right = products.polynomial(f"{name}_n", quotient.numerator, numbers)
        products.row(f"{name}_quotient", left + right * -1, upper=0)
        earning, t = int(column[0]), None
        if quotient.is_root and not self.is_alone:
            t = earning = self._add_root(name, quotient, original, numbers, q, (tp, tn))
        elif quotient.sign is not None:
            sign = products.polynomial(f"{name}_s", quotient.sign, numbers)
            if self._skips_negative:
                products.row(f"{name}_sign", sign, lower=0)
            else:
                t = earning = self._add_root(name, quotient, original, numbers, q, (tp, tn))
        products.model.objective[earning] += float(weight * (size if t is None else 1)) / self.scale
        stated = Stated(quotient, numbers, int(column[0]), size, t, basis)
        self.stated.append(stated)
        return stated

    def _bound_from_above(
        self, name: str, stated: Stated, original: Quotient, *, can_separate: bool
    ) -> None:
        """Add planes above a quotient, or above its root, and what finds more of them."""
        assert self.products is not None
        size = float(stated.size) if stated.t is None else None

        def value(tp: Values, tn: Values) -> Values:
            # One class only is not predicted; the next pair is worth at least as much.
            tp = np.where((tp == 0) & (tn == self.n_neg), 1.0, tp)
            tn = np.where((tn == 0) & (tp == self.n_pos), 1.0, tn)
            most = original.upper_bounds(tp, tn)
            return most / size if size is not None else np.sqrt(np.maximum(most, 0.0))

        column = Linear.of(np.array([stated.q if stated.t is None else stated.t]), np.ones(1))
        x, y = self._counted
        envelope = Envelope(
            lambda _x0, x1, _y0, y1: value(x1, y1), (0, self.n_pos), (0, self.n_neg), blocks=400
        )
        for k, plane in enumerate(envelope.planes()):
            row = column + x.expression * -Fraction(plane.x) + y.expression * -Fraction(plane.y)
            self.products.row(f"{name}_plane_{k}", row, upper=plane.constant, rescale=False)
        if not can_separate or any(number.bits is None for number in stated.numbers):
            return  # with the bits of one number only, boxes did not pay

        def highest(x0: Values, x1: Values, y0: Values, y1: Values) -> Values:
            tp, tn = stated.most(x0, x1, y0, y1, self.n_pos, self.n_neg)
            exists = (tp >= 0) & (tn >= 0)
            return np.where(exists, value(np.maximum(tp, 0), np.maximum(tn, 0)), -np.inf)

        self.products.model.separators.append(BoxPlanes(highest, stated.numbers, column))

    def _expand(
        self, name: str, quotient: Quotient, tp: Integer, tn: Integer
    ) -> tuple[Quotient, tuple[Integer, Integer], str]:
        """Choose two of TP, TN and U that need the fewest products, and give them bits."""
        products = self.products
        assert products is not None
        u = Integer(
            tp.expression + tn.expression * -1 + Linear(Fraction(self.n_neg)),
            self.n_pos + self.n_neg,
        )
        x, y, n = Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1}), self.n_neg
        bases = {
            "TP TN": ((tp, tn), x, y),
            "TP U": ((tp, u), x, n + x - y),
            "U TN": ((u, tn), x - n + y, y),
        }

        def cost(name: str) -> int:
            numbers, of_tp, of_tn = bases[name]
            return sum(_bits_and_products(_in_basis(quotient, of_tp, of_tn), numbers))

        basis = min(bases, key=cost)
        numbers, of_tp, of_tn = bases[basis]
        stated = _in_basis(quotient, of_tp, of_tn)
        lengths = (numbers[0].upper.bit_length(), numbers[1].upper.bit_length())
        top = needed_bits(stated.numerator, lengths, alone=True)
        bottom = needed_bits(stated.denominator, lengths, alone=False)
        a, b = (
            products.expand(f"{name}_{'xy'[v]}", number) if top[v] + bottom[v] else number
            for v, number in enumerate(numbers)
        )
        return stated, (a, b), basis

    def _add_root(
        self,
        name: str,
        quotient: Quotient,
        original: Quotient,
        numbers: tuple[Integer, Integer],
        q: Linear,
        counts: tuple[Integer, Integer],
    ) -> int:
        """Add ``t <= √q`` by some of its tangents, and return the column of t.

        Where the root is negative, the binary z is 0, q is 0, and t is at most
        ``sign / √(largest denominator)``; :class:`ExactValues` adds what is
        missing.
        """
        products = self.products
        assert products is not None

        def root(point: Point) -> float:
            at = [round(i.expression.value(point)) for i in counts]
            value = sqrt(_value(original, *at))
            return -value if original.sign is not None and original.sign(*at) < 0 else value

        lowest = -1.0 if quotient.sign is not None else 0.0
        column = products.variable(f"{name}_root", lowest, 1.0, root)
        t = Linear.of(column, np.ones(1))
        for k in range(1, 9):
            row, upper = _tangent(t, q, (k / 8) ** 2)
            products.row(f"{name}_tangent_{k}", row, upper=upper, rescale=False)
        if quotient.sign is not None:
            sign = products.polynomial(f"{name}_s", quotient.sign, numbers)
            ranges = numbers[0].range, numbers[1].range
            largest = max(map(abs, quotient.sign.range(*ranges)))
            z = Linear.of(
                products.variable(
                    f"{name}_positive", 0, 1, lambda x: float(root(x) >= 0), binary=True
                ),
                np.ones(1),
            )
            products.row(f"{name}_zero", q + z * -1, upper=0, rescale=False)
            products.row(f"{name}_sign", sign + z * -largest, lower=float(-largest))
            if not self._skips_negative:
                most = quotient.denominator.range(*ranges)[1]
                slope = Fraction(1, isqrt(int(most)) + 1)
                products.row(f"{name}_below", t + sign * -slope + z * -2, upper=0, rescale=False)
        return int(column[0])

    def rounding(self, max_splits: int | None) -> Heuristic:
        """Return what makes trees from the relaxation by rounding."""
        assert self.model is not None
        return RatioHeuristic(self.model, self._check, max_splits)

    def point(self, tree: Tree) -> Point | None:
        """Return a tree as a complete solution of the model; constant trees are none."""
        return super().point(tree) if tree.splits else None

    def on(self, problem: Problem, start: Tree | None) -> NonlinearQuestion:
        """Return the same question about another problem."""
        side = SideConstraints.read(self.side.constraints, problem)
        return NonlinearQuestion(
            problem,
            self.metric,
            self.split_penalty,
            start,
            side,
            self.most_splits,
            self.linearization,
            has_envelope=self.has_envelope,
        )

    # ------------------------------------------------------------------ the answer

    def _only_start(self) -> MipResult:
        return MipResult(None, -np.inf, Limit.NONE)

    def judge(self, result: MipResult, solver: str) -> tuple[Tree | None, Exact]:
        """Return the best tree and the proven bound; without a solution, that of constant trees."""
        bound = -np.inf if result.is_infeasible else result.bound
        return super().judge(replace(result, bound=bound), solver)

    def _denies(self, result: MipResult) -> bool:
        """Say no: without a solution, constant trees are all there are."""
        return False

    def bound(self, solver_bound: float) -> Exact:
        """Return what the solver's bound, made larger by a tolerance, proves."""
        best = self.metric.best_value(self.problem) if self.metric.is_monotone else None
        highest = self._highest() if best is None else best
        if solver_bound == np.inf:
            return highest
        bound = None
        if solver_bound > -np.inf:
            padded = Fraction((solver_bound + TOLERANCE) * self.scale)
            bound = min(self._lift(padded), highest)
        if self.start is not None:
            start = self.objective(self.start)
            bound = start if bound is None else max(bound, start)
        return highest if bound is None else bound

    def _lift(self, padded: Fraction) -> Exact:
        """Translate a bound on the model's objective into one on the metric."""
        if not self.is_alone:
            offset = self._lattice.offset if self._lattice else Fraction(0)
            return Exact(padded + offset)
        weight, quotient = self.parts.quotients[0]
        if self._is_odds:
            odds = self._middle * padded / (1 - padded) if padded < 1 else quotient.upper
            return Exact(weight * min(odds, quotient.upper))
        if quotient.is_root and self.stated and self.stated[0].t is None:
            return Exact.sqrt(max(padded, Fraction(0))) * weight
        return Exact(padded * (weight if quotient.is_root else 1))

    def claimed(self, x: Point) -> float:
        """Return the objective that a solution of the solver claims, in floats."""
        assert self.model is not None
        return float(self._lift(Fraction(float(self.model.model.objective @ x) * self.scale)))

    def _highest(self) -> Exact:
        total = sum((w * q.upper for w, q in self.parts.quotients), Fraction(0))
        if self._lattice is not None:
            total += self._lattice.objective(self._lattice.most)
        return Exact(total)


class ExactValues(Separator):
    """Cuts that make quotients exact at points whose bits are known.

    Rows are violated within tolerances, which can mean a lot where D is small,
    and where D is 0 they say nothing. At a point whose bits stand for a value
    D0 of the denominator,

    ``q <= N / D0 + M · (number of bits that differ)``

    where N is linear, the rest of it being known too; for D0 = 0 the quotient
    is 0. Negative roots are bounded by their values in the same way.

    Parameters
    ----------
    stated
        The quotients.
    """

    name = "exact_value"
    is_lazy = True

    def __init__(self, stated: list[Stated]) -> None:
        self.stated = stated

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return a cut for every quotient that claims too much at an integral point."""
        if not is_integral:
            return None
        rows = [row for stated in self.stated for row in self._cuts(stated, x)]
        found = [(row, upper) for row, upper in rows if row.value(x) > upper + _EXACT]
        if not found:
            return None
        terms: list[Term] = []
        for k, (row, _) in enumerate(found):
            terms += row.entries(k, _SCALE)
        upper = [(most - float(row.constant)) * _SCALE for row, most in found]
        return Rows.of_terms(self.name, len(found), terms, upper=upper)

    def _cuts(self, stated: Stated, x: Point) -> list[tuple[Linear, float]]:
        quotient, numbers = stated.quotient, stated.numbers
        known = [None if i.bits is None else i.read(x) for i in numbers]
        at = [Polynomial.of(value) if value is not None else None for value in known]
        here = [
            Polynomial({(1, 0): 1}) if at[0] is None else at[0],
            Polynomial({(0, 1): 1}) if at[1] is None else at[1],
        ]
        distance = Linear()
        for number, value in zip(numbers, known, strict=True):
            if value is not None:
                distance = distance + number.differs(value)
        bottom = quotient.denominator.substitute(*here).coefficient(0, 0)
        top = quotient.numerator.substitute(*here)
        q = Linear.of(np.array([stated.q]), np.ones(1))
        highest = quotient.upper / stated.size
        cuts = []
        if bottom > 0:
            ratio = top * (1 / (bottom * stated.size))
            least = ratio.range(numbers[0].range, numbers[1].range)[0]
            right = Linear(ratio.coefficient(0, 0))
            for v, number in enumerate(numbers):
                if known[v] is None:
                    powers = (1, 0) if v == 0 else (0, 1)
                    right = right + number.expression * ratio.coefficient(*powers)
            slack = max(highest - least, Fraction(0))
            cuts.append((q + right * -1 + distance * -slack, 0.0))
        elif top == Polynomial({}):
            cuts.append((q + distance * -max(highest, Fraction(0)), 0.0))
        if stated.t is not None and quotient.sign is not None:
            sign = quotient.sign.substitute(*here)
            if sign.degree == 0 and sign.coefficient(0, 0) < 0 and bottom > 0:
                t = Linear.of(np.array([stated.t]), np.ones(1))
                root = -sqrt(float(top.coefficient(0, 0) / bottom))
                cuts.append((t + distance * -2, root))
        return cuts


class Tangents(Separator):
    """The rows ``t <= (q + r) / (2 √r)``, the tangents of the root at r, where they are needed.

    The root is concave, so its tangents bound it from above everywhere, and
    bounds that rest on some of them only are valid. Next to 0, where it is
    steep, it is taken for its value at 1e-8.

    Parameters
    ----------
    stated
        The quotients.
    min_violation
        The least violation at fractional points.
    """

    name = "tangent"
    is_lazy = True

    def __init__(self, stated: list[Stated], min_violation: float = 1e-4) -> None:
        self.stated = [one for one in stated if one.t is not None]
        self.min_violation = min_violation

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return the tangents that a point violates."""
        least = _EXACT if is_integral else self.min_violation
        terms: list[Term] = []
        upper: list[float] = []
        for stated in self.stated:
            at = max(float(x[stated.q]), _SMALL_ROOT**2)
            if x[stated.t] <= sqrt(at) + least:
                continue
            t, q = (Linear.of(np.array([c]), np.ones(1)) for c in (stated.t, stated.q))
            row, most = _tangent(t, q, at)
            terms += row.entries(len(upper), _SCALE)
            upper.append(most * _SCALE)
        return Rows.of_terms(self.name, len(upper), terms, upper=upper) if upper else None


class RatioHeuristic(RoundingHeuristic):
    """Makes trees for some ratios of the weights of both classes, and keeps the best one."""

    def propose(self, x: Point, incumbent: Point | None = None) -> Point | None:
        """Return the best of the trees of a point, if it is a new one."""
        balanced = self._gains
        found = []
        for ratio in _RATIOS:
            self._gains = balanced * np.array([1.0, ratio])
            solution = super().propose(x)
            if (
                solution is not None
                and self.tree.model.violation(solution) <= FEASIBILITY_TOLERANCE
            ):
                found.append(solution)
        self._gains = balanced
        return max(found, key=lambda s: float(self.tree.model.objective @ s), default=None)

    def _key(
        self, features: Mapping[int, int], labels: Mapping[int, int]
    ) -> tuple[tuple[int, int], ...]:
        return (*sorted(features.items()), (0, 0), *sorted(labels.items()))


def _report_truthfully(tree: TreeModel) -> None:
    """In every row, some class is predicted: ``Σ_k g[r, k] = 1``, copies counting as one."""
    row, data = tree.instances.row, tree.instances
    share = data.share(np.ones((len(data.X), data.n_classes)))
    terms: list[Term] = [(row, tree.g, share)]
    tree.model.add_rows("predict_something", len(data.X), terms, lower=1, upper=1)


def _tangent(t: Linear, q: Linear, at: float) -> tuple[Linear, float]:
    """Return the tangent of the root at a point, as a row and its upper bound."""
    slope = 0.5 / sqrt(at)
    return t + q * -Fraction(slope), slope * at


def _size(quotient: Quotient) -> Fraction:
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


def _in_basis(quotient: Quotient, tp: Polynomial, tn: Polynomial) -> Quotient:
    sign = quotient.sign
    return replace(
        quotient,
        numerator=quotient.numerator.substitute(tp, tn),
        denominator=quotient.denominator.substitute(tp, tn),
        sign=None if sign is None else sign.substitute(tp, tn),
    )


def _bits_and_products(quotient: Quotient, numbers: tuple[Integer, Integer]) -> list[int]:
    """Return the number of products and bits that a quotient needs in a basis."""
    lengths = (numbers[0].upper.bit_length(), numbers[1].upper.bit_length())
    top = needed_bits(quotient.numerator, lengths, alone=True)
    bottom = needed_bits(quotient.denominator, lengths, alone=False)
    used = [length for v, length in enumerate(lengths) if top[v] + bottom[v]]
    return [*top, *bottom, *used]
