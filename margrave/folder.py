"""A component's folder as values, read through the path object that the caller hands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margrave.digest import ARCHIVE_LIMIT, COUNT_LIMIT, File
from margrave.errors import UnsafeArchive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(folder: Path) -> dict[str, File]:
    """All regular files below the folder by POSIX path; links and devices are refused."""
    files: dict[str, File] = {}
    total = 0
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file():
            raise UnsafeArchive(f"{name}: is a link or a device", "keep regular files only")
        status = path.stat()
        total += status.st_size  # looked at first: what is too large is not read into memory
        if total > ARCHIVE_LIMIT or len(files) >= COUNT_LIMIT:
            raise UnsafeArchive(
                f"{folder.name}: larger than {ARCHIVE_LIMIT} bytes or {COUNT_LIMIT} files",
                "a component holds configuration; put payload into an image",
            )
        files[name] = File(path.read_bytes(), bool(status.st_mode & 0o100))
    return files


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name == ".git":
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)
        else:
            yield path
