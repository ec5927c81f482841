"""Damage that a person with a shell may do to a deployment on its node."""

from __future__ import annotations

from tests.equivalence import views
from tests.equivalence.nodes import DEPLOYMENT, EdgeNode, Snapshot
from tests.equivalence.stories import Damage


def harm(node: EdgeNode, damage: Damage, snapshot: Snapshot) -> set[str]:
    """Do the damage; return the services that it is done to."""
    if damage is Damage.SOURCE:
        return _remove_source(node, snapshot)
    victims = snapshot if damage is Damage.REMOVE_ALL else snapshot[:1]
    if damage is Damage.STOP:
        victims = [
            container for container in snapshot if container["State"]["Status"] == "running"
        ][:1]
    if not victims:
        return set()
    verb = "stop" if damage is Damage.STOP else "rm -f"
    names = " ".join(str(container["Id"]) for container in victims)
    node.run(f"{node.engine} {verb} {names} >/dev/null")
    return {views.service_of(container) for container in victims}


def _remove_source(node: EdgeNode, snapshot: Snapshot) -> set[str]:
    """Remove the first source that containers mount from the deployment's folder, if any does."""
    owners: dict[str, set[str]] = {}
    for container in snapshot:
        for mount in container.get("Mounts") or []:
            source = str(mount["Source"])
            if mount["Type"] == "bind" and f"/{DEPLOYMENT}/" in source:
                owners.setdefault(source, set()).add(views.service_of(container))
    if not owners:
        return set()
    first = min(owners)
    node.run(f"rm -rf '{first}'")
    return owners[first]
