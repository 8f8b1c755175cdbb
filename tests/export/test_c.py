"""C source is compiled and run, and predicts what the model does."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct.export import export_c
from goct.export.c import c_members, c_text
from goct.model import Model
from tests.export.conftest import COLUMNS, Case, as_number, microseconds
from tests.support.models import HOSTILE, hostile_model, small_model

COMPILER = shutil.which("cc")
TYPES = {
    "number": ctypes.c_double,
    "boolean": ctypes.c_double,
    "date": ctypes.c_int64,
    "category": ctypes.c_char_p,
}
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def compiled(model: Model, folder: Path) -> Any:
    source, library = folder / "tree.c", folder / "tree.so"
    source.write_text(export_c(model), encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run([str(COMPILER), *flags, "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


def as_c(kind: str, value: Any) -> Any:
    if kind == "category":
        return None if value is None else value.encode()
    return microseconds(value) if kind == "date" else as_number(value)


def check(case: Case, folder: Path) -> None:
    model, members = case.model, c_members(case.model.columns)
    library = compiled(model, folder)
    names = {name: (member, COLUMNS[name].kind) for name, member in members.items()}

    class Row(ctypes.Structure):
        _fields_ = [(member, TYPES[kind]) for member, kind in names.values()]

    library.predict.restype = ctypes.c_char_p
    library.predict_proba.restype = ctypes.POINTER(ctypes.c_double)
    found, shares = [], []
    for row in case.table:
        given = Row(*(as_c(kind, row[name]) for name, (_, kind) in names.items()))
        found.append(library.predict(ctypes.byref(given)).decode())
        shares.append(library.predict_proba(ctypes.byref(given))[: len(model.classes)])
    assert found == [str(label) for label in case.labels]
    np.testing.assert_array_equal(shares, case.probabilities)


@needs_compiler
def test_what_a_frame_holds(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@needs_compiler
def test_what_a_file_holds(file_case: Case, tmp_path: Path) -> None:
    check(file_case, tmp_path)


@needs_compiler
def test_hostile_names(tmp_path: Path) -> None:
    compiled(hostile_model(), tmp_path)
    compiled(small_model(("*/ #error ??/", HOSTILE)), tmp_path)


def test_names_and_texts() -> None:
    assert list(c_members(["a b", "a-b", "1st", "", "int", "ä", "linux"]).values()) == [
        *("a_b", "a_b_2", "c_1st", "column", "c_int", "column_2", "c_linux")
    ]
    assert c_text('a"\\?\nß') == '"a\\042\\134\\077\\012\\303\\237"'
    with pytest.raises(ValueError, match="no way to write"):
        c_text("a\0b")
    with pytest.raises(ValueError, match="not a name"):
        export_c(small_model(), "a b")
