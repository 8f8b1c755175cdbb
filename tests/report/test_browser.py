"""The report in a real browser: Chromium with its driver, as Debian packs them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goct.model import Model
from goct.report.html import write_report
from tests.support.models import hostile_model, random_model, small_model
from tests.test_explore import found

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: goct[browser]")

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def deep_model() -> Model:
    return random_model(np.random.default_rng(1), depth=5, classes=("no", "yes"))


def show(browser: Any, model: Model, folder: Path) -> None:
    path = folder / "report.html"
    write_report(model, path)
    browser.get(path.as_uri())


def shown(browser: Any) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll('.detail')]"
        ".filter(e => e.getClientRects().length).map(e => e.id)"
    )


def test_clicking_shows_the_node(browser: Any, deep_model: Model, tmp_path: Path) -> None:
    show(browser, deep_model, tmp_path)
    assert shown(browser) == ["node-0"]
    last = deep_model.tree.splits + deep_model.tree.n_leaves - 1
    node = browser.find_element("css selector", f'a.node[data-node="{last}"] rect')
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
    webdriver.ActionChains(browser).move_to_element(node).click().perform()
    assert shown(browser) == [f"node-{last}"]
    lit = browser.find_elements("css selector", ".line.on")
    parents = deep_model.tree.parents
    steps, at = 0, last
    while (parent := parents[at]) is not None:
        steps, at = steps + 1, parent[0]
    assert len(lit) == steps
    detail = browser.find_element("id", f"node-{last}").text
    total = sum(deep_model.train.counts[last])
    assert f"{total} training rows" in detail
    assert f"{total} test rows" in detail


def test_walking_with_the_arrow_keys(browser: Any, deep_model: Model, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    show(browser, deep_model, tmp_path)
    browser.execute_script("document.querySelector('a.node').focus()")
    keys = webdriver.ActionChains(browser)
    keys.send_keys(Keys.ARROW_RIGHT).perform()
    assert shown(browser) == ["node-1"]
    keys.send_keys(Keys.ARROW_DOWN).perform()
    right = deep_model.tree.parents.index((0, True))
    assert shown(browser) == [f"node-{right}"]
    keys.send_keys(Keys.ARROW_LEFT).perform()
    assert shown(browser) == ["node-0"]


def test_hostile_names_run_nothing(browser: Any, tmp_path: Path) -> None:
    show(browser, hostile_model(), tmp_path)
    assert browser.execute_script("return document.scripts.length") == 2  # one is data
    assert "<script>alert" in browser.find_element("tag name", "h1").text


def test_no_complaints_and_no_requests(browser: Any, deep_model: Model, tmp_path: Path) -> None:
    browser.get_log("browser")
    show(browser, deep_model, tmp_path)
    assert browser.get_log("browser") == []  # a breach of the policy would be here
    requests = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert requests == 0


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_is_not_wider_than_the_window(
    browser: Any, deep_model: Model, tmp_path: Path, width: int
) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    show(browser, deep_model, tmp_path)
    real = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert real <= width


def test_text_stays_inside_its_box(browser: Any, deep_model: Model, tmp_path: Path) -> None:
    show(browser, deep_model, tmp_path)
    outside = browser.execute_script(
        "return [...document.querySelectorAll('a.node')].filter(n => {"
        " const box = n.querySelector('.box').getBoundingClientRect();"
        " return [...n.querySelectorAll('text')].some(t => {"
        "  const r = t.getBoundingClientRect();"
        "  return r.left < box.left || r.right > box.right || r.top < box.top"
        "   || r.bottom > box.bottom; }); }).map(n => n.textContent)"
    )
    assert outside == []


@pytest.mark.slow
def test_dark_mode(browser: Any, deep_model: Model, tmp_path: Path) -> None:
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    show(browser, deep_model, tmp_path)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert max(map(int, paper[4:-1].split(","))) < 60


def axe_source() -> str:
    """Return the script of axe-core, which looks for what keeps people from using a page."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("needs axe-core, of pip install axe-playwright-python")
    return (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("n_classes", [2, 50])
def test_everybody_can_use_it(browser: Any, tmp_path: Path, scheme: str, n_classes: int) -> None:
    axe = axe_source()
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    if n_classes == 2:
        write_report(found(), tmp_path / "report.html")
        browser.get((tmp_path / "report.html").as_uri())
    else:
        show(browser, small_model(tuple(f"class {k}" for k in range(n_classes))), tmp_path)
    browser.execute_script(axe)
    result = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in result["violations"]] == []
