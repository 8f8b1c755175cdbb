"""PRAXIS: near-optimal trees, all of them that are close to the best, without a proof."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver


class Praxis(Solver):
    """PRAXIS, asked for its best tree only.

    It counts its penalty per leaf, as a whole number of rows, and knows no limit
    on time.
    """

    module: ClassVar[str] = "praxis"
    distribution: ClassVar[str] = "tree-praxis"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset({"accuracy"})

    def fit(self, question: Question) -> Answer:
        """Find the trees of its least objective, and take the first."""
        from praxis import PRAXIS

        model = PRAXIS()
        model.fit(
            question.X,
            question.y,
            lambda_reg=float(question.penalty),
            depth_budget=question.depth,
            rashomon_mult=0.0,
        )
        if not model.count_trees():
            return Answer(None)
        paths, _ = model.get_tree_paths(0)

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.get_predictions(0, X), dtype=np.int64)
            return labels

        return Answer(predict, splits=len(paths) - 1, depth=max(map(len, paths)))
