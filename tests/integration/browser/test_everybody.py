"""Pages for everybody: axe-core finds nothing to complain of on any of them, light or dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from werkzeug.routing import Map, Rule

from controller.pages.views import PAGES
from tests.integration.browser.conftest import complaints, foreign
from tests.integration.browser.fleet import PASSWORD, empty, sign_in, text
from tests.integration.browser.hands import LONG, press
from tests.integration.browser.screenshots import scheme
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "vendored/axe.min.js"
# One page for each thing that is drawn; the others are made of the same.
EACH_KIND = (
    "overview", "deployments", "rolled-back", "compare", "update", "many", "deploy", "app",
    "sources", "site", "node", "activity", "request", "settings", "nodes", "history", "repository",
)  # fmt: skip
ALL_COLOURS = {"overview", "rolled-back", "compare", "settings"}
# Plain text, which a browser shows as it likes.
NO_PAGE = {"log"}
# What a viewer is not offered, and is refused.
NOT_FOR_VIEWERS = {
    "update", "rollback", "delete", "many", "deploy", "deploy-choose", "audit", "settings",
    "tokens", "controller",
}  # fmt: skip
# All of WCAG 2.2 AA and axe's best practices; of the dark form only what differs: its colours.
WHOLE = "{resultTypes: ['violations']}"
COLOURS = "{runOnly: ['color-contrast'], resultTypes: ['violations']}"


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core's script."""
    return AXE.read_text()


def _violations(browser: webdriver.Chrome, options: str) -> str:
    script = (
        f"axe.run(document, {options}).then(found => found.violations.map(one => one.id + ': ' +"
        " one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')).join('; '))"
    )
    return str(_evaluated(browser, script))


def _evaluated(browser: webdriver.Chrome, script: str) -> Any:
    # By the debugger's door: the page's own policy lets no script in, and is not to be widened.
    asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
    answer: dict[str, Any] = browser.execute_cdp_cmd("Runtime.evaluate", asked)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


def _look(browser: webdriver.Chrome, axe: str, *, dark: bool) -> str:
    """What is wrong with what is shown: by day with all rules, by night with those of colour."""
    scheme(browser, "light")
    _evaluated(browser, f"{axe}; true")
    found = _violations(browser, WHOLE)
    if dark:
        scheme(browser, "dark")
        found += _violations(browser, COLOURS)
    scheme(browser, "")
    return found


def _check_all(
    browser: webdriver.Chrome, url: str, axe: str, light: Iterable[tuple[str, str]], dark: set[str]
) -> None:
    found = {}
    for name, path in light:
        browser.get(url + path)
        found[name] = _look(browser, axe, dark=name in dark)
    # One of the pages is one that is not there, and the browser says so.
    assert [one for one in complaints(browser) if "404" not in one] == []
    assert {name: told for name, told in found.items() if told} == {}


def test_every_page_is_looked_at(pages: dict[str, str]) -> None:
    """A page that is added and not looked at is a page that nobody has seen."""
    listed = [path for path, methods, _ in PAGES if "GET" in methods]
    known = Map([Rule(path, endpoint=path) for path in listed]).bind("localhost")
    seen = {known.match(path.partition("?")[0])[0] for path in pages.values()}
    assert seen == set(listed)


def test_no_kind_of_page_shuts_anybody_out(
    browser: webdriver.Chrome, fleet: Fleet, axe: str, pages: dict[str, str]
) -> None:
    """A page of each kind, and by night those that have all the colours."""
    each = [(name, pages[name]) for name in EACH_KIND]
    _check_all(browser, fleet.controller.url, axe, each, ALL_COLOURS)


def test_what_asks_again_and_the_way_in_shut_nobody_out(
    browser: webdriver.Chrome, fleet: Fleet, axe: str, pages: dict[str, str]
) -> None:
    """The question before what cannot be taken back, with its plan, and the form of signing in."""
    browser.get(f"{fleet.controller.url}/sites/depot")
    press(browser, "Drain")
    eventually(lambda: "Drain depot?" in text(browser, "h1"), LONG, "it is asked again")
    assert "door" in text(browser, "#plan")
    assert _look(browser, axe, dark=True) == ""
    browser.delete_all_cookies()
    browser.get(f"{fleet.controller.url}/sites")
    assert "Sign in" in text(browser, "h1")
    assert _look(browser, axe, dark=True) == ""


@pytest.mark.full
def test_no_page_shuts_anybody_out(
    browser: webdriver.Chrome, fleet: Fleet, axe: str, pages: dict[str, str]
) -> None:
    """Every page, by day and by night."""
    each = [(name, path) for name, path in pages.items() if name not in NO_PAGE]
    _check_all(browser, fleet.controller.url, axe, each, set(pages))


@pytest.mark.full
def test_no_page_shuts_a_viewer_out(
    browser: webdriver.Chrome, fleet: Fleet, axe: str, pages: dict[str, str]
) -> None:
    """As who only reads sees them: without ticks and buttons."""
    url = fleet.controller.url
    sign_in(browser, url, "vera", PASSWORD)
    complaints(browser)
    for_them = set(pages) - NO_PAGE - NOT_FOR_VIEWERS
    _check_all(browser, url, axe, [(name, pages[name]) for name in sorted(for_them)], for_them)


@pytest.mark.full
def test_the_first_day_shuts_nobody_out(
    chromium: webdriver.Chrome, axe: str, tmp_path: Path
) -> None:
    """Where there is nothing yet, each page says what to do, by day and by night."""
    with empty(tmp_path) as controller:
        sign_in(chromium, controller.url, controller.user, controller.password)
        complaints(chromium)
        paths = [path for path, methods, _ in PAGES if "GET" in methods and "<" not in path]
        _check_all(chromium, controller.url, axe, [(path, path) for path in paths], set(paths))
        chromium.get("about:blank")  # nobody asks for its stream when it has gone
        foreign(chromium, controller.url)


def test_bars_are_seen(browser: webdriver.Chrome, fleet: Fleet, pages: dict[str, str]) -> None:
    """What a rollout's bar tells is drawn, and not only told below it."""
    tall = (
        "return [...document.querySelectorAll('svg.bar rect')]"
        ".map(one => one.getBoundingClientRect().height)"
    )
    for name in ("overview", "rolled-back", "request"):
        browser.get(fleet.controller.url + pages[name])
        drawn = browser.execute_script(tall)
        assert drawn and min(drawn) >= 8, name


def test_all_of_it_by_keyboard(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The first stop leads past the head, what has the focus is seen, Escape closes a menu."""
    browser.get(f"{fleet.controller.url}/sites/harbor")
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    first = browser.switch_to.active_element
    assert first.text == "Skip to content"
    assert browser.execute_script("return arguments[0].getBoundingClientRect().left >= 0", first)
    first.send_keys(Keys.ENTER)
    eventually(
        lambda: browser.execute_script("return document.activeElement.id") == "main", 30, "there"
    )
    menu = browser.find_element(By.CSS_SELECTOR, "#pause summary")
    menu.send_keys(Keys.ENTER)
    eventually(lambda: "Pause the site" in text(browser, "#pause"), 30, "the menu is open")
    browser.find_element(By.NAME, "reason").send_keys(Keys.ESCAPE)
    eventually(lambda: "Pause the site" not in text(browser, "#pause"), 30, "and closed")
    assert browser.switch_to.active_element.tag_name == "summary"


def test_nothing_is_wider_than_a_phone(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """At 375 pixels no page has to be moved sideways; tables scroll for themselves."""
    device = {"width": 375, "height": 812, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    try:
        wide = []
        for path in (
            "/", "/deployments", "/deploy?app=kiosk", "/sites", "/sites/harbor", "/nodes",
            "/settings",
        ):  # fmt: skip
            browser.get(fleet.controller.url + path)
            width = browser.execute_script("return document.documentElement.scrollWidth")
            if width > 375:
                wide.append((path, width))
        assert wide == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
