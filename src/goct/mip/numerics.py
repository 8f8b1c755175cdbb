"""Every tolerance of the MIP engine, and why "proven" survives it.

Solvers compute with floats. They let a row be violated by 1e-6, take 0.999999
for 1, and call bound and objective equal if they differ by 1e-9 of their size.
None of that decides a claim, for four reasons:

**Trees are exact.** b, p and c are rounded to a tree, whose metric and
constraints are computed anew in exact numbers. No value comes from a solver.

**Looser rows only raise bounds.** A solver that accepts points outside a row
maximises over more points than there are. That may cost a proof, never make a
false one. What can lower a bound is rounding in the objective itself, so
every dual bound is padded before it is used (:func:`whole_units`,
`BOUND_PADDING`), by some hundred times what solvers admit.

**No tree is cut off by rounding.** Rows of side constraints are relaxed by
half a unit of their integers or by more than the solver's tolerance
(:func:`slack`), so every tree that meets a constraint meets its row with room
to spare. Trees that meet the row but not the constraint are cut off one by
one, by their exact check (:class:`goct.mip.cuts.NoGoodCuts`), or are an error.

**What lies within a tolerance is settled in integers.** Between a tree and a
padded bound lie finitely many pairs (TP, TN). If there is none, the tree is
optimal. If there are few, a program with integers so small that no tolerance
reaches half a unit says whether a tree has one of them
(:mod:`goct.mip.settle`). Otherwise the gap stays, and the status is FEASIBLE.
"""

from __future__ import annotations

from math import ceil, floor

# ------------------------------------------------------------------- points and rows

FEASIBILITY_TOLERANCE = 1e-6
"""What solvers let rows, bounds and integrality be violated by; starts must keep to it."""

INTEGER_TOLERANCE = 1e-6
"""What is closer to an integer is one. Above it, g claims that an instance is right."""

IMPROVEMENT = 1e-9
"""Heuristics offer solutions that are better by this much, relative to the best one.

Only a question of time: the solver decides what it keeps.
"""

FIXED_TOLERANCE = 1e-9
"""By how much a proposed solution may miss the bounds that SCIP has fixed."""

LARGEST_ROW = 1e6
"""The largest sum of coefficients in rows of side constraints, which are scaled down to it."""

LARGEST_COEFFICIENT = 1e5
"""Rows of products are scaled so that their largest coefficient is this.

Rows may be violated by 1e-6 however large they are: small rows would mean
little, and much larger ones solvers take for rows that no point meets.
"""

ROW_TOLERANCE = 2e-6
"""What the solver's tolerances add up to in a row, relative to its size."""


def slack(size: float) -> float:
    """Return by how much a row of integers that sum up to `size` is relaxed.

    Half a unit is room for rounding, and no other integer lies within it; in
    rows so large that tolerances are larger than that, these are what counts.
    """
    return max(0.5, ROW_TOLERANCE * size)


# ------------------------------------------------------------------ linear objectives

LARGEST_SPLIT_COST = 1e15
"""A split may cost so many units of a program's objective.

Solvers take 1e20 for infinity, and floats lose the objective beside much less.
"""

LARGEST_OBJECTIVE = 1e9
"""Objectives are integers, where floats are exact, scaled down to this.

Solvers do not accept objectives that are much larger.
"""

LARGEST_INTEGER = 10**300
"""Integers of objectives that are larger are no floats, not even before they are scaled down."""

_RELATIVE_PADDING = 1e-7
_ABSOLUTE_PADDING = 1e-5


def whole_units(dual_bound: float) -> int:
    """Return the largest integer that no objective exceeds, from a dual bound in units.

    SCIP compares objectives with a relative tolerance of 1e-9; the bound is
    padded by 1e-7 of its size and 1e-5. Objectives are integers, so that the
    next integer below is a bound, too. Where the padding reaches half a unit,
    neighbours cannot be told apart, and it is the next one above.
    """
    padding = _ABSOLUTE_PADDING + _RELATIVE_PADDING * abs(dual_bound)
    padded = dual_bound + padding
    return floor(padded) if padding < 0.5 else ceil(padded)


# --------------------------------------------------------------- nonlinear objectives

BOUND_PADDING = 1e-5
"""What is added to the dual bound of a nonlinear objective, whose largest value is 1.

Rows of products hold up to 1e-6 / `LARGEST_COEFFICIENT` relative to their
largest coefficient, and the cuts below make quotients exact up to
`VALUE_TOLERANCE`.
"""

VALUE_TOLERANCE = 1e-7
"""What quotients and roots may claim above their values at integral points."""

CUT_SCALE = 1e3
"""Cuts that make values exact are scaled by this: 1e-6 of them is far below `VALUE_TOLERANCE`."""

SMALL_ROOT = 1e-4
"""Below its square, √q is taken for this: tangents at 0 are vertical. It raises bounds only."""

MOST_UNITS = 10**8
"""With more units of weight, TP and TN as shares of their class are too fine for solvers."""

ENVELOPE_MARGIN = 1e-9
"""What planes are raised by, relative to their numbers, so that float errors leave them above."""

# ----------------------------------------------------------------------- last proofs

APPROXIMATION_MARGIN = 1e-9
"""Approximate values within it, relative to 1 plus their size, are compared exactly."""

MOST_SETTLED_UNITS = 10**5
"""Pairs are settled up to this many units: a bit off by 1e-6 then moves a count by 0.1."""
