"""Content is checked before it is used, and nothing in it leaves its folder."""

from __future__ import annotations

import base64
import io
import tarfile
from typing import TYPE_CHECKING

import pytest
from ansible_collections.margrave.edge.plugins.module_utils._archive import unpack, verified
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, ImageError

from margrave import digest

if TYPE_CHECKING:
    from pathlib import Path


def _tar(*entries: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for entry in entries:
            tar.addfile(entry, io.BytesIO(b"x" * entry.size))
    return buffer.getvalue()


def _link(name: str, target: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    return entry


def test_files_and_modes_arrive(tmp_path: Path) -> None:
    """What was packed is what is unpacked, and what could be executed still can."""
    files = {"compose.yaml": digest.File(b"a"), "bin/run": digest.File(b"b", executable=True)}

    unpack("web", digest.archive(files), str(tmp_path))

    assert (tmp_path / "compose.yaml").read_bytes() == b"a"
    assert (tmp_path / "bin/run").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "entry",
    [
        tarfile.TarInfo("../outside"),
        tarfile.TarInfo("/etc/cron.d/x"),
        tarfile.TarInfo("a/../../b"),
        _link("passwd", "/etc/passwd"),
    ],
    ids=["parent", "absolute", "hidden parent", "link"],
)
def test_nothing_leads_outside(tmp_path: Path, entry: tarfile.TarInfo) -> None:
    """An archive that tries to leave its folder is refused and writes nothing."""
    target = tmp_path / "in"
    target.mkdir()

    with pytest.raises(ConfigError) as refused:
        unpack("web", _tar(entry), str(target))

    assert refused.value.code == "unsafe-archive"
    assert [target] == list(tmp_path.rglob("*"))


def test_another_content_is_refused() -> None:
    """Content whose digest differs from the wanted one is of class image, with both digests."""
    archive = base64.b64encode(b"other").decode()
    wanted = "sha256:" + "0" * 64

    with pytest.raises(ImageError) as refused:
        verified("web", archive, wanted)

    assert refused.value.code == "digest-mismatch"
    assert wanted in refused.value.message
    assert digest.of_bytes(b"other") in refused.value.message


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Rubbish with the right digest is told as rubbish."""
    with pytest.raises(ConfigError, match="cannot be read"):
        unpack("web", b"rubbish" * 100, str(tmp_path))
