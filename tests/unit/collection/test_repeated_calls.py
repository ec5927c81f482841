"""A call for the running release records new inputs, checks the policy, and restarts nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _release, _request
from ansible_collections.margrave.edge.plugins.module_utils._apply import apply
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConfigError,
    RegistryError,
)
from ansible_collections.margrave.edge.plugins.module_utils._files import make_folder, point
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._shell import operate

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
ARCHIVE = b"content"
PARAMS: dict[str, Any] = {
    "deployment": ID,
    "name": "shop",
    "application": "shop",
    "version": "1.0.0",
    "health": {"timeout": 60, "grace": 5},
    "components": [
        {
            "name": "web",
            "archive": base64.b64encode(ARCHIVE).decode(),
            "digest": "sha256:" + hashlib.sha256(ARCHIVE).hexdigest(),
        }
    ],
}


class Driver:
    """A driver of healthy containers; records what it runs, and pulls and checks as told."""

    profile = "compose"

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.refusal: ConfigError | None = None
        self.pulled = ""
        self.unreachable: RegistryError | None = None

    def __getattr__(self, _name: str) -> Any:
        return lambda *_, **__: []

    def mounted(self, _names: Any) -> set[str]:
        """Return no release."""
        return set()

    def health(self, *_: Any) -> str:
        """Return that all is healthy."""
        return "healthy"

    def refuse(self, *_: Any) -> None:
        """Raise what the test sets."""
        if self.refusal:
            raise self.refusal

    def fetch(self, release: _release.Release) -> bool:
        """Record the pulled image in the release."""
        if self.unreachable:
            raise self.unreachable
        for part in release.parts:
            for image in part.images.values():
                image["id"] = self.pulled
        return True

    def run(self, release: _release.Release, *_: Any) -> None:
        """Record which image ran; an image that is called bad fails."""
        ran = release.parts[0].images["web"]["id"]
        self.ran.append(ran)
        if ran == "bad":
            raise ConfigError("cannot-start", "it does not start")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Return a node on which the release runs."""
    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))
    request, folder = _request.read(PARAMS), layout.deployment(ID)
    assert request.release
    image = {"reference": "web:1", "policy": "always", "id": "old", "ours": True}
    part = _release.Part("web", PARAMS["components"][0]["digest"], "p", images={"web": image})
    release = _release.Release(
        request.release, request.revision or "", "1.0.0", "shop", "shop", PARAMS["health"], [part]
    )
    release.proven, release.inputs, release.policy_table = True, request.inputs, 1
    make_folder(folder.release(request.release))
    release.store(folder)
    point(folder.path, {"current": f"releases/{request.release}"})
    return layout


def _update(layout: Layout, driver: Driver, check: bool = False, **more: Any) -> dict[str, Any]:
    def work(call: Call) -> None:
        call.driver = driver  # type: ignore[assignment]
        apply(call)

    return operate("update", {**PARAMS, **more}, check, work, layout)


def _policy(layout: Layout, policy: str) -> None:
    """Give the running release's image this pull policy."""
    folder = layout.deployment(ID)
    release = _release.load(folder, folder.linked("current"))
    assert release is not None
    release.parts[0].images["web"]["policy"] = policy
    release.store(folder)


def _stored(layout: Layout) -> dict[str, Any]:
    folder = layout.deployment(ID)
    path = Path(folder.release(folder.linked("current") or ""), _release.FILE)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_new_version_is_recorded_once(layout: Layout) -> None:
    """Version and limits are recorded without a switch, and check mode predicts it."""
    _policy(layout, "")
    driver = Driver()
    new = {"version": "1.0.1", "health": {"timeout": 90, "grace": 5}}

    answers = [_update(layout, driver, check, **new) for check in (True, False, False, True)]

    assert [answer["changed"] for answer in answers] == [True, True, False, False]
    assert {answer["version"] for answer in answers} == {"1.0.1"}
    assert (_stored(layout)["version"], _stored(layout)["health"]["timeout"]) == ("1.0.1", 90)
    assert driver.ran == []


@pytest.mark.parametrize("check", [True, False])
def test_a_tighter_policy_refuses_the_running_release(layout: Layout, check: bool) -> None:
    """The answer names the running release, and nothing is changed."""
    driver = Driver()
    driver.refusal = ConfigError("policy", "components.web: image: is not allowed")

    answer = _update(layout, driver, check, version="1.0.1")

    assert (answer["error"]["code"], answer["changed"]) == ("policy", False)
    assert _stored(layout)["version"] == "1.0.0"
    assert driver.ran == []


def test_the_same_image_is_no_change(layout: Layout) -> None:
    """`always` pulls, and nothing is switched if the image is the same."""
    driver = Driver()
    driver.pulled = "old"

    answer = _update(layout, driver)

    assert (answer["changed"], answer["state"], driver.ran) == (False, "INSTALLED", [])


def test_a_newer_image_is_a_change(layout: Layout) -> None:
    """`always` runs the image that its tag means now, under the same release."""
    driver = Driver()
    driver.pulled = "new"

    answer = _update(layout, driver)

    assert (answer["changed"], answer["state"], driver.ran) == (True, "INSTALLED", ["new"])
    assert _stored(layout)["components"][0]["images"]["web"]["id"] == "new"


def test_a_newer_image_that_fails_is_reverted(layout: Layout) -> None:
    """The former image of the same release runs again."""
    driver = Driver()
    driver.pulled = "bad"

    answer = _update(layout, driver)

    assert driver.ran == ["bad", "old"]
    assert (answer["state"], answer["rolled_back"]) == ("FAILED", True)
    assert _stored(layout)["components"][0]["images"]["web"]["id"] == "old"


def test_an_unreachable_registry_leaves_the_running_release(layout: Layout) -> None:
    """`always` fails with the registry's class, and the answer says what runs."""
    driver = Driver()
    driver.unreachable = RegistryError("registry-unreachable", "away")

    answer = _update(layout, driver)

    assert (answer["state"], answer["error"]["class"]) == ("FAILED", "registry")
    assert (answer["version"], driver.ran) == ("1.0.0", [])
