"""Who listens on a port of this machine, so that a busy one can be told by name."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
LISTENING: Final = "0A"  # as /proc/net/tcp writes the state


def is_free(host: str, port: int) -> bool:
    """Whether one could listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def holder(port: int) -> str:
    """The process that listens there, as `name (pid n)`; "another program" when it is hidden."""
    inodes = _inodes(port)
    for folder in PROC.glob("[0-9]*"):
        if _holds(folder, inodes):
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            return f"{words.strip()[:120]} (pid {folder.name})"
    return "another program"


def _inodes(port: int) -> set[str]:
    found = set()
    for table in ("tcp", "tcp6"):
        path = PROC / "net" / table
        if not path.is_file():
            continue
        for line in path.read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and int(fields[1].rsplit(":", 1)[1], 16) == port:
                found.add(f"socket:[{fields[9]}]")
    return found


def _holds(folder: Path, inodes: set[str]) -> bool:
    try:
        return any(str(one.readlink()) in inodes for one in (folder / "fd").iterdir())
    except OSError:
        return False  # not ours to look at, or gone meanwhile
