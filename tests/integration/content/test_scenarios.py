"""Every molecule scenario, from nothing to nothing, as somebody runs it at a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# The default one has a test of its own, in `make test`.
SCENARIOS = sorted(one.parent.name for one in ROOT.glob("molecule/*/molecule.yml"))

pytestmark = [pytest.mark.lab, pytest.mark.full]


@pytest.mark.parametrize("scenario", [one for one in SCENARIOS if one != "default"])
def test_scenario(scenario: str, needs_lab: None, tmp_path: Path) -> None:
    """It makes its nodes, shows what it promises, and removes them."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ["HOME"],
        "MOLECULE_EPHEMERAL_DIRECTORY": str(tmp_path / "molecule"),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
    }

    done = subprocess.run(
        ["molecule", "test", "--scenario-name", scenario],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1800,
    )

    assert done.returncode == 0, done.stdout[-8000:]
