"""LicketySPLIT: near-optimal deep trees in polynomial time, without a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver


class LicketySplit(Solver):
    """LicketySPLITClassifier; it counts its penalty per leaf."""

    module: ClassVar[str] = "licketysplit"
    distribution: ClassVar[str] = "licketysplit"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset({"accuracy"})

    def fit(self, question: Question) -> Answer:
        """Grow a tree."""
        return answer_of_paths(model := fit_lickety_split(question), model.get_tree_paths()[0])


def fit_lickety_split(question: Question) -> Any:
    """Return a fitted classifier."""
    from licketysplit import LicketySPLITClassifier

    model = LicketySPLITClassifier(lambda_leaf=float(question.penalty), depth_budget=question.depth)
    return model.fit(question.X, question.y)


def answer_of_paths(model: Any, paths: Sequence[Sequence[int]]) -> Answer:
    """Return the answer of a model, given the paths to its leaves."""

    def predict(X: Features) -> Labels:
        labels: Labels = np.asarray(model.predict(X), dtype=np.int64)
        return labels

    return Answer(predict, splits=len(paths) - 1, depth=max(map(len, paths)))
