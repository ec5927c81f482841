"""One fleet and one browser for all tests of pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.integration.browser import fleet as fleets
from tests.integration.browser.pages import lived_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium import webdriver

    from tests.integration.browser.fleet import Fleet


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A real controller with two sites that report over HTTP; no lab is needed."""
    with fleets.running(tmp_path_factory.mktemp("fleet")) as made:
        yield made


@pytest.fixture(scope="session")
def pages(fleet: Fleet) -> dict[str, str]:
    """Every page of a fleet in which all sorts of things have happened."""
    return lived_in(fleet)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """The process; tests take `browser`."""
    with fleets.chromium(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def browser(fleet: Fleet, chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """A browser in which the admin is signed in; afterwards it has nothing to complain of.

    No error on the console (a violated policy is one), no request to another host.
    """
    controller = fleet.controller
    fleets.sign_in(chromium, controller.url, controller.user, controller.password)
    complaints(chromium)
    yield chromium
    for site in fleet.sites.values():
        site.may_go_on.set()
    assert complaints(chromium) == []
    assert foreign(chromium, controller.url) == set()


def complaints(browser: webdriver.Chrome) -> list[str]:
    """Errors on the console since the last look."""
    logs: list[Any] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    return [entry["message"] for entry in logs if entry["level"] == "SEVERE"]


def foreign(browser: webdriver.Chrome, url: str) -> set[str]:
    """Hosts other than ours that were asked for anything."""
    found = set()
    logs: list[Any] = browser.get_log("performance")  # type: ignore[no-untyped-call]
    for entry in logs:
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked = urlsplit(message["params"]["request"]["url"])
            if asked.scheme in ("http", "https", "ws", "wss"):
                found.add(asked.netloc)
    return found - {urlsplit(url).netloc}
