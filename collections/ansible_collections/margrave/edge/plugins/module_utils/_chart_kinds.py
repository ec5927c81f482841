# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rights that a chart may give within its deployment's own namespace. Pure.

An allow-list, because a cluster learns new resources with every operator that is installed on it,
and some operators deploy whatever their resources ask for, with rights of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._chart_own import Own, mapping

READING = {"get", "list", "watch"}
CHANGING = {"update", "patch", "delete"}
# Resources that an application may write in its namespace: enough to elect a leader.
WRITABLE = {"events", "leases"}
# Other subresources are ways into containers: a connection to `pods/exec` is a `get` to Kubernetes.
HARMLESS_PARTS = {"log", "scale", "status"}
# The names of these decide, because the others in the namespace are another deployment's.
BY_NAME = {"configmaps": "configmap", "secrets": "secret"}
# Those of Kubernetes itself: other resources of these names are an operator's.
GROUPS = {
    "",
    "apps",
    "autoscaling",
    "batch",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "metrics.k8s.io",
    "networking.k8s.io",
    "policy",
}
RULE_FIELDS = {"apiGroups", "resources", "resourceNames", "verbs"}


def excessive(rules: Iterable[dict], own: Own, opened: Iterable[str]) -> Iterator[str]:
    """Yield what the rules of a Role give beyond the deployment's own objects."""
    for rule in map(mapping, rules):
        yield from (f"{field} is not for charts" for field in sorted(set(rule) - RULE_FIELDS))
        for group in sorted(set(map(str, rule.get("apiGroups") or [])) - GROUPS):
            yield f"the group {group} is not of Kubernetes itself"
        verbs, names = set(map(str, rule.get("verbs") or [])), rule.get("resourceNames") or []
        for resource in sorted(set(map(str, rule.get("resources") or []))):
            allowed = _allowed(resource, _are_own(resource, names, own, opened))
            excess = verbs - allowed
            if excess:
                yield f"{', '.join(sorted(excess))} of {resource} gives more than its own"


def _are_own(resource: str, names: Iterable[str], own: Own, opened: Iterable[str]) -> bool:
    kind = BY_NAME.get(resource, "")
    return bool(names and kind) and all(
        own.has(kind, name) or f"{kind}:{name}" in opened for name in names
    )


def _allowed(resource: str, are_own: bool) -> set[str]:
    """Return verbs on a resource that give nobody more than the application's own."""
    whole, _slash, part = resource.partition("/")
    if whole == "*" or (part and part not in HARMLESS_PARTS):
        return set()
    if whole == "secrets":
        return READING if are_own else set()
    if resource == "configmaps":
        return READING | {"create"} | (CHANGING if are_own else set())
    return READING | CHANGING | {"create"} if resource in WRITABLE else READING
