"""Colours of classes: told apart by people who see colours differently, in light and in dark."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A colour: strong for lines, bars and dots, light for areas behind black text."""

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
_GOLDEN_ANGLE = 0.618033988749895  # of the circle of hues: the next is far from all before


def class_colours(n_classes: int, positive: int | None) -> tuple[Colour, ...]:
    """Return a colour for each class, all different; the positive one is orange."""
    others = iter([*_OTHERS, *map(_made, range(max(n_classes - len(_OTHERS), 0)))])
    return tuple(_POSITIVE if k == positive else next(others) for k in range(n_classes))


def _made(number: int) -> Colour:
    """Return one more colour: another hue, and another lightness than its neighbours."""
    hue = (0.22 + number * _GOLDEN_ANGLE) % 1
    strong = colorsys.hls_to_rgb(hue, (0.33, 0.5, 0.42)[number % 3], 0.55)
    light = colorsys.hls_to_rgb(hue, 0.91, 0.55)
    return Colour(_code(strong), _code(light))


def _code(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
