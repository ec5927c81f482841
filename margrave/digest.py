"""Digests over exact bytes and over folders.

A folder's digest is the SHA-256 of its canonical archive: a PAX tar of its regular files, sorted
by path, with no times and no owners, executable or not being all that is kept of the mode. What
Git keeps of a file is exactly what the archive keeps, so a component has the same digest before
publishing, in a checkout and on a node.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from margrave.errors import UnsafeArchive

if TYPE_CHECKING:
    from collections.abc import Mapping

PATTERN: Final = r"sha256:[0-9a-f]{64}"
# A component is configuration, not payload: images carry the payload. 64 MiB is far above what
# any compose folder needs and far below what would hurt a runner.
ARCHIVE_LIMIT: Final = 64 * 1024 * 1024
COUNT_LIMIT: Final = 10_000


@dataclass(frozen=True, slots=True)
class File:
    """A file as a component keeps it."""

    data: bytes
    executable: bool = False


def of_bytes(data: bytes) -> str:
    """`sha256:` and the lower-case hex digest of exactly these bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def is_digest(text: object) -> bool:
    """Whether the text is a digest as Margo writes them."""
    return isinstance(text, str) and re.fullmatch(PATTERN, text) is not None


def canonical_json(value: object) -> bytes:
    """The same value is the same bytes: sorted keys, no blanks, UTF-8."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def archive(files: Mapping[str, File]) -> bytes:
    """The canonical archive of a folder's files, by their POSIX paths."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files, key=lambda text: text.encode()):
            check_path(path)
            entry = tarfile.TarInfo(path)
            entry.size = len(files[path].data)
            entry.mode = 0o755 if files[path].executable else 0o644
            tar.addfile(entry, io.BytesIO(files[path].data))
    return buffer.getvalue()


def of_files(files: Mapping[str, File]) -> str:
    """The digest of a folder."""
    return of_bytes(archive(files))


def unpack(data: bytes, limit: int = ARCHIVE_LIMIT) -> dict[str, File]:
    """The files of an archive, or UnsafeArchive: no links, devices, outside paths, or too much."""
    files: dict[str, File] = {}
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for entry in tar:
                if entry.isdir():
                    continue
                check_path(entry.name)
                if not entry.isfile():
                    raise UnsafeArchive(f"{entry.name}: is a link or a device", "keep files only")
                total += entry.size
                if total > limit or len(files) >= COUNT_LIMIT:
                    raise UnsafeArchive(
                        f"{entry.name}: the archive is larger than {limit} bytes"
                        f" or {COUNT_LIMIT} files",
                        "a component holds configuration; put payload into an image",
                    )
                body = tar.extractfile(entry)
                assert body is not None
                files[entry.name] = File(body.read(), bool(entry.mode & 0o111))
    except tarfile.TarError as error:
        raise UnsafeArchive(f"the archive cannot be read: {error}", "pack it anew") from error
    return files


def check_path(path: str) -> str:
    """The path itself, or UnsafeArchive: relative, inside, and one way to write it."""
    parts = PurePosixPath(path).parts
    written_plainly = path == "/".join(parts) and not path.startswith("/")
    if not parts or not written_plainly or ".." in parts or "\\" in path or "\0" in path:
        raise UnsafeArchive(f"{path!r}: is not a path inside the folder", "keep it inside")
    return path
