"""Comparable views of containers, and the differences between two nodes as sentences.

Everything that an engine reports of a container counts, except what the tables here name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SERVICE = "com.docker.compose.service"
NUMBER = "com.docker.compose.container-number"
# Different for each container, or for each of its starts.
OWN = re.compile(
    r"""
    Id | Created | GraphDriver\..* | ExecIDs | SizeRootFs | SizeRw
    | (ConmonPid|Pid|Hostname|Hosts|ResolvConf|OCIConfig|Log)(File|Path) | StaticDir | MountLabel
    | ProcessLabel | lockNumber | RestartCount | Missing
    | State\.(Pid|ConmonPid|ConmonPidFile|StartedAt|FinishedAt|CheckpointedAt|RestoredAt|CgroupPath)
    | State\.(ExitCode|Health\.Log|Healthcheck\.Log|Health\.FailingStreak)
    | NetworkSettings\.(Sandbox\w+|EndpointID|IPAddress|IPPrefixLen|MacAddress|Gateway)
    | NetworkSettings\.Networks\..*
      \.(NetworkID|EndpointID|IPAddress|IPPrefixLen|MacAddress|Gateway)
    # The image's name: once its tag has moved, an older release runs by the id, which is compared.
    | ImageName | Config\.Image
    # The revision that gave the container its shape, and Compose's own notes about it.
    | Config\.Labels\.margrave\.revision
    | Config\.Labels\.com\.docker\.compose\.(config-hash|container-number|replace|version)
    """,
    re.VERBOSE,
)
# The order of these lists means something; any other list is a set.
ORDERED = re.compile(r"Args|Config\.(Cmd|Entrypoint|Healthcheck\.Test|CreateCommand)|Trees\..*")
# Folders of releases and of content, which a node names with a key of its own; that the content is
# the same is compared through the mounts.
FOLDER = re.compile(r"/(releases|content)/[0-9a-f]{64}")
View = Mapping[str, Any]


@dataclass(frozen=True)
class Identity:
    """One start of one container: equal as long as it was neither replaced nor restarted."""

    container: str
    started: str


def name_of(container: Mapping[str, Any]) -> str:
    """Return the container's service and number."""
    labels = container["Config"].get("Labels") or {}
    return f"{labels.get(SERVICE, container['Name'])}-{labels.get(NUMBER, '?')}"


def service_of(container: Mapping[str, Any]) -> str:
    """Return the container's service."""
    return str((container["Config"].get("Labels") or {}).get(SERVICE, ""))


def identities(snapshot: Iterable[Mapping[str, Any]]) -> dict[str, set[Identity]]:
    """Return the starts of containers by service; Compose starts ended ones at each change."""
    starts: dict[str, set[Identity]] = {}
    for container in snapshot:
        state = container["State"]
        started = "" if state["Status"] == "exited" else str(state["StartedAt"])
        identity = Identity(str(container["Id"]), started)
        starts.setdefault(service_of(container), set()).add(identity)
    return starts


def views(snapshot: Iterable[Mapping[str, Any]]) -> dict[str, View]:
    """Return the comparable part of each container, by service and rank among its containers.

    When a service shrinks, Compose may keep its second container and remove the first.
    """
    ranks: Counter[str] = Counter()
    comparable: dict[str, View] = {}
    for container in sorted(snapshot, key=name_of):
        service = service_of(container)
        ranks[service] += 1
        comparable[f"{service}-{ranks[service]}"] = dict(_view(container))
    return comparable


def differences(mine: Mapping[str, View], fresh: Mapping[str, View]) -> list[str]:
    """Return each difference between containers and those of a fresh install as a sentence."""
    sentences = [f"{name}: runs, but not on a fresh node" for name in sorted(mine.keys() - fresh)]
    sentences += [f"{name}: is missing" for name in sorted(fresh.keys() - mine)]
    for name in sorted(mine.keys() & fresh.keys()):
        ours, theirs = mine[name], fresh[name]
        for path in sorted({*ours, *theirs}):
            if ours.get(path) != theirs.get(path):
                sentences.append(
                    f"{name}: {path}: {_text(ours.get(path))}, fresh is {_text(theirs.get(path))}"
                )
    return sentences


def _text(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 240 else text[:240] + "…"


def _view(container: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    own_names = (str(container["Id"])[:12], str(container["Name"]).lstrip("/"))
    for path, value in _leaves(container, ""):
        # A restarted Docker daemon reports empty lists in place of null.
        if value not in (None, "", [], {}) and not OWN.fullmatch(path):
            yield path, _plain(value, own_names, bool(ORDERED.fullmatch(path)))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping) or not value:
        yield path, value
        return
    for name, inner in value.items():
        yield from _leaves(inner, f"{path}.{name}" if path else str(name))


def _plain(value: Any, own_names: tuple[str, str], ordered: bool) -> Any:
    """Return the value without the names of the container and of the node's own folders."""
    if isinstance(value, str):
        for name in own_names:
            value = value.replace(name, "CONTAINER")
        return FOLDER.sub(r"/\1/DIGEST", value)
    if isinstance(value, Mapping):
        return {name: _plain(inner, own_names, ordered) for name, inner in value.items()}
    if isinstance(value, list):
        plain = [_plain(inner, own_names, ordered) for inner in value]
        return (
            plain if ordered else sorted(plain, key=lambda item: json.dumps(item, sort_keys=True))
        )
    return value
