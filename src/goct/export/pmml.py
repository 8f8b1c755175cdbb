"""A tree in the Predictive Model Markup Language."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from goct.binarize.conditions import Above, After, Condition, IsTrue, OneOf
from goct.export.leaves import WHITE_SPACE, microseconds, probabilities
from goct.model import Model, as_model
from goct.tree import Leaf

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
_TYPES = {
    "number": ("continuous", "double"),
    "boolean": ("categorical", "boolean"),
    "date": ("continuous", "double"),
    "category": ("categorical", "string"),
    "unknown": ("categorical", "string"),
}
_CATEGORY = {"optype": "categorical", "dataType": "string"}
_NUMBER = {"optype": "continuous", "dataType": "double"}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def export_pmml(model: Any) -> str:
    """Write a tree in PMML 4.4, which many scoring engines read.

    The outputs are the predicted label and the probability of each class. A value
    that is missing meets no condition but "is missing", as in the tree. Dates are
    numbers, microseconds since 1970-01-01.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    """
    model = as_model(model)
    target = _target_name(model)
    root = ET.Element("PMML", version="4.4", xmlns=_NAMESPACE)
    header = ET.SubElement(root, "Header", description=_text(f"for {model.question.metric}"))
    ET.SubElement(header, "Application", name="goct", version=model.version)
    dictionary = ET.SubElement(root, "DataDictionary")
    for name, column in model.columns.items():
        optype, data_type = _TYPES[column.kind]
        ET.SubElement(dictionary, "DataField", name=_text(name), optype=optype, dataType=data_type)
    field = ET.SubElement(dictionary, "DataField", {"name": target, **_CATEGORY})
    for label in model.classes:
        ET.SubElement(field, "Value", value=_text(str(label)))
    tree = ET.SubElement(
        root,
        "TreeModel",
        functionName="classification",
        missingValueStrategy="none",
        noTrueChildStrategy="returnLastPrediction",
    )
    schema = ET.SubElement(tree, "MiningSchema")
    ET.SubElement(schema, "MiningField", name=target, usageType="target")
    for name in model.columns:
        ET.SubElement(schema, "MiningField", name=_text(name), invalidValueTreatment="asIs")
    output = ET.SubElement(tree, "Output")
    about = {"name": "prediction", "feature": "predictedValue", **_CATEGORY}
    ET.SubElement(output, "OutputField", about)
    for number, label in enumerate(model.classes):
        about = {"name": f"probability_{number}", "feature": "probability"}
        ET.SubElement(output, "OutputField", about | {"value": _text(str(label)), **_NUMBER})
    _add_trimmed(tree, model)
    _add_nodes(tree, model)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _add_trimmed(parent: ET.Element, model: Model) -> None:
    """Add the text of cells without white space around it, as fields of their own."""
    names = _trimmed(model)
    if not names:
        return
    local = ET.SubElement(parent, "LocalTransformations")
    # Without brackets, at which some readers of XML break a text.
    space = "|".join(f"\\u{ord(letter):04x}" for letter in WHITE_SPACE)
    for name, derived in names.items():
        field = ET.SubElement(local, "DerivedField", {"name": derived, **_CATEGORY})
        apply = ET.SubElement(field, "Apply", function="replace")
        ET.SubElement(apply, "FieldRef", field=_text(name))
        for text in (f"(?s)^(?:{space})*(.*?)(?:{space})*$", "$1"):
            ET.SubElement(apply, "Constant", dataType="string").text = text


def _trimmed(model: Model) -> dict[str, str]:
    """Return the columns whose text is trimmed, with the names of the fields for that."""
    if model.missing_words is None:
        return {}
    return {
        name: f"{_text(name)} (trimmed)"
        for name, column in model.columns.items()
        if column.kind == "category"
    }


def _add_nodes(parent: ET.Element, model: Model) -> None:
    nodes = list(model.tree.nodes())
    child = {above: place for place, above in enumerate(model.tree.parents)}
    shares = probabilities(model)
    trimmed = _trimmed(model)

    def add(above: ET.Element, place: int, asked: Condition | None) -> None:
        node, counts = nodes[place], model.train.counts[place]
        element = ET.SubElement(above, "Node", id=str(place))
        if asked is None:
            ET.SubElement(element, "True")
        else:
            field = trimmed.get(asked.column, _text(asked.column))
            _add_predicate(element, asked, field, model)
        if not isinstance(node, Leaf):
            add(element, child[place, True], model.conditions[node.feature])
            add(element, child[place, False], None)
            return
        element.set("score", _text(str(model.classes[node.label])))
        element.set("recordCount", repr(float(sum(counts))))
        for label, weight, share in zip(model.classes, counts, shares[place], strict=True):
            about = {"recordCount": repr(float(weight)), "probability": repr(share)}
            ET.SubElement(element, "ScoreDistribution", {"value": _text(str(label)), **about})

    add(parent, 0, None)


def _add_predicate(parent: ET.Element, condition: Condition, field: str, model: Model) -> None:
    def simple(above: ET.Element, operator: str, value: str | None = None) -> None:
        made = ET.SubElement(above, "SimplePredicate", field=field, operator=operator)
        if value is not None:
            made.set("value", value)

    def one_of(above: ET.Element, levels: tuple[str, ...]) -> None:
        if len(levels) > 1:  # an array of texts has quotes that not every engine reads
            above = ET.SubElement(above, "CompoundPredicate", booleanOperator="or")
        for level in levels:
            simple(above, "equal", _text(level))

    match condition:
        case Above(threshold=threshold):
            simple(parent, "greaterThan", value=repr(float(threshold)))
        case After(moment=moment):
            simple(parent, "greaterThan", value=repr(float(microseconds(moment))))
        case OneOf(levels=levels):
            one_of(parent, levels)
        case IsTrue():
            simple(parent, "equal", value="true")
        case _ if model.missing_words is not None and _trimmed(model).get(condition.column):
            either = ET.SubElement(parent, "CompoundPredicate", booleanOperator="or")
            simple(either, "isMissing")
            for word in model.missing_words:
                simple(either, "equal", _text(word))
        case _:
            simple(parent, "isMissing")


def _target_name(model: Model) -> str:
    name = _text(model.source.target or "label")
    while name in model.columns:
        name += "_"
    return name


def _text(text: str) -> str:
    """Return a text that XML can hold, or complain."""
    if _CONTROL.search(text):
        raise ValueError(f"XML has no way to write the text {text!r}")
    return text
