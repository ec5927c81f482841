# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs that a call starts: under its lock, within a time, and ended with it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping

from ansible_collections.margrave.edge.plugins.module_utils._files import read_json
from ansible_collections.margrave.edge.plugins.module_utils._lock import Lock
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._types import IO

NOBODY = 65534  # the same number on every Linux
# How often a call looks up from a program that works: a newer call may want its place.
GLANCE = 0.25
# The same where the kernel does not tell of a program's end.
NAP = 0.02


@record
class Ran:
    """How a program ended: `code` is None when its time was over."""

    code: int | None
    out: str
    err: str


@record
class Programs:
    """Starts programs for one call."""

    lock: Lock | None = None
    safe_point: Callable[[], None] = lambda: None
    # Takes secrets out of what a program complains of, before anything is made of its words.
    masked: Callable[[str], str] = lambda text: text
    # Takes what a user should know although the call goes on.
    warn: Callable[[str], None] = lambda _text: None

    def run(
        self,
        command: list[str],
        limit: float,
        environment: Mapping[str, str],
        handles: tuple[int, ...] = (),
        as_nobody: bool = False,
        given: bytes = b"",
        folder: str | None = None,
    ) -> Ran:
        """Run a program to its end; it inherits the open `handles` and the lock, `given` is fed.

        It starts in the folder, one that it could not enter by itself too.
        """
        drop = as_nobody and os.geteuid() == 0
        with _scratch() as source, _scratch() as out, _scratch() as err:
            source.write(given)
            source.seek(0)
            process = subprocess.Popen(
                command,
                stdin=source,
                stdout=out,
                stderr=err,
                # Nothing of our own environment may leak into what the program reads.
                env=dict(environment),
                cwd=folder,
                pass_fds=(*handles, self.lock.handle) if self.lock else handles,
                start_new_session=True,
                user=NOBODY if drop else None,
                group=NOBODY if drop else None,
                extra_groups=[] if drop else None,
            )
            try:
                code = self._wait(process, limit)
            finally:
                self._end(process)
            return Ran(code, _text(out), self.masked(_text(err)))

    def _wait(self, process: subprocess.Popen, limit: float) -> int | None:
        if self.lock:
            self.lock.adopt(process.pid)
        end = time.monotonic() + limit
        with _ending(process) as ended:
            while process.poll() is None:
                self.safe_point()
                left = end - time.monotonic()
                if left <= 0:
                    return None
                ended(min(left, GLANCE))
        return process.returncode

    def _end(self, process: subprocess.Popen) -> None:
        """End what still runs with all that it has started: `docker` alone is not its plugin."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.lock:
            self.lock.adopt(0)


@contextlib.contextmanager
def _ending(process: subprocess.Popen) -> Iterator[Callable[[float], object]]:
    """What waits for a program's end, or for so many seconds."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # a kernel before 5.3, or a Python made for one
        yield lambda seconds: time.sleep(min(seconds, NAP))
        return
    try:
        yield lambda seconds: select.select([handle], [], [], seconds)
    finally:
        os.close(handle)


def find(*places: str) -> str | None:
    """The first of these programs that is on the node."""
    return next((path for path in places if os.access(path, os.X_OK)), None)


def remembered(notes: str, program: str, ask: Callable[[], str]) -> str:
    """What a program answers, asked once for as long as its file stays what it is.

    To start a large program only for its version takes a fifth of what an update costs a node's
    processor beside the engine's own work. Without notes, and where they cannot be kept, it is
    asked.
    """
    if not notes:
        return ask()
    seen = os.stat(program)
    file = [seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns]
    known = read_json(notes) or {}
    if known.get(program, {}).get("file") == file:
        return str(known[program]["answer"])
    answer = ask()
    if answer:
        # Calls of several deployments may do this at once: each replaces the whole file.
        beside = f"{notes}.{os.getpid()}"
        with contextlib.suppress(OSError):
            with open(beside, "w", encoding="utf-8") as draft:
                json.dump({**known, program: {"file": file, "answer": answer}}, draft)
            os.rename(beside, notes)
    return answer


def _scratch() -> IO[bytes]:
    """A file in memory: a full disk must not keep anybody from going back."""
    return os.fdopen(os.memfd_create("margrave"), "w+b")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
