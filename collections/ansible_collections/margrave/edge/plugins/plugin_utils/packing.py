# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A component's folder as its canonical archive: the same bytes on every machine.

A PAX tar of the regular files, sorted by path, with no times and no owners, executable or not being
all that is kept of the mode.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator

from ansible.errors import AnsibleActionFail


def contents(folder: str) -> dict[str, bytes]:
    """The files by path, in order, or AnsibleActionFail naming the one that cannot travel."""
    if not os.path.isdir(folder):
        raise AnsibleActionFail(f"components.src: {folder} is not a folder (give the component's)")
    found = {}
    for path in sorted(_files(folder, ""), key=lambda path: path.encode()):
        with open(os.path.join(folder, path), "rb") as file:
            found[path] = file.read()
    return found


def packed(folder: str, files: dict[str, bytes] | None = None) -> bytes:
    """The archive of a folder, or of the files that were read from it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data in (contents(folder) if files is None else files).items():
            full = os.path.join(folder, path)
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            entry.mode = 0o755 if os.stat(full).st_mode & 0o100 else 0o644
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _files(folder: str, below: str) -> Iterator[str]:
    for one in os.scandir(os.path.join(folder, below)):
        path = f"{below}/{one.name}" if below else one.name
        if one.name == ".git":
            continue
        if one.is_dir(follow_symlinks=False):
            yield from _files(folder, path)
        elif one.is_file(follow_symlinks=False):
            yield path
        else:
            raise AnsibleActionFail(f"{folder}: {path} is a link or a device (keep regular files)")


def digest(archive: bytes) -> str:
    """`sha256:` and the hex digest of the archive."""
    return "sha256:" + hashlib.sha256(archive).hexdigest()


def text(archive: bytes) -> str:
    """The archive as a module parameter."""
    return base64.b64encode(archive).decode()
