"""Axes of matplotlib, which need not be installed, and how all charts look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return a figure of some inches that no window shows, or an error without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a plot needs matplotlib: pip install 'goct[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return axes as they are, or those of a new figure of some inches."""
    if ax is not None:
        return ax
    new_figure(width, height)  # raises an error with advice
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def finish(
    ax: Axes, across: str, up: str, legend: Literal["lower right", "best"] = "lower right"
) -> Axes:
    """Name the axes of a chart, and draw its grid and its legend."""
    ax.set(xlabel=across, ylabel=up)
    ax.grid(color="#7f8a96", alpha=0.2)  # on light paper and on dark
    ax.set_axisbelow(True)
    ax.legend(loc=legend, edgecolor="none")
    return ax
