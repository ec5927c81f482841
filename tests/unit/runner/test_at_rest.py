"""What a runner holds in memory although it has nothing to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from runner.store import Store

PROGRAM: Final = """
import sys
from runner import serve
from runner.app import build
from runner.settings import RunnerSettings

build(RunnerSettings.model_validate({
    "site": {"name": "harbor"},
    "git": {"remote": sys.argv[1]},
    "state": {"dir": sys.argv[1]},
    "controller": {"url": "https://127.0.0.1:9", "token": "t"},
})).close()
loaded = {name.partition(".")[0] for name, module in sys.modules.items() if module}
print(*sorted(loaded))
"""
# A site that is complete adds no node, migrates nothing and, mostly, opens no secret.
SELDOM: Final = {"alembic", "bcrypt", "cryptography", "paramiko", "pyrage"}
# One client of HTTP is there anyway.
SECOND: Final = {"httpcore", "httpx", "requests", "urllib3"}


def test_what_only_some_runners_need_is_not_in_memory(tmp_path: Path) -> None:
    """Ciphers, another SSH and migrations come when they are asked for; a second HTTP never."""
    Store(tmp_path).close()  # the first start makes the tables
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "sqlalchemy" in loaded
    assert loaded & (SELDOM | SECOND) == set()
