"""One at a time: a lock per lab, one for the base system, one for the choice of subnets."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock while the block runs; a killed holder frees it, and no file is left over."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:  # the last lab's end took the folder away between the two lines
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _still_there(path, descriptor):
            break
        # The holder before us removed the file while we waited: this lock guards nothing any more.
        os.close(descriptor)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
