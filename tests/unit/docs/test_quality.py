"""The promises of docs/quality.md name tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"`(tests/\S+\.py)::(test_\w+)`")


def test_each_promise_names_tests_that_exist() -> None:
    """A test that was renamed or removed takes its promise's proof with it."""
    rows = (ROOT / "docs/quality.md").read_text().partition("## Reliability")[2]
    table = [line for line in rows.splitlines() if line.startswith("| ")]
    promises = [line for line in table[1:] if "tests/" in line]
    assert len(promises) > 10
    missing = [
        f"{file}::{name}"
        for line in promises
        for file, name in NAMED.findall(line)
        if f"def {name}(" not in (ROOT / file).read_text()
    ]
    assert missing == []
