"""FastSmallTree of imodels: sparse trees without a limit on depth, with a certificate."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver, find_modules


class FastSmallTree(Solver):
    """FastSmallTreeClassifier; it counts its penalty per leaf, and takes no limit on depth."""

    module: ClassVar[str] = "imodels"
    distribution: ClassVar[str] = "imodels"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    needs_depth: ClassVar[bool] = False

    @property
    def is_installed(self) -> bool:
        """Whether the package is there, and what it needs."""
        return find_modules("imodels", "six", "numba")

    def refusal(self, question: Question) -> str | None:
        """Say why it cannot answer."""
        if question.depth is not None:
            return "takes no limit on depth"
        return super().refusal(question) or (None if question.penalty else "needs a penalty")

    def load(self) -> None:
        """Import the package, and let it compile its search."""
        from imodels import FastSmallTreeClassifier

        FastSmallTreeClassifier(0.1).fit(np.eye(4, dtype=int), np.array([0, 1, 0, 1]))

    def fit(self, question: Question) -> Answer:
        """Solve on one thread."""
        from imodels import FastSmallTreeClassifier

        penalty = float(question.penalty)
        model = FastSmallTreeClassifier(penalty, time_limit=question.limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(question.X, question.y)
        splits = int(model.n_leaves_) - 1

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.predict(X), dtype=np.int64)
            return labels

        return Answer(
            predict,
            claimed=1 - float(model.objective_) + penalty * (splits + 1),
            bound=1 - float(model.lowerbound_) + penalty,
            is_proven=bool(model.optimal_),
            splits=splits,
            depth=int(model.estimator_.get_depth()),
        )
