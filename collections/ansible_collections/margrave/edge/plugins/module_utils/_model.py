# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The resolved Compose model of a component as a value: images, labels. Pure."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    COMPONENT,
    DEPLOYMENT,
    REVISION,
)
from ansible_collections.margrave.edge.plugins.module_utils._record import field, record

OURS = (DEPLOYMENT, REVISION, COMPONENT)


@record
class Existing:
    """Labels that networks and volumes have, and are to keep, by their names on the node.

    Labels of a network or volume cannot change without making it anew, which would cut every
    connection or lose the data.
    """

    networks: Mapping[str, dict] = field(factory=dict)
    volumes: Mapping[str, dict] = field(factory=dict)

    def covers(self, other: Existing) -> bool:
        """Whether all that the other names is here."""
        return (
            other.networks.keys() <= self.networks.keys()
            and other.volumes.keys() <= self.volumes.keys()
        )


def made(model: dict) -> Existing:
    """The networks and volumes that a model makes, with the labels that it gives them."""
    networks, volumes = (
        {
            one["name"]: one.get("labels") or {}
            for one in (model.get(kind) or {}).values()
            if one and one.get("name") and not one.get("external")
        }
        for kind in ("networks", "volumes")
    )
    return Existing(networks, volumes)


def images(model: dict) -> dict[str, str]:
    """The image of each service."""
    return {name: one["image"] for name, one in services(model).items() if one.get("image")}


def services(model: dict) -> dict[str, dict]:
    """The services by name."""
    return model.get("services") or {}


def literal(text: str) -> str:
    """Return a text of the model unescaped: Compose doubles each dollar sign in its output."""
    return text.replace("$$", "$")


def written(text: str) -> str:
    """Return a text escaped for a Compose file."""
    return text.replace("$", "$$")


def host_paths(model: dict) -> list[str]:
    """Return all paths that bind mounts, configs and secrets name, as they are on the node."""
    mounts = [
        str(mount.get("source") or "")
        for service in services(model).values()
        for mount in service.get("volumes") or []
        if mount.get("type") == "bind"
    ]
    files = [
        str(one["file"])
        for kind in ("configs", "secrets")
        for one in (model.get(kind) or {}).values()
        if one and one.get("file")
    ]
    return [literal(path) for path in (*mounts, *files)]


def pinned(model: dict, images: Mapping[str, dict]) -> dict:
    """Return the model with each service's image under the name that a release noted for it."""
    result = copy.deepcopy(model)
    for name, service in services(result).items():
        image = images.get(name)
        if image:
            service["image"] = image.get("pin") or image["reference"]
            service.pop("pull_policy", None)  # the release decided already
    return result


def labelled(model: dict, ours: dict[str, str], before: dict | None, existing: Existing) -> dict:
    """The model with our labels on all that it makes.

    `margrave.revision` is the revision that gave a thing its present shape: a service that is the
    same as in the model before keeps its label, and thereby its container.
    """
    model = copy.deepcopy(model)
    past = services(before) if before else {}
    for name, service in services(model).items():
        kept = past.get(name)
        same = kept is not None and _as_written(kept) == _as_written(service)
        own = {key: kept["labels"][key] for key in OURS} if same and kept else ours
        service["labels"] = {**(service.get("labels") or {}), **own}
    for kind, there in (("networks", existing.networks), ("volumes", existing.volumes)):
        for one in (model.get(kind) or {}).values():
            if not one.get("external"):
                past_labels = there.get(one.get("name", ""), {})
                own = {name: past_labels.get(name, text) for name, text in ours.items()}
                one["labels"] = {**(one.get("labels") or {}), **own}
    return model


def _as_written(service: dict) -> dict:
    """Return what makes a container of a service, without our labels."""
    labels = {key: text for key, text in (service.get("labels") or {}).items() if key not in OURS}
    kept = {key: value for key, value in service.items() if key != "pull_policy"}
    return {**kept, "labels": labels}


def volume_names(model: dict) -> list[str]:
    """Names on the node of the volumes that the model makes."""
    return sorted(made(model).volumes)
