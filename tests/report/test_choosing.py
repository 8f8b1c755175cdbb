"""Choosing a tree, in a real browser."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import goct
from goct.explore import explore
from goct.model import Model, Source
from goct.report.exploration import Exploration
from goct.report.html import write_report
from tests.support.models import HOSTILE
from tests.test_explore import describe, found, some_data

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: goct[browser]")

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]


@pytest.fixture(scope="module")
def made() -> Exploration:
    return found()


@pytest.fixture(scope="module")
def address(made: Exploration, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "explore.html"
    write_report(made, path)
    return path.as_uri()


def go(browser: Any, address: str) -> None:
    browser.get("about:blank")
    browser.get(address)
    deadline = time.monotonic() + 10
    while not text(browser, "summary"):
        assert time.monotonic() < deadline, "the page stays empty"
        time.sleep(0.02)


def text(browser: Any, name: str) -> str:
    found: str = browser.execute_script(
        "return document.getElementById(arguments[0]).textContent", name
    )
    return found


def put(browser: Any, name: str, value: str, event: str = "input") -> None:
    browser.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event(arguments[2], {bubbles: true}))",
        name,
        value,
        event,
    )


def errors(browser: Any, training: bool = True) -> tuple[int, int]:
    """Return the false negatives and false positives of the matrix that is shown."""
    cells = browser.execute_script(
        "return [...document.querySelectorAll('.matrix')[arguments[0]].querySelectorAll('tbody b')]"
        ".map(e => Number(e.textContent))",
        0 if training else 1,
    )
    (_, fp), (fn, _) = cells[:2], cells[2:]
    return fn, fp


def test_sizes(browser: Any, address: str, made: Exploration) -> None:
    go(browser, address)
    for place, size in enumerate(made.sizes):
        put(browser, "size", str(place))
        confusion = made.models[size.best].confusion()
        assert confusion is not None
        assert errors(browser) == (confusion.fn, confusion.fp)
        assert "proven" in text(browser, "summary")
        assert f"size={place}" in browser.current_url or "size" not in browser.current_url
    assert browser.get_log("browser") == []


@pytest.mark.parametrize(
    ("fn", "fp", "share"),
    [(1, 1, None), (10, 1, None), (1, 7.5, None), (3, 2, 10), (1, 1, 90)],
)
def test_prices_and_prevalence(
    browser: Any, address: str, fn: float, fp: float, share: float | None
) -> None:
    front = goct.frontier(some_data(0), 2)
    n_pos, n_neg = front.problem.n_pos, front.problem.n_neg
    go(browser, f"{address}#size=3")
    put(browser, "fn", str(fn))
    put(browser, "fp", str(fp))
    put(browser, "prevalence", "" if share is None else str(share))
    at = n_pos / (n_pos + n_neg) if share is None else share / 100
    best = front.for_prevalence(at, false_negative=fn, false_positive=fp).confusion

    def cost(misses: float, alarms: float) -> float:
        return float(at * fn * misses / n_pos + (1 - at) * fp * alarms / n_neg)

    assert cost(*errors(browser)) == pytest.approx(cost(best.fn, best.fp))
    assert "proven" in text(browser, "summary")
    assert "mode=cost" in browser.current_url


@pytest.mark.parametrize(
    ("keep", "goal"),
    [("recall >= 0.9", "f1"), ("fp <= 3", "accuracy"), ("precision >= 60 %, fn <= 30", "recall")],
)
def test_constraints(browser: Any, address: str, keep: str, goal: str) -> None:
    go(browser, f"{address}#size=2")
    put(browser, "goal", goal)
    put(browser, "keep", keep)
    wanted = [part.strip().replace("60 %", "0.6") for part in keep.split(",")]
    best = goct.solve(some_data(0), goal, 2, max_splits=2, constraints=wanted)
    fn, fp = errors(browser)
    problem = some_data(0)
    confusion = goct.metrics.Confusion(problem.n_pos - fn, fp, fn, problem.n_neg - fp)
    assert goct.metrics.get_metric(goal).value(confusion) == best.value
    assert "proven" in text(browser, "summary")


def test_a_wish_that_breaks_on_test_rows_is_said(browser: Any, address: str) -> None:
    go(browser, f"{address}#size=3")
    for keep in ("recall >= 0.7", "sensitivity >= 0.9", "fp <= 5"):
        put(browser, "keep", keep)
        problem = some_data(1)
        fn, fp = errors(browser, training=False)
        recall = 1 - fn / problem.n_pos
        kept = {"recall >= 0.7": recall >= 0.7, "fp <= 5": fp <= 5}.get(keep, recall >= 0.9)
        assert (f"On the test data it does not keep {keep}" in text(browser, "summary")) != kept
        row = "return document.querySelector('#by-size .goal').lastElementChild.textContent"
        assert browser.execute_script(row) == ("yes" if kept else "no")


def test_every_size_is_in_the_table(browser: Any, address: str, made: Exploration) -> None:
    go(browser, f"{address}#keep=recall+>%3D+0.8")
    read = (
        "return [...document.querySelectorAll('#by-size tbody tr')].map(r => r.children[1]"
        ".textContent.split(' ')[0] + ' ' + r.children[2].textContent.split(' ')[0])"
    )
    for place, shown in enumerate(browser.execute_script(read)):
        browser.execute_script(
            "document.querySelectorAll('#by-size tbody tr')[arguments[0]].click()", place
        )
        assert f"size={place}" in browser.current_url or place == made.start
        assert shown == "{} {}".format(*errors(browser))


def test_an_unfinished_front_is_said(browser: Any, made: Exploration, tmp_path: Path) -> None:
    sizes = tuple(replace(size, points=size.hull, has_front=False) for size in made.sizes)
    write_report(replace(made, sizes=sizes), tmp_path / "page.html")
    go(browser, f"{(tmp_path / 'page.html').as_uri()}#size=3")
    put(browser, "keep", "fp <= 5")
    words = "not all trades between misses and false alarms were found in time"
    assert words in text(browser, "summary")
    put(browser, "keep", "fp <= 0, fn <= 0")
    assert f"Not proven: {words}" in text(browser, "summary")
    put(browser, "keep", "recall >= 0.1")  # the best tree keeps it anyway
    assert "that is proven" in text(browser, "summary")


def test_sizes_without_operating_points_promise_nothing(
    browser: Any, made: Exploration, tmp_path: Path
) -> None:
    bare = replace(made.sizes[3], points=(), hull=(), has_hull=False, has_front=False)
    write_report(replace(made, sizes=(*made.sizes[:3], bare)), tmp_path / "page.html")
    go(browser, f"{(tmp_path / 'page.html').as_uri()}#size=3")
    assert "that is proven" in text(browser, "summary")
    for name, value in (("keep", "fp <= 5"), ("goal", "recall"), ("fn", "7")):
        go(browser, f"{(tmp_path / 'page.html').as_uri()}#size=3")
        put(browser, name, value)
        assert "that is proven" not in text(browser, "summary")
        assert "not all trades between misses and false alarms" in text(browser, "summary")
        fn, fp = errors(browser)  # of a smaller tree, if that is better
        smaller = [made.models[place].confusion() for place in made.sizes[2].points]
        if name == "keep":
            assert fp <= 5
        else:
            assert fn == min(c.fn for c in smaller if c is not None)


def test_without_scripts_it_is_a_report(browser: Any, address: str, made: Exploration) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get("about:blank")
        browser.get(address)
        shown = [e.text for e in browser.find_elements("css selector", "h2, noscript")]
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert "The tree" in shown
    assert "Try a row" not in shown
    assert any(f"holds {len(made.models)} trees" in words for words in shown)


def test_constraints_that_nothing_keeps(browser: Any, address: str) -> None:
    go(browser, address)
    put(browser, "keep", "fp <= 0, fn <= 0")
    assert "keeps fp <= 0, fn <= 0; that is proven" in text(browser, "summary")
    put(browser, "keep", "recal >= 0.9")
    assert "“recal >= 0.9” is not understood" in text(browser, "keep-note")
    put(browser, "keep", "")
    assert text(browser, "keep-note") == ""


def test_the_address_keeps_the_view(browser: Any, address: str) -> None:
    go(browser, address)
    put(browser, "size", "2")
    put(browser, "point", "1")
    put(browser, "row", "1", "change")
    shown = errors(browser), text(browser, "answer"), text(browser, "summary")
    url = browser.current_url
    go(browser, address)
    assert (errors(browser), text(browser, "answer"), text(browser, "summary")) != shown
    go(browser, url)
    assert (errors(browser), text(browser, "answer"), text(browser, "summary")) == shown


def test_another_size_stays_near(browser: Any, address: str, made: Exploration) -> None:
    go(browser, f"{address}#size=3")
    points = made.sizes[3].points
    put(browser, "point", str(len(points) // 2))
    before = errors(browser)
    put(browser, "size", "2")
    assert "mode=hand" in browser.current_url
    problem = some_data(0)

    def far(fn: float, fp: float) -> float:
        return float(abs(fn - before[0]) / problem.n_pos + abs(fp - before[1]) / problem.n_neg)

    others = [made.models[place].confusion() for place in made.sizes[2].points]
    nearest = min(far(c.fn, c.fp) for c in others if c is not None)
    assert far(*errors(browser)) == pytest.approx(nearest)


def test_rows_go_where_the_model_sends_them(browser: Any, address: str, made: Exploration) -> None:
    go(browser, address)
    for place, size in enumerate(made.sizes):
        put(browser, "size", str(place))
        model = made.models[size.best]
        for number, row in enumerate(made.rows):
            put(browser, "row", str(number), "change")
            if not model.columns or all(row[name] is None for name in model.columns):
                continue
            (label,) = model.predict({name: [row[name]] for name in row})
            assert f"Predicted: {label} " in text(browser, "answer")
            flips = _fewest_changes(model, row, label)
            words = text(browser, "flip")
            assert (
                words.startswith("No change")
                if flips is None
                else words.count(" and ") == flips - 1
            )


def _fewest_changes(model: Model, row: Any, label: Any) -> int | None:
    """Return how many columns must change for another label, by trying all rows."""
    names = list(model.columns)
    best = None
    for code in range(2 ** len(names)):
        values = {name: float(code >> j & 1) for j, name in enumerate(names)}
        (other,) = model.predict({name: [values[name]] for name in names})
        if other != label:
            matrix = model.matrix({n: [row[n], values[n]] for n in names})
            changed = int((matrix[0] != matrix[1]).sum())
            best = changed if best is None else min(best, changed)
    return best


def test_downloads(browser: Any, address: str, made: Exploration, tmp_path: Path) -> None:
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    go(browser, f"{address}#size=2")
    for kind in ("model", "rules", "sql", "python"):
        browser.find_element("css selector", f"[data-kind={kind}]").click()
    deadline = time.monotonic() + 10
    names = {"tree.json", "tree.txt", "tree.sql", "tree.py"}
    while {path.name for path in tmp_path.iterdir()} != names:
        assert time.monotonic() < deadline, list(tmp_path.iterdir())
        time.sleep(0.05)
    model = made.models[made.sizes[2].best]
    assert Model.load(tmp_path / "tree.json").tree == model.tree
    space: dict[str, Any] = {}
    exec((tmp_path / "tree.py").read_text(encoding="utf-8"), space)
    for row in made.rows:
        assert space["predict"](row) == model.predict({name: [row[name]] for name in row})[0]
    assert (tmp_path / "tree.sql").read_text(encoding="utf-8").startswith("CASE WHEN")


def test_keyboard(browser: Any, address: str) -> None:
    go(browser, f"{address}#size=1")
    slider = browser.find_element("id", "size")
    slider.send_keys(webdriver.Keys.ARROW_RIGHT)
    assert text(browser, "size-word") == "2"
    slider.send_keys(webdriver.Keys.HOME)
    assert text(browser, "size-word") == "0"
    assert "size=0" in browser.current_url


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_sticks_out(browser: Any, tmp_path: Path, width: int) -> None:
    long = "x" * 1000
    hostile = explore_names([HOSTILE, long, "\u202eright to left", "🌲" * 30])
    write_report(hostile, tmp_path / "page.html")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    try:
        go(browser, (tmp_path / "page.html").as_uri())
        put(browser, "row", "0", "change")
        across = browser.execute_script("return document.documentElement.scrollWidth")
        assert across <= width
        assert browser.execute_script("return typeof window.hurt") == "undefined"
        assert browser.get_log("browser") == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def explore_names(columns: list[str]) -> Exploration:
    path = goct.path(some_data(0, classes=("no", columns[1][:200])), "f1", 2)
    rows = [dict.fromkeys(columns, 1.0)]
    return explore(path, lambda s: describe(s, columns, Source(HOSTILE, "t")), rows=rows)


@pytest.mark.parametrize("limit", ["false_positives <= 30", "kappa >= 0.05"])
def test_pages_of_any_constraint(limit: str, browser: Any, tmp_path: Path) -> None:
    path = goct.path(some_data(0), "f1", 2, constraints=[limit])
    write_report(explore(path, describe, test=some_data(1)), tmp_path / "page.html")
    go(browser, (tmp_path / "page.html").as_uri())
    assert text(browser, "summary").startswith("Shownthe best f1")
    assert "not understood" not in text(browser, "facts")
