"""A tree as the source of a JavaScript module without dependencies."""

from __future__ import annotations

import json
from typing import Any

from goct._text import one_line
from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf, plain_number
from goct.export.leaves import WHITE_SPACE, in_braces, moment_parts, probabilities
from goct.model import Model, as_model
from goct.tree import Leaf

_MISSING = """
const missingWords = {words};

function strip(text) {
  return text.replace({space}, "");
}

function missing(value) {
  if (typeof value === "string") return missingWords.includes(strip(value));
  return value === null || value === undefined || (typeof value !== "object" && value !== value)
    || (value instanceof Date && isNaN(value));
}
"""

_ABOVE = """
function above(value, threshold) {
  if (missing(value)) return false;
  if (typeof value === "string") {
    const text = strip(value);
    const number = Number(text);
    if (!/^[+-]?(\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?$/i.test(text) || !isFinite(number)) {
      throw new RangeError(`${JSON.stringify(value)} is not a finite number`);
    }
    return number > threshold;
  }
  return Number(value) > threshold;
}
"""

_AFTER = """
function after(value, moment) {
  if (missing(value)) return false;
  const text = value instanceof Date ? value.toISOString().replace("Z", "") : strip(value);
  const form = /^(\\d{4}-\\d\\d-\\d\\d)(?:[T ](\\d\\d:\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,6}))?)?)?$/;
  const parts = form.exec(text);
  if (parts === null) throw new RangeError(`${JSON.stringify(value)} is not a date`);
  const [, day, minute = "00:00", second = "00", rest = ""] = parts;
  return `${day} ${minute}:${second}.${rest.padEnd(6, "0")}` > moment;
}
"""

_ONE_OF = """
function oneOf(value, levels, others) {
  if (missing(value)) return false;
  return typeof value === "string" ? levels.includes({text}) : others.includes(value);
}
"""

_TRUE = """
function isTrue(value) {
  if (typeof value === "string") return ["true", "1", "1.0"].includes(strip(value).toLowerCase());
  return !missing(value) && Number(value) === 1;
}
"""

_FUNCTIONS = """
export function predict(row) {
  return classes[leaf(row)[0]];
}

// The probability of each class, in the order of `classes`.
export function predictProba(row) {
  return leaf(row)[1];
}
"""


def export_javascript(model: Any) -> str:
    """Write a tree as the source of a JavaScript module (ES2015).

    It exports ``predict(row)``, ``predictProba(row)`` and ``classes``. A row is an
    object with a property for each column. null, undefined, NaN and invalid dates
    are missing values; dates are ``Date`` objects, whose UTC time counts, or text
    in ISO 8601 without a time zone. If the tree was learned from a CSV file, values
    may also be the text of cells, see :attr:`goct.Model.missing_words`.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    """
    model = as_model(model)
    kinds = {base for c in model.conditions for base in type(c).__mro__}
    words = model.missing_words
    about = f"the decision tree of goct {model.version} for {model.question.metric}"
    space = "".join(f"\\u{ord(c):04x}" for c in WHITE_SPACE)
    text = "value" if words is None else "strip(value)"
    helpers = (
        (
            _MISSING.replace("{words}", js_value(words or ())).replace(
                "{space}", f"/^[{space}]+|[{space}]+$/g"
            ),
            kinds,
        ),
        (_ABOVE, Above in kinds),
        (_AFTER, After in kinds),
        (_ONE_OF.replace("{text}", text), OneOf in kinds),
        (_TRUE, IsTrue in kinds),
    )
    lines = ["// " + one_line(f"{about}, {model.created}").replace("<", "\\u003c")]
    lines.append(f"export const classes = {js_value(model.classes)};")
    lines += [helper.rstrip("\n") for helper, needed in helpers if needed]
    lines += ["", "function leaf(row) {"]
    shares = probabilities(model)

    def leaf(place: int, node: Leaf) -> str:
        return f"return [{node.label}, {js_value(shares[place])}];"

    lines += in_braces(model, lambda condition: js_condition(condition, model), leaf, "  ")
    return "\n".join([*lines, "}", _FUNCTIONS.rstrip("\n")])


def js_condition(condition: Condition, model: Model) -> str:
    """Write a condition in JavaScript."""
    value = f"row[{js_value(condition.column)}]"
    match condition:
        case Above(threshold=threshold):
            return f"above({value}, {plain_number(threshold)})"
        case After(moment=moment):
            date, time = moment_parts(moment)
            seconds, _, rest = time.partition(".")
            return f"after({value}, {js_value(f'{date} {seconds}.{rest:0<6}')})"
        case OneOf(levels=levels):
            typed = {str(known): known for known in model.columns[condition.column].levels or ()}
            others = [typed[t] for t in levels if not isinstance(typed.get(t, t), str)]
            return f"oneOf({value}, {js_value(levels)}, {js_value(others)})"
        case IsTrue():
            return f"isTrue({value})"
    return f"missing({value})"


def js_value(value: Any) -> str:
    """Write a value in JavaScript, so that it cannot end a script element either."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")
