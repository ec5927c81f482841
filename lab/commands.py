"""The one door through which the lab runs programs of this machine."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from lab.errors import CommandFailed, LabError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A user's PATH often lacks the folders where ip, iptables and mkfs live.
SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment with the administrator's folders on PATH and messages in English."""
    path = f"{os.environ.get('PATH', '/usr/bin:/bin')}:{SYSTEM_PATH}"
    return {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", **(extra or {})}


def attempt(
    command: Sequence[str | os.PathLike[str]],
    *,
    stdin: str | None = None,
    timeout: float = 60,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run to the end and hand back whatever came of it."""
    words = [os.fspath(word) for word in command]
    try:
        return subprocess.run(
            words,
            input=stdin or "",
            timeout=timeout,
            env=environment(env),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise LabError(f"{words[0]} is not installed", "run: .ci/system-packages lab") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{words[0]} did not end within {timeout:g} s") from error


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    stdin: str | None = None,
    timeout: float = 60,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run to the end, give back the output, and raise CommandFailed for any status but 0."""
    done = attempt(command, stdin=stdin, timeout=timeout, env=env)
    if done.returncode:
        raise CommandFailed(
            os.fspath(command[0]), done.returncode, done.stderr.strip() or done.stdout
        )
    return done.stdout
