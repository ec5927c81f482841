"""The page `docs/start.md`, typed line by line by a person with boxes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box

if TYPE_CHECKING:
    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = pytest.mark.lab


def test_the_page_leads_to_a_running_application(shop: Reader, lab: Lab) -> None:
    """From `margrave init` to an answer on one's own box, with nothing that the page leaves out."""
    assert box.version(lab) == "1.0.0"
