"""The examples of the README and of the pages print what is there, and links lead somewhere."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from goct import OptimalTreeClassifier, OptimalTreeClassifierCV, frontier, path, solve
from goct.bench.render import MOST_WORDS, count_words
from goct.mip.options import KEYWORDS
from goct.search import solve_search

DOCS = Path(__file__).resolve().parents[1] / "docs"
if not DOCS.exists():
    pytest.skip("no documentation beside the tests", allow_module_level=True)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


examples, cli_options = load("examples"), load("cli_options")


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


@pytest.mark.parametrize("page", examples.pages(), ids=lambda page: page.stem)
def test_one_subject_a_page(page) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize(
    "page", sorted((DOCS / "results").glob("*.md")), ids=lambda page: page.stem
)
def test_recorded_pages_are_short(page) -> None:
    assert count_words(page.read_text(encoding="utf-8")) <= MOST_WORDS


def test_every_page_is_in_the_contents() -> None:
    for kind in examples.KINDS:
        contents = (DOCS / kind / "index.md").read_text(encoding="utf-8")
        for page in (DOCS / kind).glob("*.md"):
            assert page.stem == "index" or f"({page.name})" in contents, page


@pytest.mark.parametrize(
    "page", sorted((DOCS / "reference" / "api").glob("*.md")), ids=lambda page: page.stem
)
def test_what_the_api_pages_name_exists(page) -> None:
    for name in re.findall(r"^\.\. auto\w+:: ([\w.]+)$", page.read_text(), re.MULTILINE):
        module, _, member = name.rpartition(".")
        assert hasattr(importlib.import_module(module), member), name


def test_every_option_of_the_commands_is_listed() -> None:
    text = cli_options.markdown()
    for name, command in cli_options.commands():
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            row = next(row for row in section.splitlines() if _names(parameter, row))
            assert len(row.split("|")[-2].split()) > 1, f"{name} {parameter.name} is not explained"


def _names(parameter, row: str) -> bool:
    words = {*parameter.opts, parameter.name, parameter.name.upper()}
    return row.startswith("| `") and not words.isdisjoint(re.split(r"[^\w-]+", row.split("|")[1]))


@pytest.mark.parametrize(
    "public",
    [OptimalTreeClassifier, OptimalTreeClassifierCV, solve, solve_search, frontier, path],
    ids=lambda public: public.__name__,
)
def test_every_parameter_is_explained(public) -> None:
    explained = re.findall(
        r"^ *(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", public.__doc__, re.MULTILINE
    )
    names = {name.strip("* ") for line in explained for name in line.split(",")}
    assert set(inspect.signature(public).parameters) - names == set()


def test_every_option_of_the_engines_is_listed() -> None:
    page = (DOCS / "reference" / "engine-options.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert {"fewest_splits", "tie_share", "n_jobs", "memory_limit", "techniques"} <= known
    assert set(KEYWORDS) - {"threads"} <= known
