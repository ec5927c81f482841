"""The archive that travels is the one that digests are taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.margrave.edge.plugins.plugin_utils import packing

from margrave import digest, folder

if TYPE_CHECKING:
    from pathlib import Path


def _component(root: Path) -> Path:
    (root / "conf" / "deep").mkdir(parents=True)
    (root / "compose.yaml").write_text("services: {}\n")
    (root / "conf" / "ünïcode name.txt").write_bytes(b"\x00\xff")
    (root / "conf" / "deep" / ("x" * 120 + ".sh")).write_text("#!/bin/sh\n")
    (root / "conf" / "deep" / ("x" * 120 + ".sh")).chmod(0o755)
    (root / "conf.txt").write_text("beside a folder of nearly the same name")
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref")
    return root


def test_archive_is_the_canonical_one(tmp_path: Path) -> None:
    """A folder packed for a node is, byte for byte, what publishing addressed by its digest."""
    component = _component(tmp_path)

    archive = packing.packed(str(component))

    assert digest.archive(folder.read(component)) == archive
    assert digest.of_files(folder.read(component)) == packing.digest(archive)


def test_links_do_not_travel(tmp_path: Path) -> None:
    """A link in a component is refused by its name before anything is sent."""
    (tmp_path / "passwd").symlink_to("/etc/passwd")

    with pytest.raises(AnsibleActionFail, match="passwd is a link or a device"):
        packing.packed(str(tmp_path))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """A wrong path is told as it was given."""
    with pytest.raises(AnsibleActionFail, match="nowhere is not a folder"):
        packing.packed(str(tmp_path / "nowhere"))
