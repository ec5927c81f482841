"""A file is either the old one or the new one, also after a power cut."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ansible_collections.margrave.edge.plugins.module_utils import _files

if TYPE_CHECKING:
    import pytest


def test_order_of_a_durable_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content is flushed before the name changes, and the name before the call goes on."""
    steps: list[str] = []
    real_fsync, real_rename = os.fsync, os.rename

    def fsync(handle: int) -> None:
        steps.append("flush " + Path(f"/proc/self/fd/{handle}").readlink().name)
        real_fsync(handle)

    def rename(old: str, new: str) -> None:
        steps.append(f"rename {Path(old).name} {Path(new).name}")
        real_rename(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)

    _files.write_json(str(tmp_path / "journal.json"), {"phase": "switch"})

    assert [
        "flush journal.json.tmp",
        "rename journal.json.tmp journal.json",
        f"flush {tmp_path.name}",
    ] == steps
    assert _files.read_json(str(tmp_path / "journal.json")) == {"phase": "switch"}


def test_what_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    """A missing or damaged file is the same as none."""
    (tmp_path / "bad").write_text("{half")

    assert _files.read_json(str(tmp_path / "bad")) is None
    assert _files.read_json(str(tmp_path / "none")) is None


def test_only_root_enters(tmp_path: Path) -> None:
    """Every folder made on the way is closed to others."""
    _files.make_folder(str(tmp_path / "a" / "b"))

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_link_points_elsewhere_in_one_step(tmp_path: Path) -> None:
    """A link that is moved is never absent."""
    link = str(tmp_path / "current")
    _files.point(link, "releases/a")
    _files.point(link, "releases/b")

    assert str(Path(link).readlink()) == "releases/b"
