"""The examples of the README and of the pages print what is there, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

_PATH = Path(__file__).resolve().parents[1] / "docs" / "_ext" / "examples.py"
_SPEC = importlib.util.spec_from_file_location("examples", _PATH)
assert _SPEC is not None
assert _SPEC.loader is not None
examples = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(examples)


@pytest.mark.slow
@pytest.mark.parametrize("page", examples.pages(), ids=lambda page: page.stem)
def test_examples(page) -> None:
    _, differences = examples.run(page.read_text(encoding="utf-8"), page.name)
    assert differences == []


@pytest.mark.parametrize("page", examples.pages(), ids=lambda page: page.stem)
def test_links(page) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)#\s]+)", text)
    missing = [name for name in targets if "://" not in name and not (page.parent / name).exists()]
    assert missing == []
