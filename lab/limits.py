"""One limit of this machine that a big lab runs into: how many inotify instances root may have.

Each node's init system takes about six; with the kernel's usual 128 the twentieth node ends while
it boots. The limit is raised while there are labs, and put back with the last one.
"""

from __future__ import annotations

from pathlib import Path

from lab.layout import RUN

INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
BEFORE = RUN / ".inotify-before"

OTHERS = 64  # what runs on this machine beside nodes
PER_NODE = 12  # twice of what an idle node takes: containers' own needs
PLENTY = 1024  # enough for most: raised once, not with each node


def needed(nodes: int) -> int:
    return OTHERS + PER_NODE * nodes


def make_room(nodes: int) -> bool:
    """Raise the limit with the first lab, and again if so many nodes could run into it; says
    whether it did.

    With the first lab, because nodes share it: raised later, it would change under those that run.
    """
    now = int(INSTANCES.read_text())
    if now >= max(PLENTY, needed(nodes)):
        return False
    if not BEFORE.exists():
        BEFORE.write_text(f"{now}\n")
    INSTANCES.write_text(f"{max(PLENTY, needed(nodes))}\n")
    return True


def put_back() -> None:
    """Set what was there before the first lab, if anything was changed."""
    if BEFORE.exists():
        INSTANCES.write_text(BEFORE.read_text())
        BEFORE.unlink()
