"""How sure a share is that was counted on some rows."""

from __future__ import annotations

from math import sqrt

from goct.model.records import Weight

_Z = 1.959963984540054  # of 95 %


def wilson(part: Weight, total: Weight) -> tuple[float, float] | None:
    """Return Wilson's interval of 95 % for a share; None if nothing was counted.

    Weights are taken for numbers of rows.
    """
    if not total:
        return None
    n, share = float(total), float(part / total)
    centre = share + _Z**2 / (2 * n)
    spread = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    whole = 1 + _Z**2 / n
    return max(0.0, (centre - spread) / whole), min(1.0, (centre + spread) / whole)


def interval_words(part: Weight, total: Weight) -> str:
    """Return Wilson's interval as text, such as ``82–99 %``."""
    found = wilson(part, total)
    if found is None:
        return ""
    low, high = (f"{100 * end:.1f}" for end in found)
    return f"{low}–{high} %"
