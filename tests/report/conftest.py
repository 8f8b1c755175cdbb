"""Chromium with its driver, as Debian packs them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver: Any = pytest.importorskip(
        "selenium.webdriver", reason="needs selenium: goct[browser]"
    )
    if BROWSER is None or DRIVER is None:
        pytest.skip("needs chromium and chromedriver (chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()
