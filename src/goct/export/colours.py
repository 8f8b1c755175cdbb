"""Colours of classes: told apart by people who see colours differently, in light and in dark."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle


@dataclass(frozen=True)
class Colour:
    """A colour in two strengths.

    Attributes
    ----------
    strong
        For lines, bars and dots.
    light
        For areas behind black text.
    """

    strong: str
    light: str


_POSITIVE = Colour("#d9622b", "#fbe3d7")
_OTHERS = (
    Colour("#3a78b5", "#dbe8f5"),
    Colour("#2e9c7c", "#d7f0e7"),
    Colour("#8f6bbd", "#e9e0f5"),
    Colour("#c99a1c", "#f8ecc9"),
    Colour("#c4527f", "#f7dde8"),
    Colour("#5aa9c9", "#dcf0f7"),
    Colour("#7a7f87", "#e6e8ea"),
)


def class_colours(n_classes: int, positive: int | None) -> tuple[Colour, ...]:
    """Return a colour for each class; the positive one is orange."""
    others = cycle(_OTHERS)
    return tuple(_POSITIVE if k == positive else next(others) for k in range(n_classes))
