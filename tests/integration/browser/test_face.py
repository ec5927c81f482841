"""Pages in a real browser, with a real controller and sites that report: what people do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.by import By

from tests.integration.browser.conftest import complaints
from tests.integration.browser.fleet import PASSWORD, sign_in, text
from tests.integration.browser.hands import (
    LONG,
    choose,
    not_loaded_again,
    open_page,
    press,
    type_in,
)
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

pytestmark = pytest.mark.browser


def test_a_form_is_checked_as_one_types_and_then_deploys(
    browser: webdriver.Chrome, fleet: Fleet
) -> None:
    """A wrong value is told at its field, a right one makes the plan; the rest is seen live."""
    open_page(browser, fleet, "/deploy?app=kiosk&version=1.0.0")
    browser.find_element(By.CSS_SELECTOR, "input[name=sites][value=harbor]").click()
    type_in(browser, "name", "typed")
    type_in(browser, "p.greeting", "x" * 41)
    eventually(
        lambda: "has 41 characters: write 40 at most" in text(browser, "#f-greeting"), LONG, "told"
    )
    assert browser.find_element(By.NAME, "p.greeting").get_attribute("value") == "x" * 41
    type_in(browser, "p.greeting", "ahoy")
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
    assert not_loaded_again(browser)

    press(browser, "Deploy")
    eventually(lambda: "/deployments/" in browser.current_url, LONG, "its page is shown")
    browser.execute_script("window.sameDocument = true")
    eventually(
        lambda: text(browser, "#main tbody").count("succeeded") >= 2, LONG, "seen to be installed"
    )
    assert "ahoy" in text(browser)
    assert not_loaded_again(browser)


def test_a_broken_release_is_seen_to_go_back(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """Update by the form; the page shows the roll-back as one, with the reason and the cure."""
    one = fleet.deploy("breaks", "depot")
    open_page(browser, fleet, f"/deployments/{one}/act/update?site=depot")
    choose(browser, "version", "1.2.0")
    eventually(lambda: "becomes 1.2.0" in text(browser, "#plan"), LONG, "the plan is shown")
    press(browser, "Update")
    eventually(lambda: "rolled back" in text(browser, ".head"), LONG, "it went back")
    said = text(browser)
    assert "web did not get healthy" in said
    assert "wanted 1.2.0" in said
    assert "succeeded" not in text(browser, ".head")
    assert browser.find_elements(By.CSS_SELECTOR, ".head .badge.warn")
    open_page(browser, fleet, "/")
    assert "breaks" in text(browser, "#attention")


def test_an_operation_is_watched_and_cancelled(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """Its log grows on the page; cancel is told to the site, and it goes back, held."""
    one = fleet.deploy("stopped", "depot")
    fleet.sites["depot"].may_go_on.clear()
    with fleet.controller.api as api:
        api.patch(f"/deployments/{one}", json={"version": "1.1.0"}).raise_for_status()
    open_page(browser, fleet, f"/deployments/{one}?site=depot")
    eventually(lambda: "UPDATING" in text(browser, "#main tbody"), LONG, "seen to be updating")
    eventually(lambda: "waiting for health" in text(browser, "#log pre"), LONG, "its log is live")
    assert not_loaded_again(browser)
    press(browser, "Cancel")
    press(browser, "Cancel the operation")
    eventually(lambda: "held" in text(browser, "#main tbody"), LONG, "it went back and is held")
    assert "1.0.0" in text(browser, "#main tbody")


def test_what_is_deleted_leaves_the_list(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The plan says what goes; the end is DELETED, and the list is without it."""
    one = fleet.deploy("leaves", "depot")
    open_page(browser, fleet, f"/deployments/{one}/act/delete?site=depot")
    assert "depot-1" in text(browser, "#plan")
    type_in(browser, "reason", "the shop closes")
    press(browser, "Delete")
    eventually(lambda: "DELETED" in text(browser, ".head"), LONG, "it is gone")
    open_page(browser, fleet, "/deployments?q=leaves")
    assert "Nothing fits" in text(browser)


def test_the_list_is_filtered_as_one_types(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """What is typed narrows the list and stands in the address, without a reload."""
    fleet.deploy("found", "depot")
    fleet.deploy("other", "depot")
    open_page(browser, fleet, "/deployments")
    type_in(browser, "q", "found")
    eventually(lambda: "other" not in text(browser, "#found"), LONG, "the list is narrower")
    assert "found" in text(browser, "#found")
    assert "q=found" in browser.current_url
    assert not_loaded_again(browser)


def test_two_people_with_different_roles(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """An operator pauses a site; a viewer sees it, is offered no button, and is refused."""
    url = fleet.controller.url
    sign_in(browser, url, "olga", PASSWORD)
    open_page(browser, fleet, "/sites/depot")
    browser.find_element(By.CSS_SELECTOR, "#pause summary").click()
    type_in(browser, "reason", "stocktaking")
    press(browser, "Pause the site")
    eventually(lambda: "stocktaking" in text(browser, ".head"), LONG, "paused")
    sign_in(browser, url, "vera", PASSWORD)
    open_page(browser, fleet, "/sites/depot")
    assert "stocktaking" in text(browser, ".head")
    assert browser.find_elements(By.CSS_SELECTOR, "main form, main .actions") == []
    assert "Deploy" not in text(browser, "header .button")
    open_page(browser, fleet, "/deploy")
    assert "needs the role operator" in text(browser)
    assert [one for one in complaints(browser) if "403" not in one] == []
    sign_in(browser, url, "olga", PASSWORD)
    open_page(browser, fleet, "/sites/depot")
    press(browser, "Resume")
    eventually(lambda: "stocktaking" not in text(browser, ".head"), LONG, "resumed")


def test_five_past_midnight_is_told_as_such(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """Hours are counted from 0 to 23, whatever the reader's language does with them."""
    open_page(browser, fleet, "/settings")  # it never fetches itself again
    made = (
        "const time = document.createElement('time'), at = new Date();"
        "at.setHours(0, 5, 0, 0); time.className = 'clock'; time.id = 'night';"
        "time.dateTime = at.toISOString(); document.getElementById('main').append(time)"
    )
    browser.execute_script(made)
    eventually(lambda: text(browser, "#night") != "", LONG, "the page tells it")
    assert text(browser, "#night").startswith("00:05")


def test_many_tabs_share_one_stream(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """More tabs than a browser has connections to a host: all load, and the last one is live."""
    one = fleet.deploy("tabs", "depot")
    first = browser.current_window_handle
    try:
        for _ in range(7):
            browser.switch_to.new_window("tab")
            open_page(browser, fleet, f"/deployments/{one}?site=depot")
        eventually(lambda: text(browser, "#live-state") == "live", LONG, "the last tab is live")
        with fleet.controller.api as api:
            api.patch(f"/deployments/{one}", json={"version": "1.1.0"}).raise_for_status()
            known = api.get("/operations", params={"deployment": one}).json()["items"]
        eventually(
            lambda: "1.1.0" in text(browser, "#main tbody"), LONG, f"it follows {len(known)}"
        )
        assert not_loaded_again(browser)
    finally:
        for handle in browser.window_handles:
            if handle != first:
                browser.switch_to.window(handle)
                browser.close()
        browser.switch_to.window(first)


def test_a_lost_connection_is_said_and_made_up_for(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The controller stops: the page says so. It is back: the page is live, and knows the rest."""
    one = fleet.deploy("lost", "depot")
    open_page(browser, fleet, f"/deployments/{one}?site=depot")
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
    assert not_loaded_again(browser)
    # The browser itself writes that nobody answered, or that one was just stopping; nothing else.
    told = complaints(browser)
    assert [one for one in told if "ERR_" not in one and "503" not in one] == []
