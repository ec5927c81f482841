"""Programs of the world that reads our schemas and types, installed for the run alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """The path of a program from a package; where there is none, the test skips with the reason."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")

    def of(package: str, program: str) -> Path:
        folder = tmp_path_factory.mktemp("npm")
        words = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder)]
        done = subprocess.run([*words, package], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            pytest.skip("npm cannot reach a registry")
        return folder / "node_modules" / ".bin" / program

    return of
