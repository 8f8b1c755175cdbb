"""A tree as the source of a C function without dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from goct._text import one_line
from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf, plain_number
from goct.export.leaves import WHITE_SPACE, in_braces, microseconds, probabilities
from goct.model import Model, as_model
from goct.tree import Leaf

_TYPES = {
    "number": ("double", "a number; NAN if missing"),
    "boolean": ("double", "1 or 0; NAN if missing"),
    "date": ("int64_t", "microseconds since 1970-01-01; INT64_MIN if missing"),
    "category": ("const char *", "text in UTF-8; NULL if missing"),
    "unknown": ("int", "not 0 if missing"),
}

_TEXT = """
/* Whether a text is one of some, which end with NULL. */
static int is_one_of(const char *text, const char *const *levels) {
    for (; *levels; levels++)
        if (strcmp(text, *levels) == 0) return 1;
    return 0;
}
"""

_STRIPPED_TEXT = """
static const char *const white_space[] = {{space}, NULL};

/* Whether a text is one of some, which end with NULL, if white space around it does not count. */
static int is_one_of(const char *text, const char *const *levels) {
    size_t length = strlen(text);
    const char *const *space = white_space;
    while (*space) {
        size_t n = strlen(*space);
        if (n <= length && memcmp(text, *space, n) == 0) {
            text += n;
            length -= n;
        } else if (n <= length && memcmp(text + length - n, *space, n) == 0) {
            length -= n;
        } else {
            space++;
            continue;
        }
        space = white_space;
    }
    for (; *levels; levels++)
        if (strlen(*levels) == length && memcmp(text, *levels, length) == 0) return 1;
    return 0;
}
"""

_FUNCTIONS = """
const char *{name}(const {name}_row *row) {{
    return {name}_classes[{name}_labels[{name}_leaf(row)]];
}}

/* The probability of each class, in the order of {name}_classes. */
const double *{name}_proba(const {name}_row *row) {{
    return {name}_shares[{name}_leaf(row)];
}}"""


def export_c(model: Any, name: str = "predict") -> str:
    """Write a tree as the source of a C function (C99).

    ``predict(&row)`` returns the class as text, ``predict_proba(&row)`` the probability
    of each class, in the order of ``predict_classes``. A row is a ``predict_row``, a
    struct with a member for each column that the tree needs; comments say what it
    holds. Categories that are numbers are given as text, such as "1".

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    name
        The name of the function, and what the other names begin with.
    """
    model = as_model(model)
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"{name!r} is not a name that a C function may have")
    members = c_members(model.columns)
    about = f"the decision tree of goct {model.version} for {model.question.metric}"
    lines = [_comment(f"{about}, {model.created}")]
    lines += [f"#include <{header}.h>" for header in ("math", "stddef", "stdint", "string")]
    lines += ["", "typedef struct {"]
    for column, member in members.items():
        kind, meaning = _TYPES[model.columns[column].kind]
        gap = "" if kind.endswith("*") else " "
        lines.append(f"    {kind}{gap}{member}; {_comment(f'{column}: {meaning}')}")
    if not members:
        lines.append("    int unused; /* the tree is a single leaf */")
    lines.append(f"}} {name}_row;")
    lines.append(f"\nconst char *const {name}_classes[] = {{{_texts(map(str, model.classes))}}};")
    lines += _leaf_tables(model, name)
    places = {p: i for i, p in enumerate(_leaf_places(model))}

    def condition(asked: Condition) -> str:
        return c_condition(asked, f"row->{members[asked.column]}", model)

    body = in_braces(model, condition, lambda place, _: f"return {places[place]};", "    ")
    if any("is_one_of(" in line for line in body):
        helper = _TEXT if model.missing_words is None else _STRIPPED_TEXT
        lines.append(helper.replace("{space}", _texts(WHITE_SPACE)).rstrip("\n"))
    lines += ["", f"static int {name}_leaf(const {name}_row *row) {{"]
    if model.tree.splits == 0:
        lines.append("    (void)row;")
    lines += [*body, "}", _FUNCTIONS.format(name=name)]
    return "\n".join(lines)


def c_condition(condition: Condition, value: str, model: Model) -> str:
    """Write a condition in C."""
    kind = model.columns[condition.column].kind
    words = model.missing_words
    match condition:
        case Above(threshold=threshold):
            return f"{value} > {plain_number(threshold)}"
        case After(moment=moment):
            return f"{value} > INT64_C({microseconds(moment)})"
        case IsTrue():
            return f"{value} == 1"
        case OneOf(levels=levels):
            known = [level for level in levels if words is None or level not in words]
            return f"{value} && {_is_one_of(value, known)}"
    if kind == "category":
        return f"!{value}" if words is None else f"!{value} || {_is_one_of(value, words)}"
    if kind == "date":
        return f"{value} == INT64_MIN"
    return f"isnan({value})" if kind in ("number", "boolean") else value


def c_members(columns: Iterable[str]) -> dict[str, str]:
    """Return a name for each column that C allows, all different."""
    members: dict[str, str] = {}
    for column in columns:
        base = re.sub(r"\W+", "_", column, flags=re.ASCII).strip("_")[:40] or "column"
        base = f"c_{base}" if base[0].isdigit() or base in _KEYWORDS else base
        member, count = base, 1
        while member in members.values():
            count += 1
            member = f"{base}_{count}"
        members[column] = member
    return members


def c_text(text: str) -> str:
    """Write a text in C; bytes that are not plain letters, digits or signs as octal numbers."""
    raw = text.encode("utf-8", "surrogatepass")
    if b"\0" in raw:
        raise ValueError(f"C has no way to write the text {text!r}")
    return '"' + "".join(chr(b) if b in _PLAIN else f"\\{b:03o}" for b in raw) + '"'


_PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\?')
_KEYWORDS = re.findall(
    r"\w+",
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while NULL NAN INT64_MIN bool true false class "
    "linux unix INFINITY HUGE_VAL",  # macros of GNU C and of math.h
)


def _texts(texts: Iterable[str]) -> str:
    return ", ".join(map(c_text, texts))


def _is_one_of(value: str, levels: Iterable[str]) -> str:
    texts = "".join(f"{c_text(level)}, " for level in levels)
    return f"is_one_of({value}, (const char *const[]){{{texts}NULL}})"


def _comment(text: str) -> str:
    return f"/* {one_line(text).replace('*/', '* /')} */"


def _leaf_places(model: Model) -> list[int]:
    return [i for i, node in enumerate(model.tree.nodes()) if isinstance(node, Leaf)]


def _leaf_tables(model: Model, name: str) -> list[str]:
    shares = probabilities(model)
    labels = [str(node.label) for node in model.tree.nodes() if isinstance(node, Leaf)]
    rows = [f"    {{{', '.join(map(repr, shares[place]))}}}," for place in _leaf_places(model)]
    return [
        f"static const int {name}_labels[] = {{{', '.join(labels)}}};",
        f"static const double {name}_shares[][{len(model.classes)}] = {{",
        *rows,
        "};",
    ]
