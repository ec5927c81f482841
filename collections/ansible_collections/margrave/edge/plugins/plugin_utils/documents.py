# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Margo deployment document as the parameters of workload_install. Pure."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

OURS = "x-margrave-extensions"
REFERENCE = "secret://"  # to a secret, by its name
UNITS = {"s": 1, "m": 60, "h": 3600}


class Unusable(ValueError):
    """A document that no module can be called with; says what is missing and where."""


def workload(document: Mapping[str, Any], content: str) -> dict[str, Any]:
    """Parameters for workload_install and workload_update; `content` is the folder `components`."""
    spec = at(document, "spec")
    ours = spec.get(OURS) or {}
    components = at(spec, "deploymentProfile", "components")
    kind = at(spec, "deploymentProfile", "type")
    return {
        "deployment": at(document, "id"),
        "name": at(document, "metadata", "name"),
        "namespace": at(document, "metadata").get("namespace") or "default",
        "application": at(spec, "applicationId"),
        "version": ours.get("version"),
        "revision": revision(document),
        "profile": kind,
        "components": [_component(spec, one, content, ours, kind) for one in components],
        "health": {
            key: seconds(text)
            for key, text in (ours.get("health") or {}).items()
            if key in ("timeout", "grace")
        },
    }


def revision(document: Mapping[str, Any]) -> str:
    """The digest of what runs: application, profile and parameters, without our policies."""
    spec = at(document, "spec")
    profile = _without_ours(at(spec, "deploymentProfile"))
    components = at(spec, "deploymentProfile", "components")
    profile["components"] = [_identity(one) for one in components]
    content = {
        "applicationId": at(spec, "applicationId"),
        "deploymentProfile": profile,
        "parameters": spec.get("parameters") or {},
    }
    text = _canonical(content)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def seconds(text: object) -> int:
    """Seconds of `90s`, `5m`, `2h`, and of Margo's `0m15s`."""
    if not isinstance(text, str) or not re.fullmatch(r"([0-9]+[smh])+", text):
        raise Unusable(f'"{text}" is not a duration (write a number and s, m or h, such as 90s)')
    return sum(int(n) * UNITS[unit] for n, unit in re.findall(r"([0-9]+)([smh])", text))


def _component(
    spec: Mapping[str, Any],
    one: Mapping[str, Any],
    content: str,
    ours: Mapping[str, Any],
    kind: str,
) -> dict[str, Any]:
    name = at(one, "name")
    limit = (one.get("properties") or {}).get("timeout")
    # A time-out that the document itself writes holds for all components.
    overruled = "timeout" in (ours.get("health") or {})
    parameters = spec.get("parameters") or {}
    given = (
        {"values": _targeted(parameters, name, _value)}
        if kind == "helm"
        else {"variables": _targeted(parameters, name, _text)}
    )
    return {
        "name": name,
        **_source(name, one, content, kind),
        **given,
        "timeout": None if limit is None or overruled else seconds(limit),
    }


def _source(name: str, one: Mapping[str, Any], content: str, kind: str) -> dict[str, Any]:
    """Where a component's content is: delivered through Git, or, of a chart, in a registry."""
    source = (one.get(OURS) or {}).get("source")
    if source is None and kind == "helm":
        return {key: at(one, "properties", key) for key in ("repository", "revision")}
    if not isinstance(source, str) or not re.fullmatch(r"components/[0-9a-f]{64}", source):
        raise Unusable(f"component {name}: has no {OURS}.source (publish it through Git)")
    address = source.split("/")[1]
    return {"src": os.path.join(content, address), "digest": f"sha256:{address}"}


def _targeted(
    parameters: Mapping[str, Any], component: str, written: Callable[[object], Any]
) -> dict[str, Any]:
    """What of the parameters goes to a component, by pointer."""
    return {
        target["pointer"]: written(parameter.get("value"))
        for _name, parameter in sorted(parameters.items())
        for target in parameter.get("targets") or []
        if component in target["components"]
    }


def _value(value: object) -> object:
    """A value for Helm keeps its type."""
    if isinstance(value, str) and value.startswith(REFERENCE):
        raise Unusable(f"{value} is known to the site's runner alone (give a value by hand)")
    return value


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return _canonical(value)
    return "" if value is None else str(_value(value))


def _canonical(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except TypeError as error:
        # YAML makes dates of what looks like one; in a document these are texts.
        raise Unusable(f"{error} (put dates into quotes)") from error


def _identity(component: Mapping[str, Any]) -> dict[str, Any]:
    source = (component.get(OURS) or {}).get("source")
    kept = _without_ours(component)
    return {**kept, OURS: {"source": source}} if source else kept


def _without_ours(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != OURS}


def at(part: Any, *path: str) -> Any:
    """What stands at a path of the document; Unusable names the part that is missing."""
    for depth, key in enumerate(path):
        if not isinstance(part, Mapping) or key not in part:
            raise Unusable(f"the document has no {'.'.join(path[: depth + 1])}")
        part = part[key]
    return part
