"""Processes that outlive the command: started apart, known by pid and start time, ended whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROC: Final = Path("/proc")
# Longer than a controller lets its requests end, and a runner its operations reach a safe point.
GRACE: Final = 30.0
# In /proc/<pid>/stat, behind the command's closing bracket: state is the first, start the 20th.
STATE, STARTED = 0, 19


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the demo: its name, what starts it, and where its marks lie."""

    name: str
    command: tuple[str, ...]
    folder: Path

    @property
    def mark(self) -> Path:
        """Says which process it is."""
        return self.folder / f"{self.name}.pid"

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / f"{self.name}.log"

    def pid(self) -> int | None:
        """The process that was started and still lives; a number used again is not it."""
        try:
            mark = json.loads(self.mark.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        pid = int(mark["pid"])
        return pid if started(pid) == mark["started"] else None

    def start(self) -> int:
        """Apart from this terminal, in a group of its own."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=self.folder,
                env=environment(os.environ),
            )
        mark = {"pid": child.pid, "started": started(child.pid)}
        self.mark.write_text(json.dumps(mark), encoding="utf-8")
        return child.pid

    def stop(self) -> bool:
        """Asked first, then made to; whether there was one."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            if not until(lambda: started(pid) is None, GRACE):
                os.kill(pid, signal.SIGKILL)
                until(lambda: started(pid) is None, GRACE)
        self.sweep()
        self.mark.unlink(missing_ok=True)
        return pid is not None

    def sweep(self) -> None:
        """What a process that was killed left behind: its workers may still hold the port.

        The number of a group is not given away while it has members, so with the leader gone
        whoever is in it was started by that leader; with a leader of another start it is not ours.
        """
        pid = self._marked()
        if pid is None or started(pid) is not None:
            return
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return  # nothing was left, as it should be

    def _marked(self) -> int | None:
        try:
            return int(json.loads(self.mark.read_text(encoding="utf-8"))["pid"])
        except (FileNotFoundError, ValueError):
            return None

    def last_words(self, lines: int = 8) -> str:
        """The end of its log."""
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])


def started(pid: int) -> str | None:
    """When the process was started, in the kernel's count; None when it is gone or only a body."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[STATE] in {"Z", "X"} else fields[STARTED]


def environment(base: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """The caller's environment without what would configure our processes behind the files."""
    kept = {name: value for name, value in base.items() if not name.startswith("MARGRAVE_")}
    # Loopback never goes through a proxy, whatever the caller's shell says.
    return kept | {"no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}


def until(condition: Callable[[], bool], limit: float, period: float = 0.05) -> bool:
    """Whether the condition came true within the limit."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(period)
    return True


def run(command: Sequence[str], **extra: str) -> subprocess.CompletedProcess[str]:
    """A command to its end, with its output; `extra` is added to its environment."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=environment(os.environ) | extra,
    )
