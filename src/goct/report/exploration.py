"""All trees that one page shows: sizes, operating points, and CART beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from goct.model import Model, Rival
from goct.model.records import Weight

KNOWN_METRICS = (
    *("accuracy", "balanced_accuracy", "recall", "specificity", "precision", "npv", "f1", "f2"),
    *("f0.5", "jaccard", "mcc", "gmean"),
    *("true_positives", "false_positives", "false_negatives", "true_negatives"),
    "predicted_positives",
)
"""The metrics that the scripts of a page compute, so that constraints on it may be about them."""

Curve: TypeAlias = tuple[tuple[Weight, Weight], ...]  # points (false positives, true positives)


@dataclass(frozen=True)
class Size:
    """The trees with at most so many splits.

    Attributes
    ----------
    splits
        The number of splits.
    best
        The place of the tree that is best for the metric.
    points, hull
        The places of the trees that no other beats in both kinds of error, from the
        largest recall on, and of those on the hull.
    is_proven
        Whether `best` is proven to be the best.
    has_hull, has_front
        Whether the hull is complete, and whether `points` are.
    rival
        CART's tree of this size, if there was time for it.
    curves
        What CART reaches by a threshold on its probabilities, on the training data and
        on the test data.
    """

    splits: int
    best: int
    points: tuple[int, ...] = ()
    hull: tuple[int, ...] = ()
    is_proven: bool = False
    has_hull: bool = False
    has_front: bool = False
    rival: Rival | None = None
    curves: tuple[Curve, ...] = ()


@dataclass(frozen=True)
class Exploration:
    """All trees worth a look.

    Attributes
    ----------
    models
        The trees.
    sizes
        Which of them are best for their size, and at which operating points.
    shown
        The place of the tree that a page opens with: the best one of some size.
    rows
        Some rows of the data to try the trees on, by column.
    left_out
        What the page does not hold, in sentences.
    """

    models: tuple[Model, ...]
    sizes: tuple[Size, ...]
    shown: int
    rows: tuple[Mapping[str, Any], ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Model, left_out: tuple[str, ...] = ()) -> Exploration:
        """Return a single tree."""
        rival = model.rivals[0] if model.rivals else None
        proven = model.proof.status == "optimal"
        size = Size(model.tree.splits, best=0, is_proven=proven, rival=rival)
        return cls((model,), (size,), 0, left_out=left_out)

    def with_model(self, model: Model) -> Exploration:
        """Return it with a model that knows more of the tree that is shown."""
        models = list(self.models)
        models[self.shown] = model
        return replace(self, models=tuple(models))

    @property
    def is_proven(self) -> bool:
        """Whether the best tree of every size is proven, and every hull."""
        return all(s.is_proven and (s.has_hull or not s.points) for s in self.sizes)

    @property
    def start(self) -> int:
        """The place of the size that a page opens with."""
        places = [i for i, size in enumerate(self.sizes) if size.best == self.shown]
        validation = self.models[self.shown].validation
        chosen = None if validation is None else validation.splits
        return next((i for i in places if self.sizes[i].splits == chosen), places[0])

    def reduced(self) -> Iterator[Exploration]:
        """Yield it with less and less in it, for pages that would be too large."""
        yield self
        hulls = [replace(size, points=size.hull, has_front=False) for size in self.sizes]
        found = self._with(hulls, "trees inside the hull of the operating points")
        yield found
        bare = [replace(size, points=(), hull=(), has_hull=False) for size in found.sizes]
        found = found._with(bare, "trees of other operating points")
        yield found
        rows = f"{len(self.rows)} rows to try the trees on are left out to keep the page small."
        yield replace(found, rows=(), left_out=(*found.left_out, rows))
        yield Exploration.of(
            self.models[self.shown], (*self.left_out, "All other trees are left out.")
        )

    def _with(self, sizes: list[Size], which: str) -> Exploration:
        """Return the trees of other sizes only, and say how many are left out."""
        kept = sorted({place for size in sizes for place in (size.best, *size.points)})
        new = {place: i for i, place in enumerate(kept)}
        n_left_out = len(self.models) - len(kept)
        left_out = f"{n_left_out} {which} are left out to keep the page small."
        return replace(
            self,
            models=tuple(self.models[place] for place in kept),
            sizes=tuple(
                replace(
                    size,
                    best=new[size.best],
                    points=tuple(new[p] for p in size.points),
                    hull=tuple(new[p] for p in size.hull),
                )
                for size in sizes
            ),
            shown=new[self.shown],
            left_out=(*self.left_out, left_out) if n_left_out else self.left_out,
        )
