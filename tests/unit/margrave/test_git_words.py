"""Why Git failed, out of all that it printed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from margrave.git_words import reason

END = """fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
"""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            f"ssh: connect to host 192.0.2.1 port 22: Connection refused\n{END}",
            "ssh: connect to host 192.0.2.1 port 22: Connection refused",
        ),
        (f"Permission denied (publickey).\n{END}", "Permission denied (publickey)."),
        (
            f"fatal: detected dubious ownership in repository at '/srv/d.git'\nTo add …\n{END}",
            "fatal: detected dubious ownership in repository at '/srv/d.git'",
        ),
        ("\n  stderr: 'fatal: bad object HEAD'", "fatal: bad object HEAD"),
        ("remote: no\nerror: failed to push some refs", "error: failed to push some refs"),
        (END, "git gave no reason"),
        ("", "git gave no reason"),
    ],
)
def test_the_line_that_tells_why(said: str, why: str) -> None:
    """Not the advice that Git ends with whatever was the matter."""
    assert reason(said) == why


def test_of_git_itself(tmp_path: Path) -> None:
    """What the Git of this machine says of a repository that is not there."""
    done = subprocess.run(
        ["git", "ls-remote", str(tmp_path / "gone.git")],
        capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (
        reason(done.stderr)
        == f"fatal: '{tmp_path}/gone.git' does not appear to be a git repository"
    )
