"""A release records its images and runs exactly these, wherever their tags move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _delete,
    _driver,
    _images,
    _pulls,
    _request,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose_driver import ComposeDriver
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    EdgeError,
    ImageError,
    RegistryError,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
TAG = "registry.site/web:1"
DIGEST = "sha256:" + "d" * 64
EXACT = "registry.site/web@sha256:" + "e" * 64


class Engine:
    """An engine and its registry: tables from names to image ids."""

    def __init__(self, name: str, here: dict[str, str], there: dict[str, str]) -> None:
        self.name = name
        self.here = dict(here)
        self.there = there
        self.pulled: list[str] = []
        self.error: EdgeError | None = None

    def store(self) -> str:
        """Return the image store."""
        return "/"

    def image(self, reference: str) -> str | None:
        """Return the id of a local image."""
        bare = reference.removeprefix("sha256:")
        return bare if bare in self.here.values() else self.here.get(reference)

    def digest(self, _image_id: str, _reference: str) -> str:
        """Return the digest of any image."""
        return DIGEST

    def pull(self, reference: str, *_: Any) -> None:
        """Copy the image of the registry."""
        self.pulled.append(reference)
        if self.error:
            raise self.error
        self.here[reference] = self.there[reference]


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Need no free space on the disk."""
    monkeypatch.setattr(_pulls, "RESERVE", 0)


def _call(tmp_path: Path, kind: str = "update") -> Call:
    return Call(_request.read({"deployment": ID}), kind, Layout(str(tmp_path)), check=False)


def _release(reference: str, policy: str = "", **noted: Any) -> Release:
    image = {"reference": reference, "policy": policy, "id": "", "ours": False, **noted}
    part = Part("web", DIGEST, "project", images={"web": image})
    proven = bool(noted.get("id"))
    return Release("a" * 64, DIGEST, "1.0.0", "shop", "shop", {}, [part], proven=proven)


def _image(release: Release) -> dict[str, Any]:
    image: dict[str, Any] = release.parts[0].images["web"]
    return image


def _fetch(call: Call, engine: Any, release: Release, current: Release | None = None) -> bool:
    Path(call.folder.release(release.release)).mkdir(parents=True, exist_ok=True)
    return _images.fetch(call, engine, release, current)


def test_a_new_release_pins_what_its_tag_means_now(tmp_path: Path) -> None:
    """A tag is pulled for a new release, although there is an older local image."""
    engine = Engine("podman", {TAG: "old"}, {TAG: "new"})
    release = _release(TAG)

    assert _fetch(_call(tmp_path), engine, release)
    assert (_image(release)["id"], _image(release)["pin"]) == ("new", "sha256:new")
    assert _image(release)["ours"]


def test_docker_gets_a_name_that_people_can_read(tmp_path: Path) -> None:
    """Docker runs a pinned image by its repository and digest."""
    exact = f"registry.site/web@{DIGEST}"
    engine = Engine("docker", {exact: "new"}, {TAG: "new"})
    release = _release(TAG)

    _fetch(_call(tmp_path), engine, release)

    assert _image(release)["pin"] == exact


def test_a_digest_is_its_own_pin_and_asks_nobody(tmp_path: Path) -> None:
    """A local image that is named by digest causes no registry traffic."""
    engine = Engine("podman", {EXACT: "one"}, {})
    release = _release(EXACT)

    assert not _fetch(_call(tmp_path), engine, release)
    assert "pin" not in _image(release)
    assert engine.pulled == []


def test_going_back_runs_the_noted_image(tmp_path: Path) -> None:
    """A rollback runs the recorded image, even with `pull_policy: always`."""
    engine = Engine("podman", {TAG: "new", "kept": "old"}, {TAG: "new"})
    release = _release(TAG, "always", id="old", pin="sha256:old")

    assert not _fetch(_call(tmp_path, "rollback"), engine, release)
    assert (_image(release)["id"], engine.pulled) == ("old", [])


def test_a_noted_image_that_is_gone_is_pulled_by_its_digest(tmp_path: Path) -> None:
    """A recorded image that was removed is pulled by its digest."""
    exact = f"registry.site/web@{DIGEST}"
    engine = Engine("podman", {TAG: "new"}, {exact: "old"})
    release = _release(TAG, id="old", pin="sha256:old", digest=DIGEST)

    assert _images.missing(engine, release) == [TAG]  # type: ignore[arg-type]
    assert _fetch(_call(tmp_path, "rollback"), engine, release)
    assert (_image(release)["id"], engine.pulled) == ("old", [exact])


def test_always_pulls_for_a_release_that_runs(tmp_path: Path) -> None:
    """`always` pulls for a running release and records the new image."""
    engine = Engine("podman", {TAG: "old"}, {TAG: "new"})
    release = _release(TAG, "always", id="old", pin="sha256:old")

    assert _images.is_due(release)
    assert _fetch(_call(tmp_path), engine, release)
    assert (_image(release)["id"], _image(release)["pin"]) == ("new", "sha256:new")


@pytest.mark.parametrize("policy", ["always", "daily"])
def test_a_prefetched_image_is_not_pulled_again(tmp_path: Path, policy: str) -> None:
    """The first install of a prefetched release runs the image of the prefetch."""
    engine = Engine("podman", {TAG: "old"}, {TAG: "new"})
    ahead = _release(TAG, policy, id="old", pin="sha256:old", digest=DIGEST, pulled=1)
    release, call = _release(TAG, policy), _call(tmp_path)

    prepared = _images.inherit(release, ahead)

    assert prepared == {TAG}
    assert not _images.fetch(call, engine, release, None, prepared)  # type: ignore[arg-type]
    assert (_image(release)["id"], _image(release)["pin"], engine.pulled) == (
        "old",
        "sha256:old",
        [],
    )


@pytest.mark.parametrize("error", [RegistryError("x", "away"), ImageError("x", "not there")])
def test_an_image_that_is_here_does_where_the_registry_fails(
    tmp_path: Path, error: EdgeError
) -> None:
    """By default a failed pull is a warning if there is a local image; `always` fails."""
    engine = Engine("podman", {TAG: "old"}, {})
    engine.error = error
    call, release = _call(tmp_path), _release(TAG)

    _fetch(call, engine, release)

    assert _image(release)["id"] == "old"
    assert call.result.warnings == [f"{error.message}; the image that is here is used"]
    with pytest.raises(type(error)):
        _fetch(call, engine, _release(TAG, "always"))


def test_never_pulls_nothing(tmp_path: Path) -> None:
    """`never` fails without a local image."""
    engine = Engine("podman", {}, {TAG: "new"})

    with pytest.raises(ImageError, match="pull_policy: never"):
        _fetch(_call(tmp_path), engine, _release(TAG, "never"))
    assert engine.pulled == []


def test_an_older_versions_container_is_not_replaced_for_its_images_name(tmp_path: Path) -> None:
    """An image that an older version ran by tag keeps its name, so its container is kept."""
    engine = Engine("podman", {TAG: "same"}, {TAG: "same"})
    older, release = _release(TAG, id="same"), _release(TAG)

    _fetch(_call(tmp_path), engine, release, older)

    assert "pin" not in _image(release)


def test_what_a_prefetch_noted_is_not_asked_for_again(tmp_path: Path) -> None:
    """A prefetched release uses its recorded images, although a tag has moved."""
    engine = Engine("podman", {TAG: "new", "kept": "ready"}, {TAG: "new"})
    prepared, release = _release(TAG, id="ready", pin="sha256:ready"), _release(TAG)

    _images.inherit(release, prepared)

    assert not _fetch(_call(tmp_path), engine, release)
    assert (_image(release)["id"], engine.pulled) == ("ready", [])


class Removing(Engine):
    """An engine without containers that records removals."""

    def __init__(self, here: dict[str, str]) -> None:
        super().__init__("podman", here, {})
        self.removed: list[str] = []

    def containers(self, *_: Any, **__: Any) -> list[Any]:
        """Return no containers."""
        return []

    networks = volumes = containers

    def remove_image(self, name: str) -> bool:
        """Record the removal."""
        self.removed.append(name)
        return True


def test_an_image_whose_tag_moved_away_is_removed_by_its_id(tmp_path: Path) -> None:
    """An image is removed by its id if its tag has moved."""
    engine: Any = Removing({TAG: "new", "kept": "old"})
    call = _call(tmp_path)
    current = _release(TAG, id="new", ours=True)
    Path(call.folder.release(current.release)).mkdir(parents=True)
    current.store(call.folder)
    dropped = _release(TAG, id="old", ours=True)

    assert _images.remove_unused(call.layout, engine, [dropped, current]) == [TAG]
    assert engine.removed == ["old"]


def test_a_delete_that_was_cut_off_still_removes_its_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The descriptions of releases stay until the images that only they name are gone."""
    engine: Any = Removing({TAG: "mine"})
    monkeypatch.setattr(ComposeDriver, "engine", engine)
    monkeypatch.setattr(_driver, "here", lambda: ["compose"])
    release = _release(TAG, id="mine", ours=True)
    folder = _call(tmp_path).folder
    Path(folder.release(release.release)).mkdir(parents=True)
    release.store(folder)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(engine, "remove_image", killed)
        with pytest.raises(KeyboardInterrupt):
            _delete.delete(_call(tmp_path, "delete"))
    call = _call(tmp_path, "delete")
    _delete.delete(call)

    assert (engine.removed, call.result.images) == ([TAG], [TAG])
    assert not Path(folder.path).exists()
