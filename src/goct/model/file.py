"""Models as JSON files that may come from strangers: no code inside, and every entry checked.

This module turns files into the fields of a model and back; it does not know the model itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from fractions import Fraction
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from goct.binarize.conditions import Condition, condition_from_dict
from goct.files import atomic_write, read_bytes
from goct.model.records import (
    ColumnInfo,
    Level,
    Part,
    Proof,
    Question,
    Rival,
    Source,
    Validation,
    Weight,
    read_fraction,
)
from goct.probabilities import Smoothing
from goct.tree import SCHEMA as TREE_SCHEMA
from goct.tree import Tree

SCHEMA = "goct.model/1"
MAX_BYTES = 1 << 24
MAX_TEXT = 1 << 16

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_MAX_DIGITS = 400

T = TypeVar("T")


class ModelFileError(ValueError):
    """A file does not hold a model; the message says what is wrong where."""


def file_text(data: dict[str, Any]) -> str:
    """Return the entries of a model as the text of a file, with a checksum."""
    content = {key: value for key, value in data.items() if key != "schema"}
    return _layout({"schema": SCHEMA, "checksum": _checksum(content), **content})


def write_file(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write the entries of a model to a JSON file with a checksum, whole or not at all."""
    text = file_text(data)
    if len(_encode(text)) > MAX_BYTES:
        raise ValueError(f"the model is larger than {MAX_BYTES >> 20} MB and could not be loaded")
    with atomic_write(path) as file:
        file.write(text)


def read_file(path: str | os.PathLike[str], build: Callable[[Any], T]) -> T:
    """Read a model from a JSON file.

    The checksum is looked at after `build` has made the model, so that an entry that is wrong is
    named.
    """
    try:
        data = _parse(read_bytes(path, MAX_BYTES + 1))
        model = build(data)
        content = {key: value for key, value in data.items() if key not in ("schema", "checksum")}
        if data.get("checksum") != _checksum(content):
            raise ModelFileError(
                "the content does not fit its checksum: the file was changed after it was written"
            )
        return model
    except ValueError as error:
        raise ModelFileError(f"{path}: {error}") from None


def to_plain(value: Any) -> Any:
    """Return records, tuples and weights as JSON can hold them."""
    if is_dataclass(value):
        return {entry.name: to_plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(entry) for entry in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value


def read_fields(data: Any) -> dict[str, Any]:
    """Return the fields of a model from plain data, checking every part of it; errors name it."""
    if not isinstance(data, Mapping):
        raise ModelFileError(f"a model must be a JSON object, not {_kind(data)}")
    if data.get("schema") != SCHEMA:
        raise ModelFileError(
            f"schema is {data.get('schema')!r}, and this version of goct reads {SCHEMA!r}"
        )
    _encode(json.dumps(data, ensure_ascii=False, default=str))
    entries = _Entries(data, "")
    entries.take("schema", str)
    if "checksum" in data:
        entries.take("checksum", str)
    classes = entries.take("classes", tuple[Level, ...])
    conditions = entries.take("conditions", tuple[Condition, ...])
    tree = {
        "schema": TREE_SCHEMA,
        "classes": list(classes),
        "feature_names": [condition.name for condition in conditions],
        "nodes": list(entries.take("nodes", tuple[dict[str, Any], ...])),
    }
    found = {"tree": Tree.from_dict(tree), "conditions": conditions}
    for name, hint in FIELDS.items():
        if name in data or name not in LATER_FIELDS:
            found[name] = entries.take(name, hint)
    entries.finish()
    return found


FIELDS = {
    "columns": Mapping[str, ColumnInfo],
    "positive": int | None,
    "question": Question,
    "proof": Proof,
    "source": Source,
    "train": Part,
    "test": Part | None,
    "rivals": tuple[Rival, ...],
    "validation": Validation | None,
    "missing_words": tuple[str, ...] | None,
    "certificate": str | None,
    "notes": tuple[str, ...],
    "smoothing": Smoothing,
    "created": datetime,
    "version": str,
}
# The first files did not have them.
LATER_FIELDS = ("validation", "missing_words", "certificate", "notes", "smoothing")


def _parse(raw: bytes) -> Any:
    if len(raw) > MAX_BYTES:
        raise ModelFileError(f"the file is larger than {MAX_BYTES >> 20} MB, so it is no model")
    if not raw.strip():
        raise ModelFileError("the file is empty")
    try:
        text = raw.decode("utf-8-sig")
        return json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise ModelFileError(f"this is not a text file (byte {error.start})") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        what = "the file ends too early" if cut else f"this is not JSON: {error.msg}"
        raise ModelFileError(f"line {error.lineno}, column {error.colno}: {what}") from None
    except RecursionError:
        raise ModelFileError("the entries are nested too deeply") from None


def _encode(text: str) -> bytes:
    """Return text as bytes, or raise an error: half a character fits no file and no terminal."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        before = text[max(error.start - 30, 0) : error.start]
        half = f"\\u{ord(text[error.start]):x}"
        raise ModelFileError(f"a text holds half a character, {half}, after {before!r}") from None


def _checksum(content: Mapping[str, Any]) -> str:
    """Return a digest that tells accidents; it is no protection from a forger."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _layout(data: Mapping[str, Any]) -> str:
    """Write one entry per line, and lists of objects one object per line."""
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join("    " + json.dumps(item, ensure_ascii=False) for item in value)
            text = f"[\n{items}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ModelFileError(f"the entry {key!r} occurs twice in one object")
        found[key] = value
    return found


def _integer(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ModelFileError(f"a number has {len(text)} digits; at most {_MAX_DIGITS} are read")
    return int(text)


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"{name} is not a number that JSON knows")


class _Entries:
    """The entries of an object, taken one by one; errors name the place."""

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, Mapping):
            raise ModelFileError(f"{place} must be an object, not {_kind(data)}")
        self.left = dict(data)
        self.place = place

    def take(self, name: str, hint: Any) -> Any:
        """Read an entry of a type."""
        place = f"{self.place}.{name}" if self.place else name
        if name not in self.left:
            raise ModelFileError(f"the entry {place} is not there")
        return _read(hint, self.left.pop(name), place)

    def finish(self) -> None:
        """Complain about entries that nobody took."""
        if self.left:
            where = f" in {self.place}" if self.place else ""
            raise ModelFileError(f"unknown entries{where}: {', '.join(map(str, self.left))[:200]}")


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    words = {bool: "a truth value", int: "a number", float: "a number", str: "a text"}
    return words.get(type(value), "a list" if isinstance(value, list) else "an object")


def _expected(place: str, what: str, value: Any) -> ModelFileError:
    shown = repr(value)
    got = shown if len(shown) <= 60 else _kind(value)
    return ModelFileError(f"{place} must be {what}, got {got}")


def _read(hint: Any, value: Any, place: str) -> Any:
    """Read a value of a type: text, a number, a tuple, a record, ..."""
    if hint in _PLAIN:
        fits, what = _PLAIN[hint]
        if not fits(value):
            raise _expected(place, what, value)
        return float(value) if hint is float else value
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        if value not in parts[1:]:
            raise _expected(place, "one of " + ", ".join(map(repr, parts[1:])), value)
        return value
    if NoneType in parts:
        return None if value is None else _read(parts[0], value, place)
    if origin is tuple:
        if not isinstance(value, list):
            raise _expected(place, "a list", value)
        return tuple(_read(parts[0], item, f"{place}[{i}]") for i, item in enumerate(value))
    if origin is Mapping:
        named = _Entries(value, place).left
        return {name: _read(parts[1], entry, f"{place}.{name}") for name, entry in named.items()}
    try:
        if hint is Condition:
            return condition_from_dict(value)
        if hint == Weight:
            return read_fraction(value) if isinstance(value, str) else _read(int, value, place)
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{place}: {error}") from None
    entries = _Entries(value, place)
    hints = get_type_hints(hint, include_extras=True)
    found = {name: entries.take(name, entry) for name, entry in hints.items()}
    entries.finish()
    try:
        return hint(**found)
    except ValueError as error:  # it begins with the name of the entry
        raise ModelFileError(f"{place}.{error}") from None


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= 1e300


def _is_instant(value: Any) -> bool:
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        return False
    try:
        return datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT


_PLAIN: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (_is_text, f"a text of at most {MAX_TEXT} characters"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (
        lambda value: type(value) is int and 0 <= value < 1 << 62,
        "an integer that is not negative",
    ),
    float: (_is_number, "a finite number"),
    dict[str, Any]: (lambda value: isinstance(value, Mapping), "an object"),
    datetime: (_is_instant, "a date and time in ISO 8601"),
    Level: (
        lambda value: _is_text(value) or isinstance(value, bool) or _is_number(value),
        "a text, a number or a truth value",
    ),
}
