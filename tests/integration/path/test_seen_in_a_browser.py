"""The controller's page in a real browser: what happens is seen without a reload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.support.demo import ROOT, Demo
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.lab, pytest.mark.browser]

ARTEFACTS = ROOT / "var/test"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """Debian's chromium without a screen, at a desktop's width."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--window-size=1280,900", f"--user-data-dir={tmp_path / 'profile'}",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path="/usr/bin/chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def _sign_in(browser: webdriver.Chrome, demo: Demo) -> None:
    browser.get(demo.env["MARGRAVE_URL"] + "/")
    browser.find_element(By.NAME, "user").send_keys(demo.env["MARGRAVE_USER"])
    browser.find_element(By.NAME, "password").send_keys(demo.env["MARGRAVE_PASSWORD"])
    browser.find_element(By.CSS_SELECTOR, "form button[type=submit]").click()


def _page(browser: webdriver.Chrome) -> str:
    return str(browser.execute_script("return document.getElementById('main').innerText"))


def _shot(browser: webdriver.Chrome, name: str) -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(ARTEFACTS / name))


def test_an_update_is_seen_happening_without_a_reload(
    demo: Demo, browser: webdriver.Chrome
) -> None:
    """Signed in, the page shows an update beginning, going on and ending, all by itself."""
    wait = ("--wait", "--timeout", "120s")
    demo.done("deploy", "storefront@1.0.0", "--site", "harbor", "--site", "depot", *wait)
    _sign_in(browser, demo)
    eventually(lambda: "storefront" in _page(browser), 10, "the page shows the deployment")
    browser.execute_script("window.sameDocument = true")
    _shot(browser, "page-before.png")

    demo.done("deployment", "update", "storefront", "--version", "1.1.0")

    eventually(lambda: "UPDATING" in _table(browser), 30, "the update is seen")
    _shot(browser, "page-updating.png")
    eventually(
        lambda: "UPDATING" not in _table(browser) and _table(browser).count("1.1.0") >= 3,
        90,
        "its end is seen",
    )
    _shot(browser, "page-updated.png")
    assert browser.execute_script("return window.sameDocument") is True
    logs: list[Any] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    assert [entry["message"] for entry in logs if entry["level"] == "SEVERE"] == []


def _table(browser: webdriver.Chrome) -> str:
    """What the tables say, taken in one go: the page may put new ones in their place meanwhile."""
    return str(
        browser.execute_script(
            "return [...document.querySelectorAll('#main tbody')].map(t => t.innerText).join('\\n')"
        )
    )


def test_a_wrong_password_is_refused_in_words(demo: Demo, browser: webdriver.Chrome) -> None:
    """The sign-in form says what is wrong and lets nobody in."""
    browser.get(demo.env["MARGRAVE_URL"] + "/")
    browser.find_element(By.NAME, "user").send_keys("admin")
    browser.find_element(By.NAME, "password").send_keys("wrong")
    browser.find_element(By.CSS_SELECTOR, "form button[type=submit]").click()

    eventually(lambda: bool(browser.find_elements(By.CSS_SELECTOR, "[role=alert]")), 10, "told")
    assert "storefront" not in _page(browser)
