"""Cuts for quotients: planes above them, exact values where bits are known, tangents of roots.

The rows ``q · D <= N`` say little about q while bits are fractional. The concave
envelope of the metric over all pairs of counts bounds it there, too, and the
smaller the box of counts, the closer it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from goct.metrics import Quotient
from goct.metrics.polynomial import Polynomial
from goct.mip.nonlinear.linearize import Basis, Integer, Linear, Values
from goct.mip.numerics import CUT_SCALE, ENVELOPE_MARGIN, SMALL_ROOT, VALUE_TOLERANCE
from goct.mip.program import Point, Rows, Separator

Span: TypeAlias = tuple[int, int]
Highest: TypeAlias = Callable[[Values, Values, Values, Values], Values]
"""Maps the least and largest x, and the least and largest y, of some blocks to the largest values
in them, or more; ``-inf`` where there is no value."""

_MOST_BOXES = 500


@dataclass(frozen=True)
class Stated:
    """A quotient in a program, written in a basis."""

    quotient: Quotient
    basis: Basis
    q: Linear  # the quotient divided by `size`, which is its largest absolute value
    size: Fraction
    t: Linear | None = None  # the root; None if there is none

    @property
    def earning(self) -> Linear:
        """What the objective counts: the root, or the quotient itself."""
        return self.q if self.t is None else self.t


@dataclass(frozen=True)
class Plane:
    """The function ``constant + x · X + y · Y``."""

    constant: float
    x: float
    y: float

    def least(self, x: Span, y: Span) -> float:
        """Return the least value over a box."""
        ends = (min(s * span[0], s * span[1]) for s, span in ((self.x, x), (self.y, y)))
        return self.constant + sum(ends)


@dataclass
class Envelope:
    """Planes above a function on the integers of a box, close to its concave envelope.

    Their slopes are those of the upper hull of some points. Then they are raised
    above all the others. With many integers, these are taken in blocks, for
    each of which the largest value and the least one of the plane count.
    """

    highest: Highest  # the function, by blocks
    x: Span  # the box: the least and the largest of both numbers
    y: Span
    corners: int = 9  # how many points in each direction, and how many blocks
    blocks: int = 60
    _raised: dict[int, Plane] = field(default_factory=dict)

    def __post_init__(self) -> None:
        x, y = (_spread(*span, self.corners) for span in (self.x, self.y))
        X, Y = (grid.ravel() for grid in np.meshgrid(x, y, indexing="ij"))
        Z = self.highest(X, X, Y, Y)
        known = np.isfinite(Z)
        self.slopes = _slopes(X[known], Y[known], Z[known], self.x, self.y)
        below, above = (_ends(*span, self.blocks) for span in (self.x, self.y))
        self._x0, self._y0 = (g.ravel() for g in np.meshgrid(below[0], above[0], indexing="ij"))
        self._x1, self._y1 = (g.ravel() for g in np.meshgrid(below[1], above[1], indexing="ij"))
        self._most = self.highest(self._x0, self._x1, self._y0, self._y1)
        used = np.isfinite(self._most)
        self._x0, self._x1, self._y0, self._y1, self._most = (
            part[used] for part in (self._x0, self._x1, self._y0, self._y1, self._most)
        )

    def planes(self) -> list[Plane]:
        """Return all planes; none if the function has no value."""
        return [self._plane(k) for k in range(len(self.slopes))] if len(self._most) else []

    def tightest(self, x: float, y: float) -> Plane | None:
        """Return the plane, or nearly the plane, that is the lowest at a point."""
        if not len(self._most):
            return None
        # Before they are raised, planes touch the function in the corners that span them.
        k = int(np.argmin(self.slopes[:, 2] + self.slopes[:, :2] @ (x, y)))
        return self._plane(k)

    def _plane(self, k: int) -> Plane:
        if k not in self._raised:
            a, b = float(self.slopes[k, 0]), float(self.slopes[k, 1])
            x = self._x0 if a >= 0 else self._x1
            y = self._y0 if b >= 0 else self._y1
            constant = float((self._most - a * x - b * y).max())
            size = abs(constant) + float(np.abs(self._most).max())
            self._raised[k] = Plane(constant + ENVELOPE_MARGIN * (1 + size), a, b)
        return self._raised[k]


@dataclass(eq=False)
class BoxPlanes(Separator):
    """Planes above a metric in the box of counts that the leading bits leave.

    Where the leading bits of two numbers are known, the planes of that box,
    which is smaller than the whole, hold as long as these bits stay:
    ``q <= plane + M · (number of leading bits that differ)``.
    """

    name = "envelope"
    is_lazy = False

    highest: Highest
    numbers: tuple[Integer, Integer]
    column: Linear
    min_violation: float = 1e-3
    _envelopes: dict[tuple[Span, Span], Envelope] = field(default_factory=dict)

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return the lowest plane of the box that a point is in, if the point is above it."""
        if is_integral:
            return None
        leading = [number.leading(x) for number in self.numbers]
        box = leading[0][1], leading[1][1]
        if not any(known for known, _ in leading):
            return None  # the whole; its planes are rows
        if box not in self._envelopes:
            if len(self._envelopes) > _MOST_BOXES:
                self._envelopes.clear()
            self._envelopes[box] = Envelope(self.highest, *box)
        at = [number.expression.value(x) for number in self.numbers]
        plane = self._envelopes[box].tightest(at[0], at[1])
        if plane is None:
            return None
        here = plane.constant + plane.x * at[0] + plane.y * at[1]
        if self.column.value(x) <= here + self.min_violation:
            return None
        ranges = [(0, number.upper) for number in self.numbers]
        slack = max(0.0, 1.0 - plane.least(ranges[0], ranges[1]))
        row = self.column
        for number, slope, (known, span) in zip(
            self.numbers, (plane.x, plane.y), leading, strict=True
        ):
            row = row + number.expression * -Fraction(slope)
            if known:
                row = row + number.differs(span[0], known) * -Fraction(slack)
        upper = plane.constant - float(row.constant)
        return Rows.of_terms(self.name, 1, row.entries(), upper=[upper])


def _slopes(X: Values, Y: Values, Z: Values, x: Span, y: Span) -> Values:
    """Return slopes in x and y and the constants of the planes of the upper hull of points."""
    top = float(Z.max(initial=-np.inf))
    flat = np.array([[0.0, 0.0, top]])
    widths = np.array([x[1] - x[0], y[1] - y[0]], dtype=float)
    height = top - float(Z.min(initial=np.inf))
    if not height > 0 or not widths.all():
        if not height > 0 or not widths.any():
            return flat
        # A line instead of a plane: the slope from the least value to the largest one.
        axis = int(widths.argmax())
        U = (X, Y)[axis]
        slopes = np.diff(Z) / np.diff(U)
        planes = np.zeros((len(slopes), 3))
        planes[:, axis] = slopes
        planes[:, 2] = (Z[:, None] - U[:, None] * slopes).max(axis=0)
        return np.vstack([planes, flat])
    points = np.column_stack([(X - x[0]) / widths[0], (Y - y[0]) / widths[1], (Z - top) / height])
    lower = np.column_stack([points[:, :2], np.full(len(points), -2.0)])
    try:
        equations = ConvexHull(np.vstack([points, lower])).equations
    except QhullError:
        return flat
    upper = equations[equations[:, 2] > 1e-6]
    slopes = np.unique(np.round(-upper[:, :2] / upper[:, 2:3], 9), axis=0) * (height / widths)
    constants = (Z[:, None] - np.column_stack([X, Y]) @ slopes.T).max(axis=0)
    return np.column_stack([slopes, constants])


def _spread(low: int, high: int, number: int) -> Values:
    return np.unique(np.round(np.linspace(low, high, min(number, high - low + 1))))


def _ends(low: int, high: int, number: int) -> tuple[Values, Values]:
    """Return the first and the last integer of some blocks of the integers in a range."""
    ends = _spread(low, high + 1, number + 1)
    return ends[:-1], ends[1:] - 1


@dataclass(eq=False)
class ExactValues(Separator):
    """Cuts that make quotients exact at points whose bits are known.

    Rows are violated within tolerances, which can mean a lot where D is small,
    and where D is 0 they say nothing. At a point whose bits stand for a value
    D0 of the denominator,

    ``q <= N / D0 + M · (number of bits that differ)``

    where N is linear, the rest of it being known too; for D0 = 0 the quotient
    is 0. Negative roots are bounded by their values in the same way.
    """

    name = "exact_value"
    is_lazy = True

    stated: list[Stated]

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return a cut for every quotient that claims too much at an integral point."""
        if not is_integral:
            return None
        rows = [row for stated in self.stated for row in self._cuts(stated, x)]
        return _scaled(
            self.name, [row for row in rows if row[0].value(x) > row[1] + VALUE_TOLERANCE]
        )

    def _cuts(self, stated: Stated, x: Point) -> list[tuple[Linear, float]]:
        """Return the rows that hold where the bits are as they are at a point, and their bounds."""
        quotient, numbers = stated.quotient, stated.basis.numbers
        here = [Polynomial({(1, 0): 1}), Polynomial({(0, 1): 1})]
        distance = Linear()
        for v, number in enumerate(numbers):
            if number.has_bits:
                known = number.read(x)
                here[v] = Polynomial.of(known)
                distance = distance + number.differs(known)
        bottom = quotient.denominator.substitute(*here).coefficient(0, 0)
        top = quotient.numerator.substitute(*here)
        highest = quotient.upper / stated.size
        cuts = []
        if bottom > 0:
            ratio = top * (1 / (bottom * stated.size))
            least = ratio.range(numbers[0].range, numbers[1].range)[0]
            right = Linear(ratio.coefficient(0, 0))
            for number, powers in zip(numbers, ((1, 0), (0, 1)), strict=True):
                right = right + number.expression * ratio.coefficient(*powers)
            slack = max(highest - least, Fraction(0))
            cuts.append((stated.q + right * -1 + distance * -slack, 0.0))
        elif top == Polynomial({}):
            cuts.append((stated.q + distance * -max(highest, Fraction(0)), 0.0))
        if stated.t is not None and quotient.sign is not None:
            sign = quotient.sign.substitute(*here)
            if sign.degree == 0 and sign.coefficient(0, 0) < 0 and bottom > 0:
                root = -sqrt(float(top.coefficient(0, 0) / bottom))
                cuts.append((stated.t + distance * -2, root))
        return cuts


class Tangents(Separator):
    """The rows ``t <= (q + r) / (2 √r)``, the tangents of the root at r, where they are needed.

    The root is concave, so its tangents bound it from above everywhere, and
    bounds that rest on some of them only are valid. Next to 0, where it is
    steep, it is taken for its value at 1e-8.
    """

    name = "tangent"
    is_lazy = True

    def __init__(self, stated: list[Stated], min_violation: float = 1e-4) -> None:
        self.roots = [(one.t, one.q) for one in stated if one.t is not None]
        self.min_violation = min_violation

    def separate(self, x: Point, *, is_integral: bool) -> Rows | None:
        """Return the tangents that a point violates."""
        least = VALUE_TOLERANCE if is_integral else self.min_violation
        rows = []
        for t, q in self.roots:
            at = max(q.value(x), SMALL_ROOT**2)
            if t.value(x) > sqrt(at) + least:
                rows.append(tangent(t, q, at))
        return _scaled(self.name, rows)


def tangent(t: Linear, q: Linear, at: float) -> tuple[Linear, float]:
    """Return the tangent of the root at a point, as a row and its upper bound."""
    slope = 0.5 / sqrt(at)
    return t + q * -Fraction(slope), slope * at


def _scaled(name: str, rows: list[tuple[Linear, float]]) -> Rows | None:
    """Return rows, given with their upper bounds, so large that tolerances mean little."""
    terms = [term for k, (row, _) in enumerate(rows) for term in row.entries(k, CUT_SCALE)]
    upper = [(most - float(row.constant)) * CUT_SCALE for row, most in rows]
    return Rows.of_terms(name, len(rows), terms, upper=upper) if rows else None
