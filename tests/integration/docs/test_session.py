"""The recorded session of `docs/session.md`, typed again by a reader of `docs/start.md`.

`RECORD=write python -m pytest tests/integration/docs/test_session.py` writes the recording anew;
read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

import pytest

from tests.integration.docs.box import NODE
from tests.integration.docs.pages import DOCS

if TYPE_CHECKING:
    from tests.integration.docs.reader import Reader

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


def _steady(printed: str, reader: Reader) -> str:
    """Return the text without what only this machine or this moment knows."""
    for there, here in ((NODE, "press-1"), (reader.url, "http://127.0.0.1:8800")):
        printed = printed.replace(there, here)
    for pattern, word in UNSTEADY:
        printed = re.sub(pattern, word, printed)
    printed = re.sub(r"(?<![\w-])[0-9a-f]{12,64}\b", lambda found: DIGITS[: len(found[0])], printed)
    return "\n".join(line.rstrip() for line in printed.splitlines())


def test_the_recording_is_what_a_terminal_shows(shop: Reader) -> None:
    """A plan, an update, a bad release that goes back by itself, the reason, a rollback."""
    parts = []
    for line, code in SESSION:
        printed = _steady(shop.type(line, code), shop)
        parts.append(f"$ {line}\n{printed}\n")
    recording = "\n".join(parts)

    page = PAGE.read_text()
    if os.environ.get("RECORD") == "write":
        page = RECORDING.sub(lambda _: recording, page)
        PAGE.write_text(page)
    assert RECORDING.findall(page) == [recording]
