"""Which files may stand where in the deployments repository."""

from __future__ import annotations

import pytest

from controller.gate import checking
from controller.gate.checking import Place
from margrave import digest
from margrave.digest import File

ID = "3f0c4a52-5f3e-4c3e-9d57-6d2b7a4c1f10"


@pytest.mark.parametrize(
    ("path", "place", "site"),
    [
        (f"deployments/harbor/{ID}.yaml", Place("harbor", ID), "harbor"),
        ("sites/harbor.yaml", Place("harbor"), "harbor"),
        ("secrets/harbor/key.age", None, "harbor"),
        (f"deployments/Harbor/{ID}.yaml", None, None),
        (f"deployments/harbor/deeper/{ID}.yaml", None, "harbor"),
        ("README.md", None, None),
    ],
)
def test_places(path: str, place: Place | None, site: str | None) -> None:
    """A path is a deployment, a site's document, a part of a site's subtree, or nobody's."""
    assert (checking.place_of(path), checking.site_of(path)) == (place, site)


def test_findings_of_files() -> None:
    """Documents are read where they stand; other files are not looked at."""
    assert checking.check_file("README.md", b"\xff") == []
    assert checking.check_file("sites/harbor.yaml", b"labels: {a: b}\n") == []
    assert [one.pointer for one in checking.check_file("sites/harbor.yaml", b"label: {}\n")] == [
        "/label"
    ]
    found = checking.check_file("sites/deeper/x.yaml", b"labels: {}\n")
    assert [one.message for one in found] == ["is no place of a document"]


def test_components_by_their_digest() -> None:
    """A component's folder is named by the digest of what it holds."""
    files = {"compose.yaml": File(b"services: {}\n")}
    name = digest.of_files(files).removeprefix("sha256:")
    assert checking.check_component(f"components/{name}", files) == ""
    assert "holds content" in checking.check_component("components/" + "0" * 64, files)
