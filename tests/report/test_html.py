from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goct.report
from goct.binarize.conditions import After
from goct.model import ColumnInfo, Part, Proof, Quantity
from goct.report import html
from goct.report.exploration import Exploration
from goct.report.html import report_html, write_report
from goct.report.intervals import interval_words, wilson
from goct.tree import Leaf, Tree
from tests.support.models import HOSTILE, hostile_model, model_of, random_model, small_model

VOID = {"meta", "br", "rect", "path"}


class Outline(HTMLParser):
    """Checks that elements are nested properly, and collects what a browser would act on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts = 0
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        self.scripts += tag == "script"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_hostile_names_are_only_text() -> None:
    page = Outline(report_html(hostile_model()))
    assert page.scripts == 2  # one of them is data
    assert any(HOSTILE in words for words in page.words)
    assert not any(name.startswith("on") or name == "style" for name, _ in page.attributes)


def test_nothing_comes_from_elsewhere() -> None:
    text = report_html(small_model())
    page = Outline(text)
    for name, value in page.attributes:
        if name in ("href", "src", "xlink:href", "action"):
            assert value is not None
            assert value.startswith("#")
    assert not re.search(r"https?:|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("seed", range(6))
def test_random_models(seed: int) -> None:
    classes = [("no", "yes"), (0, 1, 2), (False, True)][seed % 3]
    model = random_model(np.random.default_rng(seed), depth=seed, classes=classes)
    text = report_html(model)
    Outline(text)
    assert text.count('class="detail"') == model.tree.splits + model.tree.n_leaves


def test_what_is_proven_is_said_in_words() -> None:
    model = small_model()
    text = report_html(model)
    assert "Not proven optimal" in text
    assert "the time limit was reached" in text
    close = replace(model, proof=replace(model.proof, limit="gap"))
    assert "because the tree is as close to the best as was asked for" in report_html(close)
    best = model.train.value
    assert best is not None
    proof = replace(model.proof, objective=best, bound=best, status="optimal", limit="none")
    text = report_html(replace(model, proof=proof))
    assert "Proven optimal" in text
    assert "No tree of depth 6 or less over these 12 conditions that keeps recall" in text


def test_without_a_test_part_and_rivals() -> None:
    text = report_html(replace(small_model(), test=None, rivals=()))
    assert "Test data" not in text
    assert "CART" not in text.split("<script")[0]
    assert "--test-size" in text


def test_a_tree_without_splits() -> None:
    names = tuple(c.name for c in small_model().conditions)
    Outline(report_html(model_of(Tree(Leaf(0), ("no", "yes"), names))))


def test_rows_that_nobody_reaches_and_negative_metrics() -> None:
    model = small_model()
    empty = replace(model.train, counts=tuple((0, 0) for _ in model.train.counts), value=None)
    Outline(report_html(replace(model, train=empty, test=empty)))
    cost = replace(model.proof, objective=Quantity(-12.5), bound=Quantity(-3.0))
    train = replace(model.train, value=Quantity(-12.5))
    Outline(report_html(replace(model, train=train, proof=cost)))


def test_written_whole(tmp_path: Path) -> None:
    write_report(small_model(), tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report_html(small_model())


def test_columns_that_only_ask_for_missing_values() -> None:
    model = small_model()
    columns = {**model.columns, "other": ColumnInfo("unknown")}
    Outline(report_html(replace(model, columns=columns)))


def test_what_does_not_hold_on_new_rows_is_said() -> None:
    model = small_model()
    yes, no = model.classes.index("yes"), model.classes.index("no")
    good = tuple(
        tuple((9, 0)[k] if node.label == no else (0, 9)[k] for k in range(2))
        if isinstance(node, Leaf)
        else (0, 0)
        for node in model.tree.nodes()
    )

    def part(counts: Any) -> Part:
        sums = [list(entry) for entry in counts]
        for i, parent in reversed(list(enumerate(model.tree.parents))):
            if parent is not None:
                sums[parent[0]] = [a + b for a, b in zip(sums[parent[0]], sums[i], strict=True)]
        total = sum(map(sum, counts))
        right = sum(c[n.label] for c, n in zip(counts, model.tree.nodes(), strict=True)
                    if isinstance(n, Leaf))  # fmt: skip
        return Part(tuple(map(tuple, sums)), Quantity(right / total))

    bad = tuple(tuple(reversed(entry)) for entry in good)
    perfect = replace(
        model,
        proof=Proof(Quantity(1.0), Quantity(1.0), "optimal"),
        train=part(good),
        test=part(good),
        notes=("column 'id' is left out <b>",),
    )
    text = report_html(perfect)
    assert "not on the test data" not in text
    assert "by heart" not in text
    assert "column &#39;id&#39; is left out &lt;b&gt;" in text
    broken = report_html(replace(perfect, test=part(bad)))
    assert "recall &gt;= 0.9 holds on the training data, but not on the test data" in broken
    assert "there it is 0." in broken
    assert "by heart" in broken
    assert yes != no


def test_scores_on_the_test_data_have_intervals() -> None:
    model = small_model()
    confusion = model.confusion(model.test)
    assert confusion is not None
    words = interval_words(confusion.tp, confusion.n_pos)
    assert f'<span class="fine range">{words}</span>' in report_html(model)
    assert '<span class="fine range">' not in report_html(replace(model, test=None))


def test_intervals() -> None:
    assert wilson(0, 0) is None
    assert interval_words(0, 0) == ""
    # From the literature: 81 of 263 gives 0.2553 to 0.3662 (Newcombe 1998, method 3).
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert interval_words(20, 20) == "83.9–100.0 %"


def test_a_hundred_classes_and_names_of_a_thousand_letters() -> None:
    model = small_model(tuple(f"{k:03d}" + "x" * 1000 for k in range(100)))
    text = report_html(model)
    assert len(text.encode()) < 5_000_000
    assert len(set(re.findall(r"\.k\d+\{--class:(#[0-9a-f]{6})", text))) == 100
    shown = re.sub(r"x{1000}", "", text.split("<script")[0])
    assert not re.search(r"\bnan\b", shown.lower())


def run_node(files: str, ask: str) -> Any:
    """Return what an expression is worth to the scripts of the page."""
    folder = Path(goct.report.__file__).parent
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in files.split())
    command = ["node", "-e", f"{script}\nconsole.log(JSON.stringify({ask}))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


@needs_node
@pytest.mark.parametrize(
    ("metric", "proven"), [("f1", True), ("gmean", False), ("dor", False), ("my own", False)]
)
def test_the_hull_proves_only_what_is_best_on_it(metric: str, proven: bool) -> None:
    model = small_model()
    model = replace(model, question=replace(model.question, metric=metric))
    known = html._data(Exploration.of(model), [])
    tree = {"train": [9, 1, 1, 9], "value": 0.9}
    size = {"splits": 1, "best": 0, "points": [0], "hull": [0], "proven": False, "hasHull": True,
            "hasFront": False}  # fmt: skip
    data = {**known, "keep": "recall >= 0.95", "trees": [tree], "sizes": [size]}
    state = {"mode": "goal", "goal": metric, "keep": "", "size": 0}
    ask = f"choose({json.dumps(data)}, {json.dumps(size)}, {json.dumps(state)})"
    assert run_node("metrics.js choice.js", ask)["proven"] is proven


@needs_node
@pytest.mark.parametrize("moment", ["2024-03-01", "2024-03-01T12", "2024-03-01T12:30:00.5"])
def test_the_page_sends_dates_where_the_tree_does(moment: str) -> None:
    condition = After("joined", moment)
    values = [
        np.datetime64(text, "us")
        for text in ("2024-02-29T23:59", "2024-03-01", "2024-03-01T00:00:00.000001",
                     "2024-03-01T12", "2024-03-01T12:30:00.45", "2024-03-01T12:30:00.5",
                     "2024-03-01T12:30:01", "2024-03-02")
    ]  # fmt: skip
    asked = f"{json.dumps(condition.to_dict())}, {json.dumps([str(value) for value in values])}"
    ask = f"((asked, cells) => cells.map((cell) => holds(asked, cell)))({asked})"
    assert run_node("what_if.js", ask) == condition.holds(np.array(values)).tolist()
