from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from goct.citation import PAPER, bibtex
from goct.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
LINK = "https://arxiv.org/abs/2602.02173"


def test_bibtex_has_software_and_paper() -> None:
    text = bibtex()
    assert version("goct") in text
    assert LINK in text
    assert text.count("{") == text.count("}")
    assert CliRunner().invoke(app, ["version", "--cite"]).output.strip() == text


@pytest.mark.parametrize(
    "name", ["README.md", "CITATION.cff", "docs/index.md", "docs/explanation/errata.md"]
)
def test_the_paper_is_named(name: str) -> None:
    if not (ROOT / name).exists():
        pytest.skip(f"no {name} beside the tests")
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "Generalized Optimal Classification Trees: A Mixed-Integer Programming Approach" in text
    assert LINK in text
    assert LINK in PAPER


def test_the_version_is_the_same_everywhere() -> None:
    if not (ROOT / "CITATION.cff").exists():
        pytest.skip("no CITATION.cff beside the tests")
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version('goct')}\n" in text
