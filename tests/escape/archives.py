"""Archives that no publisher writes: a playbook can hand them to the module all the same."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping

from tests.escape.catalogue import ENGINES, IDLE, Expectation, Package

COMPOSE = f"services: {{web: {{image: {IDLE}}}}}\n".encode()
PRIVILEGED = f"services: {{web: {{image: {IDLE}, privileged: true}}}}\n".encode()


def packages() -> list[Package]:
    """Return a package for each trick."""
    return [_package(name, tries, fill) for name, (tries, fill) in TRICKS.items()]


def _package(name: str, tries: str, fill: Callable[[tarfile.TarFile], None]) -> Package:
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w", format=tarfile.PAX_FORMAT) as tar:
        fill(tar)
    return Package(
        name=f"archive_{name}",
        kind="compose",
        tries=tries,
        changes="A file appears outside of the deployment's own folder.",
        expect=Expectation.REFUSED,
        engines=ENGINES["compose"],
        files={},
        archive=body.getvalue(),
    )


def _file(tar: tarfile.TarFile, name: str, data: bytes, **more: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    entry.pax_headers = more
    tar.addfile(entry, io.BytesIO(data))


def _special(tar: tarfile.TarFile, name: str, kind: bytes, target: str = "") -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    entry.devmajor, entry.devminor = 1, 7
    tar.addfile(entry)


def _absolute(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _file(tar, "/root/escape-archive", b"x")


def _climbing(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _file(tar, "../../../../../../../root/escape-archive", b"x")


def _climbing_inside(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _file(tar, "a/../../../../../../../../root/escape-archive", b"x")


def _symlink(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _special(tar, "x", tarfile.SYMTYPE, "/root")


def _through_symlink(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _special(tar, "x", tarfile.SYMTYPE, "/root")
    _file(tar, "x/escape-archive", b"x")


def _hard_link(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _special(tar, "x", tarfile.LNKTYPE, "/root/escape-secret")


def _device(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _special(tar, "x", tarfile.CHRTYPE)


def _pipe(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _special(tar, "x", tarfile.FIFOTYPE)


def _renamed(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _file(tar, "x", b"x", path="/root/escape-archive")


def _twice(tar: tarfile.TarFile) -> None:
    _file(tar, "compose.yaml", COMPOSE)
    _file(tar, "compose.yaml", PRIVILEGED)


TRICKS: Mapping[str, tuple[str, Callable[[tarfile.TarFile], None]]] = {
    "absolute": ("Brings a file with a name from the node's root.", _absolute),
    "climbing": ("Brings a file whose name begins with dots.", _climbing),
    "climbing_inside": ("Brings a file whose name climbs after a folder.", _climbing_inside),
    "symlink": ("Brings a symbolic link to a folder of the node.", _symlink),
    "through_symlink": ("Brings a link and a file below it.", _through_symlink),
    "hard_link": ("Brings a hard link to a file of the node.", _hard_link),
    "device": ("Brings a device.", _device),
    "pipe": ("Brings a pipe at which its reader waits.", _pipe),
    "renamed": ("Names a file otherwise in an extended header.", _renamed),
    "twice": ("Brings the same file twice, the second one privileged.", _twice),
}
