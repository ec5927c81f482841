"""Component folders, checked out by their digest. Those of current and previous are kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import git

from margrave import digest, folder
from margrave.compose_files import strays
from margrave.errors import UnsafeArchive

_LINK_MODE: Final = 0o120000
_EXECUTABLE_MODE: Final = 0o100755


class Components:
    """`<hex>/…` below one folder. What stands there is complete: it is renamed into place.

    That is believed of what this process wrote. What was there before it is read once: a disk that
    lost its power, or a person, may have left something else under the name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._whole: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether this component is here already, and is what its name says."""
        if name not in self._whole and _is_whole(self.folder / name):
            self._whole.add(name)
        return name in self._whole

    def take(self, name: str, tree: git.Tree) -> None:
        """Check a component's tree against its name and write it out, or UnsafeArchive."""
        files = _read(tree)
        found = digest.of_files(files)
        if found != f"sha256:{name}":
            raise UnsafeArchive(
                f"components/{name}: its content is {found}", "publish the application again"
            )
        _refuse_strays(name, files)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as scratch:
            made = Path(scratch) / name
            _write(made, files)
            shutil.rmtree(self.folder / name, ignore_errors=True)
            made.rename(self.folder / name)
            _sync(self.folder)
        self._whole.add(name)

    def keep(self, names: Iterable[str]) -> None:
        """Remove all others."""
        kept = set(names)
        self._whole &= kept
        for path in self.folder.glob("*"):
            if path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)


def _refuse_strays(name: str, files: dict[str, digest.File]) -> None:
    """A commit that went past the catalogue must not show a package the node's own files."""
    found = strays({path: file.data for path, file in files.items()})
    if found:
        words = "; ".join(f"{stray.where}: {stray.words}" for stray in found)
        raise UnsafeArchive(f"components/{name}: {words}", found[0].cure)


def _read(tree: git.Tree) -> dict[str, digest.File]:
    files: dict[str, digest.File] = {}
    total = 0
    for entry in tree.traverse():
        assert isinstance(entry, (git.Blob, git.Tree, git.Submodule))
        if entry.type == "tree":
            continue
        path = os.path.relpath(str(entry.path), str(tree.path))
        if not isinstance(entry, git.Blob) or entry.mode == _LINK_MODE:
            raise UnsafeArchive(f"{entry.path}: is a link or a submodule", "keep regular files")
        total += entry.size
        if total > digest.ARCHIVE_LIMIT or len(files) >= digest.COUNT_LIMIT:
            raise UnsafeArchive(
                f"{tree.path}: larger than {digest.ARCHIVE_LIMIT} bytes or {digest.COUNT_LIMIT}"
                " files",
                "a component holds configuration; put payload into an image",
            )
        data = entry.data_stream.read()
        files[digest.check_path(path)] = digest.File(data, entry.mode == _EXECUTABLE_MODE)
    return files


def _is_whole(path: Path) -> bool:
    try:
        return digest.of_files(folder.read(path)) == f"sha256:{path.name}"
    except (OSError, UnsafeArchive):
        return False


def _write(made: Path, files: dict[str, digest.File]) -> None:
    """Write them so that they are on the disk before the folder gets its name."""
    for name, file in files.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as opened:
            opened.write(file.data)
            opened.flush()
            os.fsync(opened.fileno())
        path.chmod(0o755 if file.executable else 0o644)
    for one in (made, *(path for path in made.rglob("*") if path.is_dir())):
        _sync(one)


def _sync(path: Path) -> None:
    """A folder's names on the disk; a file's content alone is no file."""
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
