"""Files as they are: what cannot be read is a finding, and nothing is followed or waited for."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from margrave import digest, folder
from margrave.errors import DocumentError, UnsafeArchive
from margrave.findings import Finding
from margrave.yaml_text import SIZE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.digest import File

MISSING = "missing"
DOCUMENT_FOLDERS = ("deployments", "sites")
REPOSITORY_FOLDERS = (*DOCUMENT_FOLDERS, "components")
_LINK_CURE = "put the file itself here"


def shown(path: Path) -> str:
    """The path as text, also where its name is none."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def wrong(path: Path, message: str, cure: str = "", code: str = "unreadable") -> Finding:
    """A finding about a file or folder as a whole."""
    return Finding("", message, cure, code, shown(path))


def load(path: Path, *, follow: bool = False) -> bytes:
    """A document's bytes, or DocumentError with why there are none."""
    try:
        if path.is_symlink() and not follow:
            raise DocumentError([wrong(path, "is a link", _LINK_CURE)])
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError([wrong(path, "is no file", _LINK_CURE)])
        if status.st_size > SIZE_LIMIT:
            cure = "no document is that large: name the right file"
            raise DocumentError([wrong(path, f"is larger than {SIZE_LIMIT} bytes", cure)])
        with path.open("rb") as file:
            return file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise DocumentError([unreadable(path, error)]) from error


def unreadable(path: Path, error: OSError) -> Finding:
    """What the machine said, as a finding."""
    if isinstance(error, FileNotFoundError):
        return wrong(path, "does not exist", "correct the path", MISSING)
    return wrong(path, f"cannot be read: {error.strerror or error}")


def is_folder(path: Path) -> bool:
    """Whether a folder is there; a link to one is none, and what cannot be looked at neither."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Whether a file is there, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def listed(base: Path, findings: list[Finding]) -> list[Path]:
    """What lies in the folder, sorted; none when there is no such folder."""
    try:
        return sorted(base.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        findings.append(unreadable(base, error))
        return []


def walk(base: Path, findings: list[Finding], skip: frozenset[Path]) -> Iterator[Path]:
    """Files and links below the folder in their order; Git's own folders are left out."""
    waiting = [base]
    while waiting:
        below = listed(waiting.pop(), findings)
        folders = [one for one in below if is_folder(one)]
        yield from (one for one in below if one not in folders)
        waiting += [one for one in reversed(folders) if one.name != ".git" and one not in skip]


def content(path: Path) -> dict[str, File]:
    """A component's files, or UnsafeArchive with why they cannot be packed."""
    try:
        files = folder.read(path)
        for name in files:
            digest.check_path(name).encode()
    except OSError as error:
        name = shown(Path(error.filename)) if error.filename else shown(path)
        raise UnsafeArchive(f"{name}: cannot be read: {error.strerror or error}") from error
    except RecursionError as error:
        raise UnsafeArchive("folders lie too deep in each other", "flatten them") from error
    except UnicodeError as error:
        raise UnsafeArchive("a file's name is not UTF-8", "rename it") from error
    return files
