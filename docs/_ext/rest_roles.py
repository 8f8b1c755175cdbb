"""Docstrings speak reST, as numpydoc has it; the site speaks Markdown.

References such as ``:func:`goct.solve``` become links where their target is on
a page, and formulas become code. Parameters that share a description get one
each, so that each is shown with its own type.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_REFERENCE = re.compile(r":(class|func|meth|mod|attr|data):`~?([\w.]+)`")
_INLINE_MATH = re.compile(r":math:`([^`]+)`")
_DISPLAY_MATH = re.compile(r"^( *)\.\. math::\s*(.+)$", re.MULTILINE)
_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(?:.+\n?|\n(?!.+\n-+$))*", re.MULTILINE)
_SHARED = re.compile(r"^(\w+(?:, \w+)+)\n((?:    .*(?:\n|\Z))+)", re.MULTILINE)


class RestRoles(griffe.Extension):
    """Rewrites the docstring of every object before it is parsed."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Rewrite the docstrings of a package once all of it is known."""
        self._visit(pkg)

    def _visit(self, obj: griffe.Object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _to_markdown(obj.docstring.value, obj)
        for member in obj.members.values():
            if not member.is_alias:
                self._visit(member)


def _to_markdown(text: str, obj: griffe.Object) -> str:
    def link(match: re.Match[str]) -> str:
        role, name = match.groups()
        try:
            path = obj.resolve(name)
        except griffe.NameResolutionError:
            path = name
        if role == "func" and path == "goct.solve":  # also the name of its module
            path = "goct.solve.solve"
        # Optional: what has no page of its own is shown without a link.
        return f'<autoref identifier="{path}" optional><code>{name}</code></autoref>'

    def split(match: re.Match[str]) -> str:
        names, description = match.groups()
        if not description.endswith("\n"):
            description += "\n"
        return "".join(f"{name}\n{description}" for name in names.split(", "))

    text = _SECTION.sub(lambda section: _SHARED.sub(split, section[0]), text)
    text = _REFERENCE.sub(link, text)
    text = _INLINE_MATH.sub(r"`\1`", text)
    return _DISPLAY_MATH.sub(r"\1    \2", text)
