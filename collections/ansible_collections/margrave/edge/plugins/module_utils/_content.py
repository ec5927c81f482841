# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Content that containers mount: kept by its digest for as long as a container uses it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    remove_tree,
    sync,
    sync_tree,
    write_durable,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._materialize import (
    DEFAULT_MODE,
    Content,
)
from ansible_collections.margrave.edge.plugins.module_utils._record import record

CHUNK = 1024 * 1024
# Suffix of a folder that is being written; the next call replaces one that a killed call left.
DRAFT = ".new"


@record
class Entry:
    """A file or folder of a content, relative to the folder that its digest names."""

    name: str
    is_folder: bool = False
    path: str = ""
    text: bytes = b""
    mode: int = 0o644
    uid: int = 0
    gid: int = 0

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of a file."""
        if not self.path:
            yield self.text
            return
        with open(self.path, "rb") as file:
            while True:
                chunk = file.read(CHUNK)
                if not chunk:
                    return
                yield chunk


def entries(content: Content) -> list[Entry]:
    """Return the files and folders of a content, sorted by name."""
    mode, uid, gid = content.rights.mode, content.rights.uid, content.rights.gid
    if not os.path.isdir(content.path):
        if mode is None:
            mode = _mode(content.path) if content.path else DEFAULT_MODE
        text = content.text.encode()
        return [Entry(content.name, False, content.path, text, mode, uid, gid)]
    found = [Entry(content.name, is_folder=True, mode=0o755)]
    for name, is_folder in content.points:
        found.append(Entry(f"{content.name}/{name}", is_folder, mode=0o755 if is_folder else 0o644))
    for place, folders, files in os.walk(content.path):
        inner = os.path.join(content.name, os.path.relpath(place, content.path))
        found += [Entry(_join(inner, name), is_folder=True, mode=0o755) for name in folders]
        for name in files:
            path = os.path.join(place, name)
            found.append(Entry(_join(inner, name), path=path, mode=_mode(path)))
    return sorted(found, key=lambda entry: entry.name)


def digest(content: Content, key: bytes) -> str:
    """Return the digest over names, rights and bytes of a content; texts are digested with the key.

    The name is in answers and in the engine's records, and a short secret could be guessed from a
    digest that anybody can compute.
    """
    whole = sha256(b"" if content.path else key)
    for entry in entries(content):
        inner = sha256()
        for chunk in () if entry.is_folder else entry.chunks():
            inner.update(chunk)
        rights = [entry.mode, entry.uid, entry.gid]
        line = [entry.name, entry.is_folder, rights, inner.hexdigest()]
        whole.update(json.dumps(line).encode() + b"\n")
    return whole.hexdigest()


@record
class Store:
    """The contents of one deployment."""

    folder: Folder

    def place(self, content: Content) -> str:
        """Keep a content durably and return the path to mount it from."""
        whole = os.path.join(self.folder.contents, digest(content, self._key()))
        path = os.path.join(whole, content.name)
        if not os.path.lexists(path):
            make_folder(self.folder.contents)
            draft = whole + DRAFT
            remove_tree(draft)
            os.mkdir(draft, 0o700)
            for entry in entries(content):
                _write(os.path.join(draft, entry.name), entry)
            sync_tree(draft)
            remove_tree(whole)
            os.rename(draft, whole)
            sync(self.folder.contents)
        return path

    def remove_all_but(self, used: Iterable[str]) -> None:
        """Remove all contents except those that one of these paths lies in."""
        kept = {self.folder.content_of(path) for path in used}
        for name in set(self.folder.kept_contents()) - kept:
            remove_tree(os.path.join(self.folder.contents, name))

    def _key(self) -> bytes:
        """Return the key of the deployment; create it on first use."""
        try:
            with open(self.folder.content_key, "rb") as file:
                return file.read()
        except FileNotFoundError:
            make_folder(self.folder.path)
            key = os.urandom(32)
            write_durable(self.folder.content_key, key)
            return key


def _write(path: str, entry: Entry) -> None:
    """Write an entry with its exact rights, whatever the umask is."""
    if entry.is_folder:
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        with open(path, "wb") as file:
            for chunk in entry.chunks():
                file.write(chunk)
    if (entry.uid, entry.gid) != (0, 0):
        os.chown(path, entry.uid, entry.gid)
    os.chmod(path, entry.mode)


def _mode(path: str) -> int:
    return 0o755 if os.stat(path).st_mode & 0o111 else 0o644


def _join(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))
