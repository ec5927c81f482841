"""Descriptions before rc.2: a Kubernetes head, and resources instead of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrave.documents._walk import EACH, mapping, walk
from margrave.documents.generations._kinds import Generation, Kind
from margrave.documents.generations._profiles import (
    ARCHITECTURES,
    change_pointers,
    change_profile,
    component_names,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from margrave.documents._walk import Path
    from margrave.documents.generations._draft import Draft

_SINCE = "rc.2"
_DEVICES = ("peripherals", "interfaces")


def change(draft: Draft) -> Generation:
    """Makes the mechanical changes."""
    oldest = draft.at("metadata", "id") is not None
    version = draft.value.get("apiVersion")
    if isinstance(version, str) and version.startswith("margo.org/"):
        draft.write(("apiVersion",), "v1", f'"{version}" is v1 since {_SINCE}', "write v1")
    draft.drop_kind(Kind.DESCRIPTION, _SINCE)
    if oldest and "id" not in draft.value:
        draft.move(("metadata", "id"), ("id",), f"stands at the top since {_SINCE}")
    profiles = [path for path, _ in walk(draft.value, "deploymentProfiles", EACH)]
    for path in profiles:
        oldest |= change_profile(draft, path)
        _change_resources(draft, path)
    change_pointers(draft, (), _compose_components(draft))
    return Generation.LEGACY if oldest else Generation.PRE_RC2


def _compose_components(draft: Draft) -> set[str]:
    """Names of components that no Helm profile has too."""
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for path, profile in walk(draft.value, "deploymentProfiles", EACH):
        kind = mapping(profile).get("type") == "compose"
        names[kind] |= set(component_names(draft.value, *path))
    return names[True] - names[False]


def _change_resources(draft: Draft, path: Path) -> None:
    at: Path = (*path, "requiredResources")
    wanted = mapping(draft.at(*at))
    if not wanted:
        return
    if draft.at(*path, "deviceConstraints") is not None:
        draft.leave(at, f"is gone since {_SINCE}", "keep deviceConstraints alone")
        return
    strange = [key for key in wanted if not _is_known(key, wanted[key])]
    for key in strange:
        message = "is nothing that deviceConstraints know"
        draft.leave((*at, key), message, "write an eligibility rule")
    if not strange:
        message = f"is called deviceConstraints since {_SINCE}"
        draft.move(at, (*path, "deviceConstraints"), message, _constraints(wanted))


def _is_known(key: str, value: Any) -> bool:
    if key in _DEVICES:
        return isinstance(value, list) and all(one and mapping(one) for one in value)
    return key in ("cpu", "memory", "storage")


def _constraints(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The same wishes in rc.3's words."""
    made: dict[str, Any] = {}
    capacity = {key: wanted[key] for key in ("memory", "storage") if key in wanted}
    if "cpu" in wanted:
        capacity = {"cpu": _cpu(wanted["cpu"]), **capacity}
    if capacity:
        made["capacityRequirements"] = capacity
    expressions = [_contains(key, one) for key in _DEVICES for one in wanted.get(key, [])]
    if expressions:
        made["eligibilityRules"] = [{"propertySelector": {"matchExpressions": expressions}}]
    return made


def _cpu(found: Any) -> Any:
    """The same with architectures in rc.3's words, each once."""
    names = mapping(found).get("architectures")
    if not isinstance(names, list):
        return found
    known = [ARCHITECTURES.get(one, one) if isinstance(one, str) else one for one in names]
    once = [one for index, one in enumerate(known) if one not in known[:index]]
    return {**found, "architectures": once}


def _contains(key: str, one: Any) -> dict[str, Any]:
    """The list on the device has an element with all of this."""
    items = [
        {"key": f"/{name}", "operator": "In", "values": [value]} for name, value in one.items()
    ]
    return {
        "key": f"/{key}",
        "operator": "ContainsAll",
        "itemSelector": {"matchExpressions": items},
    }
