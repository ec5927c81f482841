"""A recorded session, and how-to pages line by line, by somebody who followed `docs/start.md`.

`RECORD=write python -m pytest tests/integration/docs/test_howto.py` writes the recording anew into
`docs/session.md`; read the difference before it is kept.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Final

import httpx
import pytest

from tests.integration.docs.reader import DOCS, NODE, Reader, start
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE: Final = DOCS / "session.md"
RECORDING: Final = re.compile(r"(?<=^```text\n)(.*?)(?=^```)", re.M | re.S)
# What is recorded, with the exit code that it ends with.
SESSION: Final = (
    ("margrave site list", 0),
    ("margrave deployment plan storefront --version 1.1.0 --set greeting=ahoy", 4),
    ("margrave deployment update storefront --version 1.1.0 --set greeting=ahoy --wait", 0),
    ("margrave deployment update storefront --version 1.2.0 --wait", 1),
    ("margrave deployment show storefront", 0),
    ("margrave deployment explain storefront", 0),
    ("margrave deployment rollback storefront --to 1.0.0 --wait", 0),
    ("margrave deployment history storefront", 0),
)
# What is another one each time, and how it reads in the recording: as long as it was, for columns.
UNSTEADY: Final = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "2030-01-31 10:00:00Z"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "2030-01-31T10:00:00Z"),
    (r"(?<=after )\d+ s\b", "60 s"),
    (r"\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b", "6f1c7d2e-93ab-4c58-8d17-0b9a4e6f2c31"),
)
DIGITS: Final = "3f9c2d41e5a07b68" * 4  # of commits and digests


def _lines(page: str) -> list[str]:
    text = (DOCS / "howto" / page).read_text()
    blocks = re.findall(r"^ *```console\n(.*?)^ *```", text, re.M | re.S)
    return [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def shop(reader: Reader) -> Reader:
    """With storefront 1.0.0 on the box, and a terminal that is a hundred characters wide."""
    reader.follows(start())
    return reader


def _version(lab: Lab) -> str:
    """What the box answers that it runs; nothing while it is being switched."""
    try:
        answer = httpx.get(f"http://{lab.node(NODE).address}:8000/", timeout=10)
    except httpx.TransportError:
        return ""
    return str(answer.json()["version"])


def _steady(said: str, reader: Reader) -> str:
    """Without what only this machine or this moment knows."""
    for there, here in ((NODE, "press-1"), (reader.url, "http://127.0.0.1:8800")):
        said = said.replace(there, here)
    for pattern, word in UNSTEADY:
        said = re.sub(pattern, word, said)
    said = re.sub(r"(?<![\w-])[0-9a-f]{12,64}\b", lambda found: DIGITS[: len(found[0])], said)
    return "\n".join(line.rstrip() for line in said.splitlines())


def test_the_recording_is_what_is_said(shop: Reader) -> None:
    """A plan, an update, a bad release that goes back by itself, the reason, a rollback."""
    said = []
    for line, ends in SESSION:
        heard = _steady(shop.types(line, ends), shop)
        said.append(f"$ {line}\n{heard}\n")
    recording = "\n".join(said)

    page = PAGE.read_text()
    if os.environ.get("RECORD") == "write":
        page = RECORDING.sub(lambda _: recording, page)
        PAGE.write_text(page)
    assert RECORDING.findall(page) == [recording]


def test_roll_back(shop: Reader, lab: Lab) -> None:
    """`rollback.md`, after a release that went back."""
    shop.types("margrave deployment update storefront --version 1.2.0 --wait", 1)
    # Tried again it fails again; and where nothing is under way there is nothing to be cancelled.
    ends = {"release": 1, "cancel": None}
    for line in _lines("rollback.md"):
        words = shlex.split(line, comments=True)
        if words[2] != "cancel":
            shop.types(line, ends.get(words[2], 0))
    assert _version(lab) == "1.0.0"


def test_windows(shop: Reader, lab: Lab) -> None:
    """`windows.md`: what is urgent goes on at once."""
    for line in _lines("windows.md"):
        shop.types(line)
    eventually(lambda: _version(lab) == "1.1.0", 120, "it is urgent")


def test_upgrade(shop: Reader) -> None:
    """`upgrade.md`: stopped, migrated, started; versions fit."""
    config = " --config /srv/margrave/margrave.toml"
    shop.stops("controller")
    for line in _lines("upgrade.md"):
        shop.types(line + config if " controller " in line else line)
    assert "storefront" in shop.types("margrave deployment list")


def test_secrets(shop: Reader, lab: Lab) -> None:
    """`secrets.md`, with its wrong turns: the application gets the secret, and its next value."""
    first, second = "hello from the safe", "hello again"
    shop.words["/etc/margrave/secrets"] = str(shop.folder / "secrets")
    folder, write, *rest = _lines("secrets.md")
    shop.runs(folder)
    text = (DOCS / "howto" / "secrets.md").read_text()
    [part] = re.findall(r"^ *```toml\n(.*?)^ *```", text, re.M | re.S)
    shop.restarts_runner("\n".join(line.strip() for line in part.splitlines()) + "\n")
    plan, update, retry = rest

    wrong = """margrave deployment update storefront --set 'greeting={"secret": "x"}'"""
    assert "--secret greeting=x" in shop.types(wrong, 2)
    shop.types(plan)
    shop.runs(write.replace("storefront-greeting", "another"), "x")
    shop.types(update, 1)  # the secret is not there yet
    assert "storefront-greeting" in shop.types("margrave deployment explain storefront")
    shop.runs(write, first)
    shop.types(retry)
    assert _greeting(lab) == first

    shop.runs(write, second)
    eventually(lambda: _greeting(lab) == second, 180, "the secret is rotated")


def _greeting(lab: Lab) -> str:
    """What the box greets with; nothing while it is being switched."""
    try:
        answer = httpx.get(f"http://{lab.node(NODE).address}:8000/", timeout=10)
    except httpx.TransportError:
        return ""
    return str(answer.json()["greeting"])


def test_back_up_and_restore(shop: Reader) -> None:
    """`backup.md`: backed up while it serves, restored, served, and made anew from Git."""
    config = " --config /srv/margrave/margrave.toml"
    shop.words["/backup/"] = f"{shop.folder}/"
    for line in _lines("backup.md"):
        verb = shlex.split(line)[2]
        if verb in ("restore", "rebuild"):
            shop.stops("controller")
        shop.types(line + config + (" --yes" if verb in ("restore", "rebuild") else ""))
    shop.types(f"margrave controller serve{config}")
    assert "storefront" in shop.types("margrave deployment list")
