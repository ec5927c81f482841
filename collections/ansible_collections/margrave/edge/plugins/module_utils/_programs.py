# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs that a call starts: under its lock, within a time, and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO

from ansible_collections.margrave.edge.plugins.module_utils._lock import Lock

NOBODY = 65534  # the same number on every Linux


@dataclass(frozen=True)
class Ran:
    """How a program ended: `code` is None when its time was over."""

    code: int | None
    out: str
    err: str


@dataclass(frozen=True)
class Programs:
    """Starts programs for one call."""

    lock: Lock | None = None
    safe_point: Callable[[], None] = field(default=lambda: None)
    # Takes secrets out of what a program complains of, before anything is made of its words.
    masked: Callable[[str], str] = field(default=lambda text: text)

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
        pause = 0.002
        while process.poll() is None:
            self.safe_point()
            if time.monotonic() > end:
                return None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        return process.returncode

    def _end(self, process: subprocess.Popen) -> None:
        """End what still runs with all that it has started: `docker` alone is not its plugin."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.lock:
            self.lock.adopt(0)


def find(*places: str) -> str | None:
    """The first of these programs that is on the node."""
    return next((path for path in places if os.access(path, os.X_OK)), None)


def _scratch() -> IO[bytes]:
    """A file in memory: a full disk must not keep anybody from going back."""
    return os.fdopen(os.memfd_create("margrave"), "w+b")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
