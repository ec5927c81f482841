"""Judgement of a package by what is on the node afterwards."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from tests.escape import differences
from tests.escape.catalogue import COMPONENT, Expectation, Package
from tests.escape.verdicts import Evidence, judge

CHART = b"name: spy\n"
REFUSAL = {"class": "config", "code": "policy", "message": "refused"}


@pytest.mark.parametrize(
    ("folder", "content", "findings"),
    [
        (f"components/{COMPONENT}", CHART, 0),
        (f"components/{COMPONENT}", b"name: other\n", 1),
        (f"{COMPONENT}.rendered", b"name: other\n", 0),
    ],
)
def test_a_rewritten_file_of_the_package_is_a_finding(
    folder: str, content: bytes, findings: int
) -> None:
    """Files of a package stay as they were published; those that the module renders are its own."""
    package = Package(
        name="spy",
        kind="helm",
        tries="Nothing.",
        changes="Nothing.",
        expect=Expectation.REFUSED,
        engines=("kubernetes",),
        files={"Chart.yaml": CHART},
    )
    path = f"/var/lib/margrave/deployments/{package.deployment}/releases/1/{folder}/Chart.yaml"
    before: dict[str, dict[str, Any]] = {part: {} for part in differences.NOISE}
    after = {**before, "files": {path: [sha256(content).hexdigest()]}}
    verdict = judge(package, "module", "kubernetes", Evidence("FAILED", REFUSAL, {}, before, after))
    assert len(verdict.findings) == findings
