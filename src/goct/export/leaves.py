"""What the forms of a tree in other languages share: leaves, moments and white space."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from goct.binarize.conditions import Condition
from goct.model import Model
from goct.tree import Leaf

WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that do not count around the text of a cell: those of ``str.strip``."""


def probabilities(model: Model) -> tuple[tuple[float, ...], ...]:
    """Return the probability of each class at every node in preorder; see `predict_proba`."""
    return tuple(map(tuple, model.node_probabilities.tolist()))


def branches(
    model: Model, condition: Callable[[Condition], str], leaf: Callable[[int, Leaf], str]
) -> Iterator[tuple[int, str, bool]]:
    """Yield the lines of a function: how deep, the text, and whether it is a condition.

    A condition that holds leads to the deeper lines below it, and returns there; what
    follows at its own depth is for the others. So deep trees need no deeper nesting than
    their yes-sides.
    """
    nodes = list(model.tree.nodes())
    child = {parent: place for place, parent in enumerate(model.tree.parents)}

    def write(place: int, depth: int) -> Iterator[tuple[int, str, bool]]:
        while not isinstance(node := nodes[place], Leaf):
            yield depth, condition(model.conditions[node.feature]), True
            yield from write(child[place, True], depth + 1)
            place = child[place, False]
        yield depth, leaf(place, node), False

    return write(0, 0)


def in_braces(
    model: Model,
    condition: Callable[[Condition], str],
    leaf: Callable[[int, Leaf], str],
    indent: str,
) -> list[str]:
    """Return the lines of a function in a language with braces, without its own; see `branches`."""
    lines = []
    for depth, text, is_condition in branches(model, condition, leaf):
        lines.append(indent * (depth + 1) + (f"if ({text}) {{" if is_condition else text))
        if not is_condition and depth:
            lines.append(indent * depth + "}")
    return lines


def moment_parts(moment: str) -> tuple[str, str]:
    """Return a moment in ISO 8601 as a full date and a full time of at most six decimals.

    What is left out does not matter: values are whole numbers of microseconds.
    """
    date, _, time = moment.replace("T", " ").partition(" ")
    date += "-01" * (2 - date.count("-"))
    time += ":00" * (2 - time.count(":")) if time else "00:00:00"
    return date, time[: len("00:00:00.000000")]


def microseconds(moment: str) -> int:
    """Return the number of microseconds from 1970-01-01 to a moment in ISO 8601."""
    return int(np.datetime64("T".join(moment_parts(moment)), "us").astype(np.int64))
