"""pytrees-rs: DL8.5 by limited discrepancy search, in Rust."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver


class PytreesLds(Solver):
    """DL85Classifier with ever more discrepancies from the order of information gain."""

    module: ClassVar[str] = "pytrees"
    distribution: ClassVar[str] = "pytrees-rs"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset()

    def fit(self, question: Question) -> Answer:
        """Search until the limit."""
        from pytrees import DL85Classifier
        from pytrees.rules import DiscrepancyRule

        model = DL85Classifier(
            max_depth=question.depth,
            max_time=question.limit,
            heuristic="information_gain",
            discrepancy=DiscrepancyRule(),
        )
        model.fit(question.X.astype(float), question.y)
        if model.tree_ is None:
            return Answer(None)

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.predict(X.astype(float)), dtype=np.int64)
            return labels

        return Answer(
            predict,
            claimed=1 - float(model.train_error_) / len(question.y),
            is_proven=model.status_ == "optimal",
            splits=int(model.tree_.n_leaves) - 1,
            depth=int(model.tree_.max_depth),
        )
