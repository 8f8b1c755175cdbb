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
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from goct.binarize.conditions import Condition, condition_from_dict
from goct.files import atomic_write
from goct.model.records import (
    ColumnInfo,
    Level,
    Part,
    Proof,
    Question,
    Rival,
    Source,
    Weight,
    read_fraction,
)
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


def write_file(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write the entries of a model to a JSON file with a checksum, whole or not at all."""
    content = {key: value for key, value in data.items() if key != "schema"}
    text = _layout({"schema": SCHEMA, "checksum": _checksum(content), **content})
    if len(text.encode()) > MAX_BYTES:
        raise ValueError(f"the model is larger than {MAX_BYTES >> 20} MB and could not be loaded")
    with atomic_write(path) as file:
        file.write(text)


def read_file(path: str | os.PathLike[str], build: Callable[[Any], T]) -> T:
    """Read a model from a JSON file.

    Parameters
    ----------
    path
        The file.
    build
        Makes the model of the entries; the checksum is looked at only then, so that
        an entry that is wrong is named.
    """
    source = Path(path)
    try:
        if source.is_dir():
            raise ModelFileError(f"{source}: this is a folder, not a model file")
        with source.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ModelFileError(f"{source}: there is no such file") from None
    except PermissionError:
        raise ModelFileError(f"{source}: you may not read this file") from None
    except OSError as error:
        raise ModelFileError(f"{source}: {error.strerror or error}") from None
    try:
        data = _parse(raw)
        model = build(data)
        content = {key: value for key, value in data.items() if key not in ("schema", "checksum")}
        if data.get("checksum") != _checksum(content):
            raise ModelFileError(
                "the content does not fit its checksum: the file was changed after it was written"
            )
        return model
    except ValueError as error:
        raise ModelFileError(f"{source}: {error}") from None


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
    """Return the fields of a model from plain data, checking every part of it.

    Raises
    ------
    ValueError, TypeError
        If it is not a model; the message names the entry.
    """
    if not isinstance(data, Mapping):
        raise ModelFileError(f"a model must be a JSON object, not {_kind(data)}")
    if data.get("schema") != SCHEMA:
        raise ModelFileError(
            f"schema is {data.get('schema')!r}, and this version of goct reads {SCHEMA!r}"
        )
    entries = _Entries(data, "")
    entries.take("schema", _text)
    entries.take("checksum", _text, optional=True)
    classes = entries.take("classes", _reader(tuple[Level, ...]))
    conditions = tuple(entries.take("conditions", _list_of(_condition)))
    tree = {
        "schema": TREE_SCHEMA,
        "classes": list(classes),
        "feature_names": [condition.name for condition in conditions],
        "nodes": entries.take("nodes", _list_of(_node)),
    }
    found = {"tree": Tree.from_dict(tree), "conditions": conditions}
    for name, hint in (
        ("columns", Mapping[str, ColumnInfo]),
        ("positive", int | None),
        ("question", Question),
        ("proof", Proof),
        ("source", Source),
        ("train", Part),
        ("test", Part | None),
        ("rivals", tuple[Rival, ...]),
        ("version", str),
    ):
        found[name] = entries.take(name, _reader(hint))
    found["created"] = entries.take("created", _moment)
    words = _reader(tuple[str, ...] | None)
    found["missing_words"] = entries.take("missing_words", words, optional=True)
    entries.finish()
    return found


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

    def take(self, name: str, read: Callable[[Any, str], T], *, optional: bool = False) -> T:
        """Read an entry."""
        place = f"{self.place}.{name}" if self.place else name
        if name not in self.left:
            if optional:
                return None  # type: ignore[return-value]
            raise ModelFileError(f"the entry {place} is not there")
        return read(self.left.pop(name), place)

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


def _reader(hint: Any) -> Callable[[Any, str], Any]:
    """Return what reads a value of a type: a record, text, a number, a tuple, ..."""
    if hint == Weight:
        return _weight
    if hint == Level:
        return _label
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_dataclass(hint):
        return lambda value, place: _record(hint, value, place)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _one_of(*parts[1:])
    if origin is tuple:
        read_all = _list_of(_reader(parts[0]))
        return lambda value, place: tuple(read_all(value, place))
    if origin is Mapping:
        return _mapping_to(_reader(parts[1]))
    if NoneType in parts:
        (inner,) = (part for part in parts if part is not NoneType)
        read = _reader(inner)
        return lambda value, place: None if value is None else read(value, place)
    raise AssertionError(f"no value of the type {hint} is in a file")


def _record(kind: Any, value: Any, place: str) -> Any:
    entries = _Entries(value, place)
    hints = get_type_hints(kind, include_extras=True)
    found = {name: entries.take(name, _reader(hint)) for name, hint in hints.items()}
    entries.finish()
    try:
        return kind(**found)
    except ValueError as error:  # it begins with the name of the entry
        raise ModelFileError(f"{place}.{error}") from None


def _node(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _expected(place, "an object", value)
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise _expected(place, f"a text of at most {MAX_TEXT} characters", value)
    return value


def _one_of(*words: str) -> Callable[[Any, str], str]:
    def read(value: Any, place: str) -> str:
        if value not in words:
            raise _expected(place, "one of " + ", ".join(map(repr, words)), value)
        return str(value)

    return read


def _count(value: Any, place: str) -> int:
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise _expected(place, "an integer that is not negative", value)
    return value


def _number(value: Any, place: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= 1e300:
        raise _expected(place, "a finite number", value)
    return float(value)


def _truth(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise _expected(place, "true or false", value)
    return value


def _label(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= 1e300:
        return value
    raise _expected(place, "a text, a number or a truth value", value)


def _weight(value: Any, place: str) -> Weight:
    if not isinstance(value, str):
        return _count(value, place)
    try:
        return read_fraction(value)
    except ValueError as error:
        raise ModelFileError(f"{place} {error}") from None


def _moment(value: Any, place: str) -> str:
    text = _text(value, place)
    try:
        if not _INSTANT.fullmatch(text):
            raise ValueError
        datetime.fromisoformat(text)
    except ValueError:
        raise _expected(place, "a date and time in ISO 8601", value) from None
    return text


def _list_of(read: Callable[[Any, str], T]) -> Callable[[Any, str], list[T]]:
    def read_all(value: Any, place: str) -> list[T]:
        if not isinstance(value, list):
            raise _expected(place, "a list", value)
        return [read(item, f"{place}[{i}]") for i, item in enumerate(value)]

    return read_all


def _mapping_to(read: Callable[[Any, str], T]) -> Callable[[Any, str], dict[str, T]]:
    def read_all(value: Any, place: str) -> dict[str, T]:
        entries = _Entries(value, place).left
        return {name: read(entry, f"{place}.{name}") for name, entry in entries.items()}

    return read_all


def _condition(value: Any, place: str) -> Condition:
    try:
        return condition_from_dict(value)
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{place}: {error}") from None


_PLAIN: dict[Any, Callable[[Any, str], Any]] = {
    str: _text,
    int: _count,
    float: _number,
    bool: _truth,
}
