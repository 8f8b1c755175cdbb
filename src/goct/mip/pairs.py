"""The last step of a proof: whether a tree has one of a few pairs (TP, TN).

Solvers compute bounds up to a tolerance. What a nonlinear metric can be worth
between the best tree and such a bound is a finite set of pairs, mostly a small
one. A model with small integers only, far from all tolerances, tells whether a
tree achieves one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import count

import numpy as np

from goct.exact import Exact
from goct.metrics import BalancedAccuracy, Metric
from goct.mip.attainable import Line, Pair, pairs_between
from goct.mip.backends.base import Backend, BackendError, MipResult
from goct.mip.model import Term
from goct.mip.question import LinearQuestion
from goct.mip.side import SideConstraints
from goct.mip.tree_model import TreeModel
from goct.problem import Problem
from goct.solution import Limit
from goct.tree import Tree

MOST_PAIRS = 1000
"""More pairs are not looked for."""
_LARGEST_COUNT = 10**5  # a bit that is off by 1e-6 then moves a count by 0.1


class PairQuestion(LinearQuestion):
    """Whether a tree has at least the TP and TN of some pair, and no more splits than it allows.

    With a binary variable u[k] for each pair, ``Σ_k u[k] = 1``,
    ``TP >= Σ_k TP[k] · u[k]``, the same for TN, and ``Σ b <= Σ_k splits[k] ·
    u[k]``. Any tree will do; those with a large balanced accuracy come first.

    Parameters
    ----------
    problem, side
        As for :class:`goct.mip.question.Question`.
    pairs
        The pairs.
    """

    def __init__(self, problem: Problem, side: SideConstraints, pairs: Sequence[Pair]) -> None:
        super().__init__(problem, BalancedAccuracy(), Fraction(0), None, side)
        self.pairs = pairs

    def attach(self, tree: TreeModel, solver: Backend, *, is_compact: bool) -> None:
        """Add the pairs and the side constraints to a model."""
        super().attach(tree, solver, is_compact=is_compact)
        model, data, problem = tree.model, tree.instances, self.problem
        assert problem.positive is not None
        u = model.add_variables("pair", (len(self.pairs),), integer=True)
        model.add_rows("one_pair", 1, [(0, u, 1.0)], lower=1, upper=1)
        share = data.share(problem.counts)
        for name, label, least in (
            ("TP", problem.positive, [pair.tp for pair in self.pairs]),
            ("TN", 1 - problem.positive, [pair.tn for pair in self.pairs]),
        ):
            used = (data.label == label) & (share > 0)
            terms: list[Term] = [(0, tree.g[used], share[used]), (0, u, -np.array(least, float))]
            model.add_rows(f"pair_{name}", 1, terms, lower=-0.5)  # half a unit, for rounding
        splits = -np.array([pair.splits for pair in self.pairs], dtype=float)
        model.add_rows("pair_splits", 1, [(0, tree.b.ravel(), 1.0), (0, u, splits)], upper=0)

        def choose(x: np.ndarray) -> None:
            k = self._pair_of(self._tree_of(*tree.decode(x)))
            x[u] = 0.0
            if k is not None:
                x[u[k]] = 1.0

        tree.completions.append(choose)

    def is_allowed(self, features: Mapping[int, int], labels: Mapping[int, int]) -> bool:
        """Say whether a tree meets the constraints and has one of the pairs."""
        tree = self._tree_of(features, labels)
        return self._pair_of(tree) is not None and self.side.are_met(tree, self.problem)

    @property
    def _check(self) -> Callable[[Mapping[int, int], Mapping[int, int]], bool]:
        return self.is_allowed

    def _pair_of(self, tree: Tree) -> int | None:
        """Return the number of a pair that a tree has."""
        confusion, unit = tree.confusion(self.problem), self.problem.weight_unit
        for k, pair in enumerate(self.pairs):
            enough = confusion.tp >= pair.tp * unit and confusion.tn >= pair.tn * unit
            if enough and tree.splits <= pair.splits:
                return k
        return None


def settle(
    problem: Problem,
    metric: Metric,
    best: Tree | None,
    bound: Exact,
    *,
    split_penalty: Fraction,
    most_splits: int,
    side: SideConstraints,
    lines: Sequence[Line],
    ask: Callable[[PairQuestion], MipResult] | None,
    solver: str,
) -> tuple[Tree | None, Exact, Limit, int]:
    """Close the gap that tolerances left open, if few pairs lie in it.

    Parameters
    ----------
    problem, metric, split_penalty, side
        The question.
    best, bound
        The best tree, if there is one, and a bound on the objective.
    most_splits
        The largest number of splits.
    lines
        What is known about FN and FP of all trees, see
        :func:`goct.mip.attainable.pairs_between`.
    ask
        Answers a question; None if there is no time for that.
    solver
        The name of the solver.

    Returns
    -------
    tuple
        The best tree, the bound, the limit that was reached on the way, and how
        many questions were asked.
    """

    def objective_of(tree: Tree) -> Exact:
        return metric.evaluate(tree, problem) - split_penalty * tree.splits

    for asked in count():
        if best is None or (objective := objective_of(best)) >= bound:
            return best, bound, Limit.NONE, asked
        pairs = pairs_between(
            problem,
            metric,
            objective,
            bound,
            split_penalty=split_penalty,
            most_splits=most_splits,
            lines=lines,
        )
        if pairs is not None and not pairs:
            return best, objective, Limit.NONE, asked
        is_small = int(problem.counts.sum(axis=0).max()) <= _LARGEST_COUNT
        is_stated = metric.is_monotone and pairs is not None and len(pairs) <= MOST_PAIRS
        if ask is None or pairs is None or not is_stated or not is_small:
            return best, bound, Limit.NONE, asked
        question = PairQuestion(problem, side, pairs)
        result = ask(question)
        found, _ = question.judge(result, solver)
        if found is None and result.limit is Limit.NONE:
            return best, objective, Limit.NONE, asked + 1
        if found is None or objective_of(found) <= objective:
            return best, bound, result.limit, asked + 1
        if objective_of(found) > bound:
            raise BackendError(
                f"{solver} claims that the model is bounded by {float(bound)}, but there is a tree "
                f"with the objective {float(objective_of(found))}"
            )
        best = found
    raise AssertionError("unreachable")
