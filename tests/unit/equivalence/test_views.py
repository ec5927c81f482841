"""The comparison of containers sees what matters and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.equivalence import views

LABELS = {views.SERVICE: "web", views.NUMBER: "1", "margrave.revision": "sha256:1"}
FOLDER = "/var/lib/margrave/deployments/7f/releases/"
INSPECTED: dict[str, Any] = {
    "Id": "a" * 64,
    "Name": "shop-web-1",
    "Image": "sha256:1",
    "State": {"Status": "running", "Pid": 17, "StartedAt": "noon"},
    "Config": {"Env": ["A=1", "B=2"], "Cmd": ["/bin/idle", "0"], "Labels": LABELS},
    "HostConfig": {"Memory": 0, "Dns": []},
    "Mounts": [{"Type": "bind", "Source": FOLDER + "1" * 64 + "/motd", "Destination": "/motd"}],
    "NetworkSettings": {"Networks": {"front": {"Aliases": ["web", "a" * 12], "NetworkID": "x"}}},
    "Trees": {"/motd": {"": ["0o644", 0, 0, "hello\n"]}},
    "Missing": [],
}


def compared(**changes: Any) -> list[str]:
    """Differences of a container from itself after changes, by dotted path."""
    other = copy.deepcopy(INSPECTED)
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = other
        for folder in folders:
            place = place[folder]
        place[name] = value
    return views.differences(views.views([INSPECTED]), views.views([other]))


@pytest.mark.parametrize(
    "changes",
    [
        {"Image": "sha256:2"},
        {"Config__Env": ["A=1"]},
        {"Config__Cmd": ["0", "/bin/idle"]},
        {"HostConfig__Memory": 1},
        {"State__Status": "exited"},
        {"Mounts": []},
        {"NetworkSettings__Networks": {}},
        {"Trees": {"/motd": {"": ["0o644", 0, 0, "bye\n"]}}},
        {"Trees": {"/motd": {"": ["0o600", 0, 0, "hello\n"]}}},
        {"Trees": {"/motd": None}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_reaches_a_container_is_compared(changes: dict[str, Any]) -> None:
    """Image, environment, command, limits, state, mounts, networks and content differ visibly."""
    assert compared(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"Config__Env": ["B=2", "A=1"]},
        {"HostConfig__Dns": None},
        {"State__StartedAt": "midnight"},
        {"Mounts": [{**INSPECTED["Mounts"][0], "Source": FOLDER + "2" * 64 + "/motd"}]},
        {"Config__Labels": {**LABELS, "margrave.revision": "sha256:2"}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_a_containers_own_is_not_compared(changes: dict[str, Any]) -> None:
    """Order of lists, times, revisions and names of the node's own folders are no difference."""
    assert compared(**changes) == []


def test_the_containers_own_id_is_no_difference() -> None:
    """Engines put a container's short id among its aliases."""
    other = {**copy.deepcopy(INSPECTED), "Id": "b" * 64}
    other["NetworkSettings"]["Networks"]["front"]["Aliases"] = ["b" * 12, "web"]
    assert views.differences(views.views([INSPECTED]), views.views([other])) == []


def test_a_container_keeps_its_number_when_its_service_shrinks() -> None:
    """Compose may leave the second container of two: it is compared as the first of one."""
    second = {**copy.deepcopy(INSPECTED), "Name": "shop-web-2"}
    second["Config"]["Labels"][views.NUMBER] = "2"
    assert views.differences(views.views([INSPECTED]), views.views([second])) == []


def test_containers_that_are_missing_or_left_over_are_named() -> None:
    """Each is a difference of its own."""
    container = views.views([INSPECTED])
    assert views.differences(container, {}) == ["web-1: runs, but not on a fresh node"]
    assert views.differences({}, container) == ["web-1: is missing"]
