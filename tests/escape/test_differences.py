"""Comparison of two listings: the noise of a node is left out, and nothing that a package does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escape import differences
from tests.escape.catalogue import NEIGHBOUR, deployment_of

OWN = deployment_of("own")
EMPTY: dict[str, dict[str, Any]] = {part: {} for part in differences.NOISE}


def _between(part: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return differences.between({**EMPTY, part: before}, {**EMPTY, part: after}, [OWN])


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("files", "/root/escape-x"),
        ("files", "/etc/profile.d/escape.sh"),
        ("files", "/srv/escape-x"),
        ("files", "/var/lib/escape-x"),
        ("files", f"/var/lib/margrave/deployments/{NEIGHBOUR}/journal.json"),
        ("files", f"/var/lib/margrave/deployments/{OWN}-beside/x"),
        ("files", "/usr/local/bin/x"),
        ("devices", "/dev/escape"),
        ("mounts", "/srv"),
        ("processes", "sh -c id"),
        ("sysctls", "vm/swappiness"),
        ("sysctls", "kernel/core_pattern"),
        ("links", "-o address: 9: escape0    inet 192.0.2.1/24"),
        ("links", "way to 10.66.0.1"),
        ("objects", "container x"),
        ("reach", "x: has capabilities 0x1"),
        ("reach", "x: has /usr/bin/tini-static (overlay overlay) at /bin/sh"),
        ("reach", "x: has /usr/bin/passwd (overlay overlay) at /sbin/docker-init"),
        ("leaks", "the output of x shows it"),
        ("volumes", "/var/lib/docker/volumes/theirs/_data/x"),
    ],
)
def test_what_a_package_changes_is_no_noise(part: str, name: str) -> None:
    """A thing that appears, vanishes or changes is reported with its name."""
    assert _between(part, {}, {name: [""]}) == [f"{part}: {name}: appeared"]
    assert _between(part, {name: [""]}, {}) == [f"{part}: {name}: vanished"]
    assert _between(part, {name: [""]}, {name: [1]}) == [f"{part}: {name}: was [''], is [1]"]


def test_a_deployments_own_things_are_its_own() -> None:
    """Its folder and the objects that carry its id may change; what it takes over may not."""
    folder = f"/var/lib/margrave/deployments/{OWN}"
    assert _between("files", {}, {folder: [], f"{folder}/journal.json": []}) == []
    assert _between("objects", {}, {"container x": [OWN, "id"]}) == []
    assert _between("objects", {"container x": [NEIGHBOUR]}, {"container x": [OWN]}) != []
    assert differences.started({**EMPTY, "objects": {"container x": [OWN]}}, [OWN]) == [
        "container x"
    ]
