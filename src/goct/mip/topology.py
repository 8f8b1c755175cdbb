"""The complete binary tree that the models of the paper live on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topology:
    """A complete binary tree of a given depth, in the heap numbering of the paper.

    The root is 1, the children of n are 2n (left, feature = 0) and 2n + 1
    (right, feature = 1).

    Attributes
    ----------
    depth
        At least 1.
    """

    depth: int

    @property
    def branch_nodes(self) -> range:
        """The nodes that may split, B in the paper."""
        return range(1, 2**self.depth)

    @property
    def leaf_nodes(self) -> range:
        """The nodes of the last level, L in the paper."""
        return range(2**self.depth, 2 ** (self.depth + 1))

    @property
    def nodes(self) -> range:
        """All nodes."""
        return range(1, 2 ** (self.depth + 1))

    def ancestors(self, node: int) -> list[int]:
        """Return the strict ancestors of a node, P(n) in the paper."""
        return [node >> k for k in range(node.bit_length() - 1, 0, -1)]
