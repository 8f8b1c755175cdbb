"""Costs per row: totals over different numbers of rows cannot be compared."""

from __future__ import annotations

from dataclasses import replace

from goct.metrics import is_total
from goct.model import Model, Part, Quantity, Rival
from goct.model.records import Weight


def per_row(model: Model) -> Model:
    """Return a model whose metric is per row, if it is a total over rows."""
    metric, proof, total = model.question.metric, model.proof, model.train.total
    if not is_total(metric):
        return model

    def part(given: Part) -> Part:
        return replace(given, value=_share(given.value, given.total))

    return replace(
        model,
        question=replace(model.question, metric=f"{metric} per row"),
        proof=replace(
            proof,
            objective=Quantity(proof.objective.value / float(total)),
            bound=Quantity(proof.bound.value / float(total)),
        ),
        train=part(model.train),
        test=None if model.test is None else part(model.test),
        rivals=tuple(rival_per_row(rival, metric) for rival in model.rivals),
    )


def rival_per_row(rival: Rival, metric: str) -> Rival:
    """Return another classifier with its metric per row, if that is a total over rows."""
    if not is_total(metric):
        return rival
    return replace(
        rival,
        train_value=_share(rival.train_value, sum(map(sum, rival.train))),
        test_value=_share(rival.test_value, sum(map(sum, rival.test or ()))),
    )


def _share(value: Quantity | None, total: Weight) -> Quantity | None:
    return None if value is None else Quantity(value.value / float(total))
