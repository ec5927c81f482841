"""Every molecule scenario makes its nodes, shows what it promises, and removes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import scenario

pytestmark = [pytest.mark.lab, pytest.mark.full]


# The default one has a test of its own, in `make test`.
@pytest.mark.parametrize("name", [one for one in scenario.SCENARIOS if one != "default"])
def test_scenario(name: str, needs_lab: None, tmp_path: Path) -> None:
    """From nothing to nothing."""
    code, said = scenario.run(name, tmp_path)

    assert code == 0, said[-8000:]
