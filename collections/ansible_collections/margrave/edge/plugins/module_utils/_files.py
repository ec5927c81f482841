# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that survive a power cut: written beside, flushed, renamed, the folder flushed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

# With less than this free no program can keep its records.
LEAST = 1024 * 1024


def write_durable(path: str, data: bytes, mode: int = 0o600) -> None:
    """Replace a file so that after a crash it is either the old one or the new one, whole.

    Whoever writes a file holds a lock over it, so one name beside it will do, and what a killed
    call left under it is written over.
    """
    beside = path + ".tmp"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        _write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.rename(beside, path)
    sync_folder(os.path.dirname(path))


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync_folder(folder: str) -> None:
    """Make names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_json(path: str, value: object) -> None:
    """Store a value durably, readable for a person."""
    write_durable(path, (json.dumps(value, sort_keys=True, indent=1) + "\n").encode())


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


def point(link: str, target: str) -> None:
    """Make a symbolic link point elsewhere in one step."""
    beside = link + ".tmp"
    remove_file(beside)
    os.symlink(target, beside)
    os.rename(beside, link)
    sync_folder(os.path.dirname(link))
