# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One call per deployment at a time: a lock that dies with its holder, and a way to ask it to stop.

The lock is inherited by the programs that a call starts: after a killed module it stays held as
long as its docker-compose works on the containers, and whoever waits ends such an orphan.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import time

from ansible_collections.margrave.edge.plugins.module_utils._errors import LinkError
from ansible_collections.margrave.edge.plugins.module_utils._fence import Fence
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    remove_file,
    remove_tree,
)

# Longer than any sane operation; the call's own deadline is nearly always nearer.
PATIENCE = 1800.0
PAUSE = 0.05


class Lock:
    """The right to change one deployment on this node."""

    def __init__(self, folder: str, deployment: str, fence: Fence | None) -> None:
        self._path = os.path.join(folder, deployment + ".lock")
        self._stop = os.path.join(folder, deployment + ".stop")
        self._fence = fence
        self._handle = -1
        make_folder(folder)

    @property
    def handle(self) -> int:
        """The open file that children inherit."""
        return self._handle

    def acquire(self, ask_to_stop: bool, patience: float = PATIENCE) -> None:
        """Wait for the lock; a newer call asks the holder to stop at its next safe point."""
        if self._try():
            return
        if ask_to_stop and self._fence is not None:
            self._request_stop(self._fence)
        end = time.monotonic() + patience
        while not self._try():
            self._end_orphan()
            if time.monotonic() > end:
                # No conflict: it may be this very call, made again while its first still works.
                raise LinkError(
                    "busy",
                    "another call has been working on this deployment all the time",
                    "wait for it, or look at journal.json of the deployment on the node",
                )
            time.sleep(PAUSE)

    def _try(self) -> bool:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last holder may have removed the file between our open and our lock.
            still_named = os.stat(self._path).st_ino == os.fstat(handle).st_ino
        except OSError:
            still_named = False
        if not still_named:
            os.close(handle)
            return False
        self._handle = handle
        self._tidy_after(self._read(self._path))
        self.adopt(0)
        return True

    @staticmethod
    def _tidy_after(left: dict) -> None:
        """Remove what a killed holder could not: Ansible unpacks each module into a folder of /tmp.

        Only a holder that was killed leaves its file, and with it the name of that folder.
        """
        if left.get("payload") and not _alive(left.get("pid", 0)):
            remove_tree(str(left["payload"]))

    def adopt(self, child: int) -> None:
        """Note the process group of a program that works under this lock (0: none any more)."""
        holder = {"pid": os.getpid(), "child": child, "payload": payload_folder(__file__)}
        note = json.dumps(holder).encode()
        # Where /run is full an orphan lives longer; nothing else hangs on the note.
        with contextlib.suppress(OSError):
            os.pwrite(self._handle, note, 0)
            os.ftruncate(self._handle, len(note))

    def _end_orphan(self) -> None:
        """End a program whose module was killed: it holds the lock and nobody listens to it."""
        holder = self._read(self._path)
        child = holder.get("child", 0)
        if child and not _alive(holder.get("pid", 0)) and _alive(child):
            try:
                os.killpg(child, signal.SIGKILL)
            except ProcessLookupError:
                return

    def _request_stop(self, fence: Fence) -> None:
        if self._asked() < fence.order:
            with open(self._stop, "w", encoding="utf-8") as file:
                json.dump(fence.as_dict(), file)

    def _asked(self) -> tuple[int, int]:
        asked = self._read(self._stop)
        return (asked.get("epoch", -1), asked.get("seq", -1))

    def asked_to_stop(self) -> tuple[int, int] | None:
        """The newer call that waits, if one does."""
        asked = self._asked()
        mine = self._fence.order if self._fence else (-1, -1)
        return asked if asked > mine else None

    @staticmethod
    def _read(path: str) -> dict:
        try:
            with open(path, encoding="utf-8") as file:
                value = json.load(file)
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def release(self) -> None:
        """Give the lock back and leave nothing in its folder."""
        if self._handle < 0:
            return
        if self.asked_to_stop() is None:
            remove_file(self._stop)
        remove_file(self._path)
        os.close(self._handle)
        self._handle = -1


def payload_folder(path: str) -> str:
    """The folder that Ansible made for the module that this file travelled with, else nothing."""
    archive, zipped, _inside = path.partition(".zip/")
    folder = os.path.dirname(archive)
    return folder if zipped and os.path.basename(folder).startswith("ansible_") else ""


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{int(pid)}/stat", encoding="utf-8", errors="replace") as file:
            # A zombie is a dead process whose parent has not looked yet.
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False
