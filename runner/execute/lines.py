"""The connection to each node that all calls share, opened with so many at once at each door.

An sshd turns newcomers away at random when ten of them are at its door (MaxStartups), and a jump
host is one door for all the nodes behind it. So who needs a connection that is not there yet comes
here first, whatever it is for; over one that is there everybody goes at once.
"""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from runner.execute.errand import Errand
from runner.ports import Target

# A node that is reached without a jump host has its door for itself: who has not come in by then
# waits for a node that is silent, and holds no place for which others wait.
AT_THE_DOOR: Final = 3.0
# How often is looked whether a jump host has let somebody in: ssh tells it by a file.
GLANCE: Final = 0.02
# Two that waited for the same place do not knock in the same moment.
JITTER: Final = 0.05
# How often a jump host is knocked at that turned somebody away, and after how many seconds again.
KNOCKS: Final = 4
AGAIN: Final = (0.2, 1.0)
# Beyond ssh's own time-out, for what comes after it: keys, the login, a slow jump host.
LOGIN: Final = 20.0
UNREACHABLE: Final = 255  # ssh's own status, whatever the command would have said
NOBODY: Final = "nothing came back: the connection timed out"


class Ways(Protocol):
    """How ssh reaches a node, in words, and where the connection that is shared lies."""

    def options(self, node: Target, *, apart: bool = False, mark: Path | None = None) -> list[str]:
        """ssh with everything but what to do there; a jump host that lets it in makes the mark."""

    def master(self, node: Target, *, apart: bool = False) -> Path:
        """The socket of the connection; it is there as long as that is open."""


class Lines:
    """Opens connections; safe to use from many threads."""

    def __init__(
        self, ways: Ways, environment: Mapping[str, str], timeout: float, doors: int, direct: int
    ) -> None:
        self._ways = ways
        # No variable of the runner's own; ssh needs none but where to look for itself.
        self._environment = {name: environment[name] for name in ("PATH", "HOME", "LC_ALL")}
        self._timeout = timeout
        # When nothing is heard of any for so long, Ansible may find out about the rest. Longer than
        # ssh's own time-out: what Ansible opens does not stop at the door.
        self._patience = timeout + AT_THE_DOOR
        self._at_once = doors  # newcomers at each jump host
        self._direct = direct  # newcomers at nodes that are reached without one
        self._doors: dict[object, threading.Semaphore] = {}
        self._nodes: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._knocking: set[subprocess.Popen[bytes]] = set()

    def is_open(self, node: Target, *, apart: bool = False) -> bool:
        """Whether the connection is there; one that has just died may look so for a while."""
        return self._ways.master(node, apart=apart).exists()

    def open(self, node: Target, *, apart: bool = False) -> str:
        """Return when the connection is there; else what ssh said of it."""
        with self._lock:
            path = self._ways.master(node, apart=apart)
            turn = self._nodes.setdefault(path, threading.Lock())
        with turn:
            return "" if path.exists() else self._knock(node, apart=apart)

    def open_all(self, errands: Sequence[Errand], width: int) -> dict[str, str]:
        """Return when all are there that come; what ssh said of those that failed, by errand."""
        closed = [one for one in errands if not self.is_open(one.node, apart=one.apart)]
        if len(closed) < 2:
            found = {one.key: self.open(one.node, apart=one.apart) for one in closed}
            return {key: said for key, said in found.items() if said}
        pool = ThreadPoolExecutor(min(len(closed), width))
        asked = {pool.submit(self.open, one.node, apart=one.apart): one.key for one in closed}
        pool.shutdown(wait=False)
        ended: set[Future[str]] = set()
        while len(ended) < len(asked):
            done, _ = wait(asked.keys() - ended, self._patience, FIRST_COMPLETED)
            if not done:
                break
            ended |= done
        return {asked[one]: said for one in ended if (said := one.result())}

    def stop(self) -> None:
        """Nothing begins any more, and nobody waits any longer."""
        with self._lock:
            self._stopped.set()
            for process in self._knocking:
                process.kill()

    def _knock(self, node: Target, *, apart: bool) -> str:
        mark = self._ways.master(node, apart=apart).with_suffix(".in")
        for _ in range(KNOCKS):
            began = time.monotonic()
            said = self._in_turn(node, mark, apart=apart)
            quick = time.monotonic() - began < self._timeout / 2
            # Others knock there, too: only a door that has turned it away is worth another try.
            if not said or node.jump is None or mark.exists() or not quick:
                break
            self._stopped.wait(random.uniform(*AGAIN))  # noqa: S311
        mark.unlink(missing_ok=True)
        return said

    def _in_turn(self, node: Target, mark: Path, *, apart: bool) -> str:
        door = self._door(node)
        if not door.acquire(blocking=False):
            door.acquire()
            self._stopped.wait(random.uniform(0, JITTER))  # noqa: S311
        leave = _Once(door.release)
        try:
            return self._connect(node, mark, apart=apart, leave=leave)
        finally:
            leave()

    def _connect(self, node: Target, mark: Path, *, apart: bool, leave: Callable[[], None]) -> str:
        with self._lock:
            if self._stopped.is_set():
                return NOBODY
            process = subprocess.Popen(
                [*self._ways.options(node, apart=apart, mark=mark), "true"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
            self._knocking.add(process)
        try:
            return self._answer(process, mark if node.jump else None, leave)
        finally:
            with self._lock:
                self._knocking.discard(process)

    def _answer(
        self, process: subprocess.Popen[bytes], mark: Path | None, leave: Callable[[], None]
    ) -> str:
        with process:
            self._until_in(process, mark)
            leave()
            try:
                if 0 <= process.wait(self._timeout + LOGIN) != UNREACHABLE:
                    return ""
            except subprocess.TimeoutExpired:
                process.kill()
                return NOBODY
            said = b""
            with suppress(subprocess.TimeoutExpired):  # what led there may hold the other end
                _, said = process.communicate(timeout=AT_THE_DOOR)
            return said.decode("utf-8", "replace").strip() or NOBODY

    def _until_in(self, process: subprocess.Popen[bytes], mark: Path | None) -> None:
        """Return when it is in; or when it has failed, or takes longer than anybody at a door."""
        if mark is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(AT_THE_DOOR)
            return
        end = time.monotonic() + self._timeout + LOGIN
        while process.poll() is None and not mark.exists() and time.monotonic() < end:
            if self._stopped.wait(GLANCE):
                break

    def _door(self, node: Target) -> threading.Semaphore:
        jump = node.jump
        key, places = ((jump.address, jump.port), self._at_once) if jump else (None, self._direct)
        with self._lock:
            return self._doors.setdefault(key, threading.Semaphore(places))


class _Once:
    """Does it the first time, and nothing after that; for one thread."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work

    def __call__(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            work()
