"""The scenario that a newcomer runs works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import scenario

pytestmark = pytest.mark.lab


def test_default_scenario(needs_lab: None, tmp_path: Path) -> None:
    """`molecule test` makes a node, proves every module in four steps, and removes the node."""
    code, said = scenario.run("default", tmp_path)

    assert code == 0, said[-8000:]
