"""odtlearn: the reference implementation of BendersOCT, on Gurobi."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import numpy as np

from goct.bench.data import Features, Labels
from goct.bench.peers.base import Answer, Question, Solver

_TOLERANCE = 1e-6


class Odtlearn(Solver):
    """BendersOCT of odtlearn; large tables need a licence of Gurobi."""

    module: ClassVar[str] = "odtlearn"
    distribution: ClassVar[str] = "odtlearn"
    metrics: ClassVar[frozenset[str]] = frozenset({"accuracy"})
    penalised: ClassVar[frozenset[str]] = frozenset({"accuracy"})

    def load(self) -> None:
        """Import odtlearn and Gurobi."""
        import_module("odtlearn.flow_oct")
        import_module("gurobipy")

    def fit(self, question: Question) -> Answer:
        """Solve on one thread.

        odtlearn maximises (1 - λ') Σ right - λ' · splits; the same trees are
        best with λ' = λn / (1 + λn).
        """
        from odtlearn.flow_oct import BendersOCT

        rows = len(question.y)
        loss = float(question.penalty) * rows
        share = loss / (1 + loss)
        model = BendersOCT(
            solver="gurobi",
            depth=question.depth,
            time_limit=int(np.ceil(question.limit)),
            _lambda=share,
            num_threads=1,
        )
        try:
            model.fit(question.X.astype(np.int64), question.y)
        except AttributeError as error:
            if "Unable to retrieve attribute" not in str(error):
                raise
            return Answer(None)  # it reads the solution although Gurobi has none

        def predict(X: Features) -> Labels:
            labels: Labels = np.asarray(model.predict(X.astype(np.int64)), dtype=np.int64)
            return labels

        return Answer(
            predict,
            bound=float(model.objective_bound) / ((1 - share) * rows),
            is_proven=float(model.optim_gap) <= _TOLERANCE,
            splits=round(sum(model.b_value.values())),
        )
