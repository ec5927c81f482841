"""What a browser looks at: a real controller and two sites that speak to it over HTTP."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.integration.browser import kiosk
from tests.support import controller_process
from tests.support.fake_site import FakeSite
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.controller_process import ControllerProcess

PASSWORD = "correct horse battery"
PEOPLE = (("olga", "operator"), ("vera", "viewer"))
SITES = (("harbor", ("harbor-1", "harbor-2")), ("depot", ("depot-1",)))
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--window-size=1280,900",
)  # fmt: skip


@dataclass
class Fleet:
    """The controller, and its sites by name."""

    controller: ControllerProcess
    sites: dict[str, FakeSite]

    def outcome(self, deployment: str) -> str:
        """How a deployment fares, by the API."""
        with self.controller.api as api:
            return str(api.get(f"/deployments/{deployment}").json()["outcome"])

    def settled(self, deployment: str, version: str) -> None:
        """Wait until a version was tried everywhere, with whatever outcome."""

        def tried() -> bool:
            with self.controller.api as api:
                placed = api.get(f"/deployments/{deployment}/placements").json()["items"]
            told = [(one["wanted_version"], one["outcome"]) for one in placed]
            return bool(told) and all(w == version and o != "pending" for w, o in told)

        eventually(tried, 120, f"{version} was tried")

    def deploy(self, name: str, *sites: str, version: str = "1.0.0") -> str:
        """The kiosk at sites, by the API, until that is settled; its id at the first."""
        body = {"app": "kiosk", "version": version, "name": name}
        made = self.controller.post("/deployments", **body, targets={"sites": list(sites)})
        ids = {one["site"]: str(one["id"]) for one in made["deployments"]}
        for one in ids.values():
            eventually(lambda one=one: self.outcome(one) != "pending", 120, "it is settled")
        return ids[sites[0]]


@contextmanager
def running(folder: Path) -> Iterator[Fleet]:
    """All of it, with storefront in the catalogue and a person of each role."""
    controller = controller_process.make(folder)
    sites: dict[str, FakeSite] = {}
    try:
        controller.start()
        controller.post("/app-sources", name="examples", url=str(controller_process.APPS))
        controller.post("/app-sources", name="doors", url=str(kiosk.write(folder / "kiosk")))
        for source in ("examples", "doors"):
            controller.post(f"/app-sources/{source}/sync")
        for name, role in PEOPLE:
            controller.post("/users", name=name, password=PASSWORD, role=role)
        for name, nodes in SITES:
            made = controller.post("/sites", name=name, labels={"zone": "shop"})
            home = folder / name
            home.mkdir()
            sites[name] = FakeSite(controller.url, name, made["token"], home, nodes).start()
        yield Fleet(controller, sites)
    finally:
        for site in sites.values():
            site.stop()
        controller.stop()
        controller.registry.stop()


@contextmanager
def empty(folder: Path) -> Iterator[ControllerProcess]:
    """A controller as it is on its first day: nobody has added anything."""
    controller = controller_process.make(folder)
    try:
        controller.start()
        yield controller
    finally:
        controller.stop()
        controller.registry.stop()


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Debian's chromium without a screen; what it says and asks for is kept."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path="/usr/bin/chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def sign_in(browser: webdriver.Chrome, url: str, user: str, password: str) -> None:
    """By the form, whoever was signed in before."""
    browser.get(f"{url}/sign-in")
    browser.delete_all_cookies()
    browser.get(f"{url}/sign-in")
    browser.find_element(By.NAME, "user").send_keys(user)
    browser.find_element(By.NAME, "password").send_keys(password)
    browser.find_element(By.CSS_SELECTOR, "main form button").click()
    eventually(lambda: "/sign-in" not in browser.current_url, 120, "signed in")


def text(browser: webdriver.Chrome, selector: str = "#main") -> str:
    """What a part of the page says, taken in one go: the page may change it meanwhile."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(one => one.innerText).join('\\n')"
    )
    return str(browser.execute_script(script, selector))
