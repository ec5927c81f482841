"""The promises of docs/quality.md and docs/security.md name tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"`(tests/\S+\.py)::(test_\w+)`")


def promises(page: str, heading: str) -> list[str]:
    """The rows of the tables below a heading, without those that name the columns."""
    text = (ROOT / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [line for line in rows if not line.startswith(("| promise |", "| fault |"))]


@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [("docs/quality.md", "Reliability", 10), ("docs/security.md", "Promises and their tests", 30)],
)
def test_each_promise_names_tests_that_exist(page: str, heading: str, least: int) -> None:
    """A test that was renamed or removed takes its promise's proof with it."""
    rows = [
        line for line in promises(page, heading) if page.endswith("security.md") or "tests/" in line
    ]
    assert len(rows) >= least
    assert [line for line in rows if not NAMED.search(line)] == [], "a promise without a test"
    missing = [
        f"{file}::{name}"
        for line in rows
        for file, name in NAMED.findall(line)
        if f"def {name}(" not in (ROOT / file).read_text()
    ]
    assert missing == []
