"""STreeD: dynamic programming for many objectives."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver

_DEEPEST = 20  # it takes no larger limit
_TASKS = {"accuracy": "accuracy", "f1": "f1-score", "balanced_accuracy": "balanced-accuracy"}


class Streed(Solver):
    """STreeD, as pystreed packages it."""

    module: ClassVar[str] = "pystreed"
    distribution: ClassVar[str] = "pystreed"
    metrics: ClassVar[frozenset[str]] = frozenset(_TASKS)
    penalised: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    needs_depth: ClassVar[bool] = False

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer; only accuracy goes with many classes."""
        if question.metric != "accuracy" and question.y.max() > 1:
            return f"takes two classes only with {question.metric}"
        return super().refusal(question)

    def fit(self, question: Question) -> Answer:
        """Solve, with as many nodes as the depth allows; without a limit, the largest it takes."""
        from pystreed import STreeDClassifier

        depth = _DEEPEST if question.depth is None else question.depth
        task = "cost-complex-accuracy" if question.penalty else _TASKS[question.metric]
        model = STreeDClassifier(
            task,
            max_depth=depth,
            max_num_nodes=2**depth - 1,
            time_limit=question.limit,
            cost_complexity=float(question.penalty),
            random_seed=question.seed,
        )
        model.fit(question.X.astype(np.int32), question.y.astype(np.int32))
        result = model.fit_result
        if not result.is_feasible():
            return Answer(None)

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.predict(X.astype(np.int32)), dtype=np.int64)
            return labels

        return Answer(
            predict,
            claimed=float(result.score()),
            is_proven=bool(result.is_optimal()),
            splits=int(model.get_n_leaves()) - 1,
            depth=int(model.get_depth()),
        )
