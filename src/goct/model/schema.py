"""The JSON schema of model files, made of the types that reading them goes by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from goct.binarize.conditions import KINDS
from goct.model import file
from goct.model.records import Level, Weight

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string", "maxLength": file.MAX_TEXT},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    Level: {"type": ["string", "number", "boolean"]},
    Weight: {
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^\d+/\d+$"}],
        "description": "the weight of rows; a fraction if it is no integer",
    },
}


def _object(properties: Mapping[str, Any], description: str | None = None) -> dict[str, Any]:
    """Return the schema of an object that has all of some entries, and no others."""
    return {
        **({} if description is None else {"description": description}),
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_NODE = {
    "description": "a leaf, or a split whose left child is for no and whose right child is for yes",
    "oneOf": [
        _object(dict.fromkeys(names, _PLAIN[int]))
        for names in (("label",), ("feature", "left", "right"))
    ],
}


def model_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the files that :meth:`goct.Model.save` writes."""
    properties = {
        "schema": {"const": file.SCHEMA},
        "checksum": {"type": "string"},
        "classes": {"type": "array", "items": _PLAIN[Level], "minItems": 1},
        "nodes": {"type": "array", "items": _NODE, "minItems": 1},
        "conditions": {"type": "array", "items": {"oneOf": _conditions()}},
        **{name: _schema_of(hint) for name, hint in file.FIELDS.items()},
    }
    optional = ("checksum", *file.LATER_FIELDS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A decision tree of goct",
        **_object(properties),
        "required": [name for name in properties if name not in optional],
    }


def _conditions() -> list[dict[str, Any]]:
    own: dict[str, dict[str, Any]] = {
        "column": {"type": "string"},
        "threshold": {"type": "number"},
        "moment": {"type": "string", "description": "ISO 8601 without a time zone"},
        "levels": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    }
    found = []
    for kind, made in KINDS.items():
        names = [field.name for field in fields(made)]
        entries = {"kind": {"const": kind}, **{name: own[name] for name in names}}
        found.append(_object(entries, (made.__doc__ or "").splitlines()[0]))
    return found


def _schema_of(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return {"enum": list(parts[1:])}
    if NoneType in parts:
        return {"anyOf": [_schema_of(parts[0]), {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(parts[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema_of(parts[1])}
    hints = get_type_hints(hint, include_extras=True)
    entries = {name: _schema_of(entry) for name, entry in hints.items()}
    return _object(entries, (hint.__doc__ or "").splitlines()[0])
