"""A page that stays open in a real browser, as on the screen of a control room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.faults.truth.claims import ROWS, Channel, Claim
from tests.faults.truth.tables import rows_of
from tests.faults.truth.world import Condition, World
from tests.integration.browser import fleet

if TYPE_CHECKING:
    from selenium import webdriver

LAG: Final = 20.0  # a page that misses an event reads itself again after this time
OPEN: Final = ("/nodes", "/deployments")


@contextmanager
def open_pages(world: World, profile: Path) -> Iterator[tuple[Channel, ...]]:
    """Open pages, each in a window of its own, and return the channels that read them."""
    controller = world.controller
    with fleet.chromium(profile) as browser:
        fleet.sign_in(browser, controller.url, controller.user, controller.password)
        windows = {path: _window(browser, controller.url + path) for path in OPEN}
        yield tuple(_channel(browser, path, windows) for path in OPEN)


def _window(browser: webdriver.Chrome, url: str) -> str:
    browser.switch_to.new_window("window")
    browser.get(url)
    return browser.current_window_handle


def _channel(browser: webdriver.Chrome, path: str, windows: Mapping[str, str]) -> Channel:
    def read(world: World) -> list[Claim] | None:
        # Without its controller a page shows that its live line is lost.
        if world.presence["controller"].condition is not Condition.UP:
            return None
        browser.switch_to.window(windows[path])
        return [ROWS[path](row) for row in rows_of(browser.page_source)]

    return Channel(f"open page {path}", read, LAG)
