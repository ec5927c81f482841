# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that survive a power cut: written beside, flushed, renamed, the folder flushed.

Each flush is a commit of the disk's own journal: it is asked for where something hangs on it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping

# With less than this free no program can keep its records.
LEAST = 1024 * 1024
# Of more than so many files each would wait for the disk: one flush of all disks is sooner done.
MANY = 64
# The ending of a file that is being written, beside the one that it replaces.
TEMPORARY = ".tmp"
WRITES = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def write_plain(path: str, data: bytes) -> None:
    """Write a file of a folder that is flushed as a whole before anybody relies on it."""
    with open(os.open(path, WRITES, 0o600), "wb") as file:
        file.write(data)


def write_whole(path: str, data: bytes) -> None:
    """Replace a file so that after a crash it is either the old one or the new one, whole.

    Whoever writes a file holds a lock over it, so one name beside it will do, and what a killed
    call left under it is written over.
    """
    beside = path + TEMPORARY
    with open(os.open(beside, WRITES, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(beside, path)


def write_durable(path: str, data: bytes) -> None:
    """The same, and a crash from now on finds the new one."""
    write_whole(path, data)
    sync(os.path.dirname(path))


def sync(path: str) -> None:
    """Make a file's content durable, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: str) -> None:
    """Make a folder durable, with all that is in it."""
    paths = [
        path
        for place, _folders, names in os.walk(folder, topdown=False)
        for path in (*(os.path.join(place, name) for name in names), place)
    ]
    if len(paths) > MANY:
        os.sync()
        return
    for path in paths:
        sync(path)


def write_json(path: str, value: object, at_once: bool = True) -> None:
    """Store a value, readable for a person; where not at once, a crash may find the one before."""
    write = write_durable if at_once else write_whole
    write(path, (json.dumps(value, sort_keys=True, indent=1) + "\n").encode())


def read_json(path: str) -> dict | None:
    """The stored mapping, or None where there is none or a crash of the disk left rubbish."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def make_folder(path: str) -> None:
    """A folder that only root enters, with those above it that are not there yet."""
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    with contextlib.suppress(FileExistsError):  # another call was quicker
        os.mkdir(path, 0o700)


def is_full(path: str) -> bool:
    """Whether there is no room left on its disk; where nothing is there, none is missing."""
    try:
        found = os.statvfs(path)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < LEAST


def remove_tree(path: str) -> None:
    """Remove a folder and what is in it; gone already is fine."""
    shutil.rmtree(path, ignore_errors=True)


def remove_file(path: str) -> None:
    """Remove a file; gone already is fine."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def point(folder: str, targets: Mapping[str, str]) -> None:
    """Make symbolic links of a folder point elsewhere, one after the other, each in one step."""
    for name, target in targets.items():
        link = os.path.join(folder, name)
        beside = link + TEMPORARY
        remove_file(beside)
        os.symlink(target, beside)
        os.rename(beside, link)
    sync(folder)
