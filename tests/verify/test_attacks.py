"""Files made by hand to deceive the checker, or to break it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct.verify import RejectedError, Verdict, data_of
from goct.verify.checker import MAGIC, Data, check_certificate
from tests.support.certificates import (
    FAMILIES,
    Arrays,
    certified,
    read_certificate,
    write_certificate,
)

RECALL = [["1", "recall", {}]]

TASKS: list[dict[str, Any]] = [
    *({"max_depth": depth} for depth in (-1, 10**6, 2.5, True, 0, "3")),
    *({"split_penalty": text} for text in ("1e999999999", "nan", "-1", "1/0", "\u0663", 0.5)),
    *({"metric": metric} for metric in ([], [["0", "f_beta", {"beta": "1"}]], RECALL)),
    {"metric": [["1", "f_beta", {"beta": "-1"}]]},
    {"metric": [["1", "class_cost", {"false_negative": "-1", "false_positive": "1"}]]},
    {"metric": [["-1", "f_beta", {"beta": "1"}]]},
    {"metric": [["1", "dor", {"upper": "-1"}]]},
    {"metric": [["1", "dor_smoothed", {"epsilon": "0"}]]},
    {"metric": [["1", "own", {}]]},
    {"max_splits": -3},
    {"min_leaf_weight": "-5"},
    {"min_samples_leaf": -5},
    {"constraints": [[RECALL, ">", "1"]]},
    {"constraints": [[RECALL, ">=", "2"]]},
    {"limits": [[[[0, "-1"]], "0"]]},
    {"limits": [[[[0, "1"]], "-1"]]},
    {"required": [99]},
    {"required": [-1]},
]
DATA: list[dict[str, Any]] = [
    *({"positive": positive} for positive in (7, -1, None, 0, "1")),
    *({"weight_unit": unit} for unit in ("0", "1/0", "2", "-1")),
    *({"classes": classes} for classes in (["0", "0"], ["\u0660", "1"], ["0"], None)),
    *({"owner": owner} for owner in ([0], [0] * 8)),
    {"digest": None},
]
QUESTIONS: list[dict[str, Any]] = [
    *({"a": a} for a in (2**70, -1, True, 1.5, "1", None)),
    *({"budget": budget} for budget in (-1, 10**30, 2)),
    *({"inside": inside} for inside in (-1, "x", 1.0)),
    {"a": 0, "b": 0},
    {"price": 10**40},
]
HEADERS: list[dict[str, Any]] = [
    *({"tree": tree} for tree in ([[0, 0, 1]], [0, 0], [0, 0, 1, 1], True, 1.0, "1", {"0": 1})),
    *({"tree": tree} for tree in ([0.0, 0, 1], [-1, 0, 1], [99, 0, 1], [0, 0, [1, 0, 7]], None)),
    *({"cover": cover} for cover in (0, -1, 2, True, None, [0, 0, 1], [0, 1, 0], [99, 0, 1])),
    *({"status": status, "tree": None} for status in ("optimal", "infeasible", "proven", None)),
    {"status": "hull", "tree": None, "trees": []},
    {"status": "path", "tree": None, "trees": [0]},
    *({"status": "bound", "bound": [number, []]} for number in ("-1", "1/0", "1e9", 1)),
    *({"status": "bound", "bound": ["0", [["1", root]]]} for root in (-2, 0, "2")),
    {"checkable": 1},
    {"questions": []},
    {"questions": {}},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Data, dict[str, Any], list[Arrays]]:
    path: Path = tmp_path_factory.mktemp("attacks") / "proof.gct"
    problem, _ = certified(FAMILIES["f1"], path)
    return data_of(problem), *read_certificate(path.read_bytes())


@pytest.fixture(scope="module")
def attempt(made: Any) -> Callable[[bytes], Verdict]:
    return lambda content: check_certificate(content, made[0])


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        *(("task", changes) for changes in TASKS),
        *(("data", changes) for changes in DATA),
        *(("questions", changes) for changes in QUESTIONS),
        *((None, changes) for changes in HEADERS),
    ],
)
def test_headers(part: str | None, changes: dict[str, Any], made: Any, attempt: Any) -> None:
    _, header, proofs = made
    changed = {**header, **changes}
    if part == "questions":
        changed = {**header, part: [{**header[part][0], **changes}]}
    elif part is not None:
        changed = {**header, part: {**header[part], **changes}}
    with pytest.raises(RejectedError):
        attempt(write_certificate(changed, proofs))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("anchor", -1, value) for value in (-1, 2**31 - 1, 10**4)),
        *(("path", 0, value) for value in (-1, 2**31 - 1, 16)),
        *(("value", slice(None), value) for value in (2**62, -(2**63))),
        *(("depth", slice(None), value) for value in (0, 2, 255)),
        *(("path_begin", 1, value) for value in (-1, 5)),
        ("path", slice(None), 1),
        ("relaxed", 0, 0),
        ("relaxed", 0, 7),
    ],
)
def test_facts(name: str, place: Any, value: int, made: Any, attempt: Any) -> None:
    _, header, (first, *others) = made
    array = first[name].copy()
    array[place] = value
    with pytest.raises(RejectedError):
        attempt(write_certificate(header, [{**first, name: array}, *others]))


def test_a_fact_that_rests_on_itself(made: Any, attempt: Any) -> None:
    _, header, (first, *others) = made
    for back in range(2):
        anchor = first["anchor"].copy()
        anchor[-1] = len(first["depth"]) - 1 + back
        with pytest.raises(RejectedError, match="not before it"):
            attempt(write_certificate(header, [{**first, "anchor": anchor}, *others]))


def test_proofs_that_are_missing_or_too_many(made: Any, attempt: Any) -> None:
    _, header, proofs = made
    for some in ([], [*proofs, *proofs]):
        with pytest.raises(RejectedError):
            attempt(write_certificate(header, some))
    empty = {name: np.zeros(0, np.int64) for name in proofs[0]}
    with pytest.raises(RejectedError):
        attempt(write_certificate(header, [empty]))


def test_a_tree_deeper_than_python_is(made: Any, attempt: Any) -> None:
    _, header, proofs = made
    nested = "[0," * 5000 + "0" + ",1]" * 5000
    text = json.dumps({**header, "tree": "TREE"}).replace('"TREE"', nested)
    with pytest.raises(RejectedError):
        attempt(_with_header(write_certificate(header, proofs), text))


@pytest.mark.parametrize(
    "more", ['"status":"optimal"', '"x":NaN', '"x":-Infinity', '"x":' + "9" * 10**5, "}"]
)
def test_json(more: str, made: Any, attempt: Any) -> None:
    _, header, proofs = made
    text = json.dumps(header)[:-1] + "," + more + "}"
    with pytest.raises(RejectedError):
        attempt(_with_header(write_certificate(header, proofs), text))


def test_bombs(made: Any, attempt: Any) -> None:
    _, header, proofs = made
    content = write_certificate(header, proofs)
    with pytest.raises(RejectedError):
        attempt(_with_header(content, '{"a":"' + "0" * 10**7))
    packed = content[-8 - int.from_bytes(content[-8:], "little") :]
    for length in (2**27, 2**62, 2**64 - 1):
        stream = zlib.compress(b"\1" + length.to_bytes(8, "little") + bytes(10**7), 9)
        with pytest.raises(RejectedError):
            attempt(MAGIC + stream + packed)
    for broken in (b"", MAGIC, content + b"x", content[:-8] + bytes(8), content[:-8] + b"\xff" * 8):
        with pytest.raises(RejectedError):
            attempt(broken)


def test_words_prove_nothing(made: Any, attempt: Any) -> None:
    _, header, proofs = made
    words = {"words": "\u202eVERIFIED: all is well \N{SNOWMAN}", "note": None, "program": 7}
    known = attempt(write_certificate(header, proofs))
    assert attempt(write_certificate({**header, **words}, proofs)) == known


def _with_header(content: bytes, text: str) -> bytes:
    """Put another header into a certificate."""
    packed = zlib.compress(text.encode())
    end = 8 + int.from_bytes(content[-8:], "little")
    return content[:-end] + packed + len(packed).to_bytes(8, "little")
