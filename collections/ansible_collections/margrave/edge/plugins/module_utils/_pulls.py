# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pulls: a few at a time, taken up again where a line broke, and never into a full disk."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection

from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    AuthError,
    ConflictError,
    DiskError,
    EdgeError,
    ImageError,
    RegistryError,
    translated,
)
from ansible_collections.margrave.edge.plugins.module_utils._policy import registry_of
from ansible_collections.margrave.edge.plugins.module_utils._record import changing, field
from ansible_collections.margrave.edge.plugins.module_utils._types import Protocol

# More at a time share one line and one disk: the first would only come later.
AT_ONCE = 3
# A broken line is taken up again as often as this, if each attempt brought something.
ATTEMPTS = 5
PAUSE = 1.0
# So much stays free: containers that run need room for their own files, and so does the journal.
RESERVE = 256 * 1024**2


# In the line of progress that tells of a layer.
SOME_CAME = b'"id"'
# What the registry, or the way to it, is to blame for.
OF_REGISTRY = (AuthError, ImageError, RegistryError)


class Source(Protocol):
    """What fetches images: a container engine, or the kubelet's runtime."""

    def store(self) -> str:
        """The folder that holds images and containers."""

    def pull(self, reference: str, login: dict | None, heard: Callable[[bytes], None]) -> None:
        """Fetch an image, and tell of each line of progress, or at least of each second."""


def fetch(
    call: Call, source: Source, references: list[str], optional: Collection[str] = ()
) -> list[str]:
    """Pull all of them, or raise what went wrong first; the others end with it.

    What is optional is here already: of its registry's trouble only the words are returned.
    """
    call.safe_point()
    store = source.store()
    _leave_room(store)
    work = _Work(call, source, store, list(references), frozenset(optional))
    threads = [
        threading.Thread(target=work.go_on, daemon=True)
        for _number in range(min(AT_ONCE, len(references)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if work.errors:
        raise work.errors[0]
    return [call.told(error)["message"] for error in work.tolerated]


@changing
class _Work:
    """What is still to be pulled, and what went wrong."""

    call: Call
    source: Source
    store: str
    left: list
    optional: frozenset = frozenset()
    errors: list = field(factory=list)
    tolerated: list = field(factory=list)

    def go_on(self) -> None:
        """Pull until nothing is left, or until something went wrong anywhere."""
        while self.left and not self.errors:
            try:
                reference = self.left.pop(0)
            except IndexError:  # another thread took the last one
                return
            try:
                self._pull(reference)
            except _OverError:
                return
            except Exception as error:  # noqa: BLE001 - a thread that just ends would be taken for done
                self._failed(reference, translated(error))

    def _failed(self, reference: str, error: EdgeError) -> None:
        tolerable = reference in self.optional and isinstance(error, OF_REGISTRY)
        (self.tolerated if tolerable else self.errors).append(error)

    def _pull(self, reference: str) -> None:
        login = self.call.request.logins.get(registry_of(reference))
        for attempt in range(1, ATTEMPTS + 1):
            heard = _Heard(self._look_around)
            try:
                self.source.pull(reference, login, heard)
                return
            except RegistryError:
                # A registry that gave nothing is away: the runner waits for it, not this call.
                if attempt == ATTEMPTS or not heard.layers:
                    raise
            self._wait(PAUSE * attempt)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._look_around()
            time.sleep(0.05)

    def _look_around(self) -> None:
        """Stop for a newer call, for what went wrong beside, and before the disk is full."""
        if self.errors:
            raise _OverError("over", "another pull failed")
        self.call.safe_point()
        _leave_room(self.store)


class _OverError(ConflictError):
    """Another thread's pull failed: its error counts."""


@changing
class _Heard:
    """Called at each line of a pull's progress: looks around, and notes that layers come."""

    look_around: Callable[[], None]
    layers: bool = False

    def __call__(self, line: bytes) -> None:
        """Look around."""
        self.layers = self.layers or SOME_CAME in line
        self.look_around()


def _leave_room(store: str) -> None:
    """Refuse to begin, or to go on, where the disk would run full.

    No engine tells before a pull how much it will write, so the free space is watched instead.
    """
    found = os.statvfs(store)
    free = found.f_bavail * found.f_frsize
    if free < RESERVE:
        raise DiskError(
            "disk-low",
            f"{store}: {free // 1024**2} MiB are free, and {RESERVE // 1024**2} MiB have to stay so"
            " for what runs",
            "make room on the node: remove images that nothing uses, or give it a larger disk",
        )
