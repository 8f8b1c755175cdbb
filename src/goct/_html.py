"""Small pieces of HTML for notebooks: no scripts, and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_CARD = (
    "display:inline-block;border:1px solid #9993;border-radius:8px;padding:.6em .9em;"
    "font-family:system-ui,sans-serif;line-height:1.4;max-width:100%;overflow-x:auto"
)
_CELL = "padding:.1em .8em .1em 0;text-align:right;font-variant-numeric:tabular-nums"
_COLOURS = ("#3a78b5", "#d9622b", "#2e9c7c", "#8f6bbd", "#c99a1c", "#c4527f", "#5aa9c9", "#7a7f87")
_MOST_ROWS = 30


def html_card(title: str, *parts: str) -> str:
    """Return a box with a title around pieces of HTML."""
    return f'<div style="{_CARD}"><b>{escape(title)}</b>{"".join(parts)}</div>'


def html_facts(facts: Iterable[tuple[str, str]]) -> str:
    """Return names and values, one pair a line."""
    return "".join(
        f'<div><span style="opacity:.6">{escape(name)}</span> {escape(value)}</div>'
        for name, value in facts
    )


def html_table(head: Sequence[str], rows: Sequence[Iterable[Any]]) -> str:
    """Return a table; of many rows the first ones, and how many are left out."""

    def line(cells: Iterable[Any], kind: str) -> str:
        made = (f'<{kind} style="{_CELL}">{escape(str(cell))}</{kind}>' for cell in cells)
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(line(row, "td") for row in rows[:_MOST_ROWS])
    more = len(rows) - _MOST_ROWS
    note = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<table>{line(head, 'th')}{body}</table>{note}"


def html_tree(lines: Iterable[tuple[int, str, str, int | None, str]]) -> str:
    """Return a tree, given its nodes in preorder.

    Each has a depth, the answer that leads to it, its question or class, the index of the class if
    it is a leaf, and a remark.
    """
    made = []
    for depth, answer, words, label, remark in lines:
        dot = ""
        if label is not None:
            colour = _COLOURS[label % len(_COLOURS)]
            dot = f'<span style="color:{colour}">●</span> '
        lead = f'<span style="opacity:.6">{escape(answer)}</span> ' if answer else ""
        text = f"<b>{escape(words)}</b>" if label is not None else escape(words) + "?"
        note = f' <span style="opacity:.6">{escape(remark)}</span>' if remark else ""
        made.append(
            f'<div style="margin-left:{1.6 * depth:g}em;white-space:nowrap">'
            f"{lead}{dot}{text}{note}</div>"
        )
    return "".join(made)
