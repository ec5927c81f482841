"""Sources in their turn: each is read again and again, whatever is wrong with another."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.catalog import packages
from controller.store import apps, catalog
from margrave.errors import MargraveError
from tests.support.works import APPS, Works, git


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    works = Works(tmp_path / "state", None)
    yield works
    works.store.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A registry of one's own, below a local root."""
    shutil.copytree(APPS / "storefront", tmp_path / "apps" / "storefront")
    return tmp_path / "apps"


def listed(works: Works) -> dict[str, list[str]]:
    with works.store.session() as session:
        return {one["id"]: one["versions"] for _, one in apps.listed(session)}


def sourced(works: Works, name: str) -> dict[str, Any]:
    with works.store.session() as session:
        found = catalog.source(session, name)
    assert found is not None
    return found


def _torn(works: Works, source: Path) -> dict[str, Any]:
    """A copy in the state folder that a full disk left behind."""
    git(source, "init", "-q", "-b", "main")
    git(source, "add", ".")
    git(source, "commit", "-qm", "Begin")
    torn = works.settings.state.dir / "sources" / "bad.git"
    torn.mkdir(parents=True)
    (torn / "HEAD").write_text("")
    return {"ref": "main"}


def _no_text(works: Works, source: Path) -> dict[str, Any]:
    """Credentials that are no text."""
    folder = works.settings.state.dir / "credentials"
    folder.mkdir(parents=True)
    (folder / "forge").write_bytes(b"\xff\xfe")
    return {"url": "https://forge.invalid/apps", "credentials": "forge"}


def _too_long(works: Works, source: Path) -> dict[str, Any]:
    """A name that a row of PostgreSQL has no room for; SQLite takes any."""
    path = source / "storefront" / "1.0.0" / "margo.yaml"
    text = path.read_text().replace("name: Storefront\n", f"name: {'S' * 300}\n", 1)
    assert "S" * 300 in text
    path.write_text(text)
    return {}


@pytest.mark.parametrize("ill", [_torn, _no_text, _too_long])
def test_a_source_that_cannot_be_read_keeps_no_other_waiting(
    works: Works, source: Path, ill: Any
) -> None:
    """Whatever is wrong with a source is told at it, it has had its turn, and the next ones are
    read in the same round; the timer comes back to all of them."""
    works.catalog.add({"name": "bad", "url": str(source), **ill(works, source)})
    works.catalog.add({"name": "examples", "url": str(APPS)})
    works.catalog.sync_due()
    bad = sourced(works, "bad")
    if ill is not _too_long or works.store.shared:
        assert bad["error"]
    if ill is not _too_long:
        with pytest.raises(MargraveError):
            works.catalog.sync("bad")
    assert bad["synced_at"] is not None
    assert sourced(works, "examples")["error"] is None
    assert listed(works)["storefront"] == ["1.2.0", "1.1.0", "1.0.0"]
    read = sourced(works, "examples")["synced_at"]
    works.catalog.sync_due()
    assert sourced(works, "examples")["synced_at"] == read
    works.clock.forward(301)
    works.catalog.sync_due()
    assert sourced(works, "examples")["synced_at"] != read


def test_a_defect_of_ours_ends_no_round(
    works: Works, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody thought of is told at its source, and the others have their turn."""
    given = packages.read_packages

    def broken(tree: Any, *more: Any) -> Any:
        if str(source) in str(tree.root):
            raise RuntimeError("nobody thought of this")
        return given(tree, *more)

    monkeypatch.setattr("controller.catalog.sync.read_packages", broken)
    works.catalog.add({"name": "bad", "url": str(source)})
    works.catalog.add({"name": "examples", "url": str(APPS)})
    works.catalog.sync_due()
    assert "nobody thought of this" in sourced(works, "bad")["error"]
    assert "storefront" in listed(works)


def test_what_was_asked_for_is_read_before_its_turn(works: Works, source: Path) -> None:
    """A source that somebody asked for is read though it is not due; who asks while it is being
    read is not forgotten."""
    works.catalog.add({"name": "own", "url": str(source)})
    works.catalog.sync_due()
    read = sourced(works, "own")["synced_at"]
    works.clock.forward(1)
    works.catalog.ask(["own", "gone-meanwhile"])
    works.catalog.sync_due()
    assert sourced(works, "own")["synced_at"] != read
    with works.store.write() as session:
        assert catalog.asked(session) == {}
        catalog.ask(session, ["own"])
        early = catalog.asked(session)["own"]
        catalog.ask(session, ["own"])
        catalog.answered(session, "own", early)
        assert list(catalog.asked(session)) == ["own"]


def test_a_description_that_is_too_large_is_never_in_memory(works: Works, source: Path) -> None:
    """A margo.yaml of any size costs nothing: it is told by its size alone."""
    with (source / "storefront" / "1.0.0" / "margo.yaml").open("ab") as file:
        file.truncate(2**33)
    works.catalog.add({"name": "own", "url": str(source)})
    (told,) = works.catalog.sync("own")["findings"]
    assert told["file"] == "storefront/1.0.0/margo.yaml"
    assert told["message"].startswith("is larger than")
