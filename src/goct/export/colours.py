"""Colours of classes: told apart by people who see colours differently, in light and in dark."""

from __future__ import annotations

from dataclasses import dataclass


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
_NEGATIVE = Colour("#3a78b5", "#dbe8f5")
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
    if n_classes == 2 and positive is not None:
        return (_POSITIVE, _NEGATIVE) if positive == 0 else (_NEGATIVE, _POSITIVE)
    colours = [_OTHERS[k % len(_OTHERS)] for k in range(n_classes)]
    if positive is not None:
        colours = [_OTHERS[(k - (k > positive)) % len(_OTHERS)] for k in range(n_classes)]
        colours[positive] = _POSITIVE
    return tuple(colours)
