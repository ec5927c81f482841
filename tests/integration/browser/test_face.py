"""Pages in a real browser, with a real controller and sites that report: what people do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.by import By

from tests.integration.browser.conftest import complaints
from tests.integration.browser.fleet import PASSWORD, sign_in, text
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

pytestmark = pytest.mark.browser
LONG = 120  # seconds that a busy machine may need


def _open(browser: webdriver.Chrome, fleet: Fleet, path: str) -> None:
    browser.get(fleet.controller.url + path)
    browser.execute_script("window.sameDocument = true")


def _not_loaded_again(browser: webdriver.Chrome) -> bool:
    return browser.execute_script("return window.sameDocument") is True


def _type(browser: webdriver.Chrome, name: str, words: str) -> None:
    field = browser.find_element(By.NAME, name)
    field.clear()
    field.send_keys(words)


def _press(browser: webdriver.Chrome, word: str) -> None:
    """Press a button of the page's own part by its word."""
    buttons = browser.find_elements(By.CSS_SELECTOR, "main button, main .button")
    next(one for one in buttons if one.text.strip() == word and one.is_displayed()).click()


def _deployment(browser: webdriver.Chrome) -> str:
    return browser.current_url.partition("/deployments/")[2].partition("?")[0]


def test_a_form_is_checked_as_one_types_and_then_deploys(
    browser: webdriver.Chrome, fleet: Fleet
) -> None:
    """A wrong value is told at its field, a right one makes the plan; the rest is seen live."""
    _open(browser, fleet, "/deploy?app=kiosk&version=1.0.0")
    browser.find_element(By.CSS_SELECTOR, "input[name=sites][value=harbor]").click()
    _type(browser, "name", "typed")
    _type(browser, "p.greeting", "x" * 41)
    eventually(
        lambda: "has 41 characters: write 40 at most" in text(browser, "#f-greeting"), LONG, "told"
    )
    assert browser.find_element(By.NAME, "p.greeting").get_attribute("value") == "x" * 41
    _type(browser, "p.greeting", "ahoy")
    eventually(lambda: "has 41" not in text(browser, "#f-greeting"), LONG, "the error is gone")
    eventually(lambda: "harbor-2" in text(browser, "#plan"), LONG, "the plan names the nodes")
    same = {
        "app": "kiosk",
        "version": "1.0.0",
        "name": "typed",
        "targets": {"sites": ["harbor"]},
        "parameters": {"greeting": "ahoy"},
    }
    plan = fleet.controller.post("/plans", **same)["plan"]["hash"]
    hidden = "return document.querySelector('[name=plan_hash]')?.value"
    eventually(lambda: browser.execute_script(hidden) == plan, LONG, "it is the API's own plan")
    assert _not_loaded_again(browser)

    _press(browser, "Deploy")
    eventually(lambda: "/deployments/" in browser.current_url, LONG, "its page is shown")
    browser.execute_script("window.sameDocument = true")
    eventually(
        lambda: text(browser, "#main tbody").count("succeeded") >= 2, LONG, "seen to be installed"
    )
    assert "ahoy" in text(browser)
    assert _not_loaded_again(browser)


def test_a_broken_release_is_seen_to_go_back(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """Update by the form; the page shows the roll-back as one, with the reason and the cure."""
    one = fleet.deploy("breaks", "depot")
    _open(browser, fleet, f"/deployments/{one}/act/update?site=depot")
    browser.find_element(By.CSS_SELECTOR, "select[name=version] option:last-child")
    for option in browser.find_elements(By.CSS_SELECTOR, "select[name=version] option"):
        if option.text == "1.2.0":
            option.click()
    eventually(lambda: "becomes 1.2.0" in text(browser, "#plan"), LONG, "the plan is shown")
    _press(browser, "Update")
    eventually(lambda: "rolled back" in text(browser, ".head"), LONG, "it went back")
    said = text(browser)
    assert "web did not get healthy" in said
    assert "wanted 1.2.0" in said
    assert "succeeded" not in text(browser, ".head")
    assert browser.find_elements(By.CSS_SELECTOR, ".head .badge.warn")
    _open(browser, fleet, "/")
    assert "breaks" in text(browser, "#attention")


def test_an_operation_is_watched_and_cancelled(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """Its log grows on the page; cancel is told to the site, and it goes back, held."""
    one = fleet.deploy("stopped", "depot")
    fleet.sites["depot"].may_go_on.clear()
    with fleet.controller.api as api:
        api.patch(f"/deployments/{one}", json={"version": "1.1.0"}).raise_for_status()
    _open(browser, fleet, f"/deployments/{one}?site=depot")
    eventually(lambda: "UPDATING" in text(browser, "#main tbody"), LONG, "seen to be updating")
    eventually(lambda: "waiting for health" in text(browser, "#log pre"), LONG, "its log is live")
    assert _not_loaded_again(browser)
    _press(browser, "Cancel")
    _press(browser, "Cancel the operation")
    eventually(lambda: "held" in text(browser, "#main tbody"), LONG, "it went back and is held")
    assert "1.0.0" in text(browser, "#main tbody")


def test_what_is_deleted_leaves_the_list(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The plan says what goes; the end is DELETED, and the list is without it."""
    one = fleet.deploy("leaves", "depot")
    _open(browser, fleet, f"/deployments/{one}/act/delete?site=depot")
    assert "depot-1" in text(browser, "#plan")
    _type(browser, "reason", "the shop closes")
    _press(browser, "Delete")
    eventually(lambda: "DELETED" in text(browser, ".head"), LONG, "it is gone")
    _open(browser, fleet, "/deployments?q=leaves")
    assert "Nothing fits" in text(browser)


def test_the_list_is_filtered_as_one_types(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """What is typed narrows the list and stands in the address, without a reload."""
    fleet.deploy("found", "depot")
    fleet.deploy("other", "depot")
    _open(browser, fleet, "/deployments")
    _type(browser, "q", "found")
    eventually(lambda: "other" not in text(browser, "#found"), LONG, "the list is narrower")
    assert "found" in text(browser, "#found")
    assert "q=found" in browser.current_url
    assert _not_loaded_again(browser)


def test_two_people_with_different_roles(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """An operator pauses a site; a viewer sees it, is offered no button, and is refused."""
    url = fleet.controller.url
    sign_in(browser, url, "olga", PASSWORD)
    _open(browser, fleet, "/sites/depot")
    browser.find_element(By.CSS_SELECTOR, "#pause summary").click()
    _type(browser, "reason", "stocktaking")
    _press(browser, "Pause the site")
    eventually(lambda: "stocktaking" in text(browser, ".head"), LONG, "paused")
    sign_in(browser, url, "vera", PASSWORD)
    _open(browser, fleet, "/sites/depot")
    assert "stocktaking" in text(browser, ".head")
    assert browser.find_elements(By.CSS_SELECTOR, "main form, main .actions") == []
    assert "Deploy" not in text(browser, "header .button")
    _open(browser, fleet, "/deploy")
    assert "needs the role operator" in text(browser)
    assert [one for one in complaints(browser) if "403" not in one] == []
    sign_in(browser, url, "olga", PASSWORD)
    _open(browser, fleet, "/sites/depot")
    _press(browser, "Resume")
    eventually(lambda: "stocktaking" not in text(browser, ".head"), LONG, "resumed")


def test_many_tabs_share_one_stream(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """More tabs than a browser has connections to a host: all load, and the last one is live."""
    one = fleet.deploy("tabs", "depot")
    first = browser.current_window_handle
    try:
        for _ in range(7):
            browser.switch_to.new_window("tab")
            _open(browser, fleet, f"/deployments/{one}?site=depot")
        eventually(lambda: text(browser, "#live-state") == "live", LONG, "the last tab is live")
        with fleet.controller.api as api:
            api.patch(f"/deployments/{one}", json={"version": "1.1.0"}).raise_for_status()
            known = api.get("/operations", params={"deployment": one}).json()["items"]
        eventually(
            lambda: "1.1.0" in text(browser, "#main tbody"), LONG, f"it follows {len(known)}"
        )
        assert _not_loaded_again(browser)
    finally:
        for handle in browser.window_handles:
            if handle != first:
                browser.switch_to.window(handle)
                browser.close()
        browser.switch_to.window(first)


def test_a_lost_connection_is_said_and_made_up_for(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The controller stops: the page says so. It is back: the page is live, and knows the rest."""
    one = fleet.deploy("lost", "depot")
    _open(browser, fleet, f"/deployments/{one}?site=depot")
    eventually(lambda: text(browser, "#live-state") == "live", LONG, "live")
    fleet.controller.stop()
    eventually(lambda: "no live line" in text(browser, "#live-state"), LONG, "the loss is said")
    assert "INSTALLED" in text(browser, "#main tbody")
    fleet.controller.start()
    with fleet.controller.api as api:
        api.patch(f"/deployments/{one}", json={"version": "1.1.0"}).raise_for_status()
    eventually(lambda: text(browser, "#live-state") == "live", LONG, "live again")
    eventually(
        lambda: "1.1.0" in text(browser, "#main tbody th ~ td"), LONG, "what happened is shown"
    )
    assert _not_loaded_again(browser)
    # The browser itself writes that nobody answered, or that one was just stopping; nothing else.
    told = complaints(browser)
    assert [one for one in told if "ERR_" not in one and "503" not in one] == []
