"""Probabilities of classes at the nodes of a tree, from the weights that reach them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_choice
from goct.tree import Leaf, Tree

METHODS = ("none", "laplace", "parent")
DEFAULT_WEIGHT = 2.0


@dataclass(frozen=True)
class Smoothing:
    """How shares of classes in leaves become probabilities.

    Attributes
    ----------
    method
        "none": the shares as they are. "laplace": a leaf gets `weight` rows more,
        as many of each class; 2 for two classes is Laplace's rule. "parent": a
        node gets `weight` rows more, with the probabilities of its parent (the
        m-estimate); above the root all classes are equal.
    weight
        m, the number of rows that are added.
    """

    method: Annotated[str, *METHODS] = "laplace"
    weight: float = DEFAULT_WEIGHT

    def __post_init__(self) -> None:
        check_choice(self.method, "smoothing", METHODS)
        if not 0 <= self.weight < np.inf:
            raise ValueError(f"the weight of smoothing must not be negative, got {self.weight}")

    @classmethod
    def read(cls, value: Any) -> Smoothing:
        """Return what a user's argument stands for: a name, or a name and a weight."""
        if isinstance(value, Smoothing):
            return value
        if isinstance(value, tuple | list) and len(value) == 2:
            return cls(value[0], float(value[1]))
        return cls(check_choice(value, "smoothing", METHODS))

    def probabilities(
        self, tree: Tree, counts: Sequence[Sequence[int | float | Fraction]]
    ) -> NDArray[np.float64]:
        """Return the probability of each class at every node, in preorder, from the weights there.

        A leaf that nothing reaches, and that is not smoothed, gives its label 1.
        """
        found = np.array(counts, dtype=np.float64)
        prior = np.full(found.shape[1], 1 / found.shape[1])
        for number, (node, parent) in enumerate(zip(tree.nodes(), tree.parents, strict=True)):
            added = 0.0 if self.method == "none" else self.weight
            above = found[parent[0]] if self.method == "parent" and parent is not None else prior
            row = found[number] + added * above
            if not row.any() and isinstance(node, Leaf):
                row[node.label] = 1
            found[number] = row / max(row.sum(), np.finfo(float).tiny)
        return found
