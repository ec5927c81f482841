# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An application package's description as a deployment document, for those without a controller.

What is rendered is what the controller would render, but that image tags stay as they are written.
"""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.margrave.edge.plugins.plugin_utils.documents import OURS, Unusable, at

# Names deployments that got no id: the same package and name are the same deployment.
NAMESPACE = uuid.UUID("6d617267-7261-5665-8065-646765000000")

Digest = Callable[[str], str]


def document(
    description: Mapping[str, Any], values: Mapping[str, Any], name: str | None, digest: Digest
) -> dict[str, Any]:
    """The document of a deployment of this package; `digest` knows that of a component's path."""
    application = at(description, "id")
    name = name or str(application)
    profile = _usable_profile(at(description, "deploymentProfiles"))
    return {
        "id": str(uuid.uuid5(NAMESPACE, f"{application}/{name}")),
        "metadata": {"name": name},
        "spec": {
            "applicationId": application,
            "deploymentProfile": _profile(profile, digest),
            "parameters": _parameters(description, profile, values),
            OURS: {"version": at(description, "metadata", "version")},
        },
    }


def path_of(component: Mapping[str, Any]) -> str:
    """Where a component's content lies in its package."""
    name, path = at(component, "name"), (component.get(OURS) or {}).get("path")
    if not isinstance(path, str):
        raise Unusable(f"component {name}: has no {OURS}.path (name the folder of its content)")
    path = posixpath.normpath(path)
    if path.startswith(("/", "..")):
        raise Unusable(f"component {name}: {path} is outside of the package (keep it inside)")
    return path


def _usable_profile(profiles: Any) -> Mapping[str, Any]:
    for kind in ("compose", "helm"):
        for profile in profiles:
            if profile.get("type") == kind:
                return profile
    raise Unusable("deploymentProfiles: none is of type compose or helm (nodes take no other)")


def _profile(profile: Mapping[str, Any], digest: Digest) -> dict[str, Any]:
    part: dict[str, Any] = {"type": profile["type"], "components": []}
    for component in at(profile, "components"):
        kept = {key: value for key, value in component.items() if key != OURS}
        if profile["type"] == "helm" and "path" not in (component.get(OURS) or {}):
            part["components"].append(kept)  # from a registry
            continue
        address = digest(path_of(component)).split(":")[1]
        part["components"].append({**kept, OURS: {"source": f"components/{address}"}})
    if "deviceConstraints" in profile:
        part["deviceConstraints"] = profile["deviceConstraints"]
    return part


def _parameters(
    description: Mapping[str, Any], profile: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    known = description.get("parameters") or {}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise Unusable(
            f"parameters: {', '.join(unknown)} is not one of the package's"
            f" ({', '.join(sorted(known)) or 'it has none'})"
        )
    here = {component["name"] for component in profile["components"]}
    part = {}
    for name, parameter in known.items():
        value = values.get(name, parameter.get("value"))
        targets = [
            {**target, "components": [one for one in target["components"] if one in here]}
            for target in at(parameter, "targets")
            if here.intersection(target["components"])
        ]
        if value is not None and targets:
            part[name] = {"value": value, "targets": targets}
    return part
