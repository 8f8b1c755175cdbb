"""What is measured without learning one tree: datasets, and frontiers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from goct.bench.peers.base import Answer, Question, Solver
from goct.bench.peers.own import problem_of
from goct.problem import Problem
from goct.search.frontier import frontier


class Describe(Solver):
    """Counts rows, distinct rows, features and classes."""

    learns: ClassVar[bool] = False
    needs_depth: ClassVar[bool] = False

    def fit(self, question: Question) -> Answer:
        """Count."""
        counts = np.bincount(question.y)
        problem = Problem.from_arrays(question.X, question.y)
        stats = {
            "rows": len(question.y),
            "unique_rows": int(np.count_nonzero(problem.counts)),
            "vectors": problem.n_rows,
            "features": question.X.shape[1],
            "classes": int((counts > 0).sum()),
            "kept_features": problem.X.shape[1],
            "minority_share": float(counts[counts > 0].min() / len(question.y)),
        }
        return Answer(None, stats=stats)


class FrontierOfTrees(Solver):
    """All best trades between the two kinds of error."""

    learns: ClassVar[bool] = False
    has_many_classes: ClassVar[bool] = False

    def fit(self, question: Question) -> Answer:
        """Enumerate the frontier; the corners are in the statistics."""
        found = frontier(
            problem_of(question),
            question.depth,
            pareto=bool(question.options.get("pareto", False)),
            time_limit=question.limit,
        )
        points = found.vertices if found.pareto is None else found.pareto
        stats = {
            "points": [[int(v.confusion.fn), int(v.confusion.fp)] for v in points],
            "positives": found.problem.n_pos,
            "negatives": found.problem.n_neg,
            "is_complete": found.is_complete,
        }
        return Answer(None, is_proven=found.is_complete, stats=stats)
