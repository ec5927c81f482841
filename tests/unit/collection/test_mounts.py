"""Mount sources in use stay on the node, unused ones are removed."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _mounts, _release
from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release

NAMES = ["a" * 64, "b" * 64]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(str(tmp_path))


def _stored(folder: Folder, name: str, model: dict[str, Any], table: int = 1) -> Release:
    release = Release(name, "sha256:0", None, "", "", {}, [Part("app", "", "p")])
    release.policy_table = table
    Path(folder.release(name)).mkdir(parents=True, exist_ok=True)
    release.store(folder)
    Path(_release.model_path(folder, name, "app")).write_text(json.dumps(model))
    return release


def _model(*sources: str) -> dict[str, Any]:
    return {
        "services": {
            "web": {"volumes": [{"type": "bind", "source": one, "target": "/x"} for one in sources]}
        }
    }


def _in_use(folder: Folder, *sources: str) -> tuple[_mounts.InUse, list[str]]:
    """Return InUse for one container with these mounts, and a log of inspections."""
    looks: list[str] = []

    def look() -> list[Container]:
        looks.append("look")
        return [Container("1", "web", "", "", "exited", "", sources=sources)]

    return _mounts.InUse(folder, look), looks


def test_a_release_that_an_older_version_let_containers_mount_stays(folder: Folder) -> None:
    """A release folder stays until no container of an older version mounts it."""
    for name in NAMES:
        _stored(folder, name, _model(), table=0)
    mounted = folder.release(NAMES[0]) + "/components/app/token.txt"

    assert _in_use(folder, mounted)[0].releases(NAMES) == {NAMES[0]}
    assert _in_use(folder)[0].releases(NAMES) == set()


def test_a_release_of_now_is_mounted_by_nobody(folder: Folder) -> None:
    """Releases of this version are never mounted, so the engine is not asked."""
    _stored(folder, NAMES[0], _model())
    in_use, looks = _in_use(folder, folder.release(NAMES[0]) + "/x")

    assert in_use.releases([NAMES[0]]) == set()
    assert looks == []


def test_content_stays_as_long_as_anybody_mounts_it(folder: Folder) -> None:
    """Content of kept releases and of existing containers stays."""
    contents = {name: Path(folder.contents, name) for name in ("kept", "running", "gone")}
    for path in contents.values():
        path.mkdir(parents=True)
    _stored(folder, NAMES[0], _model(f"{contents['kept']}/x", "/elsewhere"))
    in_use, _looks = _in_use(folder, f"{contents['running']}/y")

    in_use.remove_other_content()

    assert folder.kept_contents() == ["kept", "running"]


def test_the_engine_is_not_asked_where_all_content_is_needed(folder: Folder) -> None:
    """The engine is not asked when kept releases use all content."""
    Path(folder.contents, "kept").mkdir(parents=True)
    _stored(folder, NAMES[0], _model(f"{folder.contents}/kept/x"))
    in_use, looks = _in_use(folder)

    in_use.remove_other_content()

    assert (folder.kept_contents(), looks) == (["kept"], [])


def test_lost_content_is_made_again_from_the_kept_release(folder: Folder) -> None:
    """Removed content is recreated from the kept release."""
    place = Path(_release.component_folder(folder, NAMES[0], "app"))
    place.mkdir(parents=True)
    (place / "token.txt").write_text("token")
    model = _model(str(place / "token.txt"))
    resolved = {"model": model, "environment": {}}
    Path(_release.resolved_path(folder, NAMES[0], "app")).write_text(json.dumps(resolved))
    runs = _mounts.materialized(folder, NAMES[0], "app", resolved)
    kept = Path(runs["services"]["web"]["volumes"][0]["source"])
    kept.unlink()

    _mounts.restore(folder, NAMES[0], "app", runs)

    assert kept.read_text() == "token"


def test_a_release_of_which_nothing_is_left_is_incomplete(folder: Folder) -> None:
    """Missing content that cannot be recreated is an error."""
    with pytest.raises(ConfigError) as refused:
        _mounts.restore(folder, NAMES[0], "app", _model(f"{folder.contents}/gone/x"))

    assert refused.value.code == "release-incomplete"


def _packed(*names: str) -> bytes:
    """Return an archive of files that contain their names."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(name)
            tar.addfile(entry, io.BytesIO(name.encode()))
    return packed.getvalue()


def test_files_that_a_mount_needs_are_taken_from_the_package_again(folder: Folder) -> None:
    """Missing package files are restored, and existing ones are not replaced."""
    place = Path(_release.component_folder(folder, NAMES[0], "app"))
    place.mkdir(parents=True)
    (place / "here").write_text("mine")
    _stored(folder, NAMES[0], _model(str(place / "deep/gone"), str(place / "here")), table=0)

    _mounts.refill(folder, NAMES[0], "app", _packed("deep/gone", "here"))

    files = {path.name: path.read_text() for path in place.rglob("*") if path.is_file()}
    assert files == {"here": "mine", "gone": "deep/gone"}
    assert [path.name for path in place.parent.iterdir()] == ["app"]


@pytest.mark.parametrize("link", ["deep", "deep/er"])
def test_links_of_a_container_lead_no_file_elsewhere(
    folder: Folder, tmp_path: Path, link: str
) -> None:
    """A container of an older version could write to its package, and plant links there."""
    place = Path(_release.component_folder(folder, NAMES[0], "app"))
    outside = tmp_path / "outside"
    (outside / "er").mkdir(parents=True)
    planted = place / link
    planted.parent.mkdir(parents=True)
    planted.symlink_to(outside)
    _stored(folder, NAMES[0], _model(str(place / "gone")), table=0)

    with pytest.raises(ConfigError, match="symbolic link") as refused:
        _mounts.refill(folder, NAMES[0], "app", _packed("deep/er/file", "file"))

    assert refused.value.code == "link-in-path"
    assert [path.name for path in outside.rglob("*")] == ["er"]
