"""A molecule scenario, from nothing to nothing, as somebody runs it at a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lab import Lab

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted(one.parent.name for one in ROOT.glob("molecule/*/molecule.yml"))
LIMIT = 1800.0


def run(scenario: str, base: Path) -> tuple[int, str]:
    """Its exit code, and what it said; on a lab of its own, so that a person's is left alone."""
    name = f"test-{scenario.replace('_', '-')}"
    try:
        return _run(scenario, base, name)
    finally:
        Lab(name).down()  # one that fails while it cleans up leaves its nodes


def _run(scenario: str, base: Path, lab: str) -> tuple[int, str]:
    done = subprocess.run(
        ["molecule", "test", "--scenario-name", scenario],
        cwd=ROOT,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": os.environ["HOME"],
            "MOLECULE_EPHEMERAL_DIRECTORY": str(base / "molecule"),
            "MARGRAVE_MOLECULE_LAB": lab,
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout
