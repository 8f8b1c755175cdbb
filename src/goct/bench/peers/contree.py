"""ConTree: optimal trees over every threshold of columns of numbers."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver


class Contree(Solver):
    """ConTree, as pycontree packages it."""

    module: ClassVar[str] = "pycontree"
    distribution: ClassVar[str] = "pycontree"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset()

    def fit(self, question: Question) -> Answer:
        """Solve; it warns if the time was not enough."""
        from pycontree import ConTree

        model = ConTree(max_depth=question.depth, time_limit=question.limit)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(_numbers(question.X), question.y)
        is_stopped = any("time limit" in str(warning.message) for warning in caught)

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.predict(_numbers(X)), dtype=np.int64)
            return labels

        return Answer(predict, is_proven=not is_stopped)


def _numbers(X: Features) -> NDArray[np.float64]:
    return np.asarray(X, dtype=np.float64)
