# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A container as the engines tell of it, in one shape."""

from __future__ import annotations

import json
import re

from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._record import field, record

DEPLOYMENT = "margrave.deployment"
REVISION = "margrave.revision"
COMPONENT = "margrave.component"
PROJECT = "com.docker.compose.project"
SERVICE = "com.docker.compose.service"
CONFIG_HASH = "com.docker.compose.config-hash"
NUMBER = "com.docker.compose.container-number"
REPLACES = "com.docker.compose.replace"


@record
class Container:
    """What there is to know of a container without asking again."""

    id: str
    name: str
    image: str
    image_id: str
    state: str  # created, running, paused, restarting, exited, dead
    health: str  # healthy, starting, unhealthy, or empty without a check
    exit_code: int = 0
    restarts: int = 0
    labels: dict = field(factory=dict)
    # Its first process; 0 where it has ended, or the engine's list does not name it.
    pid: int = 0
    oom_killed: bool = False
    # It has run for an hour or longer, by the engine's list.
    runs_long: bool = False
    # By category, what it was made with; empty when nobody looked closely.
    facets: dict = field(factory=dict)
    # Volumes without a name of anybody's choosing; empty when nobody looked closely.
    nameless: tuple = ()
    # Sources of its bind mounts, and those that are not on the node; empty likewise.
    sources: tuple = ()
    lost: tuple = ()

    @property
    def service(self) -> str:
        """Its service in the component's Compose file."""
        return self.labels.get(SERVICE, "")

    @property
    def component(self) -> str:
        """Its component, when it is ours."""
        return self.labels.get(COMPONENT, "")

    @property
    def config_hash(self) -> str:
        """What Compose made it from."""
        return self.labels.get(CONFIG_HASH, "")


def from_podman(one: dict) -> Container:
    """A line of libpod's list."""
    health = str(one.get("Status") or "")
    return Container(
        id=str(one["Id"]),
        name=_first(one.get("Names")),
        image=str(one.get("Image") or ""),
        image_id=bare(str(one.get("ImageID") or "")),
        state={"stopped": "exited", "configured": "created"}.get(one["State"], one["State"]),
        health=health if health in ("healthy", "starting", "unhealthy") else "",
        exit_code=int(one.get("ExitCode") or 0),
        restarts=int(one.get("Restarts") or 0),
        pid=int(one.get("Pid") or 0),
        labels=dict(one.get("Labels") or {}),
    )


def from_docker(one: dict) -> Container:
    """A line of Docker's list; health and exit code stand in its sentence."""
    status = str(one.get("Status") or "")
    health = re.search(r"\((?:health: )?(healthy|unhealthy|starting)\)", status)
    code = re.search(r"^(?:Exited|Restarting) \((\d+)\)", status)
    return Container(
        id=str(one["Id"]),
        name=_first(one.get("Names")).lstrip("/"),
        image=str(one.get("Image") or ""),
        image_id=bare(str(one.get("ImageID") or "")),
        state=str(one["State"]),
        health=health.group(1) if health else "",
        exit_code=int(code.group(1)) if code else 0,
        # Docker's list does not count; that it says "restarting" is told as one.
        restarts=1 if one["State"] == "restarting" else 0,
        runs_long=bool(re.match(r"Up .*(hour|day|week|month|year)", status)),
        labels=dict(one.get("Labels") or {}),
    )


def facets(told: dict) -> dict[str, str]:
    """What a person may have changed, from an engine's full answer about a container.

    Digests, not values: some are secret, and all that is asked is whether they are the same.
    """
    config, host = told.get("Config") or {}, told.get("HostConfig") or {}
    environment = [one for one in config.get("Env") or [] if not one.startswith("HOSTNAME=")]
    mounts = [
        # An anonymous volume has another name in each container.
        [one.get("Destination"), one.get("RW"), one.get("Source") if one["Type"] == "bind" else ""]
        for one in told.get("Mounts") or []
    ]
    found = {
        "environment": sorted(environment),
        "mounts": sorted(mounts, key=str),
        "ports": host.get("PortBindings") or {},
        "limits": [host.get(name) or 0 for name in LIMITS],
    }
    return {name: _digest(value) for name, value in found.items()}


def nameless(told: dict) -> tuple[str, ...]:
    """The anonymous volumes in an engine's full answer: they carry no label that they are found by.

    Both engines call them by 64 random digits.
    """
    names = (str(one.get("Name") or "") for one in told.get("Mounts") or [])
    return tuple(sorted(name for name in names if re.fullmatch(r"[0-9a-f]{64}", name)))


def bind_sources(told: dict) -> tuple[str, ...]:
    """Return the sources of the bind mounts in an engine's full answer."""
    mounts = (one for one in told.get("Mounts") or [] if one.get("Type") == "bind")
    return tuple(sorted({str(one.get("Source") or "") for one in mounts} - {""}))


LIMITS = ("Memory", "MemoryReservation", "NanoCpus", "CpuQuota", "CpuShares", "PidsLimit")


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def _first(names: object) -> str:
    return str(names[0]) if isinstance(names, list) and names else ""


def bare(image_id: str) -> str:
    """An image id without its algorithm: podman and Docker write it in both ways."""
    return image_id[len("sha256:") :] if image_id.startswith("sha256:") else image_id
