"""DL8.5: itemset search for accurate trees."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver


class Dl85(Solver):
    """DL8.5, as pydl8.5 packages it; its time limit is in whole seconds."""

    module: ClassVar[str] = "pydl85"
    distribution: ClassVar[str] = "pydl8.5"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset()

    def fit(self, question: Question) -> Answer:
        """Solve."""
        from pydl85 import DL85Classifier

        model = DL85Classifier(max_depth=question.depth, time_limit=math.ceil(question.limit))
        model.fit(question.X.astype(np.int32), question.y.astype(np.int32))
        if getattr(model, "tree_", None) is None:
            return Answer(None)

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.predict(X.astype(np.int32)), dtype=np.int64)
            return labels

        splits, depth = _size(model.tree_)
        return Answer(
            predict,
            claimed=1 - float(model.error_) / len(question.y),
            is_proven=not model.timeout_,
            splits=splits,
            depth=depth,
        )


def _size(node: dict[str, Any]) -> tuple[int, int]:
    if "feat" not in node:
        return 0, 0
    left, right = _size(node["left"]), _size(node["right"])
    return left[0] + right[0] + 1, max(left[1], right[1]) + 1
