"""A file is either the old one or the new one, also after a power cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _files
from ansible_collections.margrave.edge.plugins.module_utils._journal import Journal
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Flushes and renames, in the order in which they are asked for."""
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
    return steps


WHOLE = ["flush journal.json.tmp", "rename journal.json.tmp journal.json"]


def test_order_of_a_durable_write(tmp_path: Path, steps: list[str]) -> None:
    """Content is flushed before the name changes, and the name before the call goes on."""
    _files.write_json(str(tmp_path / "journal.json"), {"phase": "switch"})

    assert steps == [*WHOLE, f"flush {tmp_path.name}"]
    assert _files.read_json(str(tmp_path / "journal.json")) == {"phase": "switch"}


def test_a_journal_is_on_the_disk_before_anything_changes(tmp_path: Path, steps: list[str]) -> None:
    """Its beginning, and that it goes back; in between each note is whole, and that is enough."""
    journal = Journal(Folder(str(tmp_path)), {"kind": "update"})
    told = {}
    for phase in ("prefetch", "switch", "goback", "done"):
        journal.begin(phase)
        told[phase] = steps[:]
        steps.clear()

    lasting = [*WHOLE, f"flush {tmp_path.name}"]
    assert told == {"prefetch": lasting, "switch": WHOLE, "goback": lasting, "done": WHOLE}


def test_a_release_is_on_the_disk_with_all_that_is_in_it(tmp_path: Path, steps: list[str]) -> None:
    """What containers mount too: after a power cut it is not a file without content."""
    inner = tmp_path / "components" / "web"
    inner.mkdir(parents=True)
    (inner / "nginx.conf").write_text("listen 80;")
    _files.write_plain(str(tmp_path / "web.env"), b"GREETING=hello")
    _files.sync_tree(str(tmp_path))

    assert steps == [
        "flush nginx.conf",
        "flush web",
        "flush components",
        "flush web.env",
        f"flush {tmp_path.name}",
    ]
    assert (tmp_path / "web.env").stat().st_mode & 0o777 == 0o600


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


def test_many_files_wait_for_the_disk_once(
    tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package may hold thousands: one flush after the other would take minutes."""
    monkeypatch.setattr(os, "sync", lambda: steps.append("flush all"))
    for number in range(_files.MANY):
        (tmp_path / str(number)).touch()
    _files.sync_tree(str(tmp_path))

    assert steps == ["flush all"]


def test_links_point_elsewhere_in_one_step(tmp_path: Path, steps: list[str]) -> None:
    """A link that is moved is never absent, and what was before is noted before what is now."""
    _files.point(str(tmp_path), {"current": "releases/a"})
    steps.clear()
    _files.point(str(tmp_path), {"previous": "releases/a", "current": "releases/b"})

    assert (tmp_path / "current").readlink() == Path("releases/b")
    assert (tmp_path / "previous").readlink() == Path("releases/a")
    assert steps == [
        "rename previous.tmp previous",
        "rename current.tmp current",
        f"flush {tmp_path.name}",
    ]
