"""What a source holds, without following anything: files with their bytes, and what is no file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from margrave.digest import File

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from git import Repo


@dataclass(frozen=True)
class Entry:
    """A path of the tree; `read` gives its file, or is None for a link, device or submodule."""

    path: str
    size: int
    read: Callable[[], File] | None
    mark: str = ""  # another one whenever the content may be another


class Tree(Protocol):
    """A folder at one moment."""

    @property
    def commit(self) -> str | None:
        """The commit it is of, where it is known."""

    def entries(self) -> Iterator[Entry]:
        """Everything below it, in the order of paths."""


class FolderTree:
    """A folder of this machine as it is now."""

    def __init__(self, root: Path, commit: str | None = None) -> None:
        self.root = root
        self.commit = commit

    def entries(self) -> Iterator[Entry]:
        """Everything below the folder but .git, sorted."""
        for folder, folders, files in os.walk(self.root, followlinks=False):
            folders[:] = sorted(name for name in folders if name != ".git")
            here = Path(folder)
            linked = [name for name in folders if (here / name).is_symlink()]
            for name in sorted([*files, *linked]):
                yield self._entry(here / name)

    def _entry(self, path: Path) -> Entry:
        name = path.relative_to(self.root).as_posix()
        status = path.lstat()
        # A content that is put back with its old time and size still has another change time.
        mark = f"{status.st_mode} {status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns}"
        if path.is_symlink() or not path.is_file():
            return Entry(name, 0, None, mark)
        executable = bool(status.st_mode & 0o100)
        return Entry(name, status.st_size, lambda: File(path.read_bytes(), executable), mark)


class GitTree:
    """A commit's tree, read from the object store: nothing is checked out."""

    def __init__(self, repository: Repo, commit: str, folder: str = "") -> None:
        self._repository = repository
        self._folder = folder.strip("/")
        self.commit = commit

    def entries(self) -> Iterator[Entry]:
        """Everything in the tree, sorted as Git sorts."""
        listed = self._repository.git.ls_tree(
            "-r", "-z", "--long", "--full-tree", f"{self.commit}:{self._folder}"
        )
        for line in str(listed).split("\0"):
            if line:
                yield self._entry(line)

    def _entry(self, line: str) -> Entry:
        about, _, path = line.partition("\t")
        mode, kind, oid, size = about.split()
        if kind != "blob" or mode == "120000":
            return Entry(path, 0, None, f"{mode} {oid}")
        file = lambda: File(self._blob(oid), mode == "100755")  # noqa: E731 - as in a folder
        return Entry(path, int(size), file, f"{mode} {oid}")

    def _blob(self, oid: str) -> bytes:
        data: bytes = self._repository.odb.stream(bytes.fromhex(oid)).read()
        return data
