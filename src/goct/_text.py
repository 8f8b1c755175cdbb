"""Numbers, names and confusion matrices as plain text, for everything that people read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from goct.exact import Exact

_LONGEST_FRACTION = len("12345/67890")
_LONGEST_INTEGER = 24


def format_weight(weight: int | Fraction) -> str:
    """Write a weight: integers in full, others with six digits."""
    return str(int(weight)) if weight.denominator == 1 else f"{float(weight):.6g}"


def right_of(counts: Sequence[int | Fraction], label: int) -> str:
    """Say how much of the weight that reaches a leaf is of its class: ``35 of 37 right``."""
    return f"{format_weight(counts[label])} of {format_weight(sum(counts))} right"


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, as a terminal can show it."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def confusion_table(matrix: Sequence[Sequence[int | Fraction]], classes: Sequence[object]) -> str:
    """Draw a confusion matrix, true classes down and predicted classes across."""
    names = [one_line(str(label)) for label in classes]
    cells = [[format_weight(entry) for entry in row] for row in matrix]
    first = max(map(len, ["true \\ predicted", *names]))
    widths = [
        max(map(len, [name, *column]))
        for name, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    header = "true \\ predicted".ljust(first)
    lines = [header + "".join(f"  {name:>{w}}" for name, w in zip(names, widths, strict=True))]
    for name, row in zip(names, cells, strict=True):
        lines.append(
            name.rjust(first) + "".join(f"  {c:>{w}}" for c, w in zip(row, widths, strict=True))
        )
    return "\n".join(lines)


def format_exact(number: Exact) -> str:
    """Write an exact number with six digits, and as a short fraction where it is one."""
    return format_number(float(number), str(number.as_fraction()) if number.is_rational else None)


def format_number(value: float, exact: str | None) -> str:
    """Write a number with six digits, and as a fraction that is known and short."""
    if exact is not None and "/" not in exact and len(exact) <= _LONGEST_INTEGER:
        return exact
    fraction = short_fraction(exact)
    return f"{value:.6f}" if fraction is None else f"{value:.6f}  (= {fraction})"


def short_fraction(exact: str | None) -> str | None:
    """Return a fraction if it is one that people can read."""
    is_short = exact is not None and "/" in exact and len(exact) <= _LONGEST_FRACTION
    return exact if is_short else None
