"""The page `docs/start.md`, typed line by line by somebody with boxes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tests.integration.docs.reader import NODE, Reader, start

if TYPE_CHECKING:
    from lab import Lab

pytestmark = pytest.mark.lab


def test_the_page_leads_to_a_running_application(reader: Reader, lab: Lab) -> None:
    """From `margrave init` to an answer on one's own box, with nothing that the page leaves out."""
    reader.follows(start())

    answer = httpx.get(f"http://{lab.node(NODE).address}:8000/", timeout=10).json()
    assert answer["version"] == "1.0.0"
