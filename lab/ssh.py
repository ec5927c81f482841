"""The way into a node: as root, with the lab's key, to a host key known beforehand."""

from __future__ import annotations

import base64
import hashlib
import shlex
import socket
from typing import TYPE_CHECKING

from lab.commands import attempt
from lab.errors import CommandFailed
from lab.waiting import until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from lab.layout import Layout

UNREACHED = 255  # ssh's own status, whatever the command would have said


def command(layout: Layout, address: str, *, batch: bool = True) -> list[str]:
    """ssh up to and including the destination, with nothing of the user's own settings."""
    options = {
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "UserKnownHostsFile": str(layout.known_hosts),
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "ConnectTimeout": "10",
        "LogLevel": "ERROR",
        **({"BatchMode": "yes"} if batch else {}),
    }
    flags = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
    return ["ssh", "-F", "/dev/null", "-i", str(layout.key), *flags, f"root@{address}"]


def remote_words(words: Sequence[str]) -> str:
    """One word is shell text and stays so; several arrive at the node as the words they are."""
    return words[0] if len(words) == 1 else shlex.join(words)


def run(
    layout: Layout, address: str, text: str, *, stdin: str | None, timeout: float, check: bool
) -> subprocess.CompletedProcess[str]:
    """Run shell text on the node."""
    done = attempt([*command(layout, address), text], stdin=stdin, timeout=timeout)
    if check and done.returncode:
        what = f"{address}: {text.split(maxsplit=1)[0] if text.split() else text}"
        raise CommandFailed(what, done.returncode, done.stderr.strip() or done.stdout)
    return done


def wait_for_banner(address: str, timeout: float = 120) -> None:
    """Wait until an SSH server answers; no process is started for asking."""
    until(lambda: has_banner(address), f"{address} to answer on port 22", timeout)


def has_banner(address: str) -> bool:
    try:
        with socket.create_connection((address, 22), timeout=1) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def fingerprint(public_key: str) -> str:
    """SHA256:… as ssh-keygen prints it."""
    digest = hashlib.sha256(base64.b64decode(public_key.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def write_known_hosts(path: Path, keys: dict[str, str]) -> None:
    """Address to public key, for all nodes of the lab."""
    path.write_text("".join(f"{address} {key}\n" for address, key in sorted(keys.items())))
