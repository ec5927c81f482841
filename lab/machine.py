"""Power on, power cut, power off."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from lab import cgroups, processes
from lab.commands import environment, run
from lab.errors import LabError
from lab.node import ENVIRONMENT, Boot
from lab.waiting import until

if TYPE_CHECKING:
    from lab.layout import NodeLayout

# Sparse: it costs what is written. Enough for a few dozen images, small enough to fill.
DISK_SIZE = 8 * 2**30


def make_disk(image: Path) -> None:
    """An empty ext4 of its own for each node: its size is the node's, and it can run full."""
    image.parent.mkdir(parents=True, exist_ok=True)
    draft = image.with_suffix(".new")
    with draft.open("wb") as file:
        file.truncate(DISK_SIZE)
    lazy = "lazy_itable_init=1,lazy_journal_init=1"
    run(["mkfs.ext4", "-q", "-F", "-m", "0", "-E", lazy, draft])
    draft.replace(image)


def supervisor(machine: str) -> int | None:
    """The process of this machine that holds the node, or None while it is off."""
    found = processes.with_word(f"--machine={machine}")
    return next((pid for pid in found if processes.alive(pid)), None)


def start(boot: Boot) -> None:
    """Boot; returns when the node's init runs, which is well before it answers."""
    places = boot.places
    for folder in (places.mount, places.root):
        folder.mkdir(parents=True, exist_ok=True)
    with places.console.open("wb") as console:
        subprocess.run(
            boot.command(),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            env=environment(ENVIRONMENT),
            cwd="/",
            check=True,
        )
    try:
        until(lambda: _booted(boot), f"{boot.machine} to start", timeout=60)
    except LabError as error:
        raise LabError(f"{error.message}: {last_words(places)}") from error


def _booted(boot: Boot) -> bool:
    pid = supervisor(boot.machine)
    if pid is None:
        raise LabError(f"{boot.machine} ended while starting")
    return bool(processes.children(pid))


def last_words(places: NodeLayout) -> str:
    """The end of the node's console, for whoever has to tell why it did not start."""
    try:
        lines = places.console.read_text(errors="replace").strip().splitlines()
    except FileNotFoundError:
        return "no console"
    return " / ".join(lines[-3:]) or "nothing on its console"


def cut_power(*supervisors: int) -> None:
    """Kill the nodes' inits, and with them at once everything that runs inside.

    The supervising process sees that, takes back what it made on this machine, and ends.
    """
    inits = [child for pid in supervisors for child in processes.children(pid)]
    processes.end(inits, signal.SIGKILL)
    try:
        processes.wait_for_end(supervisors, timeout=5)
    except LabError:  # it was caught before it had an init, or hangs
        processes.end(supervisors, signal.SIGKILL)


def wait_until_off(machine: str, timeout: float = 30) -> None:
    until(lambda: supervisor(machine) is None, f"{machine} to power off", timeout)


def init_of(pid: int) -> int:
    """The node's own first process, below the one that holds the node."""
    found = processes.children(pid)
    if not found:
        raise LabError(f"process {pid} holds no node any more")
    return found[0]


def inside(pid: int, path: Path) -> Path:
    """The path as the process with its private mounts sees it."""
    return Path("/proc", str(pid), "root", *path.parts[1:])


def forget(lab: str, node: str, places: NodeLayout) -> None:
    """Remove what a stopped node leaves in memory: control groups, mount points, log."""
    cgroups.remove(lab, node)
    shutil.rmtree(places.run, ignore_errors=True)
