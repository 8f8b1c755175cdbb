"""The last step of a proof: whether a tree has one of a few pairs (TP, TN).

Solvers compute bounds up to a tolerance. What a nonlinear metric can be worth
between the incumbent and such a bound is a finite set of pairs, mostly a small
one. A program with small integers only, far from all tolerances, tells whether
a tree achieves one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from goct.exact import Exact
from goct.metrics import BalancedAccuracy
from goct.metrics.arrays import linear
from goct.mip.cuts import Check
from goct.mip.numerics import APPROXIMATION_MARGIN, MOST_SETTLED_UNITS
from goct.mip.objective import LinearObjective
from goct.mip.parametric import Line
from goct.mip.program import Point, Term
from goct.mip.session import ModelSession
from goct.mip.tree_program import TreeProgram
from goct.plane.points import Plane, Target
from goct.plane.staircase import Staircase
from goct.solution import Limit
from goct.task import Task
from goct.tree import Tree

Near: TypeAlias = Callable[[Exact, Exact], list[tuple[int, int]]]
"""Maps two values to the points (FN, FP) that may be worth something in between."""

MOST_PAIRS = 1000  # more pairs are not looked for
_MOST_POINTS = 5_000_000  # with more pairs, or with more counts of one class, nothing is said
_MOST_EXACT = 5000


@dataclass(frozen=True)
class Pair:
    """The numbers TP and TN, in units of weight, and the splits that may be spent on them."""

    tp: int
    tn: int
    splits: int


@dataclass(frozen=True, eq=False)
class PairObjective(LinearObjective):
    """Whether a tree has at least the TP and TN of some pair, and no more splits than it allows.

    With a binary variable u[k] for each pair, ``Σ_k u[k] = 1``,
    ``TP >= Σ_k TP[k] · u[k]``, the same for TN, and ``Σ b <= Σ_k splits[k] ·
    u[k]``. Any tree will do; those with a large balanced accuracy come first.
    """

    pairs: tuple[Pair, ...] = ()

    wants_best = False

    @classmethod
    def of_task(cls, task: Task, pairs: Sequence[Pair]) -> PairObjective:
        """Ask for pairs among the feasible trees of a task."""
        balanced = replace(task, metric=BalancedAccuracy(), split_penalty=Fraction(0))
        return cls(balanced, None, tuple(pairs))

    def state(self, program: TreeProgram, *, can_separate: bool) -> dict[str, int]:
        """Add the pairs to a program."""
        data, problem = program.instances, self.task.problem
        numbers = np.arange(len(self.pairs))

        def choose(x: Point) -> Point:
            found = self._pair_of(self.tree_of(*program.decode(x)))
            return np.where(numbers == (-1 if found is None else found), 1.0, 0.0)

        u = program.add_variables("pair", numbers.shape, integer=True, value=choose)
        program.add_rows("one_pair", 1, [(0, u, 1.0)], lower=1, upper=1)
        share, positive = data.share(problem.counts), problem.positive or 0
        for name, label, least in (
            ("TP", positive, [pair.tp for pair in self.pairs]),
            ("TN", 1 - positive, [pair.tn for pair in self.pairs]),
        ):
            used = (data.label == label) & (share > 0)
            terms: list[Term] = [(0, program.g[used], share[used]), (0, u, -np.array(least, float))]
            program.add_rows(f"pair_{name}", 1, terms, lower=-0.5)  # half a unit, for rounding
        splits = -np.array([pair.splits for pair in self.pairs], dtype=float)
        program.add_rows("pair_splits", 1, [(0, program.b.ravel(), 1.0), (0, u, splits)], upper=0)
        return {}

    def is_allowed(self, features: Mapping[int, int], labels: Mapping[int, int]) -> bool:
        """Say whether a tree is feasible and has one of the pairs."""
        tree = self.tree_of(features, labels)
        return self._pair_of(tree) is not None and self.task.is_feasible(tree)

    @property
    def check(self) -> Check | None:
        """Says whether trees are feasible and have one of the pairs."""
        return self.is_allowed

    def _pair_of(self, tree: Tree) -> int | None:
        """Return the number of a pair that a tree has."""
        confusion, unit = tree.confusion(self.task.problem), self.task.problem.weight_unit
        for k, pair in enumerate(self.pairs):
            enough = confusion.tp >= pair.tp * unit and confusion.tn >= pair.tn * unit
            if enough and tree.splits <= pair.splits:
                return k
        return None


def settle(session: ModelSession, lines: Sequence[Line] = (), *, asks: bool = True) -> None:
    """Close the gap that tolerances left open, if few pairs lie in it.

    `lines` is what is proven about all trees, see :func:`pairs_between`. Unless it `asks` models,
    the gap is closed only if no pair lies in it.
    """
    incumbent, task = session.incumbent, session.incumbent.task
    is_small = int(task.problem.counts.sum(axis=0).max()) <= MOST_SETTLED_UNITS
    while session.is_open:
        objective = incumbent.known.objective
        pairs = pairs_between(task, objective, incumbent.bound, lines)
        if pairs == []:
            incumbent.tighten(objective)
            return
        can_ask = asks and is_small and task.metric.is_monotone
        if pairs is None or len(pairs) > MOST_PAIRS or not can_ask:
            return
        found = session.run(PairObjective.of_task(task, pairs), gap=Fraction(1))
        session.stats["pair_questions"] = session.stats.get("pair_questions", 0) + 1
        if found.best is None and found.limit is Limit.NONE:
            incumbent.tighten(objective)
        elif incumbent.known.objective <= objective:
            return


def pairs_between(
    task: Task, low: Exact, high: Exact, lines: Sequence[Line] = ()
) -> list[Pair] | None:
    """Return the pairs (TP, TN) with ``metric - penalty · splits`` in ``(low, high]``.

    If there is none, a bound `high` proves that `low` is the largest value. Of
    a monotone metric, the least pairs are returned: whatever lies between has
    at least the TP and at least the TN of one of them. `lines` is what is proven
    about all trees, ``a · FN + b · FP >= c``. None if there are too many pairs to
    tell, or if the metric is no function of TP and TN.
    """
    if not task.metric.is_function_of_confusion:
        return None
    plane = Plane(task.problem, task.metric)
    is_monotone = task.metric.is_monotone
    if (plane.n_pos + 1) * (1 if is_monotone else plane.n_neg + 1) > _MOST_POINTS:
        return None
    near = _corners(plane, lines) if is_monotone else _grid(plane, lines)
    found: list[Pair] = []
    checked = 0
    largest = task.size.most_splits
    for splits in range(largest + 1) if task.split_penalty else (largest,):
        least, most = (bound + task.split_penalty * splits for bound in (low, high))
        points = near(least, most)
        checked += len(points)
        if checked > _MOST_EXACT:
            return None
        # Corners may be worth less, where they are not known exactly.
        found += [
            Pair(plane.n_pos - x, plane.n_neg - y, splits)
            for x, y in points
            if (value := plane.value(x, y)) <= most and (is_monotone or value > least)
        ]
    return found


def _corners(plane: Plane, lines: Sequence[Line]) -> Near:
    """Return a function for the corners of the staircase of points worth more than a value."""
    staircase = Staircase(plane, plane.metric, (), most_steps=_MOST_POINTS)
    floor = np.zeros(plane.n_pos + 1, dtype=np.int64)
    for line in lines:
        floor = staircase.raised(floor, *line)

    def near(least: Exact, _most: Exact) -> list[tuple[int, int]]:
        ceiling = staircase.wanted(Target(least))
        # Of the points with as many false positives, that with the most false negatives.
        is_corner = np.append(ceiling[:-1] > ceiling[1:], True)
        steps = np.flatnonzero(is_corner & (floor <= ceiling))
        return list(zip(steps.tolist(), ceiling[steps].tolist(), strict=True))

    return near


def _grid(plane: Plane, lines: Sequence[Line]) -> Near:
    """Return a function for all points that may be worth something between two values."""
    x, y = (axis.ravel() for axis in np.indices((plane.n_pos + 1, plane.n_neg + 1)))
    for a, b, least in lines:
        possible = linear(0, (a, b), (x, y)) >= least
        x, y = x[possible], y[possible]
    values = plane.metric.approximate(
        plane.n_pos - x, y, x, plane.n_neg - y, plane.problem.weight_unit
    )

    def near(least: Exact, most: Exact) -> list[tuple[int, int]]:
        margin = APPROXIMATION_MARGIN * (1 + max(abs(float(least)), abs(float(most))))
        steps = (values > float(least) - margin) & (values <= float(most) + margin)
        return list(zip(x[steps].tolist(), y[steps].tolist(), strict=True))

    return near
