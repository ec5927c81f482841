"""The line that Git takes to another machine, as SSH itself reads it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from controller.gate import lines


def understood(command: str) -> dict[str, str]:
    """What SSH makes of it, by its own words."""
    told = subprocess.check_output(
        ["sh", "-c", f'{command} -F none "$@"', "sh", "-G", "forge.example"], text=True
    )
    return dict(line.partition(" ")[::2] for line in told.splitlines())


def test_files_may_have_any_name(tmp_path: Path) -> None:
    """Blanks and quotes in the names of key and host keys reach SSH as they are."""
    key, hosts = tmp_path / "a 'key' of ours", tmp_path / "known hosts"
    key.touch()
    found = understood(lines.ssh(key, hosts))
    assert found["identityfile"] == str(key)
    assert found["userknownhostsfile"] == str(hosts)
    assert (found["identitiesonly"], found["stricthostkeychecking"]) == ("yes", "true")


def test_nobody_is_asked_and_nothing_hangs() -> None:
    """Also without a key of its own: no prompt, and an end to a line that says nothing."""
    found = understood(lines.ssh(None, None))
    assert found["batchmode"] == "yes"
    assert 0 < int(found["connecttimeout"]) <= 30
    assert int(found["serveraliveinterval"]) * int(found["serveralivecountmax"]) <= 60
    assert shlex.split(lines.ssh(None, None))[0] == "ssh"
