"""A tree as the source of a Python function without dependencies."""

from __future__ import annotations

import keyword
from typing import Any

from goct._text import one_line
from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf, plain_number
from goct.export.leaves import branches, probabilities
from goct.model import as_model
from goct.tree import Leaf

_MISSING = """

def _missing(value):
    if type(value).__name__ in ("NoneType", "NAType", "NaTType"):
        return True
    return value != value
"""

_MISSING_TEXT = """

def _missing(value):
    if isinstance(value, str):
        return value.strip() in _MISSING_WORDS
    if type(value).__name__ in ("NoneType", "NAType", "NaTType"):
        return True
    return value != value
"""

_ABOVE = """

def _above(value, threshold):
    if _missing(value):
        return False
    value = value.item() if hasattr(value, "item") else value  # of numpy
    number = float(value)
    if isinstance(value, str) and (number - number != 0 or "_" in value):
        raise ValueError(f"{value!r} is not a finite number")
    if isinstance(value, str):
        value = int(value) if value.strip().isdecimal() else number
    if number == threshold and not isinstance(value, float):  # it may have more digits
        shown = int(number) if number.is_integer() else repr(number)
        return bool(value > type(value)(shown))
    return number > threshold
"""

_AFTER = """

def _after(value, moment):
    if _missing(value):
        return False
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    is_later = getattr(value, "nanosecond", 0) > 0  # of pandas
    if hasattr(value, "astype"):  # of numpy
        exact, value = value, value.astype("datetime64[us]")
        is_later, value = value < exact, value.item()
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(timezone.utc)
    value = datetime(*value.timetuple()[:6], getattr(value, "microsecond", 0))
    moment = datetime.fromisoformat(moment)
    return value > moment or bool(value == moment and is_later)
"""

_LEVEL = """

def _level(value):
    if _missing(value):
        return None
    if isinstance(value, str):
        return value{strip}
    if type(value).__name__ in ("bool", "bool_"):
        return str(bool(value))
    try:
        return str(int(value)) if value == int(value) else str(float(value))
    except (TypeError, ValueError, OverflowError):
        return str(value)
"""

_TRUE = """

def _true(value):
    if isinstance(value, str):
        return value.strip().lower() in ("true", "1", "1.0")
    return not _missing(value) and bool(value == 1)
"""

_FUNCTIONS = """

def {name}(row):
    return _{name}(row)[0]


def {name}_proba(row):
    return dict(zip({classes}, _{name}(row)[1]))"""


def export_python(model: Any, name: str = "predict") -> str:
    """Write a tree as the source of a Python function.

    The function takes a row as a mapping from column names to values, and
    returns the predicted label. A second one, ``predict_proba``, returns the
    probability of each label. None, NaN, NaT and NA are missing values. If the
    tree was learned from a CSV file, values may also be the text of cells, and
    are read as that file was: see :attr:`goct.Model.missing_words`. The source
    needs nothing but Python.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    name
        The name of the function.
    """
    model = as_model(model)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is not a name that a Python function may have")
    kinds = {base for c in model.conditions for base in type(c).__mro__}
    words = model.missing_words
    lines: list[str] = []
    about = f"the decision tree of goct {model.version} for {model.question.metric}"
    lines.append(f"# {one_line(f'{about}, {model.created}')}")
    if After in kinds:
        lines.append("from datetime import datetime, timezone")
    if words is not None:
        lines += ["", f"_MISSING_WORDS = {words!r}"]
    for helper, needed in (
        (_MISSING if words is None else _MISSING_TEXT, kinds),
        (_ABOVE, Above in kinds),
        (_AFTER, After in kinds),
        (_LEVEL.replace("{strip}", "" if words is None else ".strip()"), OneOf in kinds),
        (_TRUE, IsTrue in kinds),
    ):
        if needed:
            lines.append(helper.rstrip("\n"))
    lines += ["", "", f"def _{name}(row):"]
    shares = probabilities(model)

    def leaf(place: int, node: Leaf) -> str:
        return f"return {model.classes[node.label]!r}, {shares[place]!r}"

    for depth, text, is_condition in branches(model, python_condition, leaf):
        lines.append("    " * (depth + 1) + (f"if {text}:" if is_condition else text))
    lines.append(_FUNCTIONS.format(name=name, classes=repr(model.classes)))
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
            return f"_level({value}) == {str(level)!r}"
        case OneOf(levels=levels):
            return f"_level({value}) in {tuple(map(str, levels))!r}"
        case IsTrue():
            return f"_true({value})"
    return f"_missing({value})"
