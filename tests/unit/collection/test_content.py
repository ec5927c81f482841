"""Content is stored under a digest of everything that a container can see of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _content
from ansible_collections.margrave.edge.plugins.module_utils._content import Store
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._materialize import Content, Rights

KEY = b"key"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Folder(str(tmp_path / "deployment")))


@pytest.fixture
def settings(tmp_path: Path) -> Content:
    """Return a folder of a package."""
    folder = tmp_path / "package" / "settings"
    (folder / "deep").mkdir(parents=True)
    (folder / "app.conf").write_text("a=1\n")
    (folder / "deep" / "run").write_text("#!/bin/sh\n")
    (folder / "deep" / "run").chmod(0o755)
    return Content("settings", path=str(folder))


def test_a_folder_is_kept_as_it_is(store: Store, settings: Content) -> None:
    """A stored folder is readable for containers, below a folder that only root can enter."""
    place = Path(store.place(settings))

    assert place.name == "settings"
    assert (place / "app.conf").read_text() == "a=1\n"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place, *place.rglob("*"))}
    assert modes == {"settings": 0o755, "deep": 0o755, "app.conf": 0o644, "run": 0o755}
    assert stat.S_IMODE(Path(store.folder.contents).stat().st_mode) == 0o700


def test_the_same_content_has_the_same_place(store: Store, settings: Content) -> None:
    """Equal content is stored once."""
    first = store.place(settings)
    inode = Path(first, "app.conf").stat().st_ino

    assert store.place(settings) == first
    assert Path(first, "app.conf").stat().st_ino == inode


@pytest.mark.parametrize("change", ["bytes", "name", "executable", "more", "points"])
def test_whatever_a_container_can_see_makes_another_place(settings: Content, change: str) -> None:
    """Bytes, names, executable bits, more files and mount points all change the digest."""
    before = _content.digest(settings, KEY)
    folder = Path(settings.path)
    if change == "bytes":
        (folder / "app.conf").write_text("a=2\n")
    elif change == "name":
        (folder / "app.conf").rename(folder / "other.conf")
    elif change == "executable":
        (folder / "app.conf").chmod(0o755)
    elif change == "more":
        (folder / "more").touch()
    else:
        settings = Content("settings", path=settings.path, points=(("data", True),))

    assert _content.digest(settings, KEY) != before


def test_rights_and_texts_make_another_place() -> None:
    """Text, name, mode and owner of a secret all change its digest."""
    contents = [
        Content("s", text="one"),
        Content("s", text="two"),
        Content("s", text="one", rights=Rights(0o400)),
        Content("s", text="one", rights=Rights(uid=1000)),
        Content("s", text="one", rights=Rights(gid=1000)),
        Content("t", text="one"),
    ]

    assert len({_content.digest(content, KEY) for content in contents}) == len(contents)


def test_a_short_secret_cannot_be_guessed_from_its_place(store: Store, tmp_path: Path) -> None:
    """The path of a secret depends on a key that only the deployment has."""
    secret = Content("pin", text="1234")
    other = Store(Folder(str(tmp_path / "other")))

    assert Path(store.place(secret)).parent.name == Path(store.place(secret)).parent.name
    assert Path(store.place(secret)).parent.name != Path(other.place(secret)).parent.name
    assert stat.S_IMODE(Path(store.folder.content_key).stat().st_mode) == 0o600


def test_texts_have_their_rights(store: Store) -> None:
    """A text has mode 0444 unless the author gives another mode."""
    plain = Path(store.place(Content("c", text="x")))
    closed = Path(store.place(Content("c", text="x", rights=Rights(0o400))))

    assert stat.S_IMODE(plain.stat().st_mode) == 0o444
    assert stat.S_IMODE(closed.stat().st_mode) == 0o400


def test_texts_have_their_owner(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text gets the numeric owner that the author gives."""
    owners: list[tuple[str, int, int]] = []
    monkeypatch.setattr(os, "chown", lambda path, *ids: owners.append((Path(path).name, *ids)))

    store.place(Content("c", text="x", rights=Rights(uid=1000, gid=1001)))
    store.place(Content("d", text="x"))

    assert owners == [("c", 1000, 1001)]


def test_mount_points_are_there(store: Store, settings: Content) -> None:
    """Mount points are stored as folders and empty files."""
    points = (("data", True), ("a/b/token", False))
    place = Path(store.place(Content("settings", path=settings.path, points=points)))

    assert (place / "data").is_dir()
    assert (place / "a/b/token").read_text() == ""


def test_a_lost_content_is_written_again(store: Store, settings: Content) -> None:
    """Removed content is restored, also when a killed call left a draft."""
    place = Path(store.place(settings))
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    place.rmdir()
    Path(str(place.parent) + _content.DRAFT).mkdir()

    assert Path(store.place(settings)) == place
    assert (place / "app.conf").read_text() == "a=1\n"
    assert store.folder.kept_contents() == [place.parent.name]


def test_what_is_not_used_is_removed(store: Store, settings: Content) -> None:
    """Contents that no path uses are removed, drafts included."""
    kept, gone = store.place(settings), store.place(Content("c", text="x"))
    Path(gone + "x").parent.with_name("half" + _content.DRAFT).mkdir()

    store.remove_all_but([kept + "/deep", "/elsewhere"])

    assert store.folder.kept_contents() == [Path(kept).parent.name]
