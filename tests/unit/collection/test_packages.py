"""A package without a controller means what the controller would publish of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.margrave.edge.plugins.filter import edge

from controller.publish.rendering import Material, content_of, new_document
from margrave import digest, folder
from margrave.documents.deployment import read_deployment, render
from margrave.documents.description import read_description

ROOT = Path(__file__).resolve().parents[3]
STOREFRONT = ROOT / "examples/apps/storefront/1.1.0"


def _described(**more: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((STOREFRONT / "margo.yaml").read_text())
    return {**found, **more}


def test_the_revision_is_what_the_controller_would_publish() -> None:
    """Same content and same values: the same revision, by hand and through Git."""
    name = digest.of_files(folder.read(STOREFRONT / "compose")).removeprefix("sha256:")
    material = Material(
        read_description((STOREFRONT / "margo.yaml").read_bytes()),
        {"compose": f"components/{name}"},
    )
    content = content_of(material, material.profile(None), {"greeting": "good evening"})
    found = edge.package(_described(), str(STOREFRONT), {"greeting": "good evening"})

    identity = {"id": found["deployment"], "name": "storefront", "device_id": "harbor/*"}
    theirs = read_deployment(render(new_document(identity, content, {"version": "1.1.0"})))
    assert found["revision"] == theirs.revision
    assert (found["name"], found["version"]) == ("storefront", "1.1.0")
    assert found["components"][0]["variables"] == {"GREETING": "good evening"}
    assert found["components"][0]["src"] == str(STOREFRONT / "compose")
    assert found["components"][0]["timeout"] == 60


def test_a_name_is_a_deployment() -> None:
    """The id is the same over versions and values, and another one under another name."""
    first = edge.package(_described(), str(STOREFRONT))
    second = edge.package(_described(), str(STOREFRONT), {"greeting": "x"})
    other = edge.package(_described(), str(STOREFRONT), {}, "second-shop")

    assert first["deployment"] == second["deployment"] != other["deployment"]
    assert (other["name"], other["application"]) == ("second-shop", "storefront")


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A value that nobody asks for, a package of another kind, a path that leads outside."""
    shutil.copytree(STOREFRONT, tmp_path, dirs_exist_ok=True)
    outside = _described()
    outside["deploymentProfiles"][0]["components"][0]["x-margrave-extensions"]["path"] = "../x"

    for description, values, words in (
        (_described(), {"greting": "x"}, "greting is not one of the package's .greeting."),
        (_described(deploymentProfiles=[{"type": "custom"}]), {}, "none is of type compose"),
        (outside, {}, "is outside of the package"),
    ):
        with pytest.raises(AnsibleFilterError, match=words):
            edge.package(description, str(tmp_path), values)


def test_a_secret_is_for_the_runner() -> None:
    """Only the site's runner knows what a reference to a secret means."""
    with pytest.raises(AnsibleFilterError, match="known to the site's runner alone"):
        edge.package(_described(), str(STOREFRONT), {"greeting": "secret://door"})
