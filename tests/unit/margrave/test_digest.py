"""Digests and canonical archives."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from margrave import digest, folder
from margrave.digest import File
from margrave.errors import UnsafeArchive

FILES = {"compose.yaml": File(b"services: {}\n"), "bin/start": File(b"#!/bin/sh\n", True)}
GOLDEN = "sha256:2826cd6e920eb83efe4ba649baf63ad4ede19c86a4eaeda33e5d9a502dc7b935"


def test_the_archive_is_the_same_whatever_the_order() -> None:
    """A folder has one archive, and so one digest."""
    turned = dict(reversed(FILES.items()))

    assert digest.archive(FILES) == digest.archive(turned)
    # Written down, because what is published today must have the same digest in ten years.
    assert digest.of_files(FILES) == GOLDEN


def test_an_archive_gives_back_its_files() -> None:
    """Unpacking gives what was packed, the executable bit included."""
    assert digest.unpack(digest.archive(FILES)) == FILES


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../b", "a//b", "./a", "", "a\\b"])
def test_paths_that_lead_out_are_refused(path: str) -> None:
    """No path of an archive leads outside, and each file has one way to be written."""
    with pytest.raises(UnsafeArchive):
        digest.archive({path: File(b"")})


def test_links_in_an_archive_are_refused() -> None:
    """A link could lead anywhere."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)

    with pytest.raises(UnsafeArchive, match="link: is a link or a device"):
        digest.unpack(buffer.getvalue())


def test_an_archive_beyond_its_limit_is_refused() -> None:
    """What is larger than the limit is not unpacked."""
    with pytest.raises(UnsafeArchive, match="larger than 10 bytes"):
        digest.unpack(digest.archive({"a": File(b"x" * 11)}), limit=10)


def test_a_folder_reads_as_its_files_and_refuses_links(tmp_path: Path) -> None:
    """A component's folder is its regular files; a symlink in it is refused."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "start").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "bin" / "start").chmod(0o755)
    (tmp_path / "compose.yaml").write_bytes(b"services: {}\n")

    assert folder.read(tmp_path) == FILES

    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeArchive, match="link: is a link or a device"):
        folder.read(tmp_path)
