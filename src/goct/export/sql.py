"""A tree as an SQL expression."""

from __future__ import annotations

from typing import Any

from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf, plain_number
from goct.model import Model, as_model
from goct.tree import Leaf, Node


def export_sql(model: Any) -> str:
    """Write a tree as a ``CASE`` expression of standard SQL.

    NULL is a missing value. It makes every condition but ``IS NULL`` unknown,
    which ``CASE`` takes as no: as the tree does. Columns must have the types
    that the tree was learned on; dates that are kept as text must be written
    like ``2024-03-01`` or ``2024-03-01 12:30:00``. If the tree was learned from
    a CSV file, spaces around text do not count, and words such as NA are missing
    values, see :attr:`goct.Model.missing_words`. Two things a database has to do
    itself, as standard SQL has no word for them: remove other blanks around text,
    such as tabs, line ends and no-break spaces, which the model also ignores; and
    make NULL of infinite numbers, which the model refuses.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    """
    model = as_model(model)
    lines: list[str] = []
    conditions = [sql_condition(condition, model) for condition in model.conditions]

    def write(node: Node, indent: str) -> None:
        if isinstance(node, Leaf):
            lines.append(f"{indent}{sql_value(model.classes[node.label])}")
            return
        lines.append(f"{indent}CASE WHEN {conditions[node.feature]} THEN")
        write(node.right, indent + "  ")
        lines.append(f"{indent}ELSE")
        write(node.left, indent + "  ")
        lines.append(f"{indent}END")

    write(model.tree.root, "")
    return "\n".join(lines)


def sql_condition(condition: Condition, model: Model) -> str:
    """Write a condition in SQL; it is never true for NULL, unless it asks for NULL."""
    name, column = sql_name(condition.column), model.columns[condition.column]
    is_text = column.kind == "category" and not any(
        isinstance(known, int | float) for known in column.levels or ()
    )
    text = f"TRIM({name})" if is_text and model.missing_words is not None else name
    match condition:
        case Above(threshold=threshold):
            return f"{name} > {plain_number(threshold)}"
        case After(moment=moment):
            date, _, time = moment.replace("T", " ").partition(" ")
            date += "-01" * (2 - date.count("-"))
            time += ":00" * (2 - time.count(":")) if time else "00:00:00"
            return f"{name} > '{date} {time}'"
        case OneOf(levels=levels):
            typed = {str(known): known for known in column.levels or ()}
            return f"{text} IN ({', '.join(sql_value(typed.get(t, t)) for t in levels)})"
        case IsTrue():
            return f"{name} = TRUE"
    if text == name:
        return f"{name} IS NULL"
    words = ", ".join(map(sql_value, model.missing_words or ()))
    return f"{name} IS NULL OR {text} IN ({words})"


def sql_name(name: str) -> str:
    """Write a column name in double quotes."""
    if "\0" in name:
        raise ValueError(f"SQL has no way to write the column name {name!r}")
    return '"' + name.replace('"', '""') + '"'


def sql_value(value: Any) -> str:
    """Write a text, a number or a truth value."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return plain_number(value) if isinstance(value, float) else str(value)
    text = str(value)
    if "\0" in text:
        raise ValueError(f"SQL has no way to write the text {text!r}")
    return "'" + text.replace("'", "''") + "'"
