"""A tree as the source of a Python function without dependencies."""

from __future__ import annotations

import keyword

from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf, plain_number
from goct.export.text import one_line
from goct.model import Model
from goct.tree import Leaf, Node

_ABOVE = """

def _above(value, threshold):
    return value is not None and value > threshold
"""

_AFTER = """

def _after(value, moment):
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value is not None and value > datetime.fromisoformat(moment)
"""

_MISSING = """

def _missing(value):
    return value is None or value != value
"""


def export_python(model: Model, name: str = "predict") -> str:
    """Write a tree as the source of a Python function.

    The function takes a row as a mapping from column names to values, and
    returns the predicted label. None and NaN are missing values. The source
    needs nothing but Python.

    Parameters
    ----------
    model
        The model.
    name
        The name of the function.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is not a name that a Python function may have")
    kinds = {type(condition) for condition in model.conditions}
    lines: list[str] = []
    about = f"the decision tree of goct {model.version} for {model.question.metric}"
    lines.append(f"# {one_line(about)}, {model.created}")
    if After in kinds:
        lines.append("from datetime import date, datetime")
    for helper, needed in (
        (_ABOVE, Above in kinds),
        (_AFTER, After in kinds),
        (_MISSING, any(_is_missing_test(condition) for condition in model.conditions)),
    ):
        if needed:
            lines.append(helper.rstrip("\n"))
    lines += ["", "", f"def {name}(row):"]

    def write(node: Node, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}return {model.classes[node.label]!r}")
            return
        lines.append(f"{indent}if {python_condition(model.conditions[node.feature])}:")
        write(node.right, indent + "    ")
        # Without else, so that deep trees do not run out of Python's 100 levels of indentation.
        write(node.left, indent)

    write(model.tree.root, "    ")
    return "\n".join(lines)


def python_condition(condition: Condition) -> str:
    """Write a condition in Python."""
    value = f"row[{str(condition.column)!r}]"
    match condition:
        case Above(threshold=threshold):
            return f"_above({value}, {plain_number(threshold)})"
        case After(moment=moment):
            return f"_after({value}, {moment!r})"
        case OneOf(levels=(level,)):
            return f"{value} == {str(level)!r}"
        case OneOf(levels=levels):
            return f"{value} in {tuple(map(str, levels))!r}"
        case IsTrue():
            return f"{value} == 1"
    return f"_missing({value})"


def _is_missing_test(condition: Condition) -> bool:
    return not isinstance(condition, Above | After | OneOf | IsTrue)
