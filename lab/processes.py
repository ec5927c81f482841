"""Find and end the lab's own processes: by a word of their command line, no stored number."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROC = Path("/proc")
# A process without arguments of its own accord is rare, and must not hold anybody up.
BECOMING = 0.2


def with_word(word: str) -> list[int]:
    """Processes that have exactly this word among their arguments; zombies have none."""
    wanted = word.encode()
    return _matching(lambda one: one == wanted)


def with_beginning(beginning: str) -> list[int]:
    """Processes that have a word which begins so."""
    wanted = beginning.encode()
    return _matching(lambda one: one.startswith(wanted))


def _matching(fits: Callable[[bytes], bool]) -> list[int]:
    found = []
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        if any(fits(word) for word in _words(folder)):
            found.append(int(folder.name))
    return found


def _words(folder: Path) -> list[bytes]:
    """The arguments; none of a kernel thread, a zombie, or what ended while we looked.

    A process that is just becoming another program has no arguments for an instant, but it has a
    program: it is asked again, or a node that starts would be taken for one that ended.
    """
    deadline = time.monotonic() + BECOMING
    try:
        while True:
            line = (folder / "cmdline").read_bytes()
            if line or time.monotonic() > deadline:
                return line.split(b"\0")
            (folder / "exe").readlink()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    try:
        text = (PROC / str(pid) / "task" / str(pid) / "children").read_text()
    except OSError:
        return []
    return [int(one) for one in text.split()]


def alive(pid: int) -> bool:
    """False for a zombie too: it holds nothing any more."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def end(pids: Iterable[int], with_signal: signal.Signals, timeout: float = 20) -> None:
    """Send the signal and wait until all are gone."""
    for pid in pids:
        try:
            os.kill(pid, with_signal)
        except ProcessLookupError:
            continue
    wait_for_end(pids, timeout)


def wait_for_end(pids: Iterable[int], timeout: float) -> None:
    until(lambda: not any(alive(pid) for pid in pids), f"processes {[*pids]} to end", timeout)


def wait_until_reaped(pids: Iterable[int], timeout: float = 5) -> None:
    """Give the host's init a moment to collect what ended; it is gone either way."""
    try:
        until(lambda: not any((PROC / str(pid)).exists() for pid in pids), "reaping", timeout)
    except LabError:
        return
