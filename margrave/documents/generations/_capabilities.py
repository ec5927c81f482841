"""Capabilities before rc.2: a head, roles, and resources one level deeper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from margrave.documents._walk import mapping
from margrave.documents.generations._kinds import Generation, Kind
from margrave.documents.generations._profiles import ARCHITECTURES

if TYPE_CHECKING:
    from margrave.documents._walk import Path
    from margrave.documents.generations._draft import Draft

_SINCE: Final = "rc.2"
_PROPERTIES: Final = ("properties",)
_RESOURCES: Final = ("properties", "resources")
# A role said what the device runs; rc.3 says it by deployment types.
_ROLES: Final = {
    "Standalone Cluster": "helm",
    "Cluster Leader": "helm",
    "Standalone Device": "compose",
    "Gateway": "",
}


def change(draft: Draft) -> Generation:
    """Makes the mechanical changes."""
    cpu = mapping(draft.at(*_RESOURCES, "cpu"))
    generation = Generation.PRE_RC2 if "architecture" in cpu else Generation.LEGACY
    draft.drop_head(Kind.CAPABILITIES, _SINCE)
    _change_roles(draft)
    if cpu and "cpus" not in mapping(draft.at(*_PROPERTIES)):
        _change_cpu(draft, cpu)
    for key in ("memory", "storage", "peripherals", "interfaces"):
        if key in mapping(draft.at(*_RESOURCES)) and key not in mapping(draft.at(*_PROPERTIES)):
            message = f"stands among the properties since {_SINCE}"
            draft.move((*_RESOURCES, key), (*_PROPERTIES, key), message)
    draft.drop_empty(_RESOURCES)
    return generation


def _change_roles(draft: Draft) -> None:
    path: Path = (*_PROPERTIES, "roles")
    roles = draft.at(*path)
    if not isinstance(roles, list):
        return
    unknown = [one for one in roles if not isinstance(one, str) or one not in _ROLES]
    for one in unknown:
        draft.leave(
            (*path, roles.index(one)),
            f'"{str(one)[:40]}" was no role, and rc.3 has none',
            "remove roles; write supportedDeploymentTypes: helm, compose or custom",
        )
    if unknown:
        return
    types = sorted({_ROLES[one] for one in roles} - {""})
    properties = draft.at(*_PROPERTIES)
    if types and "supportedDeploymentTypes" not in properties:
        message = f"are told by what the device runs since {_SINCE}"
        draft.move(path, (*_PROPERTIES, "supportedDeploymentTypes"), message, types)
        properties.setdefault("supportedRuntimes", ["oci"])  # Helm and Compose run OCI images
    else:
        draft.remove(path, f"are gone since {_SINCE}")


def _change_cpu(draft: Draft, cpu: Any) -> None:
    names = cpu.get("architectures", [cpu["architecture"]] if "architecture" in cpu else [])
    path: Path = (*_RESOURCES, "cpu")
    if not isinstance(names, list) or len(names) > 1:
        message, cure = "is a list since rc.2", "write an entry of cpus for each architecture"
        draft.leave(path, message, cure)
        return
    entry = {key: below for key, below in cpu.items() if not key.startswith("architecture")}
    if names:
        entry["architecture"] = ARCHITECTURES.get(str(names[0]), names[0])
    draft.move(path, (*_PROPERTIES, "cpus"), f"is the list cpus since {_SINCE}", [entry])
