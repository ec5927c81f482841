"""How Git's lines to other machines are kept: SSH's own words, and none that hangs for ever."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

# A server that takes packets and says nothing is given up after half a minute.
PATIENCE: Final = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "30"}
_SSH: Final = (
    "BatchMode=yes",  # nobody is there to be asked: a host that is not known is refused
    "ConnectTimeout=10",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
)


def ssh(key: Path | None, known_hosts: Path | None) -> str:
    """The command for GIT_SSH_COMMAND, whatever characters the files' names have."""
    words = ["ssh", *(part for one in _SSH for part in ("-o", one))]
    if key is not None or known_hosts is not None:  # else it is as the user has set it up
        words += ["-o", "StrictHostKeyChecking=yes"]
    if key is not None:
        words += ["-i", str(key), "-o", "IdentitiesOnly=yes"]
    if known_hosts is not None:
        words += ["-o", f'UserKnownHostsFile="{known_hosts}"']  # SSH splits it at blanks
    return shlex.join(words)
