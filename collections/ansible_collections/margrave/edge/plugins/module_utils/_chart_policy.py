# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check of a chart's objects against the table of what charts may have and the site's policy. Pure.

Each finding names the object, the path of the field, the reason, and the key of the policy that
would allow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ansible_collections.margrave.edge.plugins.module_utils._chart_checks import (
    CHECKS,
    SHAPES,
    SWITCHES,
    Context,
    is_named,
)
from ansible_collections.margrave.edge.plugins.module_utils._chart_own import (
    Own,
    mapping,
    mappings,
    name_of,
    pod_template,
)
from ansible_collections.margrave.edge.plugins.module_utils._chart_table import (
    BALANCED,
    POD,
    TABLE,
    Row,
)
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._policy import registry_of
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

KEEP = "helm.sh/resource-policy"
HOOK = "helm.sh/hook"
# Kubernetes takes these as if the field were not there.
ABSENT: tuple = (None, "", [])
# So many findings are read by a person; a chart could cause any number.
MOST = 50
UNLISTED = "is not in the table of what charts may set"


def check(
    components: Mapping[str, list[dict]],
    policy: dict,
    namespace: str = "",
    releases: Iterable[str] = (),
) -> None:
    """Refuse objects that reach further than the policy allows; all findings at once.

    `components` are the objects of all components of a deployment, `releases` its names in Helm.
    """
    everything = tuple(found for objects in components.values() for found in objects)
    context = Context(policy, Own(everything, namespace, tuple(releases)))
    findings = [
        f"components.{component}: {found.get('kind')}/{name_of(found)}: {finding}"
        for component, objects in components.items()
        for found in objects
        for finding in _findings(found, context)
    ]
    if findings:
        more = [f"and {len(findings) - MOST} more"] if len(findings) > MOST else []
        raise ConfigError(
            "policy",
            "; ".join([*findings[:MOST], *more]),
            "change the chart, or widen the policy of sites/<site>.yaml",
        )


def check_source(component: str, repository: str, policy: dict) -> None:
    """Refuse a chart of a registry that the policy does not name, before it is fetched."""
    registry = registry_of(repository.partition("://")[2])
    if not is_named(registry, policy):
        raise ConfigError(
            "policy",
            f"components.{component}.repository: registry {registry} is not in registries",
            "widen the policy of sites/<site>.yaml, or have Git deliver the chart",
        )


def pod_of(found: dict) -> dict:
    """Return the pod that an object makes or is, or nothing."""
    if found.get("kind") == "Pod":
        return mapping(found.get("spec"))
    return mapping(pod_template(found).get("spec"))


def containers(pod: dict) -> Iterator[dict]:
    """Yield all containers of a pod."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        yield from mappings(pod.get(kind))


def _findings(found: dict, context: Context) -> Iterator[str]:
    metadata = mapping(found.get("metadata"))
    marks = mapping(metadata.get("annotations"))
    if HOOK in marks:
        yield f"is a hook ({marks[HOOK]}): charts of applications must not have hooks"
    if not metadata.get("name"):
        yield "metadata.name: is missing, and Kubernetes would make a new object at each update"
    if found.get("kind") == "CustomResourceDefinition":
        yield "charts of applications do not manage definitions of resources"
        return
    if found.get("kind") == "PersistentVolumeClaim" and marks.get(KEEP) != "keep":
        yield f"would be lost with the release: annotate it {KEEP}: keep"
    group = _group(found)
    fields = TABLE.get(group, {}).get(str(found.get("kind")))
    if fields is not None:
        yield from _walk(fields, found, "", context)
        if mapping(found.get("spec")).get("type") == "LoadBalancer":
            yield from _walk(BALANCED, found, "", context)
        return
    if not context.is_privileged:
        where = f"{found.get('kind')} of {group or 'the core'}"
        yield _told("kind", f"{where} may reach beyond the deployment's namespace", "privileged")
    yield from _walk(POD, pod_of(found), "spec.template.spec", context)


def _walk(fields: Any, value: Any, path: str, context: Context) -> Iterator[str]:
    """Yield what is wrong with a value and all that is below it."""
    if isinstance(fields, Row):
        shape = SHAPES.get(fields.check)
        if shape and value is not None and not isinstance(value, shape):
            yield f"{path}: has to be a {shape.__name__}"
            return
        for reason in CHECKS[fields.check](fields, value, context):
            yield _told(path, reason, fields.opens)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(fields, item, f"{path}[{number}]", context)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _field(fields, key, item, f"{path}.{key}" if path else key, context)
    elif value not in ABSENT:
        yield f"{path}: has to be a dict"


def _field(fields: dict, key: str, value: Any, path: str, context: Context) -> Iterator[str]:
    known = fields.get(key, fields.get("*"))
    if known is not None:
        yield from _walk(known, value, path, context)
    elif value not in ABSENT and not context.is_privileged:
        yield _told(path, UNLISTED, "privileged")


def _told(path: str, reason: str, opens: str) -> str:
    """Return a finding, with the policy that would allow it."""
    allowed = f"{opens}: allow" if opens in SWITCHES else opens
    return f"{path}: {reason}" + (f" (allowed by {allowed})" if allowed else "")


def _group(found: dict) -> str:
    group, slash, _version = str(found.get("apiVersion") or "").partition("/")
    return group if slash else ""
