"""Containers in a form in which two nodes can be compared, and the differences in words.

Everything an engine tells of a container counts, except what the tables here name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SERVICE = "com.docker.compose.service"
NUMBER = "com.docker.compose.container-number"
# Different for each container, or for each start of one.
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
    | Config\.Labels\.com\.docker\.compose\.(config-hash|replace|version)
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


def name_of(told: Mapping[str, Any]) -> str:
    """The container's service and number."""
    labels = told["Config"].get("Labels") or {}
    return f"{labels.get(SERVICE, told['Name'])}-{labels.get(NUMBER, '?')}"


def service_of(told: Mapping[str, Any]) -> str:
    """The container's service."""
    return str((told["Config"].get("Labels") or {}).get(SERVICE, ""))


def identities(snapshot: Iterable[Mapping[str, Any]]) -> dict[str, set[Identity]]:
    """The starts of containers, by service; Compose starts what has ended anew at each change."""
    found: dict[str, set[Identity]] = {}
    for told in snapshot:
        state = told["State"]
        started = "" if state["Status"] == "exited" else str(state["StartedAt"])
        one = Identity(str(told["Id"]), started)
        found.setdefault(service_of(told), set()).add(one)
    return found


def views(snapshot: Iterable[Mapping[str, Any]]) -> dict[str, View]:
    """The comparable part of each container, by service and number."""
    return {name_of(told): dict(_view(told)) for told in snapshot}


def differences(mine: Mapping[str, View], fresh: Mapping[str, View]) -> list[str]:
    """Every difference between containers and those of a fresh install, a sentence each."""
    found = [f"{name}: runs, but not on a fresh node" for name in sorted(mine.keys() - fresh)]
    found += [f"{name}: is missing" for name in sorted(fresh.keys() - mine)]
    for name in sorted(mine.keys() & fresh.keys()):
        ours, theirs = mine[name], fresh[name]
        for path in sorted({*ours, *theirs}):
            if ours.get(path) != theirs.get(path):
                found.append(
                    f"{name}: {path}: {_text(ours.get(path))}, fresh is {_text(theirs.get(path))}"
                )
    return found


def _text(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 240 else text[:240] + "…"


def _view(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    container = str(told["Id"])
    for path, value in _leaves(told, ""):
        # After Docker was started again it tells of empty lists what it told of none.
        if value not in (None, "", [], {}) and not OWN.fullmatch(path):
            yield path, _plain(value, container, bool(ORDERED.fullmatch(path)))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping) or not value:
        yield path, value
        return
    for name, inner in value.items():
        yield from _leaves(inner, f"{path}.{name}" if path else str(name))


def _plain(value: Any, container: str, ordered: bool) -> Any:
    """The value without the container's own id and the name of its release."""
    if isinstance(value, str):
        return FOLDER.sub(r"/\1/DIGEST", value.replace(container[:12], "CONTAINER"))
    if isinstance(value, Mapping):
        return {name: _plain(inner, container, ordered) for name, inner in value.items()}
    if isinstance(value, list):
        plain = [_plain(inner, container, ordered) for inner in value]
        return plain if ordered else sorted(plain, key=lambda one: json.dumps(one, sort_keys=True))
    return value
