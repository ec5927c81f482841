"""The scenario that a newcomer runs works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.lab


def test_default_scenario(needs_lab: None, tmp_path: Path) -> None:
    """`molecule test` makes a node, proves every module in four steps, and removes the node."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ["HOME"],
        "MOLECULE_EPHEMERAL_DIRECTORY": str(tmp_path / "molecule"),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
    }

    done = subprocess.run(
        ["molecule", "test"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stdout[-8000:]
