"""Pages at the width of a phone: no word is split, and nothing lies beyond the edge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet

pytestmark = pytest.mark.browser

WIDTH: Final = 375
SPLIT: Final = (Path(__file__).parent / "split_words.js").read_text(encoding="utf-8")
# One page for each thing that is drawn, in `make test`; the others are made of the same.
EACH_KIND: Final = (
    "overview", "deployments", "rolled-back", "app", "nodes", "site", "node", "activity", "audit",
    "request", "settings", "tokens", "controller",
)  # fmt: skip


@pytest.fixture
def phone(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    device = {"width": WIDTH, "height": 812, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _check(phone: webdriver.Chrome, fleet: Fleet, pages: dict[str, str], name: str) -> None:
    phone.get(fleet.controller.url + pages[name])
    found: dict[str, Any] = phone.execute_script(SPLIT, WIDTH)
    assert found == {"split": [], "hidden": [], "width": WIDTH}, name


def test_no_word_is_split_and_nothing_is_hidden(
    phone: webdriver.Chrome, fleet: Fleet, pages: dict[str, str]
) -> None:
    """Names, versions, times and buttons stay whole; all pages of the menu can be seen."""
    for name in EACH_KIND:
        _check(phone, fleet, pages, name)


@pytest.mark.full
def test_no_other_page_splits_a_word(
    phone: webdriver.Chrome, fleet: Fleet, pages: dict[str, str]
) -> None:
    """The pages that are made of the same parts, but for a plain log and a refusal."""
    for name in pages.keys() - {*EACH_KIND, "log", "nowhere"}:
        _check(phone, fleet, pages, name)
