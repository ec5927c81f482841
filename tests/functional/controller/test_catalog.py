"""Syncing sources: what is listed, what is refused, and what stays."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.catalog import packages
from controller.store import apps, catalog
from margrave.errors import Conflict, DocumentError, NotFound
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, APPS, Works, git


@pytest.fixture(scope="module")
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def works(tmp_path: Path, registry: FakeRegistry) -> Iterator[Works]:
    works = Works(tmp_path / "state", registry)
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


def test_versions_newest_first(works: Works, source: Path) -> None:
    """A plain folder is a source; its application is listed with all versions, newest first."""
    works.catalog.add({"name": "own", "url": str(source)})
    answer = works.catalog.sync("own")
    assert (answer["commit"], answer["findings"]) == (None, [])
    assert listed(works) == {"storefront": ["1.2.0", "1.1.0", "1.0.0"]}
    with works.store.session() as session:
        app = apps.one(session, "storefront")
    assert app is not None
    assert (app["version"], app["name"], app["source"]) == ("1.2.0", "Storefront", "own")
    assert [one["name"] for one in app["parameters"]] == ["greeting"]
    assert app["profiles"][0]["components"][0]["name"] == "storefront"


def test_broken_package_harms_nobody(works: Works, source: Path) -> None:
    """A package with errors is listed with findings at their places; the others are as ever."""
    path = source / "storefront" / "1.1.0" / "margo.yaml"
    path.write_text(path.read_text().replace("version: 1.1.0", "version: one/two"))
    (source / "odd").mkdir()
    (source / "odd" / "margo.yaml").write_text("{")
    works.catalog.add({"name": "own", "url": str(source)})
    answer = works.catalog.sync("own")
    files = {(one["file"], one["pointer"]) for one in answer["findings"]}
    assert ("storefront/1.1.0/margo.yaml", "/metadata/version") in files
    assert ("odd/margo.yaml", "") in files
    assert listed(works)["storefront"][:2] == ["1.2.0", "1.0.0"]
    assert "odd" in listed(works)
    works.sites.create({"name": "harbor"}, ADA)
    with pytest.raises(DocumentError):
        works.create("harbor", version="one/two")
    works.create("harbor", version="1.2.0")


def test_a_package_that_breaks_its_reader_harms_nobody(
    works: Works, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody foresaw is a finding of its package; the others are read, and nothing
    that is stored is lost."""
    works.catalog.add({"name": "own", "url": str(source)})
    works.catalog.sync("own")
    read = packages.compose.findings

    def broken(texts: dict[str, bytes], *more: Any) -> Any:
        if b"poison" in texts["compose.yaml"]:
            raise ValueError("invalid literal for int() with base 10: '²'")
        return read(texts, *more)

    monkeypatch.setattr(packages.compose, "findings", broken)
    file = source / "storefront" / "1.1.0" / "compose" / "compose.yaml"
    file.write_text(file.read_text() + "# poison\n")
    shutil.copytree(source / "storefront" / "1.0.0", source / "storefront" / "0.9.0")
    margo = source / "storefront" / "0.9.0" / "margo.yaml"
    margo.write_text(margo.read_text().replace("version: 1.0.0", "version: 0.9.0"))
    answer = works.catalog.sync("own")
    assert {one["file"] for one in answer["findings"]} == {"storefront/1.1.0/margo.yaml"}
    assert any("int()" in one["message"] for one in answer["findings"])
    assert listed(works)["storefront"] == ["1.2.0", "1.1.0", "1.0.0", "0.9.0"]


def test_changed_version_is_not_overwritten(works: Works, source: Path) -> None:
    """Content that changes under the same version is a finding, and the first content stays."""
    works.catalog.add({"name": "own", "url": str(source)})
    works.catalog.sync("own")
    with works.store.session() as session:
        before = catalog.version_facts(session, "storefront", "1.0.0")
    compose = source / "storefront" / "1.0.0" / "compose" / "compose.yaml"
    compose.write_text(compose.read_text() + "# another\n")
    answer = works.catalog.sync("own")
    assert [one["code"] for one in answer["findings"]] == ["changed"]
    with works.store.session() as session:
        assert catalog.version_facts(session, "storefront", "1.0.0") == before
        app = apps.one(session, "storefront", "1.0.0")
    assert app is not None
    assert [one["code"] for one in app["findings"]] == ["changed"]
    compose.write_text(compose.read_text().removesuffix("# another\n"))
    assert works.catalog.sync("own")["findings"] == []


def test_only_what_changed_is_read(
    works: Works, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second sync reads the packages whose files changed, in folders as in Git, and no other."""
    read: list[str] = []
    whole = packages._read

    def counted(folder: str, entries: Any) -> Any:
        read.append(folder)
        return whole(folder, entries)

    monkeypatch.setattr(packages, "_read", counted)
    git(source, "init", "-q", "-b", "main")
    git(source, "add", ".")
    git(source, "commit", "-qm", "Apps")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "bare.git"))
    works.catalog.add({"name": "folder", "url": str(source)})
    first = works.catalog.sync("folder")
    assert len(read) == 3
    assert works.catalog.sync("folder") == first
    assert len(read) == 3
    works.catalog.remove("folder")
    works.catalog.add({"name": "bare", "url": str(tmp_path / "bare.git")})
    works.catalog.sync("bare")
    read.clear()
    compose = source / "storefront" / "1.1.0" / "compose" / "compose.yaml"
    compose.write_text(compose.read_text() + "# another\n")
    git(source, "commit", "-qam", "Change what is published")
    git(source, "push", "-q", str(tmp_path / "bare.git"), "main")
    assert [one["code"] for one in works.catalog.sync("bare")["findings"]] == ["changed"]
    assert read == ["storefront/1.1.0"]
    assert listed(works) == {"storefront": ["1.2.0", "1.1.0", "1.0.0"]}


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "compose" / "x").symlink_to("/etc/passwd"), "is a link"),
        (lambda folder: (folder / "compose" / "compose.yaml").unlink(), "no folder"),
        (lambda folder: _path(folder, "../1.0.0/compose"), "leads out of the package"),
        (lambda folder: _path(folder, "./none"), "no folder"),
        (lambda folder: _env_file(folder, "/etc/shadow"), "leads out of the component"),
    ],
)
def test_hostile_packages(works: Works, source: Path, spoil: object, words: str) -> None:
    """Links, paths that lead out and missing contents make a package unusable, by name."""
    assert callable(spoil)
    spoil(source / "storefront" / "1.1.0")
    works.catalog.add({"name": "own", "url": str(source)})
    answer = works.catalog.sync("own")
    assert any(words in one["message"] for one in answer["findings"])
    assert {"id": "storefront", "version": "1.1.0"} not in answer["apps"]


def test_git_source(works: Works, source: Path, tmp_path: Path) -> None:
    """A Git repository is read at its ref without a checkout; links in it are refused."""
    git(source, "init", "-q", "-b", "main")
    (source / "storefront" / "1.2.0" / "compose" / "link").symlink_to("/etc/passwd")
    git(source, "add", ".")
    git(source, "commit", "-qm", "Apps")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "bare.git"))
    works.catalog.add({"name": "own", "url": str(tmp_path / "bare.git"), "path": "storefront"})
    answer = works.catalog.sync("own")
    assert answer["commit"] == git(source, "rev-parse", "HEAD").strip()
    assert [one["version"] for one in answer["apps"]] == ["1.0.0", "1.1.0"]
    assert "is a link" in answer["findings"][0]["message"]


def test_removed_source_keeps_what_is_used(works: Works, source: Path) -> None:
    """Removing a source forgets its versions, but not those that a deployment uses."""
    works.catalog.add({"name": "own", "url": str(source)})
    works.catalog.sync("own")
    works.sites.create({"name": "harbor"}, ADA)
    works.create("harbor", version="1.0.0")
    works.catalog.remove("own")
    assert listed(works) == {"storefront": ["1.0.0"]}
    with pytest.raises(NotFound):
        works.catalog.sync("own")


def test_bad_sources_are_findings(works: Works, source: Path) -> None:
    """A source that may not be is refused with its place; a taken name is a conflict."""
    for body, pointer in (
        ({"name": "x", "url": "ext::sh -c id"}, "/url"),
        ({"name": "x", "url": "/etc"}, "/url"),
        ({"name": "X Y", "url": str(source)}, "/name"),
        ({"name": "x", "url": str(source), "rev": "main"}, "/rev"),
        ({"name": "x"}, "/url"),
    ):
        with pytest.raises(DocumentError) as caught:
            works.catalog.add(body)
        assert [one.pointer for one in caught.value.findings] == [pointer]
    works.catalog.add({"name": "own", "url": str(source)})
    with pytest.raises(Conflict):
        works.catalog.add({"name": "own", "url": str(source)})


def test_source_that_is_gone(works: Works, source: Path) -> None:
    """A source that cannot be read says so, and what it held stays."""
    works.catalog.add({"name": "own", "url": str(source)})
    works.catalog.sync("own")
    source.rename(source.with_name("away"))
    with pytest.raises(NotFound):
        works.catalog.sync("own")
    assert "storefront" in listed(works)
    with works.store.session() as session:
        known = catalog.source(session, "own")
    assert known is not None
    assert "is no folder" in known["error"]


def _path(folder: Path, path: str) -> None:
    file = folder / "margo.yaml"
    file.write_text(file.read_text().replace("path: ./compose", f"path: {path}"))


def _env_file(folder: Path, path: str) -> None:
    file = folder / "compose" / "compose.yaml"
    file.write_text(f"services: {{web: {{image: web, env_file: {path}}}}}\n")
