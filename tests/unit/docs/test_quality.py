"""The promises of docs/quality.md and docs/security.md name tests that are there."""

from __future__ import annotations

import re
import subprocess
import sys
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
    [
        ("docs/quality.md", "Reliability", 10),
        ("docs/quality.md", "The modules on each engine", 30),
        ("docs/security.md", "Promises and their tests", 30),
    ],
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


def test_each_promise_of_the_modules_is_shown_on_both_engines() -> None:
    """Each test on a node that the table names is collected for podman and for Docker."""
    rows = promises("docs/quality.md", "The modules on each engine")
    named = {
        f"{file}::{name}"
        for line in rows
        for file, name in NAMED.findall(line)
        if file.startswith("tests/integration/")
    }
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/integration/collection"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = set(re.findall(r"^(\S+)\[(podman|docker)\b", listed.stdout, re.MULTILINE))

    assert len(named) >= 20
    missing = [
        (test, engine)
        for test in sorted(named)
        for engine in ("podman", "docker")
        if (test, engine) not in found
    ]
    assert missing == []
