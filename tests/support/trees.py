"""Random trees."""

from __future__ import annotations

from hypothesis import strategies as st

from goct.tree import Leaf, Node, Split


@st.composite
def nodes(draw, n_features: int, n_classes: int, depth: int = 3) -> Node:
    if n_features == 0 or depth == 0 or draw(st.booleans()):
        return Leaf(draw(st.integers(0, n_classes - 1)))
    child = nodes(n_features, n_classes, depth - 1)
    return Split(draw(st.integers(0, n_features - 1)), draw(child), draw(child))
