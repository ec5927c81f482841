"""Links between the pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[3]
COLLECTION = ROOT / "collections/ansible_collections/margrave/edge"
# The pages below docs/ are checked by sphinx; these are read where no sphinx is.
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", COLLECTION / "README.md"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def _links(page: Path) -> list[str]:
    found = ["".join(one) for one in LINK.findall(page.read_text())]
    return [one for one in found if not re.match(r"[a-z]+:|#|//", one)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_relative_link_leads_to_a_file(page: Path) -> None:
    """A page that was renamed or removed takes nobody into nothing."""
    missing = [
        link
        for link in _links(page)
        if not (page.parent / unquote(link.partition("#")[0])).exists()
    ]
    assert missing == []
