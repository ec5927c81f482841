"""Pictures of the pages of a fleet that has lived: wide and on a phone, light and dark."""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.browser import fleet as fleets
from tests.integration.browser.pages import lived_in

if TYPE_CHECKING:
    from selenium import webdriver

SIZES = {"desktop": (1280, 900, False), "phone": (375, 812, True)}
SCHEMES = ("light", "dark")


def scheme(browser: webdriver.Chrome, word: str) -> None:
    """What the reader's system prefers."""
    asked = {"features": [{"name": "prefers-color-scheme", "value": word}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", asked)


def shoot(browser: webdriver.Chrome, path: Path, width: int, height: int, phone: bool) -> None:
    """The whole page, as high as it is."""
    device = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    high = int(browser.execute_script("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": width, "height": min(max(high, height), 6000), "scale": 1}
    shot: dict[str, Any] = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    path.write_bytes(base64.b64decode(shot["data"]))


def shoot_top(browser: webdriver.Chrome, path: Path) -> None:
    """What is seen first, as documents show it."""
    width, height, _ = SIZES["desktop"]
    device = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    browser.save_screenshot(str(path))


def main(out: Path, names: list[str]) -> None:
    """A fleet of its own, and pictures of each page (or of those named) in each form."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, fleets.running(Path(folder)) as fleet:
        pages = lived_in(fleet)
        controller = fleet.controller
        with fleets.chromium(Path(folder) / "profile") as browser:
            browser.get(f"{controller.url}/sign-in")
            if not names:
                _each(browser, out, "sign-in")
            fleets.sign_in(browser, controller.url, controller.user, controller.password)
            for name in names or (one for one in pages if one != "log"):
                browser.get(controller.url + pages[name])
                _each(browser, out, name)
    sys.stdout.write(f"{len(list(out.glob('*.png')))} pictures in {out}\n")


def _each(browser: webdriver.Chrome, out: Path, name: str) -> None:
    for word in SCHEMES:
        scheme(browser, word)
        shoot_top(browser, out / f"{name}-top-{word}.png")
        for size, (width, height, phone) in SIZES.items():
            shoot(browser, out / f"{name}-{size}-{word}.png", width, height, phone)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=Path("var/screenshots"))
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="its name; all without one")
    asked = parser.parse_args()
    main(asked.out, asked.pages)
