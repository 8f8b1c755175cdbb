"""The last step of a proof: whether a tree has one of a few pairs (TP, TN).

Solvers compute bounds up to a tolerance. What a nonlinear metric can be worth
between the incumbent and such a bound is a finite set of pairs, mostly a small
one. A program with small integers only, far from all tolerances, tells whether
a tree achieves one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from goct.metrics import BalancedAccuracy
from goct.mip.attainable import Line, Pair, pairs_between
from goct.mip.backends.base import BackendError
from goct.mip.cuts import Check
from goct.mip.numerics import MOST_SETTLED_UNITS
from goct.mip.objective import Answer, LinearObjective
from goct.mip.program import Point, Term
from goct.mip.session import Session
from goct.mip.tree_program import TreeProgram
from goct.solution import Limit
from goct.task import Task
from goct.tree import Tree

MOST_PAIRS = 1000
"""More pairs are not looked for."""


@dataclass(frozen=True, eq=False)
class PairObjective(LinearObjective):
    """Whether a tree has at least the TP and TN of some pair, and no more splits than it allows.

    With a binary variable u[k] for each pair, ``Σ_k u[k] = 1``,
    ``TP >= Σ_k TP[k] · u[k]``, the same for TN, and ``Σ b <= Σ_k splits[k] ·
    u[k]``. Any tree will do; those with a large balanced accuracy come first.

    Attributes
    ----------
    task, start
        As for :class:`goct.mip.objective.ModelObjective`.
    pairs
        The pairs.
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


def settle(
    task: Task, answer: Answer, session: Session, lines: Sequence[Line] = (), *, asks: bool = True
) -> Answer:
    """Close the gap that tolerances left open, if few pairs lie in it.

    Parameters
    ----------
    task
        The question.
    answer
        The incumbent and the bound; it is returned as it is if a limit was
        reached.
    session
        Runs the models.
    lines
        What is known about FN and FP of all trees, see
        :func:`goct.mip.attainable.pairs_between`.
    asks
        Whether models may be asked. Without, the gap is closed only if no pair
        lies in it.
    """
    while answer.limit is Limit.NONE and answer.objective is not None and answer.is_open:
        proven = replace(answer, bound=answer.objective)
        pairs = pairs_between(task, answer.objective, answer.bound, lines)
        if pairs is not None and not pairs:
            return proven
        is_small = int(task.problem.counts.sum(axis=0).max()) <= MOST_SETTLED_UNITS
        is_stated = pairs is not None and len(pairs) <= MOST_PAIRS and task.metric.is_monotone
        if not asks or pairs is None or not is_stated or not is_small:
            break
        found = session.run(PairObjective.of_task(task, pairs), gap=Fraction(1), known=answer)
        asked = {"pair_questions": answer.stats.get("pair_questions", 0) + 1}
        if found.best is None and found.limit is Limit.NONE:
            return replace(proven, stats=answer.stats | asked)
        better = Answer.of(task, found.best, answer.bound, stats=answer.stats | asked)
        if better.objective is None or better.objective <= answer.objective:
            return replace(answer, limit=found.limit, stats=better.stats)
        if better.objective > answer.bound:
            raise BackendError(
                f"a model was bounded by {float(answer.bound)}, but there is a tree with the "
                f"objective {float(better.objective)}"
            )
        answer = better
    return answer
