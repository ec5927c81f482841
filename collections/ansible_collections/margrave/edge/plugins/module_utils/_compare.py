# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a release should be and what the node has: the difference, in words."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._record import as_dict, record
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


@record
class Drift:
    """One way in which what runs differs from the release."""

    component: str
    service: str
    what: str  # missing, extra, stopped, unhealthy, image, environment, mounts, ports, limits, …
    detail: str

    def as_dict(self) -> dict[str, str]:
        """As results carry it."""
        return as_dict(self)


def drift(release: Release, containers: Iterable[Container]) -> list[Drift]:
    """All differences between a proven release and the deployment's containers."""
    found: list[Drift] = []
    left = {one.id: one for one in containers}
    for part in release.parts:
        for service, known in sorted(part.services.items()):
            mine = [
                one
                for one in left.values()
                if one.component == part.name and one.service == service
            ]
            for one in mine:
                del left[one.id]
            found += _service(part, service, known, mine)
    found += [
        Drift(one.component, one.service, "extra", f"{one.name} is not part of the release")
        for one in left.values()
    ]
    return found


def _service(part: Part, service: str, known: dict, mine: list[Container]) -> list[Drift]:
    if len(mine) < known["count"]:
        detail = f"{len(mine)} of {known['count']} containers are there"
        return [Drift(part.name, service, "missing", detail)]
    found = []
    if len(mine) > known["count"]:
        detail = f"{len(mine)} containers are there instead of {known['count']}"
        found.append(Drift(part.name, service, "extra", detail))
    image = part.images.get(service, {}).get("id")
    for one in mine:
        found += [
            Drift(part.name, service, what, f"{one.name} {detail}")
            for what, detail in _container(known, image, one)
        ]
    return found


def made_otherwise(part: Part, one: Container) -> bool:
    """Whether a container was changed after Compose made it, so that Compose would not see it.

    What another release made has another hash: Compose sees it, and replaces it at the last moment.
    """
    known = part.services.get(one.service, {})
    before = known.get("facets") or {}
    if not one.facets or one.config_hash != known.get("hash"):
        return False
    return any(one.facets.get(name) != before[name] for name in before)


def _container(known: dict, image: str | None, one: Container) -> list[tuple[str, str]]:
    found = [("image", "runs another image")] if image and one.image_id != image else []
    found += [("mounts", f"mounts {path}, which is not on the node") for path in _lost(known, one)]
    before = known.get("facets") or {}
    found += [
        (name, f"was made with other {name}")
        for name in sorted(before)
        if one.facets and one.facets.get(name) != before[name]
    ]
    if one.config_hash != known["hash"] and not found:
        found.append(("changed", "was made from something else"))
    if known["finished"]:
        return found
    if one.state != "running":
        return [*found, ("stopped", f"is {one.state}")]
    return [*found, ("unhealthy", "is unhealthy")] if one.health == "unhealthy" else found


def _lost(known: dict, one: Container) -> list[str]:
    """Return the mount sources that are gone; without a close look, of those that were noted."""
    if one.facets:
        return list(one.lost)
    return [path for path in known.get("sources") or [] if not os.path.exists(path)]


def health(release: Release | None, containers: Iterable[Container]) -> str:
    """healthy, degraded, or unknown when nothing is there to judge or it is still starting."""
    containers = list(containers)
    if release is None or not release.proven:
        return "unknown"
    if drift(release, containers):
        return "degraded"
    return "unknown" if any(one.health == "starting" for one in containers) else "healthy"
