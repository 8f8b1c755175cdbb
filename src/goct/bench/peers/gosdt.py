"""GOSDT: sparse trees by dynamic programming with bounds."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver


class Gosdt(Solver):
    """GOSDT; it needs a penalty, which it counts per leaf instead of per split."""

    module: ClassVar[str] = "gosdt"
    distribution: ClassVar[str] = "gosdt"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    needs_depth: ClassVar[bool] = False

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer."""
        return super().refusal(question) or (None if question.penalty else "needs a penalty")

    def fit(self, question: Question) -> Answer:
        """Solve on one thread.

        Its classifier cannot predict with recent versions of scikit-learn, so
        that its tree is asked instead.
        """
        from gosdt import GOSDTClassifier, Status

        model = GOSDTClassifier(
            regularization=float(question.penalty),
            allow_small_reg=True,
            depth_budget=question.depth,
            time_limit=math.ceil(question.limit),
            worker_limit=1,
        )
        model.fit(question.X.astype(bool), question.y)
        if not model.trees_:
            return Answer(None)
        tree = model.trees_[0]

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(tree.predict(X.astype(bool)), dtype=np.int64).ravel()
            return labels

        splits, depth = _size(tree.tree)
        penalty = float(question.penalty)
        return Answer(
            predict,
            claimed=1 - float(model.result_.model_loss) if _has_loss(model) else None,
            bound=1 + penalty - float(model.result_.lowerbound),
            is_proven=model.result_.status == Status.CONVERGED,
            splits=splits,
            depth=depth,
        )


def _has_loss(model: Any) -> bool:
    return isinstance(getattr(model.result_, "model_loss", None), float)


def _size(node: Any) -> tuple[int, int]:
    if not hasattr(node, "left_child"):
        return 0, 0
    left, right = _size(node.left_child), _size(node.right_child)
    return left[0] + right[0] + 1, max(left[1], right[1]) + 1
