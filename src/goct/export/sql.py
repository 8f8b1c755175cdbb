"""A tree as an SQL expression."""

from __future__ import annotations

from typing import Any

from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf, plain_number
from goct.export.leaves import moment_parts, probabilities
from goct.model import Model, as_model
from goct.tree import Leaf


def export_sql(model: Any, *, probability_of: Any = None) -> str:
    """Write a tree as a ``CASE`` expression of standard SQL.

    NULL is a missing value. It makes every condition but ``IS NULL`` unknown,
    which ``CASE`` takes as no: as the tree does. NaN, which some databases have and
    take for the largest number, must be NULL. Columns must have the types
    that the tree was learned on; dates that are kept as text must be written
    like ``2024-03-01`` or ``2024-03-01 12:30:00``. If the tree was learned from
    a CSV file, blanks around text do not count, and words such as NA are missing
    values, see :attr:`goct.Model.missing_words`.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    probability_of
        A label: the expression is its probability instead of the predicted label.
    """
    model = as_model(model)
    lines: list[str] = []
    conditions = [sql_condition(condition, model) for condition in model.conditions]
    shares = probabilities(model)
    label = None
    if probability_of is not None:
        if probability_of not in model.classes:
            raise ValueError(
                f"probability_of must be one of the labels {list(model.classes)}, "
                f"got {probability_of!r}"
            )
        label = model.classes.index(probability_of)

    def leaf(place: int, node: Leaf) -> str:
        return sql_value(model.classes[node.label] if label is None else shares[place][label])

    nodes = list(model.tree.nodes())
    child = {parent: place for place, parent in enumerate(model.tree.parents)}

    def write(place: int, indent: str) -> None:
        node = nodes[place]
        if isinstance(node, Leaf):
            lines.append(f"{indent}{leaf(place, node)}")
            return
        lines.append(f"{indent}CASE WHEN {conditions[node.feature]} THEN")
        write(child[place, True], indent + "  ")
        lines.append(f"{indent}ELSE")
        write(child[place, False], indent + "  ")
        lines.append(f"{indent}END")

    write(0, "")
    return "\n".join(lines)


def sql_condition(condition: Condition, model: Model) -> str:
    """Write a condition in SQL; it is never true for NULL, unless it asks for NULL."""
    name, column = sql_name(condition.column), model.columns[condition.column]
    is_text = column.kind == "category" and not any(
        isinstance(known, int | float) for known in column.levels or ()
    )
    text = name
    if is_text and model.missing_words is not None:
        text = f"TRIM({name})"
    match condition:
        case Above(threshold=threshold):
            return f"{name} > {sql_value(threshold)}"
        case After(moment=moment):
            return f"{name} > '{' '.join(moment_parts(moment))}'"
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
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = plain_number(value)
        # Without an exponent, DuckDB takes it for a decimal number, and rounds once more.
        is_long = "e" not in text and "." in text and len(text) > 15
        return f"{text}e0" if is_long else text
    text = str(value)
    if "\0" in text:
        raise ValueError(f"SQL has no way to write the text {text!r}")
    return "'" + text.replace("'", "''") + "'"
