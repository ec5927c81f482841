"""Acting on many from the list: ticked, planned, done; with a script and without one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.by import By

from tests.integration.browser.conftest import complaints
from tests.integration.browser.fleet import PASSWORD, sign_in, text
from tests.integration.browser.hands import LONG, choose, not_loaded_again, open_page, press
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

pytestmark = pytest.mark.browser


def _tick(browser: webdriver.Chrome, ids: list[str], site: str) -> None:
    for one in ids:
        browser.find_element(By.CSS_SELECTOR, f"input[name=pick][value='{one}@{site}']").click()


def _ticked(browser: webdriver.Chrome) -> set[str]:
    boxes = browser.find_elements(By.CSS_SELECTOR, "input[name=pick]:checked")
    return {str(one.get_attribute("value")) for one in boxes}


def _versions(fleet: Fleet, ids: list[str]) -> list[str]:
    with fleet.controller.api as api:
        return [api.get(f"/deployments/{one}").json()["version"] for one in ids]


@contextmanager
def _without_a_script(browser: webdriver.Chrome) -> Iterator[None]:
    """As with a browser that runs none: nothing of the page's own moves it."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_those_that_are_ticked_are_updated(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """Ticks stay while the list changes under them; the plan names both, and both change."""
    ids = [fleet.deploy(f"many-{name}", "depot") for name in ("a", "b", "c")]
    open_page(browser, fleet, "/deployments?q=many-")
    _tick(browser, ids[:2], "depot")
    eventually(lambda: "With the 2 ticked" in text(browser, ".bar"), LONG, "they are counted")
    fleet.deploy("many-d", "depot")
    eventually(lambda: "many-d" in text(browser, "#found"), LONG, "a row comes in above them")
    assert _ticked(browser) == {f"{one}@depot" for one in ids[:2]}
    assert not_loaded_again(browser)

    press(browser, "Update")
    eventually(lambda: "Update 2 deployments" in text(browser, "h1"), LONG, "they are asked about")
    browser.execute_script("window.sameDocument = true")
    choose(browser, "version", "1.1.0")
    change = "1.0.0 becomes 1.1.0"
    eventually(lambda: text(browser, "#plan").count(change) == 2, LONG, "the plan is shown")
    for name, here in (("many-a", True), ("many-b", True), ("many-c", False)):
        assert (name in text(browser, "#plan")) is here
    assert not_loaded_again(browser)
    assert _versions(fleet, ids) == ["1.0.0"] * 3  # a plan does nothing

    press(browser, "Update 2")
    eventually(lambda: "/requests/" in browser.current_url, LONG, "one request for both")
    for one in ids[:2]:
        fleet.settled(one, "1.1.0")
    assert _versions(fleet, ids) == ["1.1.0", "1.1.0", "1.0.0"]


def test_all_of_them_without_a_script(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The same way by forms alone: filter, all that match, the plan on a page, the act."""
    ids = [fleet.deploy(f"plain-{name}", "depot") for name in ("a", "b")]
    other = fleet.deploy("elsewhere", "depot")
    with _without_a_script(browser):
        browser.get(f"{fleet.controller.url}/deployments")
        assert browser.execute_script("return typeof window.htmx") == "undefined"
        browser.find_element(By.NAME, "q").send_keys("plain-")
        press(browser, "Show")
        eventually(lambda: "q=plain-" in browser.current_url, LONG, "the list is filtered")
        browser.find_element(By.NAME, "all").click()
        press(browser, "Update")
        eventually(lambda: "/act/update" in browser.current_url, LONG, "they are asked about")
        choose(browser, "version", "1.1.0")
        press(browser, "Show the plan")
        plan = "//*[@id='plan'][contains(., '1.0.0 becomes 1.1.0')]"
        eventually(lambda: browser.find_elements(By.XPATH, plan) != [], LONG, "the plan is shown")
        assert "elsewhere" not in browser.find_element(By.ID, "plan").text
        press(browser, "Update 2")
        eventually(lambda: "/requests/" in browser.current_url, LONG, "one request for both")
    for one in ids:
        fleet.settled(one, "1.1.0")
    assert _versions(fleet, [*ids, other]) == ["1.1.0", "1.1.0", "1.0.0"]


def test_a_viewer_is_not_offered_it(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The list is there to be read, without ticks or buttons; asked all the same, it is refused."""
    one = fleet.deploy("watched", "depot")
    sign_in(browser, fleet.controller.url, "vera", PASSWORD)
    open_page(browser, fleet, "/deployments?q=watched")
    assert "watched" in text(browser, "#found")
    assert (
        browser.find_elements(
            By.CSS_SELECTOR, "[name=pick], [data-all], .bar, main form#many button"
        )
        == []
    )
    open_page(browser, fleet, f"/deployments/act/delete?pick={one}@depot")
    assert "needs the role operator" in text(browser)
    assert [said for said in complaints(browser) if "403" not in said] == []
