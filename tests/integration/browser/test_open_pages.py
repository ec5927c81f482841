"""A page that stays open shows what is so now, also where no event says that something changed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.by import By

from tests.integration.browser.hands import LONG, not_loaded_again, open_page, type_in
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("path", ["/nodes", pytest.param("/sites", marks=pytest.mark.full)])
def test_the_last_answer_goes_on(browser: webdriver.Chrome, fleet: Fleet, path: str) -> None:
    """Heartbeats are no events; the times that they bring are shown all the same."""
    open_page(browser, fleet, path)
    before = _newest(browser)

    eventually(lambda: (_newest(browser) - before).total_seconds() > 1, LONG, "a later answer")

    assert not_loaded_again(browser)


def test_a_form_keeps_what_was_typed(browser: webdriver.Chrome, fleet: Fleet) -> None:
    """The page reads itself again while a form on it is half filled in."""
    open_page(browser, fleet, "/sites")
    before = _newest(browser)
    type_in(browser, "name", "quay")
    type_in(browser, "labels", "zone=shop")

    eventually(lambda: (_newest(browser) - before).total_seconds() > 1, LONG, "a later answer")

    for name, value in (("name", "quay"), ("labels", "zone=shop")):
        field = browser.find_element(By.CSS_SELECTOR, f"form.work [name={name}]")
        assert field.get_property("value") == value  # type: ignore[no-untyped-call]


def _newest(browser: webdriver.Chrome) -> datetime:
    script = "return [...document.querySelectorAll('#main time')].map(time => time.dateTime)"
    return max(datetime.fromisoformat(text) for text in browser.execute_script(script))
