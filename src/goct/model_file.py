"""Models as JSON files that may come from strangers: no code inside, and every entry checked."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from goct.binarize.conditions import After, Condition, condition_from_dict
from goct.files import atomic_write
from goct.model import (
    COLUMN_KINDS,
    Column,
    Counts,
    Model,
    Part,
    Proof,
    Quantity,
    Question,
    Rival,
    Source,
    Weight,
)
from goct.solution import Limit, Status
from goct.tree import MAX_DEPTH, Tree
from goct.tree import SCHEMA as TREE_SCHEMA

SCHEMA = "goct.model/1"
MAX_BYTES = 1 << 24
MAX_TEXT = 1 << 16

_FRACTION = re.compile(r"-?\d{1,60}(/[1-9]\d{0,60})?", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_MAX_DIGITS = 400
_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d{1,9})?)?)?)?)?", re.ASCII)

T = TypeVar("T")


class ModelFileError(ValueError):
    """A file does not hold a model; the message says what is wrong where."""


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a JSON file, whole or not at all."""
    data = model_to_dict(model)
    data = {"schema": data.pop("schema"), "checksum": _checksum(data), **data}
    text = _layout(data)
    if len(text.encode()) > MAX_BYTES:
        raise ValueError(f"the model is larger than {MAX_BYTES >> 20} MB and could not be loaded")
    with atomic_write(path) as file:
        file.write(text)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model from a JSON file, see :meth:`goct.model.Model.load`."""
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
        return _parse(raw)
    except ValueError as error:
        raise ModelFileError(f"{source}: {error}") from None


def model_to_dict(model: Model) -> dict[str, Any]:
    """Return a model as plain data, without a checksum."""
    tree = model.tree.to_dict()
    return {
        "schema": SCHEMA,
        "version": model.version,
        "created": model.created,
        "classes": tree["classes"],
        "positive": model.positive,
        "columns": {
            name: {**asdict(column), "levels": _list(column.levels)}
            for name, column in model.columns.items()
        },
        "conditions": [condition.to_dict() for condition in model.conditions],
        "nodes": tree["nodes"],
        "question": {**asdict(model.question), "constraints": list(model.question.constraints)},
        "proof": asdict(model.proof),
        "source": asdict(model.source),
        "train": _part_to_dict(model.train),
        "test": None if model.test is None else _part_to_dict(model.test),
        "rivals": [_rival_to_dict(rival) for rival in model.rivals],
        "missing_words": _list(model.missing_words),
    }


def model_from_dict(data: Any) -> Model:
    """Rebuild a model from plain data, checking every part of it.

    Raises
    ------
    ModelFileError
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
    try:
        model = _build(entries)
    except ModelFileError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelFileError(str(error)) from None
    entries.finish()
    return model


def _build(entries: _Entries) -> Model:
    classes = entries.take("classes", _list_of(_label))
    columns = entries.take("columns", _columns)
    conditions = tuple(entries.take("conditions", _list_of(_condition)))
    tree = Tree.from_dict(
        {
            "schema": TREE_SCHEMA,
            "classes": classes,
            "feature_names": [condition.name for condition in conditions],
            "nodes": entries.take("nodes", _list_of(_node)),
        }
    )
    return Model(
        tree=tree,
        conditions=conditions,
        columns=columns,
        positive=entries.take("positive", _optional(_count)),
        question=entries.take("question", _question),
        proof=entries.take("proof", _proof),
        source=entries.take("source", _source),
        train=entries.take("train", _part),
        test=entries.take("test", _optional(_part)),
        rivals=tuple(entries.take("rivals", _list_of(_rival(len(classes))))),
        missing_words=_tuple(
            entries.take("missing_words", _optional(_list_of(_text)), optional=True)
        ),
        created=entries.take("created", _moment),
        version=entries.take("version", _text),
    )


def _parse(raw: bytes) -> Model:
    if len(raw) > MAX_BYTES:
        raise ModelFileError(f"the file is larger than {MAX_BYTES >> 20} MB, so it is no model")
    if not raw.strip():
        raise ModelFileError("the file is empty")
    try:
        text = raw.decode("utf-8-sig")
        data = json.loads(
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
    model = model_from_dict(data)
    content = {k: v for k, v in data.items() if k not in ("schema", "checksum")}
    if data.get("checksum") != _checksum(content):
        raise ModelFileError(
            "the content does not fit its checksum: the file was changed after it was written"
        )
    return model


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
    return _fraction(value, place) if isinstance(value, str) else _count(value, place)


def _moment(value: Any, place: str) -> str:
    text = _text(value, place)
    try:
        if not _INSTANT.fullmatch(text):
            raise ValueError
        datetime.fromisoformat(text)
    except ValueError:
        raise _expected(place, "a date and time in ISO 8601", value) from None
    return text


def _optional(read: Callable[[Any, str], T]) -> Callable[[Any, str], T | None]:
    return lambda value, place: None if value is None else read(value, place)


def _tuple(values: list[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)


def _list_of(read: Callable[[Any, str], T]) -> Callable[[Any, str], list[T]]:
    def read_all(value: Any, place: str) -> list[T]:
        if not isinstance(value, list):
            raise _expected(place, "a list", value)
        return [read(item, f"{place}[{i}]") for i, item in enumerate(value)]

    return read_all


def _columns(value: Any, place: str) -> dict[str, Column]:
    columns = {}
    for name, entry in _Entries(value, place).left.items():
        entries = _Entries(entry, f"{place}.{name}")
        kind = entries.take("kind", _one_of(*COLUMN_KINDS))
        has_missing = entries.take("has_missing", _truth)
        levels = entries.take("levels", _optional(_list_of(_label)))
        columns[name] = Column(kind, has_missing, _tuple(levels))
        entries.finish()
    return columns


def _condition(value: Any, place: str) -> Condition:
    try:
        condition = condition_from_dict(value)
        if isinstance(condition, After) and not _MOMENT.fullmatch(condition.moment):
            raise ValueError(f"{condition.moment!r} is not a date or time in ISO 8601")
        return condition
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{place}: {error}") from None


def _question(value: Any, place: str) -> Question:
    entries = _Entries(value, place)
    question = Question(
        metric=entries.take("metric", _text),
        max_depth=entries.take("max_depth", _count),
        max_splits=entries.take("max_splits", _optional(_count)),
        split_penalty=entries.take("split_penalty", _number),
        constraints=tuple(entries.take("constraints", _list_of(_text))),
    )
    entries.finish()
    if question.max_depth > MAX_DEPTH:
        raise _expected(f"{place}.max_depth", f"at most {MAX_DEPTH}", question.max_depth)
    return question


def _quantity(value: Any, place: str) -> Quantity:
    entries = _Entries(value, place)
    number = entries.take("value", _number)
    exact = entries.take("exact", _optional(_text))
    entries.finish()
    if exact is not None:
        difference = abs(float(_fraction(exact, f"{place}.exact")) - number)
        if difference > 1e-6 * max(1, abs(number)):
            raise ModelFileError(f"{place}.exact is {exact}, which is not {number}")
    return Quantity(number, exact)


def _fraction(text: str, place: str) -> Fraction:
    if not _FRACTION.fullmatch(text):  # Fraction itself would also take 1e999999999
        raise _expected(place, "a fraction such as 1/3", text)
    return Fraction(text)


def _proof(value: Any, place: str) -> Proof:
    entries = _Entries(value, place)
    proof = Proof(
        objective=entries.take("objective", _quantity),
        bound=entries.take("bound", _quantity),
        status=entries.take("status", _one_of(Status.OPTIMAL.value, Status.FEASIBLE.value)),
        limit=entries.take("limit", _one_of(*(limit.value for limit in Limit))),
        is_exact=entries.take("is_exact", _truth),
        seconds=entries.take("seconds", _optional(_number)),
    )
    entries.finish()
    return proof


def _source(value: Any, place: str) -> Source:
    entries = _Entries(value, place)
    source = Source(
        file=entries.take("file", _optional(_text)),
        target=entries.take("target", _optional(_text)),
        columns=entries.take("columns", _optional(_count)),
        conditions=entries.take("conditions", _optional(_count)),
    )
    entries.finish()
    return source


def _counts(value: Any, place: str) -> Counts:
    return tuple(map(tuple, _list_of(_list_of(_weight))(value, place)))


def _part(value: Any, place: str) -> Part:
    entries = _Entries(value, place)
    part = Part(entries.take("counts", _counts), entries.take("value", _optional(_quantity)))
    entries.finish()
    return part


def _rival(n_classes: int) -> Callable[[Any, str], Rival]:
    def matrix(value: Any, place: str) -> Counts:
        counts = _counts(value, place)
        if len(counts) != n_classes or any(len(row) != n_classes for row in counts):
            raise ModelFileError(f"{place} must have {n_classes} rows and columns")
        return counts

    def read(value: Any, place: str) -> Rival:
        entries = _Entries(value, place)
        rival = Rival(
            name=entries.take("name", _text),
            about=entries.take("about", _text),
            splits=entries.take("splits", _count),
            depth=entries.take("depth", _count),
            train=entries.take("train", matrix),
            train_value=entries.take("train_value", _optional(_quantity)),
            test=entries.take("test", _optional(matrix)),
            test_value=entries.take("test_value", _optional(_quantity)),
            broken=tuple(entries.take("broken", _list_of(_text))),
        )
        entries.finish()
        return rival

    return read


def _list(values: tuple[T, ...] | None) -> list[T] | None:
    return None if values is None else list(values)


def _counts_to_list(counts: Sequence[Sequence[Weight]]) -> list[list[int | str]]:
    return [[int(w) if w.denominator == 1 else str(w) for w in entry] for entry in counts]


def _part_to_dict(part: Part) -> dict[str, Any]:
    value = None if part.value is None else asdict(part.value)
    return {"value": value, "counts": _counts_to_list(part.counts)}


def _rival_to_dict(rival: Rival) -> dict[str, Any]:
    data = asdict(rival)
    data["train"] = _counts_to_list(rival.train)
    data["test"] = None if rival.test is None else _counts_to_list(rival.test)
    data["broken"] = list(rival.broken)
    return data
