"""Ending processes for good: Ansible's workers leave their group, so /proc tells the tree."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
ROUNDS: Final = 5  # a tree that forks while it is killed is caught by looking again


def started(pid: int) -> str | None:
    """When the process began, in the kernel's ticks: with the pid it names one process for ever."""
    stat = _stat(pid)
    return None if stat is None else stat[19]


def kill_tree(pid: int, ticks: str | None = None) -> None:
    """End a process and all that came from it; nothing happens when it is gone or another one."""
    for _ in range(ROUNDS):
        if ticks is not None and started(pid) != ticks:
            return
        doomed = [pid, *_descendants(pid)]
        if not any([_kill(one) for one in doomed]):  # noqa: C419 - all of them, not the first
            return


def kill_naming(text: str) -> None:
    """End every process of this user whose command line names the text; never this one."""
    mark = os.fsencode(text)
    for _ in range(ROUNDS):
        named = [pid for pid in _pids() if pid != os.getpid() and mark in _words(pid)]
        for pid in named:
            kill_tree(pid)
        if not named:
            return


def _words(pid: int) -> bytes:
    """The command line of what runs; nothing of what is gone."""
    with suppress(OSError):
        return (PROC / str(pid) / "cmdline").read_bytes()
    return b""


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for one in _pids():
        if (stat := _stat(one)) is not None and stat[0] != "Z":
            children[int(stat[1])].append(one)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children[waiting.pop()]
        found += below
        waiting += below
    return found


def _pids() -> Iterable[int]:
    return (int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the command's name (which may hold anything)."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None


def _kill(pid: int) -> bool:
    """Whether there was something alive to kill."""
    stat = _stat(pid)
    if stat is None or stat[0] == "Z":
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def noted(pids: Path) -> list[tuple[int, str]]:
    """The processes that a run noted in its file, each with its start; none without the file."""
    try:
        lines = pids.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    words = (line.split() for line in lines)
    return [(int(word[0]), word[1]) for word in words if len(word) == 2 and word[0].isdigit()]
