"""The way through a jump host: a ProxyCommand of our own.

ssh's ProxyJump would reach the jump host with none of the options that we give: with another key,
and with whatever host key it shows.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from runner.execute.folders import Folders
from runner.ports import Jump


def proxy_command(
    jump: Jump, key: str, folders: Folders, connect_timeout: int, mark: Path | None = None
) -> str:
    """What ssh runs to have a line to the node: %h and %p are the node's, filled in by ssh.

    The mark is made when the jump host has let it in, whatever becomes of the way behind it.
    """
    options = {
        "UserKnownHostsFile": f'"{folders.known_hosts}"',
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "IdentitiesOnly": "yes",
        "BatchMode": "yes",
        "PreferredAuthentications": "publickey",
        "ConnectTimeout": str(connect_timeout),
        "ServerAliveInterval": "5",
        # Its end is the end of the line; a master of its own would outlive the runner.
        "ControlMaster": "no",
        "ControlPath": "none",
    }
    if mark is not None:
        options |= {"PermitLocalCommand": "yes", "LocalCommand": shlex.join(["touch", str(mark)])}
    words = ["ssh", "-F", "/dev/null"]
    for name, value in options.items():
        words += ["-o", f"{name}={value}"]
    words += ["-i", key, "-p", str(jump.port), "-l", jump.user, "-W", "[%h]:%p", "--", jump.address]
    return shlex.join(words).replace("'[%h]:%p'", "[%h]:%p")
