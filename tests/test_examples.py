"""The examples run, and say what they should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, *arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tune_on_dask(tmp_path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed (it comes with goct[bench])")
    printed = run("tune_on_dask.py", folder=tmp_path)
    assert "36 fits; the best F1 score in cross-validation is 0.9" in printed
    assert "optimal: no tree of depth" in printed


@pytest.mark.slow
def test_gallery(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    os.environ.setdefault("MPLBACKEND", "Agg")
    names = run("gallery.py", str(tmp_path), folder=tmp_path).split()
    assert {f"gallery-{name}.png" for name in names} == {path.name for path in tmp_path.iterdir()}
    page = (EXAMPLES.parent / "docs" / "how-to" / "gallery.md").read_text(encoding="utf-8")
    assert all(f"assets/gallery-{name}.png" in page for name in names)
